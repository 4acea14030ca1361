package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"time"
)

// What can be looked at.
const (
	SawDesk       = "desk"
	SawEvaluation = "evaluation"
	SawByAPI      = "api" // a client of theirs
)

// viewSpan is what one row of the log stands for: looking again within it adds
// nothing.
const viewSpan = 10 * time.Minute

// mostViews bounds what is remembered: a database that is away must not fill the
// memory.
const mostViews = 10_000

// viewsDays is how long it is kept who looked at what.
const viewsDays = 400

// Glance is that somebody looked at an evaluation, as a page shows it.
type Glance struct {
	EvaluationID string    `json:"evaluation_id"`
	UserID       string    `json:"user_id"`
	UserName     string    `json:"user_name"`
	What         string    `json:"what"`   // desk, evaluation
	Sealed       bool      `json:"sealed"` // the judge's answer was kept from them
	At           time.Time `json:"at"`     // the first time in ten minutes
}

// glances wait to be written, so that showing a page writes nothing. What is lost
// when a program dies are a few seconds of it; that somebody saw a sealed verdict
// on purpose is an exposure, which is stored before it is shown.
type glances struct {
	mu      sync.Mutex
	waiting map[Glance]bool
	written map[Glance]bool // of this span
	span    time.Time
}

// Look notes that the actor was shown an evaluation; it is written by WriteLooks.
// The command line, which nobody looks through, is not noted.
func (s *Store) Look(a Actor, evaluationID, what string, sealed bool) {
	if a.UserID == "" {
		return
	}
	now := s.clock()
	g := Glance{EvaluationID: evaluationID, UserID: a.UserID, What: what, Sealed: sealed, At: now.Truncate(viewSpan)}
	l := &s.glances
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting, l.written = map[Glance]bool{}, map[Glance]bool{}
	}
	if g.At.After(l.span) {
		l.span = g.At
		clear(l.written)
	}
	if !l.written[g] && len(l.waiting) < mostViews {
		l.waiting[g] = true
	}
}

// WriteLooks writes what Look noted. A server calls it every few seconds and when
// it ends; what could not be written is tried again the next time.
func (s *Store) WriteLooks(ctx context.Context) (err error) {
	defer wrap(&err, "write who looked at what")
	l := &s.glances
	l.mu.Lock()
	batch := make([]Glance, 0, len(l.waiting))
	for g := range l.waiting {
		batch = append(batch, g)
	}
	l.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	slices.SortFunc(batch, func(x, y Glance) int { // two servers must not wait for each other crosswise
		return strings.Compare(x.EvaluationID+x.UserID+x.What, y.EvaluationID+y.UserID+y.What)
	})
	err = s.write(ctx, func(t *tx) error {
		rows := newBulk("views_log", " ON CONFLICT DO NOTHING", "evaluation_id", "user_id", "what", "sealed", "seen_at")
		for _, g := range batch {
			rows.add(g.EvaluationID, g.UserID, g.What, g.Sealed, g.At)
		}
		return rows.write(ctx, t)
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range batch {
		delete(l.waiting, g)
		if !g.At.Before(l.span) && len(l.written) < mostViews {
			l.written[g] = true
		}
	}
	return nil
}

// MaxSeen is how many of the newest looks at an evaluation are told.
const MaxSeen = 500

// Seen lists who looked at an evaluation, the newest first: limit of them after the
// first skip, of at most MaxSeen. What was shown in the last seconds may not be there
// yet. Roles: lead, auditor, admin.
func (s *Store) Seen(ctx context.Context, a Actor, evaluationID string, skip, limit int) (_ []Glance, err error) {
	defer wrap(&err, "list who looked at evaluation %s", evaluationID)
	if err := s.authorise(ctx, a, readers, "views.read", "evaluation:"+evaluationID); err != nil {
		return nil, err
	}
	skip = max(0, skip)
	limit = min(limit, MaxSeen-skip)
	if limit <= 0 {
		return nil, nil
	}
	return collect(ctx, s.reader, func(rows *sql.Rows, g *Glance) error {
		err := rows.Scan(&g.EvaluationID, &g.UserID, &g.UserName, &g.What, &g.Sealed, &g.At)
		g.At = g.At.UTC()
		return err
	}, `
SELECT v.evaluation_id, v.user_id, u.name, v.what, v.sealed, v.seen_at FROM views_log v JOIN users u ON u.id = v.user_id
WHERE v.evaluation_id = ? ORDER BY v.seen_at DESC, u.name, v.user_id, v.what, v.sealed LIMIT ? OFFSET ?`, evaluationID, limit, skip)
}

// dropOldViews removes what is older than viewsDays.
func (t *tx) dropOldViews(ctx context.Context) error {
	_, err := t.exec(ctx, `DELETE FROM views_log WHERE seen_at < ?`, t.now.AddDate(0, 0, -viewsDays))
	return err
}
