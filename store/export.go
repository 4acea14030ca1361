package store

import (
	"context"
	"database/sql"

	"github.com/countersign/countersign/judge"
)

// Exports go page by page: no read transaction stays open while a slow reader
// takes its lines. Each exported kind has its own audit event.

// export authorises an export, records it, and finds the project.
func (s *Store) export(ctx context.Context, a Actor, what string, f EvaluationFilter) (Project, error) {
	action, subject := what+".exported", "project:"+f.project()
	if err := s.authorise(ctx, a, readers, action, subject); err != nil {
		return Project{}, err
	}
	p, err := projectNamed(ctx, s.reader, f.project())
	if err != nil {
		return Project{}, err
	}
	return p, s.writeAlone(ctx, func(t *tx) error {
		t.audit(event{project: p.Name, actor: a, action: action, subject: "project:" + p.ID, data: map[string]any{"run": f.Run}})
		return nil
	})
}

// EachEvaluation calls fn for every evaluation the filter matches, the newest
// first. Limit and After don't count. Roles: lead, auditor, admin.
func (s *Store) EachEvaluation(ctx context.Context, a Actor, f EvaluationFilter, fn func(judge.Evaluation) error) (err error) {
	defer wrap(&err, "export evaluations")
	if _, err := s.export(ctx, a, "evaluations", f); err != nil {
		return err
	}
	f.Limit, f.After = 500, ""
	for {
		page, next, err := s.EvaluationsFull(ctx, a, f)
		if err != nil {
			return err
		}
		for _, e := range page {
			if err := fn(e); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		f.After = next
	}
}

// EachDecision calls fn for every decision on evaluations that the filter's
// Project, Run, Judge and TraceID match, oldest first; Since is the time of
// the decision. Those on evaluations sealed for the actor are left out, and what
// others said on items that the actor may still answer. Roles:
// lead, auditor, admin.
func (s *Store) EachDecision(ctx context.Context, a Actor, f EvaluationFilter, fn func(Decision) error) (err error) {
	defer wrap(&err, "export decisions")
	c, err := s.exported(ctx, a, "decisions", f)
	if err != nil {
		return err
	}
	seal := sealedFor(a, liveOf("e"))
	c.and(`NOT `+seal.sql, seal.args...)
	peers := peersSealedFor(a, "e.id")
	c.and(`(d.user_id = ? OR NOT `+peers.sql+`)`, append([]any{a.UserID}, peers.args...)...)
	c.and(`d.decided_at >= ?`, f.Since.UTC())
	return eachPage(ctx, s.reader, scanDecision, func(d Decision) []any { return []any{d.At, d.At, d.ID} }, `
SELECT `+decisionColumns+` FROM `+decisionTables+` JOIN evaluations e ON e.id = d.evaluation_id
`+c.where(), `d.decided_at >= ? AND (d.decided_at > ? OR d.id > ?)`, `d.decided_at, d.id`, c.args, fn)
}

// EachLabel calls fn for every human label on traces that the filter's Project,
// Run, Judge and TraceID match, oldest first; Since is the time of the label.
// Labels of traces that are sealed for the actor are left out. Roles: lead,
// auditor, admin.
func (s *Store) EachLabel(ctx context.Context, a Actor, f EvaluationFilter, fn func(LabelRow) error) (err error) {
	defer wrap(&err, "export labels")
	p, err := s.export(ctx, a, "labels", f)
	if err != nil {
		return err
	}
	var c conditions
	c.and(`l.project_id = ?`, p.ID)
	if err := s.whereTraces(ctx, &c, p, f, "l.trace_id"); err != nil {
		return err
	}
	if f.Judge != "" {
		c.and(`l.judge = ?`, f.Judge)
	}
	seal := traceSealedFor(a, "l.trace_id")
	c.and(`NOT `+seal.sql, seal.args...)
	known := labelsFor(a)
	c.and(known.sql, known.args...)
	c.and(`l.labelled_at >= ?`, f.Since.UTC())
	return eachPage(ctx, s.reader, scanLabel, func(l LabelRow) []any { return []any{l.At, l.At, l.ID} }, `
SELECT `+labelColumns+` FROM `+labelTables+`
`+c.where(), `l.labelled_at >= ? AND (l.labelled_at > ? OR l.id > ?)`, `l.labelled_at, l.id`, c.args, fn)
}

// EachTrace calls fn for the current revision of every trace that the filter's
// Project, Run and TraceID match, oldest first, as far as the actor may see
// it; Since is the time of the import. Roles: lead, auditor, admin.
func (s *Store) EachTrace(ctx context.Context, a Actor, f EvaluationFilter, fn func(judge.Trace) error) (err error) {
	defer wrap(&err, "export traces")
	p, err := s.export(ctx, a, "traces", f)
	if err != nil {
		return err
	}
	var c conditions
	c.and(`tr.project_id = ? AND tr.current`, p.ID)
	if err := s.whereTraces(ctx, &c, p, f, "tr.id"); err != nil {
		return err
	}
	c.and(`tr.created_at >= ?`, f.Since.UTC())
	type place struct {
		id string
		at sql.NullTime
	}
	return eachPage(ctx, s.reader, func(r *sql.Rows, v *place) error { return r.Scan(&v.id, &v.at) },
		func(v place) []any { return []any{v.at.Time, v.at.Time, v.id} }, `
SELECT tr.id, tr.created_at FROM traces tr
`+c.where(), `tr.created_at >= ? AND (tr.created_at > ? OR tr.id > ?)`, `tr.created_at, tr.id`, c.args, func(v place) error {
			t, _, _, err := s.traceFor(ctx, a, v.id)
			if err != nil {
				return err
			}
			return fn(t)
		})
}

// exported authorises an export of what hangs on evaluations e.
func (s *Store) exported(ctx context.Context, a Actor, what string, f EvaluationFilter) (c conditions, err error) {
	p, err := s.export(ctx, a, what, f)
	if err != nil {
		return c, err
	}
	return s.where(ctx, a, p, EvaluationFilter{Run: f.Run, Judge: f.Judge, TraceID: f.TraceID})
}

// whereTraces narrows a list by run and trace.
func (s *Store) whereTraces(ctx context.Context, c *conditions, p Project, f EvaluationFilter, traceID string) error {
	if f.Run != "" {
		var id string
		err := s.reader.QueryRowContext(ctx, `SELECT id FROM runs WHERE project_id = ? AND name = ?`, p.ID, f.Run).Scan(&id)
		if err != nil {
			return notFound(err, "run %q", f.Run)
		}
		c.and(traceID+` IN (SELECT rt.trace_id FROM run_traces rt WHERE rt.run_id = ?)`, id)
	}
	if f.TraceID != "" {
		c.and(traceID+` IN (SELECT x.id FROM traces x WHERE x.project_id = ? AND x.external_id = ?)`, p.ID, f.TraceID)
	}
	return nil
}

// eachPage reads a query in pages of 500: after is the condition that the next
// page begins behind the key of the last row.
func eachPage[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, key func(T) []any,
	query, after, order string, args []any, fn func(T) error) error {
	rest := query
	for {
		page, err := collect(ctx, q, scan, rest+` ORDER BY `+order+` LIMIT 500`, args...)
		if err != nil {
			return err
		}
		for _, v := range page {
			if err := fn(v); err != nil {
				return err
			}
		}
		if len(page) < 500 {
			return nil
		}
		if rest == query {
			rest = query + ` AND ` + after
		} else {
			args = args[:len(args)-3]
		}
		args = append(append([]any{}, args...), key(page[len(page)-1])...)
	}
}
