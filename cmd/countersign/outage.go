package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/countersign/countersign/store"
)

// outage is a time in which the database of a command is away. It is told once
// when it begins and once when it ends.
type outage struct {
	mu    sync.Mutex
	began time.Time // zero: the database is there
}

// importBatch stores traces, and waits for a database that went away: the batch
// is tried again for a minute.
func (i *importer) importBatch(ctx context.Context, items []store.ImportItem) ([]store.Imported, error) {
	for wait := firstTry; ; wait = min(2*wait, longestTry) {
		done, err := i.db.ImportTraces(ctx, i.state.operator(), i.project, items)
		if err != nil && ctx.Err() != nil {
			return nil, errInterrupted
		}
		said := i.state.plainly(err)
		var away *awayError
		if !errors.As(said, &away) || !remote(away.place) {
			if err == nil {
				i.away.ended(i.state)
			}
			return done, err
		}
		if i.away.goesOn(i.state, said) >= importPatience {
			return nil, fmt.Errorf("%w; gave up after %s. What is imported is kept: the same command goes on from there", said, importPatience)
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// goesOn says how long the outage has lasted.
func (o *outage) goesOn(s *state, err error) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began.IsZero() {
		o.began = time.Now()
		s.say("%v; trying for up to %s", err, importPatience)
	}
	return time.Since(o.began)
}

func (o *outage) ended(s *state) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.began.IsZero() {
		s.say("the database is there again; the import goes on")
	}
	o.began = time.Time{}
}
