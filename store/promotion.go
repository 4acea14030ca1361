package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// Promotion is that a lead made a version the one that new work is planned with.
type Promotion struct {
	Judge       string
	FromVersion string
	Version     string
	Comment     string
	By          string
	At          time.Time
}

// Evidence is what a promotion rests on, as it was then. Look is nil where nobody had
// looked at the test split with these two.
type Evidence struct {
	On       string             `json:"on"`
	Labelled calibration.Versus `json:"labelled"`
	Look     *Look              `json:"look"`
}

// Evidence is what a promotion of the second competitor keeps of a comparison.
func (r Comparison) Evidence() *Evidence {
	e := &Evidence{On: r.On, Labelled: r.Labelled}
	if r.Split != nil {
		for i, l := range r.Split.Seen {
			if l.Of(r.Competitors) {
				e.Look = &r.Split.Seen[i]
				break
			}
		}
	}
	return e
}

// Promote makes a stored version of an own judge the current one, keeps why and on what
// evidence, which may be nil, and ends a shadow run of it. It stays the current one
// until another is promoted, or a definition comes that the project has never had: a
// program that is started with the version it replaced does not bring that back.
//
// ErrNotFound: there is no such version. ErrConflict: it is the current one, or of a
// built-in judge, whose versions come with the program. ErrInvalid: no comment.
// Roles: lead, admin.
func (s *Store) Promote(ctx context.Context, a Actor, project, judgeName, version, comment string, evidence *Evidence) (err error) {
	defer wrap(&err, "promote version %s of judge %q", version, judgeName)
	if err := s.authorise(ctx, a, PromoteJudges.roles, PromoteJudges.action, "judge:"+judgeName); err != nil {
		return err
	}
	comment = strings.TrimSpace(comment)
	if err := checkComment("comment", comment, true); err != nil {
		return err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return err
	}
	kept := ""
	if evidence != nil {
		body, err := json.Marshal(evidence)
		if err != nil {
			return err
		}
		kept = string(body)
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		var builtin, current bool
		var from string
		err := t.scan(ctx, `
SELECT j.builtin, j.current, COALESCE((SELECT o.prompt_version FROM judges o WHERE o.project_id = j.project_id AND o.name = j.name AND o.current), '')
FROM judges j WHERE j.project_id = ? AND j.name = ? AND j.prompt_version = ?`, []any{p.ID, judgeName, version}, []any{&builtin, &current, &from})
		if err := notFound(err, "version %s", version); err != nil {
			return err
		}
		switch {
		case current:
			return fmt.Errorf("it is the one in use already: %w", ErrConflict)
		case builtin:
			return fmt.Errorf("the judge is built in, so its versions come with the program: %w", ErrConflict)
		}
		if _, err := t.exec(ctx, `UPDATE judges SET current = (prompt_version = ?) WHERE project_id = ? AND name = ? AND (current OR prompt_version = ?)`,
			version, p.ID, judgeName, version); err != nil {
			return err
		}
		id := t.newID()
		if _, err := t.exec(ctx, `
INSERT INTO judge_promotions (id, project_id, judge, from_version, prompt_version, comment, evidence, promoted_by, promoted_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, p.ID, judgeName, from, version, comment, kept, a.Name, t.now); err != nil {
			return err
		}
		sum, err := t.rowDigest(ctx, chainedPromotions, p.ID, judgeName, id)
		if err != nil {
			return err
		}
		data := map[string]any{"promotion": id, "row_sha256": sum, "from": from, "to": version, "comment": comment}
		if evidence != nil {
			data["sentence"], data["paired"] = evidence.Labelled.Sentence, evidence.Labelled.Duel
			if evidence.Look != nil {
				data["look"], data["test_sentence"] = evidence.Look.Number, evidence.Look.Figures.Sentence
			}
		}
		t.audit(event{project: p.Name, actor: a, action: PromoteJudges.action, subject: "judge:" + judgeName, data: data})
		return t.stopShadows(ctx, a, p, judgeName, version, "it was promoted")
	})
}

// mostPromotions bounds the list of promotions.
const mostPromotions = 50

// Promotions lists the newest promotions of a judge. Roles: those of JudgeVersions.
func (s *Store) Promotions(ctx context.Context, a Actor, project, judgeName string) (_ []Promotion, err error) {
	defer wrap(&err, "list the promotions of judge %q", judgeName)
	if err := s.authorise(ctx, a, everyone, "judge.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(r *sql.Rows, v *Promotion) error {
		err := r.Scan(&v.Judge, &v.FromVersion, &v.Version, &v.Comment, &v.By, &v.At)
		v.At = v.At.UTC()
		return err
	}, `
SELECT judge, from_version, prompt_version, comment, promoted_by, promoted_at FROM judge_promotions
WHERE project_id = ? AND judge = ? ORDER BY id DESC LIMIT ?`, p.ID, judgeName, mostPromotions)
}

// newestPromotion is a condition on judge_promotions x: no later one of its judge.
const newestPromotion = `NOT EXISTS (SELECT 1 FROM judge_promotions y WHERE y.project_id = x.project_id AND y.judge = x.judge AND y.id > x.id)`

// Superseded are the versions that do not become current by being given again: those
// that a project had when a lead promoted another one, by judge.
func (s *Store) Superseded(ctx context.Context, project string) (_ map[string]map[string]bool, err error) {
	defer wrap(&err, "read which versions were replaced in project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	versions := map[string]map[string]bool{}
	_, err = collect(ctx, s.reader, func(r *sql.Rows, _ *struct{}) error {
		var name, version string
		err := r.Scan(&name, &version)
		if versions[name] == nil {
			versions[name] = map[string]bool{}
		}
		versions[name][version] = true
		return err
	}, `
SELECT j.name, j.prompt_version FROM judge_promotions x JOIN judges j ON j.project_id = x.project_id AND j.name = x.judge
WHERE x.project_id = ? AND `+newestPromotion+` AND j.id < x.id AND j.prompt_version <> x.prompt_version`, p.ID)
	return versions, err
}

// superseded says that of a version.
func (t *tx) superseded(ctx context.Context, projectID, judgeName, version string) (is bool, err error) {
	err = t.scan(ctx, `
SELECT EXISTS (SELECT 1 FROM judge_promotions x JOIN judges j ON j.project_id = x.project_id AND j.name = x.judge
    WHERE x.project_id = ? AND x.judge = ? AND `+newestPromotion+` AND j.prompt_version = ? AND j.id < x.id AND x.prompt_version <> j.prompt_version)`,
		[]any{projectID, judgeName, version}, []any{&is})
	return is, err
}
