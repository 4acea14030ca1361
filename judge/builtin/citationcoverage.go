package builtin

import (
	"fmt"
	"math"
)

// inStep is a citation of a step.
type inStep struct {
	id   citationID
	step int
}

// match gives each evaluation its occurrence in the trace: the first free one of
// its id in its step, else the first free one of its id, since a report may
// count steps in its own way.
func (r *citationsReport) match() {
	here, anywhere := map[inStep][]int{}, map[citationID][]int{}
	for i, m := range r.markers {
		id := citationID(m.CitationID)
		here[inStep{id, m.Step}] = append(here[inStep{id, m.Step}], i)
		anywhere[id] = append(anywhere[id], i)
	}
	// A report that names, for an id, only steps in which the trace has it counts
	// steps as the harness does: two evaluations of one occurrence then do not
	// cover another.
	counts := map[citationID]bool{}
	for _, e := range r.Evaluations {
		_, known := here[inStep{e.ID, e.Step}]
		before, seen := counts[e.ID]
		counts[e.ID] = known && (before || !seen)
	}
	r.occurrence = make([]int, len(r.Evaluations))
	taken := make([]bool, len(r.markers))
	for e, v := range r.Evaluations {
		r.occurrence[e] = -1
		key := inStep{v.ID, v.Step}
		if free := here[key]; len(free) > 0 {
			r.occurrence[e], taken[free[0]] = free[0], true
			here[key] = free[1:]
		}
	}
	for e, v := range r.Evaluations {
		if r.occurrence[e] >= 0 || counts[v.ID] {
			continue
		}
		free := anywhere[v.ID]
		for len(free) > 0 && taken[free[0]] {
			free = free[1:]
		}
		if len(free) > 0 {
			r.occurrence[e], taken[free[0]] = free[0], true
			free = free[1:]
		}
		anywhere[v.ID] = free
	}
}

func citationsCovered(r *citationsReport) (faults []string, _ bool) {
	covered := make([]bool, len(r.markers))
	for _, i := range r.occurrence {
		if i >= 0 {
			covered[i] = true
		}
	}
	for i, m := range r.markers {
		if !covered[i] {
			faults = append(faults, fmt.Sprintf("/citation_evaluations: occurrence %d, %s in step %d, has no evaluation",
				m.Number, citationID(m.CitationID), m.Step))
		}
	}
	return faults, false
}

func citationsInvented(r *citationsReport) (faults []string, _ bool) {
	for e, i := range r.occurrence {
		if i < 0 {
			faults = append(faults, fmt.Sprintf("/citation_evaluations/%d/citation_id: the trace has no further marker %s in step %d",
				e, r.Evaluations[e].ID, r.Evaluations[e].Step))
		}
	}
	return faults, false
}

func totalCount(r *citationsReport) (faults []string, _ bool) {
	if r.Total != len(r.Evaluations) {
		return []string{fmt.Sprintf("/total_citations_evaluated: it is %d, but there are %d evaluations", r.Total, len(r.Evaluations))}, false
	}
	return nil, false
}

// value of one citation: 0 when it is flagged or unsupported, else 1 when fully
// and 0.5 when partially supported.
func (e citationEvaluation) value() float64 {
	switch {
	case e.Flagged || e.Support == "unsupported":
		return 0
	case e.Support == "partially_supported":
		return 0.5
	}
	return 1
}

// overall is the sum of the values over their number; 0 without any.
func (r *citationsReport) overall() float64 {
	if len(r.Evaluations) == 0 {
		return 0
	}
	sum := 0.0
	for _, e := range r.Evaluations {
		sum += e.value()
	}
	return sum / float64(len(r.Evaluations))
}

func citationScore(r *citationsReport) (faults []string, _ bool) {
	if want := r.overall(); math.Abs(r.Score-want) > 0.01+epsilon {
		return []string{fmt.Sprintf("/overall_citation_accuracy_score: it is %v, but the values of the citations give %.4g", r.Score, want)}, false
	}
	return nil, false
}
