package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

// RaterVersion names a judge as one model and prompt version.
type RaterVersion struct{ Judge, Model, PromptVersion string }

// Suspend takes a judge's version out of use, whatever its rules say, until somebody
// resumes it: all that it judges goes to people. The reason, up to 4,000 characters,
// is kept and goes into the event. ErrNotFound: this version has judged nothing here.
// ErrConflict: it is suspended already. Roles: lead, admin.
func (s *Store) Suspend(ctx context.Context, a Actor, project string, v RaterVersion, reason string) (is JudgeTrust, err error) {
	defer wrap(&err, "suspend judge %q", v.Judge)
	return s.changeTrust(ctx, a, project, v, reason, SuspendJudges.action, func(was JudgeTrust) (JudgeTrust, error) {
		if was.State == judge.Suspended {
			return was, refuse("%s suspended it at %s already: %s", was.By, was.Since.Format("15:04 on 2 January"), was.Reason)
		}
		was.State = judge.Suspended
		return was, nil
	})
}

// Resume ends a suspension: the judge is again what its rules say. ErrConflict: it is
// not suspended. Roles and reason as for Suspend.
func (s *Store) Resume(ctx context.Context, a Actor, project string, v RaterVersion, reason string) (is JudgeTrust, err error) {
	defer wrap(&err, "resume judge %q", v.Judge)
	return s.changeTrust(ctx, a, project, v, reason, ResumeJudges.action, func(was JudgeTrust) (JudgeTrust, error) {
		if was.State != judge.Suspended {
			return was, refuse("it is not suspended, it is %s", was.State)
		}
		was.State = was.ByRules
		return was, nil
	})
}

func (s *Store) changeTrust(ctx context.Context, a Actor, project string, v RaterVersion, reason, action string,
	change func(JudgeTrust) (JudgeTrust, error)) (is JudgeTrust, err error) {
	if err := s.authorise(ctx, a, leads, action, "judge:"+v.Judge); err != nil {
		return is, err
	}
	if err := checkComment("reason", reason, true); err != nil {
		return is, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return is, err
	}
	// The rules' side is as new as can be, so that resuming says what holds now.
	if _, err := s.refreshTrust(ctx, p.ID, v.Judge); err != nil {
		return is, err
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.trustDue(ctx, p.ID, v.Judge); err != nil { // and nobody else changes it meanwhile
			return err
		}
		was, err := t.trustOf(ctx, p, v)
		if err != nil {
			return err
		}
		if is, err = change(was); err != nil {
			return err
		}
		// As it is kept, so that the event and the row say the same.
		is.Since, is.By, is.Reason = t.now, a.Name, storableText(strings.TrimSpace(reason))
		t.trustEvent(p, a, action, was, is)
		n, err := t.changed(ctx, `
UPDATE judge_trust SET state = ?, since = ?, actor = ?, reason = ? WHERE project_id = ? AND judge = ? AND model = ? AND prompt_version = ?`,
			string(is.State), is.Since, is.By, is.Reason, p.ID, v.Judge, v.Model, v.PromptVersion)
		if err == nil && n == 0 {
			return fmt.Errorf("nothing is kept of it: %w", ErrNotFound)
		}
		return err
	})
	return is, err
}

// trustOf reads what is kept of a version. One that has judged, and of which nothing
// is kept because nobody has labelled what it says, is advisory.
func (t *tx) trustOf(ctx context.Context, p Project, v RaterVersion) (was JudgeTrust, err error) {
	found, err := collect(ctx, t, scanTrust, `
SELECT `+trustColumns+` FROM judge_trust j WHERE j.project_id = ? AND j.judge = ? AND j.model = ? AND j.prompt_version = ?`,
		p.ID, v.Judge, v.Model, v.PromptVersion)
	if err != nil {
		return was, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	var n int
	if err := t.QueryRowContext(ctx, `SELECT count(*) FROM agreement_cells WHERE project_id = ? AND judge = ? AND model = ? AND prompt_version = ? AND n > 0`,
		p.ID, v.Judge, v.Model, v.PromptVersion).Scan(&n); err != nil {
		return was, err
	}
	if n == 0 {
		return was, fmt.Errorf("judge %s has judged nothing here by the model %q as version %q: %w", v.Judge, v.Model, v.PromptVersion, ErrNotFound)
	}
	was = JudgeTrust{Judge: v.Judge, Model: v.Model, PromptVersion: v.PromptVersion, State: judge.Advisory, ByRules: judge.Advisory, Since: t.now, PolicyVersion: p.Policy.Version}
	_, err = t.exec(ctx, `
INSERT INTO judge_trust (project_id, judge, model, prompt_version, state, by_rules, since, rules, policy_version, reason, actor)
VALUES (?, ?, ?, ?, ?, ?, ?, '[]', ?, '', '')`, p.ID, v.Judge, v.Model, v.PromptVersion, string(was.State), string(was.ByRules), t.now, was.PolicyVersion)
	return was, err
}
