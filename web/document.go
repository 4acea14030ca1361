package web

import (
	"slices"
	"strconv"
	"strings"

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

// matchLine says in a sentence what the comparison found.
func matchLine(c *ruling.Citation, t *judge.Trace) string {
	switch matchOf(c) {
	case views.MatchNoSource:
		return "No source of this trace has the id " + c.Marker.CitationID + ". It brings " +
			counted(len(t.Sources), "source") + "."
	case views.MatchNoQuote:
		return "The claim quotes nothing. Shown is the passage that shares most words with it."
	case views.MatchExact:
		return "The quotation stands in the source word for word."
	case views.MatchNotFound:
		return "The quotation is not in this source. Shown is the passage that shares most words with the claim."
	}
	line := "The quotation stands in the source with " + counted(c.Match.Distance, "word") + " different"
	if n := len(c.Match.Omitted); n > 0 {
		line += "; the boxed words of the source are left out in it"
	}
	if n := len(c.Match.Missing); n > 0 {
		line += "; not in the source: " + quotedList(c.Match.Missing)
	}
	return line + "."
}

// passage draws the excerpt of the source with its marks.
func passage(c *ruling.Citation) []views.Segment {
	if c.Source == nil {
		return nil
	}
	kind := views.Marked
	if matchOf(c) != views.MatchExact {
		kind = views.Near
	}
	var marks []mark
	for _, m := range c.Passage.Marks {
		marks = append(marks, mark{m, kind, ""})
	}
	for _, o := range c.Passage.Omitted {
		marks = append(marks, mark{o, views.Omitted, ""})
	}
	segments := cut(c.Passage.Text, evidence.Span{End: len(c.Passage.Text)}, marks)
	if c.Passage.Start > 0 {
		segments = append([]views.Segment{{Text: "… ", Kind: views.Far}}, segments...)
	}
	if c.Passage.End < len(c.Source.Text) {
		segments = append(segments, views.Segment{Text: " …", Kind: views.Far})
	}
	return segments
}

// citationViews are the citations as the desk shows them; rulings are this
// person's so far.
func citationViews(t *judge.Trace, all []ruling.Citation, rulings []judge.Finding) []views.Citation {
	list := make([]views.Citation, len(all))
	for i := range all {
		c := &all[i]
		v := views.Citation{
			N: c.Marker.Number, Marker: c.Marker.CitationID, Step: c.Marker.Step, Title: c.Marker.CitationID,
			Match: matchOf(c), MatchLine: matchLine(c, t), Claim: c.Claim.Text, Passage: passage(c),
		}
		if c.Source != nil {
			v.Address = c.Source.URL
			if c.Source.Title != "" {
				v.Title = c.Source.Title
			}
		}
		for _, f := range rulings {
			if f.Citation == v.N {
				v.Support = f.Class
			}
		}
		list[i] = v
	}
	return list
}

// traceText is the output as steps, with claims and markers where it cites.
func traceText(t *judge.Trace, all []ruling.Citation) views.TraceText {
	doc := views.TraceText{Question: t.Question}
	var marks []mark
	for i := range all {
		c := &all[i]
		marks = append(marks,
			mark{evidence.Span{Start: c.Claim.Start, End: c.Claim.End}, views.Claim, ""},
			mark{evidence.Span{Start: c.Marker.Start, End: c.Marker.End}, chipOf[matchOf(c)], strconv.Itoa(c.Marker.Number)})
	}
	for _, s := range evidence.Steps(t.Output) {
		doc.Steps = append(doc.Steps, views.Step{N: s.Number, Segments: cut(t.Output, evidence.Span{Start: s.Start, End: s.End}, marks)})
	}
	return doc
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
