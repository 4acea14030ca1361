package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// EvaluationView is all about one evaluation that the actor may see.
type EvaluationView struct {
	Evaluation  judge.Evaluation // with its calls, unless sealed
	Sealed      bool
	Trace       judge.Trace // without judgments and labels while any evaluation of it is sealed
	Revision    int
	ReviewID    string // empty: it never waited for a person
	ReviewState string
	Decisions   []Decision // none while sealed
	// PeersSealed says that what others said is left out of decisions, labels
	// and events: the actor may still answer.
	PeersSealed bool
	Labels      []LabelRow // of this judge on this trace; none while sealed
	Events      []AuditEvent
	Draw        *judge.Draw // how it came to be reviewed; nil while sealed
}

// GetEvaluation reads one evaluation with its trace, calls, decisions, labels
// and history. Roles: all.
func (s *Store) GetEvaluation(ctx context.Context, a Actor, id string) (v EvaluationView, err error) {
	defer wrap(&err, "read evaluation %s", id)
	if err := s.authorise(ctx, a, everyone, "evaluation.read", "evaluation:"+id); err != nil {
		return v, err
	}
	c := conditions{}
	c.and(`e.id = ?`, id)
	rows, err := s.full(ctx, a, c, "", 1)
	if err != nil {
		return v, err
	}
	if len(rows) == 0 {
		return v, fmt.Errorf("evaluation: %w", ErrNotFound)
	}
	v.Evaluation, v.Sealed = rows[0].Evaluation, rows[0].sealed
	var traceSealed bool
	if v.Trace, v.Revision, traceSealed, err = s.traceFor(ctx, a, rows[0].traceRow); err != nil {
		return v, err
	}
	var draw judge.Draw
	err = s.reader.QueryRowContext(ctx, `SELECT id, state, stratum, inclusion_probability FROM reviews WHERE evaluation_id = ?`, id).
		Scan(&v.ReviewID, &v.ReviewState, &draw.Stratum, &draw.InclusionProbability)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return v, err
	}
	if v.Events, err = collect(ctx, s.reader, scanAudit, `
SELECT `+auditColumns+` FROM audit_events WHERE subject IN (?, ?, ?) AND allowed ORDER BY seq`,
		"evaluation:"+id, "review:"+v.ReviewID, "trace:"+rows[0].traceRow); err != nil {
		return v, err
	}
	// Another evaluation of the trace may be sealed though this one is not:
	// what people said about the trace would tell of it.
	if !traceSealed {
		if v.Labels, err = labelsOf(ctx, s.reader, a, rows[0].traceRow, v.Evaluation.Judge); err != nil {
			return v, err
		}
	}
	if v.Sealed {
		v.Events = sealEvents(v.Events)
		return v, nil
	}
	if v.PeersSealed, err = peersSealed(ctx, s.reader, a, id); err != nil {
		return v, err
	}
	if v.PeersSealed {
		v.Events = sealPeerEvents(v.Events, a)
	}
	if v.ReviewID != "" {
		draw.PolicyVersion = v.Evaluation.PolicyVersion
		v.Draw = &draw
	}
	if v.Decisions, err = decisionsOf(ctx, s.reader, a, id); err != nil {
		return v, err
	}
	v.Evaluation.Calls, err = s.callsOf(ctx, id)
	return v, err
}

// traceFor reads a revision of a trace, whole as far as the actor may see it.
func (s *Store) traceFor(ctx context.Context, a Actor, traceID string) (t judge.Trace, revision int, sealed bool, err error) {
	seal := traceSealedFor(a, "tr.id")
	var body string
	err = s.reader.QueryRowContext(ctx, `SELECT `+seal.value+`, tr.revision, tr.body_hash FROM traces tr WHERE tr.id = ?`,
		append(append([]any{}, seal.args...), traceID)...).Scan(&sealed, &revision, (*digest)(&body))
	if err != nil {
		return t, 0, false, notFound(err, "trace with id %s", traceID)
	}
	if t, err = traceByBody(ctx, s.reader, body); err != nil {
		return t, 0, false, err
	}
	runs, err := runsOf(ctx, s.reader, []string{traceID})
	if err != nil {
		return t, 0, false, err
	}
	t.Run = runs[traceID]
	if sealed {
		return t, revision, true, nil
	}
	if t.Labels, err = importedLabels(ctx, s.reader, traceID); err != nil {
		return t, 0, false, err
	}
	t.Judgments, err = judgmentsOf(ctx, s.reader, traceID)
	return t, revision, false, err
}

// judgmentsOf are the recorded reports of a trace, in the order they came.
func judgmentsOf(ctx context.Context, q querier, traceID string) ([]judge.Judgment, error) {
	hashes, err := collect(ctx, q, func(r *sql.Rows, h *string) error { return r.Scan((*digest)(h)) },
		`SELECT judgment_body FROM evaluations WHERE trace_id = ? AND judgment_body IS NOT NULL ORDER BY id`, traceID)
	if err != nil || len(hashes) == 0 {
		return nil, err
	}
	texts, err := textsFrom(q).get(ctx, hashes)
	if err != nil {
		return nil, err
	}
	var judgments []judge.Judgment
	for _, h := range distinct(hashes) {
		var j judge.Judgment
		if err := json.Unmarshal([]byte(texts[h]), &j); err != nil {
			return nil, fmt.Errorf("the stored judgment %s: %w", h, err)
		}
		judgments = append(judgments, j)
	}
	return judgments, nil
}
