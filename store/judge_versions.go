package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

// JudgeVersion is a version of a judge with all that can be shown of it.
type JudgeVersion struct {
	StoredJudge
	Labels      []judge.Label // in order, best first
	Snapshot    JudgeSnapshot
	Evaluations int
}

// JudgeSnapshot is what a version consists of, but for its code. An empty Prompt
// says that the version was stored before snapshots were kept.
type JudgeSnapshot struct {
	Description string            `json:"description,omitempty"`
	Prompt      string            `json:"prompt"` // the template
	Schema      json.RawMessage   `json:"schema,omitempty"`
	Blocks      map[string]string `json:"blocks,omitempty"` // by placeholder: rubric, worked examples
	Inputs      []SnapshotInput   `json:"inputs,omitempty"`
	Checks      []SnapshotCheck   `json:"checks,omitempty"`
	Band        judge.Band        `json:"band"`
	MaxRepairs  int               `json:"max_repairs"`
}

// SnapshotInput is a field of a trace that the version reads.
type SnapshotInput struct {
	Field    string `json:"field"`
	Required bool   `json:"required,omitempty"`
}

// SnapshotCheck is a check of the version.
type SnapshotCheck struct {
	Name string          `json:"name"`
	Kind judge.CheckKind `json:"kind"`
}

func snapshotOf(j judge.Judge) (string, error) {
	s := JudgeSnapshot{Description: j.Description, Prompt: j.Prompt, Schema: raw(j.Schema), Blocks: j.Blocks, Band: j.Band, MaxRepairs: j.MaxRepairs}
	for _, in := range j.Inputs {
		s.Inputs = append(s.Inputs, SnapshotInput{in.Field, in.Required})
	}
	for _, c := range j.Checks {
		s.Checks = append(s.Checks, SnapshotCheck{c.Name, c.Kind})
	}
	body, err := json.Marshal(s)
	return string(body), err
}

// JudgeVersions lists the versions of a judge, the newest first. ErrNotFound:
// the project has no such judge. Roles: all.
func (s *Store) JudgeVersions(ctx context.Context, a Actor, project, judgeName string) (_ []JudgeVersion, err error) {
	defer wrap(&err, "list the versions of judge %q", judgeName)
	if err := s.authorise(ctx, a, everyone, "judge.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	versions, err := collect(ctx, s.reader, func(r *sql.Rows, v *JudgeVersion) error {
		var snapshot string
		if err := r.Scan(&v.Name, &v.PromptVersion, &v.Builtin, &v.Definition, &v.Ordinal, &v.Current, &v.CreatedAt, &snapshot); err != nil {
			return err
		}
		v.CreatedAt = v.CreatedAt.UTC()
		if snapshot == "" {
			return nil
		}
		return json.Unmarshal([]byte(snapshot), &v.Snapshot)
	}, `
SELECT name, prompt_version, builtin, definition, ordinal, current, created_at, snapshot
FROM judges WHERE project_id = ? AND name = ? ORDER BY created_at DESC, id DESC`, p.ID, judgeName)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("project %s has no judge %q: %w", p.Name, judgeName, ErrNotFound)
	}
	return versions, s.addVersionFacts(ctx, p.ID, judgeName, versions)
}

// addVersionFacts adds labels and how often each version was used.
func (s *Store) addVersionFacts(ctx context.Context, projectID, judgeName string, versions []JudgeVersion) error {
	at := make(map[string]*JudgeVersion, len(versions))
	for i := range versions {
		at[versions[i].PromptVersion] = &versions[i]
	}
	_, err := collect(ctx, s.reader, func(r *sql.Rows, _ *struct{}) error {
		var version string
		var l judge.Label
		if err := r.Scan(&version, &l.Name, &l.Verdict, &l.Abstain); err != nil {
			return err
		}
		if v := at[version]; v != nil {
			v.Labels = append(v.Labels, l)
		}
		return nil
	}, `SELECT prompt_version, label, verdict, abstain FROM judge_labels WHERE project_id = ? AND judge = ? ORDER BY prompt_version, position`, projectID, judgeName)
	if err != nil {
		return err
	}
	counts, err := s.tallied(ctx, projectID, tallyUse)
	for version, v := range at {
		v.Evaluations = counts[useName(judge.Planned{Judge: judgeName, PromptVersion: version})]
	}
	return err
}

// fewestDigits are enough to name a version by its beginning.
const fewestDigits = 8

// JudgeVersion reads one version of a judge. It may be named by its first 8
// digits or more, if only one begins so; ErrNotFound else. Roles: all.
func (s *Store) JudgeVersion(ctx context.Context, a Actor, project, judgeName, version string) (JudgeVersion, error) {
	versions, err := s.JudgeVersions(ctx, a, project, judgeName)
	if err != nil {
		return JudgeVersion{}, err
	}
	var found []JudgeVersion
	for _, v := range versions {
		if v.PromptVersion == version {
			return v, nil
		}
		if len(version) >= fewestDigits && strings.HasPrefix(v.PromptVersion, version) {
			found = append(found, v)
		}
	}
	if len(found) != 1 {
		return JudgeVersion{}, fmt.Errorf("judge %s has %d versions %q: %w", judgeName, len(found), version, ErrNotFound)
	}
	return found[0], nil
}

// versionLabelsMissing is the setting that migration 11 leaves when there are
// versions whose labels stand in their definition only.
const versionLabelsMissing = "version_labels_missing"

// fillVersionLabels reads the labels of older versions of own judges from their
// definitions. One that this program does not understand any more has none, and
// is decided on the present scale.
func (s *Store) fillVersionLabels(ctx context.Context) error {
	missing, err := settingValue(ctx, s.reader, versionLabelsMissing, "")
	if err != nil || missing == "" {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		type old struct{ projectID, name, version, definition string }
		versions, err := collect(ctx, t, func(r *sql.Rows, v *old) error { return r.Scan(&v.projectID, &v.name, &v.version, &v.definition) },
			`SELECT project_id, name, prompt_version, definition FROM judges WHERE NOT current AND NOT builtin`)
		if err != nil {
			return err
		}
		for _, v := range versions {
			j, err := judge.ParseDefinition(v.name, []byte(v.definition))
			if err != nil {
				continue // as the comment says
			}
			if err := t.saveLabels(ctx, v.projectID, v.name, v.version, j.Labels); err != nil {
				return err
			}
		}
		_, err = t.exec(ctx, `DELETE FROM settings WHERE name = ?`, versionLabelsMissing)
		return err
	})
}

// saveLabels makes these the labels of a version.
func (t *tx) saveLabels(ctx context.Context, projectID, judgeName, version string, labels []judge.Label) error {
	if _, err := t.exec(ctx, `DELETE FROM judge_labels WHERE project_id = ? AND judge = ? AND prompt_version = ?`, projectID, judgeName, version); err != nil {
		return err
	}
	for i, l := range labels {
		if _, err := t.exec(ctx, `
INSERT INTO judge_labels (project_id, judge, prompt_version, label, position, verdict, abstain) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			projectID, judgeName, version, l.Name, i, string(l.Verdict), l.Abstain); err != nil {
			return err
		}
	}
	return nil
}

// scaleOf is a condition on judge_labels l: those of the version that an
// evaluation was judged by, whose id is its parameter, given twice; of a version
// without labels of its own, as an older program left it, those of the current one.
const scaleOf = `l.prompt_version = CASE
    WHEN EXISTS (SELECT 1 FROM judge_labels x JOIN evaluations e ON e.prompt_version = x.prompt_version
        WHERE x.project_id = l.project_id AND x.judge = l.judge AND e.id = ?) THEN (SELECT e.prompt_version FROM evaluations e WHERE e.id = ?)
    ELSE (SELECT j.prompt_version FROM judges j WHERE j.project_id = l.project_id AND j.name = l.judge AND j.current) END`
