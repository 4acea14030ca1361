package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/trust"
)

// Actions of trust.
const (
	judgeTrusted   = "judge.trusted"
	judgeAdvisory  = "judge.advisory"
	judgeSuspended = "judge.suspended"
	judgeResumed   = "judge.resumed"
	// What the rules give turned while the judge was suspended.
	judgeRulesTurned = "judge.rules_turned"
)

// trustActions are all of them.
var trustActions = []string{judgeTrusted, judgeAdvisory, judgeSuspended, judgeResumed, judgeRulesTurned}

// trustGate is who changes trust by the rules.
var trustGate = Operator("trust gate")

// anyDecider stands for people who may decide and have answered nothing: what they
// may read, everybody may.
var anyDecider = Actor{UserID: "-", Name: "trust gate", Role: Lead}

// recheckTrust is after how long trust is looked at again though no label changed:
// evaluations came, and with them work that had no chance of being labelled.
const recheckTrust = 15 * time.Minute

// RefreshTrust brings the trust of a judge up to date, or of all judges of a project
// when the name is empty, and says how many states changed. What is up to date costs a
// look-up. Several servers may do it at once: one of them writes.
func (s *Store) RefreshTrust(ctx context.Context, project, judgeName string) (changes int, err error) {
	defer wrap(&err, "bring the trust of judge %q up to date", judgeName)
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return 0, err
	}
	return s.refreshTrust(ctx, p.ID, judgeName)
}

// RefreshDueTrust does so for every project of the database, and for what was not
// looked at for a quarter of an hour. Servers ask every second.
func (s *Store) RefreshDueTrust(ctx context.Context) (changes int, err error) {
	defer wrap(&err, "bring the trust of judges up to date")
	now, err := s.askClock(ctx, s.reader)
	if err != nil {
		return 0, err
	}
	old := now.Add(-recheckTrust)
	var stale int
	if err := s.reader.QueryRowContext(ctx, `SELECT count(*) FROM trust_checks WHERE changed = checked AND checked_at < ?`, old).Scan(&stale); err != nil {
		return 0, err
	}
	if stale > 0 {
		if err := s.write(ctx, func(t *tx) error {
			_, err := t.exec(ctx, `UPDATE trust_checks SET changed = changed + 1, checked_at = ? WHERE changed = checked AND checked_at < ?`, t.now, old)
			return err
		}); err != nil {
			return 0, err
		}
	}
	return s.refreshTrust(ctx, "", "")
}

// dueTrust is a judge that is to be looked at.
type dueTrust struct {
	projectJudge
	changed int64
}

func (s *Store) refreshTrust(ctx context.Context, projectID, judgeName string) (changes int, err error) {
	due, err := collect(ctx, s.reader, func(r *sql.Rows, d *dueTrust) error { return r.Scan(&d.projectID, &d.judge, &d.changed) }, `
SELECT project_id, judge, changed FROM trust_checks
WHERE changed > checked AND (? = '' OR project_id = ?) AND (? = '' OR judge = ?) ORDER BY project_id, judge`,
		projectID, projectID, judgeName, judgeName)
	if err != nil {
		return 0, err
	}
	for _, d := range due {
		n, err := s.refreshOne(ctx, d)
		if err != nil {
			return changes, err
		}
		changes += n
	}
	return changes, nil
}

// found is what the rules give for one version.
type foundTrust struct {
	calibration.Report
	trust.Standing
}

// refreshOne works the trust of a judge out anew and keeps it, unless somebody who
// knew as much did before.
func (s *Store) refreshOne(ctx context.Context, d dueTrust) (changes int, err error) {
	p, found, seen, err := s.findTrust(ctx, d.projectJudge)
	if err != nil {
		return 0, err
	}
	err = s.write(ctx, func(t *tx) error {
		changes = 0
		mine, err := t.changed(ctx, `UPDATE trust_checks SET checked = ?, checked_at = ? WHERE project_id = ? AND judge = ? AND checked < ?`,
			seen, t.now, d.projectID, d.judge, seen)
		if err != nil || mine == 0 {
			return err
		}
		changes, err = t.keepTrust(ctx, p, d.judge, found)
		return err
	})
	return changes, err
}

// findTrust holds every version of a judge against the rules, all at one moment.
func (s *Store) findTrust(ctx context.Context, j projectJudge) (p Project, found []foundTrust, seen int64, err error) {
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return p, nil, 0, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	if err := read.QueryRowContext(ctx, `SELECT changed FROM trust_checks WHERE project_id = ? AND judge = ?`, j.projectID, j.judge).Scan(&seen); err != nil {
		return p, nil, 0, err
	}
	if p, err = projectByID(ctx, read, j.projectID); err != nil {
		return p, nil, 0, err
	}
	scales, err := judgeScales(ctx, read, p.ID, j.judge)
	if err != nil || len(scales) == 0 {
		return p, nil, seen, err
	}
	kept, err := keptAgreement(ctx, read, anyDecider, p.ID, j.judge)
	if err != nil {
		return p, nil, 0, err
	}
	kept.pairs = nil // people among each other are in no rule
	counts := kept.counts(scales[0], nil)
	// A version of which all waits blind by now, or was taken back, has nothing to show.
	before, err := keptTrust(ctx, read, p.ID, j.judge)
	if err != nil {
		return p, nil, 0, err
	}
	for _, b := range before {
		if !slices.ContainsFunc(counts, func(c calibration.Counts) bool { return c.Model == b.Model && c.PromptVersion == b.PromptVersion }) {
			counts = append(counts, calibration.Counts{Judge: b.Judge, Model: b.Model, PromptVersion: b.PromptVersion, Labels: scales[0].labels})
		}
	}
	reports, err := calibration.ComposeAll(counts)
	if err != nil {
		return p, nil, 0, err
	}
	limits := p.Policy.TrustFor(j.judge)
	for _, r := range reports {
		open, err := openDrift(ctx, read, p.ID, r.Judge, r.Model, r.PromptVersion)
		if err != nil {
			return p, nil, 0, err
		}
		watched, err := driftWatched(ctx, read, p.ID, r.Judge, r.Model, r.PromptVersion)
		if err != nil {
			return Project{}, nil, 0, err
		}
		found = append(found, foundTrust{r, trust.Decide(r, limits, trust.Drift{Open: open, Watched: watched})})
	}
	return p, found, seen, nil
}

// keepTrust writes what the rules give, and an event for each state that is another
// than before. What is suspended stays so.
func (t *tx) keepTrust(ctx context.Context, p Project, judgeName string, found []foundTrust) (changes int, err error) {
	before, err := keptTrust(ctx, t, p.ID, judgeName)
	if err != nil {
		return 0, err
	}
	rows := newBulk("judge_trust", ` ON CONFLICT (project_id, judge, model, prompt_version) DO UPDATE SET state = excluded.state, by_rules = excluded.by_rules,
    since = excluded.since, rules = excluded.rules, policy_version = excluded.policy_version, reason = excluded.reason, actor = excluded.actor`,
		"project_id", "judge", "model", "prompt_version", "state", "by_rules", "since", "rules", "policy_version", "reason", "actor")
	for _, f := range found {
		was := JudgeTrust{Judge: judgeName, Model: f.Model, PromptVersion: f.PromptVersion, State: judge.Advisory, Since: t.now}
		for _, b := range before {
			if b.Model == f.Model && b.PromptVersion == f.PromptVersion {
				was = b
			}
		}
		is := was
		is.ByRules, is.Rules, is.PolicyVersion = f.State, f.Rules, p.Policy.Version
		if was.State != judge.Suspended {
			is.State = f.State
		}
		if is.State != was.State {
			changes++
			is.Since, is.By, is.Reason = t.now, "", ""
			action := judgeTrusted
			if is.State == judge.Advisory {
				action = judgeAdvisory
			}
			t.trustEvent(p, trustGate, action, was, is)
		} else if is.State == judge.Suspended && is.ByRules != was.ByRules {
			t.trustEvent(p, trustGate, judgeRulesTurned, was, is)
		}
		rules, err := json.Marshal(is.Rules)
		if err != nil {
			return 0, err
		}
		rows.add(p.ID, judgeName, f.Model, f.PromptVersion, string(is.State), string(is.ByRules), is.Since, string(rules), is.PolicyVersion,
			is.Reason, is.By)
	}
	return changes, rows.write(ctx, t)
}

// trustEvent tells of a change with the rules and what was found as its evidence.
func (t *tx) trustEvent(p Project, a Actor, action string, was, is JudgeTrust) {
	data := map[string]any{"model": is.Model, "prompt_version": is.PromptVersion, "before": was.State, "after": is.State, "by_rules": is.ByRules,
		"policy_version": is.PolicyVersion, "rules": is.Rules}
	if is.Reason != "" {
		data["reason"] = is.Reason
	}
	t.audit(event{project: p.Name, actor: a, action: action, subject: "judge:" + is.Judge, data: data})
}
