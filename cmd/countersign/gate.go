package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/release"
)

type gateCmd struct {
	judgeCmd
	projectFlags
	PassThreshold *float64 `name:"pass-threshold" help:"Score from 0 to 1 from which an evaluation passes, unless it has a critical fault. Without: the judge's own verdict." placeholder:"T"`
	MinPassRate   *float64 `name:"min-pass-rate" help:"Share from 0 to 1 that the pass rate of every judge must reach; the corrected one where there are labels enough." placeholder:"R"`
	MinKappa      *float64 `name:"min-kappa" help:"Kappa from -1 to 1 that every judge must reach against people's labels, of the file or else of the project." placeholder:"K"`
	Baseline      string   `help:"Fail if the pass rate is lower than there: a run of the project, or a file of evaluations (--out of an earlier gate or judge)." placeholder:"RUN"`
	JUnit         string   `name:"junit" help:"Write a JUnit XML report to this file." placeholder:"FILE"`
	JSON          string   `name:"json" help:"Write every figure with its interval to this file; - is standard output." placeholder:"FILE"`
	Summary       string   `help:"Write a summary in Markdown to this file. Without, and where GITHUB_STEP_SUMMARY names a file, it is added there." placeholder:"FILE.md"`
	RequireTrust  bool     `name:"require-trusted" help:"Every judge must be trusted by the rules of the project's policy, whether the policy asks for that or not."`
	AllowPending  bool     `name:"allow-pending" help:"Let evaluations that wait for people not stop the release."`
}

// Help says what the exit codes mean.
func (gateCmd) Help() string {
	return `Judges a file as countersign judge does, without a server, and decides whether it may be released.

Exit codes: 0 passed; 1 the gate failed; 2 bad usage or input; 3 a judge is not trusted (kappa under the minimum,
too few labels, suspended, or not trusted where that is asked); 4 evaluations wait for people and --allow-pending is not given. Where several hold, the first
of 2, 3, 1, 4 counts. 130: stopped before it could decide; with --out the same command goes on.

Evaluations are written only with --out. docs/ci.md has a workflow to start from.`
}

// Run judges a file and decides.
func (c gateCmd) Run(ctx context.Context, s *state) error {
	reports, err := c.reports(s)
	if err != nil {
		return err
	}
	options, err := c.options(s)
	if err != nil {
		return err
	}
	baseline, err := c.before(ctx, s, options)
	if err != nil {
		return err
	}
	tally := release.NewTally(options, baseline)
	var h *harness.Harness
	j, err := c.judged(ctx, s, io.Discard, func(made *harness.Harness) watcher {
		h = made
		return func(t *judge.Trace, p judge.Planned, e judge.Evaluation) error {
			definition, there := h.Judge(e.Judge)
			if !there { // a trace with an unknown judge is refused as it is read
				return fmt.Errorf("judge %s of trace %s is not known", e.Judge, t.ID)
			}
			tally.Add(t, definition, p, e)
			return nil
		}
	})
	if err != nil {
		return err
	}
	in, err := c.knownOf(ctx, s, tally)
	if err != nil {
		return err
	}
	in.File, in.Traces, in.BadLines = c.File, j.traces, j.file.refused
	report, err := tally.Decide(in)
	if err != nil {
		return err
	}
	if err := reports.write(s, report); err != nil {
		return err
	}
	if report.Outcome != release.Passed {
		return gateError{report.Outcome}
	}
	return nil
}

// gateError ends a gate that did not pass; its reports have said why.
type gateError struct{ outcome release.Outcome }

func (e gateError) Error() string { return "the gate: " + string(e.outcome) }

// options are the rules; the error names the flag that can't be.
func (c gateCmd) options(s *state) (release.Options, error) {
	for _, f := range []struct {
		name      string
		value     *float64
		low, high float64
	}{{"pass-threshold", c.PassThreshold, 0, 1}, {"min-pass-rate", c.MinPassRate, 0, 1}, {"min-kappa", c.MinKappa, -1, 1}} {
		if f.value != nil && !(*f.value >= f.low && *f.value <= f.high) { // not a number is neither
			return release.Options{}, usagef("--%s is %v: give a number from %v to %v", f.name, *f.value, f.low, f.high)
		}
	}
	if c.Baseline == "" && s.byName["baseline"] {
		return release.Options{}, usagef("--baseline is empty: name a run of the project, or a file of evaluations")
	}
	return release.Options{
		PassThreshold: c.PassThreshold, MinPassRate: c.MinPassRate, MinKappa: c.MinKappa,
		Baseline: c.Baseline, AllowPending: c.AllowPending, RequireTrusted: c.RequireTrust,
	}, nil
}

// knownOf asks the project, where there is one, what it knows of the judges. Its
// labels count where the file brings none or too few.
func (c gateCmd) knownOf(ctx context.Context, s *state, tally *release.Tally) (in release.Input, err error) {
	db, err := c.project(ctx, s)
	if db == nil && err == nil && c.RequireTrust {
		err = usagef("--require-trusted asks the project's rules of trust, and there is no project: name the data with --data")
	}
	if db == nil || err != nil {
		return in, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.ReleaseKnown(ctx, s.operator(), c.Project, tally.Raters())
}
