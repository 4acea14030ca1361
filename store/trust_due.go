package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// What trust depends on is noted in the transaction that changes it, by a number
// that only grows; working it out takes too long to be a part of a decision. Whoever
// looks next, a server's second or somebody who asks, brings it up to date.

// projectJudge names a judge, whatever its versions.
type projectJudge struct{ projectID, judge string }

func compareProjectJudges(a, b projectJudge) int {
	return cmp.Or(cmp.Compare(a.projectID, b.projectID), cmp.Compare(a.judge, b.judge))
}

// noteTrust notes the judge of an evaluation whose label, or the answer beside it,
// counts otherwise than before.
func (d *deltas) noteTrust(e *countedEvaluation) {
	if e.was.cell != e.is.cell && (e.was.labelledUS.Valid || e.is.labelledUS.Valid) {
		d.trust[projectJudge{e.group.projectID, e.group.judge}] = true
	}
}

func (d *deltas) writeTrust(ctx context.Context, t *tx) error {
	for _, j := range slices.SortedFunc(maps.Keys(d.trust), compareProjectJudges) {
		if err := t.trustDue(ctx, j.projectID, j.judge); err != nil {
			return err
		}
	}
	return nil
}

// againDue makes a judge due whose row is there.
const againDue = ` ON CONFLICT (project_id, judge) DO UPDATE SET changed = trust_checks.changed + 1`

// trustDue notes that the trust of a judge has to be looked at again. It holds the
// row until the commit: whoever changes a judge's trust takes it first.
func (t *tx) trustDue(ctx context.Context, projectID, judgeName string) error {
	_, err := t.exec(ctx, `INSERT INTO trust_checks (project_id, judge, changed, checked, checked_at) VALUES (?, ?, 1, 0, ?)`+againDue,
		projectID, judgeName, t.now)
	return err
}

// allTrustDue is trustDue for all judges of a project, because its rules changed.
func (t *tx) allTrustDue(ctx context.Context, projectID string) error {
	names, err := collect(ctx, t, scanID, `SELECT name FROM judges WHERE project_id = ? AND current ORDER BY name`, projectID)
	if err != nil {
		return err
	}
	rows := newBulk("trust_checks", againDue, "project_id", "judge", "changed", "checked", "checked_at")
	for _, name := range names {
		rows.add(projectID, name, 1, 0, t.now)
	}
	return rows.write(ctx, t)
}
