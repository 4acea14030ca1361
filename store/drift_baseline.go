package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// DriftBaseline is how a judge, model and prompt version did when that was frozen.
type DriftBaseline struct {
	ID, Judge, Model, PromptVersion string
	Counts                          calibration.DriftCounts
	// FirstLabel and LastLabel of its labels; zero: it has none.
	FirstLabel, LastLabel time.Time
	Automatic             bool // frozen at the first labels, by no lead
	FrozenBy              string
	FrozenAt              time.Time
}

// newestBaselines are those that count now.
func newestBaselines(ctx context.Context, q querier, projectID, judgeName string) (map[agreementGroup]DriftBaseline, error) {
	all, err := collect(ctx, q, func(r *sql.Rows, b *DriftBaseline) error {
		var sum driftSum
		var parts keptParts
		var first, last sql.NullInt64
		if err := r.Scan(&b.ID, &b.Judge, &b.Model, &b.PromptVersion, &b.Counts.Labels, &b.Counts.Agreed, &first, &last,
			&sum.verdicts, &sum.passed, &sum.scores, &sum.scoreMicro, &sum.squareMicro, &parts.ruled, &parts.keptMicro, &parts.squareMicro, &b.Automatic, &b.FrozenBy, &b.FrozenAt); err != nil {
			return err
		}
		sum.into(&b.Counts)
		parts.into(&b.Counts)
		b.FirstLabel, b.LastLabel, b.FrozenAt = labelledAt(first), labelledAt(last), b.FrozenAt.UTC()
		return nil
	}, `
SELECT id, judge, model, prompt_version, labels, agreed, first_us, last_us, verdicts, passed, scores, score_micro, square_micro, ruled, kept_micro, kept_square_micro, automatic, frozen_by, frozen_at
FROM drift_baselines b WHERE project_id = ? AND (? = '' OR judge = ?) AND NOT EXISTS (
    SELECT 1 FROM drift_baselines n WHERE n.project_id = b.project_id AND n.judge = b.judge AND n.model = b.model AND n.prompt_version = b.prompt_version AND n.id > b.id)`,
		projectID, judgeName, judgeName)
	newest := make(map[agreementGroup]DriftBaseline, len(all))
	for _, b := range all {
		newest[agreementGroup{projectID, b.Judge, b.Model, b.PromptVersion}] = b
	}
	return newest, err
}

// FreezeBaseline freezes how a judge, model and prompt version does now: its random
// audit labels, verdicts and scores so far. Monitors count from here on against it;
// earlier baselines stay. One that would have the figures of the newest is that one, so a
// form that is sent twice freezes once. FieldError of baseline: there are fewer than
// calibration.MinBaseline of all three. Roles: lead, admin.
func (s *Store) FreezeBaseline(ctx context.Context, a Actor, project, judgeName, model, version string) (b DriftBaseline, err error) {
	defer wrap(&err, "freeze a baseline of judge %q", judgeName)
	if err := s.authorise(ctx, a, leads, FreezeBaselines.action, "judge:"+judgeName); err != nil {
		return b, err
	}
	p, scales, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return b, err
	}
	if len(scales) != 1 {
		return b, invalid("judge", "is missing: a baseline is of one judge")
	}
	err = s.writeAlone(ctx, func(t *tx) error {
		b, err = t.freeze(ctx, a, p, scales[0], agreementGroup{p.ID, judgeName, model, version}, false)
		return err
	})
	return b, err
}

// freeze counts and keeps a baseline.
func (t *tx) freeze(ctx context.Context, a Actor, p Project, scale judgeScale, g agreementGroup, automatic bool) (b DriftBaseline, err error) {
	days, err := readDriftDays(ctx, t, p.ID, g.judge)
	if err != nil {
		return b, err
	}
	counts, err := auditLabels(ctx, t, scale, []driftSpan{{group: g, to: t.now}})
	if err != nil {
		return b, err
	}
	parts, err := readParts(ctx, t, []driftSpan{{group: g}})
	if err != nil {
		return b, err
	}
	labels, sum := counts[0], sumDays(days[g], "", "")
	b = DriftBaseline{ID: t.newID(), Judge: g.judge, Model: g.model, PromptVersion: g.version, Automatic: automatic, FrozenBy: a.Name, FrozenAt: t.now,
		FirstLabel: labelledAt(labels.first), LastLabel: labelledAt(labels.last)}
	b.Counts.Labels, b.Counts.Agreed = labels.labels, labels.agreed
	sum.into(&b.Counts)
	parts[0].into(&b.Counts)
	if max(b.Counts.Labels, b.Counts.Verdicts, b.Counts.Scores) < calibration.MinBaseline {
		return b, invalid("baseline", "would have %d random audit labels and %d verdicts of %s, version %.8s: %d of one of them are needed",
			b.Counts.Labels, b.Counts.Verdicts, g.model, g.version, calibration.MinBaseline)
	}
	if !automatic {
		// One after another, so that each sees the one before.
		if err := t.lockProject(ctx, p.ID); err != nil {
			return b, err
		}
		newest, err := newestBaselines(ctx, t, p.ID, g.judge)
		if err != nil {
			return b, err
		}
		if n, is := newest[g]; is && n.Counts == b.Counts && n.FirstLabel.Equal(b.FirstLabel) && n.LastLabel.Equal(b.LastLabel) {
			return n, nil
		}
	}
	n, err := t.changed(ctx, `
INSERT INTO drift_baselines (id, project_id, judge, model, prompt_version, labels, agreed, first_us, last_us,
    verdicts, passed, scores, score_micro, square_micro, ruled, kept_micro, kept_square_micro, automatic, frozen_by, frozen_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, judge, model, prompt_version) WHERE automatic DO NOTHING`, b.ID, p.ID, g.judge, g.model, g.version, labels.labels, labels.agreed, labels.first, labels.last,
		sum.verdicts, sum.passed, sum.scores, sum.scoreMicro, sum.squareMicro, parts[0].ruled, parts[0].keptMicro, parts[0].squareMicro, automatic, a.Name, t.now)
	if err != nil || n == 0 { // 0: another server was first
		return b, err
	}
	sum256, err := t.rowDigest(ctx, chainedBaselines, p.ID, g.judge, b.ID)
	if err != nil {
		return b, err
	}
	// Verdicts are not in the event: some may wait blind for whoever reads it.
	t.audit(event{project: p.Name, actor: a, action: FreezeBaselines.action, subject: "judge:" + g.judge, data: map[string]any{
		"baseline": b.ID, "model": g.model, "prompt_version": g.version, "audit_labels": labels.labels, "agreed": labels.agreed, "automatic": automatic, "row_sha256": sum256}})
	return b, t.trustDue(ctx, p.ID, g.judge)
}

// freezeFirst freezes baselines of those that have none and enough labels.
func (s *Store) freezeFirst(ctx context.Context, p Project, scales []judgeScale, reports []DriftReport) (frozen int, err error) {
	by := Operator("drift")
	for _, r := range reports {
		if r.Baseline != nil || r.Labels < calibration.AutomaticBaseline {
			continue
		}
		for _, scale := range scales {
			if scale.name != r.Judge {
				continue
			}
			err := s.writeAlone(ctx, func(t *tx) error {
				_, err := t.freeze(ctx, by, p, scale, agreementGroup{p.ID, r.Judge, r.Model, r.PromptVersion}, true)
				return err
			})
			if err != nil {
				return frozen, fmt.Errorf("baseline of %s by %s: %w", r.Judge, r.Model, err)
			}
			frozen++
		}
	}
	return frozen, nil
}
