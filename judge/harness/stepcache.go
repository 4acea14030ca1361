package harness

import (
	"context"
	"fmt"
	"sync"

	"github.com/countersign/countersign/judge"
)

// decompositions are references that were cut into steps: in memory, and in the
// StepCache behind it where there is one. One call is made for all evaluations
// that want the same reference at once.
type decompositions struct {
	mu     sync.Mutex
	known  map[string]judge.CutSteps
	flying map[string]chan struct{} // closed when the call under way ended
}

// maxDecompositions are kept in memory at once; then that starts anew.
const maxDecompositions = 10_000

// of gives what is known under a key, or what make makes of it. Callers that come
// while one makes it wait for that one; when it fails, the next one tries.
func (d *decompositions) of(ctx context.Context, key string, behind judge.StepCache, make func() (judge.CutSteps, error)) (judge.CutSteps, error) {
	for {
		cut, ok, under := d.enter(key)
		if ok {
			return cut, nil
		}
		if under == nil {
			break
		}
		// Its endpoint may be down: others need the place meanwhile.
		placeOf(ctx).leave()
		select {
		case <-under:
		case <-ctx.Done():
			return judge.CutSteps{}, context.Cause(ctx)
		}
		if err := placeOf(ctx).retake(ctx); err != nil {
			return judge.CutSteps{}, err
		}
	}
	var cut judge.CutSteps
	done := false
	defer func() { d.leave(key, cut, done) }() // also when make stops on a fault of the program
	if behind != nil {
		kept, ok, err := behind.CutSteps(ctx, key)
		if err != nil {
			return judge.CutSteps{}, &LedgerError{fmt.Errorf("look for the steps of a reference: %w", err)}
		}
		if ok {
			cut, done = kept, true
			return cut, nil
		}
	}
	made, err := make()
	if err != nil {
		return judge.CutSteps{}, err
	}
	cut, done = made, true
	if behind != nil {
		keeping, stop := outliving(ctx, keepGrace)
		defer stop()
		if err := behind.KeepCutSteps(keeping, key, cut); err != nil {
			return judge.CutSteps{}, &LedgerError{fmt.Errorf("keep the steps of a reference: %w", err)}
		}
	}
	return cut, nil
}

// enter gives what is known, or the call under way to wait for, or neither: the
// caller is the one that makes the call, and calls leave after it.
func (d *decompositions) enter(key string) (cut judge.CutSteps, ok bool, under chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cut, ok = d.known[key]; ok {
		return cut, true, nil
	}
	if under = d.flying[key]; under != nil {
		return judge.CutSteps{}, false, under
	}
	if d.flying == nil {
		d.flying = map[string]chan struct{}{}
	}
	d.flying[key] = make(chan struct{})
	return judge.CutSteps{}, false, nil
}

func (d *decompositions) leave(key string, cut judge.CutSteps, done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.flying[key])
	delete(d.flying, key)
	if !done {
		return
	}
	if d.known == nil || len(d.known) >= maxDecompositions {
		d.known = map[string]judge.CutSteps{}
	}
	d.known[key] = cut
}
