package evidence

import (
	"sort"
	"strings"
)

// Step is one step of an output.
type Step struct {
	Number     int    // in the order of the text, from 1
	Text       string // output[Start:End], with its own label or bullet
	Start, End int    // bytes, without white space around
}

// Body is the text of the step without its own label or bullet.
func (s Step) Body() string {
	_, _, body := readLabel(s.Text)
	return strings.TrimSpace(s.Text[body:])
}

// Steps cuts an output into its steps.
//
// Where the output is a list ("Step 1: …", or "1. …" from its first or second line on),
// each labelled line starts a step and what follows belongs to it (after a
// numbered list, each paragraph that is not indented is a step again); text before
// the first label belongs to the first step, so that steps are numbered as
// they are labelled. Otherwise each line that is not blank is a step, bulleted
// or not, except that these belong to the step before: an indented line under
// a bullet, what follows a line that ends in a colon, a line that goes on in
// lower case where the one before stopped without punctuation, and a line of
// nothing but citation markers.
//
// An output without words has no steps.
func Steps(output string) []Step {
	lines := splitLines(output)
	if len(lines) == 0 {
		return nil
	}
	var starts []int // indices into lines
	switch {
	case labelled(lines):
		starts = labelledStarts(lines)
	case numberedList(lines):
		starts = numberedStarts(lines)
	default:
		starts = lineStarts(lines, 0, nil)
	}
	steps := make([]Step, len(starts))
	for i, first := range starts {
		last := len(lines) - 1
		if i+1 < len(starts) {
			last = starts[i+1] - 1
		}
		if i == 0 {
			first = 0
		}
		s := Step{Number: i + 1, Start: lines[first].start, End: lines[last].end}
		s.Text = output[s.Start:s.End]
		steps[i] = s
	}
	return steps
}

// StepAt is the number of the step that holds the byte at offset; a byte
// between two steps belongs to the earlier. 0 when there are no steps.
func StepAt(steps []Step, offset int) int {
	i := sort.Search(len(steps), func(i int) bool { return steps[i].Start > offset })
	if i == 0 && len(steps) > 0 {
		return 1
	}
	return i
}

type label uint8

const (
	plain    label = iota
	bullet         // "- ", "* ", "• "
	numbered       // "3. ", "3) ", "(3) "
	stepWord       // "Step 3: "
)

// line is a line that is not blank.
type line struct {
	start, end int // without white space around
	indent     int // columns of white space before it
	label      label
	number     int  // of numbered and stepWord
	body       int  // where the text after the label starts
	afterBlank bool // a blank line stands before it
	continues  bool // belongs to the step before it, unless in a list
}

func splitLines(output string) []line {
	lines := make([]line, 0, 1+strings.Count(output, "\n"))
	blank := false
	for from := 0; from < len(output); {
		to := from + strings.IndexByte(output[from:], '\n')
		if to < from {
			to = len(output)
		}
		text := output[from:to]
		trimmed := strings.TrimSpace(text)
		if trimmed == "" {
			blank = true
		} else {
			start := from + strings.Index(text, trimmed)
			l := line{start: start, end: start + len(trimmed), afterBlank: blank && len(lines) > 0}
			for _, c := range []byte(output[from:start]) {
				if c == '\t' {
					l.indent += 4
				} else {
					l.indent++
				}
			}
			l.label, l.number, l.body = readLabel(trimmed)
			l.body += start
			lines = append(lines, l)
			blank = false
		}
		from = to + 1
	}
	markContinuing(output, lines)
	return lines
}

// markContinuing marks the lines that belong to the step before them when the
// output is no list.
func markContinuing(output string, lines []line) {
	head := 0 // the line that started the step
	for i := 1; i < len(lines); i++ {
		l, prev := &lines[i], lines[i-1]
		prevText, text := output[prev.start:prev.end], output[l.start:l.end]
		switch {
		case lines[head].label != plain && l.indent >= 2 && l.indent > lines[head].indent,
			strings.HasSuffix(prevText, ":"),
			onlyMarkers(text),
			l.label == plain && text[0] >= 'a' && text[0] <= 'z' && !endsSentence(prevText):
			l.continues = true
		default:
			head = i
		}
	}
}

func endsSentence(s string) bool {
	s = strings.TrimRight(stripTrailingBrackets(s), "\"')”’* ")
	return s == "" || strings.ContainsAny(s[len(s)-1:], ".!?;:")
}

// stripTrailingBrackets takes "[…]" groups off the end.
func stripTrailingBrackets(s string) string {
	for {
		s = strings.TrimRight(s, " ")
		if !strings.HasSuffix(s, "]") {
			return s
		}
		open := strings.LastIndexByte(s, '[')
		if open < 0 {
			return s
		}
		s = s[:open]
	}
}

// onlyMarkers tells a line of bracketed groups and punctuation, such as
// "[1] [2]." that stands under the text it supports.
func onlyMarkers(s string) bool {
	depth := 0
	groups := 0
	for _, r := range s {
		switch {
		case r == '[':
			depth++
			groups++
		case r == ']':
			depth--
		case depth > 0:
		case r == ' ' || r == ',' || r == ';' || r == '.':
		default:
			return false
		}
		if depth < 0 || depth > 1 {
			return false
		}
	}
	return groups > 0 && depth == 0
}

// readLabel reads what a line starts with; body is where its text starts.
func readLabel(s string) (kind label, number, body int) {
	i := 0
	for i < len(s) && (s[i] == '#' || s[i] == '*' || s[i] == '_' || (i > 0 && s[i] == ' ' && s[i-1] == '#')) {
		i++
	}
	if len(s) >= i+5 && strings.EqualFold(s[i:i+4], "step") {
		j := i + 4
		for j < len(s) && (s[j] == ' ' || s[j] == '-' || s[j] == '_' || s[j] == '#') {
			j++
		}
		n, k := readInt(s, j)
		for k > j && k < len(s) && (s[k] == '*' || s[k] == '_') {
			k++
		}
		switch {
		case k == j:
		case k == len(s):
			return stepWord, n, k
		case strings.IndexByte(":.)-", s[k]) >= 0:
			return stepWord, n, skipBlanks(s, k+1)
		case strings.HasPrefix(s[k:], " -"), strings.HasPrefix(s[k:], " –"), strings.HasPrefix(s[k:], " —"),
			strings.HasPrefix(s[k:], "–"), strings.HasPrefix(s[k:], "—"), strings.HasPrefix(s[k:], " ("):
			return stepWord, n, k
		}
	}
	j := i
	if j < len(s) && s[j] == '(' {
		j++
	}
	n, k := readInt(s, j)
	if k > j && k < len(s) && (s[k] == '.' || s[k] == ')') {
		if end := k + 1; end == len(s) || s[end] == ' ' || s[end] == '\t' || s[end] == '*' {
			return numbered, n, skipBlanks(s, end)
		}
	}
	for _, b := range [...]string{"- ", "* ", "+ ", "• ", "– ", "◦ ", "▪ ", "· "} {
		if strings.HasPrefix(s, b) {
			return bullet, 0, skipBlanks(s, len(b))
		}
	}
	return plain, 0, i
}

// readInt reads at most three digits: a year is not a label.
func readInt(s string, i int) (n, end int) {
	from := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		if i-from == 3 {
			return 0, from
		}
		n = n*10 + int(s[i]-'0')
		i++
	}
	return n, i
}

// skipBlanks skips white space, and the end of a label in bold.
func skipBlanks(s string, i int) int {
	if strings.HasPrefix(s[i:], "** ") || s[i:] == "**" {
		i += 2
	}
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

func countLabel(lines []line, kind label) (n int) {
	for _, l := range lines {
		if l.label == kind {
			n++
		}
	}
	return n
}

func labelled(lines []line) bool { return countLabel(lines, stepWord) > 0 }

// labelledStarts: lines "Step N" start steps. A line "N." does so too when N
// is the step's number counted through, as in traces whose lines alternate
// between the two; but not inside a list that began again at 1.
func labelledStarts(lines []line) []int {
	var starts []int
	inner := false
	for i, l := range lines {
		switch {
		case l.label == stepWord:
			inner = false
			starts = append(starts, i)
		case l.label == numbered && l.indent < 2 && !inner:
			// A numbered line before the first "Step" is a step only when it
			// is number 1 and the trace numbers its lines.
			if l.number == len(starts)+1 {
				starts = append(starts, i)
			} else if l.number == 1 {
				inner = true
			}
		}
	}
	return starts
}

// numberedList tells a list that begins at 1 in the first line, or in the
// second under one line that leads to it.
func numberedList(lines []line) bool {
	for _, l := range lines[:min(2, len(lines))] {
		if l.label == numbered {
			return l.number == 1 && countLabel(lines, numbered) > 1
		}
	}
	return false
}

// numberedStarts: lines "N." that are not indented start steps, and so does a
// paragraph after the list.
func numberedStarts(lines []line) []int {
	var starts []int
	last := 0
	for i, l := range lines {
		if l.label == numbered && l.indent < 2 {
			starts = append(starts, i)
			last = i
		}
	}
	for i := last + 1; i < len(lines); i++ {
		if lines[i].afterBlank && lines[i].indent == 0 {
			return lineStarts(lines, i, starts)
		}
	}
	return starts
}

// lineStarts: from line i on, each line that does not continue another.
func lineStarts(lines []line, i int, starts []int) []int {
	for first := i; i < len(lines); i++ {
		if i == first || !lines[i].continues {
			starts = append(starts, i)
		}
	}
	return starts
}
