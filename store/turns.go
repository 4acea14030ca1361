package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// turns lets the processes of one SQLite file write one after another. SQLite
// itself has no queue: who waits for its write lock asks every 100 ms at most,
// and several busy processes, or one that imports, leave it free for too short
// a time ever to be met. The lock is one of files beside the database, so that
// it ends with its process; SQLite's own lock still keeps the file whole.
type turns struct {
	path     string
	patience time.Duration // how long a writer waits for its turn
	here     chan struct{} // holds one: the writer of this process
	late     atomic.Bool   // a turn that was given up is still to come
}

// turnPatience is longer than any transaction. After it one of the other
// processes hangs, and SQLite's own lock decides whether it is in the way.
const turnPatience = 10 * time.Second

func newTurns(path string) *turns {
	return &turns{path: path, patience: turnPatience, here: make(chan struct{}, 1)}
}

// take waits for the turn to write and gives what ends it. When ctx ends first
// there is none, as beginning the transaction will say; when another process
// hangs, the writer goes on without.
func (t *turns) take(ctx context.Context) (end func()) {
	select {
	case t.here <- struct{}{}:
	case <-ctx.Done():
		return func() {}
	}
	leave := func() { <-t.here }
	if t.late.Load() {
		return leave
	}
	turn, patience := make(chan func(), 1), time.NewTimer(t.patience)
	go func() { turn <- t.queue() }()
	select {
	case end := <-turn:
		patience.Stop()
		return func() { end(); leave() }
	case <-patience.C:
		t.giveUp(turn)
		return leave
	case <-ctx.Done():
		go func() { // who waits behind in this process keeps the place among the others
			defer leave()
			defer patience.Stop()
			select {
			case end := <-turn:
				end()
			case <-patience.C:
				t.giveUp(turn)
			}
		}()
		return func() {}
	}
}

// giveUp lets the writers of this process go on without turns until the one
// that was asked for comes. Nobody wants that one any more.
func (t *turns) giveUp(turn <-chan func()) {
	t.late.Store(true)
	go func() {
		(<-turn)()
		t.late.Store(false)
	}()
}

// queue waits in two places, so that who has just written and wants to again
// comes after who waits: the first place is for who is next, the second for who
// writes. Where files can't be locked nobody waits.
func (t *turns) queue() (end func()) {
	leaveNext, err := lockedfile.MutexAt(t.path + ".next").Lock()
	if err != nil {
		return func() {}
	}
	defer leaveNext()
	end, err = lockedfile.MutexAt(t.path + ".writing").Lock()
	if err != nil {
		return func() {}
	}
	return end
}
