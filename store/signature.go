package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// Signature says what signing a decision meant: it is written with it and never
// edited.
type Signature struct {
	Name          string    `json:"name"` // as it was then
	Role          Role      `json:"role"`
	Qualification string    `json:"qualification,omitempty"`
	Affirmation   string    `json:"affirmation"` // the wording of what signing affirms
	Wording       int       `json:"wording"`     // its version
	Shown         Shown     `json:"shown"`
	At            time.Time `json:"at"`
}

// Shown is what was on the screen of who signed, by its versions and hashes.
// What a client leaves empty is not held against what is current.
type Shown struct {
	// Stated says that the client told what it showed; else these are the
	// versions that were current when the decision was stored.
	Stated        bool   `json:"stated"`
	TraceRevision int    `json:"trace_revision,omitempty"`
	TraceSHA256   string `json:"trace_sha256,omitempty"`
	EvaluationID  string `json:"evaluation_id,omitempty"`
	PromptVersion string `json:"prompt_version,omitempty"`
	// ReportSHA256 is of the judge's report; empty: there is none, or it was
	// sealed.
	ReportSHA256  string `json:"report_sha256,omitempty"`
	PolicyVersion int    `json:"policy_version,omitempty"` // by which the item was opened
	PageVersion   string `json:"page_version,omitempty"`   // of the program that made the page
	DraftVersion  int    `json:"draft_version,omitempty"`
}

// StaleError says that what was on the screen is not what is stored now. It is
// an ErrConflict.
type StaleError struct {
	What string // that has changed: the trace, the judge's report…
}

func (e *StaleError) Error() string {
	return e.What + " has changed since the page was opened: look at it again, then sign; what you wrote can be sent again"
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *StaleError) Is(target error) bool { return target == ErrConflict }

// against holds what was shown to what is current, and completes it.
func (x Shown) against(current Shown) (Shown, error) {
	for _, c := range []struct {
		differs bool
		what    string
	}{
		{x.EvaluationID != "" && x.EvaluationID != current.EvaluationID, "the item"},
		{x.TraceRevision != 0 && x.TraceRevision != current.TraceRevision, "the trace"},
		{x.TraceSHA256 != "" && x.TraceSHA256 != current.TraceSHA256, "the trace"},
		{x.PromptVersion != "" && x.PromptVersion != current.PromptVersion, "the judge's version"},
		{x.ReportSHA256 != "" && x.ReportSHA256 != current.ReportSHA256, "the judge's report"},
		{x.PolicyVersion != 0 && x.PolicyVersion != current.PolicyVersion, "the policy of this item"},
	} {
		if c.differs {
			return x, &StaleError{What: c.what}
		}
	}
	if len(x.PageVersion) > 100 {
		return x, invalid("shown", "has a page version of more than 100 characters")
	}
	if x.DraftVersion < 0 {
		return x, invalid("shown", "has the draft version %d: it counts from 0", x.DraftVersion)
	}
	current.Stated, current.PageVersion, current.DraftVersion = true, x.PageVersion, x.DraftVersion
	return current, nil
}

// reportHash names a report; no report has no name.
func reportHash(report json.RawMessage) string {
	if report = raw(report); report == nil {
		return ""
	}
	return judge.HashText(string(report))
}

// AffirmationWording is the version of the texts of Affirmation. It is raised
// whenever one of them changes.
const AffirmationWording = 1

// Affirmation is what somebody affirms who signs a decision with an action, for
// an item of their own or one that they adjudicate. Roles sign the same words.
func Affirmation(action string, adjudication bool) string {
	read := "I have read the item and the evidence shown with it. "
	switch action {
	case Escalate:
		return "I have read the item. I do not decide it, and ask for somebody else to settle it."
	case CannotJudge:
		return "I have read the item. I cannot judge it, for the reason that I give."
	}
	if adjudication {
		read = "I have read the item, the evidence shown with it, and what was said about it before. I gave none of these answers. "
	}
	switch action {
	case Confirm:
		return read + "The judge’s verdict is my own professional opinion, and I sign for it."
	case Override:
		return read + "The verdict that I give, and not the judge’s, is my own professional opinion, and I sign for it."
	}
	return ""
}

// sign makes the signature of a decision.
func (f facts) sign(a Actor, d Decision, shown *Shown) (*Signature, error) {
	s := &Signature{Name: a.Name, Role: a.Role, Qualification: f.qualification, Affirmation: Affirmation(d.Action, d.Adjudication),
		Wording: AffirmationWording, Shown: f.current, At: d.At}
	if shown == nil {
		return s, nil
	}
	var err error
	s.Shown, err = shown.against(f.current)
	return s, err
}

// digest ties a signature to its audit event.
func (s Signature) digest(decisionID string) (string, error) {
	s.At = s.At.UTC()
	return digestOf([]any{decisionID, s})
}

func (t *tx) insertSignature(ctx context.Context, decisionID string, s Signature) error {
	shown, err := json.Marshal(s.Shown)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `
INSERT INTO signatures (decision_id, name, role, qualification, affirmation, wording, shown, signed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		decisionID, s.Name, string(s.Role), s.Qualification, s.Affirmation, s.Wording, string(shown), s.At)
	return err
}

// signatureRow is a signature that may be missing.
type signatureRow struct {
	name, role, qualification, affirmation, shown sql.NullString
	wording                                       sql.NullInt64
	at                                            sql.NullTime
}

func (r *signatureRow) fields() []any {
	return []any{&r.name, &r.role, &r.qualification, &r.affirmation, &r.wording, &r.shown, &r.at}
}

func (r *signatureRow) signature() (*Signature, error) {
	if !r.at.Valid {
		return nil, nil
	}
	s := &Signature{Name: r.name.String, Role: Role(r.role.String), Qualification: r.qualification.String, Affirmation: r.affirmation.String,
		Wording: int(r.wording.Int64), At: r.at.Time.UTC()}
	return s, json.Unmarshal([]byte(r.shown.String), &s.Shown)
}

// readCurrent fills in what is on the screen of who looks at the item now.
func (f *facts) readCurrent(ctx context.Context, q querier, report json.RawMessage) error {
	f.current = Shown{EvaluationID: f.review.evaluationID, PromptVersion: f.promptVersion, ReportSHA256: reportHash(report),
		PolicyVersion: f.review.policyVersion}
	if f.sealed() {
		f.current.ReportSHA256 = ""
	}
	err := q.QueryRowContext(ctx, `SELECT revision, content_hash FROM traces WHERE id = ?`, f.review.traceID).
		Scan(&f.current.TraceRevision, (*digest)(&f.current.TraceSHA256))
	if err != nil {
		return fmt.Errorf("read the revision of trace %s: %w", f.review.traceID, err)
	}
	return nil
}
