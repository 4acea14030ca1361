package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// CalibrationCounts counts what a calibration report is computed from: one
// element per judge, model and prompt version that gave verdicts, ordered so.
// An empty judge name means: every judge of the project. ErrNotFound: the
// project has no such judge. Roles: lead, auditor, admin.
//
// The human side is the consensus (see recomputeConsensus), so every
// evaluation gives one pair at most; labels that tie count as an abstention,
// because people as a whole gave no answer. Human pairs are the newest labels
// of two reviewers on one trace, before any reveal and never adjudicated;
// abstentions are left out of them.
func (s *Store) CalibrationCounts(ctx context.Context, a Actor, project, judgeName string) (counts []calibration.Counts, err error) {
	defer wrap(&err, "count agreement of judge %q", judgeName)
	if err := s.authorise(ctx, a, readers, "calibration.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	scales, err := judgeScales(ctx, s.reader, p.ID, judgeName)
	if err != nil {
		return nil, err
	}
	if len(scales) == 0 && judgeName != "" {
		return nil, fmt.Errorf("project %s has no judge %q: %w", p.Name, judgeName, ErrNotFound)
	}
	// What is sealed for somebody is counted by nobody in their place, so each
	// who may decide has counts of their own.
	reader := ""
	if a.MayDecide() {
		reader = a.UserID
	}
	return s.keptCounts.of(ctx, s, p.ID+" "+reader+" "+judgeName, func() (counts []calibration.Counts, err error) {
		for _, scale := range scales {
			of, err := countJudge(ctx, s.reader, a, p.ID, scale)
			if err != nil {
				return nil, err
			}
			counts = append(counts, of...)
		}
		return counts, nil
	})
}

// judgeScale is the label set of a judge as it is now.
type judgeScale struct {
	name    string
	ordinal bool
	labels  []judge.Label
}

func judgeScales(ctx context.Context, q querier, projectID, judgeName string) ([]judgeScale, error) {
	scales, err := collect(ctx, q, func(r *sql.Rows, s *judgeScale) error { return r.Scan(&s.name, &s.ordinal) }, `
SELECT name, ordinal FROM judges WHERE project_id = ? AND current AND (? = '' OR name = ?) ORDER BY name`,
		projectID, judgeName, judgeName)
	if err != nil {
		return nil, err
	}
	for i := range scales {
		if scales[i].labels, err = judgeLabels(ctx, q, projectID, scales[i].name); err != nil {
			return nil, err
		}
	}
	return scales, nil
}

// countedGroup is a row of the one big count: pairs with equal answers, model,
// version and design.
type countedGroup struct {
	model, version string
	labelled       bool
	cell           calibration.Cell
	stratum        string
	probability    sql.NullFloat64
	first, last    aggregateTime
}

func countJudge(ctx context.Context, q querier, a Actor, projectID string, scale judgeScale) ([]calibration.Counts, error) {
	// Four questions that don't need each other: asked at once, the slowest
	// sets the time.
	var groups []countedGroup
	var pairs []calibration.PairCounts
	var clusters, sealed []modelCount
	ask, ctx := errgroup.WithContext(ctx)
	ask.Go(func() (err error) { groups, err = countGroups(ctx, q, a, projectID, scale.name); return err })
	ask.Go(func() (err error) { pairs, err = countPairs(ctx, q, a, projectID, scale.name); return err })
	ask.Go(func() (err error) { clusters, err = countClusters(ctx, q, a, projectID, scale.name); return err })
	ask.Go(func() (err error) { sealed, err = countSealed(ctx, q, a, projectID, scale.name); return err })
	if err := ask.Wait(); err != nil {
		return nil, err
	}
	var counts []calibration.Counts
	for _, g := range groups {
		if n := len(counts); n == 0 || counts[n-1].Model != g.model || counts[n-1].PromptVersion != g.version {
			counts = append(counts, calibration.Counts{
				Judge: scale.name, Model: g.model, PromptVersion: g.version,
				Labels: scale.labels, Ordinal: scale.ordinal, HumanPairs: pairs,
			})
		}
		if g.labelled {
			addGroup(&counts[len(counts)-1], g)
		}
	}
	for _, m := range sealed { // all of a model may be sealed
		if !slices.ContainsFunc(counts, func(c calibration.Counts) bool { return c.Model == m.model && c.PromptVersion == m.version }) {
			counts = append(counts, calibration.Counts{
				Judge: scale.name, Model: m.model, PromptVersion: m.version, Labels: scale.labels, Ordinal: scale.ordinal, HumanPairs: pairs,
			})
		}
	}
	for i := range counts {
		counts[i].Clusters = countOf(clusters, counts[i])
		counts[i].Sealed = countOf(sealed, counts[i])
	}
	return counts, nil
}

// Bits of the flags by which countGroups groups: one number sorts faster than
// four columns.
const (
	flagAbstained = 1 << iota
	flagVisible
	flagAdjudicated
)

func countGroups(ctx context.Context, q querier, a Actor, projectID, judgeName string) ([]countedGroup, error) {
	seal := sealedFor(a, "e.id")
	return collect(ctx, q, scanGroup, `
SELECT e.model, e.prompt_version, e.label, e.verdict, COALESCE(c.label, ''), COALESCE(c.verdict, ''),
    CASE WHEN c.trace_id IS NULL THEN -1 ELSE
        CASE WHEN c.abstained OR c.tied THEN 1 ELSE 0 END + CASE WHEN c.visible THEN 2 ELSE 0 END
        + CASE WHEN c.basis = 'adjudicated' THEN 4 ELSE 0 END
    END,
    COALESCE(c.stratum, ''), c.inclusion_probability, count(*), min(c.labelled_at), max(c.labelled_at)
FROM evaluations e
LEFT JOIN consensus c ON c.project_id = e.project_id AND c.judge = e.judge AND c.trace_id = e.trace_id
WHERE e.project_id = ? AND e.judge = ? AND e.verdict <> '' AND NOT `+seal.sql+`
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9`, append([]any{projectID, judgeName}, seal.args...)...)
}

func scanGroup(r *sql.Rows, g *countedGroup) error {
	var flags int
	err := r.Scan(&g.model, &g.version, &g.cell.Judge.Label, &g.cell.Judge.Verdict, &g.cell.Human.Label, &g.cell.Human.Verdict,
		&flags, &g.stratum, &g.probability, &g.cell.N, &g.first, &g.last)
	g.labelled = flags >= 0
	g.cell.Human.Abstained = g.labelled && flags&flagAbstained != 0
	g.cell.Visible = g.labelled && flags&flagVisible != 0
	g.cell.Adjudicated = g.labelled && flags&flagAdjudicated != 0
	return err
}

func addGroup(c *calibration.Counts, g countedGroup) {
	same := func(x calibration.Cell) bool { n := g.cell.N; x.N = n; return x == g.cell }
	if i := slices.IndexFunc(c.Cells, same); i >= 0 {
		c.Cells[i].N += g.cell.N
	} else {
		c.Cells = append(c.Cells, g.cell)
	}
	if c.First.IsZero() || g.first.Before(c.First) {
		c.First = g.first.Time
	}
	if g.last.After(c.Last) {
		c.Last = g.last.Time
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

// countSealed counts the labelled evaluations that are left out, because the
// actor may still answer them blind and the sum would tell.
func countSealed(ctx context.Context, q querier, a Actor, projectID, judgeName string) ([]modelCount, error) {
	if !a.MayDecide() {
		return nil, nil
	}
	seal := sealedFor(a, "e.id")
	return collect(ctx, q, func(r *sql.Rows, c *modelCount) error { return r.Scan(&c.model, &c.version, &c.n) }, `
SELECT e.model, e.prompt_version, count(*)
FROM evaluations e JOIN consensus c ON c.project_id = e.project_id AND c.judge = e.judge AND c.trace_id = e.trace_id
WHERE e.project_id = ? AND e.judge = ? AND e.verdict <> '' AND `+seal.sql+`
GROUP BY e.model, e.prompt_version`, append([]any{projectID, judgeName}, seal.args...)...)
}

// countClusters says how many traces of a group are independent of each other.
func countClusters(ctx context.Context, q querier, a Actor, projectID, judgeName string) ([]modelCount, error) {
	seal := sealedFor(a, "e.id")
	return collect(ctx, q, func(r *sql.Rows, c *modelCount) error { return r.Scan(&c.model, &c.version, &c.n) }, `
SELECT e.model, e.prompt_version, count(DISTINCT CASE WHEN c.cluster = '' THEN c.trace_id ELSE c.cluster END)
FROM consensus c
JOIN evaluations e ON e.trace_id = c.trace_id AND e.judge = c.judge
WHERE c.project_id = ? AND c.judge = ? AND NOT c.visible AND e.verdict <> '' AND NOT `+seal.sql+`
GROUP BY e.model, e.prompt_version`, append([]any{projectID, judgeName}, seal.args...)...)
}

// countPairs counts the answers of every two reviewers about the same traces.
// Only traces with several labels are looked at; the first reviewer of a pair
// is the one whose name comes first.
func countPairs(ctx context.Context, q querier, a Actor, projectID, judgeName string) ([]calibration.PairCounts, error) {
	seal := traceSealedFor(a, "c.trace_id")
	type pair struct {
		a, b string
		cell calibration.PairCell
	}
	pairs, err := collect(ctx, q, func(r *sql.Rows, p *pair) error {
		return r.Scan(&p.a, &p.b, &p.cell.A.Label, &p.cell.A.Verdict, &p.cell.B.Label, &p.cell.B.Verdict, &p.cell.Visible, &p.cell.N)
	}, `
SELECT x.reviewer, y.reviewer, x.first_label, x.first_verdict, y.first_label, y.first_verdict,
    x.verdict_visible OR y.verdict_visible, count(*)
FROM consensus c
JOIN labels x ON x.project_id = c.project_id AND x.judge = c.judge AND x.trace_id = c.trace_id
JOIN labels y ON y.project_id = c.project_id AND y.judge = c.judge AND y.trace_id = c.trace_id AND y.reviewer > x.reviewer
WHERE c.project_id = ? AND c.judge = ? AND c.labels > 1 AND x.reviewer <> ''
  AND NOT x.adjudicated AND NOT x.abstained AND NOT EXISTS (`+newerLabel("x")+`)
  AND NOT y.adjudicated AND NOT y.abstained AND NOT EXISTS (`+newerLabel("y")+`)
  AND NOT `+seal.sql+`
GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7`, append([]any{projectID, judgeName}, seal.args...)...)
	if err != nil {
		return nil, err
	}
	names, err := reviewerNames(ctx, q)
	if err != nil {
		return nil, err
	}
	var counts []calibration.PairCounts
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
	return counts, nil
}

// newerLabel finds a later label of the same reviewer on the same trace.
func newerLabel(of string) string {
	return strings.ReplaceAll(`SELECT 1 FROM labels n WHERE n.project_id = l.project_id AND n.judge = l.judge
    AND n.trace_id = l.trace_id AND n.reviewer = l.reviewer AND NOT n.adjudicated AND (n.labelled_at, n.id) > (l.labelled_at, l.id)`,
		"l.", of+".")
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

// aggregateTime reads the result of min or max over a time column: SQLite
// forgets there that the text is a time.
type aggregateTime struct{ time.Time }

// Scan implements sql.Scanner.
func (t *aggregateTime) Scan(v any) (err error) {
	switch v := v.(type) {
	case nil:
		t.Time = time.Time{}
	case time.Time:
		t.Time = v.UTC()
	case string:
		t.Time, err = time.Parse("2006-01-02 15:04:05.999999999-07:00", v)
		t.Time = t.UTC()
	default:
		return fmt.Errorf("a time came back from the database as %T", v)
	}
	return err
}
