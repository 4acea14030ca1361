package calibration

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
)

// tooFew is the reason why the coefficients are no headline, or "". The rarer
// class of people's answers is the smaller of the commonest label and all the
// others together, which for two labels is the rarer label.
func (c comparison) tooFew() string {
	if c.n < MinLabels {
		return fmt.Sprintf("not enough labels: %d of at least %d", c.n, MinLabels)
	}
	commonest := slices.Max(c.matrix.Rows())
	if rarer := min(commonest, c.n-commonest); rarer < MinRarerClass {
		return fmt.Sprintf("not enough labels of the rarer class: %d of at least %d", rarer, MinRarerClass)
	}
	return ""
}

// sentence says the most important rate in counts of a hundred.
func (r Report) sentence() string {
	switch {
	case r.N == 0:
		return "There are no human answers to compare this judge with yet."
	case !r.Rates.Catches.Defined():
		return fmt.Sprintf("People and the judge agree on %d of %d traces; %s, so nothing is known about what the judge catches.",
			r.agreed(), r.N, r.Rates.Catches.Undefined)
	}
	catches, alarms := r.Rates.Catches, r.Rates.FalseAlarms
	if w := r.Population.Weighted; r.Headline && w.Unequal && w.Sensitivity.Defined() {
		return r.weightedSentence()
	}
	if !r.Headline {
		s := fmt.Sprintf("Too few labels for a rate (%d): of %s people call bad, the judge catches %d", r.N, count(catches.N, "trace", "traces"), whole(catches))
		if alarms.Defined() {
			s += fmt.Sprintf("; of %d they call good, it flags %d", alarms.N, whole(alarms))
		}
		return s + "."
	}
	s := "Of 100 traces people call bad, the judge catches about " + hundred(catches)
	if r.Population.Refused != "" {
		s = "Of 100 labelled traces that people call bad, each counted once, the judge catches about " + hundred(catches)
	}
	if r.Sampling.FlaggedOnly {
		s = "Among flagged traces only: of 100 that people call bad, the judge catches about " + hundred(catches)
	}
	if alarms.Defined() {
		s += "; of 100 they call good, it flags about " + hundred(alarms)
	}
	return s + "."
}

// weightedSentence is that of all evaluations, where labels were drawn with unequal
// chances and counting each once would mislead.
func (r Report) weightedSentence() string {
	w := r.Population.Weighted
	s := "Of 100 traces people call bad, the judge catches about " + within100(w.Sensitivity)
	if w.Specificity.Defined() {
		alarms := w.Specificity
		alarms.Value, alarms.Low, alarms.High = 1-w.Specificity.Value, 1-w.Specificity.High, 1-w.Specificity.Low
		s += "; of 100 they call good, it flags about " + within100(alarms)
	}
	return s + ". Labels are weighted by the chance with which they were drawn."
}

// whole is the count behind a share.
func whole(e agreement.Estimate) int { return int(math.Round(e.Value * float64(e.N))) }

func (r Report) agreed() int {
	sum := 0
	for k, row := range r.Confusion.Matrix {
		sum += row[k]
	}
	return sum
}

// hundred writes a share as a whole number of a hundred with its interval.
func hundred(e agreement.Estimate) string {
	per := func(v float64) int { return int(math.Round(100 * v)) }
	return fmt.Sprintf("%d (%d–%d)", per(e.Value), per(e.Low), per(e.High))
}

// notes warn where figures are easily misread.
func (r Report) notes() []string {
	notes := []string{}
	k, h := r.CohenKappa, r.HumanHuman
	if r.Headline && k.Defined() && r.Agreement.Value >= 0.9 && k.Value < 0.6 {
		notes = append(notes, "Agreement is high and kappa low because one class is rare: look at the matrix and at the agreement on each label; the rare class decides.")
	}
	if r.Headline && k.Defined() && h != nil && h.N >= MinLabels && h.Scale == r.Scale &&
		h.CohenKappa.Defined() && k.Value > h.CohenKappa.Value {
		notes = append(notes, "The judge agrees with people more than they agree with each other. That usually means that people saw its verdict, or that the prompt was tuned on these labels.")
	}
	if r.NSealed > 0 {
		notes = append(notes, fmt.Sprintf("%s that wait for a blind review, which you may give, are not counted for you yet: answer them, or ask an auditor, who sees all figures.", count(r.NSealed, "labelled item", "labelled items")))
	}
	if n := r.Population.DrawnWaiting; n > 0 {
		notes = append(notes, fmt.Sprintf("%s; figures count them when they are in.", count(n, "drawn label waits", "drawn labels wait")))
	}
	if r.NIncomparable > 0 {
		notes = append(notes, fmt.Sprintf("%s left out: no label of this judge's scale and no verdict on both sides.",
			count(r.NIncomparable, "pair was", "pairs were")))
	}
	return notes
}

// stratumWords are the known strata as people read them.
var stratumWords = map[string]string{
	"":                         "of unknown sampling",
	judge.StratumFlagged:       "flagged",
	judge.StratumRandomAudit:   "random audit",
	judge.StratumBoundaryAudit: "boundary audit",
	judge.StratumRequested:     "requested",
	judge.StratumImported:      "imported",
}

// samplingOf describes n items with blind or imported answers.
func samplingOf(c Counts, n int) Sampling {
	s := Sampling{Strata: []Stratum{}}
	totals := map[string]int{}
	var names []string
	for _, st := range c.Strata {
		out := Stratum{Stratum: st.Stratum, N: st.N}
		if p := judge.KnownChance(st.InclusionProbability); p > 0 {
			out.InclusionProbability = &p
		}
		s.Strata = append(s.Strata, out)
		if !slices.Contains(names, st.Stratum) {
			names = append(names, st.Stratum)
		}
		totals[st.Stratum] += st.N
	}
	if c.Items > 0 {
		s.Items = &c.Items
	}
	if c.Clusters > 0 {
		s.Clusters = &c.Clusters
	}
	chosen, all := chosenOf(totals)
	s.FlaggedOnly = chosen > 0 && chosen == all
	s.Text = samplingText(c, n, names, totals)
	return s
}

func samplingText(c Counts, n int, names []string, totals map[string]int) string {
	if n == 0 {
		return "No blind or imported answers yet."
	}
	text := count(n, "item with blind or imported answers", "items with blind or imported answers")
	if len(names) > 0 {
		var parts []string
		for _, name := range names {
			words, ok := stratumWords[name]
			if !ok {
				words = name
			}
			parts = append(parts, fmt.Sprintf("%d %s", totals[name], words))
		}
		text += ": " + strings.Join(parts, ", ")
	}
	text += ". Figures are unweighted: they describe the traces that were labelled, not all traces."
	chosen, all := chosenOf(totals)
	switch {
	case chosen > 0 && chosen == all:
		text += " All were picked because of what the judge said or because somebody asked: such answers do not show what the judge passes wrongly."
	case totals[judge.StratumFlagged] > 0:
		text += " Flagged traces are reviewed more often than others, so they count for more here than among all traces."
	}
	if c.Items > 0 && c.Items < n {
		text += fmt.Sprintf(" Several people answered about some of the %s, so not all answers are independent.", count(c.Items, "trace", "traces"))
	}
	if c.Clusters > 0 && c.Clusters < c.Items {
		text += fmt.Sprintf(" The traces fall into %s; the intervals treat traces as independent and are narrower than they should be.", count(c.Clusters, "cluster", "clusters"))
	}
	return text
}

// chosenOf counts the answers that were not drawn at random, and all.
func chosenOf(totals map[string]int) (chosen, all int) {
	for _, t := range totals {
		all += t
	}
	return totals[judge.StratumFlagged] + totals[judge.StratumRequested] + totals[judge.StratumBoundaryAudit], all
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func decimals(v float64) string { return agreement.Decimals(v, 2) }
