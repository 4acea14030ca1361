package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/countersign/countersign/judge"
)

// EvaluationRow is an evaluation as lists show it.
type EvaluationRow struct {
	ID            string
	TraceID       string // the file's id
	Title         string // of the trace, one line
	Judge         string
	PromptVersion string
	Engine        string // those that answered
	Model         string
	// AnsweredBy is "rules" where identical texts needed no model; else empty.
	AnsweredBy   string
	Endpoint     string // the configured name; empty: the default one
	Samples      int    // calls that vote on the verdict, at least 1
	RefusedField string // what the trace lacks; empty: it was not refused
	Message      string // why it was refused, in plain words
	Domain       string
	Stakes       judge.Stakes
	Status       judge.Status
	Score        *float64 // in [0,1]; nil: none, or sealed
	Verdict      judge.Verdict
	Label        string
	LeadReason   string // the most urgent; empty: none, or sealed
	Result       *judge.Result
	CreatedAt    time.Time
	Sealed       bool // for the actor who asked
	ReviewID     string
	Shadow       bool // made beside another one to be compared with; it counts for nothing
}

var rowColumns = func() string {
	engine, model := answeredBy("e")
	return `e.id, tr.external_id, tr.title, e.judge, e.prompt_version, ` + engine + `, ` + model + `, e.answered_engine, e.endpoint, e.samples,
    e.refused_field, CASE WHEN e.status = 'refused' THEN e.error ELSE '' END, tr.domain, tr.stakes,
    e.status, e.score, e.verdict, e.label, e.lead_reason, e.result_verdict, e.result_label, e.result_source, e.created_at,
    coalesce((SELECT r.id FROM reviews r WHERE r.evaluation_id = e.id), ''), e.shadow_of <> ''`
}()

// rowInto are the destinations of rowColumns, in their order.
func rowInto(e *EvaluationRow, r *judge.Result) []any {
	return []any{&e.ID, &e.TraceID, &e.Title, &e.Judge, &e.PromptVersion, &e.Engine, &e.Model, &e.AnsweredBy, &e.Endpoint, &e.Samples,
		&e.RefusedField, &e.Message, &e.Domain, &e.Stakes,
		&e.Status, &e.Score, &e.Verdict, &e.Label, &e.LeadReason, &r.Verdict, &r.Label, &r.Source, &e.CreatedAt, &e.ReviewID, &e.Shadow}
}

// seal leaves in the row what an actor for whom it is sealed may see.
func (e *EvaluationRow) seal() {
	e.Score, e.Verdict, e.Label, e.Result = nil, "", "", nil
	e.LeadReason = sealLead(e.LeadReason)
}

func scanEvaluationRow(rows *sql.Rows, e *EvaluationRow) error {
	var r judge.Result
	if err := rows.Scan(append([]any{&e.Sealed}, rowInto(e, &r)...)...); err != nil {
		return err
	}
	e.CreatedAt = e.CreatedAt.UTC()
	if r.Source != "" {
		e.Result = &r
	}
	if e.Sealed {
		e.seal()
	}
	return nil
}

// ListEvaluations lists evaluations, the newest first, and the After of the
// next page (empty: no more). What is sealed for the actor is left out of each
// row, and never matches a filter by it.
func (s *Store) ListEvaluations(ctx context.Context, a Actor, f EvaluationFilter) (rows []EvaluationRow, next string, err error) {
	defer wrap(&err, "list evaluations of project %q", f.project())
	if err := s.authorise(ctx, a, everyone, "evaluation.listed", "project:"+f.project()); err != nil {
		return nil, "", err
	}
	p, err := projectNamed(ctx, s.reader, f.project())
	if err != nil {
		return nil, "", err
	}
	c, err := s.where(ctx, a, p, f)
	if err != nil {
		return nil, "", err
	}
	sealed := sealedFor(a, liveOf("e"))
	args := append(append(append([]any{}, sealed.args...), c.args...), f.limit()+1)
	rows, err = collect(ctx, s.reader, scanEvaluationRow, `
SELECT `+sealed.value+`, `+rowColumns+`
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
`+c.where()+`
ORDER BY e.id DESC LIMIT ?`, args...)
	if err != nil {
		return nil, "", err
	}
	if len(rows) > f.limit() {
		rows = rows[:f.limit()]
		last := rows[len(rows)-1]
		next = cursor(last.ID)
	}
	return rows, next, nil
}

// rowsOfTrace lists the evaluations of one revision, the newest first.
func rowsOfTrace(ctx context.Context, q querier, a Actor, traceID string) ([]EvaluationRow, error) {
	sealed := sealedFor(a, liveOf("e"))
	return collect(ctx, q, scanEvaluationRow, `
SELECT `+sealed.value+`, `+rowColumns+`
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
WHERE e.trace_id = ? ORDER BY e.id DESC`, append(append([]any{}, sealed.args...), traceID)...)
}
