package calibration_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
)

// answerScale is the scale of the openqa_eval judge.
var answerScale = []judge.Label{
	{Name: "Yes", Verdict: judge.Pass},
	{Name: "No", Verdict: judge.Fail},
	{Name: "undetermined", Verdict: judge.Borderline, Abstain: true},
}

func label(name string) calibration.Answer { return calibration.Answer{Label: name} }

func verdict(v judge.Verdict) calibration.Answer { return calibration.Answer{Verdict: v} }

// openQA is gpt-4 on the 991 rows of openqa_eval, counted by hand from the
// adjudicated labels, with the answers of its annotators.
func openQA() calibration.Counts {
	cell := func(human, judged string, n int) calibration.Cell {
		return calibration.Cell{Human: label(human), Judge: label(judged), N: n, Adjudicated: true}
	}
	pair := func(a, b string, n int) calibration.PairCell {
		return calibration.PairCell{A: label(a), B: label(b), N: n}
	}
	return calibration.Counts{
		Judge: "answer-equivalence", Model: "gpt-4", PromptVersion: "5f1c",
		Labels: answerScale,
		Cells: []calibration.Cell{
			cell("Yes", "Yes", 461), cell("No", "No", 376), cell("No", "Yes", 56),
			cell("Yes", "No", 96), cell("No", "undetermined", 2),
		},
		Items:  991,
		Strata: []calibration.StratumCount{{Stratum: judge.StratumImported, N: 991}},
		HumanPairs: []calibration.PairCounts{
			{A: "annotator1", B: "annotator3", Cells: []calibration.PairCell{
				pair("Yes", "Yes", 55), pair("No", "No", 37), pair("Yes", "No", 35), pair("No", "Yes", 28)}},
			{A: "annotator1", B: "annotator2", Cells: []calibration.PairCell{
				pair("Yes", "Yes", 483), pair("No", "No", 368), pair("Yes", "No", 79), pair("No", "Yes", 57)}},
		},
		First: time.Date(2023, 5, 1, 9, 0, 0, 0, time.FixedZone("", 3600)),
	}
}

func compose(t *testing.T, c calibration.Counts) calibration.Report {
	t.Helper()
	r, err := calibration.Compose(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, within)
	}
}

// Figures of shared expected.json for openqa_eval, gpt-4 and the annotators.
func TestComposeOpenQA(t *testing.T) {
	r := compose(t, openQA())
	if r.N != 989 || r.NAbstained != 2 || r.NIncomparable != 0 || r.Scale != calibration.ScaleLabels {
		t.Errorf("n = %d, abstained %d, incomparable %d, scale %s; want 989, 2, 0, labels", r.N, r.NAbstained, r.NIncomparable, r.Scale)
	}
	near(t, "agreement", r.Agreement.Value, 0.8463, 5e-5)
	near(t, "kappa", r.CohenKappa.Value, 0.6908, 5e-5)
	if r.CohenKappa.Method != agreement.MethodFisherZ || r.CohenKappa.Low >= r.CohenKappa.Value || r.CohenKappa.High <= r.CohenKappa.Value {
		t.Errorf("kappa interval %v %v by %s", r.CohenKappa.Low, r.CohenKappa.High, r.CohenKappa.Method)
	}
	want := calibration.Confusion{Labels: []string{"Yes", "No"}, Matrix: [][]int{{461, 96}, {56, 376}}}
	if diff := cmp.Diff(want, r.Confusion); diff != "" {
		t.Errorf("confusion (-want +got):\n%s", diff)
	}
	if !r.Headline || r.HeadlineReason != "" {
		t.Errorf("headline %v, %q", r.Headline, r.HeadlineReason)
	}
	if r.KappaLinear != nil || r.KappaQuadratic != nil {
		t.Error("a judge that is not ordinal has weighted kappas")
	}
	near(t, "catches", r.Rates.Catches.Value, 376.0/432, 1e-12)
	near(t, "misses", r.Rates.Misses.Value, 56.0/432, 1e-12)
	near(t, "false alarms", r.Rates.FalseAlarms.Value, 96.0/557, 1e-12)
	near(t, "flags right", r.Rates.FlagsRight.Value, 376.0/472, 1e-12)
	if got, want := r.Sentence, "Of 100 labelled traces that people call bad, each counted once, the judge catches about 87 (84–90); of 100 they call good, it flags about 17 (14–21)."; got != want {
		t.Errorf("sentence\n got %s\nwant %s", got, want)
	}

	if r.HumanHuman == nil {
		t.Fatal("no human_human")
	}
	if got, want := r.HumanHuman.Reviewers, [2]string{"annotator1", "annotator2"}; got != want {
		t.Errorf("human_human reviewers %v, want %v", got, want)
	}
	near(t, "human n", float64(r.HumanHuman.N), 987, 0)
	near(t, "human agreement", r.HumanHuman.Agreement.Value, 0.8622, 5e-5)
	near(t, "human kappa", r.HumanHuman.CohenKappa.Value, 0.7208, 5e-5)
	if len(r.HumanPairs) != 2 || r.HumanPairs[1].N != 155 {
		t.Errorf("human pairs %+v", r.HumanPairs)
	}
	if got, want := r.Sampling.Text, "991 items with blind or imported answers: 991 imported. Figures are unweighted: they describe the traces that were labelled, not all traces."; got != want {
		t.Errorf("sampling\n got %s\nwant %s", got, want)
	}
}

// The other recorded judges of the same rows: rows people, columns the judge,
// Yes before No.
func TestComposeRecordedJudges(t *testing.T) {
	for _, tt := range []struct {
		model            string
		yy, yn, ny, nn   int
		n                int
		agreement, kappa float64
	}{
		{"text-davinci-003", 447, 110, 64, 370, 991, 0.8244, 0.6475},
		{"bem", 397, 160, 43, 391, 991, 0.7952, 0.5959},
	} {
		r := compose(t, calibration.Counts{Labels: answerScale, Model: tt.model, Cells: []calibration.Cell{
			{Human: label("Yes"), Judge: label("Yes"), N: tt.yy}, {Human: label("Yes"), Judge: label("No"), N: tt.yn},
			{Human: label("No"), Judge: label("Yes"), N: tt.ny}, {Human: label("No"), Judge: label("No"), N: tt.nn}}})
		near(t, tt.model+" n", float64(r.N), float64(tt.n), 0)
		near(t, tt.model+" agreement", r.Agreement.Value, tt.agreement, 5e-5)
		near(t, tt.model+" kappa", r.CohenKappa.Value, tt.kappa, 5e-5)
	}
}

func TestComposeChoosesOneScale(t *testing.T) {
	yes, no := label("Yes"), label("No")
	for _, tt := range []struct {
		name                 string
		cells                []calibration.Cell
		scale                string
		matrix               [][]int
		abstained, unmatched int
	}{
		{"labels on both sides", []calibration.Cell{{Human: yes, Judge: yes, N: 2}, {Human: no, Judge: yes, N: 1}},
			calibration.ScaleLabels, [][]int{{2, 0}, {1, 0}}, 0, 0},
		{"one human gave a verdict only", []calibration.Cell{{Human: yes, Judge: yes, N: 2}, {Human: verdict(judge.Fail), Judge: no, N: 1}},
			calibration.ScaleVerdicts, [][]int{{2, 0, 0}, {0, 0, 0}, {0, 0, 1}}, 0, 0},
		{"a cell without pairs decides nothing", []calibration.Cell{{Human: yes, Judge: yes, N: 2}, {Human: verdict(judge.Fail), Judge: no}},
			calibration.ScaleLabels, [][]int{{2, 0}, {0, 0}}, 0, 0},
		{"label of an older version, with verdict", []calibration.Cell{{Human: calibration.Answer{Label: "Correct", Verdict: judge.Pass}, Judge: yes, N: 3}},
			calibration.ScaleVerdicts, [][]int{{3, 0, 0}, {0, 0, 0}, {0, 0, 0}}, 0, 0},
		{"label of an older version, alone", []calibration.Cell{{Human: label("Correct"), Judge: yes, N: 3}, {Human: no, Judge: no, N: 4}},
			calibration.ScaleLabels, [][]int{{0, 0}, {0, 4}}, 0, 3},
		{"abstentions of both kinds", []calibration.Cell{{Human: calibration.Answer{Abstained: true}, Judge: yes, N: 5}, {Human: yes, Judge: label("undetermined"), N: 2},
			{Human: label("undetermined"), Judge: label("undetermined"), N: 1}, {Human: yes, Judge: no, N: 1}},
			calibration.ScaleLabels, [][]int{{0, 1}, {0, 0}}, 8, 0},
		{"an abstention does not decide the scale", []calibration.Cell{{Human: verdict(judge.Pass), Judge: label("undetermined"), N: 2}, {Human: yes, Judge: yes, N: 1}},
			calibration.ScaleLabels, [][]int{{1, 0}, {0, 0}}, 2, 0},
		{"the judge failed for good", []calibration.Cell{{Human: yes, Judge: calibration.Answer{}, N: 2}, {Human: yes, Judge: yes, N: 1}},
			calibration.ScaleLabels, [][]int{{1, 0}, {0, 0}}, 0, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := compose(t, calibration.Counts{Labels: answerScale, Cells: tt.cells})
			if r.Scale != tt.scale || r.NAbstained != tt.abstained || r.NIncomparable != tt.unmatched {
				t.Errorf("scale %s, abstained %d, incomparable %d; want %s, %d, %d", r.Scale, r.NAbstained, r.NIncomparable, tt.scale, tt.abstained, tt.unmatched)
			}
			if diff := cmp.Diff(tt.matrix, r.Confusion.Matrix); diff != "" {
				t.Errorf("matrix (-want +got):\n%s", diff)
			}
		})
	}
}

func TestComposeKeepsVisibleApart(t *testing.T) {
	c := openQA()
	c.Cells = append(c.Cells,
		calibration.Cell{Human: label("Yes"), Judge: label("Yes"), N: 90, Visible: true},
		calibration.Cell{Human: verdict(judge.Fail), Judge: label("No"), N: 10, Visible: true})
	c.HumanPairs[1].Cells = append(c.HumanPairs[1].Cells,
		calibration.PairCell{A: label("Yes"), B: label("No"), N: 500, Visible: true})
	got, want := compose(t, c), compose(t, openQA())
	if got.Visible == nil {
		t.Fatal("no visible block")
	}
	if got.Visible.N != 100 || got.Visible.Agreement.Value != 1 || got.Visible.Scale != calibration.ScaleVerdicts {
		t.Errorf("visible block n %d, agreement %v, scale %s", got.Visible.N, got.Visible.Agreement.Value, got.Visible.Scale)
	}
	if want.Visible != nil {
		t.Error("a visible block without visible answers")
	}
	if d := got.SeenMinusBlind; d == nil || d.Scale != calibration.ScaleVerdicts || d.Agreement == nil || d.Agreement.Low <= 0.1 || d.CohenKappa.Value < 0.3 {
		t.Errorf("seen minus blind %+v", d)
	}
	got.Visible, got.SeenMinusBlind = nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("visible answers changed the headline (-want +got):\n%s", diff)
	}
}

func TestComposeUndefined(t *testing.T) {
	yes, no := label("Yes"), label("No")
	cells := func(yy, yn, ny, nn int) []calibration.Cell {
		return []calibration.Cell{{Human: yes, Judge: yes, N: yy}, {Human: yes, Judge: no, N: yn}, {Human: no, Judge: yes, N: ny}, {Human: no, Judge: no, N: nn}}
	}
	t.Run("nothing to compare", func(t *testing.T) {
		r := compose(t, calibration.Counts{Labels: answerScale})
		if r.CohenKappa.Defined() || r.Agreement.Defined() || r.HumanHuman != nil || r.Headline {
			t.Errorf("figures out of nothing: %+v", r)
		}
		if want := "not enough labels: 0 of at least 50"; r.HeadlineReason != want {
			t.Errorf("reason %q, want %q", r.HeadlineReason, want)
		}
	})
	t.Run("one label in use", func(t *testing.T) {
		r := compose(t, calibration.Counts{Labels: answerScale, Cells: cells(60, 0, 0, 0)})
		if want := `people and the judge always said "Yes", so chance alone would agree as often`; r.CohenKappa.Undefined != want {
			t.Errorf("undefined %q, want %q", r.CohenKappa.Undefined, want)
		}
		if r.Agreement.Value != 1 || r.Agreement.N != 60 {
			t.Errorf("agreement must still say 60 of 60: %+v", r.Agreement)
		}
		if r.Headline || !strings.Contains(r.HeadlineReason, "rarer class: 0 of at least 10") {
			t.Errorf("headline %v, %q", r.Headline, r.HeadlineReason)
		}
	})
	t.Run("constant judge", func(t *testing.T) {
		r := compose(t, calibration.Counts{Labels: answerScale, Cells: cells(40, 0, 20, 0)})
		k := r.CohenKappa
		if !k.Defined() || k.Value != 0 || k.SE0 != 0 || k.HasInterval() {
			t.Errorf("kappa %+v, want exactly 0 without interval", k)
		}
		if !strings.HasPrefix(k.NoTest, `the judge never said "No"`) {
			t.Errorf("no_test %q", k.NoTest)
		}
	})
	t.Run("constant people", func(t *testing.T) {
		r := compose(t, calibration.Counts{Labels: answerScale, Cells: cells(40, 20, 0, 0)})
		if !strings.HasPrefix(r.CohenKappa.NoTest, `people never said "No"`) {
			t.Errorf("no_test %q", r.CohenKappa.NoTest)
		}
		if r.Rates.Catches.Defined() || !strings.Contains(r.Sentence, "agree on 40 of 60 traces; people failed no trace") {
			t.Errorf("catches %+v, sentence %q", r.Rates.Catches, r.Sentence)
		}
	})
	t.Run("perfect", func(t *testing.T) {
		k := compose(t, calibration.Counts{Labels: answerScale, Cells: cells(40, 0, 0, 20)}).CohenKappa
		near(t, "lower bound", k.Low, math.Pow(0.025, 1.0/60), 1e-12)
		if k.Value != 1 || k.High != 1 || k.Method != agreement.MethodAtOne {
			t.Errorf("kappa %+v", k)
		}
	})
}

func TestHeadline(t *testing.T) {
	for _, tt := range []struct {
		n, rare int
		want    string
	}{
		{49, 20, "not enough labels: 49 of at least 50"},
		{50, 9, "not enough labels of the rarer class: 9 of at least 10"},
		{50, 10, ""},
	} {
		r := compose(t, calibration.Counts{Labels: answerScale, Cells: []calibration.Cell{
			{Human: label("Yes"), Judge: label("Yes"), N: tt.n - tt.rare}, {Human: label("No"), Judge: label("No"), N: tt.rare}}})
		if r.HeadlineReason != tt.want || r.Headline != (tt.want == "") {
			t.Errorf("%d labels, %d rare: %v %q, want %q", tt.n, tt.rare, r.Headline, r.HeadlineReason, tt.want)
		}
	}
}

func TestSentenceOfFewLabels(t *testing.T) {
	r := compose(t, calibration.Counts{Labels: answerScale, Cells: []calibration.Cell{
		{Human: label("Yes"), Judge: label("Yes"), N: 28}, {Human: label("Yes"), Judge: label("No"), N: 1},
		{Human: label("No"), Judge: label("No"), N: 1}}})
	if want := "Too few labels for a rate (30): of 1 trace people call bad, the judge catches 1; of 29 they call good, it flags 1."; r.Sentence != want {
		t.Errorf("sentence\n got %s\nwant %s", r.Sentence, want)
	}
}

func TestTrusted(t *testing.T) {
	r := compose(t, openQA())
	for _, tt := range []struct {
		min  float64
		want string
	}{{0.6, ""}, {0.7, "kappa 0.69 is under the minimum of 0.70"}} {
		if ok, reason := r.Trusted(tt.min); reason != tt.want || ok != (tt.want == "") {
			t.Errorf("Trusted(%v) = %v, %q; want %q", tt.min, ok, reason, tt.want)
		}
	}
	few := compose(t, calibration.Counts{Labels: answerScale})
	if ok, reason := few.Trusted(0); ok || reason != few.HeadlineReason {
		t.Errorf("a judge without labels: %v, %q", ok, reason)
	}
}

func TestOrdinalJudge(t *testing.T) {
	var labels []judge.Label
	for i, v := range []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail} {
		labels = append(labels, judge.Label{Name: []string{"valid", "flawed", "invalid"}[i], Verdict: v})
	}
	var cells []calibration.Cell
	for i, row := range [][]int{{46, 0, 0}, {4, 40, 0}, {0, 0, 10}} {
		for j, n := range row {
			cells = append(cells, calibration.Cell{Human: label(labels[i].Name), Judge: label(labels[j].Name), N: n})
		}
	}
	r := compose(t, calibration.Counts{Labels: labels, Ordinal: true, Cells: cells})
	if r.KappaLinear == nil || r.KappaQuadratic == nil {
		t.Fatal("an ordinal judge without weighted kappas")
	}
	// Values asserted by scikit-learn's tests for this matrix.
	near(t, "linear", r.KappaLinear.Value, 0.9412, 5e-5)
	near(t, "quadratic", r.KappaQuadratic.Value, 0.9541, 5e-5)
}

func TestNotes(t *testing.T) {
	t.Run("judge above the ceiling", func(t *testing.T) {
		c := openQA()
		c.HumanPairs[1].Cells[2].N += 300
		if notes := compose(t, c).Notes; len(notes) != 1 || !strings.Contains(notes[0], "more than they agree with each other") {
			t.Errorf("notes %q", notes)
		}
	})
	t.Run("rare class", func(t *testing.T) {
		r := compose(t, calibration.Counts{Labels: answerScale, Cells: []calibration.Cell{
			{Human: label("Yes"), Judge: label("Yes"), N: 380}, {Human: label("No"), Judge: label("No"), N: 4},
			{Human: label("No"), Judge: label("Yes"), N: 6}, {Human: label("Yes"), Judge: label("No"), N: 10}}})
		if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "the rare class decides") {
			t.Errorf("kappa %v, agreement %v, notes %q", r.CohenKappa.Value, r.Agreement.Value, r.Notes)
		}
	})
	t.Run("none", func(t *testing.T) {
		if notes := compose(t, openQA()).Notes; notes == nil || len(notes) > 0 {
			t.Errorf("notes %q, want an empty list", notes)
		}
	})
}

func TestSamplingText(t *testing.T) {
	cells := []calibration.Cell{{Human: label("Yes"), Judge: label("Yes"), N: 6}, {Human: label("No"), Judge: label("No"), N: 4}}
	flagged := calibration.StratumCount{Stratum: judge.StratumFlagged, N: 7, InclusionProbability: 1}
	audit := calibration.StratumCount{Stratum: judge.StratumRandomAudit, N: 3, InclusionProbability: 0.05}
	for _, tt := range []struct {
		name     string
		counts   calibration.Counts
		contains []string
		lacks    []string
	}{
		{"flagged only", calibration.Counts{Strata: []calibration.StratumCount{flagged}}, []string{"7 flagged", "do not show what the judge passes wrongly"}, nil},
		{"flagged and audit", calibration.Counts{Strata: []calibration.StratumCount{flagged, audit}}, []string{"7 flagged, 3 random audit", "unweighted", "count for more"}, []string{"passes wrongly"}},
		{"audit only", calibration.Counts{Strata: []calibration.StratumCount{audit}}, []string{"unweighted"}, []string{"count for more", "passes wrongly"}},
		{"dependent", calibration.Counts{Items: 8, Clusters: 3}, []string{"about some of the 8 traces", "3 clusters"}, nil},
		{"independent", calibration.Counts{Items: 10, Clusters: 10}, nil, []string{"Several people", "clusters"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.counts.Labels, tt.counts.Cells = answerScale, cells
			got := compose(t, tt.counts).Sampling
			if got.Weighted {
				t.Error("figures are called weighted")
			}
			for _, want := range tt.contains {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%q lacks %q", got.Text, want)
				}
			}
			for _, bad := range tt.lacks {
				if strings.Contains(got.Text, bad) {
					t.Errorf("%q says %q", got.Text, bad)
				}
			}
		})
	}
}

func TestComposeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts calibration.Counts
		want   string
	}{
		{"negative count", calibration.Counts{Judge: "j", Labels: answerScale, Cells: []calibration.Cell{{Human: label("Yes"), Judge: label("Yes"), N: -1}}}, "less than nothing"},
		{"label twice", calibration.Counts{Judge: "j", Labels: []judge.Label{{Name: "a"}, {Name: "a"}}}, "declared twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := calibration.ComposeAll([]calibration.Counts{tt.counts})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "calibration of j") {
				t.Errorf("error %v, want one with %q and the judge", err, tt.want)
			}
		})
	}
}

func TestComposeAllOrders(t *testing.T) {
	reports, err := calibration.ComposeAll([]calibration.Counts{{Judge: "b"}, {Judge: "a", Model: "z"}, {Judge: "a", Model: "y", PromptVersion: "2"}, {Judge: "a", Model: "y", PromptVersion: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range reports {
		got = append(got, r.Judge+r.Model+r.PromptVersion)
	}
	if diff := cmp.Diff([]string{"ay1", "ay2", "az", "b"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	none, err := calibration.ComposeAll(nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := json.Marshal(none); string(body) != "[]" {
		t.Errorf("no counts give %s, want []", body)
	}
}
