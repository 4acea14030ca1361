package harness_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/rules"
)

// documented are the judges that the documentation shows.
func documented(t *testing.T) func(*harness.Config) {
	t.Helper()
	var all []judge.Judge
	for _, path := range []string{"../../docs/own-judge.yaml", "../../docs/own-judge-folder"} {
		judges, err := judge.LoadDefinitions(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range judges {
			if j.Notes != nil {
				t.Errorf("%s: %v", path, j.Notes)
			}
		}
		all = append(all, judges...)
	}
	return func(c *harness.Config) { c.Judges = append(c.Judges, all...) }
}

// TestDocumentedJudges runs both examples of the documentation: from the reply of
// a model to verdict, label, score and routing.
func TestDocumentedJudges(t *testing.T) {
	const entails = `{"rationale":"It says \"twice a day\".","verdict":"Entailment","contradicted_facts":[],"certainty":%}`
	tests := []struct {
		name, judge, output string
		replies             []any
		label               string
		verdict             judge.Verdict
		score               float64
		standard, high      string
	}{
		{"right answer", "answer-equivalence", "in Paris", []any{`{"rationale":"The same city.","verdict":"Yes"}`}, "Yes", judge.Pass, 1, "", ""},
		{"wrong answer", "answer-equivalence", "in Rome", []any{`{"rationale":"Another city.","verdict":"No"}`}, "No", judge.Fail, 0, "", ""},
		{"wrong answer without a reason", "answer-equivalence", "in Rome", []any{`{"verdict":"No"}`}, "No", judge.Fail, 0, "inconsistent_output", "inconsistent_output"},
		{"no telling", "answer-equivalence", "there", []any{`{"rationale":"Where?","verdict":"undetermined"}`}, "undetermined", judge.Borderline, 0.5, "ambiguous_score", "ambiguous_score"},
		{"label outside", "answer-equivalence", "there", []any{`{"verdict":"Maybe"}`, `{"verdict":"Maybe"}`}, "", "", math.NaN(), "invalid_output", "invalid_output"},
		{"mended", "answer-equivalence", "in Paris", []any{`{"verdict":"Maybe"}`, `{"verdict":"Yes"}`}, "Yes", judge.Pass, 1, "", ""},

		{"entailed", "statement-entailment", "Take it twice a day.", []any{strings.Replace(entails, "%", "5", 1)}, "Entailment", judge.Pass, 1, "", ""},
		{"entailed, less certain", "statement-entailment", "Take it twice a day.", []any{strings.Replace(entails, "%", "3", 1)}, "Entailment", judge.Pass, 0.5, "", "below_threshold"},
		{"quotes what is not there", "statement-entailment", "Take it daily.", []any{strings.Replace(entails, "%", "5", 1)}, "Entailment", judge.Pass, 1, "inconsistent_output", "inconsistent_output"},
		{"neutral", "statement-entailment", "Take it with food.", []any{`{"rationale":"It says \"with food\" and no more.","verdict":"Neutral","contradicted_facts":[],"certainty":4}`}, "Neutral", judge.Borderline, 0.75, "ambiguous_score", "ambiguous_score"},
		{"contradicted", "statement-entailment", "Take it twice a day.", []any{`{"rationale":"It says \"twice a day\".","verdict":"Contradiction","contradicted_facts":["twice"],"certainty":5}`}, "Contradiction", judge.Fail, 1, "critical_error", "critical_error"},
		{"contradicted by nothing", "statement-entailment", "Take it twice a day.", []any{
			`{"rationale":"\"twice a day\"","verdict":"Contradiction","contradicted_facts":[],"certainty":5}`,
			`{"rationale":"\"twice a day\"","verdict":"Contradiction","contradicted_facts":[],"certainty":5}`}, "", "", math.NaN(), "invalid_output", "invalid_output"},
	}
	for _, tt := range tests {
		for stakes, want := range map[judge.Stakes]string{judge.StandardStakes: tt.standard, judge.HighStakes: tt.high} {
			t.Run(tt.name+", "+string(stakes), func(t *testing.T) {
				model := &script{replies: append([]any(nil), tt.replies...)}
				h := newHarness(t, documented(t), model)
				trace := judge.Trace{ID: "t", Stakes: stakes, Question: "where or how", Output: tt.output, Reference: "Paris | the capital of France", Conclusion: "It is taken twice a day."}
				e := evaluate(t, h, trace, planned(tt.judge))
				if e.Label != tt.label || e.Verdict != tt.verdict || codes(e) != want {
					t.Errorf("label %q, verdict %q, reasons %q; want %q, %q, %q (%v)", e.Label, e.Verdict, codes(e), tt.label, tt.verdict, want, e.Reasons)
				}
				score := math.NaN()
				if e.Score != nil {
					score = *e.Score
				}
				if math.IsNaN(score) != math.IsNaN(tt.score) || math.Abs(score-tt.score) > 1e-12 {
					t.Errorf("score %v, want %v", score, tt.score)
				}
				if len(model.replies) != 0 || e.Engine != judge.EngineOpenAI {
					t.Errorf("%d replies were not asked for, engine %s", len(model.replies), e.Engine)
				}
				prompt := model.asked[0][len(model.asked[0])-1].Content
				if !strings.Contains(prompt, tt.output) || strings.Contains(prompt, "[CANDIDATE_OUTPUT]") {
					t.Errorf("the prompt does not hold the output:\n%s", prompt)
				}
			})
		}
	}
}

// An output that is its reference word for word is settled without a model, and
// recorded as what it is.
func TestDocumentedJudgeSettlesIdenticalTexts(t *testing.T) {
	model := &script{}
	h := newHarness(t, documented(t), model, rules.Engine{})
	for output, settled := range map[string]bool{"Paris": true, " the capital of France\n": true, "Paris | the capital of France": true, "paris": false} {
		trace := judge.Trace{ID: output, Output: output, Reference: "Paris | the capital of France"}
		e := evaluate(t, h, trace, byRules("answer-equivalence"))
		if (e.Status == judge.Accepted) != settled || (e.Label == "Yes") != settled {
			t.Errorf("rules on %q: %s %q, want it settled: %v", output, e.Status, e.Label, settled)
		}
		if !settled {
			continue
		}
		e = evaluate(t, h, trace, planned("answer-equivalence"))
		if e.Status != judge.Accepted || e.Label != "Yes" || e.Verdict != judge.Pass || e.Engine != judge.EngineRules || e.CostUSD != 0 {
			t.Errorf("%q: %s %q %q by %s", output, e.Status, e.Label, e.Verdict, e.Engine)
		}
	}
	if model.asked != nil {
		t.Errorf("a model was asked %d times", len(model.asked))
	}
	if _, _, err := h.Evaluate(context.Background(), &judge.Trace{Output: "o", Reference: "r"}, planned("answer-equivalence")); err != nil || len(model.asked) == 0 {
		t.Errorf("the model is not asked about other texts: %v", err)
	}
}
