package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// together lets small write transactions that wait for the one writer of an
// SQLite file share a commit: to begin one and to make it durable costs more
// than most of them do. They run one after another, each in a savepoint of its
// own, so one that fails takes nothing with it; nobody is told of success
// before the commit.
type together struct {
	turns *turns // with other processes

	mu      sync.Mutex
	busy    bool // somebody writes, and will call who waits
	waiting []*place
}

// place is that of one transaction in the line.
type place struct {
	alone bool       // it shares with nobody
	turn  chan *ride // what it is to run in; nil: it begins one
}

// ride is a transaction that several share.
type ride struct {
	*sql.Tx
	end    func() // of the turn among processes
	owed   owed   // by all who share it
	stmts  map[string]*sql.Stmt
	once   []string
	began  time.Time
	shared int           // how many have run in it
	broken bool          // the database gave up all of it
	over   chan struct{} // closed once err is known
	err    error
}

// What is shared ends early enough that the first to run in it does not wait
// long for its answer.
const (
	longestRide = 40 * time.Millisecond
	fullestRide = 64
)

// errBroken is given to those whose work was undone with that of another: they
// run once more.
var errBroken = errors.New("the transaction was undone with another one's")

// line waits until it is the caller's turn. A nil ride: begin one.
func (g *together) line(ctx context.Context, alone bool) (*ride, error) {
	g.mu.Lock()
	if !g.busy {
		g.busy = true
		g.mu.Unlock()
		return nil, nil
	}
	p := &place{alone: alone, turn: make(chan *ride, 1)}
	g.waiting = append(g.waiting, p)
	g.mu.Unlock()
	select {
	case r := <-p.turn:
		return r, nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	at := slices.Index(g.waiting, p)
	if at >= 0 {
		g.waiting = slices.Delete(g.waiting, at, at+1)
	}
	g.mu.Unlock()
	if at >= 0 {
		return nil, ctx.Err()
	}
	return <-p.turn, nil // called in the same moment: what runs now finds ctx ended, and calls the next
}

// pass gives the ride to who is next in line, if there is somebody to share it.
func (g *together) pass(r *ride) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 || g.waiting[0].alone || r.broken || r.shared >= fullestRide || time.Since(r.began) > longestRide {
		return false
	}
	g.call(r)
	return true
}

// leave calls who is next in line to begin a transaction.
func (g *together) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.busy = false
		return
	}
	g.call(nil)
}

func (g *together) call(r *ride) {
	g.waiting[0].turn <- r
	g.waiting = g.waiting[1:]
}

// writeInLine runs fn when it is its turn, and waits until it is durable.
func (s *Store) writeInLine(ctx context.Context, g *together, alone bool, fn func(*tx) error) error {
	r, err := g.line(ctx, alone)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if r == nil {
		if r, err = s.beginRide(ctx, g); err != nil {
			g.leave()
			return fmt.Errorf("begin: %w", err)
		}
	}
	if err := s.share(ctx, g, r, alone, fn); err != nil {
		return err
	}
	<-r.over
	return r.err
}

func (s *Store) beginRide(ctx context.Context, g *together) (*ride, error) {
	end := g.turns.take(ctx)
	if err := ctx.Err(); err != nil {
		end()
		return nil, err
	}
	// The one who begins may be gone before the others are done.
	begun, err := s.writer.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		end()
		return nil, err
	}
	return &ride{Tx: begun, end: end, owed: newOwed(), stmts: map[string]*sql.Stmt{}, began: time.Now(), over: make(chan struct{})}, nil
}

// share runs fn in the ride and sees that it goes on, whatever fn does: to the
// next in line, or to its end.
func (s *Store) share(ctx context.Context, g *together, r *ride, alone bool, fn func(*tx) error) (err error) {
	t, always := s.newTx(r.Tx, r.stmts), context.WithoutCancel(ctx)
	finished := false
	defer func() {
		if !finished || err != nil {
			r.undo(always, t)
		}
		r.shared++
		r.once = append(r.once, t.once...)
		if alone || !g.pass(r) {
			s.endRide(always, r)
			g.leave()
		}
	}()
	if r.shared > 0 {
		if _, err := t.exec(always, `SAVEPOINT shared`); err != nil {
			finished = true
			return err
		}
	}
	err = s.fill(ctx, t, fn)
	if err == nil && r.shared > 0 {
		_, err = t.exec(always, `RELEASE shared`)
	}
	if err == nil {
		r.owed.add(t.owed)
	}
	finished = true
	return err
}

// undo takes back what the last transaction did, and nothing else. What the
// first one did is taken back by ending the ride.
func (r *ride) undo(ctx context.Context, t *tx) {
	if r.shared == 0 {
		r.broken = true
		return
	}
	// When the database has already undone everything, as on a full disk, there
	// is no savepoint any more.
	for _, query := range []string{`ROLLBACK TO shared`, `RELEASE shared`} {
		if _, err := t.exec(ctx, query); err != nil {
			r.broken = true
			return
		}
	}
}

// endRide makes what was shared durable and tells all who shared it.
func (s *Store) endRide(ctx context.Context, r *ride) {
	if r.broken {
		r.err = errBroken
		_ = r.Rollback() // nothing of it counts, whatever this says
	} else if err := s.commitRide(ctx, r); err != nil {
		r.err = errors.Join(err, ignoreDone(r.Rollback()))
	}
	s.writer.statements.keep(ctx, s.writer.DB, r.once...)
	r.end()
	close(r.over)
}

func (s *Store) commitRide(ctx context.Context, r *ride) error {
	t := s.newTx(r.Tx, r.stmts)
	t.owed = r.owed
	if err := t.pay(ctx); err != nil {
		return err
	}
	r.once = append(r.once, t.once...)
	if err := r.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}
