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
// empty, says why and is kept with the policy. Where the policy asks for examples
// that are not drawn yet, they are drawn now, for which judges holds the judges that
// are named; see ExampleDraws for what was found. Roles: lead, admin.
func (s *Store) SetPolicy(ctx context.Context, a Actor, project string, p judge.Policy, comment string, judges ...judge.Judge) (changed Project, err error) {
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
	return s.changePolicy(ctx, a, project, policyChange{policy: &p, comment: comment, judges: judges})
}

// RefreshExamples draws the examples of every judge anew for which the present
// policy asks, which makes a version of the policy that says the same. When the
// draw gives what is there already, nothing is changed. ErrInvalid: the policy asks
// for none. Roles: lead, admin.
func (s *Store) RefreshExamples(ctx context.Context, a Actor, project, comment string, judges ...judge.Judge) (changed Project, err error) {
	defer wrap(&err, "draw the examples of project %q anew", project)
	if err := s.authorise(ctx, a, leads, "policy.changed", "project:"+project); err != nil {
		return Project{}, err
	}
	if err := checkComment("comment", comment, false); err != nil {
		return Project{}, err
	}
	return s.changePolicy(ctx, a, project, policyChange{comment: comment, judges: judges})
}

// policyChange is what makes a new version of a policy.
type policyChange struct {
	policy  *judge.Policy // nil: the present one, with all examples drawn anew
	comment string
	judges  []judge.Judge
}

// mostDraws is how often examples are drawn when labels change meanwhile.
const mostDraws = 5

func (s *Store) changePolicy(ctx context.Context, a Actor, project string, c policyChange) (changed Project, err error) {
	for range mostDraws {
		var done bool
		if changed, done, err = s.tryPolicy(ctx, a, project, c); done || err != nil {
			return changed, err
		}
	}
	return Project{}, fmt.Errorf("reviews went on while examples were drawn, and nothing was changed; try again: %w", ErrConflict)
}

func otherPolicy(present, next judge.Policy) error {
	return fmt.Errorf("the policy has version %d and the change was made to version %d: %w", present.Version, next.Version, ErrConflict)
}

// errDrawStale rolls a change back whose draw no longer holds.
var errDrawStale = errors.New("store: an example came into review while it was drawn")

// tryPolicy makes the change once. done is false when the draw no longer holds.
func (s *Store) tryPolicy(ctx context.Context, a Actor, project string, c policyChange) (changed Project, done bool, err error) {
	present, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return Project{}, false, err
	}
	next := present.Policy
	if c.policy != nil {
		next = *c.policy
		if bytes.Equal(present.Policy.YAML(), next.YAML()) {
			return present, true, nil
		}
	} else if len(next.WithExamples()) == 0 {
		return Project{}, false, invalid("examples", "are asked for by no rule of the policy: a rule for citations or reference says so, see docs/policy.yaml")
	}
	if present.Policy.Version != next.Version {
		return Project{}, false, otherPolicy(present.Policy, next)
	}
	draws, fresh, err := s.drawsFor(ctx, present, next, c.judges, c.policy == nil)
	if err != nil || c.policy == nil && !fresh {
		return present, err == nil, err
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.lockProject(ctx, present.ID); err != nil {
			return err
		}
		if changed, err = projectByID(ctx, t, present.ID); err != nil {
			return err
		}
		if changed.Policy.Version != next.Version {
			return otherPolicy(changed.Policy, next)
		}
		before, after := changed.Policy, next
		if c.policy != nil && bytes.Equal(before.YAML(), after.YAML()) {
			return nil
		}
		after.Version++
		changed.Policy = after
		t.audit(event{project: project, actor: a, action: "policy.changed", subject: "project:" + changed.ID,
			data: map[string]any{"before": before, "after": after, "comment": strings.TrimSpace(c.comment)}})
		if err := t.keepPolicy(ctx, a, changed, c.comment); err != nil {
			return err
		}
		if err := t.allTrustDue(ctx, changed.ID); err != nil {
			return err
		}
		if kept, err := t.keepDraws(ctx, a, changed, draws); err != nil || kept {
			return err
		}
		return errDrawStale
	})
	if errors.Is(err, errDrawStale) {
		return Project{}, false, nil
	}
	return changed, err == nil, err
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
