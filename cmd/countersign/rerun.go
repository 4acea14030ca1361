package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

type rerunCmd struct {
	Start rerunStartCmd `cmd:"" default:"withargs" help:"Say what judging history again would cost, and with --yes do it."`
	List  rerunListCmd  `cmd:"" help:"List the re-runs of a project."`
	Stop  rerunStopCmd  `cmd:"" help:"Queue no more of a re-run; what is queued stays."`
}

type rerunStartCmd struct {
	projectFlags
	judgesFlag
	engineFlags
	OpenAIBaseURL string `name:"openai-base-url" help:"Address of an OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`

	Judge     string  `help:"Judge whose history is judged again." placeholder:"NAME"`
	RunName   string  `name:"run" help:"Only the traces of this run, which then pays." placeholder:"NAME"`
	Failed    bool    `help:"Only what failed or gave invalid output, by the judge and model that it was planned for. With --run and without --judge: of all judges."`
	Version   string  `help:"Version of the judge that judges, by its hash or the first 8 digits of it; the present one without." placeholder:"HASH"`
	OfVersion string  `help:"Only what this version judged." placeholder:"HASH"`
	OfModel   string  `help:"Only what this model judged." placeholder:"NAME"`
	Since     string  `help:"Only what was queued then or later: a date or a time." placeholder:"TIME"`
	Budget    float64 `help:"Most that the run may cost, in dollars, with what it has cost already. Needs --run." placeholder:"USD"`
	Yes       bool    `help:"Do it; without, only the estimate is shown."`
	AtOnce    bool    `help:"Judge at once, without a server."`
	JSON      bool    `help:"Write JSON."`
}

// rerunView is an estimate, and with --yes the re-run, as --json shows it.
type rerunView struct {
	ID       string              `json:"id,omitempty"`
	Ask      store.RerunAsk      `json:"ask"`
	Estimate store.RerunEstimate `json:"estimate"`
}

// Run shows the estimate first. Nothing is queued without --yes.
func (c rerunStartCmd) Run(ctx context.Context, s *state) error {
	since, err := parseSince(c.Since)
	if err != nil {
		return err
	}
	switch {
	case c.Judge == "" && !c.Failed:
		return usagef("say whose history is judged again with --judge, or what failed in a run with --failed and --run")
	case c.Judge == "" && c.RunName == "":
		return usagef("--failed needs --judge or --run")
	case c.Failed && (c.Version != "" || s.byName["model"] || s.byName["endpoint"] || s.byName["samples"]):
		return usagef("--failed judges again as it was planned: leave out --version, --model, --endpoint and --samples")
	case !(c.Budget >= 0 && c.Budget <= mostBudget) || (c.Budget == 0 && s.byName["budget"]):
		return usagef("--budget is %v: give an amount in dollars above 0, at most %s", c.Budget, thousands(mostBudget))
	case c.Budget > 0 && c.RunName == "":
		return usagef("--budget goes with --run: a budget belongs to a run")
	}
	engines, err := c.engines(s, c.OpenAIBaseURL)
	if err != nil {
		return err
	}
	if c.Budget > 0 && !c.Failed {
		if err := engines.priced(); err != nil {
			return err
		}
	}
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	own, err := c.own()
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		project, err := db.ProjectNamed(ctx, c.Project)
		if err != nil {
			return err
		}
		judges, err := newHarnesses(ctx, s, db, builtins, engines)
		if err != nil {
			return err
		}
		if _, err := judges.with(ctx, project, own); err != nil {
			return err
		}
		if c.Judge == "" {
			err = c.retryRun(ctx, s, db)
		} else {
			err = c.again(ctx, s, judges, engines, since)
		}
		if err != nil || !c.Yes || !c.AtOnce {
			return err
		}
		if err := judges.rerunAll(ctx); err != nil {
			return err
		}
		judged, err := drain(ctx, judges, project.Name, c.Concurrency)
		s.say("%s judged", plural(judged, "evaluation", "evaluations"))
		if err == nil {
			err = tellStopped(ctx, s, db, project.Name, c.RunName)
		}
		return err
	})
}

// retryRun queues what failed in a run, of whatever judge.
func (c rerunStartCmd) retryRun(ctx context.Context, s *state, db *store.Store) error {
	run, err := db.Run(ctx, s.operator(), c.Project, c.RunName)
	if err != nil {
		return err
	}
	if !c.Yes {
		s.say("%s of run %s failed; what they cost again is not known before. Nothing was queued: --yes does it, and with --judge an estimate is made",
			plural(run.Failed, "evaluation", "evaluations"), c.RunName)
		return nil
	}
	if c.Budget > 0 {
		if _, err := db.SetRunBudget(ctx, s.operator(), c.Project, c.RunName, &c.Budget); err != nil {
			return err
		}
	}
	n, err := db.RetryRun(ctx, s.operator(), c.Project, c.RunName)
	if err == nil {
		s.say("%s of run %s queued again", plural(n, "evaluation", "evaluations"), c.RunName)
	}
	return err
}

// again estimates a re-run for each target and starts those that are asked for.
func (c rerunStartCmd) again(ctx context.Context, s *state, judges *harnesses, e engines, since time.Time) error {
	ask := store.RerunAsk{Kind: store.RerunFailed, Judge: c.Judge, Run: c.RunName, OfModel: c.OfModel, Since: since}
	if c.Budget > 0 {
		ask.BudgetUSD = &c.Budget
	}
	var err error
	if ask.OfVersion, err = c.wholeVersion(ctx, s, judges.db, c.OfVersion); err != nil {
		return err
	}
	if c.Failed {
		view, err := c.estimateAndStart(ctx, s, judges.db, ask, store.Price{})
		return c.show(s, []rerunView{view}, err)
	}
	version, err := c.version(ctx, s, judges)
	if err != nil {
		return err
	}
	ask.Kind = store.RerunVersion
	if s.byName["model"] || s.byName["endpoint"] || s.byName["samples"] || s.byName["engine"] {
		ask.Kind = store.RerunModel
	}
	var views []rerunView
	for _, t := range e.targets {
		ask.Target = planned(t)
		ask.Target.Judge, ask.Target.PromptVersion, ask.Target.Judgment = c.Judge, version, judge.NoJudgment
		if t.Engine == judge.EngineRules {
			ask.Target.Model = judge.EngineRules
		}
		if ask.Target.Samples == 1 {
			ask.Target.Samples = 0 // 1 is never written
		}
		view, err := c.estimateAndStart(ctx, s, judges.db, ask, e.price(t))
		if err != nil {
			return err
		}
		views = append(views, view)
	}
	return c.show(s, views, nil)
}

// version that judges: the one asked for, if it can be run here, else the present
// one.
func (c rerunStartCmd) version(ctx context.Context, s *state, judges *harnesses) (string, error) {
	h, err := judges.of(ctx, c.Project)
	if err != nil {
		return "", err
	}
	present, ok := h.Judge(c.Judge)
	switch {
	case c.Version == "" && !ok:
		return "", usagef("project %s has no judge %q: countersign judges list shows those that it has", c.Project, c.Judge)
	case c.Version == "":
		return present.PromptVersion, nil
	}
	version, err := c.wholeVersion(ctx, s, judges.db, c.Version)
	if err != nil {
		return "", err
	}
	j, err := judges.definition(ctx, c.Project, judge.Planned{Judge: c.Judge, PromptVersion: version})
	if err == nil && j == nil {
		err = usagef("version %s of judge %s can be shown and not be run: its checks are code that this program does not have; leave out --version and the present one judges",
			shortHash(version), c.Judge)
	}
	return version, err
}

// wholeVersion is the hash of a version that a few digits name.
func (c rerunStartCmd) wholeVersion(ctx context.Context, s *state, db *store.Store, version string) (string, error) {
	if version == "" {
		return "", nil
	}
	v, err := db.JudgeVersion(ctx, s.operator(), c.Project, c.Judge, version)
	if errors.Is(err, store.ErrNotFound) {
		return "", usagef("project %s has no version %s of judge %s; it has %s", c.Project, version, c.Judge, versionsOf(ctx, s, db, c.Project, c.Judge))
	}
	return v.PromptVersion, err
}

func (c rerunStartCmd) estimateAndStart(ctx context.Context, s *state, db *store.Store, ask store.RerunAsk, price store.Price) (rerunView, error) {
	estimate, err := db.EstimateRerun(ctx, s.operator(), c.Project, ask, price)
	if err != nil {
		return rerunView{}, err
	}
	view := rerunView{Ask: ask, Estimate: estimate}
	switch {
	case !c.Yes:
		return view, nil
	case estimate.Evaluations == 0 && c.Budget > 0: // what a smaller one put on hold goes on
		_, err := db.SetRunBudget(ctx, s.operator(), c.Project, c.RunName, &c.Budget)
		return view, err
	case estimate.Evaluations == 0:
		return view, nil
	}
	r, err := db.StartRerun(ctx, s.operator(), c.Project, ask, estimate)
	view.ID = r.ID
	return view, err
}

// show says what was found and done.
func (c rerunStartCmd) show(s *state, views []rerunView, err error) error {
	if err != nil {
		return err
	}
	if c.JSON {
		return s.writeJSON(views)
	}
	started := false
	for _, v := range views {
		if _, err := fmt.Fprintln(s.stdout, v); err != nil {
			return err
		}
		started = started || v.ID != ""
	}
	switch {
	case started && !c.AtOnce:
		s.say("started: servers queue it behind what is imported, and judge it; countersign rerun list shows how far it is")
	case !c.Yes:
		s.say("nothing was queued: --yes does it")
	}
	return nil
}

// String is an estimate in words.
func (v rerunView) String() string {
	e := v.Estimate
	who := "as planned"
	if v.Ask.Kind != store.RerunFailed {
		who = "by " + v.Ask.Target.Model
		if v.Ask.Target.Endpoint != "" {
			who += " at " + v.Ask.Target.Endpoint
		}
		if v.Ask.Target.Samples > 1 {
			who += fmt.Sprintf(", %d answers each", v.Ask.Target.Samples)
		}
		who += ", version " + shortHash(v.Ask.Target.PromptVersion)
	}
	text := fmt.Sprintf("judge %s, %s: %s", v.Ask.Judge, who, plural(e.Evaluations, "evaluation", "evaluations"))
	if e.AlreadyThere > 0 {
		text += fmt.Sprintf(" (%s there already)", plural(e.AlreadyThere, "is", "are"))
	}
	if e.Basis == store.BasisNothing {
		return text + "; costs nothing"
	}
	text += fmt.Sprintf("; about %s prompt and %s reply tokens", thousands(int(math.Round(e.PromptTokens.Mid))), thousands(int(math.Round(e.CompletionTokens.Mid))))
	if !e.Priced {
		return text + "; the cost is not known, since no price of the model is configured"
	}
	text += fmt.Sprintf("; about $%.4f ($%.4f to $%.4f)", e.CostUSD.Mid, e.CostUSD.Low, e.CostUSD.High)
	if e.Basis == store.BasisJudge {
		return text + fmt.Sprintf(", by what %s of this judge took", plural(e.Sampled, "evaluation", "evaluations"))
	}
	return text + ", by the length of the traces; replies are guessed"
}

type rerunListCmd struct {
	projectFlags
	JSON bool `help:"Write JSON."`
}

// Run lists re-runs, the newest first.
func (c rerunListCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		all, err := db.Reruns(ctx, s.operator(), c.Project, 0)
		if err != nil {
			return err
		}
		if c.JSON {
			return s.writeJSON(append([]store.Rerun{}, all...))
		}
		w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tJUDGE\tWHAT\tSTATE\tQUEUED\tSKIPPED\tASKED BY\tAT")
		for _, r := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, r.Ask.Judge, strings.TrimSpace(r.Ask.Kind+" "+r.Ask.Target.Model), r.State,
				thousands(r.Queued), thousands(r.Skipped), r.AskedBy, r.CreatedAt.Format(time.RFC3339))
		}
		return w.Flush()
	})
}

type rerunStopCmd struct {
	ID string `arg:"" help:"The re-run."`
	projectFlags
}

// Run stops a re-run.
func (c rerunStopCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		err := db.StopRerun(ctx, s.operator(), c.Project, c.ID)
		if errors.Is(err, store.ErrConflict) {
			return usagef("re-run %s is not being queued any more: there is nothing to stop", c.ID)
		}
		if err == nil {
			s.say("re-run %s is stopped; what it has queued is judged", c.ID)
		}
		return err
	})
}
