package evidence

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Claim is what a citation marker is there to support.
type Claim struct {
	Text       string // without markers and step labels, white space collapsed
	Start, End int    // bytes of the output that Text was taken from
}

// Claims gives, for each marker of an output, the claim that it supports, in
// the same order: the sentence that the marker stands in or closes, or, where
// a sentence has several markers, the part since the marker before. Markers
// side by side support the same claim. A claim never leaves its step.
func Claims(output string, markers []Marker) []Claim {
	return ClaimsIn(output, Steps(output), markers)
}

// ClaimsIn is Claims for an output whose steps are known.
func ClaimsIn(output string, steps []Step, markers []Marker) []Claim {
	claims := make([]Claim, len(markers))
	quotes := Quotations(output)
	for i := 0; i < len(markers); {
		j := i
		for j < len(markers) && markers[j].Step == markers[i].Step {
			j++
		}
		if n := markers[i].Step; n >= 1 && n <= len(steps) {
			claimsOfStep(output, steps[n-1], markers[i:j], quotes, claims[i:j])
		}
		i = j
	}
	return claims
}

func claimsOfStep(output string, step Step, markers []Marker, quotes []Quotation, claims []Claim) {
	_, _, body := readLabel(step.Text)
	start := step.Start + body
	groups := group(output, markers)
	// "[1] A is so. [2] B is so.": markers first, when nothing stands before
	// the first and something after the last.
	leading := wordless(output, start, markers[0].Start) &&
		!wordless(output, markers[len(markers)-1].End, step.End)
	ends := outside(quotes, sentenceEnds(output, start, step.End, markers, leading))
	from, next := start, 0 // the sentence runs from from to ends[next]
	for g, gr := range groups {
		first, last := markers[gr.first], markers[gr.last]
		for next < len(ends) && ends[next] <= first.Start {
			from = ends[next]
			next++
		}
		to := step.End
		if next < len(ends) {
			to = ends[next]
		}
		prevEnd, nextStart := from, to
		if g > 0 {
			prevEnd = max(from, markers[groups[g-1].last].End)
		}
		if g+1 < len(groups) {
			nextStart = min(to, markers[groups[g+1].first].Start)
		}
		c := Claim{Start: prevEnd, End: max(last.End, prevEnd)}
		if nextStart == to {
			c.End = max(c.End, to) // the last marker of a sentence stands for its end too
		}
		if countWords(output[prevEnd:max(prevEnd, first.Start)], 3) < 3 {
			c.End = max(c.End, nextStart) // "[1] shows that …", "According to [1], …"
		}
		c.Start, c.End = trimSpan(output, c.Start, c.End)
		c.Text = TextWithout(output, c.Start, c.End, markers)
		for k := gr.first; k <= gr.last; k++ {
			claims[k] = c
		}
	}
}

// outside leaves out the ends of sentences that stand inside a quotation: a
// claim holds the whole of what it quotes.
func outside(quotes []Quotation, ends []int) []int {
	kept := ends[:0]
	for _, e := range ends {
		i := sort.Search(len(quotes), func(i int) bool { return quotes[i].End > e })
		if i == len(quotes) || e <= quotes[i].Start {
			kept = append(kept, e)
		}
	}
	return kept
}

// markerGroup are markers with no words between them: first to last.
type markerGroup struct{ first, last int }

func group(output string, markers []Marker) []markerGroup {
	var groups []markerGroup
	for i := range markers {
		if n := len(groups); n > 0 {
			prev := markers[groups[n-1].last]
			if markers[i].Start < prev.End || onlySeparators(output[prev.End:markers[i].Start]) {
				groups[n-1].last = i
				continue
			}
		}
		groups = append(groups, markerGroup{i, i})
	}
	return groups
}

func onlySeparators(s string) bool {
	s = strings.TrimSpace(s)
	return s == "" || s == "," || s == ";" || s == "and" || s == "&" || s == ", and"
}

// wordless tells whether no word stands between two places.
func wordless(output string, from, to int) bool {
	return from >= to || countWords(output[from:to], 1) == 0
}

// sentenceEnds lists where sentences of output[start:end] end, each before the
// white space that follows. Markers after a full stop belong to the sentence
// before them, unless leading says that this step puts markers first.
func sentenceEnds(output string, start, end int, markers []Marker, leading bool) []int {
	var ends []int
	next := 0 // first marker not yet passed
	for i := start; i < end; {
		for next < len(markers) && markers[next].End <= i {
			next++
		}
		if next < len(markers) && i >= markers[next].Start {
			i = markers[next].End
			continue
		}
		c := output[i]
		i++
		if c != '.' && c != '\n' && c != '!' && c != '?' {
			continue
		}
		switch {
		case c == '\n' && i < end && output[i] == '\n' && !strings.HasSuffix(output[start:i-1], ":"):
			ends = appendEnd(ends, i, start)
		case c == '.' && abbreviation(output[max(start, i-12):i]):
		case c == '.' || c == '!' || c == '?':
			stop := i
			for stop < end && strings.IndexByte(`"')]`, output[stop]) >= 0 {
				stop++
			}
			for _, q := range [...]string{"”", "’", "»"} {
				if strings.HasPrefix(output[stop:end], q) {
					stop += len(q)
				}
			}
			if !leading {
				stop = passMarkers(output, stop, end, markers[next:])
			}
			if startsSentence(output[stop:end]) {
				ends = appendEnd(ends, stop, start)
				i = stop
			}
		}
	}
	return ends
}

func appendEnd(ends []int, at, start int) []int {
	if at <= start || (len(ends) > 0 && ends[len(ends)-1] >= at) {
		return ends
	}
	return append(ends, at)
}

// passMarkers moves from over markers that follow with only white space or
// separators between.
func passMarkers(output string, from, end int, markers []Marker) int {
	for _, m := range markers {
		if m.Start < from {
			continue
		}
		if m.Start >= end || !onlySeparators(output[from:m.Start]) {
			break
		}
		from = m.End
	}
	// A full stop may close the markers: "text. [1]."
	for from < end && from > 0 && output[from-1] == ']' && (output[from] == '.' || output[from] == ',') {
		from++
	}
	return from
}

// startsSentence tells whether s, what follows a full stop, begins a sentence.
func startsSentence(s string) bool {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	if rest == "" {
		return true
	}
	if len(rest) == len(s) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return !unicode.IsLower(r)
}

// abbreviations whose full stop seldom ends a sentence.
var abbreviations = map[string]bool{
	"e.g.": true, "i.e.": true, "cf.": true, "vs.": true, "v.": true, "al.": true, "etc.": true,
	"dr.": true, "mr.": true, "mrs.": true, "ms.": true, "prof.": true, "st.": true, "no.": true,
	"art.": true, "sec.": true, "para.": true, "p.": true, "pp.": true, "fig.": true, "approx.": true,
	"inc.": true, "ltd.": true, "co.": true, "corp.": true, "jr.": true, "u.s.": true, "u.k.": true,
}

// abbreviation tells whether s ends in an abbreviation or an initial.
func abbreviation(s string) bool {
	from := strings.LastIndexAny(s, " \t\n([\"")
	w := s[from+1:]
	if len(w) > 8 || len(w) < 2 {
		return false
	}
	if len(w) == 2 && w[0] >= 'A' && w[0] <= 'Z' && w[0] != 'I' {
		return true
	}
	return abbreviations[strings.ToLower(w)]
}

// trimSpan takes white space and commas off both ends of a range.
func trimSpan(s string, start, end int) (int, int) {
	const cut = " \t\r\n,;"
	for start < end && strings.IndexByte(cut, s[start]) >= 0 {
		start++
	}
	for start < end && strings.IndexByte(cut, s[end-1]) >= 0 {
		end--
	}
	return start, end
}

// TextWithout is output[start:end] without the markers in it, white space
// collapsed and none before a full stop or comma.
func TextWithout(output string, start, end int, markers []Marker) string {
	var b strings.Builder
	b.Grow(end - start)
	write := func(s string) {
		for w := range strings.FieldsSeq(s) {
			if b.Len() > 0 && strings.IndexByte(".,;:!?", w[0]) < 0 {
				b.WriteByte(' ')
			}
			b.WriteString(w)
		}
	}
	after := false // a marker stands before
	i := sort.Search(len(markers), func(i int) bool { return markers[i].End > start })
	for ; i < len(markers) && markers[i].Start < end; i++ {
		m := markers[i]
		if m.Start < start {
			start = min(end, max(start, m.End))
			continue
		}
		if between := output[start:m.Start]; !after || !onlySeparators(between) {
			write(between) // not the comma of "[1], [2]"
		}
		start, after = min(m.End, end), true
	}
	write(output[start:end])
	return b.String()
}
