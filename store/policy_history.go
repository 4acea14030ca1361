package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// PolicyVersion is a policy that a project has or had.
type PolicyVersion struct {
	Version int // from 1
	Policy  judge.Policy
	Author  string // as the audit log names them; empty: from before authors were kept
	Comment string
	At      time.Time // since when it counts, UTC; for what is older than this list, when it was first listed
}

// maxPolicies bounds the list of a project's policies.
const maxPolicies = 500

// Policies lists the policies that a project has had, the newest first, at most
// 500. Roles: lead, auditor, admin.
func (s *Store) Policies(ctx context.Context, a Actor, project string) (_ []PolicyVersion, err error) {
	defer wrap(&err, "list the policies of project %q", project)
	p, err := s.policyReader(ctx, a, project)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, scanPolicy(project), `
SELECT version, policy, author, comment, created_at FROM policies WHERE project_id = ? ORDER BY version DESC LIMIT ?`, p.ID, maxPolicies)
}

// PolicyAt reads one policy of a project by its version. Roles: lead, auditor,
// admin.
func (s *Store) PolicyAt(ctx context.Context, a Actor, project string, version int) (v PolicyVersion, err error) {
	defer wrap(&err, "read version %d of the policy of project %q", version, project)
	p, err := s.policyReader(ctx, a, project)
	if err != nil {
		return v, err
	}
	found, err := collect(ctx, s.reader, scanPolicy(project), `
SELECT version, policy, author, comment, created_at FROM policies WHERE project_id = ? AND version = ?`, p.ID, version)
	if err != nil {
		return v, err
	}
	if len(found) == 0 {
		return v, fmt.Errorf("the present policy is version %d: %w", p.Policy.Version, ErrNotFound)
	}
	return found[0], nil
}

func (s *Store) policyReader(ctx context.Context, a Actor, project string) (Project, error) {
	if err := s.authorise(ctx, a, readers, "policy.read", "project:"+project); err != nil {
		return Project{}, err
	}
	return projectNamed(ctx, s.reader, project)
}

func scanPolicy(project string) func(*sql.Rows, *PolicyVersion) error {
	return func(r *sql.Rows, v *PolicyVersion) error {
		var stored string
		if err := r.Scan(&v.Version, &stored, &v.Author, &v.Comment, &v.At); err != nil {
			return err
		}
		v.At = v.At.UTC()
		var err error
		v.Policy, err = readPolicy(project, stored)
		return err
	}
}

// keepPolicy writes the policy of a project and adds it to those it has had.
func (t *tx) keepPolicy(ctx context.Context, a Actor, p Project, comment string) error {
	policy, err := json.Marshal(p.Policy)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE projects SET policy = ? WHERE id = ?`, string(policy), p.ID); err != nil {
		return err
	}
	_, err = t.exec(ctx, `
INSERT INTO policies (project_id, version, policy, author, comment, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		p.ID, p.Policy.Version, string(policy), a.Name, strings.TrimSpace(comment), t.now)
	return err
}

// fillPolicies lists the present policy of each project that is older than the
// list of policies.
func (s *Store) fillPolicies(ctx context.Context) error {
	unlisted, err := collect(ctx, s.reader, func(r *sql.Rows, p *Project) error { return scanProject(r.Scan, p) }, `
SELECT `+projectColumns+` FROM projects WHERE NOT EXISTS (SELECT 1 FROM policies x WHERE x.project_id = projects.id)`)
	if err != nil || len(unlisted) == 0 {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		for _, p := range unlisted {
			policy, err := json.Marshal(p.Policy)
			if err != nil {
				return err
			}
			if _, err := t.exec(ctx, `
INSERT INTO policies (project_id, version, policy, author, comment, created_at) VALUES (?, ?, ?, '', '', ?)
ON CONFLICT (project_id, version) DO NOTHING`, p.ID, p.Policy.Version, string(policy), t.now); err != nil {
				return err
			}
		}
		return nil
	})
}
