package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/store"
)

type calibrationCmd struct {
	projectFlags
	Judge string `help:"Only this judge." placeholder:"NAME"`
	JSON  bool   `help:"Write JSON: one object for each judge, model and prompt version."`
}

// Run shows how far judges agree with people.
func (c calibrationCmd) Run(ctx context.Context, s *state) (err error) {
	db, err := c.openExisting(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	reports, err := db.Reports(ctx, s.operator(), c.Project, c.Judge)
	if err != nil {
		return err
	}
	if c.JSON {
		if err := db.AddDrift(ctx, s.operator(), c.Project, c.Judge, reports); err != nil {
			return err
		}
		if reports == nil {
			reports = []store.TrustedReport{}
		}
		return s.writeJSON(reports)
	}
	if len(reports) == 0 {
		s.say("nothing to compare yet: no evaluation has a human answer")
		return nil
	}
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "JUDGE\tMODEL\tVERSION\tN\tAGREEMENT\tKAPPA\tPEOPLE'S KAPPA\tTRUST")
	for _, r := range reports {
		people := "-"
		if r.HumanHuman != nil {
			people = estimate(r.HumanHuman.CohenKappa.Estimate)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Judge, r.Model, shortHash(r.PromptVersion), thousands(r.N),
			estimate(r.Agreement), estimate(r.CohenKappa.Estimate), people, r.Trust.State)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(s.stdout, "\nThe table counts every label. The rules of trust below leave out what waits blind for anybody, so their numbers can differ from it.")
	for _, r := range reports {
		text := r.Sentence
		if !r.Headline {
			text += " (" + r.HeadlineReason + ")"
		}
		fmt.Fprintf(s.stdout, "\n%s by %s: %s\n%s\n", r.Judge, r.Model, text, trustLines(r.Trust))
	}
	return nil
}

// trustLines say the state and each rule that is not met.
func trustLines(t store.TrustView) string {
	line := string(t.State)
	if t.Since != nil {
		line += t.Since.Format(" since 2006-01-02 15:04")
	}
	if t.State == judge.Suspended {
		line += fmt.Sprintf(" by %s: %s", t.By, t.Reason)
	}
	for _, r := range t.Rules {
		if !r.Met {
			line += fmt.Sprintf("\n  not met: %s: %s. %s", r.Asks, r.Shows, r.Detail)
		}
	}
	return line
}

// estimate writes a figure with its interval, or why there is none.
func estimate(e agreement.Estimate) string {
	switch {
	case !e.Defined():
		return "undefined"
	case e.NoInterval != "":
		return agreement.Decimals(e.Value, 2)
	}
	return fmt.Sprintf("%s (%s to %s)", agreement.Decimals(e.Value, 2), agreement.Decimals(e.Low, 2), agreement.Decimals(e.High, 2))
}
