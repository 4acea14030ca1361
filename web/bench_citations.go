package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

const (
	// mostWhole citations have what is inside on the page itself. Of a trace with
	// more only the open one and those after it have, wholeAhead in all; the script
	// gets the others as one is opened, in blocks of blockSize.
	mostWhole  = 60
	wholeAhead = 4
	blockSize  = 20
	// mostCitations are listed on a desk: as many as rulings are taken of.
	mostCitations = ruling.MostRulings / 4
	// shortSource is the longest source, in bytes, that stands on the desk as a
	// whole, and shortSources how much all of them may be. Beside very many citations
	// none stands there.
	shortSource  = 6 << 10
	shortSources = 48 << 10
)

// citationsBench is the desk of the judge of citations. at is the number of the
// citation that is asked for, from 1; 0: the first that waits for a ruling.
func citationsBench(d deskItem, at int) *views.CitationsBench {
	all := citationsIn(&d.sheet)
	b := &views.CitationsBench{
		Trace: traceText(&d.review.Trace, all),
		Units: make([]views.CitationUnit, min(len(all), mostCitations)),
	}
	b.Beyond = len(all) - len(b.Units)
	if d.markdown {
		layOut(&b.Trace, &d.review.Trace, all)
	}
	b.Sources = wholeSources(&d, all)
	for i := range b.Units {
		b.Units[i] = citationUnit(&d, i)
	}
	if len(b.Units) == 0 {
		return b
	}
	open := slices.IndexFunc(b.Units, func(u views.CitationUnit) bool { return !u.Done })
	if at > 0 && at <= len(b.Units) {
		open = at - 1
	}
	open = max(open, 0)
	b.Units[open].Open = true
	for i := range b.Units {
		if len(b.Units) > mostWhole && (i < open || i >= open+wholeAhead) {
			b.Units[i] = folded(&d, b.Units[i])
		} else {
			fillCitation(&d, &b.Units[i], all, i)
		}
	}
	return b
}

// citationsBlock are the insides of the block that a citation is in, or of every
// listed one, as they stand on the desk.
func citationsBlock(d deskItem, at int, every bool) []views.CitationUnit {
	all := citationsIn(&d.sheet)
	from := max(0, at-1) / blockSize * blockSize
	end := min(from+blockSize, len(all), mostCitations)
	if every {
		from, end = 0, min(len(all), mostCitations)
	}
	var units []views.CitationUnit
	for i := from; i < end; i++ {
		u := citationUnit(&d, i)
		fillCitation(&d, &u, all, i)
		units = append(units, u)
	}
	return units
}

// citationsIn are the citations of a sheet, in its order.
func citationsIn(s *ruling.Sheet) []ruling.Citation {
	all := make([]ruling.Citation, len(s.Units))
	for i := range s.Units {
		all[i] = *s.Units[i].Citation
	}
	return all
}

// citationUnit is the line of the i-th citation.
func citationUnit(d *deskItem, i int) views.CitationUnit {
	c := d.sheet.Units[i].Citation
	return views.CitationUnit{
		RulingUnit: d.unit(i), N: c.Marker.Number, Marker: c.Marker.CitationID, Step: c.Marker.Step,
		Source: sourceTitle(c), Match: matchOf(c),
	}
}

// folded leaves out what is inside, and says where it is to be had.
func folded(d *deskItem, u views.CitationUnit) views.CitationUnit {
	u.PageHref = reviewPath(d.review.ReviewID) + "?at=" + strconv.Itoa(u.N) + "#" + u.Anchor
	return u
}

// fillCitation adds what is inside.
func fillCitation(d *deskItem, u *views.CitationUnit, all []ruling.Citation, i int) {
	c := &all[i]
	differs := differingWords(c)
	u.MatchHead, u.MatchLine = matchWords(c, differs, len(d.review.Trace.Sources))
	u.Altered = alteredLine(c)
	u.Passage, u.Quoted = passage(c, differs), differs.quoted
	u.PassageNote = passageNote(c)
	if c.Source == nil {
		return
	}
	n := slices.IndexFunc(d.review.Trace.Sources, func(s judge.Source) bool { return s.ID == c.Source.ID })
	anchor := "q" + strconv.Itoa(c.Marker.Number)
	if c.Passage.Text == "" {
		anchor = sourceAnchor(n)
	}
	u.WholeHref = "#" + anchor
	if !short(d, n) {
		u.WholeOpens = true
		u.WholeHref = sourcePath(d.review.ReviewID, n) + "#" + anchor
	}
}

func sourceTitle(c *ruling.Citation) string {
	if c.Source != nil && c.Source.Title != "" {
		return c.Source.Title
	}
	return c.Marker.CitationID
}

// differing is how a near quotation and its passage differ.
type differing struct {
	// source are the words of the source that the quotation has otherwise, in bytes
	// of the source.
	source []evidence.Span
	// quoted is the quotation with its own words marked; nil: it has none.
	quoted []views.Segment
	// leftOut counts the words of the source that the quotation leaves out.
	leftOut int
}

// mostCompared is the longest quotation, in bytes, whose words are compared with
// the passage one by one.
const mostCompared = 4 << 10

// differingWords compares a near quotation with its passage. Letters' case and
// signs count for nothing: they are no other words.
func differingWords(c *ruling.Citation) differing {
	var d differing
	if c.Kind != ruling.MatchNear {
		return d
	}
	d.leftOut = c.LeftOut
	passage := c.Source.Text[c.Match.Start:c.Match.End]
	if len(c.Quote) > mostCompared || len(passage) > 2*mostCompared {
		return d
	}
	var own []mark
	d.leftOut = 0
	for _, s := range ruling.Compare(passage, c.Quote).Segments {
		there, here := passage[s.Reference.Start:s.Reference.End], c.Quote[s.Candidate.Start:s.Candidate.End]
		theirs, ours := plainWords(there), plainWords(here)
		switch {
		case s.Kind == ruling.Same || slices.Equal(theirs, ours):
			continue
		case len(theirs) > 0 && len(ours) > 0:
			d.source = append(d.source, evidence.Span{Start: c.Match.Start + s.Reference.Start, End: c.Match.Start + s.Reference.End})
		default:
			d.leftOut += len(theirs)
		}
		if len(ours) > 0 {
			own = append(own, mark{s.Candidate, views.Added, ""})
		}
	}
	if own != nil {
		d.quoted = cut(c.Quote, evidence.Span{End: len(c.Quote)}, own)
	}
	return d
}

// plainWords are the words of a text without case and signs around them.
func plainWords(text string) []string {
	var list []string
	for w := range strings.FieldsSeq(evidence.Fold(text).Text) {
		if w = strings.Trim(w, `.,;:!?…"'()[]-`); w != "" {
			list = append(list, strings.ToLower(w))
		}
	}
	return list
}

// passage draws the excerpt of the source with its marks: the matched words, what
// the quotation leaves out, and what it has otherwise.
func passage(c *ruling.Citation, differs differing) []views.Segment {
	if c.Source == nil || c.Passage.Text == "" {
		return nil
	}
	kind := views.Marked
	if c.Kind != ruling.MatchExact {
		kind = views.Near
	}
	var marks []mark
	shown := evidence.Span{Start: c.Passage.Start, End: c.Passage.End}
	for _, o := range differs.source {
		marks = append(marks, mark{evidence.Span{Start: o.Start - shown.Start, End: o.End - shown.Start}, views.Replaced, ""})
	}
	for _, o := range c.Passage.Omitted {
		for _, rest := range without(o, marks) {
			marks = append(marks, mark{rest, views.Omitted, ""})
		}
	}
	for _, m := range c.Passage.Marks {
		for _, rest := range without(m, marks) {
			marks = append(marks, mark{rest, kind, ""})
		}
	}
	segments := cut(c.Passage.Text, evidence.Span{End: len(c.Passage.Text)}, marks)
	if c.Match.Found() {
		segments = faded(segments)
	}
	if shown.Start > 0 {
		segments = append([]views.Segment{{Text: "… ", Kind: views.Far}}, segments...)
	}
	if shown.End < len(c.Source.Text) {
		segments = append(segments, views.Segment{Text: " …", Kind: views.Far})
	}
	return segments
}

// without is what is left of a span outside of marks, white space at the cuts
// aside.
func without(s evidence.Span, marks []mark) []evidence.Span {
	left := []evidence.Span{s}
	for _, m := range marks {
		var next []evidence.Span
		for _, at := range left {
			if m.End <= at.Start || m.Start >= at.End {
				next = append(next, at)
				continue
			}
			if m.Start > at.Start {
				next = append(next, evidence.Span{Start: at.Start, End: m.Start})
			}
			if m.End < at.End {
				next = append(next, evidence.Span{Start: m.End, End: at.End})
			}
		}
		left = next
	}
	return left
}

// faded draws the text before and after the matched words as surroundings.
func faded(segments []views.Segment) []views.Segment {
	if n := len(segments); n > 1 {
		for _, at := range []int{0, n - 1} {
			if segments[at].Kind == views.Plain {
				segments[at].Kind = views.Far
			}
		}
	}
	return segments
}

// passageNote says what passage is shown where no match leads to one.
func passageNote(c *ruling.Citation) string {
	if c.Source == nil || c.Match.Found() || c.Passage.Text == "" {
		return ""
	}
	return "The passage of the source that is nearest to the claim: it has " + strconv.Itoa(c.Passage.Shared) + " of its " +
		counted(c.Passage.Wanted, "word") + " that carry meaning."
}

// matchWords say what the comparison found, in a few words and in sentences.
func matchWords(c *ruling.Citation, differs differing, sources int) (head string, line []views.Segment) {
	say := func(text string) { line = append(line, views.Segment{Text: text}) }
	switch c.Kind {
	case ruling.MatchNoSource:
		head = "No such source."
		say("No source of this trace has the id " + c.Marker.CitationID + ". It brings " + counted(sources, "source") + ".")
		return head, line
	case ruling.MatchExact:
		head = "Exact match."
		say(allWords(c.Match.Words) + " in the source, word for word.")
	case ruling.MatchNotFound:
		head = "Not found."
		say("The quoted words are not in this source.")
	case ruling.MatchNear:
		head = "Near match."
		line = nearWords(c, differs)
	default:
		head = "No quotation."
		say("The claim quotes nothing, so there is nothing to compare.")
	}
	if c.Source != nil && c.Passage.Text == "" {
		say(" No passage of the source shares a word with the claim.")
	}
	if n := len(c.Numbers); n > 0 {
		noun := " The source does not say these numbers of the claim: "
		if n == 1 {
			noun = " The source does not say this number of the claim: "
		}
		say(noun + quotedList(c.Numbers) + ".")
	}
	return head, line
}

func allWords(n int) string {
	if n == 1 {
		return "The quoted word stands"
	}
	return "All " + strconv.Itoa(n) + " quoted words stand"
}

func nearWords(c *ruling.Citation, differs differing) (line []views.Segment) {
	say := func(text string) { line = append(line, views.Segment{Text: text}) }
	if missing := len(c.Match.Missing); missing == 0 {
		say(allWords(c.Match.Words) + " in the source, in this order.")
	} else {
		say(strconv.Itoa(c.Match.Words-missing) + " of " + counted(c.Match.Words, "quoted word") + " stand in the source, in this order; not: " +
			quotedList(c.Match.Missing) + ".")
	}
	if differs.leftOut > 0 {
		say(" ")
		line = append(line, views.Segment{Text: counted(differs.leftOut, "source word"), Kind: views.Boxed})
		verb := " inside the quotation were left out"
		if differs.leftOut == 1 {
			verb = " inside the quotation was left out"
		}
		if strings.Contains(c.Quote, "…") || strings.Contains(c.Quote, "...") {
			say(verb + "; the quotation shows an ellipsis.")
		} else {
			say(verb + " without an ellipsis.")
		}
	}
	return line
}

// alteredLine says what changes the sense of a near quotation.
func alteredLine(c *ruling.Citation) string {
	if c.Altered == "" {
		return ""
	}
	return "The quotation changes " + c.Altered + "."
}

// showCitations is what is inside a block of citations, for the script that opens
// one of very many, or of all for who searches them. It is drawn from the same item as
// the desk, sealed alike.
func (s *Server) showCitations(c echo.Context) error {
	p, item, err := s.deskOf(c, param(c, "id"), nil)
	if err != nil {
		return err
	}
	if item.sheet.Kind != ruling.Citations {
		return store.ErrNotFound
	}
	return s.render(c, http.StatusOK, views.CitationInsides(views.CitationBodies{Desk: p, Units: citationsBlock(item, item.at, c.QueryParam("all") == "1")}))
}
