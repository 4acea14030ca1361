package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
)

// driftDay is a day of a judge, model and prompt version.
type driftDay struct {
	agreementGroup
	day string // 2006-01-02, UTC
}

// driftSum are the verdicts and scores of some days.
type driftSum struct{ verdicts, passed, scores, scoreMicro, squareMicro int64 }

func (s driftSum) plus(o driftSum, sign int64) driftSum {
	return driftSum{s.verdicts + sign*o.verdicts, s.passed + sign*o.passed, s.scores + sign*o.scores,
		s.scoreMicro + sign*o.scoreMicro, s.squareMicro + sign*o.squareMicro}
}

// micro is a score in millionths, whose sums are exact.
func micro(v float64) int64 { return int64(math.Round(v * 1e6)) }

// verdictGiven is one evaluation as days of drift count it.
func verdictGiven(verdict judge.Verdict, score *float64) (s driftSum) {
	s.verdicts = 1
	if verdict == judge.Pass {
		s.passed = 1
	}
	if score != nil {
		s.scores, s.scoreMicro, s.squareMicro = 1, micro(*score), micro(*score**score)
	}
	return s
}

// measureVerdict counts a result that is being stored. A shadow's counts nowhere.
func (t *tx) measureVerdict(s stored, f finished) {
	e, p := f.Evaluation, f.Work.Planned
	if e.Verdict == "" || s.shadowOf != "" {
		return
	}
	model := p.Model // as raterOf names it
	switch {
	case e.Engine != p.Engine && e.Engine != "":
		model = e.Engine
	case p.Samples > 1:
		model = fmt.Sprintf("%s ×%d", p.Model, p.Samples)
	}
	day := driftDay{agreementGroup{s.projectID, s.judge, model, p.PromptVersion}, dayOf(t.now)}
	t.counts.drift[day] = t.counts.drift[day].plus(verdictGiven(e.Verdict, e.Score), 1)
}

// forgetVerdict takes a verdict out of its day that is about to be given anew.
func (t *tx) forgetVerdict(ctx context.Context, id string) error {
	var day driftDay
	var verdict judge.Verdict
	var score sql.NullFloat64
	var at time.Time
	err := t.scan(ctx, `SELECT e.project_id, e.judge, `+raterOf("e")+`, e.prompt_version, e.finished_at, e.verdict, e.score
FROM evaluations e WHERE e.id = ? AND e.verdict <> '' AND e.shadow_of = '' AND e.finished_at IS NOT NULL`, []any{id},
		[]any{&day.projectID, &day.judge, &day.model, &day.version, &at, &verdict, &score})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	day.day = dayOf(at)
	given := verdictGiven(verdict, nil)
	if score.Valid {
		given = verdictGiven(verdict, &score.Float64)
	}
	t.counts.drift[day] = t.counts.drift[day].plus(given, -1)
	return nil
}

func (d *deltas) writeDrift(ctx context.Context, t *tx) error {
	rows := newBulk("drift_days", ` ON CONFLICT (project_id, judge, model, prompt_version, day) DO UPDATE SET
verdicts = drift_days.verdicts + excluded.verdicts, passed = drift_days.passed + excluded.passed, scores = drift_days.scores + excluded.scores,
score_micro = drift_days.score_micro + excluded.score_micro, square_micro = drift_days.square_micro + excluded.square_micro`,
		"project_id", "judge", "model", "prompt_version", "day", "verdicts", "passed", "scores", "score_micro", "square_micro")
	for _, k := range slices.SortedFunc(maps.Keys(d.drift), compareDriftDays) {
		s := d.drift[k]
		rows.add(k.projectID, k.judge, k.model, k.version, k.day, s.verdicts, s.passed, s.scores, s.scoreMicro, s.squareMicro)
	}
	return rows.write(ctx, t)
}

func compareDriftDays(a, b driftDay) int {
	return cmp.Or(cmp.Compare(a.projectID, b.projectID), cmp.Compare(a.judge, b.judge), cmp.Compare(a.model, b.model),
		cmp.Compare(a.version, b.version), cmp.Compare(a.day, b.day))
}

// checkDriftDays compares the verdicts and scores of every day.
func checkDriftDays(ctx context.Context, q querier) ([]string, error) {
	name := ` || ' ' || judge || ' ' || model || ' ' || prompt_version || ' ' || day || `
	var kept, counted string
	for i, part := range []struct{ name, kept, counted string }{
		{"verdicts", "verdicts", "count(*)"},
		{"passed", "passed", "sum(CASE WHEN verdict = 'pass' THEN 1 ELSE 0 END)"},
		{"scores", "scores", "count(score)"},
		{"score_micro", "score_micro", "COALESCE(sum(CAST(round(score * 1000000) AS BIGINT)), 0)"},
		{"square_micro", "square_micro", "COALESCE(sum(CAST(round(score * score * 1000000) AS BIGINT)), 0)"},
	} {
		if i > 0 {
			kept, counted = kept+"\nUNION ALL\n", counted+"\nUNION ALL\n"
		}
		kept += `SELECT project_id` + name + `' ` + part.name + `', ` + part.kept + ` FROM drift_days WHERE ` + part.kept + ` <> 0`
		counted += `SELECT project_id` + name + `' ` + part.name + `', ` + part.counted + ` FROM (
    SELECT e.project_id, e.judge, ` + raterOf("e") + ` AS model, e.prompt_version, substr(CAST(e.finished_at AS TEXT), 1, 10) AS day, e.verdict, e.score
    FROM evaluations e WHERE e.verdict <> '' AND e.shadow_of = '' AND e.finished_at IS NOT NULL) AS x GROUP BY 1`
	}
	return compareCounts(ctx, q, "verdicts by day", kept, counted)
}
