package harness_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// moody is an endpoint that is down until a time, and that always fails on some
// prompts.
type moody struct {
	mu       sync.Mutex
	up       time.Time
	failure  judge.TransportError // while it is down
	poison   string               // what it always fails on
	calls    int                  // while it was down
	answered int
}

func (*moody) Name() string { return judge.EngineOpenAI }

func (m *moody) Reply(ctx context.Context, c judge.Conversation, _ judge.Params) (judge.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Now().Before(m.up) {
		m.calls++
		failure := m.failure
		return judge.Reply{}, &failure
	}
	if m.poison != "" && strings.Contains(c[len(c)-1].Content, m.poison) {
		return judge.Reply{}, &judge.TransportError{Status: 500, Message: "internal error", Temporary: true, Endpoint: "host"}
	}
	m.answered++
	return judge.Reply{Text: `{"verdict": "Yes"}`, FinishReason: "stop", CostUSD: 0.25}, nil
}

var down = judge.TransportError{Status: 503, Message: "down for repair", Temporary: true, Endpoint: "host"}

// outages makes a harness with its own breakers, whose log and changes are kept.
func outages(t *testing.T, chat judge.Chat, change func(*harness.Config)) (*harness.Harness, *journal, *[]harness.Outage) {
	log, told := &journal{}, &[]harness.Outage{}
	h := newHarness(t, func(c *harness.Config) {
		own(t)(c)
		c.Retry = harness.Retry{}
		c.Breakers = &harness.Breakers{Log: slog.New(slog.NewTextHandler(log, nil)), Changed: func(o harness.Outage) { *told = append(*told, o) }}
		if change != nil {
			change(c)
		}
	}, chat)
	return h, log, told
}

// TestOutageOfTheEndpoint: hours without an endpoint fail nothing. Calls wait, one
// in about a minute asks, and the worker claims nothing more until it answers.
func TestOutageOfTheEndpoint(t *testing.T) {
	for name, failure := range map[string]judge.TransportError{
		"it says 503":         down,
		"it asks for a wait":  {Status: 429, Message: "slow down", Temporary: true, Endpoint: "host", RetryAfter: 2 * time.Minute},
		"it asks for an hour": {Status: 429, Message: "quota", Temporary: true, Endpoint: "host", RetryAfter: time.Hour},
		"it does not answer":  {Message: "connection refused", Temporary: true, Endpoint: "host"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chat := &moody{up: time.Now().Add(3 * time.Hour), failure: failure}
				h, log, told := outages(t, chat, nil)
				l := newList(40, planned("v"))
				later := l.queued[3:]
				l.queued = l.queued[:3]
				go func() {
					time.Sleep(time.Hour)
					l.mu.Lock()
					defer l.mu.Unlock()
					l.queued = later
				}()
				go func() {
					time.Sleep(2 * time.Hour)
					l.mu.Lock()
					defer l.mu.Unlock()
					if len(l.claimed) != 3 {
						t.Errorf("%d evaluations are claimed while the endpoint is down, want the 3 of before", len(l.claimed))
					}
				}()
				w := harness.Worker{List: l, Harness: h, Concurrency: 8, Log: slog.New(slog.DiscardHandler)}
				if err := w.Drain(context.Background()); err != nil {
					t.Fatal(err)
				}
				attempts := 0
				for id, e := range l.finished {
					attempts += e.Attempts
					if e.Status != judge.Accepted {
						t.Errorf("evaluation %s: %s, %s", id, e.Status, e.Error)
					}
				}
				// The answer that ended the outage may have been to a probe.
				if len(l.finished) != 40 || chat.answered > 41 || attempts != chat.answered {
					t.Errorf("finished %d with %d attempts and %d answers; want 40 with 40, or 41", len(l.finished), attempts, chat.answered)
				}
				if chat.calls > 220 {
					t.Errorf("%d calls were made to an endpoint that is down for three hours", chat.calls)
				}
				if began, ended := log.count("takes no calls"), log.count("judging goes on"); began != 1 || ended != 1 {
					t.Errorf("the outage was logged %d times as begun, %d as ended, want 1 and 1:\n%s", began, ended, log.text.String())
				}
				last := (*told)[len(*told)-1]
				if first := (*told)[0]; !first.Down || first.Err == nil || first.Endpoint != "host" || last.Down {
					t.Errorf("told first %+v, last %+v", first, last)
				}
			})
		})
	}
}

// TestTraceThatTheEndpointFailsOn is told from an outage, also when nothing else is
// under way, and what that took is accounted for.
func TestTraceThatTheEndpointFailsOn(t *testing.T) {
	for _, concurrency := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			chat := &moody{poison: "POISON"}
			h, _, _ := outages(t, chat, nil)
			l := newList(9, planned("v"))
			for _, i := range []int{0, 3, 4, 8} {
				l.queued[i].Trace.Output = "POISON"
			}
			w := harness.Worker{List: l, Harness: h, Concurrency: concurrency, Log: slog.New(slog.DiscardHandler)}
			if err := w.Drain(context.Background()); err != nil {
				t.Fatal(err)
			}
			attempts := 0
			for i, id := range []string{"e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8"} {
				e, poisoned := l.finished[id], i == 0 || i == 3 || i == 4 || i == 8
				if failed := codes(e) == judge.ReasonJudgeFailed; failed != poisoned {
					t.Errorf("concurrency %d, evaluation %s: reasons %q, error %q", concurrency, id, codes(e), e.Error)
				}
				if poisoned && !strings.Contains(e.Error, "gave up after") {
					t.Errorf("evaluation %s: error %q", id, e.Error)
				}
				attempts += e.Attempts
				for _, a := range e.Calls {
					if poisoned && (a.Purpose != judge.PurposeProbe || a.CostUSD != 0.25 || e.CostUSD != 0.25*float64(e.Attempts)) {
						t.Errorf("evaluation %s: attempt %+v", id, a)
					}
				}
			}
			if attempts != chat.answered {
				t.Errorf("concurrency %d: %d attempts are kept of %d answers", concurrency, attempts, chat.answered)
			}
		})
	}
}

// TestImpatience: an outage that is waited for long enough ends a call without a
// verdict.
func TestImpatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := outages(t, &moody{up: time.Now().Add(time.Hour), failure: down}, func(c *harness.Config) { c.Breakers.Patience = 10 * time.Minute })
		begin := time.Now()
		_, _, err := h.Evaluate(context.Background(), &judge.Trace{ID: "t", Output: "o"}, planned("v"))
		var outage *harness.OutageError
		if !errors.As(err, &outage) || outage.Endpoint != "host" || !strings.Contains(err.Error(), "down for repair") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(begin); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("it took %s, want ten minutes", took)
		}
	})
}

// TestStopEndsWaitingForTheEndpoint: a worker that is told to stop gives back what
// waits.
func TestStopEndsWaitingForTheEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := outages(t, &moody{up: time.Now().Add(24 * time.Hour), failure: down}, nil)
		l := newList(5, planned("v"))
		ctx, stop := context.WithTimeout(context.Background(), time.Hour)
		defer stop()
		w := harness.Worker{List: l, Harness: h, Concurrency: 2, Log: slog.New(slog.DiscardHandler)}
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(l.finished) != 0 || len(l.claimed) != 0 || len(l.queued) != 5 {
			t.Errorf("finished %d, held %d, queued %d; want 0, 0, 5", len(l.finished), len(l.claimed), len(l.queued))
		}
	})
}

// TestAskedWaitsScatter: what an endpoint told to wait together does not come back
// together, and never before its time.
func TestAskedWaitsScatter(t *testing.T) {
	waits := map[time.Duration]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			chat := &script{replies: []any{&judge.TransportError{Status: 429, Temporary: true, RetryAfter: time.Minute}, `{"verdict": "Yes"}`}}
			begin := time.Now()
			evaluate(t, newHarness(t, own(t), chat), judge.Trace{ID: "t", Output: "o"}, planned("v"))
			took := time.Since(begin)
			if took < time.Minute || took > 66*time.Second {
				t.Errorf("tried again after %s, the endpoint asked for a minute", took)
			}
			waits[took] = true
		})
	}
	if len(waits) < 2 {
		t.Errorf("all waits are the same: %v", waits)
	}
}

// stormy fails every other call, and answers the rest after a while.
type stormy struct {
	mu    sync.Mutex
	calls int
	now   int
	most  int
	every int // this one of so many is answered
}

func (*stormy) Name() string { return judge.EngineOpenAI }

func (s *stormy) Reply(context.Context, judge.Conversation, judge.Params) (judge.Reply, error) {
	s.mu.Lock()
	s.calls++
	n := s.calls
	s.now++
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(100 * time.Millisecond)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	if n%s.every != 0 {
		return judge.Reply{}, &judge.TransportError{Status: 429, Message: "slow down", Temporary: true, Endpoint: "host"}
	}
	return judge.Reply{Text: `{"verdict": "Yes"}`, FinishReason: "stop"}, nil
}

// TestStormIsNoOutage: where some of many calls are answered, the endpoint is up.
func TestStormIsNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		chat := &stormy{every: 4}
		h, log, _ := outages(t, chat, func(c *harness.Config) { c.Retry.Tries = 100 })
		l := newList(300, planned("v"))
		w := harness.Worker{List: l, Harness: h, Concurrency: 32, Log: slog.New(slog.DiscardHandler)}
		if err := w.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		for id, e := range l.finished {
			if e.Status != judge.Accepted {
				t.Errorf("evaluation %s: %s", id, e.Error)
			}
		}
		if got := log.count("takes no calls"); got != 0 || len(l.finished) != 300 {
			t.Errorf("%d outages, %d finished; want 0, 300", got, len(l.finished))
		}
	})
}

// hanging never answers some calls and fails the others.
type hanging struct {
	script
	up time.Time
}

func (h *hanging) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	if !time.Now().Before(h.up) {
		return judge.Reply{Text: `{"verdict": "Yes"}`, FinishReason: "stop"}, nil
	}
	failure := down
	if strings.Contains(c[len(c)-1].Content, "HANG") {
		time.Sleep(2 * time.Minute) // as a call's time-out
		failure = judge.TransportError{Message: "no reply within the time allowed for a call", Temporary: true, Endpoint: "host"}
	}
	return judge.Reply{}, &failure
}

// TestOutageInWhichCallsHang: a call that fails fast while many others hang is not
// given up before anybody got an answer.
func TestOutageInWhichCallsHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := outages(t, &hanging{up: time.Now().Add(20 * time.Minute)}, nil)
		l := newList(40, planned("v"))
		for i := range 39 {
			l.queued[i].Trace.Output = "HANG"
		}
		w := harness.Worker{List: l, Harness: h, Concurrency: 40, Limit: time.Hour, Log: slog.New(slog.DiscardHandler)}
		if err := w.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		for id, e := range l.finished {
			if e.Status != judge.Accepted {
				t.Errorf("evaluation %s: %s", id, e.Error)
			}
		}
		if len(l.finished) != 40 {
			t.Errorf("%d finished, want 40", len(l.finished))
		}
	})
}

// broken is an engine with a fault in it.
type broken struct{ moody }

func (b *broken) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	reply, err := b.moody.Reply(ctx, c, p)
	if len(c) == 1 {
		panic("no second turn")
	}
	return reply, err
}

// TestEngineThatStops in a probe keeps nobody waiting.
func TestEngineThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _, _ := outages(t, &broken{moody{up: time.Now().Add(time.Hour), failure: down}}, nil)
		l := newList(3, planned("v"))
		w := harness.Worker{List: l, Harness: h, Concurrency: 3, Log: slog.New(slog.DiscardHandler)}
		if err := w.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		for id, e := range l.finished {
			if e.Status != judge.Accepted && !strings.Contains(e.Error, "503") {
				t.Errorf("evaluation %s: %s, %s", id, e.Status, e.Error)
			}
		}
		if len(l.finished) != 3 {
			t.Errorf("%d finished, want 3", len(l.finished))
		}
	})
}
