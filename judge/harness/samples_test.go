package harness_test

import (
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// TestSamples: several answers are one evaluation with their verdict together.
func TestSamples(t *testing.T) {
	steps := func(score string) string { return stepsReport(score, "[]", "PARTIALLY_CORRECT") }
	const bad = "{}"
	nothing := judge.Reply{Text: "x", FinishReason: judge.FinishLength}
	tests := []struct {
		name     string
		replies  []any
		samples  int
		verdict  judge.Verdict
		score    float64
		reasons  string
		detail   string // of the first reason
		spread   judge.Spread
		attempts int
	}{
		{"all alike", []any{steps("0.9"), steps("0.95"), steps("0.85")}, 3, judge.Pass, 0.9, "", "",
			judge.Spread{Verdicts: map[judge.Verdict]int{judge.Pass: 3}, Min: 0.85, Max: 0.95, SD: 0.05, Agreement: 1}, 3},
		{"most pass", []any{steps("0.9"), steps("0.7"), steps("0.85"), steps("0.3"), steps("0.95")}, 5, judge.Pass, 0.9, "judge_disagreement",
			"3 of 5 answers say pass, 1 says borderline, 1 says fail",
			judge.Spread{Verdicts: map[judge.Verdict]int{judge.Pass: 3, judge.Borderline: 1, judge.Fail: 1}, Min: 0.3, Max: 0.95, SD: math.Sqrt(0.277 / 4), Agreement: 0.6}, 5},
		{"most fail", []any{steps("0.9"), steps("0.3"), steps("0.2"), steps("0.1")}, 4, judge.Fail, 0.2, "judge_disagreement", "3 of 4 answers say fail, 1 says pass",
			judge.Spread{Verdicts: map[judge.Verdict]int{judge.Pass: 1, judge.Fail: 3}, Min: 0.1, Max: 0.9, SD: math.Sqrt(0.3875 / 3), Agreement: 0.75}, 4},
		{"split", []any{steps("0.9"), steps("0.3")}, 2, judge.Borderline, 0.9, "ambiguous_score judge_disagreement", "the model's answers are split: 1 of 2 answers says pass, 1 says fail",
			judge.Spread{Verdicts: map[judge.Verdict]int{judge.Pass: 1, judge.Fail: 1}, Min: 0.3, Max: 0.9, SD: math.Sqrt(0.18), Agreement: 0.5}, 2},
		{"one without a vote", []any{steps("0.9"), bad, bad, bad, steps("0.9")}, 3, judge.Pass, 0.9, "", "",
			judge.Spread{Verdicts: map[judge.Verdict]int{judge.Pass: 2}, Unusable: 1, Min: 0.9, Max: 0.9, Agreement: 1}, 5},
		{"too few with a vote", []any{steps("0.9"), nothing, nothing}, 3, "", 0, "invalid_output", "2 of 3 answers have no valid report: answer 2: the reply was cut",
			judge.Spread{Verdicts: map[judge.Verdict]int{judge.Pass: 1}, Unusable: 2, Min: 0.9, Max: 0.9, Agreement: 1}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chat := &script{replies: tt.replies}
			p := planned("steps")
			p.Samples = tt.samples
			e := evaluate(t, newHarness(t, own(t), chat), judge.Trace{ID: "t", Question: "q", Output: "o", Reference: "r"}, p)
			if e.Verdict != tt.verdict || codes(e) != tt.reasons || e.Samples != tt.samples || e.Attempts != tt.attempts {
				t.Errorf("verdict %q, reasons %q, %d samples, %d attempts; want %q, %q, %d, %d", e.Verdict, codes(e), e.Samples, e.Attempts, tt.verdict, tt.reasons, tt.samples, tt.attempts)
			}
			if (e.Score == nil) != (tt.verdict == "") || e.Score != nil && math.Abs(*e.Score-tt.score) > 1e-9 {
				t.Errorf("score %v, want %v", e.Score, tt.score)
			}
			if tt.detail != "" && (len(e.Reasons) == 0 || len(e.Reasons[0].Detail) < len(tt.detail) || e.Reasons[0].Detail[:len(tt.detail)] != tt.detail) {
				t.Errorf("reasons %+v, want the detail %q", e.Reasons, tt.detail)
			}
			if diff := cmp.Diff(&tt.spread, e.Spread, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("spread (-want +got):\n%s", diff)
			}
			seen := map[int]bool{}
			for _, a := range e.Calls {
				seen[a.Sample] = true
			}
			if len(seen) != tt.samples || seen[0] {
				t.Errorf("attempts are of the answers %v, want 1 to %d", seen, tt.samples)
			}
		})
	}
}

// TestSamplesAreAskedApart: the first as for one answer, the others each with a
// seed of its own and at the policy's temperature.
func TestSamplesAreAskedApart(t *testing.T) {
	chat := &script{replies: []any{`{"verdict": "Yes"}`, "{}", `{"verdict": "Yes"}`, `{"verdict": "Yes"}`}}
	warm := 0.4
	p := planned("v")
	p.Samples = 3
	h := newHarness(t, func(c *harness.Config) {
		own(t)(c)
		c.Policy = judge.DefaultPolicy()
		c.Policy.SampleTemperature = &warm
	}, chat)
	e := evaluate(t, h, judge.Trace{ID: "t", Output: "o"}, p)
	type call struct {
		Sample      int
		Seed        int64
		Temperature float64
		Turns       int
	}
	var got []call
	for i, params := range chat.params {
		got = append(got, call{e.Calls[i].Sample, *params.Seed, params.Temperature, len(chat.asked[i])})
	}
	want := []call{{1, 1, 0, 2}, {2, 2, 0.4, 2}, {2, 2, 0.4, 4}, {3, 3, 0.4, 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if e.Repairs != 1 || e.Spread.Agreement != 1 || e.Status != judge.Accepted {
		t.Errorf("repairs %d, spread %+v, status %s", e.Repairs, e.Spread, e.Status)
	}
}

// TestSamplesGoOn: answers that were paid for before the server ended are not
// asked for again, and a worker makes samples like any other work.
func TestSamplesGoOn(t *testing.T) {
	p := planned("v")
	p.Samples = 3
	trace := judge.Trace{ID: "t", Output: "o"}
	var l ledger
	ctx, die := context.WithCancel(context.Background())
	dead := &dying{script: script{replies: []any{`{"verdict": "Yes"}`, `{"verdict": "Yes"}`}}, die: die, at: 3}
	with := func(chat judge.Chat) *harness.Harness {
		return newHarness(t, func(c *harness.Config) { own(t)(c); c.Ledger = &l }, chat)
	}
	if _, _, err := with(dead).Evaluate(ctx, &trace, p); err == nil {
		t.Fatal("the server did not end")
	}
	chat := &script{replies: []any{`{"verdict": "Yes"}`}}
	if e := evaluate(t, with(chat), trace, p); len(chat.asked) != 1 || e.Attempts != 3 || e.Verdict != judge.Pass {
		t.Errorf("%d calls, %d attempts, verdict %s; want 1, 3, pass", len(chat.asked), e.Attempts, e.Verdict)
	}
}
