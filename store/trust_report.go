package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/trust"
)

// TrustedReport is a report on a judge with how far it is trusted: an element of what
// `countersign calibration --json` and the API give.
type TrustedReport struct {
	calibration.Report
	Trust TrustView `json:"trust"`
	// Counts are what the report was made from.
	Counts calibration.Counts `json:"-"`
}

// TrustView is how far a judge is trusted, beside its report. Since is nil where
// nothing was ever decided: the judge is advisory.
type TrustView struct {
	State         judge.TrustState `json:"state"`
	Since         *time.Time       `json:"since"`
	ByRules       judge.TrustState `json:"by_rules"`
	PolicyVersion int              `json:"policy_version"`
	By            string           `json:"by,omitempty"`
	Reason        string           `json:"reason,omitempty"`
	Rules         []trust.Rule     `json:"rules"`
}

// WithTrust puts beside each report what is kept of its version.
func WithTrust(reports []calibration.Report, known []JudgeTrust) []TrustedReport {
	all := make([]TrustedReport, len(reports))
	for i, r := range reports {
		all[i] = TrustedReport{Report: r, Trust: TrustView{State: judge.Advisory, ByRules: judge.Advisory, Rules: []trust.Rule{}}}
		for _, k := range known {
			if k.Judge == r.Judge && k.Model == r.Model && k.PromptVersion == r.PromptVersion {
				all[i].Trust = TrustView{k.State, &k.Since, k.ByRules, k.PolicyVersion, k.By, k.Reason, append([]trust.Rule{}, k.Rules...)}
			}
		}
	}
	return all
}

// Reports are the reports on a project's judges, or on one of them, as an actor may
// know them, each with how far it is trusted. Roles: lead, auditor, admin.
func (s *Store) Reports(ctx context.Context, a Actor, project, judgeName string) ([]TrustedReport, error) {
	counts, err := s.CalibrationCounts(ctx, a, project, judgeName)
	if err != nil {
		return nil, err
	}
	reports, err := calibration.ComposeAll(counts)
	if err != nil {
		return nil, err
	}
	known, err := s.Trust(ctx, a, project, judgeName)
	if err != nil {
		return nil, err
	}
	all := WithTrust(reports, known)
	for i := range all {
		for _, c := range counts {
			if c.Judge == all[i].Judge && c.Model == all[i].Model && c.PromptVersion == all[i].PromptVersion {
				all[i].Counts = c
			}
		}
	}
	return all, nil
}

// TrustChange is one change of a judge's trust, as the audit log has it.
type TrustChange struct {
	At                   time.Time
	Seq                  int64
	Model, PromptVersion string
	Before, After        judge.TrustState
	By, Reason           string
}

// trustChangesShown bounds how many changes are read.
const trustChangesShown = 50

// TrustChanges are the newest changes of trust of a judge, at most 50, the newest
// first. Roles: lead, auditor, admin.
func (s *Store) TrustChanges(ctx context.Context, a Actor, project, judgeName string) (changes []TrustChange, err error) {
	defer wrap(&err, "list the changes of the trust of judge %q", judgeName)
	if err := s.authorise(ctx, a, readers, "trust.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	events, err := collect(ctx, s.reader, scanAudit, `SELECT `+auditColumns+` FROM audit_events
WHERE subject = ? AND project = ? AND allowed AND action IN (`+placeholders(len(trustActions))+`) ORDER BY seq DESC LIMIT ?`,
		append(append([]any{"judge:" + judgeName, orDefaultProject(project)}, anys(trustActions)...), trustChangesShown)...)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		var d struct {
			Model         string           `json:"model"`
			PromptVersion string           `json:"prompt_version"`
			Before        judge.TrustState `json:"before"`
			After         judge.TrustState `json:"after"`
			Reason        string           `json:"reason"`
		}
		if err := json.Unmarshal(e.Data, &d); err != nil {
			return nil, err
		}
		changes = append(changes, TrustChange{e.At, e.Seq, d.Model, d.PromptVersion, d.Before, d.After, e.Actor, d.Reason})
	}
	return changes, nil
}
