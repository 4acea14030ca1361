package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// A comparison as the page shows it.

func comparisonView(r store.Comparison, current string) views.Comparison {
	v := views.Comparison{Sentence: r.Labelled.Sentence, Shared: r.Shared, Sealed: r.NSealed, Pairs: verdictTable(r.Verdicts), Main: pairedView(r.Labelled)}
	for i, c := range r.Competitors {
		name := r.Labelled.Name(i)
		v.Names = append(v.Names, name)
		one, took := r.Labelled.Each[i], r.Effort[i]
		v.Rows = append(v.Rows, views.CompareRow{
			Letter: string(rune('A' + i)), Name: name, Current: c.PromptVersion == current, Shadow: took.Shadow > 0 && took.Shadow == took.N,
			Right: one.Right, N: r.Labelled.N, Agreement: estimateView(one.Agreement), Kappa: estimateView(one.CohenKappa.Estimate),
			Misses: one.Misses, Bad: one.Bad, Alarms: one.Alarms, Cost: costOfOne(took),
			Median: milliseconds(took.MedianMS), P95: milliseconds(took.P95MS), Timed: took.Timed, Repairs: took.Repairs, Retries: took.Retries,
		})
	}
	if r.Visible != nil {
		visible := pairedView(*r.Visible)
		v.Visible = &visible
	}
	if r.Labelled.All != nil {
		v.All = allView(r.Labelled)
	}
	for _, d := range r.Differences {
		row := views.DifferingRow{TraceID: d.TraceID, Href: tracePath(d.TraceID), Domain: d.Domain, Stakes: d.Stakes,
			A: saidMark(d.First), B: saidMark(d.Second), Labelled: d.People != nil}
		if d.People != nil {
			row.People = saidMark(*d.People)
		}
		v.Differences = append(v.Differences, row)
	}
	return v
}

func saidMark(s store.Said) views.Mark { return views.Mark{Verdict: s.Verdict, Label: s.Label} }

// verdictTable orders the counts pass, borderline, fail.
func verdictTable(pairs []store.VerdictPair) [][]int {
	place := map[judge.Verdict]int{judge.Pass: 0, judge.Borderline: 1, judge.Fail: 2}
	table := [][]int{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
	for _, p := range pairs {
		table[place[p.First]][place[p.Second]] += p.N
	}
	return table
}

func pairedView(v calibration.Versus) views.Paired {
	d := v.Duel
	return views.Paired{
		N: v.N, Clusters: v.Clusters, Scale: v.Scale, BothRight: d.BothRight, OnlyA: d.OnlyFirst, OnlyB: d.OnlySecond, BothWrong: d.BothWrong,
		Abstained: v.NAbstained, Tied: v.NTied, Incomparable: v.NIncomparable, Level: strconv.FormatFloat(100*v.ConfLevel, 'g', 4, 64) + "%",
		Difference: estimateView(d.Difference), KappaDifference: resampledView(v.KappaDifference), Resampled: resampledView(v.AgreementResampled),
		P: d.P, Method: testWord(d.Method), TooFew: v.TooFew, Seed: v.KappaDifference.Seed, Replicates: v.KappaDifference.Replicates, Undefined: v.KappaDifference.Unusable,
	}
}

func resampledView(r calibration.Resampled) views.Estimate {
	e := views.Estimate{Value: r.Value, Low: r.Low, High: r.High, SE: r.SE, Why: r.Undefined}
	if e.Why == "" {
		e.Why = r.NoInterval
	}
	return e
}

func testWord(method string) string {
	switch method {
	case calibration.MethodMcNemarExact:
		return "exact test of McNemar"
	case calibration.MethodMcNemarMidP:
		return "McNemar’s test, mid-p"
	}
	return "no test"
}

func allView(v calibration.Versus) *views.CompareAll {
	a := &views.CompareAll{Q: v.All.Q, DF: v.All.DF, P: v.All.P, Undefined: v.All.Undefined}
	for _, d := range v.All.Pairs {
		a.Pairs = append(a.Pairs, views.PairRow{Names: v.Name(d.First) + " and " + v.Name(d.Second), OnlyFirst: d.OnlyFirst, OnlySecond: d.OnlySecond,
			Difference: estimateView(d.Difference), P: d.P, Holm: d.Holm})
	}
	return a
}

// costOfOne is the mean cost of an evaluation, or why it is not known.
func costOfOne(e store.Effort) string {
	switch {
	case e.Asked == 0:
		return "recorded"
	case e.Unpriced > 0:
		return "price not known"
	case e.CostUSD == 0:
		return "nothing"
	}
	return fmt.Sprintf("$%.4f", e.CostUSD/float64(e.Asked))
}

func milliseconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", ms)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f min", d.Minutes())
}

func splitView(r store.Comparison) views.TestSplit {
	if r.Split == nil {
		return views.TestSplit{}
	}
	v := views.TestSplit{Locked: true, Share: strings.TrimSuffix(strconv.FormatFloat(100*r.Split.Share, 'f', 1, 64), ".0") + "%",
		By: r.Split.LockedBy, At: r.Split.LockedAt, N: r.Split.N, Looks: r.Split.Looks}
	for _, l := range r.Split.Seen {
		var names []string
		for i := range l.Figures.Competitors {
			names = append(names, l.Figures.Name(i))
		}
		d := l.Figures.Duel
		level := 1 - (1-calibration.Level)/float64(max(1, r.Split.Looks))
		v.Seen = append(v.Seen, views.SeenLook{Number: l.Number, By: l.By, At: l.At, Names: strings.Join(names, ", then "), Same: l.Of(r.Competitors),
			Sentence: l.Figures.Sentence, Paired: pairedView(l.Figures), Now: estimateView(agreement.PairedDifference(d.OnlyFirst, d.OnlySecond, d.N, level))})
	}
	return v
}
