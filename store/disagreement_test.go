package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// byModels imports one trace that each of the models judges.
func byModels(t *testing.T, s *store.Store, models ...string) []judge.Work {
	t.Helper()
	item := storetest.Items(0, 1)[0]
	item.Plan = nil
	for _, m := range models {
		p := storetest.Planned()
		p.Engine, p.Model = judge.EngineOpenAI, m
		item.Plan = append(item.Plan, p)
	}
	storetest.Import(t, s, []store.ImportItem{item})
	work := storetest.Claim(t, s, len(models))
	if len(work) != len(models) {
		t.Fatalf("claimed %d, want %d", len(work), len(models))
	}
	return work
}

func says(w judge.Work, v judge.Verdict) judge.Finished {
	f := storetest.Accepted(w)
	f.Evaluation.Verdict, f.Evaluation.Label = v, map[judge.Verdict]string{judge.Pass: "accurate", judge.Borderline: "partial", judge.Fail: "inaccurate"}[v]
	return f
}

// Every accepted evaluation that differs waits for a person, not only the first
// that is found, and none names the verdict of another.
func TestEveryModelThatDiffersWaits(t *testing.T) {
	for _, c := range []struct {
		name     string
		verdicts []judge.Verdict
		waiting  []bool // in the end
		reasons  []int
	}{
		{"two pass and one fails", []judge.Verdict{judge.Pass, judge.Pass, judge.Fail}, []bool{true, true, true}, []int{1, 1, 1}},
		{"the last agrees with one", []judge.Verdict{judge.Pass, judge.Fail, judge.Pass}, []bool{true, true, true}, []int{1, 1, 1}},
		{"all differ", []judge.Verdict{judge.Pass, judge.Fail, judge.Borderline}, []bool{true, true, true}, []int{1, 1, 1}},
		{"all agree", []judge.Verdict{judge.Pass, judge.Pass, judge.Pass}, []bool{false, false, false}, []int{0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := storetest.Open(t, nil)
			work := byModels(t, s, "m1", "m2", "m3")
			for i, w := range work {
				finish(t, s, says(w, c.verdicts[i]))
			}
			for i, w := range work {
				v := view(t, s, w.EvaluationID)
				if waits := v.Evaluation.Status == judge.InReview; waits != c.waiting[i] || len(v.Evaluation.Reasons) != c.reasons[i] {
					t.Errorf("model %d: status %s for %v, want waiting %v for %d reasons", i+1, v.Evaluation.Status, v.Evaluation.Reasons, c.waiting[i], c.reasons[i])
				}
				for _, r := range v.Evaluation.Reasons {
					for _, verdict := range []string{"pass", "fail", "borderline"} {
						if strings.Contains(r.Detail, verdict) {
							t.Errorf("model %d: the reason %q names a verdict that may be sealed", i+1, r.Detail)
						}
					}
				}
			}
		})
	}
}

// One that waits already gets the reason too, and moves up where that is more
// urgent; one that could not decide contradicts nobody; recorded reports are
// compared only where the policy asks for it.
func TestWhoIsContradicted(t *testing.T) {
	lead := func(s *store.Store, id string) string {
		t.Helper()
		rows, _, err := s.ListEvaluations(t.Context(), storetest.Operator, store.EvaluationFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.ID == id {
				return r.LeadReason
			}
		}
		return "none"
	}
	t.Run("waits for something less urgent", func(t *testing.T) {
		s := storetest.Open(t, nil)
		work := byModels(t, s, "m1", "m2")
		finish(t, s, storetest.Flagged(work[0], judge.ReasonUntrustedJudge), says(work[1], judge.Pass))
		e := view(t, s, work[0].EvaluationID).Evaluation
		if len(e.Reasons) != 2 || e.Reasons[1].Code != judge.ReasonJudgeDisagreement || lead(s, e.ID) != judge.ReasonJudgeDisagreement {
			t.Errorf("reasons %v, lead %q", e.Reasons, lead(s, e.ID))
		}
		counts, err := s.QueueCounts(t.Context(), storetest.Operator, "default")
		if err != nil || len(counts.ByReason) != 1 || counts.ByReason[0] != (store.ReasonCount{Code: judge.ReasonJudgeDisagreement, N: 2}) {
			t.Errorf("the queue counts %+v, error %v", counts, err)
		}
	})
	t.Run("waits for something more urgent", func(t *testing.T) {
		s := storetest.Open(t, nil)
		work := byModels(t, s, "m1", "m2")
		finish(t, s, storetest.Flagged(work[0], judge.ReasonCriticalError))
		finish(t, s, says(work[1], judge.Pass))
		e := view(t, s, work[0].EvaluationID).Evaluation
		if len(e.Reasons) != 2 || lead(s, e.ID) != judge.ReasonCriticalError {
			t.Errorf("reasons %v, lead %q", e.Reasons, lead(s, e.ID))
		}
		if problems, err := s.CheckKeptCounts(t.Context()); err != nil || problems != nil {
			t.Errorf("kept counts: %v, %v", problems, err)
		}
	})
	t.Run("undecided", func(t *testing.T) {
		s := storetest.Open(t, nil)
		work := byModels(t, s, "m1", "m2", "m3")
		f := says(work[0], judge.Borderline)
		f.Evaluation.Undecided = true
		finish(t, s, f)
		finish(t, s, says(work[1], judge.Pass))
		if st := view(t, s, work[1].EvaluationID).Evaluation.Status; st != judge.Accepted {
			t.Errorf("status %s beside one that could not decide, want accepted", st)
		}
	})
	for _, recorded := range []bool{false, true} {
		t.Run(fmt.Sprint("recorded ", recorded), func(t *testing.T) {
			s := storetest.Open(t, nil)
			p, err := s.ProjectNamed(t.Context(), "default")
			if err != nil {
				t.Fatal(err)
			}
			d := judge.DefaultDisagreement()
			d.Recorded = recorded
			p.Policy.Disagreement = &d
			if _, err := s.SetPolicy(t.Context(), storetest.Operator, "default", p.Policy, ""); err != nil {
				t.Fatal(err)
			}
			item := storetest.Items(0, 1)[0]
			item.Trace.Judgments = []judge.Judgment{{Judge: "citations", Raw: "{}"}}
			tape := storetest.Planned()
			tape.Engine, tape.Model, tape.Judgment = judge.EngineRecorded, "tape", 0
			item.Plan = append(item.Plan, tape)
			storetest.Import(t, s, []store.ImportItem{item})
			work := storetest.Claim(t, s, 2)
			finish(t, s, says(work[0], judge.Pass), says(work[1], judge.Fail))
			want := judge.Accepted
			if recorded {
				want = judge.InReview
			}
			for _, w := range work {
				if st := view(t, s, w.EvaluationID).Evaluation.Status; st != want {
					t.Errorf("%s: status %s, want %s", w.Planned.Engine, st, want)
				}
			}
		})
	}
}

// An older database has details that name the verdict.
func TestOldDisagreementIsReadWithoutTheVerdict(t *testing.T) {
	d := openOffice(t)
	d.put(judged{id: "t"})
	for _, query := range []string{
		`UPDATE evaluation_reasons SET code = 'judge_disagreement', detail = 'model m2 with prompt version abc says fail'`,
		`UPDATE evaluations SET lead_reason = 'judge_disagreement'`,
	} {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	v := view(t, d.Store, d.text(`SELECT id FROM evaluations`))
	if len(v.Evaluation.Reasons) == 0 {
		t.Fatal("no reason is left")
	}
	for _, r := range v.Evaluation.Reasons {
		if want := "model m2 with prompt version abc says otherwise"; r.Detail != want {
			t.Errorf("detail %q, want %q", r.Detail, want)
		}
	}
}

// A report that needed no model is the rules', in the row as in the event.
func TestWhatNeededNoModelIsRecordedSo(t *testing.T) {
	s := storetest.Open(t, nil)
	w := byModels(t, s, "m1")[0]
	f := storetest.Accepted(w)
	f.Evaluation.Engine, f.Evaluation.Model = judge.EngineRules, judge.EngineRules
	finish(t, s, f)
	if e := view(t, s, w.EvaluationID).Evaluation; e.Engine != judge.EngineRules || e.Model != judge.EngineRules {
		t.Errorf("engine %s, model %s, want rules", e.Engine, e.Model)
	}
	counts, err := s.CalibrationCounts(t.Context(), storetest.Operator, "default", "citations")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		if c.Model != judge.EngineRules {
			t.Errorf("calibration counts it for %q, want rules", c.Model)
		}
	}
	if problems, err := s.CheckKeptCounts(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("kept counts: %v, %v", problems, err)
	}
}

// Two recorded reports of one judge and model are two evaluations, also for the
// draws, which go by the id that is made from the place of the report.
func TestRecordedReportsAreToldApart(t *testing.T) {
	s := storetest.Open(t, nil)
	item := storetest.Items(0, 1)[0]
	item.Plan = nil
	for i, raw := range []string{`{"n":1}`, `{"n":2}`} {
		item.Trace.Judgments = append(item.Trace.Judgments, judge.Judgment{Judge: "citations", Raw: raw})
		p := storetest.Planned()
		p.Engine, p.Model, p.Judgment = judge.EngineRecorded, "tape", i
		item.Plan = append(item.Plan, p)
	}
	storetest.Import(t, s, []store.ImportItem{item})
	ids, raws := map[string]bool{}, map[string]bool{}
	for _, w := range storetest.Claim(t, s, 2) {
		ids[judge.EvaluationID(&w.Trace, judge.TraceHashes(w.Trace), w.Planned)] = true
		raws[w.Trace.Judgments[w.Planned.Judgment].Raw] = true
	}
	if len(ids) != 2 || len(raws) != 2 {
		t.Errorf("ids %v of reports %v, want two of each", ids, raws)
	}
}

// Lists are narrowed by who answered, version and endpoint.
func TestFilterByTarget(t *testing.T) {
	s := storetest.Open(t, nil)
	item := storetest.Items(0, 1)[0]
	item.Plan = nil
	for i, model := range []string{"m1", "m2", "m3"} {
		p := storetest.Planned()
		p.Engine, p.Model = judge.EngineOpenAI, model
		if i == 1 {
			p.Endpoint, p.Samples = "ward-7", 3
		}
		item.Plan = append(item.Plan, p)
	}
	storetest.Import(t, s, []store.ImportItem{item})
	work := storetest.Claim(t, s, 3)
	settled := storetest.Accepted(work[2])
	settled.Evaluation.Engine, settled.Evaluation.Model = judge.EngineRules, judge.EngineRules
	finish(t, s, storetest.Accepted(work[0]), storetest.Accepted(work[1]), settled)
	for _, c := range []struct {
		name string
		f    store.EvaluationFilter
		want []string
	}{
		{"model", store.EvaluationFilter{Model: "m1"}, []string{"m1"}},
		{"model that was not needed", store.EvaluationFilter{Model: "m3"}, nil},
		{"rules", store.EvaluationFilter{Engine: judge.EngineRules}, []string{"rules"}},
		{"endpoint", store.EvaluationFilter{Endpoint: "ward-7"}, []string{"m2"}},
		{"version", store.EvaluationFilter{PromptVersion: storetest.Planned().PromptVersion, Engine: judge.EngineOpenAI}, []string{"m2", "m1"}},
		{"other version", store.EvaluationFilter{PromptVersion: "v0"}, nil},
	} {
		rows, _, err := s.ListEvaluations(t.Context(), storetest.Operator, c.f)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.Model)
			if want := map[string]int{"m2": 3}[r.Model]; r.Samples != max(1, want) || (r.AnsweredBy != "") != (r.Model == "rules") {
				t.Errorf("%s: row %+v", c.name, r)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		full, _, err := s.EvaluationsFull(t.Context(), storetest.Operator, c.f)
		if err != nil || len(full) != len(c.want) {
			t.Errorf("%s: %d in full, error %v, want %d", c.name, len(full), err, len(c.want))
		}
	}
}
