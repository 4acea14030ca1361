package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
)

// MostDrawn is how many labels one draw asks for at most.
const MostDrawn = 2000

// maxDrawToken bounds the token of a form, in bytes.
const maxDrawToken = 100

// labelsDrawn is the audit action of a draw.
const labelsDrawn = "labels.drawn"

// DrawAsk is a draw of blind labels on what a judge said and nobody has labelled.
type DrawAsk struct {
	Judge, Model, PromptVersion string // Model as calibration names it
	// Verdict of the judge: accepted evaluations with it are drawn from.
	Verdict judge.Verdict
	N       int // 1..MostDrawn
	// Token of the form: the same one draws once, however often it is sent.
	Token string
}

// LabelDraw is a draw that was made.
type LabelDraw struct {
	ID                          string
	Judge, Model, PromptVersion string
	Verdict                     judge.Verdict
	Number                      int // of this judge, from 1
	Frame, N                    int // evaluations that could be drawn, and that were
	Seed                        string
	Earlier                     float64 // see sampling.SecondDraw
	By                          string
	At                          time.Time
	// Waiting items of it are not settled yet.
	Waiting int
	// Again says that this form had drawn before, and drew nothing now.
	Again bool
}

// errFrameChanged says that something that was drawn can't be any more.
var errFrameChanged = errors.New("what was drawn changed meanwhile")

// DrawLabels draws n accepted evaluations of one judge, model, version and verdict at
// random, of those that nobody has labelled, and sends them to people, blind: their
// results wait for the person, as those of a random audit do. Who is known to have
// looked at one counts as having seen its verdict. It draws all where there are fewer;
// none at all is an ErrConflict. Items carry the chance by which their labels count
// beside the earlier ones (sampling.SecondDraw). Roles: lead, admin.
func (s *Store) DrawLabels(ctx context.Context, a Actor, project string, ask DrawAsk) (d LabelDraw, err error) {
	defer wrap(&err, "draw labels of judge %q", ask.Judge)
	if err := s.authorise(ctx, a, leads, labelsDrawn, "judge:"+ask.Judge); err != nil {
		return d, err
	}
	if err := ask.check(); err != nil {
		return d, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return d, err
	}
	if d, err := drawByToken(ctx, s.reader, p.ID, ask.Token); !errors.Is(err, sql.ErrNoRows) {
		return d, err
	}
	for range maxTries {
		if d, err = s.drawOnce(ctx, a, p, ask); !errors.Is(err, errFrameChanged) {
			return d, err
		}
	}
	return d, fmt.Errorf("other work on the same evaluations came between, each time; try again: %w", ErrConflict)
}

func (ask DrawAsk) check() error {
	switch {
	case ask.N < 1 || ask.N > MostDrawn:
		return invalid("n", "is %d: it lies between 1 and 2,000", ask.N)
	case ask.Verdict != judge.Pass && ask.Verdict != judge.Borderline && ask.Verdict != judge.Fail:
		return invalid("verdict", "is %q: it is pass, borderline or fail", ask.Verdict)
	case ask.Token == "" || len(ask.Token) > maxDrawToken:
		return invalid("token", "is missing or longer than %d bytes: open the page again", maxDrawToken)
	}
	return nil
}

func (s *Store) drawOnce(ctx context.Context, a Actor, p Project, ask DrawAsk) (d LabelDraw, err error) {
	frame, err := s.frameOf(ctx, p, ask)
	if err != nil {
		return d, err
	}
	if len(frame.items) == 0 {
		return d, fmt.Errorf("nothing that judge %s gave %s and that was accepted is without a label: there is nothing to draw: %w", ask.Judge, ask.Verdict, ErrConflict)
	}
	seed, nonce := rand.Text(), rand.Text()
	drawn, plan, err := frame.draw(ask.N, seed, nonce)
	if err != nil {
		return d, err
	}
	made := LabelDraw{Judge: ask.Judge, Model: ask.Model, PromptVersion: ask.PromptVersion, Verdict: ask.Verdict, Frame: len(frame.items), N: len(drawn),
		Seed: seed, Earlier: plan.Earlier, By: a.Name, At: frame.at, Waiting: len(drawn)}
	err = s.writeAlone(ctx, func(t *tx) error {
		d = made
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		before, err := drawByToken(ctx, t, p.ID, ask.Token)
		if !errors.Is(err, sql.ErrNoRows) {
			d = before
			return err
		}
		if err := t.holdDrawn(ctx, drawn); err != nil {
			return err
		}
		if err := t.scan(ctx, `SELECT COALESCE(max(number), 0) + 1 FROM label_draws WHERE project_id = ? AND judge = ?`, []any{p.ID, ask.Judge}, []any{&d.Number}); err != nil {
			return err
		}
		d.ID = t.newID()
		digest := idsDigest(nonce, drawn)
		if _, err := t.exec(ctx, `
INSERT INTO label_draws (id, project_id, judge, number, model, prompt_version, verdict, token, frame, n, seed, nonce, earlier, ids_sha256, drawn_by, frame_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			d.ID, p.ID, d.Judge, d.Number, d.Model, d.PromptVersion, string(d.Verdict), ask.Token, d.Frame, d.N, seed, nonce, d.Earlier, digest, a.Name, frame.at); err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: labelsDrawn, subject: "judge:" + d.Judge, data: map[string]any{
			"draw_id": d.ID, "number": d.Number, "model": d.Model, "prompt_version": d.PromptVersion, "verdict": string(d.Verdict),
			"frame": d.Frame, "n": d.N, "seed": seed, "ids_sha256": digest, "earlier": d.Earlier,
			"had_a_chance": plan.Known, "had_none": plan.New}})
		return t.sendDrawn(ctx, a, p, d, drawn)
	})
	return d, err
}

func (s *Store) frameOf(ctx context.Context, p Project, ask DrawAsk) (f labelFrame, err error) {
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	return s.readFrame(ctx, read, p, ask)
}

// holdDrawn locks what was drawn and looks whether all of it can still be.
func (t *tx) holdDrawn(ctx context.Context, drawn []frameItem) error {
	var ids, traces []string
	for _, it := range drawn {
		ids, traces = append(ids, it.id), append(traces, it.traceID)
	}
	if err := t.lockTraces(ctx, traces); err != nil {
		return err
	}
	there := 0
	if err := inBatches(ids, func(batch []string) error {
		var n int
		err := t.scan(ctx, `
SELECT count(*) FROM evaluations e WHERE e.id IN (`+placeholders(len(batch))+`) AND e.status = 'accepted' AND NOT e.sealed
  AND NOT EXISTS (SELECT 1 FROM labels l WHERE l.trace_id = e.trace_id AND l.project_id = e.project_id AND l.judge = e.judge)`, anys(batch), []any{&n})
		there += n
		return err
	}); err != nil {
		return err
	}
	if there != len(drawn) {
		return errFrameChanged
	}
	return nil
}

// sendDrawn sends what was drawn to people.
func (t *tx) sendDrawn(ctx context.Context, a Actor, p Project, d LabelDraw, drawn []frameItem) error {
	reason := judge.Reason{Code: judge.ReasonRandomAudit, Detail: fmt.Sprintf("drawn by %s with %d of %d that the judge gave %s", a.Name, d.N, d.Frame, d.Verdict)}
	members := newBulk("drawn_labels", "", "draw_id", "evaluation_id")
	reasons := newBulk("evaluation_reasons", "", "evaluation_id", "position", "code", "detail")
	reviews := newBulk("reviews", reopenedTail, "id", "project_id", "evaluation_id", "trace_id", "external_id", "judge", "domain", "stakes", "title", "state",
		"urgency", "lead_reason", "blind", "stratum", "inclusion_probability", "due_at", "opened_at", "policy_version", "opinions_required", "language")
	var ids []string
	chances := map[string]float64{}
	for _, it := range drawn {
		ids, chances[it.id] = append(ids, it.id), it.chance
	}
	if err := inBatches(ids, func(batch []string) error {
		found, err := collect(ctx, t, func(r *sql.Rows, v *drawnItem) error {
			return r.Scan(&v.id, &v.traceID, &v.externalID, &v.domain, &v.stakes, &v.title, &v.language, &v.reasons)
		}, `
SELECT e.id, e.trace_id, tr.external_id, tr.domain, tr.stakes, tr.title, tr.language, (SELECT count(*) FROM evaluation_reasons x WHERE x.evaluation_id = e.id)
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id WHERE e.id IN (`+placeholders(len(batch))+`) ORDER BY e.id`, anys(batch)...)
		if err != nil {
			return err
		}
		for _, v := range found {
			due := t.now.Add(time.Duration(p.Policy.DueHours(reason.Code, v.stakes, v.domain)) * time.Hour)
			members.add(d.ID, v.id)
			reasons.add(v.id, v.reasons, reason.Code, reason.Detail)
			reviews.add(t.newID(), p.ID, v.id, v.traceID, v.externalID, d.Judge, v.domain, string(v.stakes), v.title, "open",
				urgency(reason.Code, v.stakes), reason.Code, true, judge.StratumRandomAudit, chances[v.id], due, t.now, p.Policy.Version,
				p.Policy.OpinionsFor(reason.Code, v.domain, v.stakes), v.language)
			t.recount(v.traceID)
		}
		return t.reopenDrawn(ctx, reason, batch)
	}); err != nil {
		return err
	}
	for _, rows := range []*bulk{members, reasons, reviews} {
		if err := rows.write(ctx, t); err != nil {
			return err
		}
	}
	if err := t.noteConflicts(ctx, ids...); err != nil {
		return err
	}
	t.tally(p.ID, tallyStatus, string(judge.Accepted), -len(ids))
	t.tally(p.ID, tallyStatus, string(judge.InReview), len(ids))
	t.tally(p.ID, tallyQueue, queueName(reason.Code, true), len(ids))
	return nil
}

// drawnItem is what an item in the queue repeats of its trace.
type drawnItem struct {
	id, traceID, externalID string
	domain                  string
	stakes                  judge.Stakes
	title, language         string
	reasons                 int
}

// reopenDrawn takes the results back of what was drawn, and notes who has looked at it.
func (t *tx) reopenDrawn(ctx context.Context, reason judge.Reason, ids []string) error {
	in := placeholders(len(ids))
	if _, err := t.exec(ctx, `
UPDATE evaluations SET status = 'in_review', lead_reason = ?, reasons = reasons | ?, result_verdict = '', result_label = '', result_source = ''
WHERE id IN (`+in+`)`, slices.Concat([]any{reason.Code, reasonMask([]judge.Reason{reason})}, anys(ids))...); err != nil {
		return err
	}
	_, err := t.exec(ctx, `
INSERT INTO exposures (evaluation_id, user_id, exposed_at)
SELECT v.evaluation_id, v.user_id, min(v.seen_at) FROM views_log v WHERE NOT v.sealed AND v.evaluation_id IN (`+in+`) GROUP BY v.evaluation_id, v.user_id
ON CONFLICT (evaluation_id, user_id) DO NOTHING`, anys(ids)...)
	return err
}

const labelDrawColumns = `d.id, d.judge, d.model, d.prompt_version, d.verdict, d.number, d.frame, d.n, d.seed, d.earlier, d.drawn_by, d.frame_at,
    (SELECT count(*) FROM drawn_labels x JOIN reviews r ON r.evaluation_id = x.evaluation_id WHERE x.draw_id = d.id AND r.state IN ('open', 'claimed', 'adjudication'))`

func scanLabelDraw(scan func(...any) error, d *LabelDraw) error {
	err := scan(&d.ID, &d.Judge, &d.Model, &d.PromptVersion, &d.Verdict, &d.Number, &d.Frame, &d.N, &d.Seed, &d.Earlier, &d.By, &d.At, &d.Waiting)
	d.At = d.At.UTC()
	return err
}

// drawByToken finds the draw that a form has made; sql.ErrNoRows: none.
func drawByToken(ctx context.Context, q querier, projectID, token string) (d LabelDraw, err error) {
	err = scanLabelDraw(q.QueryRowContext(ctx, `SELECT `+labelDrawColumns+` FROM label_draws d WHERE d.project_id = ? AND d.token = ?`, projectID, token).Scan, &d)
	d.Again = err == nil
	return d, err
}

// mostLabelDraws is how many of a judge's draws are listed.
const mostLabelDraws = 200

// LabelDraws are the newest draws of a judge, the newest first. Roles: lead, auditor,
// admin.
func (s *Store) LabelDraws(ctx context.Context, a Actor, project, judgeName string) (_ []LabelDraw, err error) {
	defer wrap(&err, "list the draws of judge %q", judgeName)
	if err := s.authorise(ctx, a, readers, "calibration.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(r *sql.Rows, d *LabelDraw) error { return scanLabelDraw(r.Scan, d) }, `
SELECT `+labelDrawColumns+` FROM label_draws d WHERE d.project_id = ? AND d.judge = ? ORDER BY d.number DESC LIMIT ?`, p.ID, judgeName, mostLabelDraws)
}
