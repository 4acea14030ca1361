package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// MaxReplacement is the length of the longest corrected text, in bytes.
const MaxReplacement = 1 << 20

const (
	correctionProposed  = "correction.proposed"
	correctionAccepted  = "correction.accepted"
	correctionDeclined  = "correction.declined"
	correctionWithdrawn = "correction.withdrawn"
	traceCorrected      = "trace.corrected"
)

// What is the matter with a text.
const (
	Wrong    = "wrong"
	Outdated = "outdated"
)

// What a correction comes to.
const (
	CorrectionOpen      = "open"
	CorrectionAccepted  = "accepted"
	CorrectionDeclined  = "declined"
	CorrectionWithdrawn = "withdrawn"
)

// What a correction is about. A premise's number from 1, and a source's id, stand
// behind the name and a colon.
const (
	TargetReference = "reference"
	TargetQuestion  = "question"
	TargetPremise   = "premise"
	TargetSource    = "source"
)

// NewCorrection is what a person proposes.
type NewCorrection struct {
	Target      string // reference, question, premise:N, source:ID
	Kind        string // wrong or outdated
	Explanation string // 1 to 4,000 characters
	// Replacement is the whole text as it should be; empty: the proposer does not
	// know it, and who accepts gives it.
	Replacement string
}

// Correction is a ruling on the trace instead of the judge: its reference,
// question, a premise or a source is itself wrong or outdated.
type Correction struct {
	ID           string    `json:"id"`
	ReviewID     string    `json:"review_id"`
	EvaluationID string    `json:"evaluation_id"`
	TraceID      string    `json:"trace_id"` // the file's id
	Revision     int       `json:"revision"` // that it corrects
	Title        string    `json:"title"`
	Judge        string    `json:"judge"`
	Target       string    `json:"target"`
	Kind         string    `json:"kind"`
	Explanation  string    `json:"explanation,omitempty"`
	Before       string    `json:"before"`
	Replacement  string    `json:"replacement"` // empty: who proposed it did not know it, and nobody has given it
	ProposerID   string    `json:"proposer_id"`
	Proposer     string    `json:"proposer"`
	At           time.Time `json:"at"`
	// State is open, accepted, declined or withdrawn.
	State      string     `json:"state"`
	AnsweredBy string     `json:"answered_by,omitempty"`
	Answer     string     `json:"answer,omitempty"` // in words
	AnsweredAt *time.Time `json:"answered_at,omitempty"`
	// NewRevision is the one that it made; 0: none.
	NewRevision int `json:"new_revision,omitempty"`

	internalID string // of the revision that it corrects
	project    string
}

// correctable is the text of a trace that a target names.
func correctable(t *judge.Trace, target string) (text *string, err error) {
	kind, which, _ := strings.Cut(target, ":")
	switch kind {
	case TargetReference:
		text = &t.Reference
	case TargetQuestion:
		text = &t.Question
	case TargetPremise:
		if n, err := strconv.Atoi(which); err == nil && n >= 1 && n <= len(t.Premises) {
			text = &t.Premises[n-1]
		}
	case TargetSource:
		for i := range t.Sources {
			if t.Sources[i].ID == which {
				text = &t.Sources[i].Text
			}
		}
	}
	if text == nil || *text == "" {
		return nil, invalid("target", "is %q: it is reference, question, premise:N or source:ID, and names a text that this trace has", target)
	}
	return text, nil
}

// CorrectionTargets are the texts of a trace that may be corrected.
func CorrectionTargets(t *judge.Trace) (targets []string) {
	if t.Reference != "" {
		targets = append(targets, TargetReference)
	}
	for _, s := range t.Sources {
		if s.Text != "" {
			targets = append(targets, TargetSource+":"+s.ID)
		}
	}
	for i, p := range t.Premises {
		if p != "" {
			targets = append(targets, TargetPremise+":"+strconv.Itoa(i+1))
		}
	}
	if t.Question != "" {
		targets = append(targets, TargetQuestion)
	}
	return targets
}

// CorrectionText is the text of a trace that a target names, as it is.
func CorrectionText(t *judge.Trace, target string) (string, error) {
	text, err := correctable(t, target)
	if err != nil {
		return "", err
	}
	return *text, nil
}

func (c NewCorrection) check() error {
	switch {
	case c.Target == "":
		return invalid("target", "is missing: say which text is wrong or outdated")
	case c.Kind != Wrong && c.Kind != Outdated:
		return invalid("kind", "is %q: it is wrong or outdated", c.Kind)
	case len(c.Replacement) > MaxReplacement:
		return invalid("replacement", "is larger than %d KB", MaxReplacement>>10)
	}
	return checkComment("explanation", c.Explanation, true)
}

// ProposeCorrection says that a text which an item is judged by is itself wrong or
// outdated. Only who holds the item may, instead of deciding it. The item waits
// then, and nobody is given it, until a lead accepts the correction or declines
// it; what others said on it stays kept from those who have not answered.
func (s *Store) ProposeCorrection(ctx context.Context, a Actor, reviewID string, in NewCorrection) (c Correction, err error) {
	defer wrap(&err, "propose a correction on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, correctionProposed, "review:"+reviewID); err != nil {
		return Correction{}, err
	}
	if err := in.check(); err != nil {
		return Correction{}, err
	}
	id := ""
	err = s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.heldBy(ctx, t, a, t.now); err != nil {
			return err
		}
		if err := mayAnswer(ctx, t, a, r); err != nil {
			return err
		}
		before, err := t.beforeCorrection(ctx, r, in)
		if err != nil {
			return err
		}
		id = t.newID()
		if _, err := t.exec(ctx, `
INSERT INTO corrections (id, project_id, review_id, trace_id, user_id, target, kind, explanation, before, replacement, proposed_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, r.projectID, r.id, r.traceID, a.UserID, in.Target, in.Kind, strings.TrimSpace(in.Explanation),
			before, in.Replacement, t.now); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE reviews SET correction_id = ? WHERE id = ?`, id, r.id); err != nil {
			return err
		}
		if err := t.release(ctx, r); err != nil {
			return err
		}
		t.audit(event{project: r.project, actor: a, action: correctionProposed, subject: r.subject(), data: map[string]any{
			"evaluation_id": r.evaluationID, "correction_id": id, "target": in.Target, "kind": in.Kind,
			"before_sha256": judge.HashText(before), "replacement_sha256": judge.HashText(in.Replacement)}})
		return t.keepOfDraft(ctx, r.id, a.UserID, func(b DraftBody) DraftBody { b.Correction = nil; return b })
	})
	if err != nil {
		return Correction{}, s.denyAdjudication(ctx, a, err, correctionProposed, reviewID)
	}
	return s.correction(ctx, id)
}

// beforeCorrection is the text that a correction replaces.
func (t *tx) beforeCorrection(ctx context.Context, r reviewState, in NewCorrection) (string, error) {
	var hash string
	var current bool
	if err := t.QueryRowContext(ctx, `SELECT body_hash, current FROM traces WHERE id = ?`, r.traceID).Scan((*digest)(&hash), &current); err != nil {
		return "", err
	}
	if !current {
		return "", refuse("this trace has a newer revision already: the correction belongs there")
	}
	trace, err := traceByBody(ctx, t, hash)
	if err != nil {
		return "", err
	}
	before, err := correctable(&trace, in.Target)
	if err != nil {
		return "", err
	}
	if *before == in.Replacement {
		return "", invalid("replacement", "is the text that is there already")
	}
	return *before, nil
}

const correctionColumns = `k.id, k.review_id, r.evaluation_id, tr.external_id, tr.revision, r.title, r.judge, k.target, k.kind, k.explanation, k.before,
    CASE WHEN k.replacement = '' THEN COALESCE(w.replacement, '') ELSE k.replacement END, k.user_id, u.name, k.proposed_at, COALESCE(w.outcome, 'open'),
    COALESCE(y.name, ''), COALESCE(w.comment, ''), w.answered_at, COALESCE(n.revision, 0), k.trace_id, p.name`

const correctionTables = `corrections k JOIN reviews r ON r.id = k.review_id JOIN traces tr ON tr.id = k.trace_id JOIN users u ON u.id = k.user_id
JOIN projects p ON p.id = k.project_id LEFT JOIN correction_answers w ON w.correction_id = k.id LEFT JOIN users y ON y.id = w.user_id
LEFT JOIN traces n ON n.id = w.trace_id`

func scanCorrection(rows *sql.Rows, c *Correction) error {
	var answered sql.NullTime
	err := rows.Scan(&c.ID, &c.ReviewID, &c.EvaluationID, &c.TraceID, &c.Revision, &c.Title, &c.Judge, &c.Target, &c.Kind, &c.Explanation, &c.Before,
		&c.Replacement, &c.ProposerID, &c.Proposer, &c.At, &c.State, &c.AnsweredBy, &c.Answer, &answered, &c.NewRevision, &c.internalID, &c.project)
	c.At, c.AnsweredAt = c.At.UTC(), optional(answered)
	return err
}

func (s *Store) correction(ctx context.Context, id string) (Correction, error) {
	return correctionByID(ctx, s.reader, id)
}

func correctionByID(ctx context.Context, q querier, id string) (Correction, error) {
	found, err := collect(ctx, q, scanCorrection, `SELECT `+correctionColumns+` FROM `+correctionTables+` WHERE k.id = ?`, id)
	switch {
	case err != nil:
		return Correction{}, err
	case len(found) == 0:
		return Correction{}, fmt.Errorf("correction %q: %w", id, ErrNotFound)
	}
	return found[0], nil
}

// GetCorrection gives one correction. Roles: lead, auditor, admin, and who
// proposed it.
func (s *Store) GetCorrection(ctx context.Context, a Actor, id string) (c Correction, err error) {
	defer wrap(&err, "read correction %s", id)
	if c, err = s.correction(ctx, id); err != nil {
		return Correction{}, err
	}
	if c.ProposerID != a.UserID || a.UserID == "" {
		if err := s.authorise(ctx, a, readers, "correction.read", "correction:"+id); err != nil {
			return Correction{}, err
		}
	}
	return c, nil
}

// correctionFor is the correction that an item waits for, as the actor may see
// it: its words are kept from those who may still answer the item, unless they
// are their own. nil: it waits for none.
func correctionFor(ctx context.Context, q querier, a Actor, reviewID string, know knowing) (*Correction, error) {
	found, err := collect(ctx, q, scanCorrection, `
SELECT `+correctionColumns+` FROM `+correctionTables+` WHERE r.id = ? AND r.correction_id = k.id`, reviewID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	c := found[0]
	if (know.verdictSealed || know.peersSealed) && c.ProposerID != a.UserID {
		c.Explanation, c.Replacement = "", ""
	}
	return &c, nil
}

// CorrectionFilter narrows a list of corrections.
type CorrectionFilter struct {
	Project string // name; empty means DefaultProject
	State   string // open, accepted, declined, withdrawn; empty: all, the open ones first
	After   string // the id of the last one before; of a list with a state
	Limit   int    // 1..200, default 50
}

// ListCorrections lists corrections: open ones the oldest first, others the newest
// first. Roles: lead, auditor, admin; reviewers see those that they proposed.
func (s *Store) ListCorrections(ctx context.Context, a Actor, f CorrectionFilter) (_ []Correction, err error) {
	defer wrap(&err, "list corrections")
	if err := s.authorise(ctx, a, everyone, "correction.read", "corrections"); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(f.Project))
	if err != nil {
		return nil, err
	}
	if f.Limit <= 0 || f.Limit > 200 {
		f.Limit = 50
	}
	query, args := `SELECT `+correctionColumns+` FROM `+correctionTables+` WHERE k.project_id = ?`, []any{p.ID}
	if a.Role == Reviewer {
		query, args = query+` AND k.user_id = ?`, append(args, a.UserID)
	}
	order, beyond := ` ORDER BY k.id DESC`, ` AND k.id < ?`
	switch f.State {
	case "":
		order = ` ORDER BY w.correction_id IS NOT NULL, CASE WHEN w.correction_id IS NULL THEN k.id END, k.id DESC`
	case CorrectionOpen:
		query += ` AND w.correction_id IS NULL`
		order, beyond = ` ORDER BY k.id`, ` AND k.id > ?`
	case CorrectionAccepted, CorrectionDeclined, CorrectionWithdrawn:
		query, args = query+` AND w.outcome = ?`, append(args, f.State)
	default:
		return nil, invalid("state", "is %q: it is one of open, accepted, declined, withdrawn", f.State)
	}
	if f.After != "" && f.State != "" {
		query, args = query+beyond, append(args, f.After)
	}
	return collect(ctx, s.reader, scanCorrection, query+order+` LIMIT ?`, append(args, f.Limit)...)
}

// OpenCorrections counts the open corrections of a project, which are the rows of
// their list, for who may accept or decline; to others it says 0.
func (s *Store) OpenCorrections(ctx context.Context, a Actor, project string) (n int, err error) {
	defer wrap(&err, "count open corrections")
	if !a.mayAdjudicate() {
		return 0, nil
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return 0, err
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM corrections k WHERE k.project_id = ? AND NOT EXISTS (SELECT 1 FROM correction_answers w WHERE w.correction_id = k.id)`,
		p.ID).Scan(&n)
	return n, err
}

// DeclineCorrection lets the text stand. The item goes back to the queue, and who
// proposed it is told why under its questions. Roles: lead, admin, and not who
// proposed it.
func (s *Store) DeclineCorrection(ctx context.Context, a Actor, id, reason string) (err error) {
	defer wrap(&err, "decline correction %s", id)
	if err := s.authorise(ctx, a, leads, correctionDeclined, "correction:"+id); err != nil {
		return err
	}
	if err := checkComment("reason", reason, true); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		c, r, err := t.openCorrection(ctx, id)
		if err != nil {
			return err
		}
		if c.ProposerID == a.UserID {
			return refuse("you proposed this correction: another lead accepts or declines it, or you take it back")
		}
		if err := t.answerCorrection(ctx, a, c, r, answerTo{outcome: CorrectionDeclined, comment: strings.TrimSpace(reason)}); err != nil {
			return err
		}
		_, err = t.addComment(ctx, a, r, NewComment{Text: reason, To: activeDecider(ctx, t, c.ProposerID)})
		return err
	})
}

// activeDecider is the id of a person who can be asked something; empty when they
// can't any more.
func activeDecider(ctx context.Context, q querier, userID string) string {
	if _, err := askable(ctx, q, userID); err != nil {
		return ""
	}
	return userID
}

// WithdrawCorrection takes the actor's own proposal back: the item goes back to
// the queue.
func (s *Store) WithdrawCorrection(ctx context.Context, a Actor, id string) (err error) {
	defer wrap(&err, "take correction %s back", id)
	if err := s.authoriseDecider(ctx, a, correctionWithdrawn, "correction:"+id); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		c, r, err := t.openCorrection(ctx, id)
		if err != nil {
			return err
		}
		if c.ProposerID != a.UserID {
			return refuse("only who proposed a correction takes it back")
		}
		return t.answerCorrection(ctx, a, c, r, answerTo{outcome: CorrectionWithdrawn})
	})
}

// openCorrection reads a correction that nobody has answered, and holds its item.
func (t *tx) openCorrection(ctx context.Context, id string) (c Correction, r reviewState, err error) {
	if c, err = correctionByID(ctx, t, id); err != nil {
		return c, r, err
	}
	if r, err = loadReviewState(ctx, t, c.ReviewID); err != nil {
		return c, r, err
	}
	// Now that the item is held nobody else answers: read again.
	if c, err = correctionByID(ctx, t, id); err != nil {
		return c, r, err
	}
	return c, r, c.stillOpen()
}

// stillOpen is the error for a correction that somebody has answered, or nil.
func (c Correction) stillOpen() error {
	if c.State == CorrectionOpen {
		return nil
	}
	return refuse("%s has %s this correction already", c.AnsweredBy, strings.Replace(c.State, "withdrawn", "taken back", 1))
}

// answerTo is what becomes of a correction.
type answerTo struct{ outcome, comment, replacement, newTraceID string }

// answerCorrection stores what became of a correction, and lets the item go unless
// it was closed by it.
func (t *tx) answerCorrection(ctx context.Context, a Actor, c Correction, r reviewState, w answerTo) error {
	if _, err := t.exec(ctx, `
INSERT INTO correction_answers (correction_id, user_id, outcome, comment, replacement, trace_id, answered_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		c.ID, a.UserID, w.outcome, w.comment, w.replacement, sql.NullString{String: w.newTraceID, Valid: w.newTraceID != ""}, t.now); err != nil {
		return err
	}
	if w.outcome != CorrectionAccepted {
		if _, err := t.exec(ctx, `UPDATE reviews SET correction_id = '' WHERE id = ? AND correction_id = ?`, r.id, c.ID); err != nil {
			return err
		}
	}
	t.audit(event{project: r.project, actor: a, action: "correction." + w.outcome, subject: r.subject(), data: map[string]any{
		"evaluation_id": r.evaluationID, "correction_id": c.ID, "proposed_by": c.ProposerID, "comment": w.comment}})
	return nil
}
