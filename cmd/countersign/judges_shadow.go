package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

type judgesShadowCmd struct {
	Start judgesShadowStartCmd `cmd:"" help:"Start the shadow run of a version. What it says counts for nothing."`
	Stop  judgesShadowStopCmd  `cmd:"" help:"Stop it; what is queued for it is still judged."`
	List  judgesShadowListCmd  `cmd:"" help:"List the shadow runs of a judge."`
}

type judgesShadowStartCmd struct {
	Name string `arg:"" help:"Name of the judge."`
	projectFlags
	judgesFlag
	Version  string  `help:"A version that the project has, by its hash or the first 8 digits of it, instead of the one of --judges. Without either: the one in use." placeholder:"HASH"`
	Engine   string  `help:"What judges: openai or rules." default:"openai" placeholder:"NAME"`
	Model    string  `help:"Model that is asked." placeholder:"NAME"`
	Endpoint string  `help:"Endpoint of the configuration that is asked; the default one without." placeholder:"NAME"`
	Samples  int     `help:"Answers that the model is asked for." placeholder:"N"`
	Share    float64 `help:"Chance of each new trace, above 0 and at most 1." default:"1" placeholder:"SHARE"`
	Reason   string  `required:"" help:"Why, in a sentence." placeholder:"TEXT"`
}

// Run starts a shadow.
func (c judgesShadowStartCmd) Run(ctx context.Context, s *state) error {
	if c.Engine == judge.EngineRules {
		c.Model = judge.EngineRules
	}
	if c.Model == "" {
		return usagef("name the model that judges with --model")
	}
	if c.Samples < 0 || c.Samples > mostSamples {
		return usagef("--samples is %d: it lies between 1 and %d", c.Samples, mostSamples)
	}
	own, err := c.own()
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		version, err := c.version(ctx, s, db, own)
		if err != nil {
			return err
		}
		sh, err := db.StartShadow(ctx, s.operator(), c.Project, judge.Planned{Judge: c.Name, PromptVersion: version, Engine: c.Engine, Model: c.Model,
			Endpoint: c.Endpoint, Samples: c.Samples, Judgment: judge.NoJudgment}, c.Share, c.Reason)
		if errors.Is(err, store.ErrConflict) {
			return usagef("a shadow of judge %s runs already: end it with countersign judges shadow stop %s", c.Name, c.Name)
		}
		if err != nil {
			return err
		}
		s.say("version %s of judge %s judges %g%% of new traces in the shadow from now on", shortHash(sh.Target.PromptVersion), c.Name, 100*sh.Share)
		return nil
	})
}

// version is the one that is named, or the one of a definition given, which the
// project keeps without using it.
func (c judgesShadowStartCmd) version(ctx context.Context, s *state, db *store.Store, own []judge.Judge) (string, error) {
	if c.Version != "" {
		v, err := db.JudgeVersion(ctx, s.operator(), c.Project, c.Name, c.Version)
		if errors.Is(err, store.ErrNotFound) {
			return "", usagef("project %s has no version %s of judge %s; it has %s", c.Project, c.Version, c.Name, versionsOf(ctx, s, db, c.Project, c.Name))
		}
		return v.PromptVersion, err
	}
	versions, err := db.JudgeVersions(ctx, s.operator(), c.Project, c.Name)
	if err != nil {
		return "", err
	}
	for _, j := range own {
		if j.Name == c.Name && !versions[0].Builtin {
			_, err := db.SaveVersion(ctx, s.operator(), c.Project, j)
			return j.PromptVersion, err
		}
	}
	for _, v := range versions {
		if v.Current && len(own) == 0 { // the version in use, by another model
			return v.PromptVersion, nil
		}
	}
	return "", usagef("--judges holds no definition of judge %s that could be one of its versions: name one with --version, or give its definition", c.Name)
}

type judgesShadowStopCmd struct {
	Name string `arg:"" help:"Name of the judge."`
	projectFlags
	Reason string `help:"Why, in a sentence." placeholder:"TEXT"`
}

// Run stops the shadow of a judge.
func (c judgesShadowStopCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		err := db.StopShadow(ctx, s.operator(), c.Project, c.Name, c.Reason)
		if errors.Is(err, store.ErrConflict) {
			return usagef("no shadow of judge %s runs in project %s", c.Name, c.Project)
		}
		if err != nil {
			return err
		}
		s.say("the shadow of judge %s is stopped", c.Name)
		return nil
	})
}

type judgesShadowListCmd struct {
	Name string `arg:"" help:"Name of the judge."`
	projectFlags
	JSON bool `help:"Write JSON."`
}

// shadowView is a shadow run as --json shows it.
type shadowView struct {
	Version   string    `json:"prompt_version"`
	Engine    string    `json:"engine"`
	Model     string    `json:"model"`
	Endpoint  string    `json:"endpoint,omitempty"`
	Share     float64   `json:"share"`
	State     string    `json:"state"`
	Reason    string    `json:"reason"`
	StartedBy string    `json:"started_by"`
	StartedAt time.Time `json:"started_at"`
	StoppedAt time.Time `json:"stopped_at,omitzero"`
}

// Run lists shadow runs.
func (c judgesShadowListCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		list, err := db.Shadows(ctx, s.operator(), c.Project, c.Name)
		if err != nil {
			return err
		}
		if c.JSON {
			views := []shadowView{}
			for _, x := range list {
				views = append(views, shadowView{x.Target.PromptVersion, x.Target.Engine, x.Target.Model, x.Target.Endpoint, x.Share, x.State, x.Reason, x.StartedBy, x.StartedAt, x.StoppedAt})
			}
			return s.writeJSON(views)
		}
		w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "STATE\tVERSION\tMODEL\tSHARE\tSINCE\tBY\tWHY")
		for _, x := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%g%%\t%s\t%s\t%s\n", x.State, shortHash(x.Target.PromptVersion), x.Target.Model, 100*x.Share, x.StartedAt.Format(time.RFC3339), x.StartedBy, x.Reason)
		}
		return w.Flush()
	})
}
