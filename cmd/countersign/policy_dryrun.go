package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

type policyDryRunCmd struct {
	policyFile
	projectFlags
	judgesFlag
	Last          int    `help:"How many of the newest judged evaluations to route again, 1 to 5000." default:"1000" placeholder:"N"`
	Judge         string `help:"Only those of this judge." placeholder:"NAME"`
	Domain        string `help:"Only those of this domain." placeholder:"NAME"`
	OpenAIBaseURL string `name:"openai-base-url" help:"Address of the default endpoint: the policy may not allow it." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`
	JSON          bool   `help:"Write JSON."`
}

// Run routes what was judged again, under the policy of the file.
func (c policyDryRunCmd) Run(ctx context.Context, s *state) error {
	p, err := c.read(s)
	if err != nil {
		return err
	}
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		if _, err := db.ProjectNamed(ctx, c.Project); errors.Is(err, store.ErrNotFound) {
			return usagef("project %s is not there yet, so nothing was judged that could be routed again: import something first, or name another project with --project", c.Project)
		} else if err != nil {
			return err
		}
		judges, err := readingHarnesses(ctx, s, db, builtins, c.OpenAIBaseURL)
		if err != nil {
			return err
		}
		h, err := judges.of(ctx, c.Project)
		if err != nil {
			return err
		}
		pace, err := db.ReviewPace(ctx, s.operator(), c.Project)
		if err != nil {
			return err
		}
		run := h.DryRun(p, func(judgeName string, stakes judge.Stakes) time.Duration {
			return time.Duration(pace.Of(judgeName, stakes).Seconds * float64(time.Second))
		})
		filter := store.SampleFilter{Judge: c.Judge, Domain: c.Domain}
		counts, err := db.RoutingSamples(ctx, s.operator(), c.Project, filter, c.Last, func(sample store.RoutingSample) error {
			if err := stopped(ctx); err != nil {
				return err
			}
			j, err := judges.definition(ctx, c.Project, sample.Planned)
			if err != nil {
				return err
			}
			return run.Add(ctx, harness.Sample{Judge: j, Trace: sample.Trace, Planned: sample.Planned, Evaluation: sample.Evaluation})
		})
		if err != nil {
			return err
		}
		for _, w := range p.UnknownJudges(h.JudgeNames()) {
			s.say("%s", w)
		}
		result := run.Result()
		result.SealedLeftOut = counts.Sealed
		if c.JSON {
			return s.writeJSON(result)
		}
		return c.table(s, result, paceText(pace))
	})
}

// paceText says what the hours rest on.
func paceText(pace store.ReviewPace) string {
	of := pace.Of("", "")
	if of.Basis == store.PaceAssumed {
		return fmt.Sprintf("hours: %.0f s a review are assumed, since too few were decided yet", of.Seconds)
	}
	return fmt.Sprintf("hours: by the time that people took for this judge and these stakes, where enough were decided; over all %.0f s (median of %s)",
		of.Seconds, thousands(of.N))
}

func (c policyDryRunCmd) table(s *state, r harness.DryRunResult, pace string) error {
	s.say("%s routed again under %s%s", plural(r.Evaluations, "evaluation", "evaluations"), c.File, judgedFrom(r.Oldest, r.Newest))
	for _, left := range []struct {
		n    int
		text string
	}{
		{r.NotJudged, "not judged yet, or refused: left out"},
		{r.Unreadable, "made by versions of judges that can't be run here any more: left out"},
		{r.Refused, "would not have been judged: the policy does not name their endpoint"},
		{r.OtherVerdict, "would have had another verdict, by another band"},
	} {
		if left.n > 0 {
			s.say("%s %s", thousands(left.n), left.text)
		}
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SENT TO PEOPLE\tBEFORE\tAFTER\tCHANGE")
	moved := func(name string, before, after int) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%+d\n", name, thousands(before), thousands(after), after-before)
	}
	moved("all", r.Before.Sent, r.After.Sent)
	fmt.Fprintf(w, "hours\t%.1f\t%.1f\t%+.1f\n", r.Before.Hours, r.After.Hours, r.After.Hours-r.Before.Hours)
	if week := r.PerWeek; week != nil {
		fmt.Fprintf(w, "hours a week at this rate\t%.1f\t%.1f\t%+.1f\n", week.BeforeHours, week.AfterHours, week.AfterHours-week.BeforeHours)
	}
	for _, group := range []struct {
		of   string
		rows []harness.Moved
	}{{"reason", r.ByReason}, {"judge", r.ByJudge}, {"stakes", r.ByStakes}} {
		for _, row := range group.rows {
			moved(group.of+" "+row.Name, row.Before, row.After)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	changes(s, "newly sent", r.NewlySent)
	changes(s, "no longer sent", r.NoLongerSent)
	s.say("%s", pace)
	return nil
}

// namedChanges are told by name of each kind; --json has more.
const namedChanges = 5

func changes(s *state, what string, c harness.Changes) {
	if c.Count == 0 {
		return
	}
	fmt.Fprintf(s.stdout, "\n%s: %s\n", what, thousands(c.Count))
	for _, e := range c.First[:min(len(c.First), namedChanges)] {
		fmt.Fprintf(s.stdout, "  %s  %s by %s: %s\n", e.EvaluationID, e.TraceID, e.Judge, strings.Join(e.Reasons, ", "))
	}
	if rest := c.Count - namedChanges; rest > 0 {
		fmt.Fprintf(s.stdout, "  and %s more (--json names up to 100)\n", thousands(rest))
	}
}

func judgedFrom(oldest, newest time.Time) string {
	if oldest.IsZero() {
		return ""
	}
	return fmt.Sprintf(" (judged %s to %s)", oldest.Format(time.DateOnly), newest.Format(time.DateOnly))
}
