package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

type policyCmd struct {
	Show            policyShowCmd      `cmd:"" help:"Print the policy of a project as YAML, or the list of its versions."`
	Set             policySetCmd       `cmd:"" help:"Make a file the policy of a project. Servers follow it at once."`
	RefreshExamples refreshExamplesCmd `cmd:"" name:"refresh-examples" help:"Draw the examples that the policy asks for anew, from what people have confirmed by now."`
	DryRun          policyDryRunCmd    `cmd:"" name:"dry-run" help:"Show what a policy would have sent to people, and the hours it would cost. Nothing is changed or called."`
}

type policyShowCmd struct {
	projectFlags
	Version int  `help:"Show this version instead of the present one." placeholder:"N"`
	History bool `help:"List every version: when, by whom, why."`
	JSON    bool `help:"Write JSON."`
}

// policyView is a version of a policy as --json shows it.
type policyView struct {
	Version int          `json:"version"`
	Author  string       `json:"author"`
	Comment string       `json:"comment"`
	At      time.Time    `json:"at,omitzero"` // none: the project is not there yet
	Policy  judge.Policy `json:"policy"`
}

func viewPolicy(v store.PolicyVersion) policyView {
	return policyView{Version: v.Version, Author: v.Author, Comment: v.Comment, At: v.At, Policy: v.Policy}
}

// Run prints a policy, alone on standard output, so that it can be edited and
// given to `policy set`. A project that is not there yet has the default one;
// nothing is made by asking.
func (c policyShowCmd) Run(ctx context.Context, s *state) error {
	if c.Version < 0 || c.Version == 0 && s.byName["version"] {
		return usagef("--version is %d: versions count from 1", c.Version)
	}
	there, err := c.exists(ctx, s)
	if err != nil {
		return err
	}
	if !there {
		return c.absent(s)
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		project, err := db.ProjectNamed(ctx, c.Project)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return c.absent(s)
		case err != nil:
			return err
		case c.History:
			return c.history(ctx, s, db)
		}
		version := cmp.Or(c.Version, project.Policy.Version)
		v, err := db.PolicyAt(ctx, s.operator(), c.Project, version)
		if errors.Is(err, store.ErrNotFound) {
			return c.noVersion(ctx, s, db)
		}
		if err != nil {
			return err
		}
		return c.print(s, v, fmt.Sprintf("policy of project %s, version %d%s", c.Project, v.Version, byWhom(v)))
	})
}

func (c policyShowCmd) print(s *state, v store.PolicyVersion, what string) error {
	if c.JSON {
		return s.writeJSON(viewPolicy(v))
	}
	s.say("%s", what)
	_, err := s.stdout.Write(v.Policy.YAML())
	return err
}

// absent is a project that nobody has imported anything into yet.
func (c policyShowCmd) absent(s *state) error {
	v := store.PolicyVersion{Version: 1, Policy: judge.DefaultPolicy()}
	switch {
	case c.Version > 1:
		return usagef("project %s is not there yet: its policy has version 1 only, the default one", c.Project)
	case c.History && c.JSON:
		return s.writeJSON([]policyView{})
	case c.History:
		s.say("project %s is not there yet: there is no history of its policy", c.Project)
		return nil
	}
	return c.print(s, v, fmt.Sprintf("project %s is not there yet: this is the default policy, with which it begins", c.Project))
}

// noVersion says which versions there are.
func (c policyShowCmd) noVersion(ctx context.Context, s *state, db *store.Store) error {
	all, err := db.Policies(ctx, s.operator(), c.Project)
	if err != nil {
		return err
	}
	if len(all) == 1 {
		return usagef("the policy of project %s has no version %d: there is only version %d", c.Project, c.Version, all[0].Version)
	}
	return usagef("the policy of project %s has no version %d: there are %d to %d; policy show --history lists them",
		c.Project, c.Version, all[len(all)-1].Version, all[0].Version)
}

func byWhom(v store.PolicyVersion) string {
	text := ", since " + v.At.Format(time.RFC3339)
	if v.Author != "" {
		text += ", by " + v.Author
	}
	if v.Comment != "" {
		text += ": " + v.Comment
	}
	return text
}

func (c policyShowCmd) history(ctx context.Context, s *state, db *store.Store) error {
	all, err := db.Policies(ctx, s.operator(), c.Project)
	if err != nil {
		return err
	}
	if c.JSON {
		views := []policyView{}
		for _, v := range all {
			views = append(views, viewPolicy(v))
		}
		return s.writeJSON(views)
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERSION\tSINCE\tBY\tWHY")
	for _, v := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", v.Version, v.At.Format(time.RFC3339), v.Author, strings.Join(strings.Fields(v.Comment), " "))
	}
	return w.Flush()
}

// policyFile is the argument that names a policy.
type policyFile struct {
	File string `arg:"" help:"The policy as YAML, as policy show prints it; - is standard input."`
}

// read gives the policy of the file. A fault is told with its line.
func (f policyFile) read(s *state) (judge.Policy, error) {
	var data []byte
	var err error
	name := f.File
	if f.File == "-" {
		name = "standard input"
		data, err = io.ReadAll(io.LimitReader(s.stdin, maxPolicyFile))
	} else {
		data, err = os.ReadFile(f.File)
	}
	if err != nil {
		return judge.Policy{}, usagef("the policy: %w", err)
	}
	p, err := judge.ParsePolicy(name, data)
	if err != nil {
		return p, usageError{err}
	}
	return p, nil
}

// maxPolicyFile is more than any policy has, and keeps a mistaken pipe out.
const maxPolicyFile = 16 << 20

type policySetCmd struct {
	policyFile
	projectFlags
	judgesFlag
	Comment string `help:"Why; kept with the version and in the audit log." placeholder:"TEXT"`
}

// Run sets a policy. A file that names a version changes that version only, so
// that nobody overwrites what somebody else has set meanwhile.
func (c policySetCmd) Run(ctx context.Context, s *state) error {
	p, err := c.read(s)
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.open, func(db *store.Store) error {
		project, err := c.project(ctx, s, db)
		if err != nil {
			return err
		}
		warnings, err := c.warnings(ctx, s, db, p)
		if err != nil {
			return err
		}
		if p.Version == 0 {
			p.Version = project.Policy.Version
		}
		builtins, err := c.builtins(s)
		if err != nil {
			return err
		}
		changed, err := db.SetPolicy(ctx, s.operator(), c.Project, p, c.Comment, builtins...)
		switch {
		case errors.Is(err, store.ErrConflict):
			return usagef("the policy of project %s is version %d and the file changes version %d: take over what was changed (countersign policy show) and set it again, or leave version out of the file to replace whatever is there",
				c.Project, project.Policy.Version, p.Version)
		case err != nil:
			return err
		}
		for _, name := range c.notConfigured(s, p) {
			s.say("the configuration here has no endpoint %s: what is planned for it is judged only where it has", name)
		}
		for _, w := range warnings {
			s.say("%s", w)
		}
		if err := sayExamples(ctx, s, db, c.Project); err != nil {
			return err
		}
		if changed.Policy.Version == project.Policy.Version {
			s.say("the policy of project %s says this already: it stays version %d, and nothing was changed", c.Project, project.Policy.Version)
			return nil
		}
		s.say("the policy of project %s is version %d now, before it was %d", c.Project, changed.Policy.Version, project.Policy.Version)
		return nil
	})
}

// project is made where it is not there yet: a policy may come before the first
// traces.
func (c policySetCmd) project(ctx context.Context, s *state, db *store.Store) (store.Project, error) {
	project, err := db.ProjectNamed(ctx, c.Project)
	if !errors.Is(err, store.ErrNotFound) {
		return project, err
	}
	if project, err = db.EnsureProject(ctx, s.operator(), c.Project); err == nil {
		s.say("project %s is new, with the default policy as its version 1", c.Project)
	}
	return project, err
}

// warnings of rules for judges that the project does not know.
func (c policySetCmd) warnings(ctx context.Context, s *state, db *store.Store, p judge.Policy) ([]string, error) {
	builtins, err := c.builtins(s)
	if err != nil {
		return nil, err
	}
	own, err := c.own()
	if err != nil {
		return nil, err
	}
	kept, err := projectJudges(ctx, db, c.Project, nil)
	if err != nil {
		return nil, err
	}
	all, err := catalogue(builtins, own, kept)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, j := range all {
		known = append(known, j.Name)
	}
	return p.UnknownJudges(known), nil
}

// notConfigured are the endpoints that a policy's models name and that this
// configuration does not have.
func (policySetCmd) notConfigured(s *state, p judge.Policy) []string {
	var missing []string
	note := func(models []judge.ModelChoice) {
		for _, m := range models {
			if _, ok := s.settings.Endpoints[m.Endpoint]; m.Endpoint != "" && !ok {
				missing = append(missing, m.Endpoint)
			}
		}
	}
	note(p.Models)
	for _, r := range p.Rules {
		note(r.Models)
	}
	return missing
}
