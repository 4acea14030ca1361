package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// judgedEvaluation reads what the judge said in full, without its calls. Run
// and reasons are the caller's, who has them.
func judgedEvaluation(ctx context.Context, q querier, id string) (judge.Evaluation, error) {
	rows, err := collect(ctx, q, scanFull, `
SELECT FALSE, `+fullColumns+` FROM evaluations e JOIN traces tr ON tr.id = e.trace_id WHERE e.id = ?`, id)
	if err != nil {
		return judge.Evaluation{}, err
	}
	if len(rows) == 0 {
		return judge.Evaluation{}, fmt.Errorf("evaluation %s: %w", id, ErrNotFound)
	}
	e := rows[0].Evaluation
	d, err := detailOne(ctx, q, id)
	d.fill(&e)
	return e, err
}

// importedLabels are the human labels that came with a trace, oldest first.
func importedLabels(ctx context.Context, q querier, traceID string) ([]judge.HumanLabel, error) {
	return collect(ctx, q, func(r *sql.Rows, l *judge.HumanLabel) error {
		var findings string
		var visible bool
		var at sql.NullTime
		var probability sql.NullFloat64
		if err := r.Scan(&l.Judge, &l.Label, &l.Verdict, &l.Reviewer, &findings, &l.Comment, &at, &visible, &l.Adjudicated,
			&l.Stratum, &probability); err != nil {
			return err
		}
		blind := !visible
		l.At, l.Blind = optional(at), &blind
		if probability.Valid {
			l.InclusionProbability = &probability.Float64
		}
		return json.Unmarshal([]byte(findings), &l.Findings)
	}, `
SELECT judge, label, verdict, reviewer, findings, comment, labelled_at, verdict_visible, adjudicated, stratum, inclusion_probability
FROM labels WHERE trace_id = ? AND source = 'imported' ORDER BY labelled_at, id`, traceID)
}
