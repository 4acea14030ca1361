package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// DefaultProject is the project of whoever names none.
const DefaultProject = "default"

// Project is a team's space.
type Project struct {
	ID        string
	Name      string
	Policy    judge.Policy
	CreatedAt time.Time
}

var projectName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

const projectColumns = `id, name, policy, created_at`

func scanProject(scan func(...any) error, p *Project) error {
	var policy string
	if err := scan(&p.ID, &p.Name, &policy, &p.CreatedAt); err != nil {
		return err
	}
	p.CreatedAt = p.CreatedAt.UTC()
	var err error
	p.Policy, err = readPolicy(p.Name, policy)
	return err
}

func readPolicy(project, stored string) (p judge.Policy, err error) {
	if err := json.Unmarshal([]byte(stored), &p); err != nil {
		return p, fmt.Errorf("the stored policy of project %s: %w", project, err)
	}
	return p, nil
}

func projectNamed(ctx context.Context, q querier, name string) (Project, error) {
	var p Project
	row := q.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM projects WHERE name = ?`, name)
	return p, notFound(scanProject(row.Scan, &p), "project %q", name)
}

func projectByID(ctx context.Context, q querier, id string) (Project, error) {
	var p Project
	row := q.QueryRowContext(ctx, `SELECT `+projectColumns+` FROM projects WHERE id = ?`, id)
	return p, notFound(scanProject(row.Scan, &p), "project with id %s", id)
}

// ProjectNamed finds a project.
func (s *Store) ProjectNamed(ctx context.Context, name string) (Project, error) {
	return projectNamed(ctx, s.reader, name)
}

// Projects lists every project by name.
func (s *Store) Projects(ctx context.Context) ([]Project, error) {
	return collect(ctx, s.reader, func(r *sql.Rows, p *Project) error { return scanProject(r.Scan, p) },
		`SELECT `+projectColumns+` FROM projects ORDER BY name`)
}

// EnsureProject finds a project or makes it, with the default policy. Roles to
// make one: lead, admin.
func (s *Store) EnsureProject(ctx context.Context, a Actor, name string) (p Project, err error) {
	defer wrap(&err, "open project %q", name)
	if p, err = projectNamed(ctx, s.reader, name); !errors.Is(err, ErrNotFound) {
		return p, err
	}
	if !projectName.MatchString(name) {
		return Project{}, invalid("project", "is %q: a name has 1 to 64 of a-z, 0-9, - and _", name)
	}
	if err := s.authorise(ctx, a, leads, "project.created", "project:"+name); err != nil {
		return Project{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		p = Project{ID: newProjectID(), Name: name, Policy: judge.DefaultPolicy(), CreatedAt: t.now}
		policy, err := json.Marshal(p.Policy)
		if err != nil {
			return err
		}
		n, err := t.changed(ctx, `
INSERT INTO projects (id, name, policy, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
			p.ID, p.Name, string(policy), p.CreatedAt)
		if err != nil {
			return err
		}
		if n == 0 { // somebody else made it meanwhile
			p, err = projectNamed(ctx, t, name)
			return err
		}
		t.audit(event{project: name, actor: a, action: "project.created", subject: "project:" + p.ID, data: p.Policy})
		return t.keepPolicy(ctx, a, p, "")
	})
	return p, err
}

// SetPolicy replaces the policy of a project. The version counts up by itself;
// p.Version must be the version that was changed, so that two leads don't
// overwrite each other (ErrConflict). A policy that says the same as the present one
// makes no version: the project is given back as it is. The comment, at most 4,000 characters or
// empty, says why and is kept with the policy. Roles: lead, admin.
func (s *Store) SetPolicy(ctx context.Context, a Actor, project string, p judge.Policy, comment string) (changed Project, err error) {
	defer wrap(&err, "set the policy of project %q", project)
	if err := s.authorise(ctx, a, leads, "policy.changed", "project:"+project); err != nil {
		return Project{}, err
	}
	if err := checkPolicy(p); err != nil {
		return Project{}, err
	}
	if err := checkComment("comment", comment, false); err != nil {
		return Project{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		if changed, err = projectNamed(ctx, t, project); err != nil {
			return err
		}
		if err := t.lockProject(ctx, changed.ID); err != nil {
			return err
		}
		if changed, err = projectByID(ctx, t, changed.ID); err != nil {
			return err
		}
		if changed.Policy.Version != p.Version {
			return fmt.Errorf("the policy has version %d and the change was made to version %d: %w", changed.Policy.Version, p.Version, ErrConflict)
		}
		before := changed.Policy
		if bytes.Equal(before.YAML(), p.YAML()) {
			return nil
		}
		p.Version++
		changed.Policy = p
		t.audit(event{project: project, actor: a, action: "policy.changed", subject: "project:" + changed.ID,
			data: map[string]any{"before": before, "after": p, "comment": strings.TrimSpace(comment)}})
		return t.keepPolicy(ctx, a, changed, comment)
	})
	return changed, err
}

// checkPolicy holds a policy to its rules. The field is the place of the first
// fault, the message tells all.
func checkPolicy(p judge.Policy) error {
	err := p.Check()
	if err == nil {
		return nil
	}
	var first *judge.PolicyFault
	if !errors.As(err, &first) {
		return err
	}
	field := first.Place()
	return invalid(field, "%s", strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", "; "), field+" "))
}

// Setting reads a small fact of the installation, such as a key, or makes it
// once and keeps it. The value that was stored first wins.
func (s *Store) Setting(ctx context.Context, name string, make func() (string, error)) (value string, err error) {
	defer wrap(&err, "setting %s", name)
	const read = `SELECT value FROM settings WHERE name = ?`
	err = s.reader.QueryRowContext(ctx, read, name).Scan(&value)
	if !errors.Is(err, sql.ErrNoRows) {
		return value, err
	}
	fresh, err := make()
	if err != nil {
		return "", err
	}
	err = s.write(ctx, func(t *tx) error {
		if _, err := t.exec(ctx, `INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, fresh); err != nil {
			return err
		}
		return t.QueryRowContext(ctx, read, name).Scan(&value)
	})
	return value, err
}
