package harness_test

import (
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// TestSameRepairIsAnotherCall: a model that answers a repair with the same fault
// again is asked again, and each of its replies is an attempt that was paid for,
// also where replies are kept.
func TestSameRepairIsAnotherCall(t *testing.T) {
	tr := judge.Trace{ID: "a", Stakes: judge.StandardStakes, Output: "It is four.", Judges: []string{"mood"}}
	j := parsed(t, "name: mood\ninputs: {output: required}\nprompt: \"[CANDIDATE_OUTPUT]\"\n"+
		"schema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}\nreport: {label: /mood}\n"+
		"labels: [{name: good, verdict: pass}, {name: bad, verdict: fail}]\nmax_repairs: 2\n")
	chat := &script{replies: []any{`{"mood":"odd"}`, `{"mood":"odd"}`, `{"mood":"odd"}`}}
	h := newHarness(t, func(c *harness.Config) {
		c.Judges, c.Engine, c.Model, c.Ledger = append(c.Judges, j), judge.EngineOpenAI, "m", &ledger{}
	}, chat)
	plan, err := h.Plan(&tr)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := h.Evaluate(t.Context(), &tr, plan[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(chat.asked) != 3 || e.Attempts != 3 || e.Repairs != 2 || e.Status != judge.InReview {
		t.Errorf("%d calls, %d attempts, %d repairs, status %s; want 3, 3, 2 and review", len(chat.asked), e.Attempts, e.Repairs, e.Status)
	}
}
