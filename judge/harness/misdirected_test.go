package harness_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

var page = judge.TransportError{Status: 200, Message: "it answered 200 with text/html", Temporary: true, Foreign: true, Endpoint: "host"}

// TestMisdirected: what answers with pages ends a command's run at once, and is an
// outage to a server; once a model has replied, it is an outage to both.
func TestMisdirected(t *testing.T) {
	for name, c := range map[string]struct {
		command bool
		replied bool
		ends    bool
	}{
		"a command, at first":       {command: true, ends: true},
		"a command, after a reply":  {command: true, replied: true},
		"a server, at first":        {},
		"a server, after one reply": {replied: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chat := &moody{failure: page}
				h, log, _ := outages(t, chat, func(config *harness.Config) { config.Breakers.Misdirected = c.command })
				if c.replied {
					evaluate(t, h, judge.Trace{ID: "first", Output: "o"}, planned("v"))
				}
				chat.mu.Lock()
				chat.up = time.Now().Add(time.Hour)
				chat.mu.Unlock()
				l := newList(6, planned("v"))
				workerLog := &journal{}
				w := harness.Worker{List: l, Harness: h, Concurrency: 2, Log: slog.New(slog.NewTextHandler(workerLog, nil))}
				err := w.Drain(context.Background())
				var wrong *harness.MisdirectedError
				if got := errors.As(err, &wrong); got != c.ends || (!c.ends && err != nil) {
					t.Fatalf("error %v, want it to end: %v", err, c.ends)
				}
				if !c.ends {
					if len(l.finished) != 6 || !strings.Contains(log.text.String(), "text/html") {
						t.Errorf("finished %d of 6; the log must say what came:\n%s", len(l.finished), log.text.String())
					}
					return
				}
				if len(l.finished) != 0 || len(l.queued) != 6 || chat.calls > 2 {
					t.Errorf("finished %d, queued %d with %d calls; want 0, 6, at most 2", len(l.finished), len(l.queued), chat.calls)
				}
				if workerLog.text.Len() > 0 {
					t.Errorf("the log tells what the error tells already:\n%s", workerLog.text.String())
				}
			})
		})
	}
}

// timed notes when it was called, and says when to come back.
type timed struct {
	moody
	at []time.Time
}

func (a *timed) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	a.mu.Lock()
	a.at = append(a.at, time.Now())
	a.mu.Unlock()
	return a.moody.Reply(ctx, c, p)
}

// TestProbesAreGentle: an endpoint that says for long that it can be asked again
// soon is asked ever more rarely, never before its time, and not rarer than it
// takes to notice that it is back.
func TestProbesAreGentle(t *testing.T) {
	for name, c := range map[string]struct {
		after        time.Duration
		least, most  int // probes in ten minutes
		longestPause time.Duration
	}{
		"in a second":    {time.Second, 18, 30, 36 * time.Second},
		"in ten":         {10 * time.Second, 15, 25, 36 * time.Second},
		"in two minutes": {2 * time.Minute, 3, 6, 126 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chat := &timed{moody: moody{up: time.Now().Add(10 * time.Minute),
					failure: judge.TransportError{Status: 429, Message: "slow down", Temporary: true, Endpoint: "host", RetryAfter: c.after}}}
				h, _, _ := outages(t, chat, nil)
				l := newList(20, planned("v"))
				w := harness.Worker{List: l, Harness: h, Concurrency: 8, Log: slog.New(slog.DiscardHandler)}
				if err := w.Drain(context.Background()); err != nil {
					t.Fatal(err)
				}
				if len(l.finished) != 20 {
					t.Fatalf("finished %d of 20", len(l.finished))
				}
				probes := 0
				for i := 1; i < len(chat.at) && chat.at[i-1].Before(chat.up); i++ {
					pause := chat.at[i].Sub(chat.at[i-1])
					if pause == 0 { // the calls that were under way when it began
						continue
					}
					if probes++; probes > 8 && pause < c.after { // those of before are tries of calls that do not know of each other
						t.Errorf("probe %d came %s after the one before, it was asked to wait %s", probes, pause, c.after)
					}
					if pause > c.longestPause {
						t.Errorf("nobody asked for %s", pause)
					}
				}
				if probes < c.least || probes > c.most+8 {
					t.Errorf("%d probes in ten minutes, want %d to %d", probes, c.least, c.most)
				}
			})
		})
	}
}
