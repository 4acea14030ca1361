package calibration

import (
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
)

// verdictScale is declared for all judges, in its order.
var verdictScale = []string{string(judge.Pass), string(judge.Borderline), string(judge.Fail)}

// scale is the declared scale of a judge.
type scale struct {
	labels  []string // abstain labels left out
	ordinal bool
	known   map[string]judge.Label
}

func scaleOf(labels []judge.Label, ordinal bool) scale {
	s := scale{ordinal: ordinal, known: make(map[string]judge.Label, len(labels))}
	for _, l := range labels {
		s.known[l.Name] = l
		if !l.Abstain {
			s.labels = append(s.labels, l.Name)
		}
	}
	return s
}

// said is an answer as it can be compared: empty strings where there is none.
type said struct {
	label, verdict string
	abstained      bool
	tied           bool // with abstained: no abstention, but a tie
}

// read leaves out a label that is not on the scale (an older version of the
// judge may have had it) and takes the verdict that a label declares where the
// answer brings none of its own.
func (s scale) read(a Answer) said {
	l, known := s.known[a.Label]
	if a.Abstained || (known && l.Abstain) {
		return said{abstained: true, tied: a.Tied}
	}
	out := said{verdict: string(a.Verdict)}
	if known {
		out.label = l.Name
		if out.verdict == "" {
			out.verdict = string(l.Verdict)
		}
	}
	return out
}

// pairing counts two answers about the same trace: the first rater's and the
// second's.
type pairing struct {
	first, second said
	n             int
}

// comparison is a set of pairings brought to one scale.
type comparison struct {
	scale                      string
	labels                     []string
	matrix                     agreement.Confusion
	ordinal                    bool
	n, abstained, incomparable int
}

// compare uses labels when every pair that can be compared at all has one on
// both sides, and verdicts for all pairs otherwise: a figure never mixes scales.
func (s scale) compare(pairs []pairing) (comparison, error) {
	c := comparison{scale: ScaleLabels, labels: s.labels, ordinal: s.ordinal}
	for _, p := range pairs {
		if p.n == 0 || p.first.abstained || p.second.abstained {
			continue
		}
		labelled := p.first.label != "" && p.second.label != ""
		if !labelled && p.first.verdict != "" && p.second.verdict != "" {
			c.scale = ScaleVerdicts
		}
	}
	if len(s.labels) == 0 {
		c.scale = ScaleVerdicts
	}
	if c.scale == ScaleVerdicts {
		c.labels = verdictScale
	}
	at := make(map[string]int, len(c.labels))
	counts := make([][]int, len(c.labels))
	for i, l := range c.labels {
		at[l] = i
		counts[i] = make([]int, len(c.labels))
	}
	for _, p := range pairs {
		if p.n < 0 {
			return comparison{}, fmt.Errorf("a cell counts %d answers, less than nothing", p.n)
		}
		first, second := p.first.label, p.second.label
		if c.scale == ScaleVerdicts {
			first, second = p.first.verdict, p.second.verdict
		}
		i, okFirst := at[first]
		j, okSecond := at[second]
		switch {
		case p.first.abstained || p.second.abstained:
			c.abstained += p.n
		case !okFirst || !okSecond:
			c.incomparable += p.n
		default:
			counts[i][j] += p.n
		}
	}
	m, err := agreement.NewConfusion(c.labels, counts)
	if err != nil {
		return comparison{}, err
	}
	c.matrix, c.n = m, m.N()
	return c, nil
}

// kappa computes kappa and gives its reasons in the names of the raters.
func (c comparison) kappa(w agreement.Weights, first, second, both string) agreement.Kappa {
	k := agreement.CohenKappa(c.matrix, w, Level)
	a, b := only(c.matrix.Rows(), c.n), only(c.matrix.Columns(), c.n)
	switch {
	case c.n == 0:
		k.Undefined = "there is nothing to compare yet"
	case a >= 0 && a == b:
		k.Undefined = fmt.Sprintf("%s always said %q, so chance alone would agree as often", both, c.labels[a])
	case a >= 0 || b >= 0:
		who, constant := first, a
		if b >= 0 {
			who, constant = second, b
		}
		k.NoTest = c.neverSaid(who, constant) + ", so kappa is 0 by construction: there is no test and no interval"
		k.NoInterval = k.NoTest
	}
	return k
}

// neverSaid describes a rater with one label only: by the label that is missing
// when there is one, else by the one that was used.
func (c comparison) neverSaid(who string, constant int) string {
	if len(c.labels) == 2 {
		return fmt.Sprintf("%s never said %q", who, c.labels[1-constant])
	}
	return fmt.Sprintf("%s always said %q", who, c.labels[constant])
}

// only is the index of the one label that a rater used, or -1.
func only(totals []int, n int) int {
	for k, t := range totals {
		if n > 0 && t == n {
			return k
		}
	}
	return -1
}

// share is the agreement; empty is said in plain words.
func (c comparison) share() agreement.Estimate {
	e := agreement.Agreement(c.matrix, Level)
	if c.n == 0 {
		e.Undefined = "there is nothing to compare yet"
	}
	return e
}
