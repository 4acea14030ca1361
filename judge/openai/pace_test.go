package openai_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
)

// waits is a clock that stands still but for the waits of an engine.
type waits struct {
	mu  sync.Mutex
	now time.Time
}

func (w *waits) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *waits) Sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
	return context.Cause(ctx)
}

// TestLimitsOfOneProcess: an engine that shares with nobody may begin with a
// minute's worth; then a limit of its own holds.
func TestLimitsOfOneProcess(t *testing.T) {
	tests := []struct {
		name   string
		config openai.Config
		calls  int
		want   time.Duration
	}{
		{"no limit", openai.Config{}, 20, 0},
		{"within a minute's worth", openai.Config{RequestsPerMinute: 20}, 20, 0},
		{"requests", openai.Config{RequestsPerMinute: 6}, 9, 30 * time.Second},
		// 396 bytes are 100 tokens.
		{"tokens", openai.Config{TokensPerMinute: 600}, 9, 30 * time.Second},
		{"the narrower of both", openai.Config{RequestsPerMinute: 6, TokensPerMinute: 300}, 9, 2 * time.Minute},
		{"calls beyond a minute's worth", openai.Config{TokensPerMinute: 50}, 4, 3 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := &waits{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
			start := clock.Now()
			var answers []func(http.ResponseWriter, *http.Request)
			for range tt.calls {
				answers = append(answers, says("x"))
			}
			engine := newEndpoint(t, answers...).engine(t, func(c *openai.Config) {
				c.RequestsPerMinute, c.TokensPerMinute = tt.config.RequestsPerMinute, tt.config.TokensPerMinute
				c.Now, c.Sleep = clock.Now, clock.Sleep
			})
			for range tt.calls {
				if _, err := engine.Reply(context.Background(), judge.Conversation{{Role: judge.RoleUser, Content: strings.Repeat("a", 396)}}, params()); err != nil {
					t.Fatal(err)
				}
			}
			if got := clock.Now().Sub(start); got < tt.want-time.Millisecond || got > tt.want+time.Millisecond {
				t.Errorf("%d calls waited %s, want %s", tt.calls, got, tt.want)
			}
		})
	}
}

// TestWaitAskedForHoldsForTheNextCall: which calls pause, and which answers of
// the endpoint make them.
func TestWaitAskedForHoldsForTheNextCall(t *testing.T) {
	tests := []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request)
		want   time.Duration
	}{
		{"429", fault(429, "slow down", "", "Retry-After", "7"), 7 * time.Second},
		{"503", fault(503, "busy", "", "Retry-After", "9"), 9 * time.Second},
		{"429 without a time", fault(429, "slow down", ""), 0},
		{"longer than anybody waits", fault(429, "come tomorrow", "", "Retry-After", "86400"), 0},
		{"another fault", fault(500, "oops", "", "Retry-After", "7"), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			clock := &waits{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
			start := clock.Now()
			engine := newEndpoint(t, tt.answer, says("x")).engine(t, func(c *openai.Config) { c.Now, c.Sleep = clock.Now, clock.Sleep })
			if _, err := engine.Reply(context.Background(), conversation, params()); err == nil {
				t.Fatal("the fault is no error")
			}
			if _, err := engine.Reply(context.Background(), conversation, params()); err != nil {
				t.Fatal(err)
			}
			if got := clock.Now().Sub(start); got != tt.want {
				t.Errorf("the next call waited %s, want %s", got, tt.want)
			}
		})
	}
}
