package builtin

import (
	"fmt"
	"sort"

	"github.com/countersign/countersign/judge/evidence"
)

// citedClaim is a claim with the citations that stand at it. Each of its sources
// may hold it: the markers stand side by side.
type citedClaim struct {
	claim       evidence.Claim
	quotations  []evidence.Quotation
	sources     []int // in trace.Sources, each once, in the order of their markers
	evaluations []int // of citations whose source is there
}

// maxSearch bounds the steps of one check's searches in sources: half a second or
// so. Only a trace with thousands of quotations that are not there reaches it.
const maxSearch = 1 << 28

// tooLong is the one fault of a check that stopped.
const tooLong = "the quotations and sources are too long to compare all of them; a person looks at the rest"

// citedClaims are the claims with a citation whose occurrence and source are
// known, in the order of the trace.
func (r *citationsReport) citedClaims() []*citedClaim {
	if r.cited == nil {
		r.cited = r.findCited()
	}
	return r.cited
}

func (r *citationsReport) findCited() []*citedClaim {
	claims := evidence.ClaimsIn(r.trace.Output, r.steps, r.markers)
	evaluations := make([][]int, len(r.markers))
	for e, o := range r.occurrence {
		if o >= 0 {
			evaluations[o] = append(evaluations[o], e)
		}
	}
	quotations := map[int][]evidence.Quotation{} // of a step: their marks may stand wide apart
	at := map[evidence.Span]*citedClaim{}
	type beside struct {
		claim  *citedClaim
		source int
	}
	listed := map[beside]bool{}
	list := []*citedClaim{}
	for o, m := range r.markers {
		source, ok := r.sources[citationID(m.CitationID)]
		if !ok {
			continue
		}
		span := evidence.Span{Start: claims[o].Start, End: claims[o].End}
		c := at[span]
		if c == nil {
			c = &citedClaim{claim: claims[o]}
			if m.Step >= 1 && m.Step <= len(r.steps) {
				found, done := quotations[m.Step]
				if !done {
					found = r.quotationsOf(r.steps[m.Step-1])
					quotations[m.Step] = found
				}
				c.quotations = inside(found, span)
			}
			at[span] = c
			list = append(list, c)
		}
		if b := (beside{c, source}); !listed[b] {
			listed[b] = true
			c.sources = append(c.sources, source)
		}
		c.evaluations = append(c.evaluations, evaluations[o]...)
	}
	return list
}

// quotationsOf a step, with their places in the output.
func (r *citationsReport) quotationsOf(s evidence.Step) []evidence.Quotation {
	found := evidence.Quotations(s.Text)
	for i := range found {
		found[i].Start += s.Start
		found[i].End += s.Start
	}
	return found
}

// inside are those of quotations in order that a span holds.
func inside(found []evidence.Quotation, span evidence.Span) []evidence.Quotation {
	from := sort.Search(len(found), func(i int) bool { return found[i].Start >= span.Start })
	to := from
	for to < len(found) && found[to].End <= span.End {
		to++
	}
	return found[from:to]
}

func existsAgrees(r *citationsReport) (faults []string, _ bool) {
	for i, e := range r.Evaluations {
		if _, there := r.sources[e.ID]; there != e.Exists {
			faults = append(faults, fmt.Sprintf("/citation_evaluations/%d/citation_exists: it is %v, but a source %s is given: %v", i, e.Exists, e.ID, there))
		}
	}
	return faults, false
}

// quoteAgrees compares quote_accurate with a search of every quotation at the
// claim. A near match counts as accurate unless a number or a negation is not
// that of the source.
func quoteAgrees(r *citationsReport) (faults []string, skipped bool) {
	any := false
	prepared := make([]*evidence.Source, len(r.trace.Sources))
	var effort evidence.Effort
	for _, c := range r.citedClaims() {
		if len(c.quotations) == 0 || len(c.evaluations) == 0 {
			continue
		}
		any = true
		accurate, worst := true, ""
		for _, q := range c.quotations {
			ok, how := r.locate(q.Text, c.sources, prepared, &effort)
			if effort.Steps > maxSearch {
				return append(faults, tooLong), false
			}
			if !ok {
				accurate, worst = false, fmt.Sprintf("%q %s", shortened(q.Text), how)
			} else if worst == "" {
				worst = how
			}
		}
		for _, e := range c.evaluations {
			if said := r.Evaluations[e].Quote; said != accurate {
				faults = append(faults, fmt.Sprintf("/citation_evaluations/%d/quote_accurate: it is %v, but %s", e, said, worst))
			}
		}
	}
	return faults, !any
}

// locate says whether a quotation is in one of the sources, and how.
func (r *citationsReport) locate(quote string, sources []int, prepared []*evidence.Source, effort *evidence.Effort) (ok bool, how string) {
	how = "does not occur in the cited source"
	for _, i := range sources {
		text := r.trace.Sources[i].Text
		if prepared[i] == nil {
			prepared[i] = evidence.NewSource(text)
		}
		m := prepared[i].LocateNearCounting(quote, effort)
		if effort.Steps > maxSearch {
			return false, how
		}
		switch m.Kind {
		case evidence.Exact:
			return true, "the quotation is in the cited source word for word"
		case evidence.Near:
			passage := text[m.Start:m.End]
			if !evidence.SameNegations(quote, passage) ||
				len(evidence.ChangedNumbers(evidence.Numbers(quote), evidence.Numbers(passage))) > 0 {
				how = fmt.Sprintf("is altered: the source has %q (%d of %d words differ, a number or a negation among them)", shortened(passage), m.Distance, m.Words)
				continue
			}
			return true, fmt.Sprintf("the quotation is nearly in the cited source, %d of %d words differ", m.Distance, m.Words)
		}
	}
	return false, how
}

// numbersAgree: a number of a fully supported claim is in a source cited there.
func numbersAgree(r *citationsReport) (faults []string, _ bool) {
	says := make([]*evidence.NumberIndex, len(r.trace.Sources))
	effort := 0
	for _, c := range r.citedClaims() {
		var full []int
		for _, e := range c.evaluations {
			if v := r.Evaluations[e]; v.Support == "fully_supported" && !v.Flagged {
				full = append(full, e)
			}
		}
		if full == nil {
			continue
		}
		missing := evidence.Numbers(c.claim.Text)
		for _, i := range c.sources {
			if len(missing) == 0 {
				break
			}
			if says[i] == nil {
				x := evidence.IndexNumbers(evidence.Numbers(r.trace.Sources[i].Text))
				says[i] = &x
			}
			if effort += len(missing); effort > maxSearch/64 {
				return append(faults, tooLong), false
			}
			missing = says[i].Missing(missing)
		}
		if len(missing) == 0 {
			continue
		}
		which := fmt.Sprintf("%q is", shortened(missing[0].Text))
		if more := len(missing) - 1; more > 0 {
			which = fmt.Sprintf("%q and %d more numbers are", shortened(missing[0].Text), more)
		}
		for _, e := range full {
			faults = append(faults, fmt.Sprintf("/citation_evaluations/%d/claim_support_strength: the support is full, but %s nowhere in the cited source", e, which))
		}
	}
	return faults, false
}

// shortened is a text that a fault shows: enough to find it by.
func shortened(text string) string {
	const most = 160
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
