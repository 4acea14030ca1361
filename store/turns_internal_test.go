package store

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Two processes that want to write all the time come about as often; what each
// holds is held alone.
func TestTurnsAreTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	var inside, all atomic.Int64
	var had [2]atomic.Int64
	var wait sync.WaitGroup
	for i := range had {
		process := newTurns(path)
		for range 4 {
			wait.Go(func() {
				for all.Add(1) <= 400 {
					end := process.take(t.Context())
					if inside.Add(1) != 1 {
						t.Error("two hold the turn")
					}
					time.Sleep(100 * time.Microsecond)
					had[i].Add(1)
					inside.Add(-1)
					end()
				}
			})
		}
	}
	wait.Wait()
	for i := range had {
		if n := had[i].Load(); n < 40 {
			t.Errorf("process %d had %d of 400 turns", i, n)
		}
	}
}

// A process that hangs while it holds the turn is waited for once; when it lets
// go, turns are taken again.
func TestTurnsOutlastAProcessThatHangs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	hangs, other := newTurns(path), newTurns(path)
	other.patience = 10 * time.Millisecond
	goOn := hangs.take(t.Context())
	other.take(t.Context())()
	if !other.late.Load() {
		t.Fatal("a turn was given while another process held it")
	}
	other.take(t.Context())() // at once, and without a turn
	goOn()
	for other.late.Load() { // what was asked for comes and is let go
		time.Sleep(time.Millisecond)
	}
	other.patience = time.Hour
	other.take(t.Context())()
	hangs.take(t.Context())()
}

// Who goes away while they wait hold up nobody.
func TestTurnsOfWhoGoesAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	writes, waits := newTurns(path), newTurns(path)
	end := writes.take(t.Context())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	waits.take(gone)()
	end()
	waits.take(t.Context())()
	writes.take(t.Context())()
}
