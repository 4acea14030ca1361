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
	path string
	here chan struct{} // holds one: the writer of this process
	late atomic.Bool   // a turn that was given up is still to come
}

// turnPatience is how long a writer waits for its turn. Then one of the others
// hangs, and SQLite's own lock decides whether it is in the way.
const turnPatience = 5 * time.Second

func newTurns(path string) *turns { return &turns{path: path, here: make(chan struct{}, 1)} }

// take waits for the turn to write and gives what ends it. When ctx ends first,
// or others are too slow, it gives up: the writer goes on without a turn.
func (t *turns) take(ctx context.Context) (end func()) {
	select {
	case t.here <- struct{}{}:
	case <-ctx.Done(): // as beginning the transaction will say
		return func() {}
	}
	leave := func() { <-t.here }
	if t.late.Load() {
		return leave
	}
	turn := make(chan func(), 1)
	go func() { turn <- t.queue() }()
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	select {
	case end := <-turn:
		return func() { end(); leave() }
	case <-ctx.Done():
	case <-timer.C:
	}
	t.late.Store(true)
	go func() { // what comes now is wanted by nobody
		(<-turn)()
		t.late.Store(false)
	}()
	return leave
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
