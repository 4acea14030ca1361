package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/rules"
)

// judged is a trace that every built-in judge takes, and a report of each on it.
func judged() judge.Trace {
	return judge.Trace{ID: "t", Question: "How many are left?", Reference: "gold text", Premises: []string{"There are 16 eggs."}, Conclusion: "9 are left.",
		Output: "step one [1].\nstep two.", Sources: []judge.Source{{ID: "1", Title: "S", Text: "step one"}}, Constraints: []string{"Name the unit."}}
}

const (
	comparisonReport = `{"step_comparisons":[{"step_number":1,"reference_step":"r","model_step":"step one [1].","explanation":"e","match_type":"logical_equivalent"}],"critical_errors":[],"overall_alignment_score":0.9}`
	logicStepsReport = `{"violations":[],"dimension_scores":[{"dimension":"premise_support","rationale":"r","score":4},{"dimension":"inference_rule_adherence","rationale":"r","score":4},` +
		`{"dimension":"formal_fallacy_detection","rationale":"r","score":5},{"dimension":"conclusion_alignment","rationale":"r","score":5}],"validity_score":4.5}`
	twoSteps = `{"reference_step_count":1,"candidate_step_count":2,"step_alignments":[{"reference_step_index":1,"reference_step_summary":"s","candidate_step_indices":[1,2],"explanation":"e","alignment_judgment":"CORRECT"}],` +
		`"unaligned_candidate_steps":[],"final_answer_match":true,"overall_assessment":{"summary":"","critical_errors":[],"reasoning_score":0.9}}`
)

func goodReports() map[string]string {
	return map[string]string{
		"steps": twoSteps, "steps-comparison": comparisonReport,
		"reference": referenceReport("0.9", "semantic_equivalent", "0.95"),
		"logic":     logicReport([4]float64{4, 4, 5, 5}, ""), "logic-steps": logicStepsReport,
		"citations": citationsReport("fully_supported", "false", "[]", "1"),
	}
}

// kept is an evaluation as it comes back from where it was stored.
func kept(t *testing.T, e judge.Evaluation) *judge.Evaluation {
	t.Helper()
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back judge.Evaluation
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return &back
}

// replayed is a replay that must be possible, by a harness that can call nobody.
func replayed(t *testing.T, trace judge.Trace, p judge.Planned, e *judge.Evaluation) harness.Replayed {
	t.Helper()
	r, err := replay(t, trace, p, e)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replay(t *testing.T, trace judge.Trace, p judge.Planned, e *judge.Evaluation) (harness.Replayed, error) {
	t.Helper()
	h := newHarness(t, own(t), &script{}, rules.Engine{}) // the script has no replies
	j, ok := h.Judge(p.Judge)
	if !ok {
		t.Fatalf("no judge %s", p.Judge)
	}
	return h.Replay(context.Background(), j, &trace, p, e)
}

// TestReplay: every judge's evaluation comes out again from its attempts, whatever
// way it took.
func TestReplay(t *testing.T) {
	finished := func(finish, text, refusal string) judge.Reply {
		return judge.Reply{Text: text, FinishReason: finish, Refusal: refusal, Latency: 3 * time.Second, StartedAt: noon(), Tokens: judge.Tokens{Prompt: 9, Completion: 1}, CostUSD: 0.125}
	}
	busy := &judge.TransportError{Status: 503, Message: "busy", Temporary: true}
	for name, report := range goodReports() {
		for way, tt := range map[string]struct {
			replies []any
			want    string // reason codes
		}{
			"at once":       {[]any{report}, ""},
			"after a wait":  {[]any{busy, busy, report}, ""},
			"repaired":      {[]any{"no JSON", report}, ""},
			"never right":   {[]any{"{}", "{}", "{}"}, "invalid_output"},
			"cut":           {[]any{finished("length", report, "")}, "invalid_output"},
			"refused":       {[]any{finished("stop", "", "I will not.")}, "invalid_output"},
			"refused aloud": {[]any{finished("stop", "Sorry.", "I will not.")}, "invalid_output"},
			"endpoint says no": {[]any{"{}", &judge.TransportError{Status: 401, Message: "no key"}},
				"judge_failed"},
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				trace := judged()
				e := evaluate(t, newHarness(t, own(t), &script{replies: tt.replies}), trace, planned(name))
				if codes(e) != tt.want {
					t.Fatalf("reasons %q, want %q: %s", codes(e), tt.want, e.Error)
				}
				r := replayed(t, trace, planned(name), kept(t, e))
				if r.Differences != nil || r.Unanswered != (tt.want == "judge_failed") {
					t.Errorf("unanswered %v, differences %q", r.Unanswered, r.Differences)
				}
				if diff := cmp.Diff(*kept(t, e), *kept(t, r.Evaluation)); diff != "" {
					t.Errorf("kept and replayed differ:\n%s", diff)
				}
			})
		}
	}
}

// TestReplayOfSteps: whose call cut the reference makes no difference.
func TestReplayOfSteps(t *testing.T) {
	const cut = `{"steps": ["There are 16 eggs.", "She uses 7 of them.", "So 9 are left."]}`
	report := strings.Replace(twoSteps, `"reference_step_count":1`, `"reference_step_count":3`, 1)
	report = strings.Replace(report, `"step_alignments":[`, `"step_alignments":[{"reference_step_index":2,"reference_step_summary":"s","candidate_step_indices":[1],"explanation":"e","alignment_judgment":"CORRECT"},`+
		`{"reference_step_index":3,"reference_step_summary":"s","candidate_step_indices":[2],"explanation":"e","alignment_judgment":"CORRECT"},`, 1)
	trace := judged()
	trace.Reference = paragraph
	for name, tt := range map[string]struct {
		replies  []any
		attempts []int
	}{
		"cut by its own call and another's": {[]any{cut, report, report}, []int{2, 1}},
		"cut after a repair":                {[]any{cut, "{}", report, "{}", report}, []int{3, 2}},
		"not to be used":                    {[]any{`{"steps": ["Other words."]}`, twoSteps, twoSteps}, []int{2, 1}},
		"no reply":                          {[]any{&judge.TransportError{Status: 401}, cut, report}, []int{0, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, own(t), &script{replies: tt.replies})
			for i, attempts := range tt.attempts {
				e := evaluate(t, h, trace, planned("steps"))
				if e.Attempts != attempts {
					t.Fatalf("evaluation %d: %d attempts, want %d: %s", i, e.Attempts, attempts, e.Error)
				}
				if r := replayed(t, trace, planned("steps"), kept(t, e)); r.Differences != nil {
					t.Errorf("evaluation %d: %q", i, r.Differences)
				}
			}
		})
	}
}

// TestReplayOfOthers: several answers, what was retried, and reports that call no
// model.
func TestReplayOfOthers(t *testing.T) {
	trace := judged()
	yes, no := `{"verdict": "Yes"}`, `{"verdict": "No", "rationale": "r"}`
	several := planned("v")
	several.Samples = 3
	e := evaluate(t, newHarness(t, own(t), &script{replies: []any{yes, "{}", no, "cut", "cut"}}), trace, several)
	if r := replayed(t, trace, several, kept(t, e)); r.Differences != nil || r.Evaluation.Spread == nil {
		t.Errorf("samples: %q", r.Differences)
	}

	first := evaluate(t, newHarness(t, own(t), &script{replies: []any{"{}", "{}"}}), trace, planned("v"))
	again := evaluate(t, newHarness(t, own(t), &script{replies: []any{"{}", yes}}), trace, planned("v"))
	again.Calls = append(first.Calls, again.Calls...) // a retry adds a round
	for i := range again.Calls {
		again.Calls[i].Number = i + 1
	}
	if r := replayed(t, trace, planned("v"), kept(t, again)); r.Differences != nil || r.Evaluation.Attempts != 2 {
		t.Errorf("retried: %d attempts, %q", r.Evaluation.Attempts, r.Differences)
	}

	byRule := byRules("citations")
	e = evaluate(t, newHarness(t, nil, rules.Engine{}), trace, byRule)
	if r := replayed(t, trace, byRule, kept(t, e)); r.Differences != nil {
		t.Errorf("rules: %q", r.Differences)
	}

	same := trace
	same.Output = same.Reference
	e = evaluate(t, newHarness(t, own(t), &script{}), same, planned("reference"))
	if r := replayed(t, same, planned("reference"), kept(t, e)); r.Differences != nil || e.Engine != judge.EngineRules {
		t.Errorf("settled: engine %s, %q", e.Engine, r.Differences)
	}

	brought := trace
	brought.Judgments = []judge.Judgment{{Judge: "v", Output: []byte(no)}}
	recorded := judge.Planned{Judge: "v", Engine: judge.EngineRecorded, Model: judge.Unknown, PromptVersion: judge.Unknown}
	e = evaluate(t, newHarness(t, own(t), &script{}), brought, recorded)
	if r := replayed(t, brought, recorded, kept(t, e)); r.Differences != nil || e.Label != "No" {
		t.Errorf("recorded: label %s, %q", e.Label, r.Differences)
	}
}

// TestReplayFindsWhatWasChanged since, in the evaluation or in what it came from.
func TestReplayFindsWhatWasChanged(t *testing.T) {
	trace := judged()
	e := evaluate(t, newHarness(t, own(t), &script{replies: []any{"{}", `{"verdict": "Yes"}`}}), trace, planned("v"))
	removed := noon()
	half := 0.5
	for name, tt := range map[string]struct {
		change func(*judge.Evaluation, *judge.Trace, *judge.Planned)
		fault  string // of the error
		differ string // of a difference
	}{
		"verdict": {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Verdict = judge.Fail }, "", `verdict: kept "fail", now "pass"`},
		"score":   {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Score = &half }, "", "score: kept 0.5, now 1"},
		"reply":   {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Calls[1].Reply = `{"verdict": "Maybe"}` }, "", `label: kept "Yes", now "Maybe"`},
		"prompt": {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) {
			e.Calls[0].Prompt = strings.Replace(e.Calls[0].Prompt, "Judge", "judge", 1)
		}, "prompt of attempt 1", ""},
		"repair":   {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Calls[0].Reply = "{ }" }, "prompt of attempt 2", ""},
		"missing":  {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Calls = e.Calls[:1] }, "one reply more", ""},
		"too many": {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Calls = append(e.Calls, e.Calls[1]) }, "1 of 3 kept replies", ""},
		"removed":  {func(e *judge.Evaluation, _ *judge.Trace, _ *judge.Planned) { e.Calls[0].ReplyRemovedAt = &removed }, "removed by retention", ""},
		"trace":    {func(_ *judge.Evaluation, t *judge.Trace, _ *judge.Planned) { t.Output += "." }, "another revision", ""},
		"version":  {func(_ *judge.Evaluation, _ *judge.Trace, p *judge.Planned) { p.PromptVersion = "0123" }, "planned with version 0123", ""},
	} {
		t.Run(name, func(t *testing.T) {
			changed, other, p := kept(t, e), trace, planned("v")
			tt.change(changed, &other, &p)
			r, err := replay(t, other, p, changed)
			if tt.fault == "" {
				if err != nil || !strings.Contains(strings.Join(r.Differences, "\n"), tt.differ) {
					t.Errorf("error %v, differences %q; want %q", err, r.Differences, tt.differ)
				}
				return
			}
			var fault *harness.ReplayError
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("error %v, want %q", err, tt.fault)
			}
		})
	}
}
