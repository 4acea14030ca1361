package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// What follows counts agreement over every evaluation and label, as the kept
// counts must have it. It takes seconds for a million, so only checks ask it.

// recountAgreement counts for one judge what keptAgreement reads.
func recountAgreement(ctx context.Context, q querier, a Actor, projectID, judgeName string) (f agreement, err error) {
	if f.groups, err = countGroups(ctx, q, a, projectID, judgeName); err != nil {
		return f, err
	}
	if f.pairs, err = countPairs(ctx, q, a, projectID, judgeName, nil); err != nil {
		return f, err
	}
	if f.clusters, err = countClusters(ctx, q, a, projectID, judgeName); err != nil {
		return f, err
	}
	if f.slices, err = countSlices(ctx, q, projectID, judgeName, !a.MayDecide()); err != nil {
		return f, err
	}
	if f.sealed, err = countSealed(ctx, q, a, projectID, judgeName, "JOIN consensus c ON c.project_id = e.project_id AND c.judge = e.judge AND c.trace_id = e.trace_id"); err != nil {
		return f, err
	}
	if f.waiting, err = countSealed(ctx, q, a, projectID, judgeName, ""); err != nil {
		return f, err
	}
	draws, err := drawsOf(ctx, q, projectID, judgeName)
	f.drawn = draws.waiting()
	return f, err
}

func countGroups(ctx context.Context, q querier, a Actor, projectID, judgeName string) ([]countedGroup, error) {
	seal := sealedFor(a, liveOf("e"))
	groups, err := collect(ctx, q, scanGroup, `
SELECT `+raterOf("e")+`, e.prompt_version, e.label, e.verdict, COALESCE(c.label, ''), COALESCE(c.verdict, ''),
    CASE WHEN c.trace_id IS NULL THEN -1 ELSE
        CASE WHEN c.abstained OR c.tied THEN 1 ELSE 0 END + CASE WHEN c.visible THEN 2 ELSE 0 END
        + CASE WHEN c.basis = 'adjudicated' THEN 4 ELSE 0 END
    END,
    COALESCE(c.stratum, ''), c.inclusion_probability, CASE WHEN c.trace_id IS NULL THEN 0 ELSE `+drawnBefore("e")+` END,
    CASE WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.evaluation_id = e.id AND `+blindly("r")+`) THEN 1 ELSE 0 END,
    count(*), min(c.labelled_at), max(c.labelled_at)
FROM evaluations e
LEFT JOIN consensus c ON c.project_id = e.project_id AND c.judge = e.judge AND c.trace_id = e.trace_id
WHERE e.project_id = ? AND e.judge = ? AND e.verdict <> '' AND e.shadow_of = '' AND NOT `+seal.sql+`
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11`, append([]any{projectID, judgeName}, seal.args...)...)
	if err != nil {
		return nil, err
	}
	draws, err := drawsOf(ctx, q, projectID, judgeName)
	for i := range groups {
		draws.apply(&groups[i])
	}
	return groups, err
}

func scanGroup(r *sql.Rows, g *countedGroup) error {
	var flags, waiting int
	var first, last aggregateTime
	err := r.Scan(&g.model, &g.version, &g.cell.Judge.Label, &g.cell.Judge.Verdict, &g.cell.Human.Label, &g.cell.Human.Verdict,
		&flags, &g.stratum, &g.probability, &g.drawn, &waiting, &g.cell.N, &first, &last)
	g.setFlags(flags)
	g.waiting = waiting == 1
	g.first, g.last = first.Time, last.Time
	return err
}

// countSealed counts the evaluations that are left out, because the actor may still
// answer them blind and the sum would tell: those that join leaves.
func countSealed(ctx context.Context, q querier, a Actor, projectID, judgeName, join string) ([]modelCount, error) {
	if !a.MayDecide() {
		return nil, nil
	}
	seal := sealedFor(a, liveOf("e"))
	return collect(ctx, q, func(r *sql.Rows, c *modelCount) error { return r.Scan(&c.model, &c.version, &c.n) }, `
SELECT `+raterOf("e")+`, e.prompt_version, count(*)
FROM evaluations e `+join+`
WHERE e.project_id = ? AND e.judge = ? AND e.verdict <> '' AND e.shadow_of = '' AND `+seal.sql+`
GROUP BY 1, 2`, append([]any{projectID, judgeName}, seal.args...)...)
}

// countClusters says how many traces of a group are independent of each other.
func countClusters(ctx context.Context, q querier, a Actor, projectID, judgeName string) ([]modelCount, error) {
	seal := sealedFor(a, liveOf("e"))
	return collect(ctx, q, func(r *sql.Rows, c *modelCount) error { return r.Scan(&c.model, &c.version, &c.n) }, `
SELECT `+raterOf("e")+`, e.prompt_version, count(DISTINCT CASE WHEN c.cluster = '' THEN c.trace_id ELSE c.cluster END)
FROM consensus c
JOIN evaluations e ON e.trace_id = c.trace_id AND e.judge = c.judge
WHERE c.project_id = ? AND c.judge = ? AND NOT c.visible AND e.verdict <> '' AND e.shadow_of = '' AND NOT `+seal.sql+`
GROUP BY 1, 2`, append([]any{projectID, judgeName}, seal.args...)...)
}

// countPairs counts the answers of every two reviewers about the same traces:
// of each reviewer the newest label that is not adjudicated counts, unless it
// abstains. Only traces with several labels are looked at, and of these only the
// given ones unless there are none. The labels come sorted and are paired here:
// a database that knows nothing of their numbers joins them in hours.
func countPairs(ctx context.Context, q querier, a Actor, projectID, judgeName string, only []string) (_ []countedPair, err error) {
	seal := traceSealedFor(a, "l.trace_id")
	among := ""
	if len(only) > 0 {
		among = ` AND l.trace_id IN (` + placeholders(len(only)) + `)`
	}
	args := slices.Concat([]any{projectID, judgeName}, anys(only), seal.args)
	rows, err := q.QueryContext(ctx, `
SELECT x.trace_id, x.reviewer, x.first_label, x.first_verdict, x.verdict_visible
FROM (
    SELECT l.trace_id, l.reviewer, l.first_label, l.first_verdict, l.verdict_visible, l.abstained,
        row_number() OVER (PARTITION BY l.trace_id, l.reviewer ORDER BY l.labelled_at DESC, l.id DESC) AS place
    FROM labels l JOIN consensus c ON c.project_id = l.project_id AND c.judge = l.judge AND c.trace_id = l.trace_id
    WHERE l.project_id = ? AND l.judge = ?`+among+` AND c.labels > 1 AND l.reviewer <> '' AND NOT l.adjudicated
      AND `+counted+` AND NOT `+seal.sql+`
) x
WHERE x.place = 1 AND NOT x.abstained
ORDER BY x.trace_id, x.reviewer`, args...)
	if err != nil {
		return nil, fmt.Errorf("read the labels of judge %s: %w", judgeName, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	type said struct {
		reviewer string
		answer   calibration.Answer
		visible  bool
	}
	counts := map[countedPair]int{}
	trace, before := "", []said(nil) // of this trace, by reviewers whose names come first
	for rows.Next() {
		var of string
		var one said
		if err := rows.Scan(&of, &one.reviewer, &one.answer.Label, &one.answer.Verdict, &one.visible); err != nil {
			return nil, err
		}
		if of != trace {
			trace, before = of, before[:0]
		}
		for _, other := range before {
			counts[countedPair{other.reviewer, one.reviewer,
				calibration.PairCell{A: other.answer, B: one.answer, Visible: other.visible || one.visible}}]++
		}
		before = append(before, one)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	pairs := make([]countedPair, 0, len(counts))
	for pair, n := range counts {
		pair.cell.N = n
		pairs = append(pairs, pair)
	}
	return pairs, nil
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
