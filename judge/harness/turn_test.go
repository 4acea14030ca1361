package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// TestTurns: each call takes a turn and gives it back before its reply is looked
// at; the first call of an evaluation says that it is the first.
func TestTurns(t *testing.T) {
	tr := judge.Trace{ID: "a", Stakes: judge.StandardStakes, Output: "It is four.", Judges: []string{"mood"}}
	held := 0
	j := parsed(t, "name: mood\ninputs: {output: required}\nprompt: \"[CANDIDATE_OUTPUT]\"\n"+
		"schema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}\nreport: {label: /mood}\n"+
		"labels: [{name: good, verdict: pass}, {name: bad, verdict: fail}]\nmax_repairs: 2\n")
	j.Checks = append(j.Checks, judge.Check{Name: "no.turn", Kind: judge.Hard, Run: func(_ json.RawMessage, _ *judge.Trace) ([]string, bool) {
		if held != 0 {
			return []string{"a turn is held while the report is checked"}, false
		}
		return nil, false
	}})
	chat := &script{replies: []any{`{"mood":"odd"}`, `{"mood":"good"}`}}
	var firsts []bool
	refuse := error(nil)
	h := newHarness(t, func(c *harness.Config) {
		c.Judges, c.Engine, c.Model = append(c.Judges, j), judge.EngineOpenAI, "m"
		c.Turn = func(_ context.Context, first bool) (func(), error) {
			firsts = append(firsts, first)
			held++
			return func() { held-- }, refuse
		}
	}, chat)
	plan, err := h.Plan(&tr)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := h.Evaluate(t.Context(), &tr, plan[0])
	if err != nil {
		t.Fatal(err)
	}
	if e.Label != "good" || e.Repairs != 1 || held != 0 || len(firsts) != 2 || !firsts[0] || firsts[1] {
		t.Errorf("label %q, %d repairs, %d turns held, first: %v; want good, 1, 0 and true, false: %v", e.Label, e.Repairs, held, firsts, e.Checks)
	}

	refuse = errors.New("no more")
	_, _, err = h.Evaluate(t.Context(), &tr, plan[0])
	var none *harness.NoTurnError
	if !errors.As(err, &none) || !errors.Is(err, refuse) || len(chat.asked) != 2 {
		t.Errorf("without a turn: error %v and %d calls, want %v and none more than 2", err, len(chat.asked), refuse)
	}
}
