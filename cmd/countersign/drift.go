package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

type driftCmd struct {
	Show     driftShowCmd     `cmd:"" default:"withargs" help:"Show each measure of judges against its baseline."`
	Freeze   driftFreezeCmd   `cmd:"" help:"Freeze how a judge does now as its baseline."`
	Close    driftCloseCmd    `cmd:"" help:"Close an alarm with what was found."`
	Sentinel driftSentinelCmd `cmd:"" help:"Say which run is a judge's sentinel set and how often it is judged again."`
}

type driftShowCmd struct {
	projectFlags
	Judge string `help:"Only this judge." placeholder:"NAME"`
	Look  bool   `help:"Freeze first baselines and open alarms now, as servers do every few minutes."`
	JSON  bool   `help:"Write JSON: one object for each judge, model and prompt version."`
}

// watchedView is a judge's drift as --json shows it.
type watchedView struct {
	Judge         string             `json:"judge"`
	Model         string             `json:"model"`
	PromptVersion string             `json:"prompt_version"`
	Drift         *calibration.Drift `json:"drift"`
}

// Run shows how judges stand.
func (c driftShowCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		if c.Look {
			opened, err := db.LookForDrift(ctx)
			if err != nil {
				return err
			}
			s.say("%s opened", plural(opened, "alarm", "alarms"))
		}
		reports, err := db.Drift(ctx, s.operator(), c.Project, c.Judge)
		if err != nil {
			return err
		}
		if c.JSON {
			views := make([]watchedView, len(reports))
			for i, r := range reports {
				views[i] = watchedView{r.Judge, r.Model, r.PromptVersion, r.Written()}
			}
			return s.writeJSON(views)
		}
		if len(reports) == 0 {
			s.say("no judge has given a verdict yet")
			return nil
		}
		return c.table(s, reports)
	})
}

func (c driftShowCmd) table(s *state, reports []store.DriftReport) error {
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "JUDGE\tMODEL\tVERSION\tMEASURE\tBASELINE\tSINCE THEN\tN\tE-VALUE\tSTATE")
	for _, r := range reports {
		who := fmt.Sprintf("%s\t%s\t%s", r.Judge, r.Model, shortHash(r.PromptVersion))
		if r.Baseline == nil {
			fmt.Fprintf(w, "%s\t-\t-\t-\t%s\t-\tno baseline\n", who, thousands(r.Labels))
		}
		for _, m := range r.Monitors {
			state, evidence := "steady", fmt.Sprintf("%.3g of %.0f", m.Evidence.Value(), m.Threshold)
			if m.Unwatched != "" {
				state, evidence = m.Unwatched, "-"
			}
			if m.Open != nil {
				state = fmt.Sprintf("alarm %s: %s than the baseline", m.Open.ID, m.Open.Direction())
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", who, m.Name, estimate(m.Baseline), sinceThen(m), thousands(m.Value.N), evidence, state)
		}
	}
	return w.Flush()
}

// sinceThen is what was found, with its confidence sequence: it may be looked at again
// and again. A repeat of the sentinel set has the interval of itself alone.
func sinceThen(m store.DriftMonitor) string {
	if !m.Value.Defined() || m.Unwatched != "" {
		return estimate(m.Value)
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", m.Value.Value, m.Sequence.Low, m.Sequence.High)
}

type driftFreezeCmd struct {
	projectFlags
	Judge   string `required:"" help:"The judge." placeholder:"NAME"`
	Model   string `required:"" help:"Its model, as countersign calibration names it." placeholder:"NAME"`
	Version string `required:"" help:"Its version, by its hash or the first 8 digits of it." placeholder:"HASH"`
}

// Run freezes a baseline.
func (c driftFreezeCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		version, err := c.version(ctx, s, db)
		if err != nil {
			return err
		}
		b, err := db.FreezeBaseline(ctx, s.operator(), c.Project, c.Judge, c.Model, version)
		if err != nil {
			return err
		}
		s.say("frozen: %s of random audits, %d of them agree; %s", plural(b.Counts.Labels, "label", "labels"), b.Counts.Agreed, plural(b.Counts.Verdicts, "verdict", "verdicts"))
		return nil
	})
}

// version is one that has judged, as countersign drift lists it, or a stored one. Recorded
// reports may be of a version that was never stored.
func (c driftFreezeCmd) version(ctx context.Context, s *state, db *store.Store) (string, error) {
	reports, err := db.Drift(ctx, s.operator(), c.Project, c.Judge)
	if err != nil {
		return "", err
	}
	for _, r := range reports {
		if r.Judge == c.Judge && r.Model == c.Model && (r.PromptVersion == c.Version || shortHash(r.PromptVersion) == c.Version) {
			return r.PromptVersion, nil
		}
	}
	v, err := db.JudgeVersion(ctx, s.operator(), c.Project, c.Judge, c.Version)
	return v.PromptVersion, err
}

type driftCloseCmd struct {
	projectFlags
	ID     string `arg:"" help:"The alarm; countersign drift shows it."`
	Reason string `required:"" help:"What was found." placeholder:"TEXT"`
}

// Run closes an alarm.
func (c driftCloseCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		a, err := db.CloseAlarm(ctx, s.operator(), c.Project, c.ID, c.Reason)
		if err == nil {
			s.say("closed: %s of judge %s is counted anew from now on", a.Monitor, a.Judge)
		}
		return err
	})
}

type driftSentinelCmd struct {
	projectFlags
	judgesFlag
	engineFlags
	OpenAIBaseURL string  `name:"openai-base-url" help:"Address of an OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`
	Judge         string  `help:"The judge." placeholder:"NAME"`
	RunName       string  `name:"run" help:"The run whose labelled traces are the set." placeholder:"NAME"`
	Every         int     `help:"Judge them again every so many days; 0 ends it." placeholder:"DAYS" default:"7"`
	Budget        float64 `help:"Most that one round by one model may cost, in dollars." placeholder:"USD"`
	AtOnce        bool    `help:"Judge at once what is due, without a server; of every set of every project; alone, or with a set that is named first."`
}

// Run names a set, and with --at-once judges what is due.
func (c driftSentinelCmd) Run(ctx context.Context, s *state) (err error) {
	if c.Judge == "" && !c.AtOnce || (c.Judge == "") != (c.RunName == "") {
		return usagef("give --judge and --run to name a set, and --at-once alone to judge what is due of all sets")
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		if c.Judge != "" {
			var budget *float64
			if s.byName["budget"] {
				budget = &c.Budget
			}
			set, err := db.SetSentinel(ctx, s.operator(), c.Project, c.Judge, c.RunName, c.Every, budget)
			if err != nil {
				return err
			}
			s.say("%s of run %s are the sentinel set of judge %s", plural(set.Traces, "labelled trace", "labelled traces"), set.Run, set.Judge)
		}
		if !c.AtOnce {
			return nil
		}
		judges, err := c.judges(ctx, s, db)
		if err != nil {
			return err
		}
		if err := judges.sentinelsOnce(ctx); err != nil {
			return err
		}
		return c.tell(ctx, s, db)
	})
}

func (c driftSentinelCmd) judges(ctx context.Context, s *state, db *store.Store) (*harnesses, error) {
	engines, err := c.engines(s, c.OpenAIBaseURL)
	if err != nil {
		return nil, err
	}
	builtins, err := c.builtins(s)
	if err != nil {
		return nil, err
	}
	own, err := c.own()
	if err != nil {
		return nil, err
	}
	project, err := db.ProjectNamed(ctx, c.Project)
	if err != nil {
		return nil, err
	}
	judges, err := newHarnesses(ctx, s, db, builtins, engines)
	if err != nil {
		return nil, err
	}
	_, err = judges.with(ctx, project, own)
	return judges, err
}

// tell says how the rounds of the judge stand.
func (c driftSentinelCmd) tell(ctx context.Context, s *state, db *store.Store) error {
	if c.Judge == "" {
		return stopped(ctx)
	}
	_, rounds, err := db.Sentinel(ctx, s.operator(), c.Project, c.Judge)
	if err != nil {
		return err
	}
	for _, r := range rounds {
		problem := r.Problem
		if r.FinishedAt == nil && problem == "" {
			problem = "under way"
		}
		if problem != "" {
			problem = ": " + problem
		}
		s.say("round %d by %s: %d judged, %d without a verdict, $%.4f%s", r.Number, r.Model, r.Judged, r.Failed, r.CostUSD, problem)
	}
	return stopped(ctx)
}
