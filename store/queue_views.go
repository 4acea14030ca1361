package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// QueueView is a set of filters of the queue under a name.
type QueueView struct {
	ID        string
	Name      string
	Filters   string // as in the address, after the question mark
	Shared    bool   // everybody of the project sees it
	Mine      bool   // the actor saved it
	Owner     string // name
	CreatedAt time.Time
}

// Bounds of saved views.
const (
	maxViews       = 50 // of one person in one project
	maxViewName    = 40 // characters
	maxViewFilters = 2000
)

// QueueViews lists what the actor saved, and what is shared, by name. Roles: all.
func (s *Store) QueueViews(ctx context.Context, a Actor, project string) (_ []QueueView, err error) {
	defer wrap(&err, "list views of the queue")
	if err := s.authorise(ctx, a, everyone, "queue.listed", "queue"); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(r *sql.Rows, v *QueueView) error {
		err := r.Scan(&v.ID, &v.Name, &v.Filters, &v.Shared, &v.Mine, &v.Owner, &v.CreatedAt)
		v.CreatedAt = v.CreatedAt.UTC()
		return err
	}, `
SELECT v.id, v.name, v.filters, v.shared, v.user_id = ?, u.name, v.created_at FROM queue_views v JOIN users u ON u.id = v.user_id
WHERE v.project_id = ? AND (v.user_id = ? OR v.shared) ORDER BY v.name, v.id`, a.UserID, p.ID, a.UserID)
}

// SaveQueueView keeps filters under a name; a name that the actor has used
// already gets the new ones. Only leads and admins share. Roles: all but the
// operator.
func (s *Store) SaveQueueView(ctx context.Context, a Actor, project string, v QueueView) (err error) {
	defer wrap(&err, "save the view %q of the queue", v.Name)
	allowed := everyone
	if v.Shared {
		allowed = leads
	}
	if a.UserID == "" {
		allowed = nil
	}
	if err := s.authorise(ctx, a, allowed, "queue_view.saved", "queue"); err != nil {
		return err
	}
	v.Name = strings.TrimSpace(v.Name)
	switch n := utf8.RuneCountInString(v.Name); {
	case n == 0:
		return invalid("name", "is missing: give the view a name")
	case n > maxViewName:
		return invalid("name", "is longer than %d characters", maxViewName)
	case len(v.Filters) > maxViewFilters:
		return invalid("filters", "are longer than %d characters", maxViewFilters)
	}
	return s.write(ctx, func(t *tx) error {
		p, err := projectNamed(ctx, t, orDefaultProject(project))
		if err != nil {
			return err
		}
		if err := t.lockUser(ctx, a.UserID); err != nil {
			return err
		}
		var others int
		if err := t.QueryRowContext(ctx, `SELECT count(*) FROM queue_views WHERE project_id = ? AND user_id = ? AND name <> ?`,
			p.ID, a.UserID, v.Name).Scan(&others); err != nil {
			return err
		}
		if others >= maxViews {
			return fmt.Errorf("%s has saved %d views, which is the most: delete one first: %w", a.Name, others, ErrConflict)
		}
		t.audit(event{project: p.Name, actor: a, action: "queue_view.saved", subject: "project:" + p.ID,
			data: map[string]any{"name": v.Name, "filters": v.Filters, "shared": v.Shared}})
		_, err = t.exec(ctx, `
INSERT INTO queue_views (id, project_id, user_id, name, filters, shared, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, user_id, name) DO UPDATE SET filters = excluded.filters, shared = excluded.shared`,
			t.newID(), p.ID, a.UserID, v.Name, v.Filters, v.Shared, t.now)
		return err
	})
}

// DeleteQueueView forgets a saved view. Roles: who saved it; leads and admins, of
// what is shared.
func (s *Store) DeleteQueueView(ctx context.Context, a Actor, id string) (err error) {
	defer wrap(&err, "delete a view of the queue")
	if err := s.authorise(ctx, a, everyone, "queue_view.deleted", "queue"); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		var projectID, project, owner, name string
		var shared bool
		if err := t.QueryRowContext(ctx, `
SELECT p.id, p.name, v.user_id, v.name, v.shared FROM queue_views v JOIN projects p ON p.id = v.project_id WHERE v.id = ?`, id).
			Scan(&projectID, &project, &owner, &name, &shared); err != nil {
			return notFound(err, "view %q", id)
		}
		if owner != a.UserID && !(shared && (a.Role == Lead || a.Role == Admin)) {
			return fmt.Errorf("view %q: %w", id, ErrNotFound) // whose private view it is is nobody's business
		}
		t.audit(event{project: project, actor: a, action: "queue_view.deleted", subject: "project:" + projectID, data: map[string]any{"name": name}})
		_, err := t.exec(ctx, `DELETE FROM queue_views WHERE id = ?`, id)
		return err
	})
}
