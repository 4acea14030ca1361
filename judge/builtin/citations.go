package builtin

import (
	"encoding/json"
	"fmt"
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
	sources map[citationID]int // of each id, its first place in trace.Sources
	// occurrence of each evaluation: an index in markers, or -1.
	occurrence []int
	cited      []*citedClaim // made by citedClaims
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

// String is the id as faults show it: in brackets, on one line, and short. It
// may be any text of the trace or of the report.
func (id citationID) String() string {
	const most = 60
	text := strings.Join(strings.Fields(string(id)), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return "[" + text + "]"
}

// citationsJudge finds markers by pattern, or in the default form when it is nil.
func citationsJudge(pattern *regexp.Regexp) judge.Judge {
	j := load(Citations, map[string]string{"FEW_SHOT_EXAMPLES": string(content("citations/examples.md"))}, "CITATION_MARKERS", "STEP_LIST")
	if j.Markers = pattern; pattern != nil {
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
	j.ExamplesIn = "FEW_SHOT_EXAMPLES"
	j.Example = func(t *judge.Trace, report json.RawMessage, by judge.Settled) (judge.Example, bool) {
		return citationExample(t, report, by, open)
	}
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
	r.sources = make(map[citationID]int, len(t.Sources))
	for i, s := range t.Sources {
		if _, twice := r.sources[citationID(s.ID)]; !twice {
			r.sources[citationID(s.ID)] = i
		}
	}
	r.match()
	return &r, nil
}
