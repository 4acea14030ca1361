package store

import (
	"encoding/json"
	"slices"

	"github.com/countersign/countersign/judge"
)

// sealing is the one place that says from whom a verdict is kept: an
// evaluation is sealed for a person who may be asked to decide it, as long as
// it waits in a blind review to which that person has given no first answer,
// unless they asked on the record to see it. One that was closed because its trace
// was corrected stays so: it would tell much of the next revision's.
//
// The condition is SQL, so that no filter, count or order by what is sealed
// can be asked without it.
type sealing struct {
	sql string // a condition on the evaluation
	// value is the condition as a value to select. PostgreSQL turns an EXISTS
	// there into a table of all that is sealed, for each query anew.
	value string
	args  []any
}

// blindly is the condition on a review, by its name in the SQL, that it is blind
// and keeps its verdict from who has not answered it.
func blindly(r string) string {
	return r + `.blind AND (` + r + `.state IN ('open', 'claimed', 'adjudication') OR ` + r + `.state = 'closed' AND ` + r + `.correction_id <> '')`
}

// sealedFor gives the condition for an actor and an evaluation whose id the
// SQL expression evaluationID names: liveOf of an evaluation, or what a review is of. Auditors and the operator
// decide nothing: for them nothing is sealed.
func sealedFor(a Actor, evaluationID string) sealing {
	if !a.MayDecide() {
		return sealing{sql: `(1 = 0)`, value: `FALSE`}
	}
	of := `FROM reviews seal_r WHERE seal_r.evaluation_id = ` + evaluationID + `
  AND ` + blindly("seal_r") + `
  AND NOT EXISTS (SELECT 1 FROM first_answers seal_f WHERE seal_f.review_id = seal_r.id AND seal_f.user_id = ?)
  AND NOT EXISTS (SELECT 1 FROM exposures seal_x WHERE seal_x.evaluation_id = seal_r.evaluation_id AND seal_x.user_id = ?)`
	return sealing{
		sql:   `EXISTS (SELECT 1 ` + of + `)`,
		value: `COALESCE((SELECT TRUE ` + of + ` LIMIT 1), FALSE)`,
		args:  []any{a.UserID, a.UserID},
	}
}

// traceSealedFor gives the condition that any evaluation of a trace is sealed,
// or waits for its judge and may yet be. What hangs on the trace (recorded
// judgments, what others said) would tell.
func traceSealedFor(a Actor, traceID string) sealing {
	if !a.MayDecide() {
		return sealing{sql: `(1 = 0)`, value: `FALSE`}
	}
	inner := sealedFor(a, `seal_t.evaluation_id`)
	reviews := `FROM reviews seal_t WHERE seal_t.trace_id = ` + traceID + ` AND ` + inner.sql
	work := `FROM evaluations seal_q WHERE seal_q.trace_id = ` + traceID + ` AND seal_q.status IN ('queued', 'judging') AND seal_q.shadow_of = ''`
	return sealing{
		sql:   `(EXISTS (SELECT 1 ` + reviews + `) OR EXISTS (SELECT 1 ` + work + `))`,
		value: `COALESCE((SELECT TRUE ` + reviews + ` LIMIT 1), (SELECT TRUE ` + work + ` LIMIT 1), FALSE)`,
		args:  inner.args,
	}
}

// sealEvaluation takes everything out of an evaluation that tells what the
// judge said, how long it took it and how often it was asked.
func sealEvaluation(e judge.Evaluation) judge.Evaluation {
	return judge.Evaluation{
		ID: e.ID, TraceID: e.TraceID, Run: e.Run, Judge: e.Judge, PromptVersion: e.PromptVersion,
		Engine: e.Engine, Model: e.Model, Endpoint: e.Endpoint, Samples: e.Samples, Shadow: e.Shadow, PolicyVersion: e.PolicyVersion, Status: e.Status, Hashes: e.Hashes, StartedAt: e.StartedAt,
		Reasons: sealReasons(e.Reasons), Checks: []judge.CheckResult{}, Findings: []judge.Finding{},
	}
}

// sealReasons leaves the codes that tell nothing of the verdict. Details are
// free text and go with the rest.
func sealReasons(reasons []judge.Reason) []judge.Reason {
	kept := []judge.Reason{}
	for _, r := range reasons {
		if !judge.Telling(r.Code) {
			kept = append(kept, judge.Reason{Code: r.Code})
		}
	}
	return kept
}

// sealLead is the leading reason as it may be shown: empty when it tells.
func sealLead(code string) string {
	if judge.Telling(code) {
		return ""
	}
	return code
}

// openActions are the audit actions on an evaluation, its review or its trace
// that tell nothing of what the judge or another person said.
var openActions = []string{
	"trace.imported", "labels.imported", traceCorrected, "evaluation.queued",
	"evaluation.judged", "evaluation.exposed", "evaluation.retried", "evaluation.review_requested",
	"review.claimed", "review.released", "review.skipped", opinionGiven, "review.opinions_raised", "review.reassigned",
	reviewEscalated, cannotJudge,
	"review.assigned", "review.prioritised", "review.due_changed", "review.blind_changed", "review.withdrawn",
}

// sealEvents leaves the events that tell nothing, without their data: comments
// are in it.
func sealEvents(events []AuditEvent) []AuditEvent {
	var kept []AuditEvent
	for _, e := range events {
		if slices.Contains(openActions, e.Action) {
			e.Data = json.RawMessage(`{}`)
			kept = append(kept, e)
		}
	}
	return kept
}
