package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// MaxDraft is the size of the largest draft as JSON, in bytes.
const MaxDraft = 256 << 10

// draftDays is how long a draft is kept after it was last saved, once its author
// does not hold the item any more.
const draftDays = 30

// maxTab is the length of the longest name of a page, in bytes.
const maxTab = 64

// DraftBody is everything that a person can type or choose on the desk. Nothing
// in it is checked for sense: it is not said yet. Other takes what has no field
// of its own, so that nothing typed is ever left out.
type DraftBody struct {
	Stage      string `json:"stage,omitempty"` // of the form: empty for the answer before a reveal, decide after it
	Action     string `json:"action,omitempty"`
	Verdict    string `json:"verdict,omitempty"`
	Label      string `json:"label,omitempty"`
	ReasonCode string `json:"reason_code,omitempty"`
	Severity   string `json:"severity,omitempty"`
	Comment    string `json:"comment,omitempty"`
	Confidence string `json:"confidence,omitempty"`
	To         string `json:"to,omitempty"` // who an escalation would go to
	// Rulings may have no value yet, and a note already.
	Rulings []judge.Ruling `json:"rulings,omitempty"`
	// Question is one that is being written; signing does not send it.
	Question string `json:"question,omitempty"`
	// Correction is one that is being written; signing does not send it.
	Correction *DraftCorrection `json:"correction,omitempty"`
	Other      []DraftField     `json:"other,omitempty"`
}

// DraftCorrection is a correction of the trace that is being written.
type DraftCorrection struct {
	Target      string `json:"target,omitempty"`
	Kind        string `json:"kind,omitempty"`
	Explanation string `json:"explanation,omitempty"`
	Replacement string `json:"replacement,omitempty"`
}

// DraftField is a field of the form by its name.
type DraftField struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Draft is a body as it was last saved.
type Draft struct {
	Version int       `json:"version"` // from 1
	SavedAt time.Time `json:"saved_at"`
	DraftBody
}

// DraftBase says what a page had when it saved.
type DraftBase struct {
	Version int // that it was given last; 0: none
	// Tab names the page, so that its own saves do not conflict when an answer
	// was lost on the way; empty: only the version counts.
	Tab string
	// Seq counts the saves of a tab: one that arrives after a later one is
	// answered with what is stored and changes nothing.
	Seq int64
}

// SaveDraft keeps what a person typed on an item. When another page of theirs
// saved since, nothing is stored and conflict is what that one saved. No claim is
// needed: one that ran out, or an item that somebody else took or settled, takes
// nobody's words; but the actor must have held the item once, and not have signed
// it (ErrConflict). Drafts are their author's alone. Roles: who decides.
func (s *Store) SaveDraft(ctx context.Context, a Actor, reviewID string, base DraftBase, body DraftBody) (saved Draft, conflict *Draft, err error) {
	defer wrap(&err, "save the draft on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "draft.saved", "review:"+reviewID); err != nil {
		return Draft{}, nil, err
	}
	text, err := draftText(base, body)
	if err != nil {
		return Draft{}, nil, err
	}
	err = s.write(ctx, func(t *tx) error {
		saved, conflict = Draft{}, nil
		// The item is held, so that a decision at the same time takes the draft
		// with it or finds it kept.
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		row, found, err := t.draftRow(ctx, reviewID, a.UserID)
		if err != nil {
			return err
		}
		if err := t.mayDraft(ctx, a, r, row); err != nil {
			return err
		}
		sameTab := base.Tab != "" && base.Tab == row.tab
		switch {
		case row.body == text, row.body != "" && sameTab && base.Seq <= row.seq: // it is there, or a later one is
			saved, err = row.draft()
			return err
		case row.body != "" && !sameTab && base.Version != row.version:
			other, err := row.draft()
			conflict = &other
			return err
		}
		saved = Draft{Version: row.version + 1, SavedAt: t.now.UTC(), DraftBody: body}
		if !found {
			_, err = t.exec(ctx, `INSERT INTO drafts (review_id, user_id, version, tab, seq, body, saved_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
				reviewID, a.UserID, saved.Version, base.Tab, base.Seq, text, t.now)
			return err
		}
		_, err = t.exec(ctx, `UPDATE drafts SET version = ?, tab = ?, seq = ?, body = ?, saved_at = ? WHERE review_id = ? AND user_id = ?`,
			saved.Version, base.Tab, base.Seq, text, t.now, reviewID, a.UserID)
		return err
	})
	return saved, conflict, err
}

// draftText is a body as it is stored.
func draftText(base DraftBase, body DraftBody) (string, error) {
	if len(base.Tab) > maxTab || !utf8.ValidString(base.Tab) {
		return "", invalid("draft_tab", "is longer than %d bytes", maxTab)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	if len(text) > MaxDraft {
		return "", invalid("draft", "is larger than %d KB: shorten what you typed", MaxDraft>>10)
	}
	return string(text), nil
}

// draftRow is a draft as it is stored.
type draftRow struct {
	version int
	tab     string
	seq     int64
	body    string // empty: none
	savedAt time.Time
}

func (d draftRow) draft() (Draft, error) {
	out := Draft{Version: d.version, SavedAt: d.savedAt.UTC()}
	if d.body == "" {
		return out, nil
	}
	if err := json.Unmarshal([]byte(d.body), &out.DraftBody); err != nil {
		return Draft{}, fmt.Errorf("the stored draft: %w", err)
	}
	return out, nil
}

func (t *tx) draftRow(ctx context.Context, reviewID, userID string) (d draftRow, found bool, err error) {
	return readDraftRow(ctx, t, reviewID, userID)
}

func readDraftRow(ctx context.Context, q querier, reviewID, userID string) (d draftRow, found bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT version, tab, seq, body, saved_at FROM drafts WHERE review_id = ? AND user_id = ?`, reviewID, userID).
		Scan(&d.version, &d.tab, &d.seq, &d.body, &d.savedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return draftRow{}, false, nil
	}
	return d, err == nil, err
}

// mayDraft lets those save a draft who hold the item, have a draft on it, or
// held it before and have not signed since.
func (t *tx) mayDraft(ctx context.Context, a Actor, r reviewState, row draftRow) error {
	if r.state == stateClaimed && r.holderID == a.UserID || row.body != "" {
		return nil
	}
	var claimedAt time.Time
	err := t.QueryRowContext(ctx, `
SELECT e.at FROM audit_events e WHERE e.subject = ? AND e.action = 'review.claimed' AND e.actor_id = ? AND e.allowed
ORDER BY e.seq DESC LIMIT 1`, r.subject(), a.UserID).Scan(&claimedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return refuse("this item was never yours, so nothing is kept for it: claim it first")
	}
	if err != nil {
		return err
	}
	var signed bool
	if err := t.QueryRowContext(ctx, `
SELECT EXISTS (SELECT 1 FROM decisions d WHERE d.review_id = ? AND d.user_id = ? AND d.decided_at >= ?
    AND NOT EXISTS (SELECT 1 FROM undone_decisions z WHERE z.decision_id = d.id))`,
		r.id, a.UserID, claimedAt).Scan(&signed); err != nil {
		return err
	}
	if signed {
		return refuse("you have signed this item, so nothing more is kept for it as a draft")
	}
	return nil
}

// draftOf is a person's own draft on an item; nil: none.
func draftOf(ctx context.Context, q querier, a Actor, reviewID string) (*Draft, error) {
	row, found, err := readDraftRow(ctx, q, reviewID, a.UserID)
	if err != nil || !found || row.body == "" {
		return nil, err
	}
	d, err := row.draft()
	return &d, err
}

// GetDraft gives the actor's own draft on an item; nil: they have none. Roles:
// who decides.
func (s *Store) GetDraft(ctx context.Context, a Actor, reviewID string) (d *Draft, err error) {
	defer wrap(&err, "read the draft on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "draft.read", "review:"+reviewID); err != nil {
		return nil, err
	}
	return draftOf(ctx, s.reader, a, reviewID)
}

// dropDraft empties a draft whose content was signed. What signing does not
// send, a question or a correction that is being written, stays.
func (t *tx) dropDraft(ctx context.Context, reviewID, userID string) error {
	return t.keepOfDraft(ctx, reviewID, userID, func(b DraftBody) DraftBody {
		return DraftBody{Question: b.Question, Correction: b.Correction}
	})
}

// keepOfDraft stores what is left of a draft when a part of it was sent.
func (t *tx) keepOfDraft(ctx context.Context, reviewID, userID string, left func(DraftBody) DraftBody) error {
	row, found, err := t.draftRow(ctx, reviewID, userID)
	if err != nil || !found || row.body == "" {
		return err
	}
	was, err := row.draft()
	if err != nil {
		return err
	}
	text, err := json.Marshal(left(was.DraftBody))
	if err != nil {
		return err
	}
	if string(text) == "{}" {
		text = nil
	}
	// A page that was open before must not save over this unasked: tab is none.
	_, err = t.exec(ctx, `UPDATE drafts SET version = ?, tab = '', seq = 0, body = ? WHERE review_id = ? AND user_id = ?`,
		row.version+1, string(text), reviewID, userID)
	return err
}

// dropOldDrafts removes drafts that are older than draftDays and whose author
// does not hold the item.
func (t *tx) dropOldDrafts(ctx context.Context) (int64, error) {
	return t.changed(ctx, `
DELETE FROM drafts WHERE saved_at < ? AND NOT EXISTS (
    SELECT 1 FROM reviews r WHERE r.id = drafts.review_id AND r.state = 'claimed' AND r.holder_id = drafts.user_id AND r.lease_expires_at > ?)`,
		t.now.AddDate(0, 0, -draftDays), t.now.AddDate(0, 0, -draftDays))
}
