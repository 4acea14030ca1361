package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/ratings"
	"github.com/countersign/countersign/judge/ratings/summary"
)

type agreementCmd struct {
	File       string  `arg:"" help:"Ratings: CSV with item, rater and label or with a column for each rater; or JSON with ratings or a confusion_matrix. - is standard input."`
	Level      string  `help:"What a difference of two labels means: nominal, ordinal, interval or ratio." default:"nominal" placeholder:"LEVEL"`
	Weights    string  `help:"Weights of AC2 and the other weighted coefficients: none, linear or quadratic; quadratic where the labels have an order." placeholder:"WEIGHTS"`
	Confidence float64 `help:"Level of the intervals." default:"0.95" placeholder:"LEVEL"`
	Seed       uint64  `help:"Seed of the bootstrap; the same seed gives the same interval." default:"1" placeholder:"N"`
	Replicates int     `help:"Replicates of the bootstrap." default:"2000" placeholder:"N"`
	JSON       bool    `help:"Write JSON."`
}

// Run computes agreement statistics of a ratings file; no project is needed.
func (c agreementCmd) Run(ctx context.Context, s *state) error {
	levels := []string{"nominal", "ordinal", "interval", "ratio"}
	switch {
	case !slices.Contains(levels, c.Level):
		return usagef("--level is %q: choose nominal, ordinal, interval or ratio", c.Level)
	case c.Weights != "" && !slices.Contains([]string{"none", "linear", "quadratic"}, c.Weights):
		return usagef("--weights is %q: choose none, linear or quadratic", c.Weights)
	case !(c.Confidence > 0 && c.Confidence < 1):
		return usagef("--confidence is %v: give a number between 0 and 1, such as 0.95", c.Confidence)
	case c.Replicates < 1 || c.Replicates > 1_000_000:
		return usagef("--replicates is %d: give a number from 1 to 1000000", c.Replicates)
	}
	table, err := c.read(s)
	if err != nil {
		return err
	}
	sum, err := c.summarise(ctx, table)
	if err != nil {
		return err
	}
	if c.JSON {
		return s.writeJSON(sum)
	}
	return printSummary(s.stdout, sum)
}

// summarise gives way to an interruption, which arithmetic does not look for.
func (c agreementCmd) summarise(ctx context.Context, table ratings.Table) (sum summary.Summary, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		sum, err = summary.Of(table, summary.Options{
			Level: agreement.Metric(c.Level), Weights: c.Weights, Confidence: c.Confidence, Seed: c.Seed, Replicates: c.Replicates,
		})
	}()
	select {
	case <-ctx.Done():
		return summary.Summary{}, anewError{errors.New("stopped: nothing was written")}
	case <-done:
	}
	if err != nil {
		return sum, usageError{err}
	}
	return sum, nil
}

func (c agreementCmd) read(s *state) (ratings.Table, error) {
	in, name := s.stdin, "standard input"
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return ratings.Table{}, usageError{err}
		}
		defer f.Close() //nolint:errcheck // nothing was written
		in, name = f, c.File
	}
	table, err := ratings.Read(in, name)
	if faults := new(ratings.Faults); errors.As(err, &faults) {
		return ratings.Table{}, usageError{err}
	}
	return table, err
}

// printSummary writes the figures for people: what can be said first, then what
// cannot, and why.
func printSummary(out io.Writer, s summary.Summary) error {
	// Names come from a file: what steers a terminal is written as an escape.
	s.RaterNames, s.Categories = visibly(s.RaterNames), visibly(s.Categories)
	fmt.Fprintf(out, "%s, %s (%s), %s (%s)\n", plural(s.Items, "item", "items"), plural(s.Raters, "rater", "raters"),
		listed(s.RaterNames), plural(len(s.Categories), "label", "labels"), listed(s.Categories))
	if s.Clusters > 0 {
		fmt.Fprintf(out, "%s, drawn together by the bootstrap\n", plural(s.Clusters, "cluster of items", "clusters of items"))
	}
	fmt.Fprintf(out, "level %s, weights %s, %g%% intervals, bootstrap of %s replicates with seed %d\n\n",
		s.Level, s.Weights, 100*s.Confidence, thousands(s.Replicates), s.Seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if q := len(s.Categories); s.Matrix != nil && q <= 10 {
		fmt.Fprintf(w, "%s \\ %s", s.RaterNames[0], s.RaterNames[1])
		for _, l := range s.Categories {
			fmt.Fprintf(w, "\t%s", l)
		}
		fmt.Fprintln(w)
		for i, row := range s.Matrix {
			fmt.Fprint(w, s.Categories[i])
			for _, n := range row {
				fmt.Fprintf(w, "\t%s", thousands(n))
			}
			fmt.Fprintln(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(w, "STATISTIC\tVALUE\tSE\tINTERVAL\tN\tMETHOD")
	var missing []summary.Statistic
	for _, f := range s.Statistics {
		if !f.Defined() {
			missing = append(missing, f)
			continue
		}
		se, interval, method := "-", "-", "-"
		if f.SE > 0 {
			se = decimal(f.SE)
		}
		if f.HasInterval() {
			interval, method = decimal(f.Low)+" to "+decimal(f.High), f.Method
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Name, decimal(f.Value), se, interval, thousands(f.N), method)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(s.Tests) > 0 {
		fmt.Fprintln(out, "\nDo the two use the labels equally often?")
	}
	for _, t := range s.Tests {
		if t.Undefined != "" {
			fmt.Fprintf(out, "%s: no test, %s\n", t.Name, t.Undefined)
			continue
		}
		fmt.Fprintf(out, "%s: chi-square %.4f, %d degrees of freedom, p = %.4g\n", t.Name, t.Value, t.DF, t.P)
	}
	if len(missing) > 0 {
		fmt.Fprintln(out, "\nNot defined for this file:")
	}
	for from := 0; from < len(missing); {
		to := from
		var names []string
		for to < len(missing) && missing[to].Undefined == missing[from].Undefined {
			names = append(names, missing[to].Name)
			to++
		}
		fmt.Fprintf(out, "%s: %s\n", strings.Join(names, ", "), missing[from].Undefined)
		from = to
	}
	return nil
}

// visibly writes names with whatever cannot be printed as Go escapes it: control characters,
// marks of direction and blanks that are no spaces.
func visibly(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		var b strings.Builder
		for _, c := range strings.ToValidUTF8(n, "\uFFFD") {
			if strconv.IsPrint(c) {
				b.WriteRune(c)
				continue
			}
			quoted := strconv.QuoteRune(c)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		out[i] = b.String()
	}
	return out
}

// decimal has four digits, and more where they would claim certainty: what is not
// 1 or 0 does not look like it.
func decimal(v float64) string {
	if v == 0 {
		return agreement.Decimals(0, 4) // a negative zero too
	}
	for digits := 4; digits < 12; digits++ {
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if back, err := strconv.ParseFloat(text, 64); err != nil || back == v || (back != 0 && math.Abs(back) != 1) {
			return text
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// listed names the first few.
func listed(names []string) string {
	const few = 8
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}
