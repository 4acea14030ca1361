package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// AuditEvent is one link of the audit chain. Its hash is the hex SHA-256 of
// its JSON form with Hash left empty, so anybody can recompute the chain from
// an export with a dozen lines of any language.
type AuditEvent struct {
	Seq      int64           `json:"seq"` // from 1, without gaps
	At       time.Time       `json:"at"`  // UTC, microseconds
	Project  string          `json:"project,omitempty"`
	ActorID  string          `json:"actor_id,omitempty"`
	Actor    string          `json:"actor"`
	Action   string          `json:"action"`  // e.g. decision.made
	Subject  string          `json:"subject"` // e.g. evaluation:ID
	Allowed  bool            `json:"allowed"` // false: a denied attempt
	Data     json.RawMessage `json:"data"`
	PrevHash string          `json:"prev_hash"`
	Hash     string          `json:"hash,omitempty"`
}

// ChainHash computes the hash that the event must carry.
func (e AuditEvent) ChainHash() (string, error) {
	e.Hash = ""
	e.At = e.At.UTC()
	body, err := json.Marshal(e)
	if err != nil {
		return "", fmt.Errorf("encode audit event %d: %w", e.Seq, err)
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:]), nil
}

// event is what happened, before it has its place in the chain.
type event struct {
	project string
	actor   Actor
	action  string
	subject string
	denied  bool
	data    any // a small struct or map; never a payload
	at      time.Time
}

// audit notes an event; it is chained and stored with the transaction.
func (t *tx) audit(e event) {
	e.at = t.now
	t.events = append(t.events, e)
}

// writeEvents chains and stores the transaction's events. The head row is
// locked when it is read, so two transactions can't take the same place.
func (t *tx) writeEvents(ctx context.Context) error {
	if len(t.events) == 0 {
		return nil
	}
	var seq int64
	var prev string
	if err := t.QueryRowContext(ctx, `SELECT h.seq, h.hash FROM audit_head h WHERE h.id = 1`+t.engine.forUpdate("h")).Scan(&seq, &prev); err != nil {
		return fmt.Errorf("read the head of the audit chain: %w", err)
	}
	rows := newBulk("audit_events", "", "seq", "at", "project", "actor_id", "actor", "action", "subject", "allowed", "data", "prev_hash", "hash")
	for _, e := range t.events {
		data, err := json.Marshal(e.data)
		if err != nil {
			return fmt.Errorf("encode the data of audit event %s: %w", e.action, err)
		}
		seq++
		link := AuditEvent{
			Seq: seq, At: e.at, Project: e.project, ActorID: e.actor.UserID, Actor: e.actor.Name,
			Action: e.action, Subject: e.subject, Allowed: !e.denied, Data: data, PrevHash: prev,
		}
		if link.Hash, err = link.ChainHash(); err != nil {
			return err
		}
		rows.add(link.Seq, link.At, link.Project, link.ActorID, link.Actor, link.Action, link.Subject, link.Allowed,
			string(link.Data), digest(link.PrevHash), digest(link.Hash))
		prev = link.Hash
	}
	if err := rows.write(ctx, t); err != nil {
		return err
	}
	_, err := t.exec(ctx, `UPDATE audit_head SET seq = ?, hash = ? WHERE id = 1`, seq, prev)
	return err
}

// authorise checks that the actor has one of the roles. A denied attempt is
// recorded before the refusal is returned; when even that fails, both errors
// come back.
func (s *Store) authorise(ctx context.Context, a Actor, allowed []Role, action, subject string) error {
	if slices.Contains(allowed, a.Role) {
		return nil
	}
	refusal := fmt.Errorf("%s as %s: %w", action, a.Role, ErrForbidden)
	err := s.write(ctx, func(t *tx) error {
		t.audit(event{actor: a, action: action, subject: subject, denied: true, data: map[string]any{"role": a.Role}})
		return nil
	})
	return errors.Join(refusal, err)
}

const auditColumns = `seq, at, project, actor_id, actor, action, subject, allowed, data, prev_hash, hash`

func scanAudit(rows *sql.Rows, e *AuditEvent) error {
	var data string
	err := rows.Scan(&e.Seq, &e.At, &e.Project, &e.ActorID, &e.Actor, &e.Action, &e.Subject, &e.Allowed, &data, (*digest)(&e.PrevHash), (*digest)(&e.Hash))
	e.At, e.Data = e.At.UTC(), json.RawMessage(data)
	return err
}

// AuditFilter narrows the audit list. Zero values mean: all.
type AuditFilter struct {
	Before  int64 // only events with a smaller seq (paging, newest first)
	Actor   string
	Action  string
	Subject string // whole, or only the id in it
	From    time.Time
	Until   time.Time // exclusive
	Limit   int       // 1..500, default 50
}

// ListAudit lists events, newest first, and the Before of the next page (0: no
// more). Roles: lead, auditor, admin.
func (s *Store) ListAudit(ctx context.Context, a Actor, f AuditFilter) (events []AuditEvent, next int64, err error) {
	defer wrap(&err, "list the audit log")
	if err := s.authorise(ctx, a, readers, "audit.listed", "audit"); err != nil {
		return nil, 0, err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	query, args := `SELECT `+auditColumns+` FROM audit_events WHERE 1 = 1`, []any{}
	if f.Before > 0 {
		query, args = query+` AND seq < ?`, append(args, f.Before)
	}
	if f.Actor != "" {
		query, args = query+` AND actor = ?`, append(args, f.Actor)
	}
	if f.Action != "" {
		query, args = query+` AND action = ?`, append(args, f.Action)
	}
	if f.Subject != "" {
		// The kinds are few, so an id is looked up under each by the index.
		query += ` AND subject IN (?, ?, ?, ?, ?, ?)`
		args = append(args, f.Subject, "evaluation:"+f.Subject, "review:"+f.Subject, "trace:"+f.Subject, "user:"+f.Subject, "token:"+f.Subject)
	}
	if !f.From.IsZero() {
		query, args = query+` AND at >= ?`, append(args, f.From.UTC())
	}
	if !f.Until.IsZero() {
		query, args = query+` AND at < ?`, append(args, f.Until.UTC())
	}
	events, err = collect(ctx, s.reader, scanAudit, query+` ORDER BY seq DESC LIMIT ?`, append(args, f.Limit+1)...)
	if err != nil {
		return nil, 0, err
	}
	if len(events) > f.Limit {
		events = events[:f.Limit]
		next = events[f.Limit-1].Seq
	}
	return events, next, nil
}

// AuditHead closes an exported chain: without it, a file whose last lines were
// cut off would still verify.
type AuditHead struct {
	Head bool   `json:"head"`
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// EachAuditEvent calls fn for every event in order, and returns the head.
func (s *Store) EachAuditEvent(ctx context.Context, a Actor, fn func(AuditEvent) error) (head AuditHead, err error) {
	defer wrap(&err, "read the audit chain")
	if err := s.authorise(ctx, a, readers, "audit.exported", "audit"); err != nil {
		return head, err
	}
	// One read transaction: the head and the events are of the same moment.
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, read.end(ctx)) }()
	return eachEvent(ctx, read, fn)
}

func eachEvent(ctx context.Context, read *snapshot, fn func(AuditEvent) error) (head AuditHead, err error) {
	head.Head = true
	if err := read.QueryRowContext(ctx, `SELECT seq, hash FROM audit_head WHERE id = 1`).Scan(&head.Seq, &head.Hash); err != nil {
		return head, err
	}
	rows, err := read.QueryContext(ctx, `SELECT `+auditColumns+` FROM audit_events ORDER BY seq`)
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var e AuditEvent
		if err := scanAudit(rows, &e); err != nil {
			return head, err
		}
		if err := fn(e); err != nil {
			return head, err
		}
	}
	return head, rows.Err()
}

// Verification is what checking a chain found. Problem is empty when it holds.
type Verification struct {
	Events  int64
	Head    string // hash of the last event
	Problem string // the first fault, in plain words with its place
	// Open says that the file had no head line, so that events cut off at its
	// end would not be noticed.
	Open bool
}

// chain checks events one after another.
type chain struct {
	v    Verification
	prev string
}

func (c *chain) add(e AuditEvent) {
	if c.v.Problem != "" {
		return
	}
	want, err := e.ChainHash()
	switch {
	case err != nil:
		c.v.Problem = fmt.Sprintf("event %d can't be read: %v", e.Seq, err)
	case e.Seq != c.v.Events+1:
		c.v.Problem = fmt.Sprintf("event %d stands where event %d should: one was removed, added or moved", e.Seq, c.v.Events+1)
	case e.PrevHash != c.prev:
		c.v.Problem = fmt.Sprintf("event %d does not follow event %d: its previous hash is another", e.Seq, e.Seq-1)
	case e.Hash != want:
		c.v.Problem = fmt.Sprintf("event %d was changed: its content does not give its hash", e.Seq)
	default:
		c.v.Events, c.prev, c.v.Head = e.Seq, e.Hash, e.Hash
	}
}

func (c *chain) close(h AuditHead) {
	if c.v.Problem == "" && (h.Seq != c.v.Events || h.Hash != c.v.Head) {
		c.v.Problem = fmt.Sprintf("the chain ends at event %d and its head says %d: the end was cut off or added to", c.v.Events, h.Seq)
	}
}

// VerifyAudit recomputes the whole chain of the database, and holds what people
// said to it: first answers, decisions, their labels, and the results.
func (s *Store) VerifyAudit(ctx context.Context, a Actor) (_ Verification, err error) {
	defer wrap(&err, "verify the audit chain")
	if err := s.authorise(ctx, a, readers, "audit.exported", "audit"); err != nil {
		return Verification{}, err
	}
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return Verification{}, err
	}
	defer func() { err = errors.Join(err, read.end(ctx)) }()
	var c chain
	said := newSayings()
	said.of = read
	head, err := eachEvent(ctx, read, func(e AuditEvent) error {
		c.add(e)
		said.note(e)
		return nil
	})
	if err != nil {
		return Verification{}, err
	}
	c.close(head)
	if c.v.Problem == "" {
		c.v.Problem, err = s.checkRows(ctx, said, c.v.Events)
	}
	return c.v, err
}

// VerifyAuditFile recomputes the chain of an exported file (JSONL, closed by
// its head line). A line that is not an event is a problem, not an error.
func VerifyAuditFile(r io.Reader) (Verification, error) {
	c := chain{v: Verification{Open: true}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		if !c.v.Open {
			c.v.Problem = fmt.Sprintf("line %d stands after the head line", n)
			break
		}
		var head AuditHead
		if err := json.Unmarshal(lines.Bytes(), &head); err == nil && head.Head {
			if written, err := json.Marshal(head); err != nil || !bytes.Equal(written, bytes.TrimSpace(lines.Bytes())) {
				c.v.Problem = fmt.Sprintf("line %d is not written as an export writes the head: it was edited", n)
				break
			}
			c.close(head)
			c.v.Open = false
			continue
		}
		var e AuditEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			c.v.Problem = fmt.Sprintf("line %d is not an audit event: %v", n, err)
			break
		}
		// A line must be written as an export writes it. A field added, given
		// twice or in another case would be hashed by nobody and read by some.
		e.At = e.At.UTC()
		if written, err := json.Marshal(e); err != nil || !bytes.Equal(written, bytes.TrimSpace(lines.Bytes())) {
			c.v.Problem = fmt.Sprintf("line %d is not written as an export writes event %d: it was edited", n, e.Seq)
			break
		}
		c.add(e)
	}
	if err := lines.Err(); err != nil {
		return c.v, err
	}
	switch {
	case c.v.Problem != "":
	case c.v.Open:
		c.v.Problem = "the file does not end with its head line: its end was cut off, or it is no audit export"
	case c.v.Events == 0:
		c.v.Problem = "the file holds no event"
	}
	return c.v, nil
}

// AuditAfter lists up to limit events that follow the given seq (0: from the
// beginning), in order. Roles: lead, auditor, admin.
func (s *Store) AuditAfter(ctx context.Context, a Actor, after int64, limit int) (events []AuditEvent, err error) {
	defer wrap(&err, "read the audit chain after %d", after)
	if err := s.authorise(ctx, a, readers, "audit.listed", "audit"); err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, scanAudit,
		`SELECT `+auditColumns+` FROM audit_events WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit)
}
