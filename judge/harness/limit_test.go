package harness_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// paced is an endpoint where a call waits for its turn before it is sent.
type paced struct {
	script
	turn, takes []time.Duration // by call
	at          int
}

func (p *paced) Reply(ctx context.Context, c judge.Conversation, params judge.Params) (judge.Reply, error) {
	i := p.at
	p.at++
	resume := judge.Waiting(ctx)
	time.Sleep(p.turn[i])
	resume()
	select {
	case <-time.After(p.takes[i]):
		return p.script.Reply(ctx, c, params)
	case <-ctx.Done():
		return judge.Reply{}, ctx.Err()
	}
}

// TestLimitCountsWorkAlone: an evaluation over its limit keeps what it paid for,
// and waiting for a turn is not held against it.
func TestLimitCountsWorkAlone(t *testing.T) {
	const fault = `{"verdict": "odd"}`
	hours := func(list ...time.Duration) []time.Duration { return list }
	for name, tt := range map[string]struct {
		turn, takes []time.Duration
		reasons     string
		attempts    int
	}{
		"it waits long":       {hours(time.Hour, time.Hour), hours(5*time.Minute, 5*time.Minute), "", 2},
		"the repair is slow":  {hours(0, 0), hours(10*time.Minute, 6*time.Minute), judge.ReasonJudgeFailed, 1},
		"the repair hangs":    {hours(time.Hour, time.Hour), hours(time.Minute, 24*time.Hour), judge.ReasonJudgeFailed, 1},
		"it is slow at once":  {hours(0), hours(16 * time.Minute), judge.ReasonJudgeFailed, 0},
		"it is just in time":  {hours(0, 0), hours(10*time.Minute, 4*time.Minute), "", 2},
		"it waits and is not": {hours(0, time.Hour), hours(10*time.Minute, 6*time.Minute), judge.ReasonJudgeFailed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chat := &paced{script: script{replies: []any{fault, `{"verdict": "Yes"}`}}, turn: tt.turn, takes: tt.takes}
				l := newList(1, planned("v"))
				w := harness.Worker{List: l, Harness: newHarness(t, own(t), chat), Log: slog.New(slog.DiscardHandler)}
				if err := w.Drain(context.Background()); err != nil {
					t.Fatal(err)
				}
				e := l.finished["e0"]
				if codes(e) != tt.reasons || e.Attempts != tt.attempts || len(e.Calls) != tt.attempts {
					t.Errorf("reasons %q with %d attempts and %d calls; want %q with %d: %s", codes(e), e.Attempts, len(e.Calls), tt.reasons, tt.attempts, e.Error)
				}
				if want := 0.5 * float64(tt.attempts); e.CostUSD != want || e.Tokens.Prompt != 100*tt.attempts {
					t.Errorf("cost %v, prompt tokens %d; want %v, %d", e.CostUSD, e.Tokens.Prompt, want, 100*tt.attempts)
				}
			})
		})
	}
}

// TestOtherVersionIsNotJudged: work of a version that is not here is never judged
// by another under its name; a recorded report has no version of ours.
func TestOtherVersionIsNotJudged(t *testing.T) {
	for _, tt := range []struct {
		engine, version string
		want            string
		calls           int
	}{
		{judge.EngineOpenAI, "0123456789abcdef", judge.ReasonJudgeFailed, 0},
		{judge.EngineOpenAI, "", "", 1},
		{judge.EngineRecorded, "0123456789abcdef", "", 0},
	} {
		chat := &script{replies: []any{`{"verdict": "Yes"}`}}
		trace := judge.Trace{ID: "t", Output: "o", Judgments: []judge.Judgment{{Judge: "v", Output: []byte(`{"verdict": "Yes"}`)}}}
		p := judge.Planned{Judge: "v", Engine: tt.engine, Model: "m", PromptVersion: tt.version}
		e := evaluate(t, newHarness(t, own(t), chat), trace, p)
		if codes(e) != tt.want || len(chat.asked) != tt.calls {
			t.Errorf("engine %s, version %q: reasons %q after %d calls, error %q", tt.engine, tt.version, codes(e), len(chat.asked), e.Error)
		}
		if tt.version != "" && e.PromptVersion != tt.version {
			t.Errorf("the evaluation is stored under version %s, planned with %s", e.PromptVersion, tt.version)
		}
		if tt.want != "" && e.Error == "" {
			t.Error("nobody is told why")
		}
	}
}
