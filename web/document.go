package web

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/views"
)

// A trace as a document: its steps, and where it cites, the claims, markers
// and passages. All of it is computed from the texts and is never sealed.

// passageContext is how many bytes of a source are shown before and after the
// matched words.
const passageContext = 320

// cited is one occurrence of a marker with what the texts say about it.
type cited struct {
	marker  evidence.Marker
	claim   evidence.Claim
	source  *judge.Source // nil when no source has that id
	quote   string        // the quotation compared; empty when the claim quotes nothing
	match   evidence.Match
	excerpt evidence.Excerpt
}

// citationsOf finds every citation of a trace and compares it with its source.
func (s *Server) citationsOf(t *judge.Trace) []cited {
	markers := evidence.Markers(t.Output, t.Sources, s.cfg.Markers)
	claims := evidence.Claims(t.Output, markers)
	prepared := map[string]*evidence.Source{}
	all := make([]cited, len(markers))
	for i, m := range markers {
		c := cited{marker: m, claim: claims[i]}
		at := slices.IndexFunc(t.Sources, func(s judge.Source) bool { return s.ID == m.CitationID })
		if at >= 0 {
			c.source = &t.Sources[at]
			text := prepared[m.CitationID]
			if text == nil {
				text = evidence.NewSource(c.source.Text)
				prepared[m.CitationID] = text
			}
			c.compare(text)
		}
		all[i] = c
	}
	return all
}

// compare looks for the claim's longest quotation in the source, and without
// one for the passage that shares most words with the claim.
func (c *cited) compare(text *evidence.Source) {
	for _, q := range evidence.Quotations(c.claim.Text) {
		if len(q.Text) > len(c.quote) {
			c.quote = q.Text
		}
	}
	if c.quote != "" {
		if c.match = text.Locate(c.quote); c.match.Kind != evidence.None {
			c.excerpt = text.Around(c.match, passageContext)
			return
		}
	}
	c.excerpt = text.BestFor(c.claim.Text, passageContext)
}

func (c *cited) matchKind() views.Match {
	switch {
	case c.source == nil:
		return views.MatchNoSource
	case c.quote == "":
		return views.MatchNoQuote
	case c.match.Kind == evidence.Exact:
		return views.MatchExact
	case c.match.Kind == evidence.Near:
		return views.MatchNear
	}
	return views.MatchNotFound
}

var chipOf = map[views.Match]views.SegmentKind{
	views.MatchNoQuote: views.Cite, views.MatchExact: views.CiteExact, views.MatchNear: views.CiteNear,
	views.MatchNotFound: views.CiteNone, views.MatchNoSource: views.CiteNone,
}

// matchLine says in a sentence what the comparison found.
func (c *cited) matchLine(t *judge.Trace) string {
	switch c.matchKind() {
	case views.MatchNoSource:
		return "No source of this trace has the id " + c.marker.CitationID + ". It brings " +
			counted(len(t.Sources), "source") + "."
	case views.MatchNoQuote:
		return "The claim quotes nothing. Shown is the passage that shares most words with it."
	case views.MatchExact:
		return "The quotation stands in the source word for word."
	case views.MatchNotFound:
		return "The quotation is not in this source. Shown is the passage that shares most words with the claim."
	}
	line := "The quotation stands in the source with " + counted(c.match.Distance, "word") + " different"
	if n := len(c.match.Omitted); n > 0 {
		line += "; the boxed words of the source are left out in it"
	}
	if n := len(c.match.Missing); n > 0 {
		line += "; not in the source: " + quotedList(c.match.Missing)
	}
	return line + "."
}

// passage draws the excerpt of the source with its marks.
func (c *cited) passage() []views.Segment {
	if c.source == nil {
		return nil
	}
	kind := views.Marked
	if c.matchKind() != views.MatchExact {
		kind = views.Near
	}
	var marks []mark
	for _, m := range c.excerpt.Marks {
		marks = append(marks, mark{m, kind, ""})
	}
	for _, o := range c.excerpt.Omitted {
		marks = append(marks, mark{o, views.Omitted, ""})
	}
	segments := cut(c.excerpt.Text, evidence.Span{End: len(c.excerpt.Text)}, marks)
	if c.excerpt.Start > 0 {
		segments = append([]views.Segment{{Text: "… ", Kind: views.Far}}, segments...)
	}
	if c.excerpt.End < len(c.source.Text) {
		segments = append(segments, views.Segment{Text: " …", Kind: views.Far})
	}
	return segments
}

// citationViews are the citations as the desk shows them; rulings are this
// person's so far.
func citationViews(t *judge.Trace, all []cited, rulings []judge.Finding) []views.Citation {
	list := make([]views.Citation, len(all))
	for i := range all {
		c := &all[i]
		v := views.Citation{
			N: c.marker.Number, Marker: c.marker.CitationID, Step: c.marker.Step, Title: c.marker.CitationID,
			Match: c.matchKind(), MatchLine: c.matchLine(t), Claim: c.claim.Text, Passage: c.passage(),
		}
		if c.source != nil {
			v.Address = c.source.URL
			if c.source.Title != "" {
				v.Title = c.source.Title
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
func traceText(t *judge.Trace, all []cited) views.TraceText {
	doc := views.TraceText{Question: t.Question}
	var marks []mark
	for i := range all {
		c := &all[i]
		marks = append(marks,
			mark{evidence.Span{Start: c.claim.Start, End: c.claim.End}, views.Claim, ""},
			mark{evidence.Span{Start: c.marker.Start, End: c.marker.End}, chipOf[c.matchKind()], strconv.Itoa(c.marker.Number)})
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
