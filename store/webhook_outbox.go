package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// What is told to another system is written in the transaction of what happened,
// and sent afterwards by whichever server has an address (see package main). So it
// is sent at least once: a server that dies after the other side took it sends it
// again, under the same id.

// Delivery is one message to the address that an administrator gave.
type Delivery struct {
	ID        string
	Event     string // drift.alarm_opened or drift.alarm_closed
	Body      []byte // JSON, as it is signed and sent
	CreatedAt time.Time
	Attempts  int // with the one that it was given for
	// NextAt is when it is sent again; zero: it was delivered, or given up.
	NextAt, DeliveredAt time.Time
	LastError           string
}

// tellOutside notes a message. Its body is fixed here, so that every try sends and
// signs the same.
func (t *tx) tellOutside(ctx context.Context, name, project string, a DriftAlarm) error {
	id := t.newID()
	facts := a.facts()
	facts["id"], facts["event"], facts["at"], facts["project"] = id, name, t.now, project
	body, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO webhook_deliveries (id, event, body, created_at, attempts, next_at, last_error) VALUES (?, ?, ?, ?, 0, ?, '')`,
		id, name, string(body), t.now, t.now)
	return err
}

// Messages are sent within a week, or not at all: where no server has had an address
// for longer, nobody waits for them. Upkeep drops them after three months.
const (
	deliveryFor  = 7 * 24 * time.Hour
	deliveryKept = 90 * 24 * time.Hour
)

// TakeDelivery gives the message that is due longest, and keeps it from other
// servers for a time. Nil: none is due.
func (s *Store) TakeDelivery(ctx context.Context, hold time.Duration) (d *Delivery, err error) {
	defer wrap(&err, "take a message to send")
	now := s.clock()
	var due bool // idle servers must not queue for the writer
	const free = `next_at <= ? AND (held_until IS NULL OR held_until <= ?) AND created_at > ?`
	if err := s.reader.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE `+free+`)`, now, now, now.Add(-deliveryFor)).Scan(&due); err != nil || !due {
		return nil, err
	}
	err = s.write(ctx, func(t *tx) error {
		d = &Delivery{}
		var body string
		err := t.scan(ctx, `
UPDATE webhook_deliveries SET held_until = ?, attempts = attempts + 1
WHERE id = (SELECT x.id FROM webhook_deliveries x WHERE x.next_at <= ? AND (x.held_until IS NULL OR x.held_until <= ?) AND x.created_at > ? ORDER BY x.next_at, x.id LIMIT 1) AND `+free+`
RETURNING id, event, body, created_at, attempts`, []any{t.now.Add(hold), t.now, t.now, t.now.Add(-deliveryFor), t.now, t.now, t.now.Add(-deliveryFor)}, []any{&d.ID, &d.Event, &body, &d.CreatedAt, &d.Attempts})
		if errors.Is(err, sql.ErrNoRows) {
			d = nil
			return nil
		}
		d.Body, d.CreatedAt = []byte(body), d.CreatedAt.UTC()
		return err
	})
	return d, err
}

// Delivered notes that the other side took a message.
func (s *Store) Delivered(ctx context.Context, id string) (err error) {
	defer wrap(&err, "note message %s as delivered", id)
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE webhook_deliveries SET delivered_at = ?, next_at = NULL, held_until = NULL, last_error = '' WHERE id = ?`, t.now, id)
		return err
	})
}

// NotDelivered notes why a message did not arrive, and in what time it is sent
// again; 0: it is given up.
func (s *Store) NotDelivered(ctx context.Context, id, why string, again time.Duration) (err error) {
	defer wrap(&err, "note message %s as not delivered", id)
	return s.write(ctx, func(t *tx) error {
		var next sql.NullTime
		if again > 0 {
			next = sql.NullTime{Time: t.now.Add(again), Valid: true}
		}
		_, err := t.exec(ctx, `UPDATE webhook_deliveries SET next_at = ?, held_until = NULL, last_error = ? WHERE id = ?`, next, why, id)
		return err
	})
}

// Deliveries lists the newest messages; limit is 1..500, default 50. Roles: admin.
func (s *Store) Deliveries(ctx context.Context, a Actor, limit int) (_ []Delivery, err error) {
	defer wrap(&err, "list the messages to other systems")
	if err := s.authorise(ctx, a, admins, "webhook.listed", "webhook"); err != nil {
		return nil, err
	}
	if limit <= 0 || limit > 500 {
		limit = 50
	}
	return collect(ctx, s.reader, func(r *sql.Rows, d *Delivery) error {
		var body string
		var next, delivered sql.NullTime
		if err := r.Scan(&d.ID, &d.Event, &body, &d.CreatedAt, &d.Attempts, &next, &delivered, &d.LastError); err != nil {
			return err
		}
		d.Body, d.CreatedAt = []byte(body), d.CreatedAt.UTC()
		if next.Valid {
			d.NextAt = next.Time.UTC()
		}
		if delivered.Valid {
			d.DeliveredAt = delivered.Time.UTC()
		}
		return nil
	}, `SELECT id, event, body, created_at, attempts, next_at, delivered_at, last_error FROM webhook_deliveries ORDER BY id DESC LIMIT ?`, limit)
}
