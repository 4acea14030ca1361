package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge/openai"
)

// picky is an endpoint that takes neither a temperature nor max_tokens nor a
// format, and says so one at a time.
type picky struct {
	mu       sync.Mutex
	requests int
	first    sync.WaitGroup // of the requests that came before any was answered
	barrier  int
}

func (p *picky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		fault(500, err.Error(), "")(w, r)
		return
	}
	p.mu.Lock()
	p.requests++
	waits := p.requests <= p.barrier
	p.mu.Unlock()
	if waits {
		p.first.Done()
		p.first.Wait()
	}
	for _, name := range []string{"temperature", "max_tokens", "response_format"} {
		if _, given := body[name]; given {
			message := "Unsupported parameter: " + name
			if name == "max_tokens" {
				message += ", use max_completion_tokens"
			}
			fault(400, message, name)(w, r)
			return
		}
	}
	says("x")(w, r)
}

// However many calls are under way when an endpoint is met first, one of them
// finds out what it takes: each is refused once at most, and the one that finds
// out as often as there is something to find.
func TestOneCallFindsOut(t *testing.T) {
	const calls = 12
	endpoint := &picky{barrier: calls}
	endpoint.first.Add(calls)
	server := httptest.NewServer(endpoint)
	defer server.Close()
	engine, err := openai.New(openai.Config{BaseURL: server.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range calls {
		wg.Go(func() {
			if _, err := engine.Reply(context.Background(), conversation, params()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	// Refused at first: 12. The one: max_tokens, json_schema, json_object, and its
	// answer. The others: their answers.
	if want := calls + 4 + calls - 1; endpoint.requests != want {
		t.Errorf("%d requests for %d calls, want %d", endpoint.requests, calls, want)
	}
}

// A call that waits for another to find out ends with its context.
func TestWaitForTheOneEndsWithTheContext(t *testing.T) {
	hold := make(chan struct{})
	server := newEndpoint(t,
		fault(400, "Unsupported value: 'temperature'", "temperature"),
		func(w http.ResponseWriter, r *http.Request) { <-hold; says("x")(w, r) })
	engine := server.engine(t, nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := engine.Reply(context.Background(), conversation, params()); err != nil {
			t.Error(err)
		}
	})
	for { // until the first call tries again
		server.mu.Lock()
		n := len(server.requests)
		server.mu.Unlock()
		if n == 2 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := engine.Reply(ctx, conversation, params()); err == nil {
		t.Error("a call with a cancelled context brings a reply")
	}
	close(hold)
	wg.Wait()
}

// Requests that are sent again in another form count against the limits.
func TestAdaptationKeepsToTheLimits(t *testing.T) {
	clock := &waits{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	start := clock.Now()
	server := newEndpoint(t,
		fault(400, "Unsupported value: 'temperature'", "temperature"),
		fault(400, "Unknown parameter: seed", "seed"), says("x"))
	engine := server.engine(t, func(c *openai.Config) {
		c.RequestsPerMinute, c.Now, c.Sleep = 1, clock.Now, clock.Sleep
	})
	if _, err := engine.Reply(context.Background(), conversation, params()); err != nil {
		t.Fatal(err)
	}
	if got, want := clock.Now().Sub(start), 2*time.Minute; got < want-time.Millisecond || got > want+time.Millisecond {
		t.Errorf("three requests at one a minute waited %s, want %s", got, want)
	}
}
