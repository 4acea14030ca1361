package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/trust"
)

// JudgeTrust says how far one judge, model and prompt version is trusted, and since
// when. The figures behind it leave out what waits blind for anybody, so that they
// tell nobody of it.
type JudgeTrust struct {
	Judge         string           `json:"judge"`
	Model         string           `json:"model"`
	PromptVersion string           `json:"prompt_version"`
	State         judge.TrustState `json:"state"`
	// ByRules is the state that the rules alone give.
	ByRules judge.TrustState `json:"by_rules"`
	Since   time.Time        `json:"since"`
	Rules   []trust.Rule     `json:"rules"`
	// PolicyVersion that has the rules.
	PolicyVersion int `json:"policy_version"`
	// By is who made the state what it is, and Reason what they wrote; empty: the rules
	// did.
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Why says in a line why the judge may not decide alone; empty: it may.
func (j JudgeTrust) Why() string {
	switch j.State {
	case judge.Suspended:
		return fmt.Sprintf("suspended by %s: %s", j.By, j.Reason)
	case judge.Trusted:
		return ""
	}
	return trust.Failing(j.Rules)
}

const trustColumns = `j.judge, j.model, j.prompt_version, j.state, j.by_rules, j.since, j.rules, j.policy_version, j.actor, j.reason`

func scanTrust(r *sql.Rows, j *JudgeTrust) error {
	var rules string
	err := r.Scan(&j.Judge, &j.Model, &j.PromptVersion, &j.State, &j.ByRules, &j.Since, &rules, &j.PolicyVersion, &j.By, &j.Reason)
	j.Since = j.Since.UTC()
	return errors.Join(err, json.Unmarshal([]byte(rules), &j.Rules))
}

// keptTrust reads what is kept of a judge, or of all when the name is empty.
func keptTrust(ctx context.Context, q querier, projectID, judgeName string) ([]JudgeTrust, error) {
	return collect(ctx, q, scanTrust, `
SELECT `+trustColumns+` FROM judge_trust j WHERE j.project_id = ? AND (? = '' OR j.judge = ?)
ORDER BY j.judge, j.model, j.prompt_version`, projectID, judgeName, judgeName)
}

// Trust says how far the versions of a judge are trusted, or of all judges when the
// name is empty, after bringing it up to date. A version that is not among them is
// advisory: nobody has labelled what it says. Roles: lead, auditor, admin.
func (s *Store) Trust(ctx context.Context, a Actor, project, judgeName string) (_ []JudgeTrust, err error) {
	defer wrap(&err, "read how far judge %q is trusted", judgeName)
	if err := s.authorise(ctx, a, readers, "trust.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	if _, err := s.refreshTrust(ctx, p.ID, judgeName); err != nil {
		return nil, err
	}
	return keptTrust(ctx, s.reader, p.ID, judgeName)
}

// TrustStates are the states alone, by judge, model and prompt version, as they are
// kept. Roles: all.
func (s *Store) TrustStates(ctx context.Context, a Actor, project string) (states []JudgeTrust, err error) {
	defer wrap(&err, "read which judges of project %q are trusted", project)
	if err := s.authorise(ctx, a, everyone, "trust.listed", "project:"+project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	all, err := keptTrust(ctx, s.reader, p.ID, "")
	for _, j := range all {
		states = append(states, JudgeTrust{Judge: j.Judge, Model: j.Model, PromptVersion: j.PromptVersion, State: j.State, Since: j.Since})
	}
	return states, err
}

// KeptTrust is how far one version is trusted, as it is kept. known is false when
// nothing is kept of it, which means advisory; due says that something changed since
// it was worked out: RefreshTrust does that. It is asked for every evaluation, so it
// is one look-up. The caller is the program itself.
func (s *Store) KeptTrust(ctx context.Context, project, judgeName, model, version string) (j JudgeTrust, known, due bool, err error) {
	defer wrap(&err, "read how far judge %q is trusted", judgeName)
	type row struct {
		JudgeTrust
		known, due bool
	}
	rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error {
		var state, rules, actor, reason sql.NullString
		if err := r.Scan(&v.due, &state, &rules, &actor, &reason); err != nil || !state.Valid {
			return err
		}
		v.known, v.State, v.By, v.Reason = true, judge.TrustState(state.String), actor.String, reason.String
		return json.Unmarshal([]byte(rules.String), &v.Rules)
	}, `
SELECT c.changed > c.checked, j.state, CASE WHEN j.state = 'advisory' THEN j.rules ELSE '[]' END, j.actor, j.reason
FROM projects p JOIN trust_checks c ON c.project_id = p.id AND c.judge = ?
LEFT JOIN judge_trust j ON j.project_id = p.id AND j.judge = c.judge AND j.model = ? AND j.prompt_version = ?
WHERE p.name = ?`, judgeName, model, version, orDefaultProject(project))
	if err != nil || len(rows) == 0 {
		return j, false, false, err
	}
	return rows[0].JudgeTrust, rows[0].known, rows[0].due, nil
}
