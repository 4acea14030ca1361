package builtin

import (
	"fmt"

	"github.com/countersign/countersign/judge/evidence"
)

// cited is one evaluated citation with the claim it stands at and the sources
// that may hold it: its own, and those of markers that stand side by side with
// it at the same claim.
type cited struct {
	at         string
	evaluation citationEvaluation
	claim      evidence.Claim
	quotations []evidence.Quotation
	sources    []string // texts
}

func (r *citationsReport) sourceText(id string) (string, bool) {
	for _, s := range r.trace.Sources {
		if s.ID == id {
			return s.Text, true
		}
	}
	return "", false
}

// citedTexts are the citations whose occurrence and source are known.
func (r *citationsReport) citedTexts() []cited {
	if r.cited == nil {
		r.cited = r.findCited()
	}
	return r.cited
}

func (r *citationsReport) findCited() []cited {
	claims := evidence.ClaimsIn(r.trace.Output, r.steps, r.markers)
	quotations := map[int][]evidence.Quotation{} // of a step, found once
	list := []cited{}
	for i, e := range r.Evaluations {
		o := r.occurrence[i]
		if o < 0 {
			continue
		}
		own, ok := r.sourceText(string(e.ID))
		if !ok {
			continue
		}
		c := cited{at: fmt.Sprintf("/citation_evaluations/%d", i), evaluation: e, claim: claims[o], sources: []string{own}}
		for k, m := range r.markers {
			if k != o && claims[k].Start == c.claim.Start && claims[k].End == c.claim.End {
				if text, ok := r.sourceText(m.CitationID); ok {
					c.sources = append(c.sources, text)
				}
			}
		}
		// A quotation needs its whole step, since its marks may stand wide apart.
		step := r.markers[o].Step
		if step < 1 || step > len(r.steps) {
			list = append(list, c)
			continue
		}
		s := r.steps[step-1]
		found, done := quotations[step]
		if !done {
			found = evidence.Quotations(r.trace.Output[s.Start:s.End])
			quotations[step] = found
		}
		for _, q := range found {
			if s.Start+q.Start >= c.claim.Start && s.Start+q.End <= c.claim.End {
				c.quotations = append(c.quotations, q)
			}
		}
		list = append(list, c)
	}
	return list
}

func existsAgrees(r *citationsReport) (faults []string, _ bool) {
	for i, e := range r.Evaluations {
		if _, there := r.sourceText(string(e.ID)); there != e.Exists {
			faults = append(faults, fmt.Sprintf("/citation_evaluations/%d: citation_exists is %v, but a source %q is given: %v", i, e.Exists, e.ID, there))
		}
	}
	return faults, false
}

// quoteAgrees compares quote_accurate with a search of every quotation at the
// claim. A near match counts as accurate unless a number or a negation is not
// that of the source.
func quoteAgrees(r *citationsReport) (faults []string, skipped bool) {
	any := false
	prepared := map[string]*evidence.Source{}
	for _, c := range r.citedTexts() {
		if len(c.quotations) == 0 {
			continue
		}
		any = true
		accurate, worst := true, ""
		for _, q := range c.quotations {
			ok, how := locate(q.Text, c.sources, prepared)
			if !ok {
				accurate, worst = false, fmt.Sprintf("%q %s", q.Text, how)
			} else if worst == "" {
				worst = how
			}
		}
		if accurate != c.evaluation.Quote {
			faults = append(faults, fmt.Sprintf("%s: quote_accurate is %v, but %s", c.at, c.evaluation.Quote, worst))
		}
	}
	return faults, !any
}

// locate says whether a quotation is in one of the sources, and how.
func locate(quote string, sources []string, prepared map[string]*evidence.Source) (ok bool, how string) {
	how = "does not occur in the cited source"
	for _, text := range sources {
		source := prepared[text]
		if source == nil {
			source = evidence.NewSource(text)
			prepared[text] = source
		}
		m := source.Locate(quote)
		switch m.Kind {
		case evidence.Exact:
			return true, "the quotation is in the cited source word for word"
		case evidence.Near:
			passage := text[m.Start:m.End]
			if !evidence.SameNegations(quote, passage) ||
				len(evidence.ChangedNumbers(evidence.Numbers(quote), evidence.Numbers(passage))) > 0 {
				how = fmt.Sprintf("is altered: the source has %q (%d of %d words differ, a number or a negation among them)", passage, m.Distance, m.Words)
				continue
			}
			return true, fmt.Sprintf("the quotation is nearly in the cited source, %d of %d words differ", m.Distance, m.Words)
		}
	}
	return false, how
}

func numbersAgree(r *citationsReport) (faults []string, _ bool) {
	numbers := map[string][]evidence.Number{}
	for _, c := range r.citedTexts() {
		if c.evaluation.Support != "fully_supported" || c.evaluation.Flagged {
			continue
		}
		missing := evidence.Numbers(c.claim.Text)
		if len(missing) == 0 {
			continue
		}
		for _, text := range c.sources {
			have, ok := numbers[text]
			if !ok {
				have = evidence.Numbers(text)
				numbers[text] = have
			}
			missing = evidence.MissingNumbers(missing, have)
		}
		for _, n := range missing {
			faults = append(faults, fmt.Sprintf("%s: the support is full, but %q is nowhere in the cited source", c.at, n.Text))
		}
	}
	return faults, false
}
