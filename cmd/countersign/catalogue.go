package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store"
)

// judgesFlag adds own judges to a command, and what a project can set of the
// built-in ones.
type judgesFlag struct {
	Judges []string `help:"File or folder of own judges' definitions; may be repeated." placeholder:"DIR" config:"judges"`
	Rubric string   `help:"File with the dimensions that logic and logic-steps score, instead of their own four." placeholder:"FILE" config:"rubric"`
}

// builtins are the built-in judges with the rubric and the citation pattern that
// the command line or the configuration gives.
func (f judgesFlag) builtins(s *state) ([]judge.Judge, error) {
	setup := builtin.Setup{Markers: s.settings.markers}
	if f.Rubric != "" {
		data, err := os.ReadFile(f.Rubric)
		if err != nil {
			return nil, usagef("the rubric: %w", err)
		}
		if setup.Rubric, err = judge.ParseRubric(f.Rubric, data); err != nil {
			return nil, usageError{err}
		}
	}
	return builtin.JudgesWith(setup), nil
}

// own loads the definitions that the command line or the configuration names.
func (f judgesFlag) own() ([]judge.Judge, error) {
	var all []judge.Judge
	var faults []error
	for _, path := range f.Judges {
		judges, err := judge.LoadDefinitions(path)
		if err != nil {
			faults = append(faults, err)
		}
		all = append(all, judges...)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, usageError{err}
	}
	return all, nil
}

// catalogue is the built-in judges with own ones added. Of two own judges of
// one name the earlier counts, so that definitions given now come before
// those of the project.
func catalogue(builtins []judge.Judge, own ...[]judge.Judge) ([]judge.Judge, error) {
	all := slices.Clone(builtins)
	brought := len(all)
	var faults []error
	for _, judges := range own {
		for _, j := range judges {
			i := slices.IndexFunc(all, func(o judge.Judge) bool { return o.Name == j.Name })
			switch {
			case i < 0:
				all = append(all, j)
			case i < brought:
				faults = append(faults, &judge.DefinitionError{File: j.File, Line: j.Line,
					Msg: fmt.Sprintf("judge %q has the name of a built-in judge: give it another name", j.Name)})
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, usageError{err}
	}
	return all, nil
}

// knownJudges are the judges of the command line and, where there is one, of the
// project.
func knownJudges(ctx context.Context, s *state, p projectFlags, f judgesFlag) ([]judge.Judge, error) {
	builtins, err := f.builtins(s)
	if err != nil {
		return nil, err
	}
	own, err := f.own()
	if err != nil {
		return nil, err
	}
	there, err := p.exists(ctx, s)
	if err != nil {
		return nil, err
	}
	if !there {
		return catalogue(builtins, own)
	}
	var kept []judge.Judge
	err = p.with(ctx, s, p.open, func(db *store.Store) error {
		kept, err = projectJudges(ctx, db, p.Project, nil)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) { // no project yet: no judges of it
		return nil, err
	}
	return catalogue(builtins, own, kept)
}

// projectJudges are the own judges that a project has used, as they are now. A
// stored definition that can't be read is an error; with unreadable it is told
// there instead and left out.
func projectJudges(ctx context.Context, db *store.Store, project string, unreadable func(error)) ([]judge.Judge, error) {
	stored, err := db.Judges(ctx, project)
	if err != nil {
		return nil, err
	}
	var all []judge.Judge
	for _, s := range stored {
		if s.Builtin || !s.Current {
			continue
		}
		j, err := judge.ParseDefinition(s.Name+" (of project "+project+")", []byte(s.Definition))
		if err != nil {
			err = fmt.Errorf("a stored definition can't be read; give a new one with --judges: %w", err)
			if unreadable == nil {
				return nil, err
			}
			unreadable(err)
			continue
		}
		all = append(all, j)
	}
	return all, nil
}
