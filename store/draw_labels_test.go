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
// labelled half of, and passes the rest, with a random audit of a tenth, and of 45% near a
// boundary, where more of the work is bad. bad says what people will say of a trace,
// truth which share of what passes they would fail.
func audited(t *testing.T, s *store.Store, source *rand.Rand, model string, n int) (bad map[string]bool, truth float64) {
	t.Helper()
	bad = map[string]bool{}
	passes, missed, half := 0.0, 0.0, 0.5
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: model, Judgment: judge.NoJudgment}
	storetest.Population(t, s, plan, model, n, func(i int) storetest.Judged {
		id := fmt.Sprintf("%s-%06d", model, i)
		if source.IntN(10) == 0 {
			verdict := judge.Fail
			if source.IntN(5) == 0 {
				verdict = judge.Pass
			}
			if bad[id] = verdict == judge.Fail; source.IntN(2) == 0 {
				return storetest.Judged{Score: 0.2, Verdict: judge.Fail}
			}
			return storetest.Judged{Score: 0.2, Verdict: judge.Fail, People: []judge.HumanLabel{{Judge: deskJudge.Name, Verdict: verdict, Reviewer: "panel",
				Stratum: judge.StratumFlagged, InclusionProbability: &half}}}
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

func (d *desk) draw(t *testing.T, model string, passed, failed int, token string) store.LabelDraw {
	t.Helper()
	got, err := d.DrawLabels(d.ctx, d.lea, "default", store.DrawAsk{Judge: deskJudge.Name, Model: model, PromptVersion: deskJudge.PromptVersion,
		Take: map[judge.Verdict]int{judge.Pass: passed, judge.Fail: failed}, Token: token})
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
		if got := d.draw(t, model, 20, 2, model+"-1"); got.N != 22 || got.Number != 4*round+1 || got.Frame <= 22 {
			t.Fatalf("the first draw is %+v", got)
		}
		d.draw(t, model, 20, 2, model+"-2") // while the first waits
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
	d.draw(t, "m", 20, 2, "form")
	draws, err := d.LabelDraws(d.ctx, d.auditor, "default", deskJudge.Name)
	if err != nil || len(draws) != 1 {
		t.Fatal(draws, err)
	}
	of := draws[0].Parts[slices.IndexFunc(draws[0].Parts, func(p store.DrawnPart) bool { return p.Verdict == judge.Pass })]
	after := read()
	if p := after.Population; p.DrawnWaiting != 22 || p.PassRate.Corrected != before.PassRate.Corrected || p.PassRate.HumanOnly != before.PassRate.HumanOnly || p.PassRate.JudgeOnly != before.PassRate.JudgeOnly ||
		*p.ByVerdict[0].Represents != *before.ByVerdict[0].Represents || p.Weighted.WrongPasses != before.Weighted.WrongPasses {
		t.Errorf("a draw nobody answered changes figures:\n%+v\n%+v", before, p)
	}
	if !slices.Contains(after.Notes, "22 drawn labels wait; figures count them when they are in.") {
		t.Errorf("the notes are %q", after.Notes)
	}
	reviews := d.list(`SELECT r.id FROM reviews r JOIN evaluations e ON e.id = r.evaluation_id WHERE r.state = 'open' AND e.verdict = 'pass' ORDER BY r.id`)
	for _, id := range reviews[:5] {
		d.opine(d.ann, id, judge.Pass)
	}
	p, fresh := read().Population, (1-of.Earlier)/4
	want := (1-fresh)**before.ByVerdict[0].Represents + fresh*float64(before.ByVerdict[0].Evaluations)
	if got := *p.ByVerdict[0].Represents; p.DrawnWaiting != 17 || math.Abs(got-want) > 1e-6*want {
		t.Errorf("with 5 of 20 in the labels stand for %.3f, want %.3f; %d wait", got, want, p.DrawnWaiting)
	}
	if lead, _ := d.misses(t, "m"); !strings.Contains(lead.PassRate.Text, "leave out 17 evaluations that wait blind") {
		t.Errorf("who may answer reads %q", lead.PassRate.Text)
	}
	d.holds()
}

// mixed are n evaluations of deskJudge by model m in run "night", of which every third
// is a fail.
func (d *desk) mixed(t *testing.T, n int) {
	t.Helper()
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	storetest.Population(t, d.Store, plan, "p", n, func(i int) storetest.Judged {
		if i%3 == 0 {
			return storetest.Judged{Score: 0.1, Verdict: judge.Fail, Run: "night"}
		}
		return storetest.Judged{Score: 0.9, Verdict: judge.Pass, Run: "night"}
	})
}

func askFor(passed, failed int, token string) store.DrawAsk {
	return store.DrawAsk{Judge: deskJudge.Name, Model: "m", PromptVersion: deskJudge.PromptVersion, Take: map[judge.Verdict]int{judge.Pass: passed, judge.Fail: failed}, Token: token}
}

// TestDrawSendsResultsToPeople: what is drawn waits for a person, blind, its run says so,
// nobody who has seen it counts as blind, and a form that is sent twice draws once.
func TestDrawSendsResultsToPeople(t *testing.T) {
	d := openDesk(t)
	d.mixed(t, 30)
	for _, id := range d.list(`SELECT id FROM evaluations`) {
		d.Look(d.ben, id, store.SawByAPI, false) // and nothing writes it before the draw
	}
	for _, a := range []store.Actor{d.ann, d.auditor} {
		_, err := d.DrawLabels(d.ctx, a, "default", askFor(8, 4, "form 1"))
		wantErr(t, "a draw by "+a.Name, err, store.ErrForbidden)
	}
	none, odd := askFor(5, 5, ""), askFor(5, 5, "t")
	odd.Take["good"] = 1
	for _, bad := range []store.DrawAsk{askFor(0, 0, "t"), askFor(2001, 1, "t"), askFor(-1, 11, "t"), askFor(10, 0, "t"), askFor(0, 10, "t"), askFor(5, 4, "t"), none, odd, askFor(5, 5, "a/b")} {
		_, err := d.DrawLabels(d.ctx, d.lea, "default", bad)
		wantErr(t, fmt.Sprintf("a draw of %+v", bad), err, store.ErrInvalid)
	}
	first, err := d.DrawLabels(d.ctx, d.lea, "default", askFor(8, 4, "form 1"))
	if err != nil || first.Frame != 30 || first.N != 12 || first.Again || first.Visible || first.Parts != nil {
		t.Fatalf("the draw is %+v, %v", first, err)
	}
	again, err := d.DrawLabels(d.ctx, d.luis, "default", askFor(9, 9, "form 1"))
	if err != nil || !again.Again || again.Number != first.Number || again.N != 12 || again.By != "lea" || again.Parts != nil {
		t.Errorf("the form sent twice: %+v, %v", again, err)
	}
	if n := d.number(`SELECT count(*) FROM reviews r JOIN drawn_labels x ON x.evaluation_id = r.evaluation_id JOIN evaluations e ON e.id = r.evaluation_id
WHERE r.blind AND r.state = 'open' AND r.lead_reason = 'random_audit' AND r.stratum = 'random_audit' AND e.status = 'in_review' AND e.result_verdict = '' AND e.result_source = ''`); n != 12 {
		t.Errorf("%d drawn items wait blind and without a result, want 12", n)
	}
	if n := d.number(`SELECT count(*) FROM exposures x JOIN drawn_labels l ON l.evaluation_id = x.evaluation_id WHERE x.user_id = ?`, d.ben.UserID); n != 12 {
		t.Errorf("ben has seen %d of them by the record, want 12", n)
	}
	d.holds()
}

// TestDrawTellsNoVerdict: while an item of a draw waits blind, who may be asked to answer
// it is told the total alone, by the list of draws and by the event; an auditor is told all,
// and so is everybody afterwards. The chain holds what is not told.
func TestDrawTellsNoVerdict(t *testing.T) {
	d := openDesk(t)
	d.mixed(t, 30)
	first, err := d.DrawLabels(d.ctx, d.lea, "default", askFor(8, 4, "form 1"))
	d.must(err)
	list := func(a store.Actor) store.LabelDraw {
		t.Helper()
		draws, err := d.LabelDraws(d.ctx, a, "default", deskJudge.Name)
		if err != nil || len(draws) != 1 {
			t.Fatalf("the draws are %+v, %v", draws, err)
		}
		return draws[0]
	}
	if got := list(d.lea); got.Parts != nil || got.N != 12 || got.Frame != 30 || got.Waiting != 12 || got.By != "lea" || got.Number != first.Number {
		t.Errorf("a lead is told %+v", got)
	}
	parts := list(d.auditor).Parts
	if len(parts) != 2 || parts[0].Verdict != judge.Pass || parts[0].N != 8 || parts[1].N != 4 || parts[1].Frame != 10 {
		t.Errorf("an auditor is told %+v", parts)
	}
	event := d.text(`SELECT data FROM audit_events WHERE action = 'labels.drawn' AND allowed`)
	for _, not := range []string{"pass", "fail", "frame", "earlier", d.text(`SELECT max(nonce) FROM label_draws`), d.text(`SELECT min(ids_sha256) FROM label_draws`)} {
		if strings.Contains(event, not) {
			t.Errorf("the event tells %q: %s", not, event)
		}
	}
	if !strings.Contains(event, `"n":12`) || !strings.Contains(event, first.Seed) {
		t.Errorf("the event does not say how many: %s", event)
	}
	fails := strings.Join(d.list(`SELECT CASE WHEN e.verdict = 'fail' THEN 'f' ELSE 'p' END FROM reviews r JOIN evaluations e ON e.id = r.evaluation_id ORDER BY r.opened_at, r.id`), "")
	if fails == "ppppppppffff" || fails == "ffffpppppppp" {
		t.Errorf("the queue is in the order of verdicts: %s", fails)
	}
	d.answer(t, "p", nil)
	if got := list(d.lea); len(got.Parts) != 2 || got.Waiting != 0 {
		t.Errorf("when all is answered a lead is told %+v", got)
	}
	d.holds()
}

// TestRunsTellNoDrawnVerdict: to who may be asked to answer, the counts of a run are the
// same before and after a draw, so that none tells what the judge said of an item; an
// auditor sees what waits. When people have answered, all see the same.
func TestRunsTellNoDrawnVerdict(t *testing.T) {
	d := openDesk(t)
	d.mixed(t, 30)
	counts := func(a store.Actor) string {
		t.Helper()
		r, err := d.Run(d.ctx, a, "default", "night")
		d.must(err)
		all, err := d.Runs(d.ctx, a, "default", 0)
		d.must(err)
		judges, err := d.RunJudges(d.ctx, a, "default", "night")
		d.must(err)
		j := judges[0]
		if len(all) != 1 || all[0].Pass != r.Pass || all[0].Waiting != r.Waiting || j.Pass != r.Pass || j.Fail != r.Fail || j.Waiting != r.Waiting {
			t.Errorf("the list, the run and its judge differ: %+v, %+v, %+v", all, r, j)
		}
		return fmt.Sprint(r.Pass, r.Borderline, r.Fail, r.Waiting, r.Evaluations)
	}
	_, err := d.DrawLabels(d.ctx, d.lea, "default", askFor(8, 4, "form 1"))
	d.must(err)
	for _, c := range []struct {
		who  store.Actor
		want string
	}{{d.lea, "20 0 10 0 30"}, {d.ann, "20 0 10 0 30"}, {d.auditor, "12 0 6 12 30"}} {
		if got := counts(c.who); got != c.want {
			t.Errorf("%s reads %s, want %s", c.who.Name, got, c.want)
		}
	}
	d.answer(t, "p", nil)
	if lead, auditor := counts(d.lea), counts(d.auditor); lead != auditor || lead != "24 0 6 0 30" {
		t.Errorf("when all is answered a lead reads %s and an auditor %s", lead, auditor)
	}
}

// TestDrawOfOneVerdictIsVisible: where only one verdict has anything left, or too few
// items are, whoever answers could know what the judge said: the labels count so, and
// only who accepts that draws.
func TestDrawOfOneVerdictIsVisible(t *testing.T) {
	d := openDesk(t)
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	storetest.Population(t, d.Store, plan, "p", 12, func(i int) storetest.Judged { return storetest.Judged{Score: 0.9, Verdict: judge.Pass} })
	_, err := d.DrawLabels(d.ctx, d.lea, "default", askFor(11, 3, "form 1"))
	wantErr(t, "a draw that would not be blind", err, store.ErrConflict)
	ask := askFor(11, 3, "form 1")
	ask.Visible = true
	got, err := d.DrawLabels(d.ctx, d.lea, "default", ask)
	if err != nil || !got.Visible || got.N != 11 || len(got.Parts) != 1 {
		t.Errorf("the draw is %+v, %v", got, err)
	}
	d.holds()
	d.answer(t, "p", nil)
	if n := d.number(`SELECT count(*) FROM labels WHERE verdict_visible`); n != 11 {
		t.Errorf("%d labels are visible, want 11", n)
	}
	ask.Token = "form 2" // one is left, fewer than a draw takes otherwise
	if got, err = d.DrawLabels(d.ctx, d.luis, "default", ask); err != nil || got.N != 1 || !got.Visible {
		t.Errorf("a draw of more than there is: %+v, %v", got, err)
	}
	ask.Token = "form 3"
	_, err = d.DrawLabels(d.ctx, d.lea, "default", ask)
	wantErr(t, "a draw from nothing", err, store.ErrConflict)
	d.holds()
}

// TestDrawsAtOnce: leads who draw at the same time, and forms sent twice at once, draw
// nothing twice, and the numbers have no gap.
func TestDrawsAtOnce(t *testing.T) {
	d := openDesk(t)
	d.mixed(t, 90)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if got, err := d.DrawLabels(d.ctx, d.lea, "default", askFor(7, 3, fmt.Sprint("form ", i/2))); err != nil || got.N != 10 {
				t.Errorf("form %d drew %d, %v", i/2, got.N, err)
			}
		})
	}
	wait.Wait()
	if n := d.number(`SELECT count(DISTINCT evaluation_id) FROM drawn_labels`); n != 40 || d.number(`SELECT count(*) FROM drawn_labels`) != 40 || d.number(`SELECT max(number) FROM label_draws`) != 8 {
		t.Errorf("%d were drawn, want 40 by 4 draws", n)
	}
	d.holds()
}

// TestDrawsAreHeldToTheChain: a draw that was changed, removed or slipped in behind the
// program is found, and the tables refuse it while their triggers stand.
func TestDrawsAreHeldToTheChain(t *testing.T) {
	d := openDesk(t)
	d.mixed(t, 18)
	d.draw(t, "m", 8, 4, "form")
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
