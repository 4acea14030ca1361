package harness_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// till is an endpoint with prices that bills what it answers.
type till struct {
	mu       sync.Mutex
	price    judge.Price
	unpriced bool
	cost     float64 // of each reply
	fails    []error // first
	takes    time.Duration
	calls    int
	billed   float64
	purse    *harness.Purse
	over     string // what was held and spent above the budget
	budget   judge.NanoUSD
}

func (*till) Name() string { return judge.EngineOpenAI }

func (s *till) Price(string) (judge.Price, bool) { return s.price, !s.unpriced }

func (s *till) Reply(ctx context.Context, _ judge.Conversation, _ judge.Params) (judge.Reply, error) {
	if spent, held := s.purse.Accounts(); spent+held > s.budget || held == 0 {
		s.mu.Lock()
		s.over = fmt.Sprintf("spent %d, held %d of %d", spent, held, s.budget)
		s.mu.Unlock()
	}
	time.Sleep(s.takes)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if len(s.fails) > 0 {
		err := s.fails[0]
		s.fails = s.fails[1:]
		return judge.Reply{}, err
	}
	s.billed += s.cost
	return judge.Reply{Text: `{"verdict": "Yes"}`, FinishReason: "stop", CostUSD: s.cost}, nil
}

// counter makes a harness that pays from a purse; its calls cost 0.05 at most
// 4096 tokens of $12 for a million.
func counter(t *testing.T, budget judge.NanoUSD, s *till) (*harness.Harness, *harness.Purse) {
	s.purse, s.budget = harness.NewPurse(budget), budget
	s.price, s.cost = judge.Price{CompletionUSD: 12}, 0.01
	return newHarness(t, func(c *harness.Config) { own(t)(c); c.Purse = s.purse }, s), s.purse
}

const (
	dollar = judge.NanoUSD(1e9)
	worst  = judge.NanoUSD(4096 * 12 * 1000)
)

// TestBudgetIsNeverPassed: calls that run at the same time wait for what others
// hold, and the work that has no room is given back as it was.
func TestBudgetIsNeverPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &till{takes: time.Second}
		h, purse := counter(t, dollar/4, s) // room for five at once, and 21 in all
		l := newList(100, planned("v"))
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		log := &journal{}
		w := harness.Worker{List: l, Harness: h, Name: "inside", Concurrency: 8, Log: slog.New(slog.NewTextHandler(log, nil))}
		if err := w.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if said := log.text.String(); !strings.Contains(said, "on hold until it is raised") || strings.Contains(said, "level=ERROR") || strings.Contains(said, "inside") {
			t.Errorf("a budget that did what it is for is no error, and the worker's name helps nobody:\n%s", said)
		}
		spent, held := purse.Accounts()
		if s.over != "" || spent > dollar/4 || held != 0 {
			t.Errorf("the budget was passed: %s; spent %d, held %d in the end", s.over, spent, held)
		}
		if spent != judge.Nano(s.billed) || len(l.finished) != s.calls || dollar/4-spent >= worst {
			t.Errorf("spent %d, billed %v, finished %d of %d calls", spent, s.billed, len(l.finished), s.calls)
		}
		if len(l.finished)+len(l.queued) != 100 || len(l.claimed) != 0 {
			t.Errorf("finished %d, queued %d, held %d", len(l.finished), len(l.queued), len(l.claimed))
		}
		for id, e := range l.finished {
			if e.Status != judge.Accepted {
				t.Errorf("evaluation %s: %s", id, e.Error)
			}
		}
	})
}

// TestHoldOfOneCall: what tries hold, by what became of them.
func TestHoldOfOneCall(t *testing.T) {
	busy := &judge.TransportError{Status: 503, Temporary: true}
	cut := &judge.TransportError{Message: "connection reset", Temporary: true}
	for name, tt := range map[string]struct {
		fails       []error
		budget      judge.NanoUSD
		unpriced    bool
		spent, held judge.NanoUSD
		fault       string
		calls       int
	}{
		"answered at once":          {nil, worst, false, dollar / 100, 0, "", 1},
		"no room":                   {nil, worst - 1, false, 0, 0, "no room for a call of up to $0.0492", 0},
		"a refusal is not billed":   {[]error{busy, busy}, worst, false, dollar / 100, 0, "", 3},
		"a broken try may be":       {[]error{cut}, 2 * worst, false, dollar / 100, 0, "", 2},
		"no room for another try":   {[]error{cut}, 2*worst - 1, false, 0, worst, "no room", 1},
		"refused for good":          {[]error{&judge.TransportError{Status: 401}}, worst, false, 0, 0, "", 1},
		"broken, then refused":      {[]error{cut, &judge.TransportError{Status: 401}}, 2 * worst, false, 0, 2 * worst, "", 2},
		"a model that has no price": {nil, dollar, true, 0, 0, "model m has no price", 0},
		"nothing in it":             {nil, 0, false, 0, 0, "no room", 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &till{fails: tt.fails, unpriced: tt.unpriced}
			h, purse := counter(t, tt.budget, s)
			_, _, err := h.Evaluate(context.Background(), &judge.Trace{ID: "t", Output: "o"}, planned("v"))
			var short *harness.BudgetError
			if tt.fault != "" && (!errors.As(err, &short) || !strings.Contains(err.Error(), tt.fault)) || tt.fault == "" && err != nil {
				t.Errorf("error %v, want %q", err, tt.fault)
			}
			if spent, held := purse.Accounts(); spent != tt.spent || held != tt.held || s.calls != tt.calls || s.over != "" {
				t.Errorf("spent %d, held %d, %d calls, %s; want %d, %d, %d", spent, held, s.calls, s.over, tt.spent, tt.held, tt.calls)
			}
		})
	}
}

// TestCallsThatWaitForEachOther: two that hold something and want more would wait
// for ever; one is refused, and the other goes on.
func TestCallsThatWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := harness.NewPurse(3)
		ctx := context.Background()
		for _, name := range []string{"a", "b"} {
			if ok, err := p.Hold(ctx, name, "call", 1); !ok || err != nil {
				t.Fatalf("%s: %v, %v", name, ok, err)
			}
		}
		got := map[string]bool{}
		var mu sync.Mutex
		var both sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			both.Go(func() {
				ok, err := p.Hold(ctx, name, "call", 2)
				if err != nil {
					t.Error(err)
				}
				if !ok {
					_ = p.Drop(ctx, name, "call")
				}
				mu.Lock()
				got[name] = ok
				mu.Unlock()
			})
		}
		both.Wait()
		if got["a"] == got["b"] {
			t.Errorf("held: %v, want exactly one", got)
		}
		if spent, held := p.Accounts(); spent != 0 || held != 3 {
			t.Errorf("spent %d, held %d; want 0, 3", spent, held)
		}
	})
}

// TestEndpointThatThePolicyDoesNotName is sent nothing: not the trace, not its
// reference, and it finds no reply of before.
func TestEndpointThatThePolicyDoesNotName(t *testing.T) {
	for name, tt := range map[string]struct {
		endpoints []string
		judge     string
		refused   bool
	}{
		"any":           {nil, "v", false},
		"its host":      {[]string{"elsewhere", "host"}, "v", false},
		"its name":      {[]string{"ward-7"}, "v", false},
		"another":       {[]string{"elsewhere"}, "v", true},
		"none":          {[]string{}, "v", true},
		"decomposition": {[]string{"elsewhere"}, "steps", true},
	} {
		t.Run(name, func(t *testing.T) {
			chat := &wardSeven{script{replies: []any{`{"verdict": "Yes"}`}}}
			l := &ledger{}
			h := newHarness(t, func(c *harness.Config) {
				own(t)(c)
				c.Policy = judge.DefaultPolicy()
				c.Policy.Endpoints = tt.endpoints
				c.Ledger = l
			}, chat)
			e := evaluate(t, h, judge.Trace{ID: "t", Question: "q", Output: "o", Reference: paragraph}, planned(tt.judge))
			if refused := e.Status == judge.Refused; refused != tt.refused || (len(chat.asked) == 0) != tt.refused {
				t.Errorf("status %s after %d calls, want refused: %v (%s)", e.Status, len(chat.asked), tt.refused, e.Error)
			}
			if tt.refused && (e.RefusedField != judge.RefusedEndpoint || !strings.Contains(e.Error, "ward-7 (host)") || e.Attempts != 0 || len(l.kept) != 0) {
				t.Errorf("field %q, error %q, %d attempts", e.RefusedField, e.Error, e.Attempts)
			}
		})
	}
}

// wardSeven is an endpoint that says where it is.
type wardSeven struct{ script }

func (*wardSeven) Endpoint() judge.Endpoint { return judge.Endpoint{Name: "ward-7", Host: "host"} }
