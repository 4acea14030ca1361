package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// office does random things to a store, one after another.
type office struct {
	draws int
	*desk
	r      *rand.Rand
	name   string // sets its traces apart from those of others
	people []store.Actor
	done   map[string]int
}

// traces is about how many traces an office works on: few, so that things
// happen to the same ones again and again.
const traces = 14

func newOffice(d *desk, name string, seed uint64) *office {
	return &office{desk: d, r: rand.New(rand.NewPCG(seed, 20261129)), name: name,
		people: []store.Actor{d.ann, d.ben, d.lea, d.luis}, done: map[string]int{}}
}

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// step does one thing and says what. The rules may refuse it; any other error
// ends the test.
func (o *office) step() string {
	o.t.Helper()
	steps := []struct {
		name   string
		weight int
		do     func() error
	}{
		{"import", 4, o.importSome}, {"judge", 4, o.judgeSome}, {"claim", 3, o.claimOne}, {"answer", 3, o.answerOne},
		{"decide", 5, o.decideOne}, {"reopen", 2, o.reopenOne}, {"retry", 1, o.retryOne}, {"request", 2, o.requestOne},
		{"expose", 2, o.exposeOne}, {"release", 1, o.releaseOne}, {"take over", 1, o.takeOver}, {"change the queue", 3, o.changeSome},
		{"undo", 3, o.undoOne}, {"agree", 2, o.agreeOne}, {"add", 3, o.addOne}, {"raise", 1, o.raiseOne}, {"reassign", 1, o.reassignOne},
		{"draw", 2, o.drawSome},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	n := o.r.IntN(total)
	for _, s := range steps {
		if n -= s.weight; n >= 0 {
			continue
		}
		err := s.do()
		if err == nil {
			o.done[s.name]++
		} else if !slices.ContainsFunc([]error{store.ErrNotFound, store.ErrConflict, store.ErrInvalid, store.ErrForbidden},
			func(e error) bool { return errors.Is(err, e) }) {
			o.t.Errorf("%s: %v", s.name, err)
		}
		o.clock.add(time.Duration(o.r.IntN(5)) * time.Minute)
		return s.name
	}
	return ""
}

// drawSome draws labels from what a judge said and was accepted.
func (o *office) drawSome() error {
	o.draws++
	found := o.list(`SELECT DISTINCT judge || ' ' || model || ' ' || prompt_version FROM evaluations WHERE status = 'accepted' AND labelled_us IS NULL ORDER BY 1`)
	if len(found) == 0 {
		return store.ErrNotFound
	}
	ask := store.DrawAsk{Visible: true, Token: fmt.Sprint(o.name, " ", o.draws), Take: map[judge.Verdict]int{}}
	for _, v := range []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail} {
		ask.Take[v] = 4 + o.r.IntN(4)
	}
	if _, err := fmt.Sscan(found[o.r.IntN(len(found))], &ask.Judge, &ask.Model, &ask.PromptVersion); err != nil {
		return err
	}
	_, err := o.DrawLabels(o.ctx, o.lea, "default", ask)
	return err
}

func (o *office) importSome() error {
	o.blindly()
	var items []store.ImportItem
	for range 1 + o.r.IntN(4) {
		id := fmt.Sprintf("%s-%d", o.name, o.r.IntN(traces))
		if slices.ContainsFunc(items, func(i store.ImportItem) bool { return i.Trace.ID == id }) {
			continue
		}
		item := store.ImportItem{Trace: judge.Trace{ID: id, Output: fmt.Sprint("output ", o.r.IntN(8)/7), Domain: "general",
			Run: pick(o.r, "", "first", "second", "third"), Cluster: pick(o.r, "", "", "a", "b")}}
		for i := range o.r.IntN(3) {
			item.Trace.Judgments = append(item.Trace.Judgments, judge.Judgment{Judge: "tone", Raw: fmt.Sprint(o.r.IntN(3))})
			item.Plan = append(item.Plan, judge.Planned{Judge: "tone", PromptVersion: judge.Unknown, Engine: judge.EngineRecorded, Model: "tape", Judgment: i})
		}
		for range o.r.IntN(3) {
			p := judge.Planned{Judge: pick(o.r, "equivalence", "tone"), PromptVersion: pick(o.r, "v1", "v2"), Engine: judge.EngineOpenAI,
				Model: pick(o.r, "small", "large"), Judgment: judge.NoJudgment}
			if o.r.IntN(8) == 0 {
				p.RefusedField, p.Message = "output", "is too long"
			}
			item.Plan = append(item.Plan, p)
		}
		for range o.r.IntN(4) {
			item.Trace.Labels = append(item.Trace.Labels, o.label())
		}
		items = append(items, item)
	}
	_, err := o.ImportTraces(o.ctx, store.Operator("test"), "default", items)
	return err
}

func (o *office) label() judge.HumanLabel {
	at := time.Date(2026, 1, 1+o.r.IntN(40), 0, 0, 0, o.r.IntN(1e9), time.UTC)
	l := judge.HumanLabel{Judge: pick(o.r, "equivalence", "tone"), Reviewer: pick(o.r, "", "xia", "yan", "zoe"), At: &at,
		Adjudicated: o.r.IntN(12) == 0, Stratum: pick(o.r, "", "", "drawn")}
	if o.r.IntN(3) == 0 {
		l.Verdict = pick(o.r, judge.Pass, judge.Fail)
	} else if l.Judge == "tone" {
		l.Label = pick(o.r, "kind", "curt", "rude")
	} else {
		l.Label = pick(o.r, "same-thing", "other-thing", "undetermined")
	}
	if o.r.IntN(4) == 0 {
		blind := o.r.IntN(2) == 0
		l.Blind = &blind
	}
	if l.Stratum != "" {
		p := pick(o.r, 0.05, 0.1, 1)
		l.InclusionProbability = &p
	}
	return l
}

// blindly sets whether the next items are reviewed blind.
func (o *office) blindly() {
	o.t.Helper()
	p, err := o.ProjectNamed(o.ctx, "default")
	if err != nil {
		o.t.Error(err)
		return
	}
	p.Policy.Blind = pick(o.r, "always", "always", "never")
	p.Policy.Opinions = &judge.Opinions{Default: pick(o.r, 1, 1, 2, 3)}
	p.Policy.CannotJudge = pick(o.r, 1, 2)
	hour := 3600 // the office is slow
	p.Policy.UndoSeconds = &hour
	if _, err := o.SetPolicy(o.ctx, store.Operator("test"), "default", p.Policy, ""); err != nil && !errors.Is(err, store.ErrConflict) {
		o.t.Error(err)
	}
}

func (o *office) judgeSome() error {
	work, err := o.ClaimWork(o.ctx, judge.Claim{Worker: o.name, N: 1 + o.r.IntN(6), Lease: time.Hour})
	var done []judge.Finished
	for _, w := range work {
		if o.r.IntN(8) == 0 {
			continue // to be released or taken over
		}
		e := judge.Evaluation{Status: judge.Accepted, Verdict: judge.Pass, Label: pick(o.r, "", "same-thing")}
		switch o.r.IntN(5) {
		case 0, 1, 2:
			e = judge.Evaluation{Status: judge.InReview, Verdict: judge.Fail, Label: pick(o.r, "other-thing", "rude"),
				Reasons: []judge.Reason{{Code: pick(o.r, judge.ReasonCriticalError, judge.ReasonUncitedClaims)}}}
		case 3:
			e = judge.Evaluation{Status: judge.InReview, Reasons: []judge.Reason{{Code: pick(o.r, judge.ReasonInvalidOutput, judge.ReasonJudgeFailed)}}}
		}
		if n := len(w.EvaluationID); e.Verdict != "" && w.EvaluationID[n-1]%4 != 0 { // some have no score
			score := float64(w.EvaluationID[n-1]%11) / 10
			e.Score = &score
		}
		e.Judge, e.Model, e.PromptVersion, e.Engine = w.Planned.Judge, w.Planned.Model, w.Planned.PromptVersion, w.Planned.Engine
		f := judge.Finished{Work: w, Evaluation: e}
		if o.r.IntN(3) == 0 {
			f.Draw = &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.25}
		}
		done = append(done, f)
	}
	return errors.Join(err, o.FinishWork(o.ctx, done))
}

// item is a random item of the queue as the actor sees it.
func (o *office) item(a store.Actor, state string) (store.QueueItem, error) {
	items, _, err := o.ListQueue(o.ctx, a, store.QueueFilter{State: state, Limit: 500})
	if err == nil && len(items) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.QueueItem{}, err
	}
	return pick(o.r, items...), nil
}

func (o *office) claimOne() error {
	a := pick(o.r, o.people...)
	item, err := o.item(a, store.QueueFree)
	if err != nil {
		return err
	}
	_, err = o.ClaimReview(o.ctx, a, item.ReviewID)
	return err
}

func (o *office) answerOne() error {
	a := pick(o.r, o.people...)
	item, err := o.item(a, store.QueueMine)
	if err != nil {
		return err
	}
	_, err = o.CommitFirstAnswer(o.ctx, a, item.ReviewID, store.Answer{Verdict: pick(o.r, judge.Pass, judge.Fail)})
	return err
}

func (o *office) decideOne() error {
	a := pick(o.r, o.people...)
	item, err := o.item(a, store.QueueMine)
	if err != nil {
		return err
	}
	in := store.DecisionInput{Action: pick(o.r, store.Confirm, store.Override, store.CannotJudge, store.Escalate, store.Keep, store.Keep, store.Adopt),
		ReasonCode: "other", Comment: "c"}
	if in.Action == store.Override {
		in.Verdict = pick(o.r, judge.Pass, judge.Borderline, judge.Fail)
	}
	if in.Action == store.Escalate {
		in.To = pick(o.r, "", "", "lead", pick(o.r, o.people...).UserID)
	}
	d, err := o.Decide(o.ctx, a, item.ReviewID, in)
	if err == nil && o.r.IntN(3) == 0 { // a slip
		_, err = o.Undo(o.ctx, a, d.ReviewID)
	}
	return err
}

// review is a random one of all there are, decided or not.
func (o *office) review() (string, error) {
	ids := o.list(`SELECT id FROM reviews ORDER BY id`)
	if len(ids) == 0 {
		return "", store.ErrNotFound
	}
	return pick(o.r, ids...), nil
}

// agreeOne lets people answer one item one after another, mostly the same.
func (o *office) agreeOne() error {
	ids := o.list(`SELECT id FROM reviews WHERE state = 'open' AND opinions_required > 1 ORDER BY id`)
	if len(ids) == 0 {
		return store.ErrNotFound
	}
	id := pick(o.r, ids...)
	for _, i := range o.r.Perm(len(o.people)) {
		a := o.people[i]
		r, err := o.ClaimReview(o.ctx, a, id)
		if err != nil {
			return err
		}
		in := store.DecisionInput{Action: store.Override, Verdict: pick(o.r, judge.Pass, judge.Pass, judge.Pass, judge.Fail), ReasonCode: "other", Comment: "c"}
		if r.Sealed {
			if _, err := o.CommitFirstAnswer(o.ctx, a, id, store.Answer{Verdict: in.Verdict}); err != nil {
				return err
			}
		}
		if r.Sealed || r.First != nil {
			in.Action, in.Verdict = store.Keep, ""
		}
		if _, err := o.Decide(o.ctx, a, id, in); err != nil {
			return err
		}
		o.clock.add(time.Minute)
	}
	return nil
}

func (o *office) undoOne() error {
	ids := o.list(`SELECT review_id FROM decisions ORDER BY decided_at DESC, id DESC LIMIT 3`)
	if len(ids) == 0 {
		return store.ErrNotFound
	}
	_, err := o.Undo(o.ctx, pick(o.r, o.people...), pick(o.r, ids...))
	return err
}

func (o *office) addOne() error {
	ids := o.list(`SELECT id FROM reviews WHERE state = 'decided' ORDER BY id`)
	if len(ids) == 0 {
		return store.ErrNotFound
	}
	_, err := o.AddSecondOpinion(o.ctx, pick(o.r, o.people...), pick(o.r, ids...),
		store.DecisionInput{Action: store.Override, Verdict: pick(o.r, judge.Pass, judge.Fail), ReasonCode: "other", Comment: "c"})
	return err
}

func (o *office) raiseOne() error {
	id, err := o.review()
	if err != nil {
		return err
	}
	return o.RaiseOpinions(o.ctx, o.lea, id, 2)
}

func (o *office) reassignOne() error {
	id, err := o.review()
	if err != nil {
		return err
	}
	return o.Reassign(o.ctx, o.luis, id, pick(o.r, "", "lead", pick(o.r, o.people...).UserID))
}

// evaluation is a random one with a status.
func (o *office) evaluation(status judge.Status) (store.EvaluationRow, error) {
	rows, _, err := o.ListEvaluations(o.ctx, o.auditor, store.EvaluationFilter{Status: status, Limit: 500})
	if err == nil && len(rows) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.EvaluationRow{}, err
	}
	return pick(o.r, rows...), nil
}

func (o *office) reopenOne() error {
	e, err := o.evaluation(judge.Final)
	if err != nil || e.ReviewID == "" {
		return err
	}
	return o.Reopen(o.ctx, pick(o.r, o.people...), e.ReviewID, "why")
}

func (o *office) retryOne() error {
	e, err := o.evaluation(judge.InReview)
	if err != nil {
		return err
	}
	return o.RetryEvaluation(o.ctx, o.lea, e.ID)
}

// changeSome does to up to three items what a lead can do to many.
func (o *office) changeSome() error {
	var ids []string
	for range 1 + o.r.IntN(3) {
		item, err := o.item(o.lea, pick(o.r, store.QueueWaiting, store.QueueFree))
		if err != nil {
			return err
		}
		ids = append(ids, item.ReviewID)
	}
	c := store.QueueChange{Action: pick(o.r, store.ChangeAssign, store.ChangePriority, store.ChangeDue, store.ChangeBlind, store.ChangeBlind, store.ChangeRelease, store.ChangeWithdraw),
		Priority: o.r.IntN(4), Due: o.clock.Now().Add(time.Hour), Blind: o.r.IntN(2) == 0, Reason: "r", Release: o.r.IntN(2) == 0}
	if c.Action == store.ChangeAssign {
		c.User = pick(o.r, "", o.ann.UserID, o.luis.UserID)
	}
	_, err := o.ChangeQueue(o.ctx, pick(o.r, o.lea, o.luis), "default", ids, c)
	return err
}

func (o *office) requestOne() error {
	e, err := o.evaluation(pick(o.r, judge.Accepted, judge.Accepted, judge.Refused))
	if err != nil {
		return err
	}
	return o.RequestReview(o.ctx, o.luis, e.ID, "")
}

func (o *office) exposeOne() error {
	e, err := o.evaluation(judge.InReview)
	if err != nil {
		return err
	}
	return o.ExposeEvaluation(o.ctx, pick(o.r, o.lea, o.luis), e.ID)
}

func (o *office) releaseOne() error {
	a := pick(o.r, o.people...)
	item, err := o.item(a, store.QueueMine)
	if err != nil {
		return err
	}
	return o.ReleaseClaim(o.ctx, a, item.ReviewID)
}

func (o *office) takeOver() error {
	_, err := o.TakeOver(o.ctx, o.name)
	return err
}
