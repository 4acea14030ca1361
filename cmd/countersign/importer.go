package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/tracefile"
	"github.com/countersign/countersign/store"
)

// Bounds of one transaction: so many traces, or so much text.
const (
	batchTraces = 1000
	batchBytes  = 16 << 20
)

// importer brings files into one project.
type importer struct {
	state   *state
	db      *store.Store
	project string
	harness *harness.Harness
	run     string

	away outage

	mu sync.Mutex // of the counts
	importCounts
	toldEndpoint bool // that traces were refused for where they would go
}

// batch is what one transaction stores, and where its traces stand.
type batch struct {
	items  []store.ImportItem
	places []tracefile.Pos
	bytes  int
}

// check reads every file for its faults and imports nothing.
func (i *importer) check(ctx context.Context, files []inputFile, maxLine int) error {
	refused := 0
	for _, file := range files {
		f, err := i.state.openTraces(ctx, file, tracefile.Options{MaxLine: maxLine, Judge: i.harness.Judge, Stakes: i.harness.StakesOf}, "checking")
		if err != nil {
			return err
		}
		for err == nil {
			if err = stopped(ctx); err == nil {
				_, _, err = f.next(i.state)
			}
		}
		refused += f.refused
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if err = errors.Join(err, f.close()); err != nil {
			return err
		}
	}
	if refused > 0 {
		i.state.say("nothing was imported: %s wrong, and --strict is given", plural(refused, "line is", "lines are"))
		return errFailed
	}
	return nil
}

// file imports one file. What is stored before a fault stays stored.
func (i *importer) file(ctx context.Context, file inputFile, maxLine int) error {
	f, err := i.state.openTraces(ctx, file, tracefile.Options{MaxLine: maxLine, Judge: i.harness.Judge, Stakes: i.harness.StakesOf}, "importing")
	if err != nil {
		return err
	}
	err = i.traces(ctx, f)
	i.Refused += f.refused
	return errors.Join(err, f.end(i.state))
}

// storers is how many batches are under way at once: the database writes one,
// while the texts of the other are hashed and packed.
const storers = 2

// traces stores what read brings. Batches are read while others are stored.
func (i *importer) traces(ctx context.Context, f *traceFile) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	ready, readErr := make(chan batch), make(chan error, 1)
	go func() {
		defer close(ready)
		readErr <- i.read(reading, f, ready)
	}()
	var group errgroup.Group
	for range storers {
		group.Go(func() error {
			var err error
			for b := range ready {
				if err != nil {
					continue // the reader sees that it was stopped
				}
				if err = i.store(ctx, f, b); err != nil {
					stop()
				}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return <-readErr
}

// read sends planned traces in batches. What was read before a fault of the
// file is sent; what was read before an interruption is not, so that only
// whole batches are stored then.
func (i *importer) read(ctx context.Context, f *traceFile, ready chan<- batch) error {
	var b batch
	for {
		if err := stopped(ctx); err != nil {
			return err
		}
		t, pos, err := f.next(i.state)
		if err != nil {
			if ctx.Err() == nil && len(b.items) > 0 {
				ready <- b
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if i.run != "" {
			t.Run = i.run
		}
		plan, err := i.harness.Plan(&t)
		if err != nil { // an unknown judge, which the reader has refused already
			return err
		}
		b.items = append(b.items, store.ImportItem{Trace: t, Plan: plan})
		b.places = append(b.places, pos)
		if b.bytes += pos.Size; len(b.items) == batchTraces || b.bytes >= batchBytes {
			ready <- b
			b = batch{}
		}
	}
}

// store stores a batch in one transaction. A trace that the store refuses is
// a bad line; the rest of the batch is stored without it.
func (i *importer) store(ctx context.Context, f *traceFile, b batch) error {
	for len(b.items) > 0 {
		done, err := i.importBatch(ctx, b.items)
		var item *store.ItemError
		if errors.As(err, &item) && errors.Is(err, store.ErrInvalid) {
			bad := &tracefile.LineError{File: b.places[item.Index].File, Line: b.places[item.Index].Line, Field: "trace", Msg: item.Err.Error()}
			var field *store.FieldError
			if errors.As(err, &field) {
				bad.Field, bad.Msg = field.Field, field.Message
			}
			f.refuse(i.state, bad)
			b.items = slices.Delete(b.items, item.Index, item.Index+1)
			b.places = slices.Delete(b.places, item.Index, item.Index+1)
			continue
		}
		if err != nil {
			return err
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		for k, d := range done {
			i.count(d, b.items[k].Plan)
			i.tellEndpoint(d, b.items[k].Plan)
		}
		return nil
	}
	return nil
}

func (n *importCounts) count(d store.Imported, plan []judge.Planned) {
	n.Traces++
	switch {
	case d.Created:
		n.Created++
	case d.Revised:
		n.Revised++
	default:
		n.Unchanged++
	}
	n.Labels += d.Labels
	n.Evaluations += d.Evaluations
	if d.Unchanged { // what is new of its plan is rarely a refusal
		return
	}
	for _, p := range plan { // all of a new revision's plan is new
		switch {
		case p.RefusedField == judge.RefusedEndpoint:
			n.Unsent++
		case p.Refused():
			n.Lacking++
		default:
			continue
		}
		n.Evaluations--
	}
}

// tellEndpoint says once that traces may not be sent where they would go: the
// other refusals are about a trace, this one about the command.
func (i *importer) tellEndpoint(d store.Imported, plan []judge.Planned) {
	for _, p := range plan {
		if !i.toldEndpoint && !d.Unchanged && p.RefusedField == judge.RefusedEndpoint {
			i.toldEndpoint = true
			i.state.say("refused: %s", p.Message)
		}
	}
}

func (i *importer) summary(s *state, asJSON, judged bool) error {
	if asJSON {
		return s.writeJSON(i.importCounts)
	}
	if _, err := fmt.Fprintln(s.stdout, i.importCounts); err != nil || !judged {
		return err
	}
	_, err := fmt.Fprintf(s.stdout, "%s judged\n", plural(i.Judged, "evaluation", "evaluations"))
	return err
}
