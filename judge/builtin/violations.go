package builtin

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

func violationsRequired(r *logicReport) (faults []string, _ bool) {
	for _, s := range r.scores {
		if s.score < 4-epsilon && r.count[s.name]+r.loose == 0 {
			faults = append(faults, fmt.Sprintf("%s: %s has %v, under 4, and no violation", s.at, s.name, s.score))
		}
	}
	return faults, false
}

func violationsAbsent(r *logicReport) (faults []string, _ bool) {
	low := false
	for _, s := range r.scores {
		low = low || s.score < 4-epsilon
		if own := r.count[s.name]; s.score >= 4-epsilon && own > 0 {
			faults = append(faults, fmt.Sprintf("%s: %s has %v, 4 or more, and %d violations", s.at, s.name, s.score, own))
		}
	}
	if !low && r.loose > 0 {
		faults = append(faults, fmt.Sprintf("/violations: every dimension has 4 or more, and there are %d violations", r.loose))
	}
	return faults, false
}

func stepIndexExists(r *logicReport) (faults []string, _ bool) {
	last := len(r.steps.steps)
	for _, v := range r.violations {
		if v.hasStep && (v.step < 1 || v.step > last) {
			faults = append(faults, fmt.Sprintf("%s/step_index: there is no step %d; the trace has %d", v.at, v.step, last))
		}
	}
	return faults, false
}

func citationVerbatim(r *logicReport) (faults []string, skipped bool) {
	cited := false
	for _, v := range r.violations {
		if strings.TrimSpace(v.citation) == "" {
			continue
		}
		cited = true
		m := r.steps.match(v.citation)
		if r.steps.tired() {
			return append(faults, "the report cites more than can be looked up in a trace of this length; a person looks at the rest"), false
		}
		switch m.Kind {
		case evidence.Near:
			if m.Distance > 0 {
				faults = append(faults, fmt.Sprintf("%s/step_citation: the trace has it only nearly, %d of %d words differ", v.at, m.Distance, m.Words))
			}
		case evidence.None:
			faults = append(faults, fmt.Sprintf("%s/step_citation: %q does not occur in the trace", v.at, shortened(v.citation)))
		}
	}
	return faults, !cited
}

// fallacyNamed: a violation of a dimension for which the rubric lists fallacies
// names one. Which is not compared with the list: fallacies have many names.
func fallacyNamed(r *logicReport) (faults []string, _ bool) {
	asked := map[string]bool{}
	for _, d := range r.rubric {
		asked[d.Name] = len(d.Fallacies) > 0
	}
	for _, v := range r.violations {
		if asked[v.dimension] && strings.TrimSpace(v.class) == "" {
			faults = append(faults, v.at+": the violation names no fallacy")
		}
	}
	return faults, false
}

// scoreSeverity: a critical violation and a score of 3 or more in its dimension do
// not go together. One that names no dimension could be of any that is lower.
func scoreSeverity(r *logicReport) (faults []string, _ bool) {
	scores, lowest := map[string]float64{}, 0.0
	for i, s := range r.scores {
		scores[s.name] = s.score
		if i == 0 || s.score < lowest {
			lowest = s.score
		}
	}
	for _, v := range r.violations {
		if v.severity != "critical" || len(r.scores) == 0 {
			continue
		}
		switch score, named := scores[v.dimension]; {
		case named && score >= 3-epsilon:
			faults = append(faults, fmt.Sprintf("%s/severity: the violation is critical, but %s has %v", v.at, v.dimension, score))
		case !named && lowest >= 3-epsilon:
			faults = append(faults, fmt.Sprintf("%s/severity: the violation is critical, but no dimension has less than %v", v.at, lowest))
		}
	}
	return faults, false
}
