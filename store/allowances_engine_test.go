package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// limitedEndpoint is a model endpoint that notes when calls come, by the clock
// that the test moves.
type limitedEndpoint struct {
	*httptest.Server
	clock *storetest.Clock

	mu      sync.Mutex
	came    []time.Time
	refusal int           // the number of the call that is refused, from 1
	ask     time.Duration // how long it is asked to wait
}

func newLimitedEndpoint(t *testing.T, clock *storetest.Clock) *limitedEndpoint {
	t.Helper()
	e := &limitedEndpoint{clock: clock}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e.mu.Lock()
		e.came = append(e.came, clock.Now())
		refused := len(e.came) == e.refusal
		e.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if refused {
			w.Header().Set("Retry-After", strconv.Itoa(int(e.ask.Seconds())))
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"error": {"message": "slow down"}}`))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "c", "object": "chat.completion", "created": 1, "model": "m",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "{}"}}},
		})
	}))
	t.Cleanup(e.Close)
	return e
}

// engine of one process, whose waits move the clock.
func (e *limitedEndpoint) engine(t *testing.T, c openai.Config, shared judge.Allowance) *openai.Engine {
	t.Helper()
	c.BaseURL = e.URL + "/v1"
	c.Now = e.clock.Now
	c.Sleep = func(ctx context.Context, d time.Duration) error {
		e.clock.Advance(d)
		return context.Cause(ctx)
	}
	engine, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if shared != nil {
		engine.Share(shared)
	}
	return engine
}

func call(engine *openai.Engine, text string) error {
	_, err := engine.Reply(context.Background(), judge.Conversation{{Role: judge.RoleUser, Content: text}},
		judge.Params{Model: "m", MaxTokens: 4096})
	return err
}

// callAll makes n calls by each engine, several at once.
func callAll(t *testing.T, n, atOnce int, text string, engines ...*openai.Engine) {
	t.Helper()
	var group sync.WaitGroup
	for _, engine := range engines {
		left := make(chan struct{}, n)
		for range n {
			left <- struct{}{}
		}
		close(left)
		for range atOnce {
			group.Go(func() {
				for range left {
					if err := call(engine, text); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
}

// holds checks that no stretch of time saw more calls than the rate and some
// more. Calls that were under way when it began are among those.
func (e *limitedEndpoint) holds(t *testing.T, perMinute float64, more int) {
	t.Helper()
	for i, from := range e.came {
		for j, to := range e.came[i:] {
			if most := to.Sub(from).Minutes()*perMinute + float64(more); float64(j+1) > most {
				t.Fatalf("%d calls came in %s, want at most %.1f", j+1, to.Sub(from), most)
			}
		}
	}
}

// TestEnginesShareLimits: two processes together keep to the limit of one.
func TestEnginesShareLimits(t *testing.T) {
	const processes, atOnce, calls = 2, 4, 80
	tests := []struct {
		name   string
		config openai.Config
		text   string
		rate   float64 // calls in a minute
		slice  int     // calls in a slice
	}{
		{"requests", openai.Config{RequestsPerMinute: 60}, "judge", 60, 1},
		{"requests, several a second", openai.Config{RequestsPerMinute: 300}, "judge", 300, 5},
		{"tokens", openai.Config{TokensPerMinute: 6000}, strings.Repeat("a", 4*99), 60, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := storetest.NewClock()
			a, b := openShared(t, clock)
			server := newLimitedEndpoint(t, clock)
			callAll(t, calls, atOnce, tt.text, server.engine(t, tt.config, a), server.engine(t, tt.config, b))
			if len(server.came) != processes*calls {
				t.Errorf("%d calls came, want %d", len(server.came), processes*calls)
			}
			server.holds(t, tt.rate, tt.slice+processes*(tt.slice+atOnce))
		})
	}
}

// gathering is an allowance that grants nothing before so many calls wait.
type gathering struct {
	judge.Allowance
	calls, takes int
}

func (g *gathering) TakeAllowance(ctx context.Context, r judge.BudgetRequest) (judge.Budget, time.Duration, error) {
	if g.takes == 0 && r.Most.Requests < g.calls {
		runtime.Gosched()
		return judge.Budget{}, time.Millisecond, nil
	}
	g.takes++
	return g.Allowance.TakeAllowance(ctx, r)
}

// TestEngineTakesForAllItsCalls: calls that wait at the same time cost one write
// together, not one each.
func TestEngineTakesForAllItsCalls(t *testing.T) {
	clock := storetest.NewClock()
	server := newLimitedEndpoint(t, clock)
	shared := &gathering{Allowance: storetest.Open(t, clock), calls: 10}
	callAll(t, 10, 10, "judge", server.engine(t, openai.Config{RequestsPerMinute: 6000}, shared))
	if len(server.came) != 10 || shared.takes != 1 {
		t.Errorf("%d calls came by %d takes, want 10 by 1", len(server.came), shared.takes)
	}
}

// TestEnginesPauseTogether: what the endpoint asks one process holds for the
// others, with and without a limit of their own.
func TestEnginesPauseTogether(t *testing.T) {
	for name, config := range map[string]openai.Config{"limited": {RequestsPerMinute: 6000}, "without a limit": {}} {
		t.Run(name, func(t *testing.T) {
			clock := storetest.NewClock()
			a, b := openShared(t, clock)
			server := newLimitedEndpoint(t, clock)
			server.refusal, server.ask = 1, 30*time.Second
			first, second := server.engine(t, config, a), server.engine(t, config, b)
			var refused *judge.TransportError
			if err := call(first, "judge"); !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests {
				t.Fatalf("error %v, want a 429", err)
			}
			for _, engine := range []*openai.Engine{second, first} {
				if err := call(engine, "judge"); err != nil {
					t.Fatal(err)
				}
			}
			if waited := server.came[1].Sub(server.came[0]); waited < 30*time.Second || waited > 31*time.Second {
				t.Errorf("the other process called after %s, want 30 s", waited)
			}
			if waited := server.came[2].Sub(server.came[1]); waited > time.Second {
				t.Errorf("the first process called another %s later, want at once", waited)
			}
		})
	}
}

// TestEngineWithoutSharedLimits: a process whose database is away keeps to the
// limits by itself, says so once, and shares again when it is back.
func TestEngineWithoutSharedLimits(t *testing.T) {
	clock := storetest.NewClock()
	a, b := openShared(t, clock)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	shared := &switched{Allowance: a}
	var log bytes.Buffer
	server := newLimitedEndpoint(t, clock)
	server.refusal, server.ask = 100, 40*time.Second
	engine := server.engine(t, openai.Config{RequestsPerMinute: 60, Log: slog.New(slog.NewTextHandler(&log, nil))}, shared)
	for n := 1; n <= 150; n++ {
		if err := call(engine, "judge"); (err != nil) != (n == 100) {
			t.Fatalf("call %d: error %v", n, err)
		}
	}
	// A process by itself may begin with a minute's worth at once.
	server.holds(t, 60, 61)
	if waited := server.came[100].Sub(server.came[99]); waited < 40*time.Second {
		t.Errorf("called %s after it was asked to wait for 40 s", waited)
	}
	if n := strings.Count(log.String(), "cannot be shared"); n != 1 {
		t.Errorf("said %d times that limits are not shared, want once:\n%s", n, &log)
	}
	shared.Allowance = b
	clock.Advance(time.Minute)
	for range 2 {
		if err := call(engine, "judge"); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(log.String(), "are shared again") {
		t.Errorf("did not say that limits are shared again:\n%s", &log)
	}
	if granted, wait := take(t, b, judge.BudgetRequest{Endpoint: shared.endpoint, PerMinute: judge.Budget{Requests: 60},
		Least: judge.Budget{Requests: 1}, Most: judge.Budget{Requests: 1}}); wait <= 0 || granted.Requests != 0 {
		t.Errorf("granted %+v and wait %s right after the engine took its slice", granted, wait)
	}
}

// switched stands for one database address behind which the database goes away
// and comes back. It notes the name under which the endpoint is asked for.
type switched struct {
	judge.Allowance
	endpoint string
}

func (s *switched) TakeAllowance(ctx context.Context, r judge.BudgetRequest) (judge.Budget, time.Duration, error) {
	s.endpoint = r.Endpoint
	return s.Allowance.TakeAllowance(ctx, r)
}

// TestSharedLimitsNameNoEndpoint: the row tells neither address nor key.
func TestSharedLimitsNameNoEndpoint(t *testing.T) {
	clock := storetest.NewClock()
	server := newLimitedEndpoint(t, clock)
	shared := &switched{Allowance: storetest.Open(t, clock)}
	names := map[string]bool{}
	for _, key := range []string{"", "sk-test-0123456789abcdef"} {
		if err := call(server.engine(t, openai.Config{APIKey: key}, shared), "judge"); err != nil {
			t.Fatal(err)
		}
		names[shared.endpoint] = true
		if len(shared.endpoint) != 64 || strings.Contains(shared.endpoint, server.Listener.Addr().String()) {
			t.Errorf("the endpoint is shared as %q, want a hash", shared.endpoint)
		}
	}
	if len(names) != 1 {
		t.Errorf("one endpoint has the names %v", names)
	}
}

// A call that is stopped while it waits for the budget ends at once.
func TestEngineStopsWaiting(t *testing.T) {
	clock := storetest.NewClock()
	server := newLimitedEndpoint(t, clock)
	for name, shared := range map[string]judge.Allowance{"shared": storetest.Open(t, clock), "alone": nil} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			engine, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", RequestsPerMinute: 1, Now: clock.Now,
				Sleep: func(ctx context.Context, _ time.Duration) error {
					cancel()
					return context.Cause(ctx)
				}})
			if err != nil {
				t.Fatal(err)
			}
			if shared != nil {
				engine.Share(shared)
			}
			if err := call(engine, "judge"); err != nil {
				t.Fatal(err)
			}
			_, err = engine.Reply(ctx, judge.Conversation{{Role: judge.RoleUser, Content: "judge"}}, judge.Params{Model: "m"})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
		})
	}
}

// The machine's clock is what an engine waits by when it is given none.
func TestEngineWaitsByTheMachinesClock(t *testing.T) {
	server := newLimitedEndpoint(t, storetest.NewClock())
	s, err := store.Open(context.Background(), store.Options{URL: storetest.Address(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	engine, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", RequestsPerMinute: 300})
	if err != nil {
		t.Fatal(err)
	}
	engine.Share(s)
	began := time.Now()
	callAll(t, 8, 8, "judge", engine)
	// 5 are a slice; the others come back at 5 a second.
	if took := time.Since(began); took < 600*time.Millisecond {
		t.Errorf("8 calls took %s, want at least 600 ms", took)
	}
}
