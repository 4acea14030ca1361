package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign/countersign/store"
)

type importCmd struct {
	Files []string `arg:"" name:"file" help:"Trace files: JSONL, a JSON array, or CSV; - is standard input."`
	projectFlags
	judgesFlag
	lineFlag
	RunName string `name:"run" help:"Put the traces into this run, whatever the file says." placeholder:"NAME"`
	Strict  bool   `help:"Import nothing if anything is wrong."`
	Judge   bool   `help:"Judge at once, without a server."`
	engineFlags
	OpenAIBaseURL string  `name:"openai-base-url" help:"Address of an OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`
	Budget        float64 `help:"Most that judging the run may cost, in dollars, over all servers; it stops before that. Needs --run. The worst cost of each call under way is set aside, so a little stays unspent." placeholder:"USD"`
	JSON          bool    `help:"Write the summary as JSON."`
}

// importCounts are what an import did.
type importCounts struct {
	Traces      int `json:"traces"` // read and stored
	Created     int `json:"created"`
	Revised     int `json:"revised"`
	Unchanged   int `json:"unchanged"`
	Labels      int `json:"labels"`                     // new ones
	Evaluations int `json:"evaluations"`                // queued
	Lacking     int `json:"refused_evaluations"`        // not queued: the trace lacks what the judge needs
	Unsent      int `json:"refused_endpoint,omitempty"` // not queued: the policy does not name the endpoint
	Refused     int `json:"refused_lines"`
	Judged      int `json:"judged"` // with --judge
}

func (n importCounts) String() string {
	lacking := ""
	if n.Lacking > 0 {
		lacking = fmt.Sprintf(" and %s refused for what a trace lacks", thousands(n.Lacking))
	}
	if n.Unsent > 0 {
		lacking += fmt.Sprintf(" and %s refused for where it would go", thousands(n.Unsent))
	}
	return fmt.Sprintf("%s: %s new, %s, %s unchanged; %s; %s queued%s; %s refused",
		plural(n.Traces, "trace", "traces"), thousands(n.Created), plural(n.Revised, "new revision", "new revisions"),
		thousands(n.Unchanged), plural(n.Labels, "label", "labels"),
		plural(n.Evaluations, "evaluation", "evaluations"), lacking, plural(n.Refused, "line", "lines"))
}

// Run imports files into a project.
func (c importCmd) Run(ctx context.Context, s *state) (err error) {
	own, err := c.own()
	if err != nil {
		return err
	}
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	engines, err := c.engineFlags.engines(s, c.OpenAIBaseURL)
	if err != nil {
		return err
	}
	if err := c.checkBudget(s, engines); err != nil {
		return err
	}
	files, remove, err := c.inputs(ctx, s)
	if err != nil {
		return err
	}
	defer remove()
	db, err := c.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, missing := db.ProjectNamed(ctx, c.Project)
	project, err := db.EnsureProject(ctx, s.operator(), c.Project)
	if err != nil {
		return err
	}
	if errors.Is(missing, store.ErrNotFound) && project.Name != store.DefaultProject {
		s.say("made project %q, which was not there before", project.Name)
	}
	judges, err := newHarnesses(ctx, s, db, builtins, engines)
	if err != nil {
		return err
	}
	h, err := judges.with(ctx, project, own)
	if err != nil {
		return err
	}

	i := importer{state: s, db: db, project: project.Name, harness: h, run: c.RunName}
	if c.Strict {
		if err := i.check(ctx, files, c.MaxLine); err != nil {
			return err
		}
	}
	if c.Budget > 0 {
		if _, err := db.SetRunBudget(ctx, s.operator(), project.Name, c.RunName, &c.Budget); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err = i.file(ctx, file, c.MaxLine); err != nil {
			break
		}
	}
	if err == nil && c.Judge {
		i.Judged, err = drain(ctx, judges, project.Name, c.Concurrency)
		if err == nil {
			err = tellStopped(ctx, s, db, project.Name, c.RunName)
		}
	}
	if says := i.summary(s, c.JSON, c.Judge); err == nil {
		err = says
	}
	if err == nil && i.Refused > 0 {
		return errFailed
	}
	return err
}

// checkBudget refuses a budget that could not be kept.
func (c importCmd) checkBudget(s *state, e engines) error {
	switch {
	case c.Budget == 0 && !s.byName["budget"]:
		return nil
	case !(c.Budget > 0 && c.Budget <= mostBudget):
		return usagef("--budget is %v: give an amount in dollars above 0, at most %s", c.Budget, thousands(mostBudget))
	case c.RunName == "":
		return usagef("--budget goes with --run: a budget belongs to a run")
	}
	return e.priced()
}

// mostBudget in dollars bounds what a slip of the finger can cost.
const mostBudget = 1_000_000

// tellStopped says that the budget of a run stopped it, and how it goes on.
func tellStopped(ctx context.Context, s *state, db *store.Store, project, run string) error {
	if run == "" {
		return nil
	}
	money, err := db.RunMoney(ctx, s.operator(), project, run)
	if err != nil || money.StoppedAt == nil || money.BudgetUSD == nil {
		return ignoreMissing(err)
	}
	s.say("the budget of run %s ($%.2f) has no room for the next call: %s on hold; a higher --budget goes on",
		run, *money.BudgetUSD, plural(money.OnHold, "evaluation is", "evaluations are"))
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, store.ErrNotFound) { // no trace brought the run
		return nil
	}
	return err
}

// inputs are the files to read; a name that is not there ends the import before
// it starts. Strict reading goes over them twice, so standard input is then kept
// in a temporary file, which remove removes.
func (c importCmd) inputs(ctx context.Context, s *state) (files []inputFile, remove func(), err error) {
	remove = func() {}
	for _, name := range c.Files {
		path := name
		switch {
		case name != "-":
			if _, err := os.Stat(path); err != nil {
				return nil, remove, usageError{err}
			}
		case c.Strict:
			if path, err = spool(interruptible(ctx, s.stdin)); err != nil {
				return nil, remove, err
			}
			remove = func() { _ = os.Remove(path) } // a leftover in the temporary folder
		}
		files = append(files, inputFile{name, path})
	}
	return files, remove, nil
}

func spool(src io.Reader) (path string, err error) {
	f, err := os.CreateTemp("", "countersign-import-*")
	if err != nil {
		return "", fmt.Errorf("keep standard input: %w", err)
	}
	_, err = io.Copy(f, src)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("keep standard input: %w", err), os.Remove(f.Name()))
	}
	return f.Name(), nil
}
