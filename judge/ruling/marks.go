package ruling

import (
	"slices"
	"sort"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// marks are the numbers, units, dates and negations of a text that lie in its
// differing parts, clipped to them and in order.
func marks(text string, differences []Difference, side func(Difference) evidence.Span) []Mark {
	if len(differences) == 0 {
		return nil
	}
	var list []Mark
	add := func(at evidence.Span, kind func(word string) MarkKind) {
		i := sort.Search(len(differences), func(i int) bool { return side(differences[i]).End > at.Start })
		for ; i < len(differences) && side(differences[i]).Start < at.End; i++ {
			d := side(differences[i])
			m := evidence.Span{Start: max(at.Start, d.Start), End: min(at.End, d.End)}
			word := text[m.Start:m.End]
			lead := len(word) - len(strings.TrimLeft(word, " \t\r\n"))
			m.Start += lead
			if word = strings.TrimSpace(word); word != "" {
				m.End = m.Start + len(word)
				list = append(list, Mark{m, kind(word)})
			}
		}
	}
	for _, n := range evidence.Numbers(text) {
		add(evidence.Span{Start: n.Start, End: n.End}, func(word string) MarkKind {
			switch {
			case n.Unit == "date":
				return MarkDate
			case n.Unit != "" && n.Unit != "id" && !n.Spelled && !strings.ContainsAny(word, "0123456789"):
				return MarkUnit
			}
			return MarkNumber
		})
	}
	for _, n := range evidence.Negations(text) {
		add(evidence.Span{Start: n.Start, End: n.End}, func(string) MarkKind { return MarkNegation })
	}
	slices.SortStableFunc(list, func(a, b Mark) int { return a.Start - b.Start })
	return apart(list)
}

// apart leaves out marks that overlap one before them, so that a page can draw
// them one after another.
func apart(list []Mark) []Mark {
	kept := list[:0]
	end := 0
	for _, m := range list {
		if m.Start >= end {
			kept = append(kept, m)
			end = m.End
		}
	}
	return kept
}

// kindsIn adds the kinds of the marks in a range to a list, each once.
func kindsIn(list []Mark, in evidence.Span, kinds []MarkKind) []MarkKind {
	i := sort.Search(len(list), func(i int) bool { return list[i].End > in.Start })
	for ; i < len(list) && list[i].Start < in.End; i++ {
		if !slices.Contains(kinds, list[i].Kind) {
			kinds = append(kinds, list[i].Kind)
		}
	}
	return kinds
}
