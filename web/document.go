package web

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// A trace as a document: its steps, and where it cites, the claims, markers
// and passages. All of it is computed from the texts and is never sealed.

// citationsOf finds every citation of a trace and compares it with its source.
func (s *Server) citationsOf(t *judge.Trace) []ruling.Citation {
	return ruling.CitationsOf(t, s.cfg.Markers)
}

func matchOf(c *ruling.Citation) views.Match { return views.Match(c.Kind) }

var chipOf = map[views.Match]views.SegmentKind{
	views.MatchNoQuote: views.Cite, views.MatchExact: views.CiteExact, views.MatchNear: views.CiteNear,
	views.MatchNotFound: views.CiteNone, views.MatchNoSource: views.CiteNone,
}

// traceText is the output as steps, with claims and markers where it cites.
func traceText(t *judge.Trace, all []ruling.Citation) views.TraceText {
	doc := views.TraceText{Question: t.Question, Lang: languageOf(t)}
	steps := evidence.Steps(t.Output)
	marks := marksBySteps(steps, traceMarks(all))
	for i, s := range steps {
		doc.Steps = append(doc.Steps, views.Step{N: s.Number, Segments: cut(t.Output, evidence.Span{Start: s.Start, End: s.End}, marks[i])})
	}
	return doc
}

// marksBySteps gives each step the marks that reach into it, in their order: of a long
// trace most lie elsewhere.
func marksBySteps(steps []evidence.Step, marks []mark) [][]mark {
	in := make([][]mark, len(steps))
	for _, m := range marks {
		first, _ := slices.BinarySearchFunc(steps, m.Start, func(s evidence.Step, at int) int {
			if s.End <= at {
				return -1
			}
			return 1
		})
		for i := first; i < len(steps) && steps[i].Start < m.End; i++ {
			in[i] = append(in[i], m)
		}
	}
	return in
}

// languageOf is the language that a trace names, where it is one.
func languageOf(t *judge.Trace) string {
	name, _ := t.Metadata["language"].(string)
	tag, err := language.Parse(name)
	if err != nil || name == "" {
		return ""
	}
	return tag.String()
}

// traceMarks are the claims and markers of an output.
func traceMarks(all []ruling.Citation) []mark {
	marks := make([]mark, 0, 2*len(all))
	claims := map[evidence.Span]int{} // markers side by side share one
	for i := range all {
		c := &all[i]
		n := strconv.Itoa(c.Marker.Number)
		claim := evidence.Span{Start: c.Claim.Start, End: c.Claim.End}
		if at, shared := claims[claim]; shared {
			marks[at].ref += " c" + n
		} else {
			claims[claim] = len(marks)
			marks = append(marks, mark{claim, views.Claim, "c" + n})
		}
		marks = append(marks, mark{evidence.Span{Start: c.Marker.Start, End: c.Marker.End}, chipOf[matchOf(c)], n})
	}
	return marks
}

// inputsOf lists what the trace brings beside the output: all of it, or with a
// definition only what that judge reads.
func inputsOf(t *judge.Trace, j *judge.Judge) []views.Input {
	var inputs []views.Input
	add := func(name string, items ...views.InputItem) {
		read := j == nil || slices.ContainsFunc(j.Inputs, func(in judge.Input) bool { return in.Field == strings.ToLower(name) })
		if len(items) > 0 && read {
			inputs = append(inputs, views.Input{Name: name, Items: items})
		}
	}
	one := func(name, text string) {
		if text != "" {
			add(name, views.InputItem{Text: views.Text(text)})
		}
	}
	many := func(name string, texts []string) {
		var items []views.InputItem
		for _, text := range texts {
			items = append(items, views.InputItem{Text: views.Text(text)})
		}
		add(name, items...)
	}
	one("Reference", t.Reference)
	many("Premises", t.Premises)
	one("Conclusion", t.Conclusion)
	many("Constraints", t.Constraints)
	var sources []views.InputItem
	for _, s := range t.Sources {
		heading := s.ID
		if s.Title != "" {
			heading += " · " + s.Title
		}
		sources = append(sources, views.InputItem{Heading: heading, Address: s.URL, Text: views.Text(s.Text)})
	}
	add("Sources", sources...)
	return inputs
}
