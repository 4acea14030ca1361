package openai_test

import (
	"context"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
)

// TestWaitForALimitIsTold, so that the time of a call is that of its endpoint.
func TestWaitForALimitIsTold(t *testing.T) {
	clock := &waits{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	engine := newEndpoint(t, says("a"), says("b")).engine(t, func(c *openai.Config) {
		c.RequestsPerMinute, c.Now, c.Sleep = 1, clock.Now, clock.Sleep
	})
	var waited time.Duration
	ctx := judge.WithWaiting(context.Background(), func() func() {
		begin := clock.Now()
		return func() { waited += clock.Now().Sub(begin) }
	})
	for range 2 {
		if _, err := engine.Reply(ctx, judge.Conversation{{Role: judge.RoleUser, Content: "x"}}, judge.Params{Model: "m", MaxTokens: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if waited != time.Minute {
		t.Errorf("told of %s of waiting, want a minute", waited)
	}
}
