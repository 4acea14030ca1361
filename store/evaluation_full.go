package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/countersign/countersign/judge"
)

// fullRow is an evaluation with what is read beside it.
type fullRow struct {
	judge.Evaluation
	traceRow  string // id of the trace's revision
	createdAt time.Time
	sealed    bool
}

var fullColumns = func() string {
	engine, model := answeredBy("e")
	return `e.id, e.trace_id, e.created_at, tr.external_id, e.judge, e.prompt_version, ` + engine + `, ` + model + `, e.status,
    e.score, e.verdict, e.label, e.critical, e.refused_field, e.error, e.attempts, e.repairs, e.transport_retries,
    e.prompt_tokens, e.completion_tokens, e.cost_usd, e.latency_ms, tr.content_hash, tr.candidate_hash, tr.reference_hash,
    e.started_at, e.result_verdict, e.result_label, e.result_source,
    e.endpoint, e.samples, e.undecided, e.uncited, e.policy_version, e.unpriced, e.shadow_of <> ''`
}()

func scanFull(rows *sql.Rows, e *fullRow) error {
	var r judge.Result
	var started sql.NullTime
	if err := rows.Scan(&e.sealed, &e.ID, &e.traceRow, &e.createdAt, &e.TraceID, &e.Judge, &e.PromptVersion, &e.Engine, &e.Model,
		&e.Status, &e.Score, &e.Verdict, &e.Label, &e.Critical, &e.RefusedField, &e.Error, &e.Attempts, &e.Repairs, &e.TransportRetries,
		&e.Tokens.Prompt, &e.Tokens.Completion, &e.CostUSD, &e.LatencyMS, (*digest)(&e.Hashes.Trace), (*digest)(&e.Hashes.Candidate), (*digest)(&e.Hashes.Reference),
		&started, &r.Verdict, &r.Label, &r.Source, &e.Endpoint, &e.Samples, &e.Undecided, &e.Uncited, &e.PolicyVersion, &e.UnpricedCalls, &e.Shadow); err != nil {
		return err
	}
	if e.Samples == 1 {
		e.Samples = 0 // asked once
	}
	e.createdAt, e.StartedAt = e.createdAt.UTC(), optional(started)
	e.Reasons, e.Checks, e.Findings = []judge.Reason{}, []judge.CheckResult{}, []judge.Finding{}
	if r.Source != "" {
		e.Result = &r
	}
	return nil
}

// EvaluationsFull lists evaluations as the API and exports write them, without
// their calls: the newest first, and the After of the next page. Details come
// in a few queries a page. Sealed ones carry only what may be seen.
func (s *Store) EvaluationsFull(ctx context.Context, a Actor, f EvaluationFilter) (_ []judge.Evaluation, next string, err error) {
	defer wrap(&err, "read evaluations of project %q", f.project())
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
	rows, err := s.full(ctx, a, c, f.Run, f.limit()+1)
	if err != nil {
		return nil, "", err
	}
	if len(rows) > f.limit() {
		rows = rows[:f.limit()]
		last := rows[len(rows)-1]
		next = cursor(last.ID)
	}
	evaluations := make([]judge.Evaluation, len(rows))
	for i, r := range rows {
		evaluations[i] = r.Evaluation
	}
	return evaluations, next, nil
}

// full reads evaluations with reasons, reports and run. The run is the one
// asked for, else the newest that the trace belongs to.
func (s *Store) full(ctx context.Context, a Actor, c conditions, run string, limit int) ([]fullRow, error) {
	sealed := sealedFor(a, liveOf("e"))
	args := append(append(append([]any{}, sealed.args...), c.args...), limit)
	rows, err := collect(ctx, s.reader, scanFull, `
SELECT `+sealed.value+`, `+fullColumns+`
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
`+c.where()+`
ORDER BY e.id DESC LIMIT ?`, args...)
	if err != nil || len(rows) == 0 {
		return rows, err
	}
	byID, ids, traces := make(map[string]*fullRow, len(rows)), make([]string, len(rows)), make([]string, len(rows))
	for i := range rows {
		byID[rows[i].ID], ids[i], traces[i] = &rows[i], rows[i].ID, rows[i].traceRow
	}
	if err := s.addDetails(ctx, byID, ids); err != nil {
		return nil, err
	}
	runs, err := runsOf(ctx, s.reader, traces)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		e := &rows[i]
		if e.Run = run; run == "" {
			e.Run = runs[e.traceRow]
		}
		if e.sealed {
			e.Evaluation = sealEvaluation(e.Evaluation)
		}
	}
	return rows, nil
}

// addDetails fills in reasons and reports, a few queries for all.
func (s *Store) addDetails(ctx context.Context, byID map[string]*fullRow, ids []string) error {
	type reason struct {
		id string
		judge.Reason
	}
	details, err := textsFrom(s.reader).details(ctx, ids)
	if err != nil {
		return err
	}
	for id, d := range details {
		d.fill(&byID[id].Evaluation)
	}
	return inBatches(ids, func(batch []string) error {
		in := `(` + placeholders(len(batch)) + `)`
		reasons, err := collect(ctx, s.reader, func(r *sql.Rows, v *reason) error {
			return r.Scan(&v.id, &v.Code, &v.Detail)
		},
			`SELECT evaluation_id, code, detail FROM evaluation_reasons WHERE evaluation_id IN `+in+` ORDER BY evaluation_id, position`, anys(batch)...)
		if err != nil {
			return err
		}
		for _, r := range reasons {
			byID[r.id].Reasons = append(byID[r.id].Reasons, withoutVerdict(r.Reason))
		}
		return nil
	})
}

// runsOf names the newest run of each trace; traces without a run are absent.
func runsOf(ctx context.Context, q querier, traceIDs []string) (map[string]string, error) {
	type member struct{ trace, run string }
	named := map[string]string{}
	err := inBatches(distinct(traceIDs), func(batch []string) error {
		members, err := collect(ctx, q, func(r *sql.Rows, m *member) error { return r.Scan(&m.trace, &m.run) }, `
SELECT rt.trace_id, r.name FROM run_traces rt JOIN runs r ON r.id = rt.run_id
WHERE rt.trace_id IN (`+placeholders(len(batch))+`) ORDER BY r.created_at, r.id`, anys(batch)...)
		for _, m := range members {
			named[m.trace] = m.run
		}
		return err
	})
	return named, err
}
