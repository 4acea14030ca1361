package store_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/labelplan"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// audited is a population of which the judge fails one in ten, which people have
// labelled, and passes the rest, with a random audit of a tenth, and of 45% near a
// boundary, where more of the work is bad. bad says what people will say of a trace,
// truth which share of what passes they would fail.
func audited(t *testing.T, s *store.Store, source *rand.Rand, model string, n int) (bad map[string]bool, truth float64) {
	t.Helper()
	bad = map[string]bool{}
	passes, missed, certain := 0.0, 0.0, 1.0
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: model, Judgment: judge.NoJudgment}
	storetest.Population(t, s, plan, model, n, func(i int) storetest.Judged {
		id := fmt.Sprintf("%s-%06d", model, i)
		if source.IntN(10) == 0 {
			verdict := judge.Fail
			if source.IntN(5) == 0 {
				verdict = judge.Pass
			}
			return storetest.Judged{Score: 0.2, Verdict: judge.Fail, People: []judge.HumanLabel{{Judge: deskJudge.Name, Verdict: verdict, Reviewer: "panel",
				Stratum: judge.StratumFlagged, InclusionProbability: &certain}}}
		}
		j, chance := storetest.Judged{Score: 0.95, Verdict: judge.Pass}, 0.1
		if source.IntN(3) == 0 {
			j.Score, chance = 0.82, 0.45
			bad[id] = source.IntN(100) < 55
		} else {
			bad[id] = source.IntN(100) < 10
		}
		if passes++; bad[id] {
			missed++
		}
		if source.Float64() < chance {
			j.Draw = &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: chance}
		}
		return j
	})
	return bad, missed / passes
}

// answer lets ann answer all that waits of a model, blind, as bad says.
func (d *desk) answer(t *testing.T, model string, bad map[string]bool) (n int) {
	t.Helper()
	for _, at := range d.list(`SELECT r.external_id || ' ' || r.id FROM reviews r WHERE r.state = 'open' AND r.external_id LIKE ? ORDER BY r.id`, model+"-%") {
		var trace, review string
		if _, err := fmt.Sscan(at, &trace, &review); err != nil {
			t.Fatal(err)
		}
		verdict := judge.Pass
		if bad[trace] {
			verdict = judge.Fail
		}
		d.opine(d.ann, review, verdict)
		n++
	}
	return n
}

// misses is what calibration says of the work that a model passes: how much of it
// people would fail, by weights.
func (d *desk) misses(t *testing.T, model string) (p calibration.Population, counts calibration.Counts) {
	t.Helper()
	all, err := d.CalibrationCounts(d.ctx, d.lea, "default", deskJudge.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.Model != model {
			continue
		}
		r, err := calibration.Compose(c)
		if err != nil || r.Population.Refused != "" {
			t.Fatal(err, r.Population.Refused)
		}
		return r.Population, c
	}
	t.Fatalf("nothing of model %s", model)
	return
}

func (d *desk) draw(t *testing.T, model string, n int, token string) store.LabelDraw {
	t.Helper()
	got, err := d.DrawLabels(d.ctx, d.lea, "default", store.DrawAsk{Judge: deskJudge.Name, Model: model, PromptVersion: deskJudge.PromptVersion, Verdict: judge.Pass, N: n, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestDrawOnTopOfAnAuditStaysUnbiased: routing's audit and two draws after it, through
// the whole way of a label. By their weights the labels stand for all that the judge
// passes, and the share of bad work among it is near the truth; the interval is as narrow
// as was promised before the draws. What is drawn differs each time, so bounds are four
// standard deviations; that there is no bias is shown by many rounds in package sampling.
func TestDrawOnTopOfAnAuditStaysUnbiased(t *testing.T) {
	d := openDesk(t)
	source := rand.New(rand.NewPCG(5, 78))
	const rounds = 2
	var off, stands, passes float64
	for round := range rounds {
		model := fmt.Sprint("m", round)
		bad, truth := audited(t, d.Store, source, model, 200)
		d.answer(t, model, bad)
		_, before := d.misses(t, model)
		passed := labelplan.Strata(before, func(judge.Verdict) float64 { return 0 })[0]
		passed.Before = passed.Drawn()
		promised, ok := passed.After(40, calibration.Level)
		if got := d.draw(t, model, 20, model+"-1"); got.N != 20 || got.Number != 2*round+1 || got.Frame <= 20 {
			t.Fatalf("the first draw is %+v", got)
		}
		d.draw(t, model, 20, model+"-2") // while the first waits
		d.answer(t, model, bad)
		r, after := d.misses(t, model)
		off += 1 - r.Weighted.NPV.Value - truth
		reached, _ := labelplan.Strata(after, func(judge.Verdict) float64 { return 0 })[0].Now(calibration.Level)
		if !ok || reached.Half() > 1.3*promised.Half() {
			t.Errorf("round %d: the interval is ± %.3f, promised was ± %.3f", round, reached.Half(), promised.Half())
		}
		stands += *r.ByVerdict[0].Represents
		passes += float64(r.ByVerdict[0].Evaluations)
		if !r.Weighted.Unequal || r.Weighted.CohenKappa.Undefined != "" {
			t.Errorf("weighted figures %+v", r.Weighted)
		}
	}
	if math.Abs(off/rounds) > 0.15 {
		t.Errorf("by weights the share is off by %.3f on average", off/rounds)
	}
	if ratio := stands / passes; ratio < 0.7 || ratio > 1.3 {
		t.Errorf("the labels stand for %.0f of %.0f evaluations", stands, passes)
	}
	d.holds()
}

// TestAnOpenDrawChangesNoFigure: who may not answer reads the same figures of all work
// after a draw as before it; with each label that comes in the new ones get their part.
func TestAnOpenDrawChangesNoFigure(t *testing.T) {
	d := openDesk(t)
	bad, _ := audited(t, d.Store, rand.New(rand.NewPCG(8, 81)), "m", 120)
	d.answer(t, "m", bad)
	read := func() calibration.Report {
		t.Helper()
		all, err := d.CalibrationCounts(d.ctx, d.auditor, "default", deskJudge.Name)
		if err != nil || len(all) != 1 {
			t.Fatal(err, len(all))
		}
		r, err := calibration.Compose(all[0])
		if err != nil || r.Population.Refused != "" {
			t.Fatal(err, r.Population.Refused)
		}
		return r
	}
	before := read().Population
	drawn := d.draw(t, "m", 20, "form")
	after := read()
	if p := after.Population; p.DrawnWaiting != 20 || p.PassRate.Corrected != before.PassRate.Corrected || p.PassRate.HumanOnly != before.PassRate.HumanOnly || p.PassRate.JudgeOnly != before.PassRate.JudgeOnly ||
		*p.ByVerdict[0].Represents != *before.ByVerdict[0].Represents || p.Weighted.WrongPasses != before.Weighted.WrongPasses {
		t.Errorf("a draw nobody answered changes figures:\n%+v\n%+v", before, p)
	}
	if !slices.Contains(after.Notes, "20 drawn labels wait; figures count them when they are in.") {
		t.Errorf("the notes are %q", after.Notes)
	}
	reviews := d.list(`SELECT id FROM reviews WHERE state = 'open' ORDER BY id`)
	for _, id := range reviews[:5] {
		d.opine(d.ann, id, judge.Pass)
	}
	p, fresh := read().Population, (1-drawn.Earlier)/4
	want := (1-fresh)**before.ByVerdict[0].Represents + fresh*float64(before.ByVerdict[0].Evaluations)
	if got := *p.ByVerdict[0].Represents; p.DrawnWaiting != 15 || math.Abs(got-want) > 1e-6*want {
		t.Errorf("with 5 of 20 in the labels stand for %.3f, want %.3f; %d wait", got, want, p.DrawnWaiting)
	}
	if lead, _ := d.misses(t, "m"); !strings.Contains(lead.PassRate.Text, "leave out 15 evaluations that wait blind") {
		t.Errorf("who may answer reads %q", lead.PassRate.Text)
	}
	d.holds()
}

// TestDrawSendsResultsToPeople: what is drawn waits for a person, blind, its run says so,
// nobody who has seen it counts as blind, and a form that is sent twice draws once.
func TestDrawSendsResultsToPeople(t *testing.T) {
	d := openDesk(t)
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	storetest.Population(t, d.Store, plan, "p", 12, func(i int) storetest.Judged {
		j := storetest.Judged{Score: 0.9, Verdict: judge.Pass}
		if i < 3 { // labelled already
			j.People = []judge.HumanLabel{{Judge: deskJudge.Name, Verdict: judge.Pass, Reviewer: "panel"}}
		}
		if i == 3 {
			j.Draw = &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05}
		}
		return j
	})
	for _, id := range d.list(`SELECT id FROM evaluations`) {
		d.Look(d.ben, id, store.SawEvaluation, false)
	}
	d.must(d.WriteLooks(d.ctx))
	ask := store.DrawAsk{Judge: deskJudge.Name, Model: "m", PromptVersion: deskJudge.PromptVersion, Verdict: judge.Pass, N: 5, Token: "form 1"}
	for _, a := range []store.Actor{d.ann, d.auditor} {
		_, err := d.DrawLabels(d.ctx, a, "default", ask)
		wantErr(t, "a draw by "+a.Name, err, store.ErrForbidden)
	}
	for _, bad := range []store.DrawAsk{{Judge: "x", N: 0, Verdict: judge.Pass, Token: "t"}, {Judge: "x", N: 2001, Verdict: judge.Pass, Token: "t"}, {Judge: "x", N: 1, Verdict: "good", Token: "t"}, {Judge: "x", N: 1, Verdict: judge.Pass}} {
		_, err := d.DrawLabels(d.ctx, d.lea, "default", bad)
		wantErr(t, fmt.Sprintf("a draw of %+v", bad), err, store.ErrInvalid)
	}
	first, err := d.DrawLabels(d.ctx, d.lea, "default", ask)
	if err != nil || first.Frame != 8 || first.N != 5 || first.Again {
		t.Fatalf("the draw is %+v, %v", first, err)
	}
	again, err := d.DrawLabels(d.ctx, d.lea, "default", ask)
	if err != nil || !again.Again || again.ID != first.ID {
		t.Errorf("the form sent twice: %+v, %v", again, err)
	}
	if n := d.number(`SELECT count(*) FROM reviews r JOIN drawn_labels x ON x.evaluation_id = r.evaluation_id JOIN evaluations e ON e.id = r.evaluation_id
WHERE r.blind AND r.state = 'open' AND r.lead_reason = 'random_audit' AND r.stratum = 'random_audit' AND e.status = 'in_review' AND e.result_verdict = '' AND e.result_source = ''`); n != 5 {
		t.Errorf("%d drawn items wait blind and without a result, want 5", n)
	}
	if n := d.number(`SELECT count(*) FROM exposures x JOIN drawn_labels l ON l.evaluation_id = x.evaluation_id WHERE x.user_id = ?`, d.ben.UserID); n != 5 {
		t.Errorf("ben has seen %d of them by the record, want 5", n)
	}
	d.holds()
	rest := ask
	rest.N, rest.Token = 100, "form 2"
	all, err := d.DrawLabels(d.ctx, d.luis, "default", rest)
	if err != nil || all.Frame != 3 || all.N != 3 || all.Number != 2 {
		t.Errorf("a draw of more than there is: %+v, %v", all, err)
	}
	rest.Token = "form 3"
	_, err = d.DrawLabels(d.ctx, d.lea, "default", rest)
	wantErr(t, "a draw from nothing", err, store.ErrConflict)
	draws, err := d.LabelDraws(d.ctx, d.auditor, "default", deskJudge.Name)
	if err != nil || len(draws) != 2 || draws[0].ID != all.ID || draws[1].Waiting != 5 || draws[1].By != "lea" {
		t.Errorf("the draws are %+v, %v", draws, err)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'labels.drawn' AND allowed`); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
	event := d.text(`SELECT data FROM audit_events WHERE action = 'labels.drawn' AND allowed ORDER BY seq LIMIT 1`)
	for _, want := range []string{`"frame":8`, `"n":5`, `"seed":"` + first.Seed, `"ids_sha256":"`} {
		if !strings.Contains(event, want) {
			t.Errorf("the event does not say %s: %s", want, event)
		}
	}
	if nonce := d.text(`SELECT nonce FROM label_draws ORDER BY number LIMIT 1`); strings.Contains(event, nonce) {
		t.Error("the event tells the nonce")
	}
	d.holds()
}

// TestDrawsAtOnce: leads who draw at the same time, and forms sent twice at once, draw
// nothing twice, and the numbers have no gap.
func TestDrawsAtOnce(t *testing.T) {
	d := openDesk(t)
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	storetest.Population(t, d.Store, plan, "p", 60, func(int) storetest.Judged { return storetest.Judged{Score: 0.9, Verdict: judge.Pass} })
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			ask := store.DrawAsk{Judge: deskJudge.Name, Model: "m", PromptVersion: deskJudge.PromptVersion, Verdict: judge.Pass, N: 6, Token: fmt.Sprint("form ", i/2)}
			if got, err := d.DrawLabels(d.ctx, d.lea, "default", ask); err != nil || got.N != 6 {
				t.Errorf("form %d drew %d, %v", i/2, got.N, err)
			}
		})
	}
	wait.Wait()
	if n := d.number(`SELECT count(DISTINCT evaluation_id) FROM drawn_labels`); n != 24 || d.number(`SELECT count(*) FROM drawn_labels`) != 24 || d.number(`SELECT max(number) FROM label_draws`) != 4 {
		t.Errorf("%d were drawn, want 24 by 4 draws", n)
	}
	d.holds()
}

// TestDrawsAreHeldToTheChain: a draw that was changed, removed or slipped in behind the
// program is found, and the tables refuse it while their triggers stand.
func TestDrawsAreHeldToTheChain(t *testing.T) {
	d := openDesk(t)
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	storetest.Population(t, d.Store, plan, "p", 10, func(int) storetest.Judged { return storetest.Judged{Score: 0.9, Verdict: judge.Pass} })
	d.draw(t, "m", 4, "form")
	for _, query := range []string{`UPDATE label_draws SET earlier = 1`, `DELETE FROM label_draws`, `UPDATE drawn_labels SET draw_id = draw_id`, `DELETE FROM drawn_labels`} {
		if _, err := d.raw.Exec(query); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v, want it refused as append-only", query, err)
		}
	}
	if _, err := d.raw.Exec(`INSERT INTO drawn_labels (draw_id, evaluation_id) SELECT (SELECT max(id) FROM label_draws), min(e.id) FROM evaluations e WHERE e.status = 'accepted'`); err != nil {
		t.Fatal(err)
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || !strings.Contains(v.Problem, "or what it drew, was changed") {
		t.Errorf("an item that was slipped into a draw: %q, %v", v.Problem, err)
	}
}
