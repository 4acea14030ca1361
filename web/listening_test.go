package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// event is one server-sent event. A comment has only the name ":".
type event struct{ name, id, data string }

// claimEvent and countEvent are all that may be told.
type (
	claimEvent struct {
		State, Holder, Text string
		Until               *time.Time
		Seconds             int
	}
	countEvent struct{ Open, Overdue int }
)

// listening is an open stream, read by a goroutine.
type listening struct {
	t      testing.TB
	events chan event
	end    context.CancelFunc
	mu     sync.Mutex
	raw    strings.Builder
}

// listen opens a stream that must begin.
func (v *visitor) listen(query string, headers ...string) *listening {
	v.s.t.Helper()
	resp, cancel := v.stream(query, headers...)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		v.s.t.Fatalf("GET /events%s: %s, %s", query, resp.Status, resp.Header.Get("Content-Type"))
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Encoding": ""} {
		if got := resp.Header.Get(name); got != want {
			v.s.t.Errorf("GET /events: %s is %q, want %q", name, got, want)
		}
	}
	return read(v.s.t, resp.Body, cancel)
}

// stream asks for a stream; the caller reads the answer.
func (v *visitor) stream(query string, headers ...string) (*http.Response, context.CancelFunc) {
	v.s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	v.s.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.s.http.URL+"/events"+query, nil)
	if err != nil {
		v.s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.s.t.Fatal(err)
	}
	v.s.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp, cancel
}

func read(t testing.TB, body io.Reader, end context.CancelFunc) *listening {
	l := &listening{t: t, events: make(chan event, 1000), end: end}
	go func() {
		defer close(l.events)
		var e event
		for lines := bufio.NewScanner(body); lines.Scan(); {
			l.mu.Lock()
			l.raw.WriteString(lines.Text() + "\n")
			l.mu.Unlock()
			field, value, line := strings.Cut(lines.Text(), ": ")
			switch field {
			case "":
				if line {
					e.name = ":"
				}
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				e.data = value
			}
			if lines.Text() == "" && e.name != "" {
				l.events <- e
				e = event{}
			}
		}
	}()
	return l
}

// next is the next event that is no comment.
func (l *listening) next() event {
	l.t.Helper()
	return l.first("an event", func(e event) bool { return e.name != ":" })
}

// first waits for the first event that fits, and leaves out those before it.
func (l *listening) first(what string, fits func(event) bool) event {
	l.t.Helper()
	for after := time.After(30 * time.Second); ; {
		select {
		case e, open := <-l.events:
			if !open {
				l.t.Fatalf("the stream ended before %s:\n%s", what, l.text())
			}
			if fits(e) {
				return e
			}
		case <-after:
			l.t.Fatalf("%s did not come within 30 s:\n%s", what, l.text())
		}
	}
}

// wants waits for an event of the name that holds the values of want, and
// leaves out others before it. Nothing else may be in it.
func wants[T any](l *listening, name string, is func(T) bool) (got T) {
	l.t.Helper()
	l.first(fmt.Sprintf("%s as %T", name, got), func(e event) bool {
		if e.name != name {
			return false
		}
		var found T
		d := json.NewDecoder(strings.NewReader(e.data))
		d.DisallowUnknownFields()
		if err := d.Decode(&found); err != nil {
			l.t.Fatalf("%s %s: %v", name, e.data, err)
		}
		got = found
		return is(found)
	})
	return got
}

func (l *listening) wantClaim(state string) claimEvent {
	l.t.Helper()
	return wants(l, "claim", func(c claimEvent) bool { return c.State == state })
}

func (l *listening) wantOpen(n int) countEvent {
	l.t.Helper()
	return wants(l, "queue", func(c countEvent) bool { return c.Open == n })
}

// wantEnd waits for the end of the stream.
func (l *listening) wantEnd() {
	l.t.Helper()
	for after := time.After(30 * time.Second); ; {
		select {
		case _, open := <-l.events:
			if !open {
				return
			}
		case <-after:
			l.t.Fatalf("the stream went on:\n%s", l.text())
		}
	}
}

func (l *listening) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.raw.String()
}

// eventually waits for something that happens by itself.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// openTwice gives two stores over one database, as two processes have.
func openTwice(t testing.TB, c *clock) (a, b *store.Store) {
	address := storetest.Address(t)
	return openStore(t, address, c), openStore(t, address, c)
}

// twoSites are two servers over one database.
func twoSites(t testing.TB) (a, b *site) {
	c := newClock()
	one, other := openTwice(t, c)
	a, b = siteOver(t, one, c), siteOver(t, other, c)
	for _, s := range []*site{a, b} {
		s.web.Beat(50*time.Millisecond, 15*time.Second)
	}
	return a, b
}
