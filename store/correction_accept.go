package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// CorrectedField is the refused field of an evaluation that nobody had decided
// when its trace was corrected.
const CorrectedField = "trace"

// PlanAgain plans the judging of a corrected trace by the judges that judged it.
type PlanAgain func(ctx context.Context, project string, t *judge.Trace, judges []string) ([]judge.Planned, error)

// Acceptance is what a lead says to a correction.
type Acceptance struct {
	Comment string // may be empty
	// Replacement is the whole text as it should be, where who proposed the
	// correction did not give it; else it must be empty.
	Replacement string
}

// AcceptCorrection makes the corrected trace the newest revision under its id, in
// the run of the old one, and queues the judges that judged that. The old
// revision stays, with its evaluations and what people said. Its evaluations that
// wait for a judge or a person are refused, with the revision that took their
// place, and their items are closed. Imported labels and recorded reports were
// about the old text and stay with it. ErrConflict: somebody answered it, or the
// trace has another revision since. Roles: lead, admin, and not who proposed it.
func (s *Store) AcceptCorrection(ctx context.Context, a Actor, id string, in Acceptance, plan PlanAgain) (c Correction, err error) {
	defer wrap(&err, "accept correction %s", id)
	if err := s.authorise(ctx, a, leads, correctionAccepted, "correction:"+id); err != nil {
		return Correction{}, err
	}
	if err := checkComment("comment", in.Comment, false); err != nil {
		return Correction{}, err
	}
	if c, err = s.correction(ctx, id); err != nil {
		return Correction{}, err
	}
	if err := c.stillOpen(); err != nil {
		return Correction{}, err
	}
	if c.ProposerID == a.UserID {
		return Correction{}, refuse("you proposed this correction: another lead accepts or declines it")
	}
	p, err := projectNamed(ctx, s.reader, c.project)
	if err != nil {
		return Correction{}, err
	}
	trace, judges, err := s.corrected(ctx, c, in)
	if err != nil {
		return Correction{}, err
	}
	item := ImportItem{Trace: trace}
	if item.Plan, err = plan(ctx, p.Name, &item.Trace, judges); err != nil {
		return Correction{}, err
	}
	if len(item.Plan) == 0 {
		return Correction{}, refuse("none of this project's judges can judge the corrected trace, so nothing would take the item's place")
	}
	prepared, err := s.prepareOne(ctx, p, item)
	if err != nil {
		return Correction{}, err
	}
	err = s.writeAlone(ctx, func(t *tx) error { return t.acceptCorrection(ctx, a, p, c, in, prepared) })
	if err != nil {
		return Correction{}, err
	}
	return s.correction(ctx, id)
}

// corrected is the trace as it will be, and the judges that judged it.
func (s *Store) corrected(ctx context.Context, c Correction, in Acceptance) (t judge.Trace, judges []string, err error) {
	switch {
	case c.Replacement == "" && strings.TrimSpace(in.Replacement) == "":
		return t, nil, invalid("replacement", "is missing: who proposed this did not give the right text")
	case c.Replacement != "" && in.Replacement != "" && in.Replacement != c.Replacement:
		return t, nil, invalid("replacement", "is another text than was proposed: accept it as it is, or decline it with the reason")
	case len(in.Replacement) > MaxReplacement:
		return t, nil, invalid("replacement", "is larger than %d KB", MaxReplacement>>10)
	}
	var hash string
	if err := s.reader.QueryRowContext(ctx, `SELECT body_hash FROM traces WHERE id = ?`, c.internalID).Scan((*digest)(&hash)); err != nil {
		return t, nil, err
	}
	if t, err = traceByBody(ctx, s.reader, hash); err != nil {
		return t, nil, err
	}
	// The stored trace is remembered and shared: what is changed is copied first.
	t.Premises, t.Sources = append([]string(nil), t.Premises...), append([]judge.Source(nil), t.Sources...)
	t.Judgments, t.Labels = nil, nil
	text, err := correctable(&t, c.Target)
	if err != nil {
		return t, nil, err
	}
	*text = cmp.Or(c.Replacement, in.Replacement)
	if *text == c.Before {
		return t, nil, invalid("replacement", "is the text that is there already")
	}
	runs, err := runsOf(ctx, s.reader, []string{c.internalID})
	if err != nil {
		return t, nil, err
	}
	t.Run = runs[c.internalID]
	judges, err = collect(ctx, s.reader, func(r *sql.Rows, name *string) error { return r.Scan(name) },
		`SELECT DISTINCT judge FROM evaluations WHERE trace_id = ? ORDER BY judge`, c.internalID)
	return t, judges, err
}

// prepareOne makes one trace ready to be imported.
func (s *Store) prepareOne(ctx context.Context, p Project, item ImportItem) (incoming, error) {
	used, err := s.judgesInUse(ctx, p.ID)
	if err != nil {
		return incoming{}, err
	}
	items := []ImportItem{item}
	prepared, err := prepareImport(items, used, p.Policy)
	if err != nil {
		return incoming{}, err
	}
	err = packImport(items, prepared, func(incoming) bool { return true }, func(b traceBody) (*pack.Dictionary, error) {
		return s.dictionary(ctx, family{"trace", p.ID}, append([]string{b.json}, b.sources...)...)
	})
	return prepared[0], err
}

func (t *tx) acceptCorrection(ctx context.Context, a Actor, p Project, c Correction, in Acceptance, prepared incoming) error {
	m := newImporter(t, a, p)
	if err := m.readKnown(ctx, []incoming{prepared}); err != nil { // holds the trace
		return err
	}
	if m.current[c.TraceID].id != c.internalID {
		return refuse("this trace has another revision since: decline the correction, and look at the new one")
	}
	c, r, err := t.openCorrection(ctx, c.ID)
	if err != nil {
		return err
	}
	one, err := m.add(ctx, prepared)
	if err != nil {
		return err
	}
	if err := m.store(ctx); err != nil {
		return err
	}
	newID := m.current[c.TraceID].id
	why := fmt.Sprintf("the trace was corrected (%s): revision %d is judged instead", c.Target, one.Revision)
	if err := t.supersede(ctx, a, c, p, why); err != nil {
		return err
	}
	w := answerTo{outcome: CorrectionAccepted, comment: strings.TrimSpace(in.Comment), newTraceID: newID}
	if c.Replacement == "" {
		w.replacement = in.Replacement
	}
	if err := t.answerCorrection(ctx, a, c, r, w); err != nil {
		return err
	}
	for _, subject := range []string{"trace:" + c.internalID, "trace:" + newID} {
		t.audit(event{project: p.Name, actor: a, action: traceCorrected, subject: subject, data: map[string]any{
			"external_id": c.TraceID, "correction_id": c.ID, "target": c.Target, "proposed_by": c.ProposerID,
			"from_revision": c.Revision, "to_revision": one.Revision}})
	}
	return m.settle(ctx)
}

// supersede ends all that waits on a revision which gives way to a corrected one:
// other proposals to correct it, items, and evaluations that are not decided.
func (t *tx) supersede(ctx context.Context, a Actor, c Correction, p Project, why string) error {
	others, err := collect(ctx, t, scanID, `
SELECT k.id FROM corrections k WHERE k.trace_id = ? AND k.id <> ?
  AND NOT EXISTS (SELECT 1 FROM correction_answers w WHERE w.correction_id = k.id) ORDER BY k.review_id`, c.internalID, c.ID)
	if err != nil {
		return err
	}
	for _, id := range others {
		other, r, err := t.openCorrection(ctx, id)
		if err != nil {
			return err
		}
		if err := t.answerCorrection(ctx, a, other, r, answerTo{outcome: CorrectionDeclined, comment: "Another correction of this trace was accepted first."}); err != nil {
			return err
		}
	}
	type waits struct{ id, review, status string }
	found, err := collect(ctx, t, func(rows *sql.Rows, w *waits) error { return rows.Scan(&w.id, &w.review, &w.status) }, `
SELECT e.id, COALESCE(r.id, ''), e.status FROM evaluations e LEFT JOIN reviews r ON r.evaluation_id = e.id
WHERE e.trace_id = ? AND e.status IN ('in_review', 'queued') ORDER BY r.id, e.id`, c.internalID)
	if err != nil {
		return err
	}
	for _, w := range found {
		if w.review != "" {
			if _, err := loadReviewState(ctx, t, w.review); err != nil { // held before its evaluation
				return err
			}
			if _, err := t.closeReview(ctx, p.ID, w.id); err != nil {
				return err
			}
			if _, err := t.exec(ctx, `UPDATE reviews SET correction_id = ? WHERE id = ? AND state = 'closed'`, c.ID, w.review); err != nil {
				return err
			}
		}
		r := reviewState{evaluationID: w.id, traceID: c.internalID, projectID: p.ID}
		if err := t.moveEvaluation(ctx, r, judge.Status(w.status), judge.Refused, judge.Result{}); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE evaluations SET refused_field = ?, error = ? WHERE id = ?`, CorrectedField, why, w.id); err != nil {
			return err
		}
	}
	return nil
}
