package store_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

// kind is a number of traces with the same recorded verdict and human labels.
type kind struct {
	n      int
	model  string
	says   string // the judge's label
	labels map[string]string
	panel  string // the adjudicated label, if any
}

func (d *desk) record(j judge.Judge, kinds []kind) {
	d.t.Helper()
	if err := d.SaveJudges(d.ctx, store.Operator("test"), "default", []judge.Judge{j}); err != nil {
		d.t.Fatal(err)
	}
	var items []store.ImportItem
	for i, k := range kinds {
		for n := range k.n {
			item := store.ImportItem{
				Trace: judge.Trace{ID: fmt.Sprintf("%d-%d", i, n), Output: "o", Domain: "general",
					Judgments: []judge.Judgment{{Judge: j.Name, Model: k.model, Raw: k.says}}},
				Plan: []judge.Planned{{Judge: j.Name, PromptVersion: j.PromptVersion, Engine: judge.EngineRecorded, Model: k.model}},
			}
			for who, l := range k.labels {
				item.Trace.Labels = append(item.Trace.Labels, judge.HumanLabel{Judge: j.Name, Reviewer: who, Label: l})
			}
			if k.panel != "" {
				item.Trace.Labels = append(item.Trace.Labels, judge.HumanLabel{Judge: j.Name, Reviewer: "panel", Label: k.panel, Adjudicated: true})
			}
			items = append(items, item)
		}
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", items); err != nil {
		d.t.Fatal(err)
	}
	for {
		work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 500, Lease: time.Minute})
		if err != nil {
			d.t.Fatal(err)
		}
		if len(work) == 0 {
			return
		}
		var done []judge.Finished
		for _, w := range work {
			l, ok := j.LabelNamed(w.Trace.Judgments[0].Raw)
			if !ok {
				d.t.Fatalf("no label %q", w.Trace.Judgments[0].Raw)
			}
			done = append(done, judge.Finished{Work: w, Evaluation: judge.Evaluation{Status: judge.Accepted, Verdict: l.Verdict, Label: l.Name}})
		}
		if err := d.FinishWork(d.ctx, done); err != nil {
			d.t.Fatal(err)
		}
	}
}

var yesNo = judge.Judge{Name: "answer-equivalence", PromptVersion: "v1", Source: []byte("x"), Labels: []judge.Label{
	{Name: "Yes", Verdict: judge.Pass}, {Name: "No", Verdict: judge.Fail}, {Name: "undetermined", Verdict: judge.Borderline, Abstain: true}}}

// The joint counts of GPT-4 and the panel are those of 991 open-domain answers
// of Kamalloo et al. 2023: agreement .8463, kappa .6908. The two annotators
// agree on 851 of 987, as there.
func TestCalibrationFiguresOfAPublishedSet(t *testing.T) {
	d := openDesk(t)
	two := func(a, b string) map[string]string { return map[string]string{"annotator1": a, "annotator2": b} }
	d.record(yesNo, []kind{
		// The panel follows the first annotator; the second differs 136 times
		// and is missing four times.
		{n: 393, model: "gpt-4", says: "Yes", labels: two("Yes", "Yes"), panel: "Yes"},
		{n: 68, model: "gpt-4", says: "Yes", labels: two("Yes", "No"), panel: "Yes"},
		{n: 96, model: "gpt-4", says: "No", labels: two("Yes", "Yes"), panel: "Yes"},
		{n: 56, model: "gpt-4", says: "Yes", labels: two("No", "No"), panel: "No"},
		{n: 306, model: "gpt-4", says: "No", labels: two("No", "No"), panel: "No"},
		{n: 68, model: "gpt-4", says: "No", labels: two("No", "Yes"), panel: "No"},
		{n: 2, model: "gpt-4", says: "No", labels: map[string]string{"annotator1": "No"}, panel: "No"},
		{n: 2, model: "gpt-4", says: "undetermined", labels: two("No", "undetermined"), panel: "No"},
	})
	counts, err := d.CalibrationCounts(d.ctx, d.auditor, "default", "answer-equivalence")
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != 1 || counts[0].Model != "gpt-4" || counts[0].Items != 991 || counts[0].Clusters != 991 {
		t.Fatalf("counts %+v", counts)
	}
	if diff := cmp.Diff([]calibration.StratumCount{{Stratum: judge.StratumImported, N: 991}}, counts[0].Strata); diff != "" {
		t.Errorf("strata (-want +got):\n%s", diff)
	}
	report, err := calibration.Compose(counts[0])
	if err != nil {
		t.Fatal(err)
	}
	if report.N != 989 || report.NAbstained != 2 || math.Abs(report.Agreement.Value-0.8463) > 5e-5 || math.Abs(report.CohenKappa.Value-0.6908) > 5e-5 {
		t.Errorf("n %d, abstained %d, agreement %.4f, kappa %.4f; want 989, 2, .8463, .6908",
			report.N, report.NAbstained, report.Agreement.Value, report.CohenKappa.Value)
	}
	if h := report.HumanHuman; h == nil || h.N != 987 || math.Abs(h.Agreement.Value-0.8622) > 5e-5 {
		t.Errorf("the two annotators: %+v; want n 987, agreement .8622", h)
	}
	if _, err := d.CalibrationCounts(d.ctx, d.ann, "default", ""); err == nil {
		t.Error("a reviewer may read calibration")
	}
	_, err = d.CalibrationCounts(d.ctx, d.auditor, "default", "nothing")
	wantErr(t, "unknown judge", err, store.ErrNotFound)
	all, err := d.CalibrationCounts(d.ctx, d.auditor, "default", "")
	if err != nil || len(all) != 1 {
		t.Errorf("all judges: %d counts, %v; want 1", len(all), err)
	}
}

func TestCalibrationTakesFirstAnswersAndKeepsVisibleApart(t *testing.T) {
	d := openDesk(t)
	audit := &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05}
	reviews := d.put(judged{id: "revised", cluster: "c", draw: audit}, judged{id: "kept", cluster: "c"}, judged{id: "shown"}, judged{id: "unsure"}, judged{id: "waits"})
	adopt, keep := store.DecisionInput{Action: store.Adopt}, store.DecisionInput{Action: store.Keep}
	d.claim(d.ann, reviews["revised"])
	d.first(d.ann, reviews["revised"], judge.Pass)
	d.decide(d.ann, reviews["revised"], adopt)
	d.clock.add(time.Hour)
	d.claim(d.ann, reviews["kept"])
	d.first(d.ann, reviews["kept"], judge.Fail)
	d.decide(d.ann, reviews["kept"], keep)
	d.claim(d.lea, reviews["shown"])
	if err := d.ExposeEvaluation(d.ctx, d.lea, d.text(`SELECT evaluation_id FROM reviews WHERE id = ?`, reviews["shown"])); err != nil {
		t.Fatal(err)
	}
	d.decide(d.lea, reviews["shown"], store.DecisionInput{Action: store.Confirm})
	d.claim(d.ben, reviews["unsure"])
	d.decide(d.ben, reviews["unsure"], store.DecisionInput{Action: store.CannotJudge, Comment: "?"})

	// A lead may still have to settle "unsure" blind: it is not counted for her.
	if own, err := d.CalibrationCounts(d.ctx, d.lea, "", "equivalence"); err != nil || len(own) != 1 || own[0].Sealed != 1 || own[0].Items != 2 || own[0].Waiting != 2 {
		t.Errorf("counts for a lead: %+v, error %v, want two items, one sealed and two waiting", own, err)
	}
	counts, err := d.CalibrationCounts(d.ctx, store.Operator("test"), "", "equivalence")
	if err != nil || len(counts) != 1 {
		t.Fatalf("%d counts, %v", len(counts), err)
	}
	said := calibration.Answer{Label: "other-thing", Verdict: judge.Fail}
	want := calibration.Counts{
		Judge: "equivalence", Model: judge.EngineRules, PromptVersion: "v1", Labels: deskJudge.Labels,
		Cells: []calibration.Cell{
			{Human: calibration.Answer{Abstained: true}, Judge: said, N: 1, Stratum: judge.StratumFlagged, InclusionProbability: 1},
			{Human: calibration.Answer{Verdict: judge.Fail}, Judge: said, N: 1, Stratum: judge.StratumFlagged, InclusionProbability: 1},
			{Human: calibration.Answer{Verdict: judge.Pass}, Judge: said, N: 1, Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05},
			{Human: said, Judge: said, N: 1, Visible: true, Stratum: judge.StratumFlagged, InclusionProbability: 1},
		},
		Items: 3, Clusters: 2,
		Strata: []calibration.StratumCount{{Stratum: judge.StratumFlagged, N: 2, InclusionProbability: 1}, {Stratum: judge.StratumRandomAudit, N: 1, InclusionProbability: 0.05}},
		Judged: []calibration.JudgedCount{{Verdict: judge.Fail, Label: "other-thing", N: 5, Reached: 5}},
		First:  d.clock.Now().Add(-time.Hour), Last: d.clock.Now(),
	}
	sortCells := cmp.Transformer("cells", func(cells []calibration.Cell) map[calibration.Cell]bool {
		m := map[calibration.Cell]bool{}
		for _, c := range cells {
			m[c] = true
		}
		return m
	})
	sliced := map[string]int{}
	for _, s := range counts[0].Slices {
		for _, c := range s.Cells {
			sliced[s.Dimension+" "+s.Value] += c.N
		}
	}
	if diff := cmp.Diff(map[string]int{"domain general": 3, "stakes standard": 3, "band 3": 3, "week 2931": 3,
		"reason critical_error": 3, "reason untrusted_judge": 3}, sliced); diff != "" {
		t.Errorf("labels by slice (-want +got):\n%s", diff)
	}
	counts[0].Slices = nil
	if diff := cmp.Diff(want, counts[0], sortCells); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

// Pairs are of people, blind, newest answers; a label that was seen first, an
// adjudicated one and an abstention pair with nobody.
func TestHumanPairs(t *testing.T) {
	d := openDesk(t)
	no := false
	early, late := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	l := func(who, name string, at *time.Time) judge.HumanLabel {
		return judge.HumanLabel{Judge: "equivalence", Reviewer: who, Label: name, At: at}
	}
	shown := l("zoe", "same-thing", &early)
	shown.Blind = &no
	unsure := l("yan", "undetermined", &early)
	id := d.put(judged{id: "t", labels: []judge.HumanLabel{
		l("xia", "same-thing", &early), l("xia", "other-thing", &late), shown, unsure,
	}})["t"]
	d.claim(d.ann, id)
	d.first(d.ann, id, judge.Pass)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Adopt})
	counts, err := d.CalibrationCounts(d.ctx, d.auditor, "", "equivalence")
	if err != nil {
		t.Fatal(err)
	}
	same, other := calibration.Answer{Label: "same-thing", Verdict: judge.Pass}, calibration.Answer{Label: "other-thing", Verdict: judge.Fail}
	want := []calibration.PairCounts{
		{A: "ann", B: "xia", Cells: []calibration.PairCell{{A: calibration.Answer{Verdict: judge.Pass}, B: other, N: 1}}},
		{A: "ann", B: "zoe", Cells: []calibration.PairCell{{A: calibration.Answer{Verdict: judge.Pass}, B: same, N: 1, Visible: true}}},
		{A: "xia", B: "zoe", Cells: []calibration.PairCell{{A: other, B: same, N: 1, Visible: true}}},
	}
	if diff := cmp.Diff(want, counts[0].HumanPairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
}

// What people and the judge differ about, the gravest first; what waits blind and
// what was decided with the verdict in view is not among it.
func TestDifferences(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "same"}, judged{id: "passed by people"}, judged{id: "between"}, judged{id: "shown"}, judged{id: "waits"})
	for id, v := range map[string]judge.Verdict{"same": judge.Fail, "passed by people": judge.Pass, "between": judge.Borderline} {
		d.claim(d.ann, reviews[id])
		d.first(d.ann, reviews[id], v)
		d.decide(d.ann, reviews[id], store.DecisionInput{Action: store.Keep, ReasonCode: "other", Comment: "c"})
	}
	d.claim(d.lea, reviews["shown"])
	if err := d.ExposeEvaluation(d.ctx, d.lea, d.text(`SELECT evaluation_id FROM reviews WHERE id = ?`, reviews["shown"])); err != nil {
		t.Fatal(err)
	}
	d.decide(d.lea, reviews["shown"], store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "other", Comment: "c"})
	read := func(limit int) (ids []string) {
		found, err := d.Differences(d.ctx, d.auditor, "", "equivalence", judge.EngineRules, "v1", limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			ids = append(ids, f.TraceID)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"passed by people", "between"}, read(10)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"passed by people"}, read(1)); diff != "" {
		t.Errorf("the first (-want +got):\n%s", diff)
	}
	if found, err := d.Differences(d.ctx, d.auditor, "", "equivalence", "another", "v1", 5); err != nil || len(found) != 0 {
		t.Errorf("of another model: %v, %v", found, err)
	}
	_, err := d.Differences(d.ctx, d.ann, "", "equivalence", judge.EngineRules, "v1", 5)
	wantErr(t, "a reviewer", err, store.ErrForbidden)
	_, err = d.Differences(d.ctx, d.auditor, "", "equivalence", judge.EngineRules, "v1", 0)
	wantErr(t, "no limit", err, store.ErrInvalid)
}
