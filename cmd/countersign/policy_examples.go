package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/store"
)

type refreshExamplesCmd struct {
	projectFlags
	judgesFlag
	Comment string `help:"Why; kept with the version and in the audit log." placeholder:"TEXT"`
}

// Run draws examples anew. A judge whose examples change has another prompt
// version, so what it judges from then on is told apart from what it judged before.
func (c refreshExamplesCmd) Run(ctx context.Context, s *state) error {
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		before, err := db.ProjectNamed(ctx, c.Project)
		if err != nil {
			return err
		}
		if len(before.Policy.WithExamples()) == 0 {
			return usagef("the policy of project %s asks for no drawn examples: a rule for citations or reference does, such as examples: {from: confirmed, count: 3, seed: 1}", c.Project)
		}
		after, err := db.RefreshExamples(ctx, s.operator(), c.Project, c.Comment, builtins...)
		if err != nil {
			return err
		}
		if err := sayExamples(ctx, s, db, c.Project); err != nil {
			return err
		}
		if after.Policy.Version == before.Policy.Version {
			s.say("the draw gives the same examples again: nothing was changed")
			return nil
		}
		s.say("the examples were drawn anew: the policy of project %s is version %d now, and says the same as before", c.Project, after.Policy.Version)
		return nil
	})
}

// sayExamples tells what was drawn for the present policy of a project.
func sayExamples(ctx context.Context, s *state, db *store.Store, project string) error {
	draws, err := db.ExampleDraws(ctx, project)
	for _, d := range draws {
		if w := d.Warning(); w != "" {
			s.say("%s", w)
			continue
		}
		var classes string
		for i, e := range d.Examples {
			if i > 0 {
				classes += ", "
			}
			classes += fmt.Sprintf("%s (%s)", e.TraceID, e.Class)
		}
		s.say("judge %s has examples drawn with version %d of the policy: %s", d.Judge, d.PolicyVersion, classes)
	}
	return err
}
