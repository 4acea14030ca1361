package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// trustKey names a judge's version as events of its trust do.
type trustKey struct{ project, subject, model, version string }

// trustSaid is what the last event of a version's trust says.
type trustSaid struct {
	state, byRules judge.TrustState // byRules is empty in events of older programs
	since          time.Time
	by, reason     string // of a person; empty: the rules did it
}

// noteTrust takes what an event of trust says.
func (s sayings) noteTrust(e AuditEvent) {
	var d struct {
		Model   string           `json:"model"`
		Version string           `json:"prompt_version"`
		After   judge.TrustState `json:"after"`
		ByRules judge.TrustState `json:"by_rules"`
		Reason  string           `json:"reason"`
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return
	}
	key := trustKey{e.Project, e.Subject, d.Model, d.Version}
	is := s.trust[key]
	is.state, is.byRules = d.After, d.ByRules
	switch e.Action {
	case judgeRulesTurned: // who suspended it, and when, stays
	case judgeSuspended, judgeResumed:
		is.since, is.by, is.reason = e.At, storableText(e.Actor), storableText(d.Reason)
	default:
		is.since, is.by, is.reason = e.At, "", ""
	}
	s.trust[key] = is
}

// checkTrust holds the states that are kept to the chain. What was never told of is
// advisory. The figures of a checklist follow from labels and change with them, with
// no event; that they give what the rules are said to give is checked.
func (s *Store) checkTrust(ctx context.Context, said sayings) (string, error) {
	type row struct {
		project string
		JudgeTrust
	}
	rows, err := collect(ctx, said.of, func(r *sql.Rows, v *row) error {
		var rules string
		if err := r.Scan(&v.project, &v.Judge, &v.Model, &v.PromptVersion, &v.State, &v.ByRules, &v.Since, &v.By, &v.Reason, &rules); err != nil {
			return err
		}
		if json.Unmarshal([]byte(rules), &v.Rules) != nil {
			v.Rules = nil // and then it can't be trusted
		}
		return nil
	}, `
SELECT p.name, j.judge, j.model, j.prompt_version, j.state, j.by_rules, j.since, j.actor, j.reason, j.rules
FROM judge_trust j JOIN projects p ON p.id = j.project_id ORDER BY p.name, j.judge, j.model, j.prompt_version`)
	if err != nil {
		return "", err
	}
	for _, v := range rows {
		key := trustKey{v.project, "judge:" + v.Judge, v.Model, v.PromptVersion}
		want, told := said.trust[key]
		if !told {
			want = trustSaid{state: judge.Advisory, byRules: judge.Advisory, since: v.Since}
		}
		if fault := want.against(v.JudgeTrust); fault != "" {
			return fmt.Sprintf("judge %s by %s %s", v.Judge, v.Model, fault), nil
		}
		delete(said.trust, key)
	}
	for key, want := range said.trust {
		return fmt.Sprintf("%s by %s is %s in the chain, and the database keeps nothing of it: that was removed", key.subject, key.model, want.state), nil
	}
	return "", nil
}

// against says how a version is kept otherwise than told; empty: it is as told.
func (want trustSaid) against(v JudgeTrust) string {
	byRules := judge.Advisory
	if len(v.Rules) > 0 {
		byRules = judge.Trusted
	}
	for _, r := range v.Rules {
		if !r.Met {
			byRules = judge.Advisory
		}
	}
	switch {
	case v.State != want.state:
		return fmt.Sprintf("is kept as %s, and the chain has it as %s", v.State, want.state)
	case !v.Since.Equal(want.since):
		return fmt.Sprintf("is kept as %s since another time than the chain has: it was changed", v.State)
	case v.By != want.by || v.Reason != want.reason:
		return fmt.Sprintf("is kept as %s by somebody else, or for another reason, than the chain has: it was changed", v.State)
	case want.byRules != "" && v.ByRules != want.byRules:
		return fmt.Sprintf("is kept as %s by its rules, and the chain has that as %s", v.ByRules, want.byRules)
	case v.ByRules != byRules || v.State != judge.Suspended && v.State != v.ByRules:
		return fmt.Sprintf("is kept as %s, which is not what its checklist comes to: it was changed", v.ByRules)
	}
	return ""
}
