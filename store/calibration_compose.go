package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// agreement is what one judge's counts are composed of.
type agreement struct {
	groups           []countedGroup
	pairs            []countedPair
	clusters, sealed []modelCount
	waiting          []modelCount // left out because it waits blind, labelled or not
	drawn            []modelCount // labels that were drawn and wait for people, of each draw
	slices           []countedSlice
}

// countedGroup counts pairs with equal answers, model, version and design.
type countedGroup struct {
	model, version string
	labelled       bool
	cell           calibration.Cell
	stratum        string
	probability    sql.NullFloat64
	drawn          int // draws that probability has in it, by number
	first, last    time.Time
	waiting        bool // in a blind review
}

func (g *countedGroup) setFlags(flags int) {
	g.labelled = flags != unlabelled
	g.cell.Human.Abstained = g.labelled && flags&flagAbstained != 0
	g.cell.Visible = g.labelled && flags&flagVisible != 0
	g.cell.Adjudicated = g.labelled && flags&flagAdjudicated != 0
}

// compareCounted puts groups in order: of models and versions first.
func compareCounted(a, b countedGroup) int {
	side := func(x, y bool) int { return oneIf(x) - oneIf(y) }
	return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.version, b.version),
		cmp.Compare(a.cell.Judge.Label, b.cell.Judge.Label), cmp.Compare(a.cell.Judge.Verdict, b.cell.Judge.Verdict),
		cmp.Compare(a.cell.Human.Label, b.cell.Human.Label), cmp.Compare(a.cell.Human.Verdict, b.cell.Human.Verdict),
		side(a.labelled, b.labelled), side(a.cell.Adjudicated, b.cell.Adjudicated), side(a.cell.Visible, b.cell.Visible),
		side(a.cell.Human.Abstained, b.cell.Human.Abstained), cmp.Compare(a.stratum, b.stratum),
		cmp.Compare(a.probability.Float64, b.probability.Float64), side(a.waiting, b.waiting))
}

// countedPair counts traces about which two people gave the same answers.
type countedPair struct {
	a, b string // labels.reviewer
	cell calibration.PairCell
}

// counts composes what a report is computed from. names are the users' by id.
func (f agreement) counts(scale judgeScale, names map[string]string) (counts []calibration.Counts) {
	pairs := namedPairs(f.pairs, names)
	of := func(model, version string) {
		counts = append(counts, calibration.Counts{
			Judge: scale.name, Model: model, PromptVersion: version,
			Labels: scale.labels, Ordinal: scale.ordinal, HumanPairs: pairs,
		})
	}
	slices.SortStableFunc(f.groups, compareCounted)
	f.sortSlices()
	for _, g := range f.groups {
		if n := len(counts); n == 0 || counts[n-1].Model != g.model || counts[n-1].PromptVersion != g.version {
			of(g.model, g.version)
		}
		last := &counts[len(counts)-1]
		addJudged(last, g)
		if g.labelled {
			addGroup(last, g)
		}
	}
	slices.SortFunc(f.sealed, func(a, b modelCount) int {
		return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.version, b.version))
	})
	for _, m := range f.sealed { // all of a model may be sealed
		if !slices.ContainsFunc(counts, func(c calibration.Counts) bool { return c.Model == m.model && c.PromptVersion == m.version }) {
			of(m.model, m.version)
		}
	}
	for i := range counts {
		counts[i].Clusters = countOf(f.clusters, counts[i])
		counts[i].Sealed = countOf(f.sealed, counts[i])
		counts[i].Waiting = countOf(f.waiting, counts[i])
		for _, d := range f.drawn {
			if d.model == counts[i].Model && d.version == counts[i].PromptVersion {
				counts[i].DrawnWaiting += d.n
			}
		}
		counts[i].Slices = f.slicesOf(counts[i].Model, counts[i].PromptVersion)
	}
	return counts
}

// addJudged counts evaluations whether they are labelled or not.
func addJudged(c *calibration.Counts, g countedGroup) {
	i := slices.IndexFunc(c.Judged, func(j calibration.JudgedCount) bool {
		return j.Verdict == g.cell.Judge.Verdict && j.Label == g.cell.Judge.Label
	})
	if i < 0 {
		i = len(c.Judged)
		c.Judged = append(c.Judged, calibration.JudgedCount{Verdict: g.cell.Judge.Verdict, Label: g.cell.Judge.Label})
	}
	c.Judged[i].N += g.cell.N
	if g.labelled || g.waiting {
		c.Judged[i].Reached += g.cell.N
	}
}

func addGroup(c *calibration.Counts, g countedGroup) {
	g.cell.Stratum, g.cell.InclusionProbability = g.stratum, g.probability.Float64
	same := func(x calibration.Cell) bool { n := g.cell.N; x.N = n; return x == g.cell }
	if i := slices.IndexFunc(c.Cells, same); i >= 0 {
		c.Cells[i].N += g.cell.N
	} else {
		c.Cells = append(c.Cells, g.cell)
	}
	if c.First.IsZero() || g.first.Before(c.First) {
		c.First = g.first
	}
	if g.last.After(c.Last) {
		c.Last = g.last
	}
	if g.cell.Visible {
		return
	}
	c.Items += g.cell.N
	i := slices.IndexFunc(c.Strata, func(s calibration.StratumCount) bool {
		return s.Stratum == g.stratum && s.InclusionProbability == g.probability.Float64
	})
	if i < 0 {
		i = len(c.Strata)
		c.Strata = append(c.Strata, calibration.StratumCount{Stratum: g.stratum, InclusionProbability: g.probability.Float64})
	}
	c.Strata[i].N += g.cell.N
}

// modelCount is one number for a model and prompt version.
type modelCount struct {
	model, version string
	n              int
}

func countOf(counted []modelCount, c calibration.Counts) int {
	for _, m := range counted {
		if m.model == c.Model && m.version == c.PromptVersion {
			return m.n
		}
	}
	return 0
}

// namedPairs are the pairs by the names of the two, in their order.
func namedPairs(pairs []countedPair, names map[string]string) (counts []calibration.PairCounts) {
	slices.SortFunc(pairs, func(x, y countedPair) int {
		return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b),
			cmp.Compare(x.cell.A.Label, y.cell.A.Label), cmp.Compare(x.cell.A.Verdict, y.cell.A.Verdict),
			cmp.Compare(x.cell.B.Label, y.cell.B.Label), cmp.Compare(x.cell.B.Verdict, y.cell.B.Verdict),
			oneIf(x.cell.Visible)-oneIf(y.cell.Visible))
	})
	for _, p := range pairs {
		a, b, cell := cmp.Or(names[p.a], p.a), cmp.Or(names[p.b], p.b), p.cell
		if a > b {
			a, b, cell.A, cell.B = b, a, cell.B, cell.A
		}
		i := slices.IndexFunc(counts, func(c calibration.PairCounts) bool { return c.A == a && c.B == b })
		if i < 0 {
			i = len(counts)
			counts = append(counts, calibration.PairCounts{A: a, B: b})
		}
		counts[i].Cells = append(counts[i].Cells, cell)
	}
	slices.SortFunc(counts, func(x, y calibration.PairCounts) int {
		return cmp.Or(strings.Compare(x.A, y.A), strings.Compare(x.B, y.B))
	})
	return counts
}

// reviewerNames are the users' names by id. Two users of one name are told
// apart by their e-mail addresses.
func reviewerNames(ctx context.Context, q querier) (map[string]string, error) {
	type user struct{ id, name, email string }
	users, err := collect(ctx, q, func(r *sql.Rows, u *user) error { return r.Scan(&u.id, &u.name, &u.email) },
		`SELECT id, name, email FROM users`)
	if err != nil {
		return nil, err
	}
	times := map[string]int{}
	for _, u := range users {
		times[u.name]++
	}
	names := make(map[string]string, len(users))
	for _, u := range users {
		names[u.id] = u.name
		if times[u.name] > 1 {
			names[u.id] = u.name + " <" + u.email + ">"
		}
	}
	return names, nil
}
