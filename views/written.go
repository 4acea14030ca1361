package views

// longParagraph is the number of bytes from which a paragraph's lines share one
// direction. Below it each line has its own; browsers take time with the square
// of the paragraph's length for that (Chromium: half a minute for a megabyte).
const longParagraph = 16 << 10

// written is the class of a paragraph of n bytes that stands as it was written.
func written(n int) string {
	if n > longParagraph {
		return "as-written long"
	}
	return "as-written"
}

func length(list []Segment) int {
	n := 0
	for _, s := range list {
		n += len(s.Text)
	}
	return n
}

func diffLength(runs []DiffRun) int {
	n := 0
	for _, r := range runs {
		n += len(r.Text)
	}
	return n
}
