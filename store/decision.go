package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// Actions of a decision, as they are stored.
const (
	Confirm     = "confirm"      // the judge's verdict stands
	Override    = "override"     // the person's verdict stands instead
	CannotJudge = "cannot_judge" // an abstention; others are asked, and in the end a lead
	Escalate    = "escalate"     // a lead, or who is named, settles it
)

// Choices after the reveal of a blind item.
const (
	Keep  = "keep"  // the own answer stands
	Adopt = "adopt" // the judge's answer is taken over
)

// Decision is what a person said about an evaluation. It is never edited; a
// later one supersedes it.
type Decision struct {
	ID           string          `json:"id"`
	ReviewID     string          `json:"review_id"`
	EvaluationID string          `json:"evaluation_id"`
	UserID       string          `json:"user_id"`
	UserName     string          `json:"user_name"`
	Action       string          `json:"action"`           // confirm, override, cannot_judge, escalate
	Choice       string          `json:"choice,omitempty"` // keep or adopt, after a first answer
	Verdict      judge.Verdict   `json:"verdict"`          // empty for cannot_judge and escalate
	Label        string          `json:"label,omitempty"`
	Findings     []judge.Finding `json:"findings"`
	// Rulings are what the person said about the item's parts.
	Rulings    []judge.Ruling `json:"rulings,omitempty"`
	ReasonCode string         `json:"reason_code,omitempty"` // one of ReasonCodesFor
	Severity   string         `json:"severity,omitempty"`    // of the judge's fault: critical, major, minor
	// To is who an escalation went to: a user's id or a role; empty: leads and
	// admins.
	To         string `json:"to,omitempty"`
	Comment    string `json:"comment,omitempty"`
	Confidence string `json:"confidence,omitempty"` // low, medium, high
	Blind      bool   `json:"blind"`                // the item was one for blind review
	// VerdictVisible says that the person knew the judge's verdict before
	// their first answer.
	VerdictVisible bool          `json:"verdict_visible"`
	FirstVerdict   judge.Verdict `json:"first_verdict,omitempty"`
	FirstLabel     string        `json:"first_label,omitempty"`
	Adjudication   bool          `json:"adjudication"`
	Seconds        float64       `json:"seconds"` // from claim to decision, by the server's clock
	Supersedes     string        `json:"supersedes,omitempty"`
	// OverQuota says that the item was settled when this was added: it changes
	// no result and no figure.
	OverQuota bool `json:"over_quota,omitempty"`
	// Round counts how often the item was opened anew before, for another report
	// of the judge.
	Round int       `json:"round,omitempty"`
	At    time.Time `json:"at"`

	// Signature is nil for decisions of a program that kept none.
	Signature *Signature `json:"signature,omitempty"`
	// UndoneAt is when the person took the decision back; nil: it stands.
	UndoneAt *time.Time `json:"undone_at,omitempty"`
}

// answers says whether the decision is an answer, and not a way round one.
func (d Decision) answers() bool { return d.Action == Confirm || d.Action == Override }

// digest ties a decision to its audit event. What is not the decision's is left
// out: the person's name, whose id is there; the signature, which has a digest
// of its own; and whether it was taken back. The nonce is empty for decisions of
// a program that had none: the others may be of an item that somebody else still
// has to answer, so that their digests must not be found by trying.
func (d Decision) digest(nonce string) (string, error) {
	d.UserName, d.Signature, d.UndoneAt = "", nil, nil
	d.Findings = list(d.Findings)
	d.At = d.At.UTC()
	if nonce == "" {
		return digestOf(d)
	}
	return digestOf([]any{nonce, d})
}

const decisionColumns = `d.id, d.review_id, d.evaluation_id, d.user_id, u.name, d.action, d.choice, d.verdict, d.label,
    d.findings, d.rulings, d.reason_code, d.severity, d.addressee, d.comment, d.confidence, d.blind, d.verdict_visible, d.first_verdict, d.first_label,
    d.adjudication, d.seconds, d.supersedes, d.over_quota, d.round, d.decided_at,
    s.name, s.role, s.qualification, s.affirmation, s.wording, s.shown, s.signed_at, z.undone_at`

// decisionTables hold decisions d with all that is kept beside them.
const decisionTables = `decisions d JOIN users u ON u.id = d.user_id
LEFT JOIN signatures s ON s.decision_id = d.id LEFT JOIN undone_decisions z ON z.decision_id = d.id`

// standing is a condition on a decision d: it was neither taken back nor added
// when the item was settled.
const standing = `NOT d.over_quota AND NOT EXISTS (SELECT 1 FROM undone_decisions dz WHERE dz.decision_id = d.id)`

func scanDecision(rows *sql.Rows, d *Decision) error { return scanDecisionAnd(rows, d) }

// scanDecisionAnd scans a decision and the columns behind it.
func scanDecisionAnd(rows *sql.Rows, d *Decision, more ...any) error {
	var findings, rulings string
	var supersedes sql.NullString
	var signed signatureRow
	var undone sql.NullTime
	if err := rows.Scan(append(append([]any{&d.ID, &d.ReviewID, &d.EvaluationID, &d.UserID, &d.UserName, &d.Action, &d.Choice, &d.Verdict, &d.Label,
		&findings, &rulings, &d.ReasonCode, &d.Severity, &d.To, &d.Comment, &d.Confidence, &d.Blind, &d.VerdictVisible, &d.FirstVerdict, &d.FirstLabel,
		&d.Adjudication, &d.Seconds, &supersedes, &d.OverQuota, &d.Round, &d.At}, append(signed.fields(), &undone)...), more...)...); err != nil {
		return err
	}
	d.Supersedes, d.At, d.UndoneAt = supersedes.String, d.At.UTC(), optional(undone)
	if err := json.Unmarshal([]byte(findings), &d.Findings); err != nil {
		return fmt.Errorf("the stored findings of decision %s: %w", d.ID, err)
	}
	var err error
	if d.Rulings, err = readRulings(rulings); err != nil {
		return fmt.Errorf("the stored rulings of decision %s: %w", d.ID, err)
	}
	if d.Signature, err = signed.signature(); err != nil {
		return fmt.Errorf("the stored signature of decision %s: %w", d.ID, err)
	}
	return nil
}

// decisionsOf lists the decisions of an evaluation that the actor may know,
// oldest first.
func decisionsOf(ctx context.Context, q querier, a Actor, evaluationID string) ([]Decision, error) {
	peers := peersSealedFor(a, "d.evaluation_id")
	return collect(ctx, q, scanDecision, `
SELECT `+decisionColumns+` FROM `+decisionTables+`
WHERE d.evaluation_id = ? AND (d.user_id = ? OR NOT `+peers.sql+`) ORDER BY d.decided_at, d.id`,
		append([]any{evaluationID, a.UserID}, peers.args...)...)
}

// lastSettling is the newest decision that gave a review its result; ok is
// false when there is none. Ask it of reviews that were settled: before that
// there may be opinions.
func lastSettling(ctx context.Context, q querier, reviewID string) (d Decision, ok bool, err error) {
	found, err := collect(ctx, q, scanDecision, `
SELECT `+decisionColumns+` FROM `+decisionTables+`
WHERE d.review_id = ? AND d.action IN ('confirm', 'override') AND `+standing+` ORDER BY d.decided_at DESC, d.id DESC LIMIT 1`, reviewID)
	if err != nil || len(found) == 0 {
		return Decision{}, false, err
	}
	return found[0], true, nil
}
