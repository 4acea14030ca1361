package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// said reads an evaluation: engine model version verdict, and "?" for undecided.
func said(text string) *judge.Evaluation {
	f := strings.Fields(text)
	e := &judge.Evaluation{Engine: f[0], Model: f[1], PromptVersion: f[2], Status: judge.Accepted, Reasons: []judge.Reason{}}
	if len(f) > 3 {
		e.Verdict = judge.Verdict(f[3])
		e.Result = &judge.Result{Verdict: e.Verdict, Source: judge.ByJudge}
	}
	e.Undecided = len(f) > 4 && f[4] == "?"
	return e
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name, policy string
		all          []string
		want         string // places that changed
	}{
		{"two that agree", "", []string{"openai a v1 pass", "openai b v1 pass"}, "[]"},
		{"two models", "", []string{"openai a v1 pass", "openai b v1 fail"}, "[0 1]"},
		{"borderline is another verdict", "", []string{"openai a v1 pass", "openai b v1 borderline"}, "[0 1]"},
		{"two versions", "", []string{"openai a v1 pass", "openai a v2 fail"}, "[0 1]"},
		{"three, of which one differs", "", []string{"openai a v1 pass", "openai b v1 pass", "openai c v1 fail"}, "[0 1 2]"},
		{"three that all differ", "", []string{"openai a v1 pass", "openai b v1 fail", "openai c v1 borderline"}, "[0 1 2]"},
		{"one without a verdict", "", []string{"openai a v1 pass", "openai b v1"}, "[]"},
		{"rules that decided", "", []string{"openai a v1 pass", "rules rules v1 fail"}, "[0 1]"},
		{"rules that could not decide", "", []string{"openai a v1 pass", "rules rules v1 borderline ?"}, "[]"},
		{"rules left out", "disagreement: {engines: [openai]}", []string{"openai a v1 pass", "rules rules v1 fail", "openai b v1 fail"}, "[0 2]"},
		{"recorded", "", []string{"openai a v1 pass", "recorded b unknown fail"}, "[]"},
		{"recorded, asked for", "disagreement: {recorded: true}", []string{"openai a v1 pass", "recorded b unknown fail"}, "[0 1]"},
		{"two recorded ones of an unknown model", "disagreement: {recorded: true}", []string{"recorded unknown unknown pass", "recorded unknown unknown fail"}, "[0 1]"},
		{"one model heard twice", "", []string{"openai a v1 pass", "openai a v1 fail"}, "[]"},
		{"models only, two versions", "disagreement: {between: models}", []string{"openai a v1 pass", "openai a v2 fail", "openai b v1 pass", "openai b v2 fail"}, "[]"},
		{"models only, one version", "disagreement: {between: models}", []string{"openai a v1 pass", "openai b v1 fail", "openai a v2 fail"}, "[0 1]"},
		{"models only, version unknown", "disagreement: {between: models, recorded: true}", []string{"openai a v1 pass", "recorded b unknown fail"}, "[0 1]"},
		{"versions only", "disagreement: {between: versions}", []string{"openai a v1 pass", "openai b v1 fail", "openai a v2 fail"}, "[0 2]"},
		{"off", "reasons: {judge_disagreement: off}", []string{"openai a v1 pass", "openai b v1 fail"}, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			policy := readPolicy(t, tt.policy)
			under := policy.For("j", "", judge.StandardStakes)
			var all []*judge.Evaluation
			for _, text := range tt.all {
				all = append(all, said(text))
			}
			changed := harness.Compare(all, under)
			if got := fmt.Sprint(changed); got != tt.want {
				t.Errorf("changed: got %s, want %s", got, tt.want)
			}
			for i, e := range all {
				is := strings.Contains(tt.want, fmt.Sprint(i))
				if (e.Status == judge.InReview) != is || (codes(*e) == judge.ReasonJudgeDisagreement) != is || (e.Result == nil && e.Verdict != "") != is {
					t.Errorf("%s: status %s, reasons %q, result %v", tt.all[i], e.Status, codes(*e), e.Result)
				}
				for _, r := range e.Reasons {
					if strings.Contains(r.Detail, "pass") || strings.Contains(r.Detail, "fail") || strings.Contains(r.Detail, "borderline") {
						t.Errorf("the reason tells the other's verdict: %s", r.Detail)
					}
				}
			}
			if again := harness.Compare(all, under); again != nil {
				t.Errorf("comparing again changed %v", again)
			}
		})
	}
}

// Whatever the order in which evaluations end, the same ones wait for a person.
func TestDifferingInAnyOrder(t *testing.T) {
	texts := []string{"openai a v1 pass", "openai b v1 fail", "openai c v1 pass", "rules rules v1 borderline ?", "openai d v1"}
	under := judge.DefaultPolicy().For("j", "", judge.StandardStakes)
	var orders [][]int
	var permute func(done, left []int)
	permute = func(done, left []int) {
		if len(left) == 0 {
			orders = append(orders, append([]int(nil), done...))
		}
		for i := range left {
			permute(append(done, left[i]), append(append([]int(nil), left[:i]...), left[i+1:]...))
		}
	}
	permute(nil, []int{0, 1, 2, 3, 4})
	for _, order := range orders {
		var before []*judge.Evaluation
		waits := map[string]bool{}
		for _, n := range order {
			e := said(texts[n])
			for _, k := range harness.Differing(e, before, under) {
				waits[e.Model], waits[before[k].Model] = true, true
			}
			before = append(before, e)
		}
		if diff := cmp.Diff(map[string]bool{"a": true, "b": true, "c": true}, waits); diff != "" {
			t.Fatalf("order %v (-want +got):\n%s", order, diff)
		}
	}
}

func TestDisagreementInWords(t *testing.T) {
	ward := said("openai qwen v2 fail")
	ward.Endpoint = "ward-7"
	got := harness.Disagreement(said("openai gpt 0123456789abcdef pass"), ward, said("openai gpt 0123456789abcdef fail")).Detail
	if want := "model gpt with prompt version 0123456789ab and model qwen at ward-7 with prompt version v2 say otherwise"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := harness.Disagreement(ward).Detail, "model qwen at ward-7 with prompt version v2 says otherwise"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What a person settled stays, and a draw gives way to the reason.
func TestCompareLeavesWhatIsSettled(t *testing.T) {
	final, drawn := said("openai a v1 pass"), said("openai b v1 fail")
	final.Status, final.Result = judge.Final, &judge.Result{Verdict: judge.Pass, Source: judge.ByHuman}
	drawn.Status, drawn.Reasons = judge.InReview, []judge.Reason{{Code: judge.ReasonRandomAudit, Detail: "drawn"}}
	policy := judge.DefaultPolicy()
	changed := harness.Compare([]*judge.Evaluation{final, drawn}, policy.For("j", "", judge.StandardStakes))
	if fmt.Sprint(changed) != "[1]" || final.Status != judge.Final || final.Result == nil || codes(*drawn) != judge.ReasonJudgeDisagreement {
		t.Errorf("changed %v, %s with %v, reasons %q", changed, final.Status, final.Result, codes(*drawn))
	}
}
