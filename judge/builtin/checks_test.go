package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

func named(t *testing.T, name string) judge.Judge {
	t.Helper()
	for _, j := range builtin.Judges() {
		if j.Name == name {
			return j
		}
	}
	t.Fatalf("no built-in judge %q", name)
	return judge.Judge{}
}

// checkCase does harm to a report that passes every check and says which checks
// must then find it. Harm is a list of old, new pairs of text.
type checkCase struct {
	name  string
	harm  []string
	trace func(*judge.Trace) // changes the trace; may be nil
	want  map[string]string  // failing check: part of its detail
}

// runCases holds every case to exactly the failing checks it names, by Examine and
// by the checks one by one.
func runCases(t *testing.T, judgeName, base string, trace judge.Trace, cases []checkCase) {
	t.Helper()
	j := named(t, judgeName)
	seen := map[string]bool{}
	for _, tt := range append([]checkCase{{name: "sound"}}, cases...) {
		t.Run(tt.name, func(t *testing.T) {
			report := base
			for i := 0; i < len(tt.harm); i += 2 {
				if !strings.Contains(report, tt.harm[i]) {
					t.Fatalf("the report does not contain %q", tt.harm[i])
				}
				report = strings.Replace(report, tt.harm[i], tt.harm[i+1], 1)
			}
			tr := trace
			if tt.trace != nil {
				tt.trace(&tr)
			}
			got := map[string]string{}
			checks, _ := j.Examine(json.RawMessage(report), &tr)
			for _, c := range checks {
				if !c.OK {
					got[c.Name] = c.Detail
					seen[c.Name] = true
				}
			}
			for name, part := range tt.want {
				if detail, failed := got[name]; !failed || !strings.Contains(detail, part) {
					t.Errorf("check %s: got %q, want a fault with %q", name, detail, part)
				}
			}
			for name, detail := range got {
				if _, wanted := tt.want[name]; !wanted {
					t.Errorf("check %s fails unexpectedly: %s", name, detail)
				}
			}
			single := map[string]string{}
			for _, c := range j.Checks {
				faults, skipped := c.Run(json.RawMessage(report), &tr)
				if !skipped && len(faults) > 0 {
					single[c.Name] = strings.Join(faults, "; ")
				}
				for _, f := range faults { // a model is told where to repair
					if c.Kind == judge.Hard && !strings.HasPrefix(f, "/") {
						t.Errorf("hard check %s: no JSON pointer in %q", c.Name, f)
					}
				}
			}
			if diff := cmp.Diff(got, single); diff != "" {
				t.Errorf("checks one by one differ from Examine (-Examine +single):\n%s", diff)
			}
		})
	}
	for _, c := range j.Checks {
		if !seen[c.Name] {
			t.Errorf("no case makes check %s fail", c.Name)
		}
	}
}

func TestStepsChecks(t *testing.T) {
	const report = `{
	"reference_step_count": 2, "candidate_step_count": 3,
	"step_alignments": [
		{"reference_step_index": 1, "reference_step_summary": "a", "candidate_step_indices": [1], "alignment_judgment": "CORRECT", "explanation": ""},
		{"reference_step_index": 2, "reference_step_summary": "b", "candidate_step_indices": [2], "alignment_judgment": "EQUIVALENT", "explanation": ""}],
	"unaligned_candidate_steps": [{"candidate_step_index": 3, "candidate_step_summary": "c", "classification": "EXTRA_VALID", "explanation": ""}],
	"final_answer_match": true,
	"overall_assessment": {"reasoning_score": 0.9, "critical_errors": [], "summary": ""}}`
	trace := judge.Trace{Question: "q", Output: "1. three\n2. six\nA: 18", Reference: "so 18\n#### 18"}
	runCases(t, builtin.Steps, report, trace, []checkCase{
		{name: "a reference step left out", harm: []string{`"reference_step_count": 2`, `"reference_step_count": 3`},
			want: map[string]string{"alignment.reference_covered": "reference step 3 of 3 is not aligned"}},
		{name: "a reference step twice", harm: []string{`"reference_step_index": 2`, `"reference_step_index": 1`},
			want: map[string]string{"alignment.reference_covered": "aligned twice"}},
		{name: "a candidate step out of range", harm: []string{`"candidate_step_count": 3`, `"candidate_step_count": 2`},
			want: map[string]string{"alignment.candidate_in_range": "3 is not from 1 to 2"}},
		{name: "a candidate step left out", harm: []string{`"candidate_step_count": 3`, `"candidate_step_count": 4`},
			want: map[string]string{"alignment.candidate_covered": "/step_alignments: candidate step 4 of 4 is neither"}},
		{name: "a candidate step in both lists", harm: []string{`"candidate_step_index": 3`, `"candidate_step_index": 2`, `"candidate_step_count": 3`, `"candidate_step_count": 2`},
			want: map[string]string{"alignment.candidate_covered": "/unaligned_candidate_steps/0/candidate_step_index: candidate step 2 is both"}},
		{name: "MISSING with steps", harm: []string{`EQUIVALENT`, `MISSING`},
			want: map[string]string{"alignment.missing_is_empty": "MISSING, but"}},
		{name: "steps missing without MISSING", harm: []string{`[2]`, `[]`, `[1]`, `[1, 2]`},
			want: map[string]string{"alignment.missing_is_empty": "/step_alignments/1/candidate_step_indices: EQUIVALENT, but it is empty"}},
		{name: "score too high, incorrect", harm: []string{`0.9`, `0.95`, `EQUIVALENT`, `INCORRECT`},
			want: map[string]string{"score.too_high": "reference step 2 INCORRECT", "answer.lucky": "right answer, wrong way"}},
		{name: "score too high, erroneous", harm: []string{`0.9`, `1`, `EXTRA_VALID`, `EXTRA_ERRONEOUS`},
			want: map[string]string{"score.too_high": "EXTRA_ERRONEOUS"}},
		{name: "score too high, critical", harm: []string{`0.9`, `0.99`, `"critical_errors": []`, `"critical_errors": ["x"]`},
			want: map[string]string{"score.too_high": "1 critical"}},
		{name: "score just below too high", harm: []string{`0.9`, `0.949`, `"critical_errors": []`, `"critical_errors": ["x"]`}},
		{name: "score too low", harm: []string{`0.9`, `0.59`}, want: map[string]string{"score.too_low": "0.59"}},
		{name: "score too low, whatever stands beside the reference's steps", harm: []string{`0.9`, `0.59`, `EXTRA_VALID`, `EXTRA_ERRONEOUS`}, want: map[string]string{"score.too_low": "0.59"}},
		{name: "score low with a wrong answer", harm: []string{`0.9`, `0.59`, `"final_answer_match": true`, `"final_answer_match": false`}, trace: func(tr *judge.Trace) { tr.Reference = "Answer: 19" }},
		{name: "score low with a reason", harm: []string{`0.9`, `0.59`, `EQUIVALENT`, `PARTIALLY_CORRECT`}},
		{name: "lucky", harm: []string{`0.9`, `0.8`, `EQUIVALENT`, `INCORRECT`}, want: map[string]string{"answer.lucky": "0.80"}},
		{name: "answers differ", trace: func(tr *judge.Trace) { tr.Reference = "The answer is 1,800." },
			want: map[string]string{"answer.numeric": "18 and 1800"}},
		{name: "answers are equal but said to differ", harm: []string{`"final_answer_match": true`, `"final_answer_match": false`},
			trace: func(tr *judge.Trace) { tr.Reference = "Answer: $18.00" },
			want:  map[string]string{"answer.numeric": "final_answer_match is false"}},
		{name: "an answer in words is not compared", trace: func(tr *judge.Trace) { tr.Reference = "Answer: eighteen" }},
	})
}

func TestStepsComparisonChecks(t *testing.T) {
	const report = `{"step_comparisons": [
		{"step_number": 1, "reference_step": "a", "model_step": "a", "match_type": "exact_match", "explanation": ""},
		{"step_number": 2, "reference_step": "b", "model_step": "c", "match_type": "logical_equivalent", "explanation": ""}],
		"overall_alignment_score": 0.9, "critical_errors": []}`
	runCases(t, builtin.StepsComparison, report, judge.Trace{}, []checkCase{
		{name: "critical step that is not there", harm: []string{`"critical_errors": []`, `"critical_errors": [3]`},
			want: map[string]string{"comparison.critical_refs": "no comparison with step_number 3"}},
		{name: "too high", harm: []string{`0.9`, `0.97`, `logical_equivalent`, `contradiction`}, want: map[string]string{"score.too_high": "step 2 contradiction"}},
		{name: "too high, critical", harm: []string{`0.9`, `0.97`, `"critical_errors": []`, `"critical_errors": [2]`}, want: map[string]string{"score.too_high": "1 critical"}},
		{name: "too low", harm: []string{`0.9`, `0.3`}, want: map[string]string{"score.too_low": "0.30"}},
		{name: "low with a reason", harm: []string{`0.9`, `0.3`, `exact_match`, `order_mismatch`}},
	})
}

func TestReferenceChecks(t *testing.T) {
	const report = `{"similarity_score": 0.9, "equivalence_class": "semantic_equivalent", "partial_credit": 0.95,
		"rationale": "It keeps \"is 40 euros\".", "key_differences": [], "critical_error_count": 0}`
	trace := judge.Trace{Stakes: judge.HighStakes, Output: "You get 40 euros back.", Reference: "The refund is 40 euros."}
	difference := []string{`0.9,`, `0.3,`, `semantic_equivalent`, `substantive_difference`, `0.95`, `0.7`, `[]`, `["amount"]`, `"critical_error_count": 0`, `"critical_error_count": 1`}
	with := func(more ...string) []string { return append(append([]string{}, difference...), more...) }
	runCases(t, builtin.Reference, report, trace, []checkCase{
		{name: "a sound difference", harm: difference},
		{name: "count absent, differences stand in", harm: with(`, "critical_error_count": 1`, ``)},
		{name: "count null", harm: with(`"critical_error_count": 1`, `"critical_error_count": null`)},
		{name: "credit never below nought", harm: with(`"critical_error_count": 1`, `"critical_error_count": 5`, `"partial_credit": 0.7`, `"partial_credit": 0`)},
		{name: "exact that is not", harm: []string{`0.9,`, `1,`, `semantic_equivalent`, `exact_match`, `0.95`, `1`}, want: map[string]string{"class.exact": "not identical"}},
		{name: "identical but not exact", trace: func(t *judge.Trace) { t.Output = " The refund is 40 euros.\n" }, want: map[string]string{"class.exact": "are identical"}},
		{name: "difference without errors", harm: with(`"critical_error_count": 1`, `"critical_error_count": 0`, `"partial_credit": 0.7`, `"partial_credit": 1`), want: map[string]string{"errors.counted": "at least 1"}},
		{name: "errors without difference", harm: []string{`"critical_error_count": 0`, `"critical_error_count": 2`}, want: map[string]string{"errors.counted": "has 0"}},
		{name: "credit", harm: []string{`0.95`, `0.93`}, want: map[string]string{"credit.formula": "gives 0.95"}},
		{name: "credit within a hundredth", harm: []string{`0.95`, `0.94`}},
		{name: "nothing listed", harm: with(`["amount"]`, `[]`), want: map[string]string{"differences.listed": "at least one"}},
		{name: "equivalent with a low score", harm: []string{`0.9,`, `0.7,`}, want: map[string]string{"score.class": "at least 0.8"}},
		{name: "difference with a high score", harm: with(`0.3,`, `0.8,`), want: map[string]string{"score.class": "below 0.8"}},
		{name: "number lost", trace: func(t *judge.Trace) { t.Output = "You get enough back." }, want: map[string]string{"numbers.changed": "40 euros"}},
		{name: "number changed", trace: func(t *judge.Trace) { t.Output = "You get 4 euros back." }, want: map[string]string{"numbers.changed": "40 euros"}},
		{name: "one of the alternatives", trace: func(t *judge.Trace) { t.Reference = "is 40 euros | is 50 euros" }},
		{name: "rationale quotes nothing", harm: []string{`is 40 euros`, `is fifty euros`}, want: map[string]string{"rationale.cites": "word for word"}},
		{name: "rationale need not quote at standard stakes", harm: []string{`is 40 euros`, `is fifty euros`}, trace: func(t *judge.Trace) { t.Stakes = judge.StandardStakes }},
		{name: "rationale quotes one word", harm: []string{`is 40 euros`, `refund`}, want: map[string]string{"rationale.cites": "at least three words"}},
		{name: "rationale quotes two words", harm: []string{`is 40 euros`, `the refund`}, want: map[string]string{"rationale.cites": "/rationale"}},
		{name: "rationale quotes a part of a word", harm: []string{`is 40 euros`, `he refund is 4`}, want: map[string]string{"rationale.cites": "/rationale"}},
		{name: "rationale quotes an amount", harm: []string{`is 40 euros`, `40 Euros`}},
		{name: "rationale quotes a short reference whole", harm: []string{`is 40 euros`, `to be refunded`, `It keeps`, `It says \"Yes.\" and keeps`}, trace: func(t *judge.Trace) { t.Reference, t.Output = "Yes", "Certainly" }},
		{name: "rationale repeats the reference without marks", harm: []string{`\"is 40 euros\"`, `that the refund is 40 euros`}},
		{name: "negation", trace: func(t *judge.Trace) { t.Output = "You do not get 40 euros back." }, want: map[string]string{"negation.flipped": "the candidate denies once, the reference never"}},
		{name: "another thing denied", trace: func(t *judge.Trace) {
			t.Reference, t.Output = "Not the buyer but the seller pays: it is 40 euros.", "The buyer, not the seller, pays; 40 euros."
		}, want: map[string]string{"negation.flipped": "the reference denies “buyer” and the candidate “seller”"}},
		{name: "an exception for a denial", trace: func(t *judge.Trace) {
			t.Reference, t.Output = "The refund is 40 euros, not in winter.", "The refund is 40 euros unless in winter."
		}, want: map[string]string{"negation.flipped": "1 in the candidate, 0 in the reference"}},
		{name: "a denial in another order", trace: func(t *judge.Trace) {
			t.Reference, t.Output = "The seller is not liable for loss of profit; the fee is 40 euros.", "For loss of profit, the seller isn't liable. The fee is 40 euros."
		}, harm: []string{`is 40 euros`, `fee is 40 euros`}},
		{name: "a denial with another word", trace: func(t *judge.Trace) {
			t.Reference, t.Output = "There is no refund: it is 40 euros lost, 1,000 at most.", "A refund is not paid. 40 euros are lost, at most 1,000."
		}, harm: []string{`is 40 euros`, `it is 40 euros`}},
		{name: "one of the alternatives denies", trace: func(t *judge.Trace) {
			t.Reference, t.Output = "The refund is 40 euros. | There is no refund, it is 40 euros.", "No refund. 40 euros."
		}},
	})
}

func TestLogicChecks(t *testing.T) {
	const report = `{"overall_validity_score": 4.0, "overall_assessment": "", "dimension_scores": {
		"premise_support": {"score": 5, "violations": []},
		"inference_rule_adherence": {"score": 4, "violations": []},
		"formal_fallacy_detection": {"score": 2, "violations": [{"step_citation": "so all birds swim", "explanation": "e", "fallacy_type": "hasty generalisation", "severity": "critical"}]},
		"conclusion_alignment": {"score": 5, "violations": []}}}`
	trace := judge.Trace{Output: "1. Ducks are birds that swim.\n2. Hence, so all birds swim.\n3. An eagle swims."}
	runCases(t, builtin.Logic, report, trace, []checkCase{
		{name: "dimension missing", harm: []string{`"premise_support"`, `"premises"`},
			want: map[string]string{"dimensions.complete": `dimension premise_support is not scored`}},
		{name: "score out of range", harm: []string{`"score": 5`, `"score": 6`, `4.0`, `4.25`}, want: map[string]string{"score.range": "6 is not from 1 to 5"}},
		{name: "mean", harm: []string{`4.0`, `4.1`}, want: map[string]string{"overall.mean": "the mean of the dimension scores is 4"}},
		{name: "mean within", harm: []string{`4.0`, `4.05`}},
		{name: "violation required", harm: []string{`{"score": 4, "violations": []}`, `{"score": 3, "violations": []}`, `4.0`, `3.75`}, want: map[string]string{"violations.required": "inference_rule_adherence has 3"}},
		{name: "violation of a sound dimension", harm: []string{`{"score": 4, "violations": []}`, `{"score": 4, "violations": [{"step_citation": "An eagle swims.", "explanation": "e"}]}`}, want: map[string]string{"violations.absent": "inference_rule_adherence has 4"}},
		{name: "citation not in the trace", harm: []string{`so all birds swim`, `penguins cannot fly at all`}, want: map[string]string{"citation.verbatim": "does not occur"}},
		{name: "citation folded", harm: []string{`so all birds swim`, `SO  all birds swim`}},
		{name: "fallacy without a name", harm: []string{`"hasty generalisation"`, `null`}, want: map[string]string{"fallacy.named": "names no fallacy"}},
		{name: "critical with a middling score", harm: []string{`"score": 2`, `"score": 3`, `4.0`, `4.25`}, want: map[string]string{"score.severity": "formal_fallacy_detection has 3"}},
		{name: "major with a middling score", harm: []string{`"score": 2`, `"score": 3`, `4.0`, `4.25`, `"critical"`, `"major"`}},
	})
}

func TestLogicStepsChecks(t *testing.T) {
	const report = `{"validity_score": 4, "dimension_scores": [
		{"dimension": "premise_support", "score": 5, "rationale": ""}, {"dimension": "inference_rule_adherence", "score": 4, "rationale": ""},
		{"dimension": "formal_fallacy_detection", "score": 2, "rationale": ""}, {"dimension": "conclusion_alignment", "score": 5, "rationale": ""}],
		"violations": [{"step_index": 2, "rule_violated": "hasty generalisation", "description": "d", "severity": "critical", "dimension": "formal_fallacy_detection", "step_citation": "so all birds swim"}]}`
	trace := judge.Trace{Output: "1. Ducks are birds that swim.\n2. Hence, so all birds swim.\n3. An eagle swims."}
	runCases(t, builtin.LogicSteps, report, trace, []checkCase{
		{name: "dimension twice", harm: []string{`premise_support`, `conclusion_alignment`}, want: map[string]string{"dimensions.complete": "scored twice"}},
		{name: "range", harm: []string{`"score": 5`, `"score": 0.5`, `"validity_score": 4`, `"validity_score": 2.9`}, want: map[string]string{"score.range": "0.5", "violations.required": "premise_support has 0.5"}},
		{name: "mean", harm: []string{`"validity_score": 4`, `"validity_score": 5`}, want: map[string]string{"overall.mean": "is 4"}},
		{name: "required", harm: []string{`"dimension": "inference_rule_adherence", "score": 4`, `"dimension": "inference_rule_adherence", "score": 3`, `"validity_score": 4`, `"validity_score": 3.75`}, want: map[string]string{"violations.required": "has 3"}},
		{name: "a violation without a dimension may be of any", harm: []string{`, "dimension": "formal_fallacy_detection", "step_citation"`, `, "step_citation"`}},
		{name: "absent", harm: []string{`"severity": "critical", "dimension": "formal_fallacy_detection"`, `"severity": "minor", "dimension": "premise_support"`}, want: map[string]string{"violations.absent": "premise_support has 5", "violations.required": "formal_fallacy_detection"}},
		{name: "step that is not there", harm: []string{`"step_index": 2`, `"step_index": 4`}, want: map[string]string{"step_index.exists": "there is no step 4; the trace has 3"}},
		{name: "verbatim", harm: []string{`so all birds swim`, `penguins cannot fly at all`}, want: map[string]string{"citation.verbatim": "does not occur"}},
		{name: "fallacy", harm: []string{`"rule_violated": "hasty generalisation"`, `"rule_violated": " "`}, want: map[string]string{"fallacy.named": "names no fallacy"}},
		{name: "severity without a dimension", harm: []string{`"score": 2`, `"score": 3.5`, `"validity_score": 4`, `"validity_score": 4.4`, `, "dimension": "formal_fallacy_detection", "step_citation"`, `, "step_citation"`}, want: map[string]string{"score.severity": "no dimension has less than 3.5"}},
		{name: "severity without a dimension, one is low", harm: []string{`, "dimension": "formal_fallacy_detection", "step_citation"`, `, "step_citation"`}},
		{name: "severity", harm: []string{`"score": 2`, `"score": 3.5`, `"validity_score": 4`, `"validity_score": 4.4`}, want: map[string]string{"score.severity": "has 3.5"}},
	})
}

const citationsReport = `{"overall_citation_accuracy_score": 0.5, "total_citations_evaluated": 3, "summary": "",
	"citation_evaluations": [
	{"citation_id": "1", "reasoning_step_index": 1, "reasoning_step_text": "a", "citation_exists": true, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "", "flagged": false},
	{"citation_id": "2", "reasoning_step_index": 2, "reasoning_step_text": "b", "citation_exists": true, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "partially_supported", "explanation": "weaker", "flagged": false},
	{"citation_id": "9", "reasoning_step_index": 3, "reasoning_step_text": "c", "citation_exists": false, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "unsupported", "explanation": "", "flagged": true}],
	"misattribution_flags": [{"citation_id": "9", "reasoning_step_index": 3, "flag_type": "citation_not_found", "severity": "minor", "detail": "no source 9"},
	{"citation_id": "9", "reasoning_step_index": 3, "flag_type": "unsupported", "severity": "minor", "detail": "nothing supports it"}]}`

func citationsTrace() judge.Trace {
	return judge.Trace{
		Output: "The trial had 400 patients, and \"212 of them recovered within ten days\" [1].\nMost of them were adults [2].\nIt was repeated later [9].",
		Sources: []judge.Source{
			{ID: "1", Text: "Of the 400 patients 212 of them recovered within ten days; children were excluded."},
			{ID: "2", Text: "Adults were the larger group."},
		},
	}
}

func TestCitationsChecks(t *testing.T) {
	runCases(t, builtin.Citations, citationsReport, citationsTrace(), []checkCase{
		{name: "ids as numbers", harm: []string{`"citation_id": "1"`, `"citation_id": 1`}},
		{name: "one skipped", trace: func(t *judge.Trace) { t.Output += "\nAnd again [2]." },
			want: map[string]string{"citations.covered": "occurrence 4, [2] in step 4"}},
		{name: "one judged twice does not cover another", harm: []string{`"citation_id": "9", "reasoning_step_index": 3, "reasoning_step_text"`, `"citation_id": "1", "reasoning_step_index": 1, "reasoning_step_text"`},
			want: map[string]string{"citations.covered": "[9] in step 3", "citations.invented": "/citation_evaluations/2", "flag.matches": "fits no flagged", "exists.agrees": "it is false, but a source [1] is given: true"}},
		{name: "steps counted otherwise", harm: []string{`"reasoning_step_index": 1,`, `"reasoning_step_index": 11,`}},
		{name: "two in one bracket", trace: func(t *judge.Trace) { t.Output = strings.Replace(t.Output, "[2]", "[2, 1]", 1) },
			want: map[string]string{"citations.covered": "[1] in step 2"}},
		{name: "one invented", harm: []string{`"citation_id": "2"`, `"citation_id": "3"`},
			want: map[string]string{"citations.invented": "[3] in step 2", "citations.covered": "[2] in step 2", "exists.agrees": "a source [3] is given: false"}},
		{name: "total", harm: []string{`"total_citations_evaluated": 3`, `"total_citations_evaluated": 4`}, want: map[string]string{"total.count": "it is 4, but there are 3"}},
		{name: "formula", harm: []string{`0.5`, `0.52`}, want: map[string]string{"score.formula": "give 0.5"}},
		{name: "formula within", harm: []string{`0.5`, `0.51`}},
		{name: "a flag without a flagged citation", harm: []string{`"flagged": true`, `"flagged": false`}, want: map[string]string{"flag.matches": "fits no flagged evaluation"}},
		{name: "a flag at another step", harm: []string{`"reasoning_step_index": 3, "flag_type"`, `"reasoning_step_index": 1, "flag_type"`}, want: map[string]string{"flag.matches": "/misattribution_flags/0"}},
		{name: "a flag that names no step", harm: []string{`"reasoning_step_index": 3, "flag_type"`, `"reasoning_step_index": null, "flag_type"`}},
		{name: "flagged without a flag", harm: []string{`"explanation": "weaker", "flagged": false`, `"explanation": "weaker", "flagged": true`, `0.5`, `0.3333`}, want: map[string]string{"flag.matches": "has no flag of [2]"}},
		{name: "unsupported without a flag", harm: []string{`partially_supported`, `unsupported`, `0.5`, `0.3333`}, want: map[string]string{"flag.matches": "flag unsupported"}},
		{name: "not found needs its own flag", harm: []string{`"flag_type": "citation_not_found"`, `"flag_type": "unsupported"`}, want: map[string]string{"flag.matches": "/citation_evaluations/2/citation_exists: it is false, but misattribution_flags has no flag citation_not_found of [9]"}},
		{name: "unsupported needs its own flag, also where the source is not there", harm: []string{`"flag_type": "unsupported"`, `"flag_type": "citation_not_found"`}, want: map[string]string{"flag.matches": "no flag unsupported of [9]"}},
		{name: "a quotation that is wrong, where the source is not there", harm: []string{`"citation_exists": false, "quote_accurate": true`, `"citation_exists": false, "quote_accurate": false`}, want: map[string]string{"flag.matches": "no flag quote_mismatch of [9]"}},
		{name: "a context that is wrong, where the source is not there", harm: []string{`"accurate", "claim_support_strength": "unsupported"`, `"mismatch", "claim_support_strength": "unsupported"`}, want: map[string]string{"flag.matches": "no flag context_mismatch of [9]"}},
		{name: "one flag for two flagged occurrences of its citation", trace: func(t *judge.Trace) { t.Output += "\nAnd once more it was [9]." }, harm: []string{
			`"misattribution_flags"`, `"x": [], "misattribution_flags"`, `"explanation": "", "flagged": true}],`, `"explanation": "", "flagged": true},
			{"citation_id": "9", "reasoning_step_index": 4, "reasoning_step_text": "d", "citation_exists": false, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "unsupported", "explanation": "", "flagged": true}],`,
			`"total_citations_evaluated": 3`, `"total_citations_evaluated": 4`, `0.5,`, `0.375,`}},
		{name: "exists wrongly", harm: []string{`"citation_exists": true`, `"citation_exists": false`},
			want: map[string]string{"exists.agrees": "a source [1] is given: true", "flag.matches": "citation_not_found"}},
		{name: "quotation altered", trace: func(t *judge.Trace) { t.Output = strings.Replace(t.Output, "212", "312", 1) },
			want: map[string]string{"quote.agrees": "is altered", "numbers.agree": "312"}},
		{name: "quotation not there", trace: func(t *judge.Trace) {
			t.Output = strings.Replace(t.Output, "212 of them recovered within ten days", "side effects of every kind were rare", 1)
		}, want: map[string]string{"quote.agrees": "does not occur"}},
		{name: "quotation there but denied", harm: []string{`"quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "", "flagged": false`,
			`"quote_accurate": false, "context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "", "flagged": true`,
			`"misattribution_flags": [`, `"misattribution_flags": [{"citation_id": "1", "flag_type": "quote_mismatch", "severity": "minor", "detail": "d"},`, `0.5,`, `0.1667,`},
			want: map[string]string{"quote.agrees": "word for word"}},
		{name: "number nowhere in the source", trace: func(t *judge.Trace) { t.Output = strings.Replace(t.Output, "400 patients", "4000 patients", 1) },
			want: map[string]string{"numbers.agree": "4000"}},
		{name: "number not asked of a partial support", trace: func(t *judge.Trace) { t.Output = strings.Replace(t.Output, "adults", "77 adults", 1) }},
	})
}
