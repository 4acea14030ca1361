package web

import (
	"strings"

	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// referenceBench is the desk of the judge of equivalence: two texts compared word
// by word.
func referenceBench(d deskItem) views.Bench {
	t, diff := &d.review.Trace, d.sheet.Diff
	c := comparison{
		reference: t.Reference, candidate: t.Output, diff: diff,
		fold: diff.Whole.End-diff.Whole.Start+len(t.Output) > foldFrom,
	}
	b := views.ReferenceBench{Question: t.Question, ComesTo: d.comesTo(), Unplaced: diff.Unplaced}
	b.Alternatives = diff.Alternatives()
	c.runs(&b)
	for i := range d.sheet.Units {
		u, drawn := &d.sheet.Units[i], d.unit(i)
		if u.Difference == nil {
			if len(drawn.Parts) > 0 && len(drawn.Parts[0].Choices) > 0 {
				b.Class = drawn
			}
			continue
		}
		f := views.DifferenceUnit{RulingUnit: drawn, Number: u.Difference.Number, Unlisted: u.Parts[0].Unlisted()}
		f.Reference = c.clipped(t.Reference, u.Difference.Reference, diff.Reference)
		f.Candidate = c.clipped(t.Output, u.Difference.Candidate, diff.Candidate)
		b.Differences = append(b.Differences, f)
	}
	return &b
}

const (
	// foldFrom is how many bytes two texts have together at least for what is the
	// same in them to be folded.
	foldFrom = 12_000
	// foldOver is how long a stretch is that is folded; foldEdge of it stays in view
	// at each end.
	foldOver = 900
	foldEdge = 240
	// mostOfSide is how much of a difference its row shows; the text shows all.
	mostOfSide = 400
)

// comparison draws a word comparison.
type comparison struct {
	reference, candidate string
	diff                 *ruling.Diff
	fold                 bool
}

// runs fills in both texts and what they are as one.
func (c *comparison) runs(b *views.ReferenceBench) {
	for _, s := range c.diff.Segments {
		if s.Kind == ruling.Same {
			b.Reference = c.same(b.Reference, c.reference, s.Reference, views.DiffFolded)
			b.Candidate = c.same(b.Candidate, c.candidate, s.Candidate, views.DiffFolded)
			b.Merged = c.same(b.Merged, c.candidate, s.Candidate, views.DiffLeftOut)
			continue
		}
		n := s.Difference
		deleted := []views.DiffRun{{Kind: views.DiffDeleted, Difference: n, Text: marked(c.reference, s.Reference, c.diff.Reference)}}
		added := []views.DiffRun{{Kind: views.DiffAdded, Difference: n, Text: marked(c.candidate, s.Candidate, c.diff.Candidate)}}
		gap, number := views.DiffRun{Kind: views.DiffGap, Difference: n}, views.DiffRun{Kind: views.DiffNumber, Difference: n}
		if deleted[0].Text == nil {
			deleted = nil
			b.Reference = append(b.Reference, gap)
		} else {
			b.Reference = append(b.Reference, deleted[0], number)
		}
		if added[0].Text == nil {
			added = nil
			b.Candidate = append(b.Candidate, gap)
		} else {
			b.Candidate = append(b.Candidate, added[0], number)
		}
		b.Merged = append(append(append(b.Merged, deleted...), added...), number)
	}
}

// same adds a stretch that both texts have; a long one of long texts is folded
// in its middle, at white space.
func (c *comparison) same(runs []views.DiffRun, text string, at evidence.Span, how views.DiffKind) []views.DiffRun {
	all := text[at.Start:at.End]
	plain := func(s string) views.DiffRun { return views.DiffRun{Text: []views.DiffWord{{Text: s}}} }
	if all == "" {
		return runs
	}
	if !c.fold || len(all) <= foldOver {
		return append(runs, plain(all))
	}
	from, to := foldEdge, len(all)-foldEdge
	if i := strings.IndexAny(all[from:to], " \n\t"); i >= 0 {
		from += i
	} else { // one word without end: nothing to fold at
		return append(runs, plain(all))
	}
	to = from + strings.LastIndexAny(all[from:to], " \n\t")
	middle := views.DiffRun{Kind: how, Words: len(strings.Fields(all[from:to]))}
	if how == views.DiffFolded {
		middle.Text = []views.DiffWord{{Text: all[from:to]}}
	}
	return append(runs, plain(all[:from]), middle, plain(all[to:]))
}

// clipped is one side of a difference as its row shows it.
func (c *comparison) clipped(text string, at evidence.Span, marks []ruling.Mark) []views.DiffWord {
	if at.End-at.Start <= mostOfSide {
		return marked(text, at, marks)
	}
	end := at.Start + mostOfSide
	if i := strings.LastIndexAny(text[at.Start:end], " \n\t"); i > 0 {
		end = at.Start + i
	}
	for end > at.Start && text[end]&0xC0 == 0x80 { // inside a character
		end--
	}
	return append(marked(text, evidence.Span{Start: at.Start, End: end}, marks), views.DiffWord{Text: " …"})
}

// marked is a range of a text with the words in it that matter more. White space
// around is left out: a range of nothing else is empty.
func marked(text string, at evidence.Span, marks []ruling.Mark) []views.DiffWord {
	inner := strings.TrimSpace(text[at.Start:at.End])
	if inner == "" {
		return nil
	}
	at.Start += strings.Index(text[at.Start:at.End], inner)
	at.End = at.Start + len(inner)
	var list []views.DiffWord
	add := func(end int, mark string) {
		if end > at.Start {
			list = append(list, views.DiffWord{Text: text[at.Start:end], Mark: mark})
			at.Start = end
		}
	}
	for _, m := range marks {
		if m.Start >= at.Start && m.End <= at.End {
			add(m.Start, "")
			add(m.End, string(m.Kind))
		}
	}
	add(at.End, "")
	return list
}
