package fakeendpoint

import (
	"regexp"
	"strconv"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// occurrence is one line of the list of markers.
var occurrence = regexp.MustCompile(`(?m)^occurrence \d+: citation_id ("(?:[^"\\]|\\.)*") in step (\d+)`)

// claim is what one citation stands for.
type claim struct {
	id         string
	step       int
	text       string
	quotations []string
}

// claims are the occurrences that the prompt lists, with the claims that the
// trace makes at them.
func (m *material) claims() []claim {
	var all []claim
	for _, found := range occurrence.FindAllStringSubmatch(m.texts["CITATION_MARKERS"], -1) {
		c := claim{}
		var err error
		if c.id, err = strconv.Unquote(found[1]); err != nil {
			c.id = found[1]
		}
		if c.step, err = strconv.Atoi(found[2]); err != nil {
			continue // a step of more digits than a number has
		}
		all = append(all, c)
	}
	sources := make([]judge.Source, len(m.sources))
	for i, s := range m.sources {
		sources[i] = judge.Source{ID: s.id, Text: s.text}
	}
	output := m.output()
	steps := evidence.Steps(output)
	markers := evidence.MarkersIn(output, steps, sources, nil)
	if len(markers) != len(all) {
		return all // they were found by a pattern that the prompt does not tell
	}
	for i, c := range evidence.ClaimsIn(output, steps, markers) {
		all[i].text = c.Text
		for _, q := range evidence.Quotations(output[c.Start:c.End]) {
			all[i].quotations = append(all[i].quotations, q.Text)
		}
	}
	return all
}

// quoted says whether every quotation of a claim is in the source.
func (c claim) quoted(text string) bool {
	for _, q := range c.quotations {
		if !evidence.Locate(q, text).Found() {
			return false
		}
	}
	return true
}

// citations is the report of the judge citations.
func citations(m *material, o opinion, wrong bool) any {
	texts := map[string]string{}
	for _, s := range m.sources {
		texts[s.id] += s.text + "\n"
	}
	evaluations, flags := []any{}, []any{}
	sum := 0.0
	claims := m.claims()
	for i, c := range claims {
		text, exists := texts[c.id]
		quoted := !exists || c.quoted(text)
		fidelity, support := "accurate", "fully_supported"
		if len(evidence.MissingNumbers(evidence.Numbers(c.text), evidence.Numbers(text))) > 0 || (o == fair && i%2 == 0) {
			fidelity, support = "partial_mismatch", "partially_supported"
		}
		var kinds []string
		if !exists {
			kinds, support = append(kinds, "citation_not_found"), "unsupported"
		}
		if !quoted {
			kinds = append(kinds, "quote_mismatch")
		}
		if o == bad && i == 0 {
			support = "unsupported"
		}
		if support == "unsupported" {
			kinds = append(kinds, "unsupported")
		}
		for _, kind := range kinds {
			severity := "minor"
			if o == bad && i == 0 {
				severity = "critical"
			}
			flags = append(flags, map[string]any{
				"citation_id": c.id, "reasoning_step_index": c.step, "flag_type": kind, "severity": severity, "detail": "the source does not bear it out",
			})
		}
		switch {
		case kinds != nil:
		case support == "partially_supported":
			sum += 0.5
		default:
			sum++
		}
		evaluations = append(evaluations, map[string]any{
			"citation_id": c.id, "reasoning_step_index": c.step, "reasoning_step_text": c.text, "explanation": "as the source says",
			"citation_exists": exists, "quote_accurate": quoted, "context_fidelity": fidelity, "claim_support_strength": support,
			"flagged": kinds != nil,
		})
	}
	total := len(evaluations)
	score := 0.0
	if total > 0 {
		score = sum / float64(total)
	}
	if wrong {
		total++
	}
	return map[string]any{
		"citation_evaluations": evaluations, "misattribution_flags": flags, "total_citations_evaluated": total,
		"overall_citation_accuracy_score": score, "summary": "as the evaluations say",
	}
}
