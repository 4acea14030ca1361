package harness_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// list is a work list in memory that counts what happens to each evaluation.
type list struct {
	mu         sync.Mutex
	queued     []judge.Work
	claimed    map[string]int64 // fence
	finished   map[string]judge.Evaluation
	released   int
	batches    []int
	mostHeld   int
	failClaim  int    // claims that fail first
	failStore  int    // stores that fail first
	failExtend int    // and extensions
	extended   int    // extensions that worked
	refuse     string // evaluation whose result is never taken
}

func newList(n int, p judge.Planned) *list {
	l := &list{claimed: map[string]int64{}, finished: map[string]judge.Evaluation{}}
	for i := range n {
		l.queued = append(l.queued, judge.Work{EvaluationID: fmt.Sprint("e", i), Planned: p, Trace: judge.Trace{ID: fmt.Sprint(i), Output: "o"}})
	}
	return l
}

func (l *list) ClaimWork(_ context.Context, c judge.Claim) ([]judge.Work, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failClaim > 0 {
		l.failClaim--
		return nil, errors.New("database is locked")
	}
	var work, left []judge.Work
	for _, w := range l.queued {
		if len(work) < c.N && slices.Contains(c.Engines, w.Planned.EngineKey()) {
			work = append(work, w)
			continue
		}
		left = append(left, w)
	}
	l.queued = left
	for i := range work {
		work[i].Fence++
		l.claimed[work[i].EvaluationID] = work[i].Fence
	}
	l.mostHeld = max(l.mostHeld, len(l.claimed))
	return work, nil
}

func (l *list) FinishWork(_ context.Context, done []judge.Finished) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failStore > 0 {
		l.failStore--
		return errors.New("disk is full")
	}
	for _, f := range done {
		if f.Work.EvaluationID == l.refuse {
			return errors.New("this result can't be stored")
		}
	}
	l.batches = append(l.batches, len(done))
	for _, f := range done {
		id := f.Work.EvaluationID
		if l.claimed[id] != f.Work.Fence || f.Evaluation.ID != id {
			return fmt.Errorf("evaluation %s is not held with fence %d", id, f.Work.Fence)
		}
		if _, twice := l.finished[id]; twice {
			return fmt.Errorf("evaluation %s is finished twice", id)
		}
		delete(l.claimed, id)
		l.finished[id] = f.Evaluation
	}
	return nil
}

func (l *list) ExtendWork(_ context.Context, work []judge.Work, _ time.Duration) (lost []judge.Work, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failExtend > 0 {
		l.failExtend--
		return nil, errors.New("database is locked")
	}
	l.extended++
	for _, w := range work {
		if l.claimed[w.EvaluationID] != w.Fence {
			lost = append(lost, w)
		}
	}
	return lost, nil
}

func (l *list) ReleaseWork(_ context.Context, work []judge.Work) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range work {
		delete(l.claimed, w.EvaluationID)
		l.queued = append(l.queued, w)
		l.released++
	}
	return nil
}

// slowChat answers after a while, or when it is told to stop.
type slowChat struct {
	wait     time.Duration
	mu       sync.Mutex
	now, max int
	calls    int
}

func (*slowChat) Name() string { return judge.EngineOpenAI }

func (s *slowChat) Reply(ctx context.Context, _ judge.Conversation, _ judge.Params) (judge.Reply, error) {
	s.mu.Lock()
	s.now++
	s.calls++
	s.max = max(s.max, s.now)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.now--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(s.wait):
		return judge.Reply{Text: `{"verdict": "Yes"}`, FinishReason: "stop"}, nil
	case <-ctx.Done():
		return judge.Reply{}, ctx.Err()
	}
}

func TestDrainModelCalls(t *testing.T) {
	chat := &slowChat{wait: 5 * time.Millisecond}
	l := newList(30, planned("v"))
	l.failClaim, l.failStore = 2, 1
	stored := 0
	var mu sync.Mutex
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), chat), Concurrency: 4, Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond,
		Done: func(n int) { mu.Lock(); stored += n; mu.Unlock() }}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(l.finished) != 30 || len(l.claimed) != 0 || stored != 30 || chat.calls != 30 {
		t.Errorf("finished %d, still held %d, told %d, calls %d; want 30, 0, 30, 30", len(l.finished), len(l.claimed), stored, chat.calls)
	}
	if chat.max > 4 || chat.max < 2 {
		t.Errorf("%d calls at once, want up to 4", chat.max)
	}
	if slices.Max(l.batches) != 1 {
		t.Errorf("a model call was stored in a batch of %d", slices.Max(l.batches))
	}
}

func TestDrainInBatches(t *testing.T) {
	l := newList(250, byRules("v"))
	h := newHarness(t, func(c *harness.Config) { c.Judges = append(c.Judges, parsed(t, verdictJudge)) }, oracle{given: judge.Given{Raw: `{"verdict": "Yes"}`}})
	w := harness.Worker{List: l, Harness: h, Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(l.finished) != 250 || !slices.Equal(l.batches, []int{100, 100, 50}) {
		t.Errorf("finished %d in batches %v", len(l.finished), l.batches)
	}
}

// A worker that is told to stop lets calls under way end, and gives back what
// it cannot finish in time.
func TestStop(t *testing.T) {
	for name, tt := range map[string]struct {
		call, grace        time.Duration
		finished, released int
	}{
		"calls end in time": {50 * time.Millisecond, 5 * time.Second, 3, 0},
		"calls do not":      {time.Minute, 10 * time.Millisecond, 0, 3},
	} {
		t.Run(name, func(t *testing.T) {
			chat := &slowChat{wait: tt.call}
			l := newList(3, planned("v"))
			w := harness.Worker{List: l, Harness: newHarness(t, own(t), chat), Concurrency: 3, Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond, Grace: tt.grace}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error)
			go func() { done <- w.Run(ctx) }()
			for {
				chat.mu.Lock()
				begun := chat.calls
				chat.mu.Unlock()
				if begun == 3 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			cancel()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if len(l.finished) != tt.finished || l.released != tt.released || len(l.claimed) != 0 || len(l.queued) != tt.released {
				t.Errorf("finished %d, released %d, held %d, queued %d", len(l.finished), l.released, len(l.claimed), len(l.queued))
			}
		})
	}
}

func TestWorkThatOutlastsItsLimit(t *testing.T) {
	l := newList(1, planned("v"))
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), &slowChat{wait: time.Minute}), Limit: 40 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	e := l.finished["e0"]
	if e.Status != judge.InReview || codes(e) != judge.ReasonJudgeFailed {
		t.Errorf("status %s, reasons %q", e.Status, codes(e))
	}
}

func TestListThatNeverComesBack(t *testing.T) {
	l := newList(1, planned("v"))
	l.failClaim = 1 << 30
	w := harness.Worker{List: l, Harness: newHarness(t, own(t), &slowChat{}), Log: slog.New(slog.DiscardHandler), Idle: time.Microsecond, Patience: 150 * time.Millisecond}
	if err := w.Run(context.Background()); err == nil {
		t.Error("a list that always fails is no error")
	}
}

func TestWorkBringsItsJudge(t *testing.T) {
	l := newList(1, planned("stored"))
	j := parsed(t, verdictJudge)
	j.Name = "stored"
	l.queued[0].Judge = &j
	w := harness.Worker{List: l, Harness: newHarness(t, nil, &slowChat{}), Log: slog.New(slog.DiscardHandler), Idle: time.Millisecond}
	if err := w.Drain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if e := l.finished["e0"]; e.Label != "Yes" {
		t.Errorf("label %q, error %q", e.Label, e.Error)
	}
}
