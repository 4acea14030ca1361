package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
)

var mood = &judge.Judge{Name: "mood", Labels: []judge.Label{
	{Name: "good", Verdict: judge.Pass}, {Name: "bad", Verdict: judge.Fail}, {Name: "unclear", Abstain: true},
}}

// item is one evaluation of a candidate, and the labels of its trace.
type item struct {
	n       int // how many of them
	verdict judge.Verdict
	status  judge.Status
	score   float64 // below 0: none
	labels  []judge.HumanLabel
}

func ptr(v float64) *float64 { return &v }

func says(label string) []judge.HumanLabel { return []judge.HumanLabel{{Judge: "mood", Label: label}} }

func drawnAt(label string, p float64) []judge.HumanLabel {
	return []judge.HumanLabel{{Judge: "mood", Label: label, InclusionProbability: &p}}
}

func adjudicated(label string) []judge.HumanLabel {
	return []judge.HumanLabel{{Judge: "mood", Label: label, Adjudicated: true}}
}

// evaluations are the items with ids t0, t1, ...
func evaluations(items []item, each func(*judge.Trace, judge.Evaluation)) (n int) {
	for _, it := range items {
		for range it.n {
			e := judge.Evaluation{TraceID: fmt.Sprintf("t%d", n), Judge: "mood", PromptVersion: "v", Engine: "recorded", Model: "m",
				Status: it.status, Verdict: it.verdict}
			if it.score >= 0 {
				e.Score = &it.score
			}
			e.Label = map[judge.Verdict]string{judge.Pass: "good", judge.Fail: "bad"}[it.verdict]
			each(&judge.Trace{ID: e.TraceID, Labels: it.labels}, e)
			n++
		}
	}
	return n
}

func decide(t *testing.T, o release.Options, before, now []item) release.Report {
	t.Helper()
	var baseline *release.Baseline
	if before != nil {
		baseline = release.NewBaseline("v1", "run", o)
		evaluations(before, func(_ *judge.Trace, e judge.Evaluation) { baseline.Add(e) })
	}
	tally := release.NewTally(o, baseline)
	n := evaluations(now, func(tr *judge.Trace, e judge.Evaluation) {
		tally.Add(tr, mood, judge.Planned{Judge: "mood", Engine: "recorded"}, e)
	})
	r, err := tally.Decide(release.Input{File: "f.jsonl", Traces: n})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestDecide(t *testing.T) {
	const a, w = judge.Accepted, judge.InReview
	good := item{80, judge.Pass, a, 0.9, nil}
	bad := item{20, judge.Fail, a, 0.3, nil}
	waits := item{5, judge.Borderline, w, 0.7, nil}
	trusted := []item{{40, judge.Pass, a, 1, says("good")}, {18, judge.Fail, a, 0, says("bad")}, {2, judge.Fail, a, 0, says("good")}}
	chance := []item{{20, judge.Pass, a, 1, says("good")}, {20, judge.Pass, a, 1, says("bad")}, {10, judge.Fail, a, 0, says("good")}, {10, judge.Fail, a, 0, says("bad")}}
	for _, tt := range []struct {
		name        string
		options     release.Options
		before, now []item
		want        release.Outcome
		detail      string // of a rule that came out so
	}{
		{"no rule", release.Options{}, nil, []item{good, bad}, release.Passed, "no evaluation waits"},
		{"rate reached to the digit", release.Options{MinPassRate: ptr(0.8)}, nil, []item{good, bad}, release.Passed, "pass rate 80.0% (71.1% to 86.7%) of 100 decided evaluations reaches the minimum of 80.0%; its lower bound does not"},
		{"rate under", release.Options{MinPassRate: ptr(0.81)}, nil, []item{good, bad}, release.Failed, "is under the minimum of 81.0%"},
		{"a threshold above the scores", release.Options{MinPassRate: ptr(0.5), PassThreshold: ptr(0.95)}, nil, []item{good, bad}, release.Failed, "pass rate 0.0%"},
		{"a threshold under all scores", release.Options{MinPassRate: ptr(1), PassThreshold: ptr(0.3)}, nil, []item{good, bad}, release.Passed, "pass rate 100.0%"},
		{"a threshold needs scores", release.Options{PassThreshold: ptr(0.3)}, nil, []item{good, {1, judge.Pass, a, -1, nil}}, release.BadInput, "without a score"},
		{"waiting", release.Options{}, nil, []item{good, waits}, release.Pending, "5 evaluations wait for people"},
		{"waiting is allowed", release.Options{AllowPending: true}, nil, []item{good, waits}, release.Passed, "that is allowed here"},
		{"all wait", release.Options{MinPassRate: ptr(0.5)}, nil, []item{waits}, release.Pending, "no evaluation is decided"},
		{"all wait and may", release.Options{MinPassRate: ptr(0.5), AllowPending: true}, nil, []item{waits}, release.Failed, "nothing shows that the minimum of 50.0% is reached"},
		{"waiting does not hide a failure", release.Options{MinPassRate: ptr(0.9)}, nil, []item{good, bad, waits}, release.Failed, "is under"},
		{"people settled what waited", release.Options{}, nil, []item{good, {5, judge.Borderline, w, 0.7, adjudicated("good")}}, release.Passed, "no evaluation waits"},
		{"people's word counts before the judge's", release.Options{MinPassRate: ptr(0.9)}, nil, []item{{10, judge.Pass, a, 1, adjudicated("bad")}}, release.Failed, "pass rate 0.0%"},
		{"other labels settle nothing", release.Options{}, nil, []item{{5, judge.Borderline, w, 0.7, says("good")}}, release.Pending, "5 evaluations wait"},
		{"kappa reached", release.Options{MinKappa: ptr(0.6)}, nil, trusted, release.Passed, "kappa 0.92"},
		{"kappa under", release.Options{MinKappa: ptr(0.95)}, nil, trusted, release.Untrusted, "is under the minimum of 0.95"},
		{"judge at chance", release.Options{MinKappa: ptr(0.1)}, nil, chance, release.Untrusted, "kappa 0.00"},
		{"no labels", release.Options{MinKappa: ptr(0)}, nil, []item{good}, release.Untrusted, "not enough labels: 0 of at least 50"},
		{"49 labels", release.Options{MinKappa: ptr(0)}, nil, []item{{30, judge.Pass, a, 1, says("good")}, {19, judge.Fail, a, 0, says("bad")}}, release.Untrusted, "49 of at least 50"},
		{"9 of the rarer class", release.Options{MinKappa: ptr(0)}, nil, []item{{60, judge.Pass, a, 1, says("good")}, {9, judge.Fail, a, 0, says("bad")}}, release.Untrusted, "rarer class: 9 of at least 10"},
		{"distrust hides a failure", release.Options{MinKappa: ptr(0.5), MinPassRate: ptr(0.9)}, nil, []item{good, bad}, release.Untrusted, "not enough labels"},
		{"corrected by labels", release.Options{MinPassRate: ptr(0.6)}, nil, chance, release.Failed, "corrected by 60 labels of the file is under the minimum"},
		{"clearly worse", release.Options{Baseline: "v1"}, []item{{100, judge.Pass, a, 1, nil}}, []item{good, bad}, release.Failed, "lower than in v1: -20.0 (-27.8 to -11.4) points"},
		{"hardly worse", release.Options{Baseline: "v1"}, []item{{82, judge.Pass, a, 1, nil}, {18, judge.Fail, a, 0, nil}}, []item{good, bad}, release.Passed, "no difference to v1 is shown"},
		{"better", release.Options{Baseline: "v1"}, []item{{50, judge.Pass, a, 1, nil}, {50, judge.Fail, a, 0, nil}}, []item{good, bad}, release.Passed, "higher than in v1"},
		{"nothing in common", release.Options{Baseline: "v1"}, []item{{10, judge.Pass, w, 1, nil}}, []item{good}, release.BadInput, "can't be compared"},
		{"nothing at all", release.Options{}, nil, nil, release.BadInput, "there is no trace"},
		{"all refused", release.Options{MinPassRate: ptr(0)}, nil, []item{{3, "", judge.Refused, -1, nil}}, release.BadInput, "every evaluation is refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := decide(t, tt.options, tt.before, tt.now)
			if r.Outcome != tt.want || r.ExitCode != tt.want.ExitCode() {
				t.Errorf("outcome %s, code %d, want %s; %s", r.Outcome, r.ExitCode, tt.want, r.Sentence)
			}
			if !slices.ContainsFunc(r.Rules, func(rule release.Rule) bool {
				return rule.Outcome == tt.want && strings.Contains(rule.Detail, tt.detail)
			}) {
				t.Errorf("no rule came out %s with %q: %+v", tt.want, tt.detail, r.Rules)
			}
		})
	}
}

func TestExitCodes(t *testing.T) {
	for o, want := range map[release.Outcome]int{release.Passed: 0, release.Failed: 1, release.BadInput: 2, release.Untrusted: 3, release.Pending: 4} {
		if got := o.ExitCode(); got != want {
			t.Errorf("%s exits with %d, want %d", o, got, want)
		}
	}
}

// TestCorrection: what labels allow, and what they do not.
func TestCorrection(t *testing.T) {
	const a = judge.Accepted
	for _, tt := range []struct {
		name          string
		items         []item
		want          float64 // below 0: undefined
		enough        bool
		tooFew, noted string
	}{
		// 800 passed, 200 not; 95% and 20% of the labelled are good: 0.8*0.95 + 0.2*0.2.
		{"over-sampled flags", []item{
			{720, judge.Pass, a, 1, nil}, {76, judge.Pass, a, 1, drawnAt("good", 0.1)}, {4, judge.Pass, a, 1, drawnAt("bad", 0.1)},
			{40, judge.Fail, a, 0, drawnAt("good", 1)}, {160, judge.Fail, a, 0, drawnAt("bad", 1)},
		}, 0.8, true, "", ""},
		{"unknown sampling", []item{{80, judge.Pass, a, 1, says("good")}, {20, judge.Fail, a, 0, says("bad")}, {5, judge.Fail, a, 0, nil}}, -1, false, "give inclusion_probability with each", ""},
		{"chances whose weights overflow", []item{{80, judge.Pass, a, 1, drawnAt("good", 1e-308)}, {20, judge.Fail, a, 0, drawnAt("bad", 5e-324)}, {5, judge.Fail, a, 0, nil}}, -1, false, "at least 0.000001", ""},
		{"a census needs none", []item{{80, judge.Pass, a, 1, says("good")}, {15, judge.Fail, a, 0, says("bad")}, {5, judge.Fail, a, 0, says("good")}}, 0.85, true, "", "no narrower"},
		{"undetermined belongs to a census", []item{{80, judge.Pass, a, 1, says("good")}, {19, judge.Fail, a, 0, says("bad")}, {1, judge.Fail, a, 0, says("unclear")}}, 0.8, true, "", ""},
		{"one verdict without labels", []item{{60, judge.Pass, a, 1, drawnAt("good", 1)}, {20, judge.Fail, a, 0, nil}}, -1, false, "no label on items of one verdict", ""},
		{"few labels on one verdict", []item{{60, judge.Pass, a, 1, drawnAt("good", 0.5)}, {60, judge.Pass, a, 1, nil}, {5, judge.Fail, a, 0, drawnAt("bad", 0.25)}, {15, judge.Fail, a, 0, nil}}, 120.0 / 140, false, "does not pass: 5 of at least 10", "may still be otherwise"},
		{"no labels", []item{{60, judge.Pass, a, 1, nil}}, -1, false, "people gave no label", ""},
		{"in sight of the verdict", []item{{60, judge.Pass, a, 1, []judge.HumanLabel{{Judge: "mood", Label: "good", Blind: new(bool)}}}}, -1, false, "people gave no label", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := decide(t, release.Options{}, nil, tt.items).Judges[0].Correction
			if c.Corrected.Defined() != (tt.want >= 0) || c.Corrected.Defined() && (c.Corrected.Value-tt.want > 1e-9 || tt.want-c.Corrected.Value > 1e-9) {
				t.Errorf("corrected %+v, want %v", c.Corrected, tt.want)
			}
			if c.Enough != tt.enough || !strings.Contains(c.TooFew, tt.tooFew) || !strings.Contains(strings.Join(c.Notes, " "), tt.noted) {
				t.Errorf("enough %v (%s), notes %q; want %v, %q, %q", c.Enough, c.TooFew, c.Notes, tt.enough, tt.tooFew, tt.noted)
			}
		})
	}
}

// TestWithoutModel: an evaluation that needed no model counts for the release, and says
// nothing about the model.
func TestWithoutModel(t *testing.T) {
	tally := release.NewTally(release.Options{}, nil)
	for i := range 60 {
		e := judge.Evaluation{TraceID: fmt.Sprint(i), Judge: "mood", PromptVersion: "v", Engine: judge.EngineRules, Model: "rules", Status: judge.Accepted, Verdict: judge.Pass, Label: "good"}
		if i%2 == 0 {
			e.Engine, e.Model, e.Samples = judge.EngineOpenAI, "m", 3
		}
		tally.Add(&judge.Trace{ID: e.TraceID, Labels: says("good")}, mood, judge.Planned{Engine: judge.EngineOpenAI, Model: "m", Samples: 3}, e)
	}
	r, err := tally.Decide(release.Input{Traces: 60})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Judges) != 1 || r.Judges[0].Model != "m ×3" || r.Judges[0].Decided != 60 || r.Judges[0].Trust.N != 30 {
		t.Errorf("got %+v", r.Judges)
	}
}

// TestSeveralModelsOfAPair: a trace passes where all that judged it pass it.
func TestSeveralModelsOfAPair(t *testing.T) {
	o := release.Options{Baseline: "v1"}
	b := release.NewBaseline("v1", "file", o)
	add := func(to func(judge.Evaluation), model string, verdicts ...judge.Verdict) {
		for i, v := range verdicts {
			to(judge.Evaluation{TraceID: fmt.Sprint(i), Judge: "mood", PromptVersion: "v", Engine: "recorded", Model: model, Status: judge.Accepted, Verdict: v})
		}
	}
	const p, f = judge.Pass, judge.Fail
	add(b.Add, "x", p, p, p, f)
	add(b.Add, "y", p, f, p, f)
	tally := release.NewTally(o, b)
	now := func(e judge.Evaluation) {
		tally.Add(&judge.Trace{ID: e.TraceID}, mood, judge.Planned{Engine: "recorded"}, e)
	}
	add(now, "x", p, p, f, p, p)
	add(now, "y", p, p, p, p, p)
	r, err := tally.Decide(release.Input{Traces: 5})
	if err != nil {
		t.Fatal(err)
	}
	got := r.Baseline.Judges[0]
	if got.Paired != 4 || got.BothPassed != 1 || got.OnlyNow != 2 || got.OnlyBefore != 1 || got.NeitherPassed != 0 {
		t.Errorf("got %+v", got)
	}
	if len(r.Failing) != 1 || !r.Failing[0].Regressed {
		t.Errorf("failing: %+v", r.Failing)
	}
}

// What ran in the shadow of the baseline's judge is no part of the baseline.
func TestBaselineLeavesOutShadows(t *testing.T) {
	b := release.NewBaseline("v1", "run", release.Options{})
	b.Add(judge.Evaluation{TraceID: "t0", Judge: "mood", PromptVersion: "v2", Engine: "recorded", Model: "m", Status: judge.Final, Verdict: judge.Fail, Shadow: true})
	if b.Len() != 0 {
		t.Errorf("%d evaluations are counted", b.Len())
	}
}

// Two versions of one judge and model are told apart in the titles of their rules.
func TestSeveralVersionsAreNamed(t *testing.T) {
	tally := release.NewTally(release.Options{MinPassRate: new(float64)}, nil)
	for i, version := range []string{"1111111111", "2222222222", "3"} {
		e := judge.Evaluation{TraceID: fmt.Sprint(i), Judge: "mood", PromptVersion: version, Engine: "recorded", Model: "m1", Status: judge.Accepted, Verdict: judge.Pass}
		if version == "3" {
			e.Model = "m2"
		}
		tally.Add(&judge.Trace{ID: e.TraceID}, mood, judge.Planned{Engine: "recorded"}, e)
	}
	r, err := tally.Decide(release.Input{Traces: 3})
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, rule := range r.Rules {
		if rule.Name == "pass_rate" {
			titles = append(titles, rule.Title())
		}
	}
	if got := strings.Join(titles, "; "); got != "Pass rate, mood by m1, version 11111111; Pass rate, mood by m1, version 22222222; Pass rate, mood by m2" {
		t.Error(got)
	}
}
