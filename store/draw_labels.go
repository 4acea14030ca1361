package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// MostDrawn is how many labels one draw asks for at most.
const MostDrawn = 2000

// maxDrawToken bounds the token of a form, in bytes.
const maxDrawToken = 100

// labelsDrawn is the audit action of a draw.
const labelsDrawn = "labels.drawn"

// FewestBlind is how many items a draw takes at least, or all there are. With fewer,
// each would tell too much of the others by counts that change.
const FewestBlind = 10

// drawnVerdicts are those of a judge that labels are drawn from.
var drawnVerdicts = []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail}

// DrawAsk is a draw of blind labels on what a judge said and nobody has labelled.
type DrawAsk struct {
	Judge, Model, PromptVersion string // Model as calibration names it
	// Take is how many accepted evaluations to draw of each verdict of the judge, in
	// all 1..MostDrawn. They are one draw: of a draw from one verdict alone everybody
	// who reads counts would know what the judge said.
	Take map[judge.Verdict]int
	// Visible accepts that the labels count as given with the verdict in sight, which
	// is so where only one verdict, or fewer than FewestBlind items, can be drawn.
	Visible bool
	// Token of the form: the same one draws once, however often it is sent.
	Token string
}

// LabelDraw is a draw that was made.
type LabelDraw struct {
	Judge, Model, PromptVersion string
	Number                      int // of this judge; parts of a draw count
	Frame, N                    int // evaluations that could be drawn, and that were
	Seed                        string
	By                          string
	At                          time.Time
	// Waiting items of it are not settled yet.
	Waiting int
	// Parts by verdict; nil while an item waits blind, for who may be asked to
	// decide it.
	Parts []DrawnPart
	// Visible says that the labels count as given with the verdict in sight; it is
	// told when the draw is made.
	Visible bool
	// Again says that this form had drawn before, and drew nothing now.
	Again bool
}

// DrawnPart is what a draw took of one verdict.
type DrawnPart struct {
	ID       string
	Verdict  judge.Verdict
	Number   int
	Frame, N int
	Earlier  float64 // see sampling.SecondDraw
}

// errFrameChanged says that something that was drawn can't be any more.
var errFrameChanged = errors.New("what was drawn changed meanwhile")

// DrawLabels draws accepted evaluations of one judge, model and version at random, by
// verdict as asked, of those that nobody has labelled, and sends them to people, blind:
// their results wait for the person, as those of a random audit do. Who is known to have
// looked at one counts as having seen its verdict. It draws all where there are fewer;
// none at all is an ErrConflict, and so is a draw whose verdicts would be known if
// ask.Visible does not accept that. One verdict alone while others have something left,
// and fewer than FewestBlind while there are more, is an ErrInvalid. Items carry the
// chance by which their labels count beside the earlier ones (sampling.SecondDraw).
// Roles: lead, admin.
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
	if d, err := drawByToken(ctx, s.reader, a, p.ID, ask.Token); !errors.Is(err, sql.ErrNoRows) {
		return d, err
	}
	// Who has just looked at one counts as having seen it.
	if err := s.WriteLooks(ctx); err != nil {
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
	n := 0
	for v, more := range ask.Take {
		if !slices.Contains(drawnVerdicts, v) {
			return invalid("verdict", "is %q: it is pass, borderline or fail", v)
		}
		if more < 0 || more > MostDrawn {
			return invalid("n", "is %d: it lies between 0 and 2,000 for each verdict", more)
		}
		n += more
	}
	switch {
	case n < 1 || n > MostDrawn:
		return invalid("n", "is %d: it lies between 1 and 2,000", n)
	case ask.Token == "" || len(ask.Token) > maxDrawToken || strings.Contains(ask.Token, "/"):
		return invalid("token", "is missing, has a slash or is longer than %d bytes: open the page again", maxDrawToken)
	}
	return nil
}

// drawing is a part of a draw while it is made.
type drawing struct {
	DrawnPart
	items  []frameItem
	digest string
}

// plan draws what is asked for from the frames, which are in the order of drawnVerdicts.
func (ask DrawAsk) plan(frames []labelFrame, seed, nonce string) (parts []drawing, items []frameItem, err error) {
	with, all := 0, 0
	for i, v := range drawnVerdicts {
		f := &frames[i]
		if len(f.items) == 0 {
			continue
		}
		with, all = with+1, all+len(f.items)
		if ask.Take[v] == 0 {
			continue
		}
		drawn, plan, err := f.draw(ask.Take[v], seed, nonce)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, drawing{DrawnPart: DrawnPart{Verdict: v, Frame: len(f.items), N: len(drawn), Earlier: plan.Earlier}, items: drawn, digest: idsDigest(nonce, drawn)})
		items = append(items, drawn...)
	}
	// Nothing that follows may be in the order of verdicts.
	slices.SortFunc(items, func(a, b frameItem) int { return slices.Compare(a.place[:], b.place[:]) })
	visible := len(parts) == 1 || len(items) < FewestBlind
	switch {
	case len(parts) == 0:
		return nil, nil, fmt.Errorf("nothing that judge %s gave such a verdict and that was accepted is without a label: there is nothing to draw: %w", ask.Judge, ErrConflict)
	case len(parts) == 1 && with > 1:
		return nil, nil, invalid("n", "takes from what the judge gave one verdict alone: who answers would know it; draw from the others too")
	case len(items) < FewestBlind && len(items) < all:
		return nil, nil, invalid("n", "is %d: a draw takes at least %d, or all there are", len(items), FewestBlind)
	case visible && !ask.Visible:
		return nil, nil, fmt.Errorf("too little is left for a blind draw: the labels would count as given with the verdict in sight: %w", ErrConflict)
	}
	return parts, items, nil
}

func (s *Store) drawOnce(ctx context.Context, a Actor, p Project, ask DrawAsk) (d LabelDraw, err error) {
	frames, err := s.framesOf(ctx, p, ask)
	if err != nil {
		return d, err
	}
	seed, nonce := rand.Text(), rand.Text()
	parts, items, err := ask.plan(frames, seed, nonce)
	if err != nil {
		return d, err
	}
	made := LabelDraw{Judge: ask.Judge, Model: ask.Model, PromptVersion: ask.PromptVersion, N: len(items), Waiting: len(items),
		Seed: seed, By: a.Name, At: frames[0].at, Visible: len(parts) == 1 || len(items) < FewestBlind}
	err = s.writeAlone(ctx, func(t *tx) error {
		d = made
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		before, err := drawByToken(ctx, t, a, p.ID, ask.Token)
		if !errors.Is(err, sql.ErrNoRows) {
			d = before
			return err
		}
		if err := t.holdDrawn(ctx, items); err != nil {
			return err
		}
		if err := t.scan(ctx, `SELECT COALESCE(max(number), 0) + 1 FROM label_draws WHERE project_id = ? AND judge = ?`, []any{p.ID, ask.Judge}, []any{&d.Number}); err != nil {
			return err
		}
		rows := newBulk("label_draws", "", "id", "project_id", "judge", "number", "model", "prompt_version", "verdict", "token", "frame", "n", "seed", "nonce",
			"earlier", "ids_sha256", "drawn_by", "frame_at")
		members := newBulk("drawn_labels", "", "draw_id", "evaluation_id")
		var ids []string
		var said []drawSaid
		for i := range parts {
			x := &parts[i]
			x.ID, x.Number = t.newID(), d.Number+i
			d.Frame += x.Frame
			if d.Visible || !a.MayDecide() {
				d.Parts = append(d.Parts, x.DrawnPart)
			}
			ids = append(ids, x.ID)
			said = append(said, drawSaid{Frame: x.Frame, N: x.N, Number: x.Number, Earlier: x.Earlier, Digest: x.digest, Model: d.Model, Version: d.PromptVersion, Verdict: string(x.Verdict)})
			rows.add(x.ID, p.ID, d.Judge, x.Number, d.Model, d.PromptVersion, string(x.Verdict), partToken(ask.Token, x.Verdict), x.Frame, x.N, seed, nonce,
				x.Earlier, x.digest, a.Name, d.At)
			for _, it := range x.items {
				members.add(x.ID, it.id)
			}
		}
		digest, err := drawsDigest(nonce, said)
		if err != nil {
			return err
		}
		for _, b := range []*bulk{rows, members} {
			if err := b.write(ctx, t); err != nil {
				return err
			}
		}
		// How many of which verdict is in the digest alone: who decides reads events.
		t.audit(event{project: p.Name, actor: a, action: labelsDrawn, subject: "judge:" + d.Judge, data: map[string]any{
			"draw_ids": ids, "number": d.Number, "model": d.Model, "prompt_version": d.PromptVersion, "n": d.N, "seed": seed,
			"visible": d.Visible, "draws_sha256": digest}})
		return t.sendDrawn(ctx, a, p, d, items)
	})
	return d, err
}

// partToken is the token of a part of a draw.
func partToken(token string, v judge.Verdict) string { return token + "/" + string(v) }

func (s *Store) framesOf(ctx context.Context, p Project, ask DrawAsk) (frames []labelFrame, err error) {
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	for _, v := range drawnVerdicts {
		f, err := s.readFrame(ctx, read, p, drawFrom{ask.Judge, ask.Model, ask.PromptVersion, v})
		if err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return frames, nil
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
	reason := judge.Reason{Code: judge.ReasonRandomAudit, Detail: fmt.Sprintf("drawn by %s with %d of %d", a.Name, d.N, d.Frame)}
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
			reasons.add(v.id, v.reasons, reason.Code, reason.Detail)
			reviews.add(t.newID(), p.ID, v.id, v.traceID, v.externalID, d.Judge, v.domain, string(v.stakes), v.title, "open",
				urgency(reason.Code, v.stakes), reason.Code, !d.Visible, judge.StratumRandomAudit, chances[v.id], due, t.now, p.Policy.Version,
				p.Policy.OpinionsFor(reason.Code, v.domain, v.stakes), v.language)
			t.recount(v.traceID)
		}
		return t.reopenDrawn(ctx, reason, batch)
	}); err != nil {
		return err
	}
	for _, rows := range []*bulk{reasons, reviews} {
		if err := rows.write(ctx, t); err != nil {
			return err
		}
	}
	if err := t.noteConflicts(ctx, ids...); err != nil {
		return err
	}
	t.tally(p.ID, tallyStatus, string(judge.Accepted), -len(ids))
	t.tally(p.ID, tallyStatus, string(judge.InReview), len(ids))
	t.tally(p.ID, tallyQueue, queueName(reason.Code, !d.Visible), len(ids))
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

const labelDrawColumns = `d.id, d.judge, d.model, d.prompt_version, d.verdict, d.number, d.frame, d.n, d.seed, d.earlier, d.drawn_by, d.frame_at, d.token,
    (SELECT count(*) FROM drawn_labels x JOIN reviews r ON r.evaluation_id = x.evaluation_id WHERE x.draw_id = d.id AND r.state IN ('open', 'claimed', 'adjudication')),
    (SELECT count(*) FROM drawn_labels x JOIN reviews r ON r.evaluation_id = x.evaluation_id WHERE x.draw_id = d.id AND `

// drawRow is a row of label_draws: a part of a draw.
type drawRow struct {
	LabelDraw
	part  DrawnPart
	token string
	blind int // items that keep their verdict
}

// drawsWhere reads draws, the newest first, and joins the parts of each.
func drawsWhere(ctx context.Context, q querier, a Actor, where string, args ...any) (draws []LabelDraw, err error) {
	rows, err := collect(ctx, q, func(r *sql.Rows, d *drawRow) error {
		return r.Scan(&d.part.ID, &d.Judge, &d.Model, &d.PromptVersion, &d.part.Verdict, &d.part.Number, &d.part.Frame, &d.part.N, &d.Seed, &d.part.Earlier,
			&d.By, &d.At, &d.token, &d.Waiting, &d.blind)
	}, `
SELECT `+labelDrawColumns+blindly("r")+`) FROM label_draws d WHERE `+where+` ORDER BY d.number DESC LIMIT ?`, append(args, mostLabelDraws)...)
	last, blind := "", 0
	for _, r := range rows {
		token := strings.TrimSuffix(r.token, "/"+string(r.part.Verdict))
		if token != last || len(draws) == 0 {
			r.At = r.At.UTC()
			draws, last, blind = append(draws, r.LabelDraw), token, 0
			draws[len(draws)-1].Waiting = 0
		}
		d := &draws[len(draws)-1]
		d.Number, d.Frame, d.N, d.Waiting = r.part.Number, d.Frame+r.part.Frame, d.N+r.part.N, d.Waiting+r.Waiting
		d.Parts = slices.Insert(d.Parts, 0, r.part)
		if blind += r.blind; blind > 0 && a.MayDecide() {
			d.Parts = nil
		}
	}
	return draws, err
}

// drawByToken finds the draw that a form has made; sql.ErrNoRows: none.
func drawByToken(ctx context.Context, q querier, a Actor, projectID, token string) (d LabelDraw, err error) {
	args := []any{projectID}
	for _, v := range drawnVerdicts {
		args = append(args, partToken(token, v))
	}
	draws, err := drawsWhere(ctx, q, a, `d.project_id = ? AND d.token IN (?, ?, ?)`, args...)
	if err != nil {
		return d, err
	}
	if len(draws) == 0 {
		return d, sql.ErrNoRows
	}
	draws[0].Again = true
	return draws[0], nil
}

// mostLabelDraws is how many parts of a judge's draws are read.
const mostLabelDraws = 600

// LabelDraws are the newest draws of a judge, the newest first. What each took by
// verdict is kept from who may decide while an item of it waits blind. Roles: lead,
// auditor, admin.
func (s *Store) LabelDraws(ctx context.Context, a Actor, project, judgeName string) (_ []LabelDraw, err error) {
	defer wrap(&err, "list the draws of judge %q", judgeName)
	if err := s.authorise(ctx, a, readers, "calibration.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	return drawsWhere(ctx, s.reader, a, `d.project_id = ? AND d.judge = ?`, p.ID, judgeName)
}
