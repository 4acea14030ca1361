package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// oracle is a reporter that always gives the same.
type oracle struct {
	given judge.Given
	err   error
}

func (oracle) Name() string { return judge.EngineRules }

func (o oracle) Report(context.Context, *judge.Judge, *judge.Trace, judge.Planned) (judge.Given, error) {
	return o.given, o.err
}

func byRules(name string) judge.Planned {
	return judge.Planned{Judge: name, Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}
}

func stepsReport(score, critical, judgment string) string {
	return `{"reference_step_count":1,"candidate_step_count":1,"step_alignments":[{"reference_step_index":1,"reference_step_summary":"s","candidate_step_indices":[1],"alignment_judgment":"` +
		judgment + `","explanation":"e"}],"unaligned_candidate_steps":[],"final_answer_match":true,"overall_assessment":{"reasoning_score":` + score + `,"critical_errors":` + critical + `,"summary":""}}`
}

func logicReport(scores [4]float64, violation string) string {
	mean := (scores[0] + scores[1] + scores[2] + scores[3]) / 4
	list := func(score float64) string {
		if score >= 4 {
			return "[]"
		}
		return "[" + violation + "]"
	}
	return fmt.Sprintf(`{"overall_validity_score":%.1f,"overall_assessment":"","dimension_scores":{"premise_support":{"score":%v,"violations":%s},"inference_rule_adherence":{"score":%v,"violations":%s},"formal_fallacy_detection":{"score":%v,"violations":%s},"conclusion_alignment":{"score":%v,"violations":%s}}}`,
		mean, scores[0], list(scores[0]), scores[1], list(scores[1]), scores[2], list(scores[2]), scores[3], list(scores[3]))
}

func referenceReport(score, class, credit string) string {
	differences := "[]"
	if class == "substantive_difference" {
		differences = `["the amount"]`
	}
	return `{"similarity_score":` + score + `,"equivalence_class":"` + class + `","partial_credit":` + credit + `,"rationale":"\"gold text\"","key_differences":` + differences + `}`
}

func citationsReport(support, flagged, flags, score string) string {
	return `{"overall_citation_accuracy_score":` + score + `,"total_citations_evaluated":1,"summary":"","citation_evaluations":[{"citation_id":"1","reasoning_step_index":1,"reasoning_step_text":"t","citation_exists":true,"quote_accurate":true,"context_fidelity":"accurate","claim_support_strength":"` +
		support + `","explanation":"","flagged":` + flagged + `}],"misattribution_flags":` + flags + `}`
}

func flag(severity string) string {
	return `[{"citation_id":"1","flag_type":"context_mismatch","severity":"` + severity + `","detail":"d"}]`
}

// TestRouting holds the routing table of judges.md, reason by reason and by
// stakes.
func TestRouting(t *testing.T) {
	const minor = `{"step_citation":"one","explanation":"e","fallacy_type":"f","severity":"minor"}`
	const critical = `{"step_citation":"one","explanation":"e","fallacy_type":"f","severity":"critical"}`
	tests := []struct {
		name, judge, report string
		undecided           bool
		standard, high      string // reason codes in their order
		verdict             judge.Verdict
	}{
		{"steps, sound", "steps", stepsReport("0.9", "[]", "CORRECT"), false, "", "", judge.Pass},
		{"steps, critical", "steps", stepsReport("0.9", `["x"]`, "INCORRECT"), false, "critical_error inconsistent_output", "critical_error inconsistent_output", judge.Fail},
		{"steps, ambiguous", "steps", stepsReport("0.7", "[]", "CORRECT"), false, "ambiguous_score", "below_threshold ambiguous_score", judge.Borderline},
		{"steps, a plain fail", "steps", stepsReport("0.3", "[]", "INCORRECT"), false, "", "below_threshold", judge.Fail},
		{"steps, a hard check fails", "steps", stepsReport("0.5", "[]", "MISSING"), false, "invalid_output", "invalid_output", ""},
		{"steps, undecided", "steps", stepsReport("0.9", "[]", "CORRECT"), true, "ambiguous_score", "ambiguous_score", judge.Borderline},
		{"logic, sound", "logic", logicReport([4]float64{4, 4, 4, 4}, ""), false, "", "", judge.Pass},
		{"logic, one three", "logic", logicReport([4]float64{5, 5, 3, 5}, minor), false, "", "below_threshold", judge.Pass},
		{"logic, all threes", "logic", logicReport([4]float64{3, 3, 3, 3}, minor), false, "ambiguous_score", "below_threshold ambiguous_score", judge.Borderline},
		{"logic, critical", "logic", logicReport([4]float64{5, 5, 1, 5}, critical), false, "critical_error", "critical_error below_threshold", judge.Fail},
		{"reference, equivalent", "reference", referenceReport("0.9", "semantic_equivalent", "0.95"), false, "", "", judge.Pass},
		{"reference, different", "reference", referenceReport("0.2", "substantive_difference", "0.7"), false, "", "substantive_difference", judge.Fail},
		{"reference, variation", "reference", referenceReport("0.7", "acceptable_variation", "0.7"), false, "ambiguous_score", "ambiguous_score", judge.Borderline},
		{"citations, accurate", "citations", citationsReport("fully_supported", "false", "[]", "1"), false, "", "", judge.Pass},
		{"citations, partial", "citations", citationsReport("partially_supported", "false", "[]", "0.5"), false, "", "below_threshold", judge.Fail},
		{"citations, minor flag", "citations", citationsReport("fully_supported", "true", flag("minor"), "0"), false, "", "misattribution below_threshold", judge.Fail},
		{"citations, major flag", "citations", citationsReport("fully_supported", "true", flag("major"), "0"), false, "misattribution", "misattribution below_threshold", judge.Fail},
		{"citations, critical flag", "citations", citationsReport("fully_supported", "true", flag("critical"), "0"), false, "critical_error misattribution", "critical_error misattribution below_threshold", judge.Fail},
		{"citations, undecided but critical", "citations", citationsReport("fully_supported", "true", flag("critical"), "0"), true, "critical_error misattribution", "critical_error misattribution below_threshold", judge.Fail},
		{"citations, one not evaluated", "citations", `{"overall_citation_accuracy_score":0,"total_citations_evaluated":0,"summary":"","citation_evaluations":[],"misattribution_flags":[]}`, false, "invalid_output incomplete_report", "invalid_output incomplete_report", ""},
	}
	for _, tt := range tests {
		for _, stakes := range []judge.Stakes{judge.StandardStakes, judge.HighStakes} {
			t.Run(tt.name+" "+string(stakes), func(t *testing.T) {
				trace := judge.Trace{ID: "t", Stakes: stakes, Question: "q", Reference: "gold text", Output: "step one [1].\nstep two.", Sources: []judge.Source{{ID: "1", Text: "step one"}}}
				if tt.judge == "reference" {
					trace.Output = "a golden text"
				}
				h := newHarness(t, nil, oracle{given: judge.Given{Report: json.RawMessage(tt.report), Undecided: tt.undecided}})
				e := evaluate(t, h, trace, byRules(tt.judge))
				want := tt.standard
				if stakes == judge.HighStakes {
					want = tt.high
				}
				if got := codes(e); got != want {
					t.Errorf("reasons: got %q, want %q (%v)", got, want, e.Reasons)
				}
				if e.Verdict != tt.verdict {
					t.Errorf("verdict: got %q, want %q", e.Verdict, tt.verdict)
				}
				if status := judge.InReview; (want != "") != (e.Status == status) {
					t.Errorf("status: got %s", e.Status)
				}
				for _, r := range e.Reasons {
					if r.Detail == "" {
						t.Errorf("reason %s has no detail", r.Code)
					}
				}
			})
		}
	}
}

func TestUncitedClaimsWherePolicyAsks(t *testing.T) {
	trace := judge.Trace{ID: "t", Stakes: judge.HighStakes, Output: "step one [1].\nEveryone should always take this drug.", Sources: []judge.Source{{ID: "1", Text: "step one"}}}
	report := oracle{given: judge.Given{Report: json.RawMessage(citationsReport("fully_supported", "false", "[]", "1"))}}
	for _, asks := range []bool{false, true} {
		h := newHarness(t, func(c *harness.Config) {
			c.Policy = judge.DefaultPolicy()
			if asks {
				c.Policy.Reasons = map[string]judge.Switch{judge.ReasonUncitedClaims: {High: judge.SwitchOn}}
			}
		}, report)
		want := ""
		if asks {
			want = judge.ReasonUncitedClaims
		}
		if got := codes(evaluate(t, h, trace, byRules("citations"))); got != want {
			t.Errorf("policy asks %v: reasons %q, want %q", asks, got, want)
		}
	}
}

func TestOwnJudgeRouting(t *testing.T) {
	scored := strings.Replace(verdictJudge, "report: {label: /verdict}", "report: {label: /verdict, score: {pointer: /score, min: 1, max: 5}}\nrouting: {high: [below_threshold]}", 1)
	tests := []struct {
		report, standard, high string
		verdict                judge.Verdict
		score                  float64
	}{
		{`{"verdict":"Yes","score":5}`, "", "", judge.Pass, 1},
		{`{"verdict":"Yes","score":2}`, "", "below_threshold", judge.Pass, 0.25}, // the label's verdict counts
		{`{"verdict":"Maybe"}`, "ambiguous_score", "below_threshold ambiguous_score", judge.Borderline, 0.5},
		{`{"verdict":"No","rationale":"r"}`, "", "below_threshold", judge.Fail, 0},
	}
	for _, tt := range tests {
		for stakes, want := range map[judge.Stakes]string{judge.StandardStakes: tt.standard, judge.HighStakes: tt.high} {
			h := newHarness(t, func(c *harness.Config) { c.Judges = append(c.Judges, parsed(t, scored)) }, oracle{given: judge.Given{Raw: tt.report}})
			e := evaluate(t, h, judge.Trace{ID: "t", Stakes: stakes, Output: "o"}, byRules("v"))
			if codes(e) != want || e.Verdict != tt.verdict || math.Abs(*e.Score-tt.score) > 1e-12 {
				t.Errorf("%s at %s stakes: reasons %q, verdict %s, score %v; want %q, %s, %v", tt.report, stakes, codes(e), e.Verdict, *e.Score, want, tt.verdict, tt.score)
			}
		}
	}
}

func TestNoReportGoesToAPerson(t *testing.T) {
	h := newHarness(t, nil, oracle{given: judge.Given{NoReport: true, Explanation: "text comparison cannot decide this judge's question; a person decides"}})
	e := evaluate(t, h, judge.Trace{ID: "t", Output: "1. a\n2. b"}, byRules("logic"))
	if e.Verdict != judge.Borderline || e.Score != nil || e.Label != "" || e.Report != nil || e.Status != judge.InReview {
		t.Errorf("evaluation: %+v", e)
	}
	want := []judge.Reason{{Code: judge.ReasonAmbiguousScore, Detail: "text comparison cannot decide this judge's question; a person decides"}}
	if diff := cmp.Diff(want, e.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

func TestReporterFails(t *testing.T) {
	h := newHarness(t, nil, oracle{err: errors.New("no such source")})
	e := evaluate(t, h, judge.Trace{ID: "t", Output: "1. a\n2. b"}, byRules("logic"))
	if codes(e) != judge.ReasonJudgeFailed || e.Error != "no such source" {
		t.Errorf("reasons %q, error %q", codes(e), e.Error)
	}
}

func TestRecorded(t *testing.T) {
	trace := judge.Trace{ID: "t", Output: "o", Judges: []string{"v"}, Judgments: []judge.Judgment{
		{Judge: "v", Model: "gpt-4", Output: json.RawMessage(`{"verdict": "Yes", "confidence": 0.9}`)},
		{Judge: "v", Raw: "```json\n{\"verdict\": \"No\", \"rationale\": \"r\"}\n```", PromptVersion: "p1"},
		{Judge: "v", Model: "m3", Output: json.RawMessage(`{"verdict": "No"}`)},
		{Judge: "v", Model: "m4", Raw: "I cannot tell."},
		{Judge: "v", Model: "m5", Output: json.RawMessage(`"Yes"`)},
	}}
	h := newHarness(t, own(t), &script{})
	plan, err := h.Plan(&trace)
	if err != nil {
		t.Fatal(err)
	}
	type row struct{ Engine, Model, Version, Status, Verdict, Reasons string }
	var got []row
	for _, p := range plan {
		e := evaluate(t, h, trace, p)
		got = append(got, row{e.Engine, e.Model, e.PromptVersion, string(e.Status), string(e.Verdict), codes(e)})
		if e.Attempts != 1 || e.Repairs != 0 {
			t.Errorf("%s: %d attempts, %d repairs", e.Model, e.Attempts, e.Repairs)
		}
	}
	want := []row{
		{"recorded", "gpt-4", "unknown", "accepted", "pass", ""},
		{"recorded", "unknown", "p1", "accepted", "fail", ""},
		{"recorded", "m3", "unknown", "in_review", "", "invalid_output"},
		{"recorded", "m4", "unknown", "in_review", "", "invalid_output"},
		{"recorded", "m5", "unknown", "in_review", "", "invalid_output"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
}

// Audit draws follow the policy's shares, and the stratum and the inclusion
// probability follow from the evaluation, whichever draw took it.
func TestAuditDraws(t *testing.T) {
	const n = 4000
	near, far := stepsReport("0.82", "[]", "CORRECT"), stepsReport("0.95", "[]", "CORRECT")
	for name, tt := range map[string]struct {
		report, stratum       string
		probability, boundary float64
	}{
		"far from a boundary": {far, judge.StratumRandomAudit, 0.05, 0},
		"near a boundary":     {near, judge.StratumBoundaryAudit, 1 - 0.95*0.9, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, func(c *harness.Config) { c.Audit = true }, oracle{given: judge.Given{Report: json.RawMessage(tt.report)}})
			random, boundary, drawn := 0, 0, 0
			for i := range n {
				trace := judge.Trace{ID: fmt.Sprint(i), Question: "q", Output: "o", Reference: "r"}
				e, draw, err := h.Evaluate(context.Background(), &trace, byRules("steps"))
				if err != nil {
					t.Fatal(err)
				}
				if draw == nil {
					if e.Status != judge.Accepted || e.Result == nil {
						t.Fatalf("not drawn, but %s", e.Status)
					}
					continue
				}
				drawn++
				if e.Status != judge.InReview || e.Result != nil {
					t.Fatalf("drawn, but %s with result %v", e.Status, e.Result)
				}
				want := judge.Draw{Stratum: tt.stratum, InclusionProbability: tt.probability}
				if diff := cmp.Diff(want, *draw, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
					t.Fatalf("draw (-want +got):\n%s", diff)
				}
				if strings.Contains(codes(e), judge.ReasonRandomAudit) {
					random++
				}
				if strings.Contains(codes(e), judge.ReasonBoundaryAudit) {
					boundary++
				}
			}
			for what, c := range map[string][2]float64{
				"random": {float64(random), 0.05}, "boundary": {float64(boundary), tt.boundary}, "all": {float64(drawn), tt.probability},
			} {
				// Five standard errors of a share.
				if se := math.Sqrt(c[1]*(1-c[1])/n) * 5; math.Abs(c[0]/n-c[1]) > se+1e-12 {
					t.Errorf("%s draws: share %.4f, want %.4f", what, c[0]/n, c[1])
				}
			}
		})
	}
}

func TestPlan(t *testing.T) {
	type row struct {
		Judge, Engine, Model string
		Judgment             int
		Refused              string
	}
	full := judge.Trace{Question: "q", Output: "1. a [1]\n2. b", Reference: "r", Sources: []judge.Source{{ID: "1", Text: "s"}}}
	with := func(change func(*judge.Trace)) judge.Trace {
		t := full
		change(&t)
		return t
	}
	recorded := []judge.Judgment{{Judge: "v", Model: "x"}, {Judge: "v"}}
	tests := []struct {
		name    string
		trace   judge.Trace
		config  func(*harness.Config)
		want    []row
		wantErr string
	}{
		{"defaults with their inputs", full, nil, []row{{"steps", "openai", "m", -1, ""}, {"reference", "openai", "m", -1, ""}, {"logic", "openai", "m", -1, ""}, {"citations", "openai", "m", -1, ""}}, ""},
		{"defaults without a reference", with(func(t *judge.Trace) { t.Reference = " " }), nil, []row{{"logic", "openai", "m", -1, ""}, {"citations", "openai", "m", -1, ""}}, ""},
		{"asked for", with(func(t *judge.Trace) { t.Judges = []string{"v", "logic", "v"} }), nil, []row{{"v", "openai", "m", -1, ""}, {"logic", "openai", "m", -1, ""}}, ""},
		{"asked for without input", with(func(t *judge.Trace) { t.Judges = []string{"steps"}; t.Reference = "" }), nil, []row{{"steps", "openai", "m", -1, "reference"}}, ""},
		{"single step, no marker", with(func(t *judge.Trace) { t.Output = "plain"; t.Reference = "" }), nil, []row{{"logic", "openai", "m", -1, "output"}, {"citations", "openai", "m", -1, "output"}}, ""},
		{"recorded stand for the judge", with(func(t *judge.Trace) { t.Judges = []string{"v", "logic"}; t.Judgments = recorded }), nil,
			[]row{{"v", "recorded", "x", 0, ""}, {"v", "recorded", "unknown", 1, ""}, {"logic", "openai", "m", -1, ""}}, ""},
		{"recorded, and the engine asked for by name", with(func(t *judge.Trace) { t.Judges = []string{"v"}; t.Judgments = recorded[:1] }), func(c *harness.Config) { c.EngineByName = true },
			[]row{{"v", "recorded", "x", 0, ""}, {"v", "openai", "m", -1, ""}}, ""},
		{"recorded as the engine", with(func(t *judge.Trace) { t.Judges = []string{"v", "logic"}; t.Judgments = recorded[:1] }), func(c *harness.Config) { c.Engine, c.EngineByName = judge.EngineRecorded, true },
			[]row{{"v", "recorded", "x", 0, ""}, {"logic", "recorded", "m", -1, "judgments"}}, ""},
		{"rules have no model", with(func(t *judge.Trace) { t.Judges = []string{"v"} }), func(c *harness.Config) { c.Engine = judge.EngineRules }, []row{{"v", "rules", "rules", -1, ""}}, ""},
		{"only some judges", with(func(t *judge.Trace) { t.Judgments = recorded[:1] }), func(c *harness.Config) { c.Only = []string{"logic"} }, []row{{"logic", "openai", "m", -1, ""}}, ""},
		{"unknown judge", with(func(t *judge.Trace) { t.Judges = []string{"nobody", "v"} }), nil, []row{{"v", "openai", "m", -1, ""}}, `unknown judge "nobody"`},
		{"unknown judge of a report", with(func(t *judge.Trace) { t.Judges = []string{"v"}; t.Judgments = []judge.Judgment{{Judge: "other"}} }), nil, []row{{"v", "openai", "m", -1, ""}}, `unknown judge "other"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHarness(t, func(c *harness.Config) {
				own(t)(c)
				if tt.config != nil {
					tt.config(c)
				}
			}, &script{}, oracle{})
			plan, err := h.Plan(&tt.trace)
			if (err != nil) != (tt.wantErr != "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("error: got %v, want %q", err, tt.wantErr)
			}
			var got []row
			for _, p := range plan {
				got = append(got, row{p.Judge, p.Engine, p.Model, p.Judgment, p.RefusedField})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
