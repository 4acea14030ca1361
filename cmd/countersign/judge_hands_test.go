package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// Hands work as many at once as there are, do all they were given, and take no
// more when they are told to stop while all are busy.
func TestHands(t *testing.T) {
	const most, n = 3, 100
	h := newHands(most)
	var at, highest, did atomic.Int64
	all := make(chan struct{})
	var full sync.Once
	for range n {
		ok := h.give(t.Context(), func() {
			if now := at.Add(1); now > highest.Load() {
				highest.Store(now)
			}
			if at.Load() == most {
				full.Do(func() { close(all) })
			}
			<-all // the first ones wait until all hands are busy
			at.Add(-1)
			did.Add(1)
		})
		if !ok {
			t.Fatal("work was not taken")
		}
	}
	h.end()
	if did.Load() != n || highest.Load() > most || h.busy.Load() != 0 {
		t.Errorf("%d done, %d at once, %d still busy; want %d, %d at most, none", did.Load(), highest.Load(), h.busy.Load(), n, most)
	}

	h = newHands(1)
	release := make(chan struct{})
	if !h.give(t.Context(), func() { <-release }) {
		t.Fatal("the first work was not taken")
	}
	told, tell := context.WithCancel(t.Context())
	tell()
	if h.give(told, func() { t.Error("work was done that was not taken") }) {
		t.Error("work was taken after the end, with all hands busy")
	}
	close(release)
	h.end()
}

// After the run was told to end, what has begun gets its turns and what has not
// begun gets none, also where it waited for one already.
func TestTurnsAfterTheEnd(t *testing.T) {
	told, tell := context.WithCancel(t.Context())
	turns := newTurns(told, 1)
	done, err := turns.take(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan error)
	go func() {
		_, err := turns.take(t.Context(), true)
		waited <- err
	}()
	tell()
	if err := <-waited; !errors.Is(err, errInterrupted) {
		t.Errorf("who waited for a first turn got error %v, want %v", err, errInterrupted)
	}
	done()
	if _, err := turns.take(t.Context(), true); !errors.Is(err, errInterrupted) {
		t.Errorf("a first turn after the end: error %v, want %v", err, errInterrupted)
	}
	done, err = turns.take(t.Context(), false)
	if err != nil {
		t.Fatalf("who had begun got no turn: %v", err)
	}
	ended, end := context.WithCancelCause(t.Context())
	why := errors.New("why")
	end(why)
	if _, err := turns.take(ended, false); !errors.Is(err, why) {
		t.Errorf("error %v, want that of the evaluation's context", err)
	}
	done()
}

// A small heap is cleared rarely, a large one as Go clears it, and in between it
// grows to the same size.
func TestHeapShare(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{
		{0, 400}, {1 << 20, 400}, {12 << 20, 400}, {16 << 20, 300}, {20 << 20, 220}, {32 << 20, 100}, {40 << 20, 100}, {60 << 20, 100}, {80 << 20, 100}, {1 << 40, 100},
	} {
		if got := heapShare(c.live); got != c.want {
			t.Errorf("%d MiB in use: %d%%, want %d%%", c.live>>20, got, c.want)
		}
	}
}
