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
	CannotJudge = "cannot_judge" // an abstention; a lead settles it
	Escalate    = "escalate"     // a lead settles it
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
	ReasonCode   string          `json:"reason_code,omitempty"` // one of ReasonCodes
	Comment      string          `json:"comment,omitempty"`
	Confidence   string          `json:"confidence,omitempty"` // low, medium, high
	Blind        bool            `json:"blind"`                // the item was one for blind review
	// VerdictVisible says that the person knew the judge's verdict before
	// their first answer.
	VerdictVisible bool          `json:"verdict_visible"`
	FirstVerdict   judge.Verdict `json:"first_verdict,omitempty"`
	FirstLabel     string        `json:"first_label,omitempty"`
	Adjudication   bool          `json:"adjudication"`
	Seconds        float64       `json:"seconds"` // from claim to decision, by the server's clock
	Supersedes     string        `json:"supersedes,omitempty"`
	At             time.Time     `json:"at"`
}

// settles says whether the decision gives the evaluation its result.
func (d Decision) settles() bool { return d.Action == Confirm || d.Action == Override }

// digest ties a decision to its audit event. The person's name is left out: it
// is not the decision's, and the id is there.
func (d Decision) digest() (string, error) {
	d.UserName = ""
	d.Findings = list(d.Findings)
	d.At = d.At.UTC()
	return digestOf(d)
}

const decisionColumns = `d.id, d.review_id, d.evaluation_id, d.user_id, u.name, d.action, d.choice, d.verdict, d.label,
    d.findings, d.reason_code, d.comment, d.confidence, d.blind, d.verdict_visible, d.first_verdict, d.first_label,
    d.adjudication, d.seconds, d.supersedes, d.decided_at`

func scanDecision(rows *sql.Rows, d *Decision) error {
	var findings string
	var supersedes sql.NullString
	if err := rows.Scan(&d.ID, &d.ReviewID, &d.EvaluationID, &d.UserID, &d.UserName, &d.Action, &d.Choice, &d.Verdict, &d.Label,
		&findings, &d.ReasonCode, &d.Comment, &d.Confidence, &d.Blind, &d.VerdictVisible, &d.FirstVerdict, &d.FirstLabel,
		&d.Adjudication, &d.Seconds, &supersedes, &d.At); err != nil {
		return err
	}
	d.Supersedes, d.At = supersedes.String, d.At.UTC()
	if err := json.Unmarshal([]byte(findings), &d.Findings); err != nil {
		return fmt.Errorf("the stored findings of decision %s: %w", d.ID, err)
	}
	return nil
}

// decisionsOf lists the decisions of an evaluation, oldest first.
func decisionsOf(ctx context.Context, q querier, evaluationID string) ([]Decision, error) {
	return collect(ctx, q, scanDecision, `
SELECT `+decisionColumns+` FROM decisions d JOIN users u ON u.id = d.user_id
WHERE d.evaluation_id = ? ORDER BY d.decided_at, d.id`, evaluationID)
}

// lastSettling is the newest decision that gave a review its result; ok is
// false when there is none.
func lastSettling(ctx context.Context, q querier, reviewID string) (d Decision, ok bool, err error) {
	found, err := collect(ctx, q, scanDecision, `
SELECT `+decisionColumns+` FROM decisions d JOIN users u ON u.id = d.user_id
WHERE d.review_id = ? AND d.action IN ('confirm', 'override') ORDER BY d.decided_at DESC, d.id DESC LIMIT 1`, reviewID)
	if err != nil || len(found) == 0 {
		return Decision{}, false, err
	}
	return found[0], true, nil
}
