package store

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// driftSpan is from when on something is counted.
type driftSpan struct {
	group agreementGroup
	from  time.Time // exclusive; zero: from the beginning
	to    time.Time // inclusive; zero: to the end
}

// auditLabels counts, for each span, labels of random audits that do not wait blind:
// of evaluations that were themselves drawn at random, or labelled in a file that
// says so. Another version's evaluations of the same traces were not drawn, and are
// not counted. The answers come in the order of the spans.
func auditLabels(ctx context.Context, q querier, scale judgeScale, spans []driftSpan) ([]auditCount, error) {
	counts := make([]auditCount, len(spans))
	if len(spans) == 0 {
		return counts, nil
	}
	var args []any
	for i, s := range spans {
		from, to := int64(math.MinInt64), int64(math.MaxInt64)
		if !s.from.IsZero() {
			from = s.from.UnixMicro()
		}
		if !s.to.IsZero() { // labels in files may be dated in the future
			to = s.to.UnixMicro()
		}
		args = append(args, i, s.group.projectID, s.group.judge, s.group.model, s.group.version, from, to)
	}
	type row struct {
		span        int
		cell        calibration.Cell
		first, last int64
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *row) error {
		return r.Scan(&v.span, &v.cell.Judge.Label, &v.cell.Judge.Verdict, &v.cell.Human.Label, &v.cell.Human.Verdict, &v.cell.N, &v.first, &v.last)
	}, `
WITH spans (i, project_id, judge, model, prompt_version, after, upto) AS (VALUES `+
		strings.TrimSuffix(strings.Repeat("(CAST(? AS INTEGER), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT)), ", len(spans)), ", ")+`)
SELECT s.i, c.judge_label, c.judge_verdict, c.human_label, c.human_verdict, count(*), min(e.labelled_us), max(e.labelled_us)
FROM spans s
JOIN agreement_cells c ON c.project_id = s.project_id AND c.judge = s.judge AND c.model = s.model AND c.prompt_version = s.prompt_version
JOIN evaluations e ON e.cell = c.id AND e.labelled_us > s.after AND e.labelled_us <= s.upto
WHERE c.stratum = 'random_audit' AND c.flags IN (0, 4) AND NOT c.waiting AND c.n > 0
  AND (EXISTS (SELECT 1 FROM reviews r WHERE r.evaluation_id = e.id AND r.stratum = 'random_audit')
    OR EXISTS (SELECT 1 FROM labels l WHERE l.project_id = e.project_id AND l.judge = e.judge AND l.trace_id = e.trace_id AND l.source = 'imported' AND l.stratum = 'random_audit'))
GROUP BY 1, 2, 3, 4, 5`, args...)
	if err != nil {
		return nil, err
	}
	for _, v := range rows {
		counts[v.span].add(v.cell, v.first, v.last)
	}
	for i := range counts {
		if counts[i].agreed, counts[i].labels, err = calibration.SameVerdict(scale.labels, counts[i].cells); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// auditCount are the labels of a span.
type auditCount struct {
	agreed, labels int
	first, last    sql.NullInt64 // microseconds
	cells          []calibration.Cell
}

func (c *auditCount) add(cell calibration.Cell, first, last int64) {
	c.cells = append(c.cells, cell)
	if !c.first.Valid || first < c.first.Int64 {
		c.first = sql.NullInt64{Int64: first, Valid: true}
	}
	if !c.last.Valid || last > c.last.Int64 {
		c.last = sql.NullInt64{Int64: last, Valid: true}
	}
}

// readDriftDays reads the days of a judge, or of all judges where its name is empty.
func readDriftDays(ctx context.Context, q querier, projectID, judgeName string) (days map[agreementGroup]map[string]driftSum, err error) {
	days = map[agreementGroup]map[string]driftSum{}
	_, err = collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		g := agreementGroup{projectID: projectID}
		var day string
		var s driftSum
		if err := r.Scan(&g.judge, &g.model, &g.version, &day, &s.verdicts, &s.passed, &s.scores, &s.scoreMicro, &s.squareMicro); err != nil {
			return err
		}
		if days[g] == nil {
			days[g] = map[string]driftSum{}
		}
		days[g][day] = s
		return nil
	}, `SELECT judge, model, prompt_version, day, verdicts, passed, scores, score_micro, square_micro
FROM drift_days WHERE project_id = ? AND (? = '' OR judge = ?)`, projectID, judgeName, judgeName)
	return days, err
}

// sumDays adds the days after one and before another up; empty: no bound.
func sumDays(days map[string]driftSum, after, before string) (sum driftSum) {
	for day, s := range days {
		if day > after && (before == "" || day < before) {
			sum = sum.plus(s, 1)
		}
	}
	return sum
}

func (s driftSum) into(c *calibration.DriftCounts) {
	c.Passed, c.Verdicts, c.Scores = int(s.passed), int(s.verdicts), int(s.scores)
	c.ScoreSum, c.ScoreSquares = float64(s.scoreMicro)/1e6, float64(s.squareMicro)/1e6
}

// firstWaiting are the oldest days with an evaluation that waits blind. From such a
// day on, sums of verdicts would tell what single ones are to whoever knows the
// others, so who may decide is told the days before.
func firstWaiting(ctx context.Context, q querier, projectID, judgeName string) (map[agreementGroup]string, error) {
	days := map[agreementGroup]string{}
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		g := agreementGroup{projectID: projectID}
		var day string
		err := r.Scan(&g.judge, &g.model, &g.version, &day)
		days[g] = day
		return err
	}, `
SELECT e.judge, `+raterOf("e")+`, e.prompt_version, min(substr(CAST(e.finished_at AS TEXT), 1, 10)) FROM evaluations e
WHERE e.sealed AND e.shadow_of = '' AND e.project_id = ? AND (? = '' OR e.judge = ?) AND e.finished_at IS NOT NULL GROUP BY 1, 2, 3`, projectID, judgeName, judgeName)
	return days, err
}
