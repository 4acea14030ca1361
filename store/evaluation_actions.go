package store

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// maxComment bounds a person's comment, in characters.
const maxComment = 4000

// subjectOf reads an evaluation as far as its actions look at it, and holds its
// trace.
func (t *tx) subjectOf(ctx context.Context, id string) (s subject, status judge.Status, err error) {
	s.evaluationID = id
	if err := t.lockTraceOfEvaluation(ctx, id); err != nil {
		return s, "", err
	}
	err = t.scan(ctx, `
SELECT e.project_id, e.trace_id, e.judge, e.status, tr.external_id, tr.domain, tr.stakes, tr.title
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id WHERE e.id = ?`, []any{id},
		[]any{&s.projectID, &s.traceID, &s.judge, &status, &s.externalID, &s.domain, &s.stakes, &s.title})
	if err := notFound(err, "evaluation"); err != nil {
		return s, "", err
	}
	p, err := projectByID(ctx, t, s.projectID)
	s.project, s.policy = p.Name, p.Policy
	return s, status, err
}

// RetryEvaluation queues an evaluation again whose judge failed for good or
// gave no valid report, and takes it out of the review queue. Its attempts are
// kept and their numbers go on. ErrConflict for any other evaluation, and when
// a person has settled it. Roles: lead, admin.
func (s *Store) RetryEvaluation(ctx context.Context, a Actor, id string) (err error) {
	defer wrap(&err, "retry evaluation %s", id)
	if err := s.authorise(ctx, a, leads, "evaluation.retried", "evaluation:"+id); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error { return t.retry(ctx, a, id) })
}

// forgetResult puts an evaluation back to queued. Attempts, and what they cost,
// stay.
func (t *tx) forgetResult(ctx context.Context, id string) error {
	if err := t.forgetVerdict(ctx, id); err != nil {
		return err
	}
	for _, query := range []string{
		`DELETE FROM evaluation_reasons WHERE evaluation_id = ?`,
		`UPDATE evaluation_reports SET current = FALSE WHERE evaluation_id = ?`,
		`UPDATE evaluations SET status = 'queued', score = NULL, verdict = '', label = '', critical = FALSE, lead_reason = '', reasons = 0,
    refused_field = '', error = '', answered_engine = '', undecided = FALSE, uncited = NULL, policy_version = 0, result_verdict = '', result_label = '', result_source = '',
    lease_holder = '', lease_expires_at = NULL, finished_at = NULL, on_hold = ` + onHold + `
WHERE id = ?`,
	} {
		if _, err := t.exec(ctx, query, id); err != nil {
			return err
		}
	}
	return nil
}

// ExposeEvaluation shows a sealed verdict to somebody who asks for it before
// answering. That is recorded, and their later answer counts as given with the
// verdict visible. What is not sealed for the actor stays as it is. Roles:
// lead, admin; a reviewer answers first, always.
func (s *Store) ExposeEvaluation(ctx context.Context, a Actor, id string) (err error) {
	defer wrap(&err, "show evaluation %s", id)
	if err := s.authorise(ctx, a, leads, "evaluation.exposed", "evaluation:"+id); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		e, _, err := t.subjectOf(ctx, id)
		if err != nil {
			return err
		}
		var sealed bool
		seal := sealedFor(a, liveOf("e"))
		if err := t.scan(ctx, `SELECT `+seal.value+` FROM evaluations e WHERE e.id = ?`, append(append([]any{}, seal.args...), id), []any{&sealed}); err != nil {
			return err
		}
		if !sealed {
			return nil
		}
		var shadowOf string
		if err := t.scan(ctx, `SELECT shadow_of FROM evaluations WHERE id = ?`, []any{id}, []any{&shadowOf}); err != nil {
			return err
		}
		if shadowOf != "" {
			return fmt.Errorf("it was made beside evaluation %s and is sealed with it: ask to see that one: %w", shadowOf, ErrConflict)
		}
		t.audit(event{project: e.project, actor: a, action: "evaluation.exposed", subject: "evaluation:" + id})
		_, err = t.exec(ctx, `
INSERT INTO exposures (evaluation_id, user_id, exposed_at) VALUES (?, ?, ?) ON CONFLICT (evaluation_id, user_id) DO NOTHING`,
			id, a.UserID, t.now)
		return err
	})
}

// RequestReview sends an accepted evaluation to a person, or one that was
// withdrawn from review. ErrConflict when it
// waits already, is not judged yet, or a person has settled it. The comment
// has at most 4,000 characters and may be empty. Roles: lead, admin.
func (s *Store) RequestReview(ctx context.Context, a Actor, id, comment string) (err error) {
	defer wrap(&err, "request a review of evaluation %s", id)
	if err := s.authorise(ctx, a, leads, "evaluation.review_requested", "evaluation:"+id); err != nil {
		return err
	}
	comment = strings.TrimSpace(comment)
	if utf8.RuneCountInString(comment) > maxComment {
		return invalid("comment", "is longer than 4,000 characters")
	}
	return s.write(ctx, func(t *tx) error {
		e, status, err := t.subjectOf(ctx, id)
		if err != nil {
			return err
		}
		withdrawn, err := t.withdrawn(ctx, id)
		if err != nil {
			return err
		}
		if status != judge.Accepted && !withdrawn {
			return fmt.Errorf("its status is %s, and only an accepted evaluation, or one that was withdrawn, can be sent to review: %w", status, ErrConflict)
		}
		t.audit(event{project: e.project, actor: a, action: "evaluation.review_requested", subject: "evaluation:" + id,
			data: map[string]any{"comment": comment}})
		// Chosen by a person, not drawn: it stands for itself only.
		reason, draw := judge.Reason{Code: judge.ReasonRequested, Detail: comment}, judge.Draw{Stratum: judge.StratumRequested, InclusionProbability: 1}
		if withdrawn {
			return t.reopenWithdrawn(ctx, e, reason, draw)
		}
		return t.reopenAccepted(ctx, e, reason, draw)
	})
}

// withdrawn says whether an evaluation has no result because its item was
// withdrawn from review.
func (t *tx) withdrawn(ctx context.Context, id string) (yes bool, err error) {
	err = t.scan(ctx, `SELECT e.status = 'refused' AND e.refused_field = ? FROM evaluations e WHERE e.id = ?`, []any{WithdrawnField, id}, []any{&yes})
	return yes, err
}
