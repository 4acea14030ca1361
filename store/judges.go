package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// StoredJudge is a version of a judge that a project has used.
type StoredJudge struct {
	Name          string
	PromptVersion string
	Builtin       bool
	Definition    string // YAML as written when the version was first used
	Ordinal       bool
	Current       bool // the version in use
	CreatedAt     time.Time
}

// SaveJudges keeps the definitions of judges with the project. A version that
// is saved becomes the current one of its name; the definition of a version
// that is known already stays as it was. A judge with drawn examples brings the version
// without them along, which is not the current one. Saving the same again writes nothing.
// Roles: lead, admin.
func (s *Store) SaveJudges(ctx context.Context, a Actor, project string, judges []judge.Judge) (err error) {
	defer wrap(&err, "save the judges of project %q", project)
	if err := s.authorise(ctx, a, leads, "judge.saved", "project:"+project); err != nil {
		return err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return err
	}
	known, err := s.judgesInUse(ctx, p.ID)
	if err != nil {
		return err
	}
	fresh := slices.DeleteFunc(slices.Clone(judges), func(j judge.Judge) bool { return known[j.Name].same(j) })
	if len(fresh) == 0 {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		for _, j := range fresh {
			if j.Plain != nil { // traces that are examples are judged by it; the one in use comes last
				if err := t.saveJudge(ctx, a, p, *j.Plain); err != nil {
					return fmt.Errorf("judge %s: %w", j.Name, err)
				}
			}
			if err := t.saveJudge(ctx, a, p, j); err != nil {
				return fmt.Errorf("judge %s: %w", j.Name, err)
			}
		}
		return nil
	})
}

// inUse is the current version of a judge with its labels.
type inUse struct {
	version string
	ordinal bool
	shown   bool // it has a snapshot
	labels  []judge.Label
}

func (u inUse) same(j judge.Judge) bool {
	return u.shown && u.version == j.PromptVersion && u.ordinal == j.Ordinal && slices.Equal(u.labels, j.Labels)
}

func (u inUse) named(label string) (judge.Label, bool) {
	i := slices.IndexFunc(u.labels, func(l judge.Label) bool { return l.Name == label })
	if i < 0 {
		return judge.Label{}, false
	}
	return u.labels[i], true
}

func (s *Store) judgesInUse(ctx context.Context, projectID string) (map[string]inUse, error) {
	type row struct {
		name, version string
		ordinal       bool
		shown         bool
		label         judge.Label
	}
	rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error {
		return r.Scan(&v.name, &v.version, &v.ordinal, &v.shown, &v.label.Name, &v.label.Verdict, &v.label.Abstain)
	}, `
SELECT j.name, j.prompt_version, j.ordinal, j.snapshot <> '', coalesce(l.label, ''), coalesce(l.verdict, ''), coalesce(l.abstain, FALSE)
FROM judges j LEFT JOIN judge_labels l ON l.project_id = j.project_id AND l.judge = j.name AND l.prompt_version = j.prompt_version
WHERE j.project_id = ? AND j.current ORDER BY j.name, l.position`, projectID)
	if err != nil {
		return nil, err
	}
	used := map[string]inUse{}
	for _, v := range rows {
		u := used[v.name]
		u.version, u.ordinal, u.shown = v.version, v.ordinal, v.shown
		if v.label.Name != "" {
			u.labels = append(u.labels, v.label)
		}
		used[v.name] = u
	}
	return used, nil
}

func (t *tx) saveJudge(ctx context.Context, a Actor, p Project, j judge.Judge) error {
	id := t.newID()
	snapshot, err := snapshotOf(j)
	if err != nil {
		return err
	}
	added, err := t.changed(ctx, `
INSERT INTO judges (id, project_id, name, prompt_version, builtin, definition, ordinal, current, created_at, snapshot)
VALUES (?, ?, ?, ?, ?, ?, ?, TRUE, ?, ?) ON CONFLICT (project_id, name, prompt_version) DO NOTHING`,
		id, p.ID, j.Name, j.PromptVersion, j.Builtin, string(j.Source), j.Ordinal, t.now, snapshot)
	if err != nil {
		return err
	}
	if added == 0 {
		if held, err := t.superseded(ctx, p.ID, j.Name, j.PromptVersion); err != nil || held {
			return err // a lead chose another one
		}
	}
	if _, err := t.exec(ctx, `UPDATE judges SET current = FALSE WHERE project_id = ? AND name = ? AND current AND prompt_version <> ?`,
		p.ID, j.Name, j.PromptVersion); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE judges SET current = TRUE, ordinal = ? WHERE project_id = ? AND name = ? AND prompt_version = ?`,
		j.Ordinal, p.ID, j.Name, j.PromptVersion); err != nil {
		return err
	}
	// A version that was stored without a snapshot gets one as long as it is in use.
	if _, err := t.exec(ctx, `UPDATE judges SET snapshot = ? WHERE project_id = ? AND name = ? AND prompt_version = ? AND snapshot = ''`,
		snapshot, p.ID, j.Name, j.PromptVersion); err != nil {
		return err
	}
	if err := t.trustDue(ctx, p.ID, j.Name); err != nil { // labels are read on the scale of the newest version
		return err
	}
	if err := t.saveLabels(ctx, p.ID, j.Name, j.PromptVersion, j.Labels); err != nil {
		return err
	}
	t.audit(event{project: p.Name, actor: a, action: "judge.saved", subject: "judge:" + j.Name,
		data: map[string]any{"prompt_version": j.PromptVersion, "new": added == 1}})
	return nil
}

// Judges lists every version of every judge of a project: by name, the newest
// first.
func (s *Store) Judges(ctx context.Context, project string) (_ []StoredJudge, err error) {
	defer wrap(&err, "list the judges of project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(r *sql.Rows, j *StoredJudge) error {
		err := r.Scan(&j.Name, &j.PromptVersion, &j.Builtin, &j.Definition, &j.Ordinal, &j.Current, &j.CreatedAt)
		j.CreatedAt = j.CreatedAt.UTC()
		return err
	}, `
SELECT name, prompt_version, builtin, definition, ordinal, current, created_at
FROM judges WHERE project_id = ? ORDER BY name, created_at DESC, id DESC`, p.ID)
}

// JudgesStamp changes whenever a project's judges do: it names the versions in
// use.
func (s *Store) JudgesStamp(ctx context.Context, project string) (_ string, err error) {
	defer wrap(&err, "read the versions of the judges of project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return "", err
	}
	ids, err := collect(ctx, s.reader, func(r *sql.Rows, id *string) error { return r.Scan(id) },
		`SELECT id FROM judges WHERE project_id = ? AND current ORDER BY id`, p.ID)
	return strings.Join(ids, " "), err
}

// JudgeUse counts the evaluations of one judge by prompt version; recorded
// reports count under the version they name, or judge.Unknown.
type JudgeUse struct {
	Judge         string
	PromptVersion string
	Evaluations   int
}

// JudgeUses says how often each judge was used, from what is kept. Roles: all.
func (s *Store) JudgeUses(ctx context.Context, project string) (_ []JudgeUse, err error) {
	defer wrap(&err, "count the evaluations of the judges of project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	counts, err := s.tallied(ctx, p.ID, tallyUse)
	return readUses(counts), err
}
