package web

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// stepsBench is the desk of the judges that hold an output against a reference.
func stepsBench(d deskItem) *views.StepsBench {
	s := &d.sheet
	b := &views.StepsBench{Question: d.review.Trace.Question, Candidate: len(s.Steps), Reference: len(s.ReferenceSteps), Loose: loose(s)}
	t := table{d: &d, candidate: laidOut(&d, d.review.Trace.Output, s.Steps), reference: laidOut(&d, d.review.Trace.Reference, s.ReferenceSteps), first: map[string]views.RulingChoice{}, shown: make([]bool, len(s.Steps)+1)}
	for i := range s.Units {
		if u := &s.Units[i]; u.Key == "first_wrong" {
			b.First = d.unit(i)
			for _, c := range b.First.Parts[0].Choices {
				t.first[c.Value] = c
			}
		}
	}
	var besides []views.StepRow
	var at []int // of each of besides, its step in our count; 0: none
	for i := range s.Units {
		u := &s.Units[i]
		switch {
		case u.Pair != nil:
			if b.Choices == nil {
				b.Choices = d.unit(i).Parts[0].Choices
			}
			b.Rows = append(b.Rows, t.pair(i, b.Loose))
			t.last = append(t.last, slices.Max(append([]int{0}, u.Pair.Candidate...)))
		case u.Extra != nil:
			step := u.Extra.Step
			if u.Extra.Of != len(s.Steps) {
				step = 0
			}
			besides, at = append(besides, t.extra(i, step)), append(at, step)
		case u.Key == "answer":
			b.Answer = answerRow(&d, i)
		}
	}
	// Steps that nothing is said about are a part of the text all the same.
	for _, step := range s.Steps {
		if !t.shown[step.Number] {
			if row, ok := t.unsaid(step.Number); ok {
				besides, at = append(besides, row), append(at, step.Number)
			}
		}
	}
	b.Rows = woven(b.Rows, t.last, besides, at)
	// Each step is marked where it stands first.
	marked := map[string]bool{}
	for i := range b.Rows {
		for j := range b.Rows[i].Candidate {
			slab := &b.Rows[i].Candidate[j]
			if marked[slab.First.Value] {
				slab.First = views.RulingChoice{}
			}
			marked[slab.First.Value] = true
		}
	}
	if len(b.First.Parts) > 0 {
		for _, c := range b.First.Parts[0].Choices {
			if !marked[c.Value] {
				b.Rest = append(b.Rest, c)
			}
		}
	}
	return b
}

// loose tells a sheet whose texts were not lined up.
func loose(s *ruling.Sheet) bool {
	return !s.Judged && len(s.Steps) > 0 && len(s.ReferenceSteps) > 0 && !slices.ContainsFunc(s.Units, func(u ruling.Unit) bool {
		return u.Extra != nil || u.Pair != nil && len(u.Pair.Candidate) > 0
	})
}

// table makes the rows of a sheet.
type table struct {
	d *deskItem
	// candidate and reference as Markdown has them; nil: they are shown as written.
	candidate, reference []views.Step

	first map[string]views.RulingChoice // by value
	shown []bool                        // by step of the output
	last  []int                         // of each pair, its last step of the output; 0: none
}

// laidOut are the steps of a text as Markdown has them, for who wants that; nil where
// the sheet cut the text elsewhere.
func laidOut(d *deskItem, text string, as []evidence.Step) []views.Step {
	if !d.markdown || !slices.EqualFunc(evidence.Steps(text), as, func(a, b evidence.Step) bool { return a.Start == b.Start && a.End == b.End }) {
		return nil
	}
	return plainSteps(text)
}

// slabBlocks are a step's blocks, without the number that its label has.
func slabBlocks(steps []views.Step, n int) []views.Block {
	if n > len(steps) || len(steps[n-1].Blocks) == 0 {
		return nil
	}
	blocks := steps[n-1].Blocks
	if strings.TrimRight(blocks[0].Marker, ".)") == strconv.Itoa(n) {
		blocks[0].Marker = ""
	}
	return blocks
}

// slab is a step of the output as the trace has it.
func (t *table) slab(step int) views.Slab {
	n := strconv.Itoa(step)
	anchor := "s" + n
	if t.shown[step] {
		anchor = "" // it stands above
	}
	t.shown[step] = true
	return views.Slab{Anchor: anchor, Label: "Candidate " + n, Text: t.d.sheet.Steps[step-1].Body(), Blocks: slabBlocks(t.candidate, step), First: t.first[n]}
}

func (t *table) pair(i int, loose bool) views.StepRow {
	p := t.d.sheet.Units[i].Pair
	row := views.StepRow{
		RulingUnit: t.d.unit(i), JudgeWord: p.JudgeWord, Critical: p.Critical,
		Reference: views.Slab{Label: "Reference " + strconv.Itoa(p.Reference), Text: p.ReferenceText},
	}
	if own := t.d.sheet.ReferenceSteps; p.Of == len(own) && p.Reference >= 1 && p.Reference <= len(own) && own[p.Reference-1].Text == p.ReferenceText {
		row.Reference.Text, row.Reference.Blocks = own[p.Reference-1].Body(), slabBlocks(t.reference, p.Reference)
	}
	for _, step := range p.Candidate {
		row.Candidate = append(row.Candidate, t.slab(step))
	}
	switch {
	case len(row.Candidate) > 0:
	case p.CandidateText != "":
		row.Candidate = append(row.Candidate, views.Slab{Label: "Candidate, as the judge has it", Text: p.CandidateText})
	case loose:
		row.Gap = "Not lined up."
	case t.d.sheet.Judged:
		row.Gap = "No step does this."
	default:
		row.Gap = "No step lines up with this one by its words."
	}
	return row
}

const noReference = "No step of the reference stands beside it."

func (t *table) extra(i, step int) views.StepRow {
	x := t.d.sheet.Units[i].Extra
	row := views.StepRow{RulingUnit: t.d.unit(i), JudgeWord: x.JudgeWord, Critical: x.Critical, ReferenceGap: noReference}
	if step >= 1 && step <= len(t.d.sheet.Steps) {
		row.Candidate = []views.Slab{t.slab(step)}
		return row
	}
	slab := views.Slab{Label: "Candidate, as the judge has it", Text: x.Text}
	if x.Step > 0 {
		slab.Label = "Candidate " + strconv.Itoa(x.Step) + " of " + strconv.Itoa(x.Of) + ", as the judge counts"
	}
	row.Candidate = []views.Slab{slab}
	return row
}

// unsaid is a step of the output that no unit of the sheet shows. It may be ruled
// on all the same.
func (t *table) unsaid(step int) (views.StepRow, bool) {
	n := strconv.Itoa(step)
	part, ok := t.d.sheet.Part("extra/" + n)
	if !ok {
		return views.StepRow{}, false
	}
	row := views.StepRow{
		RulingUnit:   views.RulingUnit{Key: part.Key, Anchor: "x" + n, Title: "Step " + n + ", which nothing is said about", Parts: []views.RulingPart{t.d.part(part)}},
		ReferenceGap: noReference, Candidate: []views.Slab{t.slab(step)},
	}
	row.Progress, row.Done = progressWords(t.d.sheet.Judged, row.Parts)
	return row, true
}

// woven puts steps of the output that stand beside nothing after the row with the
// step before them. last and at hold the steps of pairs and besides.
func woven(pairs []views.StepRow, last []int, besides []views.StepRow, at []int) []views.StepRow {
	after := make([][]int, len(pairs)+1) // of each row, what follows; the first: before all
	var end []int
	for i, step := range at {
		if step == 0 {
			end = append(end, i)
			continue
		}
		place, best := 0, 0
		for k, n := range last {
			if n < step && n > best {
				place, best = k+1, n
			}
		}
		after[place] = append(after[place], i)
	}
	out := make([]views.StepRow, 0, len(pairs)+len(besides))
	add := func(list []int) {
		slices.SortStableFunc(list, func(a, b int) int { return at[a] - at[b] })
		for _, i := range list {
			out = append(out, besides[i])
		}
	}
	add(after[0])
	for k := range pairs {
		out = append(out, pairs[k])
		add(after[k+1])
	}
	add(end)
	return out
}

func answerRow(d *deskItem, i int) *views.AnswerRow {
	r := &views.AnswerRow{RulingUnit: d.unit(i)}
	if a := d.sheet.Answers; a != nil {
		r.Candidate, r.Reference = answerText(a.Candidate), answerText(a.Reference)
		switch {
		case a.Compared && a.Same:
			r.Line = "Both are numbers, and the same one."
		case a.Compared:
			r.Line = "Both are numbers, and they differ."
		}
	}
	return r
}

// answerText is a final answer without the number of its step. An answer that is a
// number and nothing else ("16.") has none.
func answerText(text string) string {
	if body := (evidence.Step{Text: text}).Body(); body != "" {
		return body
	}
	return text
}
