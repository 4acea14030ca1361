package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/store"
)

// versionView is a version of a judge that a project has used, as --json shows it.
type versionView struct {
	judgeView
	Current     bool              `json:"current"`
	FirstUsed   time.Time         `json:"first_used"`
	Evaluations int               `json:"evaluations"`
	Blocks      map[string]string `json:"blocks,omitempty"` // what fills the prompt beside the trace, by placeholder
	Definition  string            `json:"definition"`
}

// stored shows a version as the project keeps it, whatever this program and the
// command line know of the judge.
func (c judgesShowCmd) stored(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		v, err := db.JudgeVersion(ctx, s.operator(), c.Project, c.Name, c.Version)
		if errors.Is(err, store.ErrNotFound) {
			return usagef("project %s has no version %s of judge %s; it has %s", c.Project, c.Version, c.Name, versionsOf(ctx, s, db, c.Project, c.Name))
		}
		if err != nil {
			return err
		}
		if c.JSON {
			return s.writeJSON(viewVersion(v))
		}
		current := ""
		if v.Current {
			current = ", the present one"
		}
		s.say("judge %s, version %s%s: first used %s, %s", v.Name, v.PromptVersion, current, v.CreatedAt.Format(time.RFC3339),
			plural(v.Evaluations, "evaluation", "evaluations"))
		if v.Snapshot.Prompt == "" {
			s.say("it is from before prompts were kept with their version: what its definition names beside itself is not known")
		}
		_, err = fmt.Fprintln(s.stdout, strings.TrimRight(v.Definition, "\n"))
		return err
	})
}

// versionsOf names the versions that there are, for the message about one that
// is not.
func versionsOf(ctx context.Context, s *state, db *store.Store, project, name string) string {
	all, err := db.JudgeVersions(ctx, s.operator(), project, name)
	if err != nil || len(all) == 0 {
		return "none"
	}
	var known []string
	for _, v := range all {
		known = append(known, shortHash(v.PromptVersion))
	}
	return strings.Join(known, ", ")
}

func viewVersion(v store.JudgeVersion) versionView {
	view := versionView{
		judgeView: judgeView{
			Name: v.Name, Description: v.Snapshot.Description, PromptVersion: v.PromptVersion, Builtin: v.Builtin,
			Inputs: []inputView{}, Labels: []labelView{}, Checks: []checkView{},
			Ordinal: v.Ordinal, MaxRepairs: v.Snapshot.MaxRepairs, Band: v.Snapshot.Band,
			Prompt: v.Snapshot.Prompt, Schema: json.RawMessage(v.Snapshot.Schema),
		},
		Current: v.Current, FirstUsed: v.CreatedAt, Evaluations: v.Evaluations, Blocks: v.Snapshot.Blocks, Definition: v.Definition,
	}
	for _, in := range v.Snapshot.Inputs {
		view.Inputs = append(view.Inputs, inputView(in))
	}
	for _, l := range v.Labels {
		view.Labels = append(view.Labels, labelView(l))
	}
	for _, check := range v.Snapshot.Checks {
		view.Checks = append(view.Checks, checkView(check))
	}
	return view
}
