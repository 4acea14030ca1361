package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxComments bounds the comments on one item.
const maxComments = 500

const (
	commentAdded     = "comment.added"
	commentWithdrawn = "comment.withdrawn"
	commentResolved  = "comment.resolved"
	commentReopened  = "comment.reopened"
)

// Comment is a question on an item, or an answer to one. It is never edited;
// its author may take it back, which leaves its place and no text.
type Comment struct {
	ID       string `json:"id"`
	ReviewID string `json:"review_id"`
	// ParentID is the comment that begins the thread; empty: this one does.
	ParentID string `json:"parent_id,omitempty"`
	UserID   string `json:"user_id"`
	UserName string `json:"user_name"`
	// To is who is asked: a user's id, or a role; empty: anybody.
	To     string `json:"to,omitempty"`
	ToName string `json:"to_name,omitempty"` // the person's
	Text   string `json:"text"`
	// TellsVerdict says that the author knew the judge's verdict when they wrote,
	// TellsPeers that they knew what others had said on the item, or had said
	// something themselves. Who may not know that is not shown the comment.
	TellsVerdict bool       `json:"tells_verdict"`
	TellsPeers   bool       `json:"tells_peers"`
	At           time.Time  `json:"at"`
	WithdrawnAt  *time.Time `json:"withdrawn_at,omitempty"`
	ResolvedAt   *time.Time `json:"resolved_at,omitempty"`
	ResolvedBy   string     `json:"resolved_by,omitempty"` // their name
}

// NewComment is what a person writes.
type NewComment struct {
	ParentID string // of the thread that is answered; empty: a new one
	To       string // a user's id, lead or admin; empty: anybody. Of a new thread only
	Text     string // 1 to 4,000 characters
}

// Comments are an item's threads as somebody may see them.
type Comments struct {
	All []Comment // oldest first
	// Sealed is how many are kept from the actor until they have answered,
	// because their authors knew more.
	Sealed int
	// WouldTell says that a comment of the actor would be kept from people who
	// have not answered yet, because the actor knows more than they may.
	WouldTell bool
}

// knowing is what an actor may not know about an item.
type knowing struct{ verdictSealed, peersSealed bool }

func knowingOf(ctx context.Context, q querier, a Actor, reviewID string) (k knowing, err error) {
	verdict, peers := sealedFor(a, "r.evaluation_id"), peersSealedFor(a, "r.evaluation_id")
	err = q.QueryRowContext(ctx, `SELECT `+verdict.value+`, `+peers.value+` FROM reviews r WHERE r.id = ?`,
		append(append(slices.Clone(verdict.args), peers.args...), reviewID)...).Scan(&k.verdictSealed, &k.peersSealed)
	return k, notFound(err, "review %q", reviewID)
}

// mayRead says whether a comment tells nothing that is kept from its reader.
func (k knowing) mayRead(c Comment, a Actor) bool {
	return c.UserID == a.UserID && a.UserID != "" || (!k.verdictSealed || !c.TellsVerdict && !c.TellsPeers) && (!k.peersSealed || !c.TellsPeers)
}

// AddComment adds a question or an answer to an item, whoever holds it and
// whether it is settled or not. Nothing but a digest of the text is in the audit
// log. A draft of it is gone with it. ErrConflict: the item has 500 already.
// Roles: who may decide.
func (s *Store) AddComment(ctx context.Context, a Actor, reviewID string, in NewComment) (c Comment, err error) {
	defer wrap(&err, "comment on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, commentAdded, "review:"+reviewID); err != nil {
		return Comment{}, err
	}
	if err := checkComment("text", in.Text, true); err != nil {
		return Comment{}, err
	}
	if in.ParentID != "" && in.To != "" {
		return Comment{}, invalid("to", "is for a new question: an answer goes to all who read the thread")
	}
	err = s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if c, err = t.addComment(ctx, a, r, in); err != nil {
			return err
		}
		return t.keepOfDraft(ctx, r.id, a.UserID, func(b DraftBody) DraftBody {
			if in.ParentID == "" {
				b.Question = ""
			}
			b.Other = slices.DeleteFunc(slices.Clone(b.Other), func(f DraftField) bool {
				return f.Name == ReplyField+in.ParentID || in.ParentID == "" && f.Name == "question_to"
			})
			return b
		})
	})
	return c, err
}

func (t *tx) addComment(ctx context.Context, a Actor, r reviewState, in NewComment) (Comment, error) {
	var n int
	if err := t.QueryRowContext(ctx, `SELECT count(*) FROM comments WHERE review_id = ?`, r.id).Scan(&n); err != nil {
		return Comment{}, err
	}
	if n >= maxComments {
		return Comment{}, refuse("this item has %d comments, which is the most", n)
	}
	know, err := knowingOf(ctx, t, a, r.id)
	if err != nil {
		return Comment{}, err
	}
	c := Comment{
		ID: t.newID(), ReviewID: r.id, ParentID: in.ParentID, UserID: a.UserID, UserName: a.Name, To: in.To, Text: strings.TrimSpace(in.Text),
		TellsVerdict: !know.verdictSealed, TellsPeers: !know.peersSealed, At: t.now.UTC(),
	}
	if err := t.checkThread(ctx, a, know, c); err != nil {
		return Comment{}, err
	}
	if c.ToName, err = askable(ctx, t, in.To); err != nil {
		return Comment{}, err
	}
	nonce := rand.Text()
	if _, err := t.exec(ctx, `
INSERT INTO comments (id, review_id, parent_id, user_id, addressee, body, nonce, knew_verdict, knew_peers, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, c.ID, r.id, sql.NullString{String: c.ParentID, Valid: c.ParentID != ""}, a.UserID, c.To, c.Text, nonce,
		c.TellsVerdict, c.TellsPeers, t.now); err != nil {
		return Comment{}, err
	}
	digest, err := c.digest(nonce)
	if err != nil {
		return Comment{}, err
	}
	t.audit(event{project: r.project, actor: a, action: commentAdded, subject: r.subject(),
		data: map[string]any{"evaluation_id": r.evaluationID, "comment_id": c.ID, "to": c.To, "comment_sha256": digest}})
	return c, nil
}

// ReplyField and a thread's id are the name under which a draft has the answer
// that is being written to it.
const ReplyField = "reply."

// digest ties a comment to its audit event.
func (c Comment) digest(nonce string) (string, error) {
	return digestOf([]any{nonce, c.ID, c.ReviewID, c.ParentID, c.UserID, c.To, c.Text})
}

// checkThread says what is wrong with the thread that a comment answers. Threads
// have one level, and one that is kept from the actor is not there for them.
func (t *tx) checkThread(ctx context.Context, a Actor, know knowing, c Comment) error {
	if c.ParentID == "" {
		return nil
	}
	first, err := commentByID(ctx, t, c.ParentID)
	if err != nil {
		return err
	}
	if first.ReviewID != c.ReviewID || first.ParentID != "" || !know.mayRead(first, a) {
		return fmt.Errorf("comment %q on this item: %w", c.ParentID, ErrNotFound)
	}
	return nil
}

// askable is the name of the person that to means; empty for a role or nobody.
func askable(ctx context.Context, q querier, to string) (name string, err error) {
	if to == "" || to == string(Lead) || to == string(Admin) {
		return "", nil
	}
	who := Actor{UserID: to}
	var active bool
	err = q.QueryRowContext(ctx, `SELECT name, role, disabled_at IS NULL FROM users WHERE id = ?`, to).Scan(&who.Name, &who.Role, &active)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", invalid("to", "is %q: it is a person's id, lead or admin", to)
	case err != nil:
		return "", fmt.Errorf("read user %s: %w", to, err)
	case !active:
		return "", invalid("to", "is %s, whose account is disabled: ask somebody else", who.Name)
	case !who.MayDecide():
		return "", invalid("to", "is %s, who may read and not answer: ask a reviewer, a lead or an administrator", who.Name)
	}
	return who.Name, nil
}

const commentColumns = `c.id, c.review_id, COALESCE(c.parent_id, ''), c.user_id, u.name, c.addressee, COALESCE(x.name, ''), c.body, c.knew_verdict,
    c.knew_peers, c.created_at, c.withdrawn_at, c.resolved_at, COALESCE(y.name, '')`

const commentTables = `comments c JOIN users u ON u.id = c.user_id LEFT JOIN users x ON x.id = c.addressee LEFT JOIN users y ON y.id = c.resolved_by`

func scanComment(rows *sql.Rows, c *Comment) error { return scanCommentAnd(rows, c) }

func scanCommentAnd(rows *sql.Rows, c *Comment, more ...any) error {
	var withdrawn, resolved sql.NullTime
	err := rows.Scan(append([]any{&c.ID, &c.ReviewID, &c.ParentID, &c.UserID, &c.UserName, &c.To, &c.ToName, &c.Text, &c.TellsVerdict,
		&c.TellsPeers, &c.At, &withdrawn, &resolved, &c.ResolvedBy}, more...)...)
	c.At, c.WithdrawnAt, c.ResolvedAt = c.At.UTC(), optional(withdrawn), optional(resolved)
	return err
}

func commentByID(ctx context.Context, q querier, id string) (Comment, error) {
	found, err := collect(ctx, q, scanComment, `SELECT `+commentColumns+` FROM `+commentTables+` WHERE c.id = ?`, id)
	switch {
	case err != nil:
		return Comment{}, err
	case len(found) == 0:
		return Comment{}, fmt.Errorf("comment %q: %w", id, ErrNotFound)
	}
	return found[0], nil
}

// commentsOf are an item's comments as the actor may see them. An answer in a
// thread whose question is kept from them is kept from them, too.
func commentsOf(ctx context.Context, q querier, a Actor, reviewID string, know knowing) (v Comments, err error) {
	all, err := collect(ctx, q, scanComment, `SELECT `+commentColumns+` FROM `+commentTables+` WHERE c.review_id = ? ORDER BY c.created_at, c.id`, reviewID)
	hidden := map[string]bool{}
	for _, c := range all {
		if hidden[c.ParentID] || !know.mayRead(c, a) {
			hidden[c.ID] = true
			v.Sealed++
			continue
		}
		v.All = append(v.All, c)
	}
	if err != nil || !a.MayDecide() || know.verdictSealed && know.peersSealed {
		return v, err
	}
	// What the actor knows matters as long as others may still answer.
	err = q.QueryRowContext(ctx, `
SELECT r.blind AND ? OR ? AND NOT r.adjudicating AND NOT r.reopened FROM reviews r WHERE r.id = ? AND `+waiting,
		!know.verdictSealed, !know.peersSealed, reviewID).Scan(&v.WouldTell)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return v, err
}

// ListComments gives an item's comments as the actor may see them. Roles: all.
func (s *Store) ListComments(ctx context.Context, a Actor, reviewID string) (v Comments, err error) {
	defer wrap(&err, "list the comments on review %s", reviewID)
	if err := s.authorise(ctx, a, everyone, "review.read", "review:"+reviewID); err != nil {
		return v, err
	}
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, read.end(ctx)) }()
	know, err := knowingOf(ctx, read, a, reviewID)
	if err != nil {
		return v, err
	}
	return commentsOf(ctx, read, a, reviewID, know)
}

// WithdrawComment takes the actor's own comment back: its place stays in the
// thread, and its text is gone.
func (s *Store) WithdrawComment(ctx context.Context, a Actor, id string) (err error) {
	defer wrap(&err, "take comment %s back", id)
	if err := s.authoriseDecider(ctx, a, commentWithdrawn, "comment:"+id); err != nil {
		return err
	}
	return s.changeComment(ctx, a, id, commentWithdrawn, func(t *tx, c Comment) (int64, error) {
		if c.UserID != a.UserID {
			return 0, refuse("only who wrote a comment takes it back")
		}
		return t.changed(ctx, `UPDATE comments SET body = '', withdrawn_at = ? WHERE id = ? AND withdrawn_at IS NULL`, t.now, c.ID)
	})
}

// ResolveComment marks a thread as answered, or as open again. Roles: lead,
// admin, and who began it.
func (s *Store) ResolveComment(ctx context.Context, a Actor, id string, resolved bool) (err error) {
	action := commentResolved
	if !resolved {
		action = commentReopened
	}
	defer wrap(&err, "change thread %s", id)
	if err := s.authoriseDecider(ctx, a, action, "comment:"+id); err != nil {
		return err
	}
	return s.changeComment(ctx, a, id, action, func(t *tx, c Comment) (int64, error) {
		switch {
		case c.ParentID != "":
			return 0, refuse("a thread is marked at its first comment")
		case c.UserID != a.UserID && !a.mayAdjudicate():
			return 0, refuse("only who asked, or a lead, says that it is answered")
		case resolved:
			return t.changed(ctx, `UPDATE comments SET resolved_at = ?, resolved_by = ? WHERE id = ? AND resolved_at IS NULL`, t.now, a.UserID, c.ID)
		}
		return t.changed(ctx, `UPDATE comments SET resolved_at = NULL, resolved_by = NULL WHERE id = ? AND resolved_at IS NOT NULL`, c.ID)
	})
}

// changeComment changes a comment that the actor may see; what is so already
// stays without an event.
func (s *Store) changeComment(ctx context.Context, a Actor, id, action string, change func(*tx, Comment) (int64, error)) error {
	return s.write(ctx, func(t *tx) error {
		c, err := commentByID(ctx, t, id)
		if err != nil {
			return err
		}
		r, err := loadReviewState(ctx, t, c.ReviewID)
		if err != nil {
			return err
		}
		know, err := knowingOf(ctx, t, a, r.id)
		if err != nil {
			return err
		}
		if !know.mayRead(c, a) {
			return fmt.Errorf("comment %q: %w", id, ErrNotFound)
		}
		n, err := change(t, c)
		if err != nil || n == 0 {
			return err
		}
		t.audit(event{project: r.project, actor: a, action: action, subject: r.subject(),
			data: map[string]any{"evaluation_id": r.evaluationID, "comment_id": c.ID}})
		return nil
	})
}

// Asked is an open question to somebody, with the item it is on.
type Asked struct {
	Comment
	Title   string // the item's
	TraceID string // the file's id
	Judge   string
}

// QuestionsFor lists the open questions to the actor, by name or by role, that
// are not kept from them, the oldest first; at most 200. Roles: who may decide.
func (s *Store) QuestionsFor(ctx context.Context, a Actor, project string) (_ []Asked, err error) {
	defer wrap(&err, "list the questions to %s", a.Name)
	if err := s.authoriseDecider(ctx, a, "review.read", "queue"); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	verdict, peers := sealedFor(a, "r.evaluation_id"), peersSealedFor(a, "r.evaluation_id")
	args := append([]any{a.UserID, string(a.Role), a.UserID, p.ID}, verdict.args...)
	return collect(ctx, s.reader, func(rows *sql.Rows, v *Asked) error {
		return scanCommentAnd(rows, &v.Comment, &v.Title, &v.TraceID, &v.Judge)
	}, `
SELECT `+commentColumns+`, r.title, r.external_id, r.judge FROM `+commentTables+` JOIN reviews r ON r.id = c.review_id
WHERE c.addressee IN (?, ?) AND c.addressee <> '' AND c.resolved_at IS NULL AND c.withdrawn_at IS NULL AND c.user_id <> ? AND r.project_id = ?
  AND (NOT `+verdict.sql+` OR NOT c.knew_verdict AND NOT c.knew_peers) AND (NOT `+peers.sql+` OR NOT c.knew_peers)
ORDER BY c.created_at, c.id LIMIT 200`, append(args, peers.args...)...)
}

// AnswersTo lists what others answered to the actor's questions that are not marked as
// answered, as far as it is not kept from them, the newest first; at most 50. Roles:
// who may decide.
func (s *Store) AnswersTo(ctx context.Context, a Actor, project string) (_ []Asked, err error) {
	defer wrap(&err, "list the answers to %s", a.Name)
	if err := s.authoriseDecider(ctx, a, "review.read", "queue"); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	verdict, peers := sealedFor(a, "r.evaluation_id"), peersSealedFor(a, "r.evaluation_id")
	args := append([]any{a.UserID, a.UserID, p.ID}, verdict.args...)
	return collect(ctx, s.reader, func(rows *sql.Rows, v *Asked) error {
		return scanCommentAnd(rows, &v.Comment, &v.Title, &v.TraceID, &v.Judge)
	}, `
SELECT `+commentColumns+`, r.title, r.external_id, r.judge FROM `+commentTables+` JOIN comments asked ON asked.id = c.parent_id JOIN reviews r ON r.id = c.review_id
WHERE asked.user_id = ? AND asked.resolved_at IS NULL AND asked.withdrawn_at IS NULL AND c.withdrawn_at IS NULL AND c.user_id <> ? AND r.project_id = ?
  AND (NOT `+verdict.sql+` OR NOT c.knew_verdict AND NOT c.knew_peers) AND (NOT `+peers.sql+` OR NOT c.knew_peers)
ORDER BY c.created_at DESC, c.id DESC LIMIT 50`, append(args, peers.args...)...)
}
