package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// logicBench is the desk of the judges of reasoning: the rubric's dimensions with
// the report's violations, and what the person finds besides.
func logicBench(d deskItem) views.Bench {
	t := &d.review.Trace
	b := views.LogicBench{Steps: len(d.sheet.Steps), ComesTo: d.comesTo()}
	var found []*ruling.Violation
	for i := range d.sheet.Units {
		u, drawn := &d.sheet.Units[i], d.unit(i)
		if len(u.Parts) == 1 && u.Parts[0].Many {
			b.Severities = drawn.Parts[0].Choices
			b.Own = d.ownViolations(u.Parts[0].Key)
			continue
		}
		f := views.DimensionUnit{RulingUnit: drawn}
		f.Parts = nil
		for j := range u.Parts {
			if v := u.Parts[j].Violation; v != nil {
				found = append(found, v)
				f.Violations = append(f.Violations, violationView(v, drawn.Parts[j], d.sheet.Judged))
				continue
			}
			f.Parts = append(f.Parts, drawn.Parts[j])
		}
		if u.Dimension == nil {
			b.Loose = append(b.Loose, f.Violations...)
			continue
		}
		f.Check = u.Dimension.Check
		if u.Dimension.Anchors[0] != "" {
			f.Anchors = u.Dimension.Anchors[:]
		}
		b.Names = append(b.Names, views.Choice{Value: u.Dimension.Name, Text: u.Title})
		b.Dimensions = append(b.Dimensions, f)
	}
	b.Trace = violatedText(t, d.sheet.Steps, found, d.markdown)
	return &b
}

func violationView(v *ruling.Violation, p views.RulingPart, judged bool) views.ViolationUnit {
	u := views.RulingUnit{Key: p.Key, Anchor: "v" + strconv.Itoa(v.Number), Title: p.Title, Parts: []views.RulingPart{p}}
	u.Progress, u.Done = progressWords(judged, u.Parts)
	out := views.ViolationUnit{
		RulingUnit: u, Number: v.Number, Severity: v.Severity, Class: v.Class, Step: v.Step, Quote: v.Quote, Explanation: v.Explanation,
		Where: views.MatchNotFound,
	}
	switch {
	case strings.TrimSpace(v.Quote) == "":
		out.Where = views.MatchNoQuote
	case v.Place.Kind == evidence.Exact:
		out.Where = views.MatchExact
	case v.Place.Found():
		out.Where = views.MatchNear
	}
	return out
}

// violatedText is the output with the quoted words of each violation marked, and
// its number behind them. Violations may quote the same words, or parts of them:
// each stretch knows all that quote it, and none is lost.
func violatedText(t *judge.Trace, steps []evidence.Step, found []*ruling.Violation, markdown bool) views.TraceText {
	var placed []*ruling.Violation
	for _, v := range found {
		if v.Place.Found() && v.Place.Start < v.Place.End {
			placed = append(placed, v)
		}
	}
	slices.SortFunc(placed, func(a, b *ruling.Violation) int {
		return cmp.Or(cmp.Compare(a.Place.Start, b.Place.Start), cmp.Compare(a.Number, b.Number))
	})
	doc := views.TraceText{Question: t.Question}
	for _, s := range steps {
		doc.Steps = append(doc.Steps, views.Step{N: s.Number, Segments: violatedStep(t.Output, evidence.Span{Start: s.Start, End: s.End}, placed)})
	}
	if !markdown {
		return doc
	}
	layOutText(doc.Steps, t.Output, nil, func(s evidence.Span, _ []mark) []views.Segment { return violatedStep(t.Output, s, placed) })
	for i := range doc.Steps {
		// A passage may end on a sign that Markdown leaves out, such as a star: then
		// its number would have no place, and the step stays as it was written.
		if s := &doc.Steps[i]; flags(s.Segments) != blockFlags(s.Blocks) {
			s.Blocks = nil
		}
	}
	return doc
}

func flags(list []views.Segment) (n int) {
	for _, s := range list {
		if s.Kind == views.Flag {
			n++
		}
	}
	return n
}

func blockFlags(blocks []views.Block) (n int) {
	for _, b := range blocks {
		n += flags(b.Segments)
		for _, r := range b.Rows {
			for _, c := range r.Cells {
				n += flags(c)
			}
		}
	}
	return n
}

func violatedStep(text string, step evidence.Span, placed []*ruling.Violation) []views.Segment {
	var here []*ruling.Violation
	cuts := []int{step.Start, step.End}
	for _, v := range placed {
		if v.Place.Start < step.End && v.Place.End > step.Start {
			here = append(here, v)
			cuts = append(cuts, max(v.Place.Start, step.Start), min(v.Place.End, step.End))
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []views.Segment
	for i := 1; i < len(cuts); i++ {
		from, to := cuts[i-1], cuts[i]
		var anchors []string
		var ending []int
		for _, v := range here {
			if v.Place.Start >= to {
				break
			}
			if v.Place.End > from {
				anchors = append(anchors, "v"+strconv.Itoa(v.Number))
			}
			// What runs over several steps is flagged in the last of them only.
			if v.Place.End == to {
				ending = append(ending, v.Number)
			}
		}
		s := views.Segment{Text: text[from:to]}
		if anchors != nil {
			s.Kind, s.Ref = views.Violation, strings.Join(anchors, " ")
		}
		out = append(out, s)
		for _, n := range ending {
			number := strconv.Itoa(n)
			out = append(out, views.Segment{Text: number, Kind: views.Flag, Ref: number})
		}
	}
	return out
}

// slots is how many empty violations a desk offers beside those that are given.
const slots = 2

// ownViolations are the person's violations, and room for more.
func (d deskItem) ownViolations(key string) []views.OwnViolation {
	var list []views.OwnViolation
	free := 0
	for n := 1; n <= ruling.MostAdded; n++ {
		v := views.OwnViolation{Number: n, Locked: d.locked}
		if r, ok := d.given[key+"/"+strconv.Itoa(n)]; ok {
			a, _ := ruling.ParseAdded(r) // what is missing in it is told when it is signed
			v.Severity, v.Dimension, v.Step, v.Quote, v.Class, v.Explanation = a.Severity, a.Dimension, a.Step, a.Quote, a.Class, a.Explanation
		} else if free++; free > slots || d.locked {
			continue
		}
		list = append(list, v)
	}
	return list
}

// addedField begins the names of the fields of a violation of the person's own:
// added.1.quote. Its severity is the ruling "add/1".
const addedField = "added."

// withAdded takes the fields of the person's own violations into their rulings. A
// violation of which something is typed and no severity chosen has an empty value,
// so that it is neither lost nor signed: see wholeAdded.
func withAdded(rulings []judge.Ruling, form url.Values) []judge.Ruling {
	for n := 1; n <= ruling.MostAdded; n++ {
		field := func(name string) string {
			return strings.TrimSpace(form.Get(addedField + strconv.Itoa(n) + "." + name))
		}
		a := ruling.Added{Quote: field("quote"), Class: field("class"), Explanation: field("explanation"), Dimension: field("dimension")}
		step, err := strconv.Atoi(field("step"))
		if a.Step = step; err != nil && field("step") != "" {
			a.Step = -1 // Check says that the output has no such step
		}
		typed := a != ruling.Added{}
		part := "add/" + strconv.Itoa(n)
		at := slices.IndexFunc(rulings, func(r judge.Ruling) bool { return r.Part == part })
		switch {
		case at >= 0 && rulings[at].Note == "":
			a.Severity = rulings[at].Value
			rulings[at] = a.Ruling(n)
		case at < 0 && typed:
			rulings = append(rulings, a.Ruling(n))
		}
	}
	return rulings
}

// wholeAdded wants a severity and an explanation of each violation of the person's own.
func wholeAdded(rulings []judge.Ruling) error {
	for _, r := range rulings {
		number, ok := strings.CutPrefix(r.Part, "add/")
		if !ok {
			continue
		}
		_, err := ruling.ParseAdded(r)
		switch {
		case r.Value == "":
			return &store.FieldError{Field: "rulings", Message: fmt.Sprintf("are not whole: your violation %s has no severity. Choose critical, major or minor, or empty its fields", number)}
		case err != nil:
			return &store.FieldError{Field: "rulings", Message: fmt.Sprintf("are not whole: your violation %s %s", number, err)}
		}
	}
	return nil
}
