package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/judge/calibration"
)

// DriftAlarm says that a monitor left its baseline.
type DriftAlarm struct {
	ID, Judge, Model, PromptVersion string
	Monitor                         string // a Monitor constant of package calibration
	BaselineID                      string
	OpenedAt                        time.Time
	Lower                           bool // what was found is under the baseline
	// Figures as they were when it was opened; Told says that the actor may know
	// them, else they are 0.
	Told                    bool
	EValue, Found, Baseline float64
	N                       int
	ClosedAt                *time.Time // nil: it is open
	ClosedBy, CloseReason   string
}

// driftAlarms are those of a judge or all, by series, the newest first.
func driftAlarms(ctx context.Context, q querier, projectID, judgeName string) (map[agreementGroup][]DriftAlarm, error) {
	all, err := collect(ctx, q, func(r *sql.Rows, a *DriftAlarm) error {
		var closed sql.NullTime
		if err := r.Scan(&a.ID, &a.Judge, &a.Model, &a.PromptVersion, &a.Monitor, &a.BaselineID, &a.OpenedAt, &a.EValue, &a.Found, &a.Baseline, &a.N,
			&closed, &a.ClosedBy, &a.CloseReason); err != nil {
			return err
		}
		a.OpenedAt, a.Lower, a.Told = a.OpenedAt.UTC(), a.Found < a.Baseline, true
		if closed.Valid {
			at := closed.Time.UTC()
			a.ClosedAt = &at
		}
		return nil
	}, `
SELECT id, judge, model, prompt_version, monitor, baseline_id, opened_at, e_value, found, baseline, n, closed_at, closed_by, close_reason
FROM drift_alarms WHERE project_id = ? AND (? = '' OR judge = ?) ORDER BY id DESC LIMIT 2000`, projectID, judgeName, judgeName)
	by := map[agreementGroup][]DriftAlarm{}
	for _, a := range all {
		g := agreementGroup{projectID, a.Judge, a.Model, a.PromptVersion}
		by[g] = append(by[g], a)
	}
	return by, err
}

// told are alarms as the reader may know them: those counted from verdicts that
// still wait blind without their figures.
func (w driftWatch) told(g agreementGroup, alarms []DriftAlarm) (told []DriftAlarm) {
	for _, a := range alarms[:min(len(alarms), driftAlarmsShown)] {
		if withoutLabels(a.Monitor) && w.hides(g, dayOf(a.OpenedAt)) {
			a.Told, a.EValue, a.Found, a.Baseline, a.N = false, 0, 0, 0, 0
		}
		told = append(told, a)
	}
	return told
}

// withoutLabels says that a monitor counts verdicts that nobody has looked at.
func withoutLabels(monitor string) bool {
	return monitor == calibration.MonitorPassed || monitor == calibration.MonitorScore
}

// LookForDrift freezes first baselines, and opens an alarm where a monitor left its
// baseline. However many servers call it: there is one baseline, and one open alarm
// for a monitor. It says how many alarms are new.
func (s *Store) LookForDrift(ctx context.Context) (opened int, err error) {
	defer wrap(&err, "look for drift")
	projects, err := s.Projects(ctx)
	if err != nil {
		return 0, err
	}
	for _, p := range projects {
		scales, err := judgeScales(ctx, s.reader, p.ID, "")
		if err != nil {
			return opened, err
		}
		reports, err := s.watchDrift(ctx, p, scales, "", false, auditLabels)
		if err != nil {
			return opened, fmt.Errorf("project %s: %w", p.Name, err)
		}
		if _, err := s.freezeFirst(ctx, p, scales, reports); err != nil {
			return opened, err
		}
		for _, r := range reports {
			for _, m := range r.Monitors {
				if !m.Alarm || m.Open != nil {
					continue
				}
				n, err := s.openAlarm(ctx, p, r, m)
				if err != nil {
					return opened, err
				}
				opened += n
			}
		}
	}
	return opened, nil
}

// mostEvidence is where e-values are cut off: more says nothing more.
const mostEvidence = 1e12

func (s *Store) openAlarm(ctx context.Context, p Project, r DriftReport, m DriftMonitor) (n int, err error) {
	by := Operator("drift")
	err = s.write(ctx, func(t *tx) error {
		a := DriftAlarm{ID: t.newID(), Judge: r.Judge, Model: r.Model, PromptVersion: r.PromptVersion, Monitor: m.Name, OpenedAt: t.now,
			EValue: min(m.Evidence.Value(), mostEvidence), Found: m.Value.Value, Baseline: m.Baseline.Value, N: m.Value.N, Lower: m.Down(), Told: true, BaselineID: m.BaselineID}
		changed, err := t.changed(ctx, `
INSERT INTO drift_alarms (id, project_id, judge, model, prompt_version, monitor, baseline_id, opened_at, e_value, found, baseline, n)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, judge, model, prompt_version, monitor) WHERE closed_at IS NULL DO NOTHING`,
			a.ID, p.ID, a.Judge, a.Model, a.PromptVersion, a.Monitor, a.BaselineID, t.now, a.EValue, a.Found, a.Baseline, a.N)
		if n = int(changed); err != nil || n == 0 {
			return err
		}
		if err := t.alarmEvent(ctx, p, by, driftOpened, a); err != nil {
			return err
		}
		if err := t.trustDue(ctx, p.ID, a.Judge); err != nil {
			return err
		}
		return t.tellOutside(ctx, driftOpened, p.Name, a)
	})
	return n, err
}

// Events of alarms, in the audit log and as they are told to other systems.
const (
	driftOpened = "drift.alarm_opened"
	driftClosed = "drift.alarm_closed"
)

// Direction is lower or higher than the baseline.
func (a DriftAlarm) Direction() string {
	if a.Lower {
		return "lower"
	}
	return "higher"
}

// facts are what may be told to everybody: of verdicts that nobody has looked at
// only that they moved, and where to.
func (a DriftAlarm) facts() map[string]any {
	facts := map[string]any{"alarm": a.ID, "judge": a.Judge, "model": a.Model, "prompt_version": a.PromptVersion, "monitor": a.Monitor, "direction": a.Direction()}
	if !withoutLabels(a.Monitor) {
		facts["found"], facts["baseline"], facts["n"], facts["e_value"] = a.Found, a.Baseline, a.N, a.EValue
	}
	if a.ClosedAt != nil {
		facts["reason"], facts["closed_by"] = a.CloseReason, a.ClosedBy
	}
	return facts
}

// alarmEvent tells of an alarm, with the digest of its row.
func (t *tx) alarmEvent(ctx context.Context, p Project, by Actor, action string, a DriftAlarm) (err error) {
	facts := a.facts()
	if facts["row_sha256"], err = t.rowDigest(ctx, chainedAlarms, p.ID, a.Judge, a.ID); err != nil {
		return err
	}
	t.audit(event{project: p.Name, actor: by, action: action, subject: "judge:" + a.Judge, data: facts})
	return nil
}

// MaxCloseReason is the most characters of the reason for closing an alarm.
const MaxCloseReason = 1000

// CloseAlarm ends an alarm with what was found. Its monitor counts anew from then
// on, against the same baseline. ErrConflict: it is closed. Roles: lead, admin.
func (s *Store) CloseAlarm(ctx context.Context, a Actor, project, id, reason string) (alarm DriftAlarm, err error) {
	defer wrap(&err, "close drift alarm %s", id)
	if err := s.authorise(ctx, a, leads, CloseAlarms.action, "alarm:"+id); err != nil {
		return alarm, err
	}
	reason = strings.TrimSpace(reason)
	switch n := utf8.RuneCountInString(reason); {
	case n == 0 || saysNothing(reason):
		return alarm, invalid("reason", "is missing: say what was found")
	case n > MaxCloseReason:
		return alarm, invalid("reason", "has %d characters: at most %d can be kept", n, MaxCloseReason)
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return alarm, err
	}
	err = s.write(ctx, func(t *tx) error {
		var closed sql.NullTime
		alarm = DriftAlarm{ID: id, ClosedBy: a.Name, CloseReason: reason, ClosedAt: &t.now}
		if err := notFound(t.scan(ctx, `
SELECT x.judge, x.model, x.prompt_version, x.monitor, x.baseline_id, x.opened_at, x.e_value, x.found, x.baseline, x.n, x.closed_at
FROM drift_alarms x WHERE x.id = ? AND x.project_id = ?`+t.engine.forUpdate("x"), []any{id, p.ID}, []any{&alarm.Judge, &alarm.Model, &alarm.PromptVersion, &alarm.Monitor,
			&alarm.BaselineID, &alarm.OpenedAt, &alarm.EValue, &alarm.Found, &alarm.Baseline, &alarm.N, &closed}), "drift alarm"); err != nil {
			return err
		}
		if closed.Valid {
			return fmt.Errorf("it was closed on %s: %w", closed.Time.UTC().Format(time.DateOnly), ErrConflict)
		}
		alarm.Lower, alarm.OpenedAt = alarm.Found < alarm.Baseline, alarm.OpenedAt.UTC()
		if _, err := t.exec(ctx, `UPDATE drift_alarms SET closed_at = ?, closed_by = ?, close_reason = ? WHERE id = ?`, t.now, a.Name, reason, id); err != nil {
			return err
		}
		if err := t.alarmEvent(ctx, p, a, driftClosed, alarm); err != nil {
			return err
		}
		if err := t.trustDue(ctx, p.ID, alarm.Judge); err != nil {
			return err
		}
		return t.tellOutside(ctx, driftClosed, p.Name, alarm)
	})
	if withoutLabels(alarm.Monitor) {
		alarm.EValue, alarm.Found, alarm.Baseline, alarm.N = 0, 0, 0, 0
	}
	return alarm, err
}
