package harness_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// journal is a log that several goroutines write.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) count(words string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), words)
}

// TestOutageIsWaitedOut: nothing is claimed, stored or extended for a while; the
// worker goes on by itself, no call is made twice, and the log says it once.
func TestOutageIsWaitedOut(t *testing.T) {
	chat, log := &slowChat{wait: 5 * time.Millisecond}, &journal{}
	l := newList(3, planned("v"))
	l.failClaim, l.failStore, l.failExtend = 1, 2, 2
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), chat), Concurrency: 1, Idle: time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(l.finished) != 3 || len(l.claimed) != 0 || chat.calls != 3 {
		t.Errorf("finished %d, held %d, calls %d; want 3, 0, 3", len(l.finished), len(l.claimed), chat.calls)
	}
	// One outage at the claim and one at the first result.
	for _, words := range []string{"judging waits until it works again", "judging goes on"} {
		if got := log.count(words); got != 2 {
			t.Errorf("%q was logged %d times, want 2:\n%s", words, got, log.text.String())
		}
	}
}

// TestClaimIsExtended while a call is under way.
func TestClaimIsExtended(t *testing.T) {
	l := newList(1, planned("v"))
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), &slowChat{wait: 300 * time.Millisecond}), Lease: 30 * time.Millisecond,
		Idle: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if l.extended < 2 || len(l.finished) != 1 {
		t.Errorf("extended %d times, finished %d; want 2 or more, 1", l.extended, len(l.finished))
	}
}

// TestLostClaimIsGivenUp: the call ends, and nothing of it is stored or given
// back.
func TestLostClaimIsGivenUp(t *testing.T) {
	chat := &slowChat{wait: time.Hour}
	l := newList(1, planned("v"))
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), chat), Lease: 30 * time.Millisecond, Idle: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	done := make(chan error)
	go func() { done <- w.Drain(context.Background()) }()
	for taken := false; !taken; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		if taken = l.claimed["e0"] == 1; taken {
			l.claimed["e0"] = 2 // another worker has it
		}
		l.mu.Unlock()
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if len(l.finished) != 0 || l.released != 0 || l.claimed["e0"] != 2 {
		t.Errorf("finished %d, released %d, fence %d; want 0, 0, 2", len(l.finished), l.released, l.claimed["e0"])
	}
}

// TestRefusedResultTakesNoOtherAlong: a list that works and does not take one
// result gets all the others.
func TestRefusedResultTakesNoOtherAlong(t *testing.T) {
	l := newList(3, byRules("v"))
	l.refuse = "e1"
	log := &journal{}
	h := newHarness(t, func(c *harness.Config) { c.Judges = append(c.Judges, parsed(t, verdictJudge)) }, oracle{given: judge.Given{Raw: `{"verdict": "Yes"}`}})
	w := harness.Worker{List: l, Harness: h, Idle: time.Millisecond, Log: slog.New(slog.NewTextHandler(log, nil))}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(l.finished) != 2 || l.claimed["e1"] != 1 || log.count("evaluations=1 ") != 1 {
		t.Errorf("finished %d, fence of the refused %d; want 2, 1\n%s", len(l.finished), l.claimed["e1"], log.text.String())
	}
}

// brokenLedger neither finds nor keeps.
type brokenLedger struct{}

func (brokenLedger) KeptReply(context.Context, string, string) (judge.KeptReply, bool, error) {
	return judge.KeptReply{}, false, errors.New("no connection")
}

func (brokenLedger) KeepReply(context.Context, string, string, judge.KeptReply) error {
	return errors.New("no connection")
}

// TestUnkeptReplyIsNoVerdict: an evaluation whose replies can't be kept did not
// fail; it goes back to the queue.
func TestUnkeptReplyIsNoVerdict(t *testing.T) {
	chat := &slowChat{}
	h := newHarness(t, func(c *harness.Config) { own(t)(c); c.Ledger = brokenLedger{} }, chat)
	trace := judge.Trace{ID: "1", Output: "o"}
	_, _, err := h.Evaluate(context.Background(), &trace, planned("v"))
	var unkept *harness.LedgerError
	if !errors.As(err, &unkept) || chat.calls != 0 {
		t.Errorf("error %v after %d calls, want a LedgerError after none", err, chat.calls)
	}
	l := newList(1, planned("v"))
	w := harness.Worker{List: l, Harness: h, Idle: time.Millisecond, Log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	for released := 0; released < 1; time.Sleep(time.Millisecond) {
		l.mu.Lock()
		released = l.released
		l.mu.Unlock()
	}
	stop()
	if err := <-ended; err != nil || len(l.finished) != 0 {
		t.Errorf("finished %d, error %v", len(l.finished), err)
	}
}
