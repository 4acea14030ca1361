package web

import (
	"cmp"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/views"
)

// mark is a stretch of a text to be drawn in one way.
type mark struct {
	evidence.Span
	kind views.SegmentKind
	ref  string
}

// isChip says that the mark stands for a marker: it is drawn as a chip whose
// text is the marker's id, and wins over the claim around it.
func (m mark) isChip() bool {
	switch m.kind {
	case views.Cite, views.CiteExact, views.CiteNear, views.CiteNone, views.Back:
		return true
	}
	return false
}

// cut divides the part of a text inside window into segments. Marks may
// overlap and repeat: chips win over everything, then the mark that starts
// first. Chips with one and the same range ([1, 2]) are drawn one after
// another. Nothing of the text is lost or doubled but for the brackets that
// chips stand for.
func cut(text string, window evidence.Span, marks []mark) []views.Segment {
	inside := make([]mark, 0, len(marks))
	for _, m := range marks {
		if m.Start < window.End && m.End > window.Start && m.Start < m.End {
			m.Start, m.End = max(m.Start, window.Start), min(m.End, window.End)
			inside = append(inside, m)
		}
	}
	var chips, areas []mark
	for _, m := range inside {
		if m.isChip() {
			chips = append(chips, m)
		} else {
			areas = append(areas, m)
		}
	}
	byStart := func(a, b mark) int { return cmp.Compare(a.Start, b.Start) }
	slices.SortStableFunc(chips, byStart)
	slices.SortStableFunc(areas, byStart)

	var out []views.Segment
	at := window.Start
	// flow draws the text up to end, with the areas that lie in it.
	flow := func(end int) {
		for _, a := range areas {
			if a.End <= at || a.Start >= end {
				continue
			}
			if a.Start > at {
				out = append(out, views.Segment{Text: text[at:a.Start]})
				at = a.Start
			}
			stop := min(a.End, end)
			out = append(out, views.Segment{Text: text[at:stop], Kind: a.kind, Ref: a.ref})
			at = stop
		}
		if at < end {
			out = append(out, views.Segment{Text: text[at:end]})
			at = end
		}
	}
	for _, c := range chips {
		if c.Start > at {
			flow(c.Start)
		}
		out = append(out, views.Segment{Text: chipText(text[c.Start:c.End]), Kind: c.kind, Ref: c.ref})
		at = max(at, c.End)
	}
	flow(window.End)
	return joined(out)
}

// chipText is what stands in the brackets.
func chipText(marker string) string { return strings.Trim(marker, "[]() ") }

// joined puts neighbours of one kind together: a claim that two markers share
// is one underline.
func joined(segments []views.Segment) []views.Segment {
	var out []views.Segment
	for _, s := range segments {
		if n := len(out); n > 0 && out[n-1].Kind == s.Kind && out[n-1].Ref == s.Ref && !(mark{kind: s.Kind}).isChip() {
			out[n-1].Text += s.Text
			continue
		}
		out = append(out, s)
	}
	return out
}

// quotedList is words in quotation marks, at most a handful.
func quotedList(words []string) string {
	const most = 6
	more := ""
	if len(words) > most {
		words, more = words[:most], " and others"
	}
	return "“" + strings.Join(words, "”, “") + "”" + more
}
