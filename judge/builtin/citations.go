package builtin

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// citationsReport is the report of the judge citations, with what the trace
// itself shows beside it.
type citationsReport struct {
	Score       float64              `json:"overall_citation_accuracy_score"`
	Total       int                  `json:"total_citations_evaluated"`
	Evaluations []citationEvaluation `json:"citation_evaluations"`
	Flags       []misattribution     `json:"misattribution_flags"`

	trace   *judge.Trace
	steps   []evidence.Step
	markers []evidence.Marker
	// occurrence of each evaluation: an index in markers, or -1.
	occurrence []int
	cited      []cited // made by citedTexts
}

type citationEvaluation struct {
	ID          citationID `json:"citation_id"`
	Step        int        `json:"reasoning_step_index"`
	StepText    string     `json:"reasoning_step_text"`
	Exists      bool       `json:"citation_exists"`
	Quote       bool       `json:"quote_accurate"`
	Fidelity    string     `json:"context_fidelity"`
	Support     string     `json:"claim_support_strength"`
	Explanation string     `json:"explanation"`
	Flagged     bool       `json:"flagged"`
}

type misattribution struct {
	ID       citationID `json:"citation_id"`
	Step     int        `json:"reasoning_step_index"` // 0 when the flag names none
	Type     string     `json:"flag_type"`
	Severity string     `json:"severity"`
	Detail   string     `json:"detail"`
}

// citationID is an id of a source. Reports write those that are numbers as
// numbers or as text.
type citationID string

func (id *citationID) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, (*string)(id))
	}
	*id = citationID(data)
	return nil
}

// citationsJudge finds markers by pattern, or in the default form when it is nil.
func citationsJudge(pattern *regexp.Regexp) judge.Judge {
	j := load(Citations, map[string]string{"FEW_SHOT_EXAMPLES": string(content("citations/examples.md"))}, "CITATION_MARKERS", "STEP_LIST")
	if pattern != nil {
		j.PromptVersion = judge.HashText(j.PromptVersion + "\x00" + pattern.String())
	}
	open := func(report json.RawMessage, t *judge.Trace) (*citationsReport, error) {
		return openCitations(report, t, pattern)
	}
	equip(&j, open, []check[*citationsReport]{
		{name: "citations.covered", kind: judge.Hard, coverage: true, run: citationsCovered},
		{name: "citations.invented", kind: judge.Hard, run: citationsInvented},
		{name: "total.count", kind: judge.Hard, run: totalCount},
		{name: "score.formula", kind: judge.Hard, run: citationScore},
		{name: "flag.matches", kind: judge.Hard, run: flagMatches},
		{name: "exists.agrees", kind: judge.Soft, run: existsAgrees},
		{name: "quote.agrees", kind: judge.Soft, run: quoteAgrees},
		{name: "numbers.agree", kind: judge.Soft, run: numbersAgree},
	}, readCitations)
	j.Refuse = func(t *judge.Trace) (field, message string) {
		if len(evidence.Markers(t.Output, t.Sources, pattern)) == 0 {
			return "output", "output has no citation marker such as [1]: judge citations has nothing to judge"
		}
		return "", ""
	}
	j.Derive = func(t *judge.Trace) map[string]string {
		steps := evidence.Steps(t.Output)
		var b strings.Builder
		for i, m := range evidence.MarkersIn(t.Output, steps, t.Sources, pattern) {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "occurrence %d: citation_id %q in step %d", m.Number, m.CitationID, m.Step)
		}
		return map[string]string{"CITATION_MARKERS": b.String(), "STEP_LIST": stepList(steps)}
	}
	return j
}

func openCitations(report json.RawMessage, t *judge.Trace, pattern *regexp.Regexp) (*citationsReport, error) {
	r, err := decode[citationsReport](report)
	if err != nil {
		return nil, err
	}
	r.trace, r.steps = t, evidence.Steps(t.Output)
	r.markers = evidence.MarkersIn(t.Output, r.steps, t.Sources, pattern)
	r.match()
	return &r, nil
}

// match gives each evaluation its occurrence in the trace: the first free one of
// its id in its step, else the first free one of its id, since a report may
// count steps in its own way.
func (r *citationsReport) match() {
	free := map[citationID][]int{}
	for i, m := range r.markers {
		free[citationID(m.CitationID)] = append(free[citationID(m.CitationID)], i)
	}
	r.occurrence = make([]int, len(r.Evaluations))
	take := func(e int, fits func(evidence.Marker) bool) {
		list := free[r.Evaluations[e].ID]
		for k, i := range list {
			if fits(r.markers[i]) {
				r.occurrence[e] = i
				free[r.Evaluations[e].ID] = append(list[:k:k], list[k+1:]...)
				return
			}
		}
	}
	for e := range r.Evaluations {
		r.occurrence[e] = -1
		take(e, func(m evidence.Marker) bool { return m.Step == r.Evaluations[e].Step })
	}
	for e := range r.Evaluations {
		if r.occurrence[e] < 0 && !r.countsSteps(r.Evaluations[e].ID) {
			take(e, func(evidence.Marker) bool { return true })
		}
	}
}

// countsSteps says whether every evaluation of an id names a step in which the
// trace has that id: the report then counts steps as the harness does, and two
// evaluations of one occurrence do not cover another.
func (r *citationsReport) countsSteps(id citationID) bool {
	for _, e := range r.Evaluations {
		if e.ID != id {
			continue
		}
		known := false
		for _, m := range r.markers {
			known = known || citationID(m.CitationID) == id && m.Step == e.Step
		}
		if !known {
			return false
		}
	}
	return true
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
			faults = append(faults, fmt.Sprintf("/citation_evaluations: occurrence %d, [%s] in step %d, has no evaluation", m.Number, m.CitationID, m.Step))
		}
	}
	return faults, false
}

func citationsInvented(r *citationsReport) (faults []string, _ bool) {
	for e, i := range r.occurrence {
		if i < 0 {
			faults = append(faults, fmt.Sprintf("/citation_evaluations/%d: the trace has no further marker [%s] in step %d",
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

// about says whether a flag fits an evaluation: its citation, and its step where
// the flag names one.
func (f misattribution) about(e citationEvaluation) bool {
	return f.ID == e.ID && (f.Step == 0 || f.Step == e.Step)
}

func (r *citationsReport) flagsOf(e citationEvaluation) []misattribution {
	var list []misattribution
	for _, f := range r.Flags {
		if f.about(e) {
			list = append(list, f)
		}
	}
	return list
}

func flagMatches(r *citationsReport) (faults []string, _ bool) {
	for i, f := range r.Flags {
		fits := false
		for _, e := range r.Evaluations {
			fits = fits || e.Flagged && f.about(e)
		}
		if !fits {
			faults = append(faults, fmt.Sprintf("/misattribution_flags/%d: it fits no flagged evaluation of [%s]", i, f.ID))
		}
	}
	for i, e := range r.Evaluations {
		at := fmt.Sprintf("/citation_evaluations/%d", i)
		has := map[string]bool{}
		for _, f := range r.flagsOf(e) {
			has[f.Type] = true
		}
		if e.Flagged && len(has) == 0 {
			faults = append(faults, at+": it is flagged, but misattribution_flags has no flag of it")
		}
		need := func(when bool, why, flag string) {
			if when && (!has[flag] || !e.Flagged) {
				faults = append(faults, fmt.Sprintf("%s: %s needs flagged and a flag %s", at, why, flag))
			}
		}
		need(!e.Exists, "citation_exists false", "citation_not_found")
		if !e.Exists {
			// Nothing more can be said of a source that is not there.
			continue
		}
		need(!e.Quote, "quote_accurate false", "quote_mismatch")
		need(e.Fidelity == "mismatch", "context_fidelity mismatch", "context_mismatch")
		need(e.Support == "unsupported", "claim_support_strength unsupported", "unsupported")
	}
	return faults, false
}

func readCitations(r *citationsReport) judge.Reading {
	reading := judge.Reading{Score: r.overall()}
	for _, f := range r.Flags {
		reading.Critical = reading.Critical || f.Severity == "critical"
		if high(r.trace) || f.Severity == "critical" || f.Severity == "major" {
			if reading.Reasons == nil {
				reading.Reasons = []judge.Reason{{Code: judge.ReasonMisattribution,
					Detail: fmt.Sprintf("[%s] %s: %s", f.ID, f.Type, f.Detail)}}
			}
		}
	}
	switch {
	case reading.Critical || reading.Score < 0.6-epsilon:
		reading.Label = "inaccurate"
	case len(r.Flags) == 0 && reading.Score >= 0.8-epsilon:
		reading.Label = "accurate"
	default:
		reading.Label = "partial"
	}
	reading.Findings = r.findings()
	reading.BelowThreshold = r.belowThreshold(reading.Score)
	reading.Uncited = r.uncited()
	return reading
}

func (r *citationsReport) findings() []judge.Finding {
	var list []judge.Finding
	for i, e := range r.Evaluations {
		f := judge.Finding{Step: e.Step, CitationID: string(e.ID), Quote: e.StepText}
		if o := r.occurrence[i]; o >= 0 {
			f.Step, f.Citation = r.markers[o].Step, r.markers[o].Number
		}
		flags := r.flagsOf(e)
		if e.Flagged {
			for _, flag := range flags {
				f.Class, f.Severity, f.Explanation = flag.Type, flag.Severity, flag.Detail
				list = append(list, f)
			}
			continue
		}
		if e.Support != "fully_supported" {
			f.Class, f.Explanation = e.Support, e.Explanation
			list = append(list, f)
		}
	}
	return list
}

func (r *citationsReport) belowThreshold(score float64) string {
	var parts []string
	if score < 0.8-epsilon {
		parts = append(parts, fmt.Sprintf("overall %.2f", score))
	}
	for i, e := range r.Evaluations {
		if e.value() < 0.8-epsilon {
			number := i + 1
			if o := r.occurrence[i]; o >= 0 {
				number = r.markers[o].Number
			}
			parts = append(parts, fmt.Sprintf("citation %d, [%s], counts %v", number, e.ID, e.value()))
		}
	}
	if parts == nil {
		return ""
	}
	return joined(parts) + " (below 0.80)"
}

// uncited names the steps that say something and cite nothing.
func (r *citationsReport) uncited() string {
	const claimWords = 5 // fewer words are a heading or a transition
	cites := map[int]bool{}
	for _, m := range r.markers {
		cites[m.Step] = true
	}
	var list []string
	for _, s := range r.steps {
		if !cites[s.Number] && len(strings.Fields(s.Text)) >= claimWords && !strings.HasSuffix(strings.TrimSpace(s.Text), ":") {
			list = append(list, fmt.Sprint(s.Number))
		}
	}
	if list == nil {
		return ""
	}
	return "without any citation: steps " + strings.Join(list, ", ")
}
