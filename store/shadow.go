package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// States of a shadow run.
const (
	ShadowRunning = "running"
	ShadowStopped = "stopped"
)

// Shadow is a version that judges new traces beside the one in use. What it says is
// compared and never counts: see shadow_queue.go.
type Shadow struct {
	ID     string
	Target judge.Planned // judge, version, engine, model, endpoint, samples
	Share  float64       // the chance of each trace, in (0,1]
	Reason string
	State  string // a constant above
	// Queued evaluations were made for it, Waiting of them are still to be judged.
	// Counted of the newest run only, and to 100,000 at most.
	Queued, Waiting int

	StartedBy  string
	StartedAt  time.Time
	StoppedBy  string
	StoppedAt  time.Time // zero: it runs
	StopReason string
}

// Drawn says whether a trace is judged by the shadow too. It depends on the run and
// the trace only, so the chance is known and a second import draws the same.
func (s Shadow) Drawn(externalID string) bool {
	sum := sha256.Sum256([]byte("shadow\x00" + s.ID + "\x00" + externalID))
	return s.Share >= 1 || float64(binary.BigEndian.Uint64(sum[:8])) < s.Share*math.MaxUint64
}

// SaveVersion keeps a version of a judge with the project without making it the one in
// use, so that it can run beside that one. known says that it was there already. Roles:
// lead, admin.
func (s *Store) SaveVersion(ctx context.Context, a Actor, project string, j judge.Judge) (known bool, err error) {
	defer wrap(&err, "keep version %s of judge %q", j.PromptVersion, j.Name)
	if err := s.authorise(ctx, a, StartShadows.roles, StartShadows.action, "judge:"+j.Name); err != nil {
		return false, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return false, err
	}
	snapshot, err := snapshotOf(j)
	if err != nil {
		return false, err
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		added, err := t.changed(ctx, `
INSERT INTO judges (id, project_id, name, prompt_version, builtin, definition, ordinal, current, created_at, snapshot)
VALUES (?, ?, ?, ?, ?, ?, ?, FALSE, ?, ?) ON CONFLICT (project_id, name, prompt_version) DO NOTHING`,
			t.newID(), p.ID, j.Name, j.PromptVersion, j.Builtin, string(j.Source), j.Ordinal, t.now, snapshot)
		if known = added == 0; err != nil || known {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: "judge.version_kept", subject: "judge:" + j.Name, data: map[string]any{"prompt_version": j.PromptVersion}})
		return t.saveLabels(ctx, p.ID, j.Name, j.PromptVersion, j.Labels)
	})
	return known, err
}

// StartShadow lets a stored version, by an engine and a model, judge a share of the
// traces that the version in use judges from now on. ErrConflict: a shadow of the judge
// runs already. ErrInvalid: the share is not in (0,1], or the version is not stored.
// Roles: lead, admin.
func (s *Store) StartShadow(ctx context.Context, a Actor, project string, target judge.Planned, share float64, reason string) (sh Shadow, err error) {
	defer wrap(&err, "start a shadow of judge %q", target.Judge)
	if err := s.authorise(ctx, a, StartShadows.roles, StartShadows.action, "judge:"+target.Judge); err != nil {
		return sh, err
	}
	reason = strings.TrimSpace(reason)
	switch {
	case !(share > 0 && share <= 1):
		return sh, invalid("share", "is %v: it lies above 0 and at most at 1", share)
	case target.Engine != judge.EngineOpenAI && target.Engine != judge.EngineRules:
		return sh, invalid("engine", "is %q: it is openai or rules", target.Engine)
	case target.Model == "":
		return sh, invalid("model", "is missing")
	}
	if err := checkComment("reason", reason, true); err != nil {
		return sh, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return sh, err
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		var there, running bool
		if err := t.scan(ctx, `
SELECT EXISTS (SELECT 1 FROM judges j WHERE j.project_id = ? AND j.name = ? AND j.prompt_version = ?),
    EXISTS (SELECT 1 FROM shadow_runs x WHERE x.project_id = ? AND x.judge = ? AND x.state = 'running')`,
			[]any{p.ID, target.Judge, target.PromptVersion, p.ID, target.Judge}, []any{&there, &running}); err != nil {
			return err
		}
		switch {
		case !there:
			return invalid("version", "%s is not one of judge %s that this project has", target.PromptVersion, target.Judge)
		case running:
			return fmt.Errorf("a shadow of this judge runs already; stop it first: %w", ErrConflict)
		}
		sh = Shadow{ID: t.newID(), Target: target, Share: share, Reason: reason, State: ShadowRunning, StartedBy: a.Name, StartedAt: t.now}
		if _, err := t.exec(ctx, `
INSERT INTO shadow_runs (id, project_id, judge, prompt_version, engine, model, endpoint, samples, share, reason, state, started_by, started_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)`, sh.ID, p.ID, target.Judge, target.PromptVersion, target.Engine, target.Model, target.Endpoint,
			samples(target), share, reason, a.Name, t.now); err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: StartShadows.action, subject: "judge:" + target.Judge, data: map[string]any{"shadow": sh.ID,
			"prompt_version": target.PromptVersion, "engine": target.Engine, "model": target.Model, "endpoint": target.Endpoint, "share": share, "reason": reason}})
		return nil
	})
	return sh, err
}

// StopShadow ends the shadow run of a judge: nothing more is queued for it, and what
// is queued is still judged. ErrConflict: none runs. Roles: lead, admin.
func (s *Store) StopShadow(ctx context.Context, a Actor, project, judgeName, reason string) (err error) {
	defer wrap(&err, "stop the shadow of judge %q", judgeName)
	if err := s.authorise(ctx, a, StopShadows.roles, StopShadows.action, "judge:"+judgeName); err != nil {
		return err
	}
	reason = strings.TrimSpace(reason)
	if err := checkComment("reason", reason, false); err != nil {
		return err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		var running bool
		if err := t.scan(ctx, `SELECT EXISTS (SELECT 1 FROM shadow_runs WHERE project_id = ? AND judge = ? AND state = 'running')`, []any{p.ID, judgeName}, []any{&running}); err != nil {
			return err
		}
		if !running {
			return fmt.Errorf("no shadow of this judge runs: %w", ErrConflict)
		}
		return t.stopShadows(ctx, a, p, judgeName, "", reason)
	})
}

// stopShadows ends the shadow run of a judge, if it is of this version; an empty
// version means any.
func (t *tx) stopShadows(ctx context.Context, a Actor, p Project, judgeName, version, reason string) error {
	ids, err := collect(ctx, t, scanID, `
UPDATE shadow_runs SET state = 'stopped', stopped_by = ?, stopped_at = ?, stop_reason = ?
WHERE project_id = ? AND judge = ? AND state = 'running' AND (? = '' OR prompt_version = ?) RETURNING id`,
		a.Name, t.now, reason, p.ID, judgeName, version, version)
	for _, id := range ids {
		t.audit(event{project: p.Name, actor: a, action: StopShadows.action, subject: "judge:" + judgeName, data: map[string]any{"shadow": id, "reason": reason}})
	}
	return err
}

// mostShadowRuns bounds the list of shadow runs, mostShadows what is counted of one.
const (
	mostShadowRuns = 20
	mostShadows    = 100_000
)

// Shadows lists the newest shadow runs of a judge. Roles: lead, auditor, admin.
func (s *Store) Shadows(ctx context.Context, a Actor, project, judgeName string) (_ []Shadow, err error) {
	defer wrap(&err, "list the shadow runs of judge %q", judgeName)
	if err := s.authorise(ctx, a, readers, "judge.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	list, err := collect(ctx, s.reader, scanShadow, `
SELECT `+shadowColumns+` FROM shadow_runs x WHERE x.project_id = ? AND x.judge = ? ORDER BY x.id DESC LIMIT ?`, p.ID, judgeName, mostShadowRuns)
	if err != nil || len(list) == 0 {
		return list, err
	}
	// Of the newest run are the shadows that are younger than it.
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*), COALESCE(sum(CASE WHEN e.status IN ('queued', 'judging') THEN 1 ELSE 0 END), 0) FROM (
    SELECT e.status FROM evaluations e WHERE e.project_id = ? AND e.judge = ? AND e.shadow_of <> '' AND e.id > ? LIMIT ?
) e`, p.ID, judgeName, list[0].ID, mostShadows).Scan(&list[0].Queued, &list[0].Waiting)
	return list, err
}

const shadowColumns = `x.id, x.judge, x.prompt_version, x.engine, x.model, x.endpoint, x.samples, x.share, x.reason, x.state,
    x.started_by, x.started_at, x.stopped_by, x.stopped_at, x.stop_reason`

func scanShadow(r *sql.Rows, s *Shadow) error {
	t, stopped := &s.Target, sql.NullTime{}
	err := r.Scan(&s.ID, &t.Judge, &t.PromptVersion, &t.Engine, &t.Model, &t.Endpoint, &t.Samples, &s.Share, &s.Reason, &s.State,
		&s.StartedBy, &s.StartedAt, &s.StoppedBy, &stopped, &s.StopReason)
	s.Target = asPlanned(s.Target)
	s.StartedAt = s.StartedAt.UTC()
	if stopped.Valid {
		s.StoppedAt = stopped.Time.UTC()
	}
	return err
}
