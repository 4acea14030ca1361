package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

type judgesCompareCmd struct {
	Name string `arg:"" help:"Name of the judge."`
	projectFlags
	A    string   `name:"a" required:"" help:"The first: a version, or 8 digits or more of it, a comma, and a model. Without a model, the version must have one only." placeholder:"VERSION,MODEL"`
	B    string   `name:"b" required:"" help:"The second, which is compared with the first." placeholder:"VERSION,MODEL"`
	Also []string `help:"One more of them; may be repeated." sep:"none" placeholder:"VERSION,MODEL"`
	JSON bool     `help:"Write JSON: all numbers, as the API gives them."`
}

// Run compares versions of a judge.
func (c judgesCompareCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		known, err := db.Competitors(ctx, s.operator(), c.Project, c.Name)
		if err != nil {
			return err
		}
		var who []calibration.Competitor
		for i, name := range append([]string{c.A, c.B}, c.Also...) {
			flag := "--also"
			if i < 2 {
				flag = "--" + string(rune('a'+i))
			}
			one, err := store.FindCompetitor(known, flag, name)
			if err != nil {
				return usageError{err}
			}
			who = append(who, one)
		}
		r, err := db.CompareJudges(ctx, s.operator(), c.Project, c.Name, who)
		if err != nil {
			return err
		}
		if c.JSON {
			return s.writeJSON(r)
		}
		return c.table(s, r)
	})
}

// table is the comparison for people: the sentence first.
func (c judgesCompareCmd) table(s *state, r store.Comparison) error {
	v, d := r.Labelled, r.Labelled.Duel
	fmt.Fprintln(s.stdout, v.Sentence)
	if d.P != nil {
		fmt.Fprintf(s.stdout, "B less A: %s points of 100, p = %.3g (%s)\n", pointsOf100(d), *d.P, d.Method)
	}
	fmt.Fprintln(s.stdout)
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WHO\tVERSION\tMODEL\tRIGHT\tKAPPA\tMISSES\tFALSE ALARMS\tCOST USD\tMEDIAN MS\tP95 MS\tREPAIRS\tRETRIES")
	for i, who := range r.Competitors {
		one, took := v.Each[i], r.Effort[i]
		kappa := estimate(one.CohenKappa.Estimate)
		if !v.Enough {
			kappa = "too few"
		}
		median, p95 := "-", "-"
		if took.Timed > 0 {
			median, p95 = thousands(int(took.MedianMS)), thousands(int(took.P95MS))
		}
		fmt.Fprintf(w, "%c\t%s\t%s\t%s of %s\t%s\t%d of %d\t%d\t%.4f\t%s\t%s\t%d\t%d\n", 'A'+i, shortHash(who.PromptVersion), who.Model,
			thousands(one.Right), thousands(v.N), kappa, one.Misses, one.Bad, one.Alarms, took.CostUSD, median, p95, took.Repairs, took.Retries)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "\n%s judged by all of them", plural(r.Shared, "trace was", "traces were"))
	if r.Split != nil {
		fmt.Fprintf(s.stdout, "; %s kept in the test split, which was looked at %s", plural(r.Split.N, "labelled trace is", "labelled traces are"), plural(r.Split.Looks, "time", "times"))
	}
	fmt.Fprintln(s.stdout)
	if v.TooFew != "" {
		s.say("%s", v.TooFew)
	}
	return nil
}

// pointsOf100 is a difference of agreement with its interval.
func pointsOf100(d calibration.Duel) string {
	e := d.Difference
	switch {
	case !e.Defined():
		return "undefined"
	case !e.HasInterval():
		return fmt.Sprintf("%+.1f", 100*e.Value)
	}
	return fmt.Sprintf("%+.1f (%+.1f to %+.1f)", 100*e.Value, 100*e.Low, 100*e.High)
}
