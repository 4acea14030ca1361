package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// judging is one run over one file. Traces are read only as far ahead as there
// are evaluations in the making, and evaluations are written in the order of
// the file.
type judging struct {
	state    *state
	harness  *harness.Harness
	file     *traceFile
	out      *evaluationFile
	run      string
	policy   judge.Policy // that of a trace without a project
	progress *judgeProgress

	watch       watcher // nil: nobody watches
	traces      int
	tally       *runTally
	overBudget  *harness.BudgetError      // nil: there was room
	misdirected *harness.MisdirectedError // nil: what answers is an endpoint
	unmade      error                     // of the first evaluation that could not be made for another reason
	down        func() bool               // an endpoint is, and calls to it wait
}

func newJudging(s *state, h *harness.Harness, file *traceFile, out *evaluationFile, run string, policy judge.Policy, down func() bool) *judging {
	progressing := s.startJudgeProgress(file.size)
	file.progress = &progress{judging: progressing}
	return &judging{
		state: s, down: down, harness: h, file: file, out: out, run: run, policy: policy, progress: progressing, tally: newRunTally(),
	}
}

// watcher is told of each evaluation that an output holds, whichever run made it,
// with the trace and what was planned for it; several at once. It keeps neither.
type watcher func(*judge.Trace, judge.Planned, judge.Evaluation) error

// made is an evaluation, or why it was not made.
type made struct {
	evaluation judge.Evaluation
	planned    judge.Planned
	lines      written
	err        error
	kept       []byte // the line of an earlier run that is this evaluation
}

// group is the evaluations of one judge on one trace: one for each model. They
// are compared when all are there.
type group struct {
	trace   *judge.Trace
	planned []judge.Planned
	results []chan made
	under   judge.Effective // the policy for them, where there are several
}

// all judges the whole file, so many evaluations at once. When it is told to end, evaluations under way get a while to
// come to an end; what is made is written, up to the first that was not.
func (j *judging) all(told context.Context, atOnce int) error {
	defer j.progress.end()
	// The channel of channels keeps the order; its size bounds the memory.
	inOrder := make(chan group, 4*atOnce)
	hands := newHands(atOnce)
	ctx, cancel := context.WithCancel(told)
	defer cancel()
	working, stopWorking := outliving(told, judgeGrace)
	defer stopWorking()
	defer context.AfterFunc(told, func() {
		if j.down() { // what is under way only waits
			stopWorking()
			return
		}
		if under := int(hands.busy.Load()); under > 0 {
			j.file.progress.pause()
			j.state.say("stopping: %s under way may take up to %s to end; stop again to end at once", plural(under, "evaluation", "evaluations"), judgeGrace)
		}
	})()

	var readErr error
	go func() {
		defer close(inOrder)
		readErr = j.plan(ctx, func(t *judge.Trace, planned []judge.Planned, kept [][]byte) bool {
			g := group{trace: t, planned: planned, results: make([]chan made, len(planned))}
			if len(planned) > 1 {
				g.under = j.policy.For(planned[0].Judge, t.Domain, j.policy.StakesOfTrace(t))
			}
			for i := range planned {
				g.results[i] = make(chan made, 1)
			}
			select {
			case inOrder <- g:
			case <-ctx.Done():
				return false
			}
			for i, p := range planned {
				if kept[i] != nil {
					g.results[i] <- made{kept: kept[i]}
					continue
				}
				if !hands.give(ctx, func() { g.results[i] <- j.one(working, t, p) }) {
					for _, rest := range g.results[i:] {
						rest <- made{err: errInterrupted}
					}
					return false
				}
			}
			return true
		})
		hands.end()
	}()
	writeErr := j.write(inOrder, cancel, func() { cancel(); stopWorking() })
	switch {
	case writeErr != nil:
		return fmt.Errorf("write evaluations: %w", writeErr)
	case j.misdirected != nil:
		return usageError{j.misdirected}
	case j.overBudget != nil:
		return j.overBudget
	case readErr == nil && j.unmade != nil:
		// All was read, and not all was made: the run is no whole one.
		return cmp.Or(stopped(told), j.unmade)
	}
	return readErr
}

// one makes an evaluation and what is written of it.
func (j *judging) one(ctx context.Context, t *judge.Trace, p judge.Planned) made {
	e, _, err := j.harness.Evaluate(ctx, t, p)
	if err != nil {
		return made{err: err}
	}
	lines, err := j.out.linesOf(e)
	return made{evaluation: e, lines: lines, err: err}
}

// write writes what is made, in order, and returns when there is no more. After
// an error it stops the run and only waits for its end.
func (j *judging) write(inOrder <-chan group, stopReading, stop func()) (err error) {
	hole := false
	for g := range inOrder {
		var all []made
		for i, result := range g.results {
			var m made
			select {
			case m = <-result:
			default: // there is time to write what is made
				if err == nil {
					err = j.out.flush()
				}
				m = <-result
			}
			// An evaluation that could not be made leaves a hole: told to stop. A file
			// ends before it, so that it stays in order; its replies are kept. What
			// goes to a pipe can't be gone on with, and all of it is given.
			hole = hole || m.err != nil && j.out.path != ""
			var unkept *harness.LedgerError
			switch {
			case m.err == nil:
				m.planned = g.planned[i]
				all = append(all, m)
			case errors.As(m.err, &j.overBudget):
				stopReading() // what is under way may still have room
			case errors.As(m.err, &j.misdirected):
				stop()
			case errors.As(m.err, &unkept) && err == nil:
				err = unkept
			case j.unmade == nil:
				j.unmade = m.err
			}
		}
		if !hole && err == nil {
			err = j.writeGroup(g.trace, all, g.under)
		}
		if err != nil {
			stop()
		}
	}
	if err == nil {
		err = j.out.flush()
	}
	return err
}

func (j *judging) writeGroup(t *judge.Trace, all []made, under judge.Effective) error {
	if len(all) > 1 {
		if err := compare(all, under); err != nil {
			return err
		}
	}
	for _, m := range all {
		if m.kept != nil {
			if err := j.before(t, m.planned, m.kept); err != nil {
				return err
			}
			if err := j.out.keep(m.kept); err != nil {
				return err
			}
			continue
		}
		j.count(m.evaluation)
		if err := j.out.write(m.evaluation.ID, m.lines); err != nil {
			return err
		}
		if j.watch != nil {
			if err := j.watch(t, m.planned, m.evaluation); err != nil {
				return err
			}
		}
	}
	return nil
}

// plan reads the file and hands the evaluations of each trace and judge that are
// not all made yet to start, until that returns false.
func (j *judging) plan(ctx context.Context, start func(*judge.Trace, []judge.Planned, [][]byte) bool) error {
	for {
		if err := stopped(ctx); err != nil {
			return err
		}
		t, pos, err := j.file.next(j.state)
		if errors.Is(err, io.EOF) {
			j.progress.readAll()
			return nil
		}
		if err != nil {
			return err
		}
		if j.run != "" {
			t.Run = j.run
		}
		planned, err := j.harness.Plan(&t)
		if err != nil { // an unknown judge, which the reader has refused already
			return err
		}
		j.traces++
		j.progress.planned(len(planned), pos.Size+1)
		for begin := 0; begin < len(planned); {
			end := begin + 1
			for end < len(planned) && together(planned[begin], planned[end]) {
				end++
			}
			g := planned[begin:end]
			inPlace, kept, err := j.out.before(&t, g)
			if err == nil {
				err = j.keep(&t, g, inPlace, kept)
			}
			if err != nil {
				return err
			}
			if !inPlace && !start(&t, g, kept) {
				return stopped(ctx)
			}
			begin = end
		}
	}
}

// together: two evaluations of one judge by several models are compared.
func together(a, b judge.Planned) bool {
	return a.Judge == b.Judge && a.Judgment == judge.NoJudgment && b.Judgment == judge.NoJudgment
}

// keep counts what earlier runs made. What is copied is counted as it is written.
func (j *judging) keep(t *judge.Trace, planned []judge.Planned, inPlace bool, kept [][]byte) error {
	n := 0
	for i, line := range kept {
		if line == nil {
			continue
		}
		n++
		if !inPlace {
			continue
		}
		if err := j.before(t, planned[i], line); err != nil {
			return err
		}
	}
	j.progress.kept(n)
	return nil
}

// before counts the line of an earlier run.
func (j *judging) before(t *judge.Trace, p judge.Planned, line []byte) error {
	if err := j.tally.before(line); err != nil || j.watch == nil {
		return err
	}
	var e judge.Evaluation
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("an evaluation of an earlier run: %w", err)
	}
	return j.watch(t, p, e)
}

func (j *judging) count(e judge.Evaluation) {
	j.tally.add(tallied{e.Status, e.Verdict, e.CostUSD, e.UnpricedCalls, e.Reasons}, false)
	failed := 0
	if judgeFailed(e) {
		failed = 1
	}
	j.progress.made(1, e.CostUSD, failed)
}

func judgeFailed(e judge.Evaluation) bool {
	for _, r := range e.Reasons {
		if r.Code == judge.ReasonJudgeFailed {
			return true
		}
	}
	return false
}

func (j *judging) summary() string {
	return fmt.Sprintf("%s, %s; %s refused%s",
		plural(j.traces, "trace", "traces"), j.tally.text(), plural(j.file.refused, "line", "lines"), j.tally.rest())
}
