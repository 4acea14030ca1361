package harness_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// ledger keeps replies in memory.
type ledger struct {
	mu   sync.Mutex
	kept map[string]judge.KeptReply
}

func (l *ledger) KeptReply(_ context.Context, evaluation, call string) (judge.KeptReply, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.kept[evaluation+call]
	return r, ok, nil
}

func (l *ledger) KeepReply(_ context.Context, evaluation, call string, r judge.KeptReply) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[string]judge.KeptReply{}
	}
	l.kept[evaluation+call] = r
	return nil
}

// TestCutOffEvaluationGoesOn: the first reply is at fault, and the server ends
// in the middle of the repair. The next one makes the repair only, and the
// evaluation is the same as if nothing had happened.
func TestCutOffEvaluationGoesOn(t *testing.T) {
	tr := judge.Trace{ID: "a", Stakes: judge.StandardStakes, Output: "It is four.", Reference: "4", Judges: []string{"mood"}}
	j := parsed(t, "name: mood\ninputs: {output: required}\nprompt: \"[CANDIDATE_OUTPUT]\"\n"+
		"schema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}\nreport: {label: /mood}\n"+
		"labels: [{name: good, verdict: pass}, {name: bad, verdict: fail}]\nmax_repairs: 1\n")
	evaluate := func(ctx context.Context, l judge.ReplyLedger, chat *script) (judge.Evaluation, error) {
		h := newHarness(t, func(c *harness.Config) {
			c.Judges, c.Engine, c.Model, c.Ledger = append(c.Judges, j), judge.EngineOpenAI, "m", l
		}, chat)
		plan, err := h.Plan(&tr)
		if err != nil || len(plan) != 1 {
			t.Fatalf("plan %v: %v", plan, err)
		}
		e, _, err := h.Evaluate(ctx, &tr, plan[0])
		return e, err
	}

	var kept ledger
	ctx, die := context.WithCancel(context.Background())
	first := &dying{script: script{replies: []any{`{"mood":"odd"}`}}, die: die, at: 2}
	h := newHarness(t, func(c *harness.Config) {
		c.Judges, c.Engine, c.Model, c.Ledger = append(c.Judges, j), judge.EngineOpenAI, "m", &kept
	}, first)
	plan, err := h.Plan(&tr)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.Evaluate(ctx, &tr, plan[0]); !errors.Is(err, context.Canceled) {
		t.Fatalf("cut off: error %v, want the context's", err)
	}
	second := &script{replies: []any{`{"mood":"good"}`}}
	e, err := evaluate(context.Background(), &kept, second)
	if err != nil {
		t.Fatal(err)
	}
	if len(second.asked) != 1 || len(second.asked[0]) < 3 {
		t.Errorf("the next server made %d calls, want the repair alone", len(second.asked))
	}
	whole, err := evaluate(context.Background(), nil, &script{replies: []any{`{"mood":"odd"}`, `{"mood":"good"}`}})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != judge.Pass || e.Attempts != whole.Attempts || e.Repairs != whole.Repairs || e.Tokens != whole.Tokens || e.CostUSD != whole.CostUSD {
		t.Errorf("cut off and gone on: %+v\nin one piece: %+v", e, whole)
	}
}

// dying is a script whose server ends in a call.
type dying struct {
	script
	die   context.CancelFunc
	at    int
	calls int
}

func (d *dying) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	if d.calls++; d.calls == d.at {
		d.die()
		return judge.Reply{}, ctx.Err()
	}
	return d.script.Reply(ctx, c, p)
}
