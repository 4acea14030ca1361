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

// atEndpoint is the work of newList for a named endpoint.
func atEndpoint(name string) judge.Planned {
	p := planned("v")
	p.Endpoint = name
	return p
}

// TestOneEndpointIsDown: work for the engines and endpoints that are up goes on,
// also when what waits has every place, and an outage fails nothing.
func TestOneEndpointIsDown(t *testing.T) {
	for _, concurrency := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			away := &moody{up: time.Now().Add(3 * time.Hour), failure: down}
			here := &slowChat{wait: time.Second}
			h := newHarness(t, func(c *harness.Config) {
				c.Judges = append(c.Judges, parsed(t, verdictJudge))
				c.Retry = harness.Retry{}
				c.Engines["openai/away"], c.Engines["openai/here"] = away, here
			}, oracle{given: judge.Given{Raw: `{"verdict": "Yes"}`}})
			l := newList(0, judge.Planned{})
			add := func(n int, p judge.Planned, prefix string) {
				for _, w := range newList(n, p).queued {
					w.EvaluationID = prefix + w.EvaluationID
					l.queued = append(l.queued, w)
				}
			}
			add(20, atEndpoint("away"), "away ")
			add(20, atEndpoint("here"), "here ")
			add(20, byRules("v"), "rules ")
			go func() {
				time.Sleep(2 * time.Hour)
				l.mu.Lock()
				defer l.mu.Unlock()
				if len(l.finished) != 40 {
					t.Errorf("concurrency %d: %d evaluations are finished while one endpoint is down, want the 40 of the others", concurrency, len(l.finished))
				}
				if len(l.claimed) == 0 || len(l.claimed) > 2*concurrency {
					t.Errorf("concurrency %d: %d evaluations wait for the endpoint under a claim", concurrency, len(l.claimed))
				}
			}()
			w := harness.Worker{List: l, Harness: h, Concurrency: concurrency, Log: slog.New(slog.DiscardHandler)}
			if err := w.Drain(context.Background()); err != nil {
				t.Fatal(err)
			}
			for id, e := range l.finished {
				if e.Status != judge.Accepted {
					t.Errorf("evaluation %s: %s, %s", id, e.Status, e.Error)
				}
			}
			if len(l.finished) != 60 || len(l.claimed) != 0 {
				t.Errorf("concurrency %d: %d finished, %d held; want 60, 0", concurrency, len(l.finished), len(l.claimed))
			}
			if here.max > concurrency {
				t.Errorf("%d calls at once to the endpoint that is up, want at most %d", here.max, concurrency)
			}
		})
	}
}

// TestWorkerLeavesWhatItCannotDo: work for an engine that is not here stays in
// the queue for a worker that has it.
func TestWorkerLeavesWhatItCannotDo(t *testing.T) {
	chat := &slowChat{}
	l := newList(3, planned("v"))
	l.queued[0].Planned.Endpoint = "elsewhere"
	l.queued[2].Planned.Engine = judge.EngineRules
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), chat), Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(l.finished) != 1 || l.finished["e1"].Status != judge.Accepted || len(l.queued) != 2 || l.released != 0 {
		t.Errorf("finished %d, left %d, released %d; want 1, 2, 0", len(l.finished), len(l.queued), l.released)
	}
}
