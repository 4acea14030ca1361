package rules

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// Citations evaluates every citation marker of a trace. undecided is empty
// when the verdict cannot depend on what text comparison left open; otherwise
// it says what a person must look at. band gives the verdict's bounds; a zero
// band means judge.DefaultBand.
//
// A wrong quotation is flagged quote_mismatch (critical when it is altered,
// major when it is absent); it counts nothing, whatever the claim beside it.
// An occurrence whose id is no source's is unsupported and flagged
// citation_not_found, severity major at any stakes: on the labelled traces a
// missing source goes with a failing trace no more often than chance, so it is
// a person's to weigh, and at high stakes every flag comes before one anyway.
func (e Engine) Citations(t *judge.Trace, band judge.Band) (report CitationsReport, undecided string) {
	if band == (judge.Band{}) {
		band = judge.DefaultBand
	}
	x := newExaminer(t, e)
	report = CitationsReport{Total: len(x.markers), Flags: []Flag{}, Evaluations: make([]Citation, 0, len(x.markers))}
	for i := range x.markers {
		c, flag := x.examine(i)
		report.Evaluations = append(report.Evaluations, c)
		if flag != nil {
			report.Flags = append(report.Flags, *flag)
			if flag.Type == notFound { // a source that is not there supports nothing: two faults, two flags
				nothing := *flag
				nothing.Type = unsupported
				report.Flags = append(report.Flags, nothing)
			}
		}
	}
	undecided = conclude(&report, band)
	report.Summary = summary(x, report)
	return report, undecided
}

// conclude computes the score and says what a person must decide, if it
// matters: not when every undecided citation counted full still fails, or
// counted nothing still passes.
func conclude(r *CitationsReport, band judge.Band) (undecided string) {
	sum, decided, open, grave := 0.0, 0.0, 0, false
	for _, c := range r.Evaluations {
		sum += c.value()
		if c.Decided {
			decided += c.value()
		} else {
			open++
		}
	}
	for _, f := range r.Flags {
		grave = grave || f.Severity == critical
	}
	if r.Total > 0 {
		r.Score = sum / float64(r.Total)
	}
	if open == 0 && r.Total > 0 || grave {
		return ""
	}
	n := float64(max(1, r.Total))
	worst := band.Verdict(decided/n, false, false)
	best := band.Verdict((decided+float64(open))/n, false, false)
	if r.Total > 0 && (worst == judge.Pass || best == judge.Fail) {
		return ""
	}
	return fmt.Sprintf("comparing texts could not decide %d of %d citations; a person decides whether the sources support them", open, r.Total)
}

func summary(x *examiner, r CitationsReport) string {
	full, flagged, open := 0, 0, 0
	for _, c := range r.Evaluations {
		switch {
		case !c.Decided:
			open++
		case c.Flagged:
			flagged++
		case c.Support == fully:
			full++
		}
	}
	s := fmt.Sprintf("By text comparison only. Citations: %d. Word for word in their source: %d. Flagged: %d. Left to a person: %d.",
		r.Total, full, flagged, open)
	if bare := x.uncited(); bare > 0 {
		s += fmt.Sprintf(" Steps without a citation: %d.", bare)
	}
	return s
}

// examiner holds a trace taken apart once for all its citations.
type examiner struct {
	trace   *judge.Trace
	steps   []evidence.Step
	markers []evidence.Marker
	claims  []evidence.Claim
	quotes  []evidence.Quotation
	sources []*evidence.Source // prepared when first needed, as trace.Sources
	byID    map[string]int     // number of the source with an id
	// done is what was found of a claim and a source: markers side by side
	// share their claim, and it is long where they are many.
	done map[support]finding
}

// support is a question: does the source support the claim.
type support struct{ start, end, source int }

type finding struct {
	citation Citation
	flag     *Flag
}

func newExaminer(t *judge.Trace, e Engine) *examiner {
	x := &examiner{trace: t, steps: evidence.Steps(t.Output), sources: make([]*evidence.Source, len(t.Sources)), byID: map[string]int{}, done: map[support]finding{}}
	for i := len(t.Sources) - 1; i >= 0; i-- {
		x.byID[t.Sources[i].ID] = i // the first of an id counts
	}
	x.markers = evidence.MarkersIn(t.Output, x.steps, t.Sources, e.Markers)
	x.claims = evidence.ClaimsIn(t.Output, x.steps, x.markers)
	x.quotes = evidence.Quotations(t.Output)
	return x
}

// source gives the number of the source with an id, or -1.
func (x *examiner) source(id string) int {
	if n, ok := x.byID[id]; ok {
		return n
	}
	return -1
}

// prepared is a source ready to be searched; its title can be quoted too.
func (x *examiner) prepared(i int) *evidence.Source {
	if x.sources[i] == nil {
		text := x.trace.Sources[i].Text
		if title := x.trace.Sources[i].Title; title != "" {
			text += "\n\n" + title
		}
		x.sources[i] = evidence.NewSource(text)
	}
	return x.sources[i]
}

// uncited counts the steps without a marker that have more than a few words.
func (x *examiner) uncited() int {
	cited := make([]bool, len(x.steps)+1)
	for _, m := range x.markers {
		cited[m.Step] = true
	}
	n := 0
	for _, s := range x.steps {
		if !cited[s.Number] && len(strings.Fields(s.Text)) > 4 {
			n++
		}
	}
	return n
}

// examine judges one occurrence. Occurrences of one source at one claim are
// judged once.
func (x *examiner) examine(i int) (Citation, *Flag) {
	m, claim := x.markers[i], x.claims[i]
	n := x.source(m.CitationID)
	key := support{claim.Start, claim.End, n}
	if f, ok := x.done[key]; ok && n >= 0 {
		f.citation.Step = m.Step
		if f.flag != nil {
			copied := *f.flag
			copied.Step = m.Step
			f.flag = &copied
		}
		return f.citation, f.flag
	}
	c, flag := x.examineFirst(i, n)
	x.done[key] = finding{c, flag}
	return c, flag
}

func (x *examiner) examineFirst(i, n int) (Citation, *Flag) {
	m, claim := x.markers[i], x.claims[i]
	c := Citation{
		// The claim, not the step: a step of one long paragraph would stand in the
		// report once for each of its markers. Side by side they share a claim, so
		// that is cut as well.
		ID: m.CitationID, Step: m.Step, StepText: shortened(claim.Text), Exists: true, QuoteAccurate: true,
		Fidelity: accurate, Support: partially,
	}
	flag := func(kind, severity, detail string) *Flag {
		c.Flagged, c.Decided, c.Explanation = true, true, detail
		return &Flag{ID: c.ID, Step: c.Step, Type: kind, Severity: severity, Detail: detail}
	}
	if n < 0 {
		c.Exists, c.Support = false, unsupported
		f := flag(notFound, major, fmt.Sprintf("No source of the trace has the id %q.", m.CitationID))
		return c, f
	}
	if strings.TrimSpace(x.trace.Sources[n].Text) == "" {
		c.Explanation = "The source has no text to compare with. Not decided."
		return c, nil
	}
	found, note := x.quotations(i, n)
	switch found {
	case quoteAltered:
		c.QuoteAccurate = false
		f := flag(quoteMismatch, critical, note)
		return c, f
	case quoteAbsent:
		c.QuoteAccurate = false
		f := flag(quoteMismatch, major, note)
		return c, f
	}
	v := verbatim(x.prepared(n), claim.Text)
	if v.holds {
		c.Decided, c.Support = true, fully
	}
	c.Explanation = strings.TrimSpace(note + " " + v.explanation)
	return c, nil
}
