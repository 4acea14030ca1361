package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

type judgesCmd struct {
	List     judgesListCmd     `cmd:"" help:"List the built-in judges, those of the project, and those of --judges."`
	Show     judgesShowCmd     `cmd:"" help:"Show the definition of a judge."`
	Validate judgesValidateCmd `cmd:"" help:"Check definitions without running them."`
	Shadow   judgesShadowCmd   `cmd:"" help:"Let a version judge new traces beside the one in use, to be compared with it."`
	Compare  judgesCompareCmd  `cmd:"" help:"Compare versions and models of a judge on the same traces."`
}

// judgeView is a judge as --json shows it.
type judgeView struct {
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	PromptVersion string          `json:"prompt_version"`
	Builtin       bool            `json:"builtin"`
	Inputs        []inputView     `json:"inputs"`
	Labels        []labelView     `json:"labels"`
	Ordinal       bool            `json:"ordinal"`
	MaxRepairs    int             `json:"max_repairs"`
	Band          judge.Band      `json:"band"`
	Checks        []checkView     `json:"checks"`
	Prompt        string          `json:"prompt,omitempty"`
	Schema        json.RawMessage `json:"schema,omitempty"`
}

type inputView struct {
	Field    string `json:"field"`
	Required bool   `json:"required"`
}

type labelView struct {
	Name    string        `json:"name"`
	Verdict judge.Verdict `json:"verdict"`
	Abstain bool          `json:"abstain,omitempty"`
}

type checkView struct {
	Name string          `json:"name"`
	Kind judge.CheckKind `json:"kind"`
}

func viewJudge(j judge.Judge, whole bool) judgeView {
	v := judgeView{
		Name: j.Name, Description: j.Description, PromptVersion: j.PromptVersion, Builtin: j.Builtin,
		Inputs: []inputView{}, Labels: []labelView{}, Checks: []checkView{},
		Ordinal: j.Ordinal, MaxRepairs: j.MaxRepairs, Band: j.Band,
	}
	for _, in := range j.Inputs {
		v.Inputs = append(v.Inputs, inputView(in))
	}
	for _, l := range j.Labels {
		v.Labels = append(v.Labels, labelView(l))
	}
	for _, c := range j.Checks {
		v.Checks = append(v.Checks, checkView{c.Name, c.Kind})
	}
	if whole {
		v.Prompt, v.Schema = j.Prompt, j.Schema
	}
	return v
}

type judgesListCmd struct {
	projectFlags
	judgesFlag
	JSON bool `help:"Write JSON instead of a table."`
}

// Run lists judges.
func (c judgesListCmd) Run(ctx context.Context, s *state) error {
	all, err := knownJudges(ctx, s, c.projectFlags, c.judgesFlag)
	if err != nil {
		return err
	}
	if c.JSON {
		views := []judgeView{}
		for _, j := range all {
			views = append(views, viewJudge(j, false))
		}
		return s.writeJSON(views)
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tKIND\tNEEDS\tDESCRIPTION")
	for _, j := range all {
		kind := "own"
		if j.Builtin {
			kind = "built in"
		}
		var needs []string
		for _, in := range j.Inputs {
			if in.Required {
				needs = append(needs, in.Field)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", j.Name, shortHash(j.PromptVersion), kind, strings.Join(needs, ", "), j.Description)
	}
	return w.Flush()
}

type judgesShowCmd struct {
	Name string `arg:"" help:"Name of the judge."`
	projectFlags
	judgesFlag
	Version string `help:"A version that the project has used, by its hash or the first 8 digits of it, instead of the present one." placeholder:"HASH"`
	JSON    bool   `help:"Write JSON instead of the definition as it was written."`
}

// Run shows one judge.
func (c judgesShowCmd) Run(ctx context.Context, s *state) error {
	if c.Version != "" {
		return c.stored(ctx, s)
	}
	all, err := knownJudges(ctx, s, c.projectFlags, c.judgesFlag)
	if err != nil {
		return err
	}
	var known []string
	for _, j := range all {
		known = append(known, j.Name)
		if j.Name != c.Name {
			continue
		}
		if c.JSON {
			return s.writeJSON(viewJudge(j, true))
		}
		s.say("judge %s, version %s", j.Name, j.PromptVersion)
		_, err := fmt.Fprintln(s.stdout, strings.TrimRight(string(j.Source), "\n"))
		return err
	}
	return &judge.UnknownJudgeError{Name: c.Name, Known: known}
}

type judgesValidateCmd struct {
	Paths []string `arg:"" name:"path" help:"Definition files, or folders of them."`
	JSON  bool     `help:"Write JSON."`
}

// validated is what --json shows of the paths.
type validated struct {
	OK     bool        `json:"ok"`
	Judges []judgeView `json:"judges"` // those without a fault
	Faults []faultView `json:"faults"`
}

// faultView is one fault of a definition; Line is 0 where it is of the whole file.
type faultView struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Message string `json:"message"`
}

// faultsOf takes apart the faults of definitions.
func faultsOf(path string, err error) []faultView {
	var one *judge.DefinitionError
	if usage, ok := err.(usageError); ok {
		err = usage.error
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []faultView
		for _, e := range joined.Unwrap() {
			all = append(all, faultsOf(path, e)...)
		}
		return all
	}
	if errors.As(err, &one) {
		return []faultView{{File: one.File, Line: one.Line, Message: one.Msg}}
	}
	return []faultView{{File: path, Message: err.Error()}}
}

// Run checks definitions and says every fault with its place.
func (c judgesValidateCmd) Run(s *state) error {
	failed := false
	found := validated{Judges: []judgeView{}, Faults: []faultView{}}
	for _, path := range c.Paths {
		judges, err := judge.LoadDefinitions(path)
		if _, taken := catalogue(builtin.Judges(), judges); taken != nil {
			err = errors.Join(err, taken)
		}
		if err != nil {
			var place *judge.DefinitionError
			var usage usageError
			if !errors.As(err, &place) && !errors.As(err, &usage) {
				return usageError{err}
			}
			failed = true
			if c.JSON {
				found.Faults = append(found.Faults, faultsOf(path, err)...)
			} else {
				s.say("%v", err)
			}
		}
		for _, j := range judges {
			if c.JSON {
				found.Judges = append(found.Judges, viewJudge(j, false))
				continue
			}
			fmt.Fprintf(s.stdout, "%s: version %s, %s, %s\n", j.Name, shortHash(j.PromptVersion),
				plural(len(j.Labels), "label", "labels"), plural(len(j.Checks), "check", "checks"))
			for _, note := range j.Notes {
				s.say("note: %s", note)
			}
		}
	}
	if c.JSON {
		found.OK = !failed
		if err := s.writeJSON(found); err != nil {
			return err
		}
	}
	if failed {
		return errFailed
	}
	return nil
}

// shortHash is enough of a hash for a person to compare.
func shortHash(hash string) string { return hash[:min(12, len(hash))] }
