package main

import (
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/countersign/countersign/judge"
)

// policy is that of the command line; without one the default, as of no project.
func (c judgeCmd) policy(s *state) (judge.Policy, error) {
	switch c.Policy {
	case "":
		p := judge.DefaultPolicy()
		p.Version = 0
		return p, nil
	case c.File:
		return judge.Policy{}, usagef("the trace file and --policy are both %s: name two files", c.Policy)
	}
	return policyFile{c.Policy}.read(s)
}

// tellUnknown names judges of the policy's rules that are none: such a rule holds
// for nothing here, as judges are given with each command. Nor are examples drawn.
func (c judgeCmd) tellUnknown(s *state, p judge.Policy, all []judge.Judge) {
	known := make([]string, len(all))
	for i, j := range all {
		known[i] = j.Name
	}
	for _, unknown := range p.UnknownJudges(known) {
		s.say("note: %s: %s", c.Policy, unknown)
	}
	for _, name := range slices.Sorted(maps.Keys(p.WithExamples())) {
		s.say("note: %s: judge %s keeps its own examples: others are drawn from the labels of a project, and this command has none", c.Policy, name)
	}
}

// readable refuses a trace file that is not there, before anything is begun.
func (c judgeCmd) readable() error {
	if c.File == "-" {
		return nil
	}
	info, err := os.Stat(c.File)
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "read", Path: c.File, Err: fs.ErrInvalid}
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}

// modelChoices are all models that a policy names.
func modelChoices(p judge.Policy) []judge.ModelChoice {
	all := slices.Clone(p.Models)
	for _, r := range p.Rules {
		all = append(all, r.Models...)
	}
	return all
}
