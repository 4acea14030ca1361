package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/threshold"
	"github.com/countersign/countersign/store"
)

// thresholdsCmd reckons without a server what the page of thresholds shows.
type thresholdsCmd struct {
	projectFlags
	judgesFlag
	Judge      string   `arg:"" help:"The judge."`
	Model      string   `help:"Only its evaluations by this model; the one with most labels otherwise." placeholder:"NAME"`
	Version    string   `help:"Only those of this prompt version." placeholder:"HASH"`
	Low        *float64 `help:"Scores below fail; the policy's otherwise." placeholder:"SCORE"`
	High       *float64 `help:"Scores from here on pass; between the two a person decides; the policy's otherwise." placeholder:"SCORE"`
	Cut        *float64 `help:"Where passing begins when nobody is asked; as --high otherwise." placeholder:"SCORE"`
	CostMiss   float64  `help:"Cost of a wrong pass, in any one unit." default:"100" placeholder:"N"`
	CostAlarm  float64  `help:"Cost of a wrong fail." default:"20" placeholder:"N"`
	CostMinute float64  `help:"Cost of a person's minute." default:"1" placeholder:"N"`
	Minutes    *float64 `help:"Minutes of a person for an item; as measured otherwise." placeholder:"N"`
	PerWeek    *float64 `help:"Evaluations in a week; as counted in the last four weeks otherwise, 1,000 where there were none." placeholder:"N"`
	MaxHours   *float64 `help:"At most this many hours of people in a week." placeholder:"N"`
	MaxMisses  *float64 `help:"At most this many wrong passes in 1,000." placeholder:"N"`
	Seed       uint64   `help:"Seed of the bootstrap." default:"20260101" placeholder:"N"`
	JSON       bool     `help:"Write JSON."`
}

// Run says what another pass cut or band would cost.
func (c thresholdsCmd) Run(ctx context.Context, s *state) error {
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		w, err := c.reckon(ctx, s, db, builtins)
		if err != nil {
			return err
		}
		if c.JSON {
			return s.writeJSON(w)
		}
		if w.Refused != "" {
			s.say("%s by %s: not known: %s", w.Judge, w.Model, w.Refused)
			return nil
		}
		return c.table(s, w)
	})
}

func (c thresholdsCmd) reckon(ctx context.Context, s *state, db *store.Store, builtins []judge.Judge) (w threshold.Written, err error) {
	counts, err := db.CalibrationCounts(ctx, s.operator(), c.Project, c.Judge)
	if err != nil {
		return w, err
	}
	var series *calibration.Counts
	for i, x := range counts {
		if (c.Model == "" || x.Model == c.Model) && (c.Version == "" || x.PromptVersion == c.Version) && (series == nil || x.Items > series.Items) {
			series = &counts[i]
		}
	}
	if series == nil {
		return w, usagef("judge %s has no evaluations by that model and version in project %s: countersign calibration lists what there is", c.Judge, c.Project)
	}
	perWeek, basis, err := c.volume(ctx, s, db, *series)
	if err != nil {
		return w, err
	}
	ask, err := c.ask(ctx, s, db, builtins, perWeek)
	if err != nil {
		return w, err
	}
	labels, err := db.ScoredLabels(ctx, s.operator(), c.Project, c.Judge, series.Model, series.PromptVersion)
	if err != nil {
		return w, err
	}
	w = threshold.Written{Judge: c.Judge, Model: series.Model, PromptVersion: series.PromptVersion, PerWeek: perWeek, PerWeekBasis: basis, Minutes: ask.Minutes, Costs: ask.Costs,
		MaxPeople: ask.MaxPeople, MaxMisses: ask.MaxMisses, AllLabels: labels.All, Unsure: labels.Unsure, Waiting: labels.Counts.Waiting}
	usable, refused, err := labels.Usable()
	if err != nil {
		return w, err
	}
	if refused != "" {
		w.Report = threshold.Refuse(refused, len(labels.Labels), ask)
		return w, nil
	}
	ask.Judged = labels.Judged
	if w.Report, err = threshold.Simulate(usable, ask); err != nil {
		return w, usagef("%w", err)
	}
	return w, nil
}

// volume is how many evaluations there are in a week, and where that comes from.
func (c thresholdsCmd) volume(ctx context.Context, s *state, db *store.Store, series calibration.Counts) (perWeek float64, basis string, err error) {
	for _, f := range []struct {
		name  string
		value *float64
		least float64
	}{{"--per-week", c.PerWeek, threshold.LeastAmount}, {"--max-hours", c.MaxHours, 0}, {"--max-misses", c.MaxMisses, 0}, {"--minutes", c.Minutes, threshold.LeastAmount}} {
		if f.value != nil && !(*f.value >= f.least && *f.value <= threshold.MostAmount) {
			return 0, "", usagef("%s is %v: it lies between %v and %v", f.name, *f.value, f.least, threshold.MostAmount)
		}
	}
	if c.PerWeek != nil {
		return *c.PerWeek, threshold.BasisGiven, nil
	}
	perWeek, measured, err := db.WeeklyEvaluations(ctx, s.operator(), c.Project, c.Judge, series.Model, series.PromptVersion)
	if basis = threshold.BasisMeasured; !measured {
		basis = threshold.BasisAssumed
	}
	return perWeek, basis, err
}

// volumeWords say it to people.
var volumeWords = map[string]string{threshold.BasisGiven: "as you asked", threshold.BasisMeasured: "as counted in the last four weeks",
	threshold.BasisAssumed: "assumed, because the last four weeks have none; say --per-week"}

// ask is the question with what the policy and people's pace say where the flags do not.
func (c thresholdsCmd) ask(ctx context.Context, s *state, db *store.Store, builtins []judge.Judge, perWeek float64) (a threshold.Ask, err error) {
	judges, err := readingHarnesses(ctx, s, db, builtins, "")
	if err != nil {
		return a, err
	}
	h, err := judges.of(ctx, c.Project)
	if err != nil {
		return a, err
	}
	p, err := db.ProjectNamed(ctx, c.Project)
	if err != nil {
		return a, err
	}
	j, known := h.Judge(c.Judge)
	if !known {
		j = &judge.Judge{Band: judge.DefaultBand}
	}
	pace, err := db.ReviewPace(ctx, s.operator(), c.Project)
	if err != nil {
		return a, err
	}
	a = threshold.Ask{Now: p.Policy.For(c.Judge, "", judge.StandardStakes).BandOf(j), Costs: threshold.Costs{Miss: c.CostMiss, Alarm: c.CostAlarm, Minute: c.CostMinute},
		Minutes: max(0.1, pace.Of(c.Judge, judge.StandardStakes).Seconds/60), Level: calibration.Level, Seed: c.Seed}
	a.Chosen = a.Now
	for _, f := range []struct{ from, to *float64 }{{c.Low, &a.Chosen.Low}, {c.High, &a.Chosen.Pass}, {c.Minutes, &a.Minutes}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if a.Cut = a.Chosen.Pass; c.Cut != nil {
		a.Cut = *c.Cut
	}
	a.Limit(perWeek, c.MaxHours, c.MaxMisses)
	return a, nil
}

func (c thresholdsCmd) table(s *state, w threshold.Written) error {
	out := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "BAND\tWRONG PASSES IN 1,000\tWRONG FAILS IN 1,000\tTO PEOPLE A WEEK\tHOURS A WEEK\tCOST A WEEK")
	line := func(name string, o threshold.Outcome) {
		hours := w.PerWeek * w.Minutes / 60
		fmt.Fprintf(out, "%s %.6g to %.6g\t%s\t%s\t%s\t%s\t%s\n", name, o.Band.Low, o.Band.Pass, scaled(o.Misses, 1000), scaled(o.Alarms, 1000),
			scaled(o.People, w.PerWeek), scaled(o.People, hours), scaled(o.Cost, w.PerWeek))
	}
	line("asked for", w.Chosen)
	line("policy", w.Now)
	if w.Best != nil {
		line("recommended", w.Best.Outcome)
	}
	line("cut alone", w.Alone)
	if err := out.Flush(); err != nil {
		return err
	}
	if w.NoGain() {
		fmt.Fprintf(s.stdout, "\n%s\n", threshold.NoGainText)
	}
	if w.Best == nil {
		fmt.Fprintf(s.stdout, "\n%s\n", w.NoBest)
	}
	fmt.Fprintf(s.stdout, "\n%s evaluations a week, %s.\n", amountOf(w.PerWeek), volumeWords[w.PerWeekBasis])
	fmt.Fprintf(s.stdout, "%s by %s: looked for on %d labels, reported on the other %d; seed %d, %d replicates.\n", w.Judge, w.Model, w.Tuning.N, w.Reporting.N, w.Seed, w.Replicates)
	return nil
}

// scaled writes a figure times a number, with its interval.
func scaled(e agreement.Estimate, times float64) string {
	e = e.Finite()
	if !e.Defined() {
		return "not known"
	}
	if !e.HasInterval() {
		return fmt.Sprintf("%.1f", e.Value*times)
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f)", e.Value*times, e.Low*times, e.High*times)
}

// amountOf writes a number of evaluations, with decimals only where it has some.
func amountOf(v float64) string {
	if v == math.Trunc(v) && v < 1e15 {
		return thousands(int(v))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
