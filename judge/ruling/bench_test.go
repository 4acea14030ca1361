package ruling_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/ruling"
)

// longCitations is a trace of 200 KB with 500 citations of 50 sources, each claim
// with a quotation, and a report on it.
func longCitations(t testing.TB) item {
	var trace judge.Trace
	for i := range 50 {
		var text strings.Builder
		for k := range 40 {
			fmt.Fprintf(&text, "In group %d of trial %d the dose of %d mg was given to patients who had agreed to it in writing. ", k, i, k*10+i)
		}
		trace.Sources = append(trace.Sources, judge.Source{ID: fmt.Sprint(i + 1), Text: text.String()})
	}
	var output strings.Builder
	evaluations := make([]string, 500)
	for i := range 500 {
		source, k := i%50, i%40
		fmt.Fprintf(&output, "Step %d: The report says that \"in group %d of trial %d the dose of %d mg was given to patients\" [%d]. %s\n",
			i+1, k, source, k*10+source+i%3, source+1, strings.Repeat("What follows from it is a long matter of its own. ", 6))
		evaluations[i] = fmt.Sprintf(`{"citation_id": "%d", "reasoning_step_index": %d, "reasoning_step_text": "", "citation_exists": true, "quote_accurate": true,
			"context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "as it says", "flagged": false}`, source+1, i+1)
	}
	trace.Output = output.String()
	j := named(t, builtin.Citations)
	report := `{"overall_citation_accuracy_score": 1, "total_citations_evaluated": 500, "summary": "", "misattribution_flags": [], "citation_evaluations": [` + strings.Join(evaluations, ",") + `]}`
	return item{"500 citations", j, trace, evaluated(t, j, &trace, report)}
}

// longSteps is a trace of 200 KB and a reference nearly like it.
func longSteps(t testing.TB, name string) item {
	var output, reference strings.Builder
	pairs := make([]string, 1000)
	for i := range 1000 {
		fmt.Fprintf(&output, "Step %d: the sum of %d and %d is %d, which has to be carried over to the next line; see also part %d of the table.\n", i+1, i, i+1, 2*i+1, i%7)
		fmt.Fprintf(&reference, "Step %d: the sum of %d and %d is %d, which must be carried to the next line; see part %d of the table as well.\n", i+1, i, i+1, 2*i+1+i%2, i%7)
		pairs[i] = fmt.Sprintf(`{"reference_step_index": %d, "reference_step_summary": "", "candidate_step_indices": [%d], "alignment_judgment": "EQUIVALENT", "explanation": ""}`, i+1, i+1)
	}
	trace := judge.Trace{Question: "q", Output: output.String() + output.String()[:60_000], Reference: reference.String()}
	j := named(t, name)
	report := `{"similarity_score": 0.9, "equivalence_class": "semantic_equivalent", "partial_credit": 0.95, "rationale": "", "key_differences": [], "critical_error_count": 0}`
	if name == builtin.Steps {
		trace.Output = output.String()
		report = `{"reference_step_count": 1000, "candidate_step_count": 1000, "step_alignments": [` + strings.Join(pairs, ",") + `], "unaligned_candidate_steps": [],
			"final_answer_match": true, "overall_assessment": {"critical_errors": [], "summary": "", "reasoning_score": 1}}`
	}
	return item{name, j, trace, evaluated(t, j, &trace, report)}
}

func longLogic(t testing.TB) item {
	it := longSteps(t, builtin.Steps)
	var violations []string
	for i := range 500 {
		violations = append(violations, fmt.Sprintf(`{"step_citation": "the sum of %d and %d is %d, which has to be carried", "explanation": "e", "severity": "minor"}`, i, i+1, 2*i+2))
	}
	report := `{"overall_validity_score": 2, "overall_assessment": "", "dimension_scores": {
		"premise_support": {"score": 2, "violations": [` + strings.Join(violations, ",") + `]}, "inference_rule_adherence": {"score": 2, "violations": []},
		"formal_fallacy_detection": {"score": 2, "violations": []}, "conclusion_alignment": {"score": 2, "violations": []}}}`
	j := named(t, builtin.Logic)
	it.trace.Reference = ""
	return item{"logic", j, it.trace, evaluated(t, j, &it.trace, report)}
}

func BenchmarkNew(b *testing.B) {
	for _, it := range []item{longCitations(b), longSteps(b, builtin.Steps), longSteps(b, builtin.Reference), longLogic(b)} {
		b.Run(strings.ReplaceAll(it.name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(it.trace.Output)))
			for b.Loop() {
				s := sheetOf(b, it, false)
				if len(s.Units) == 0 {
					b.Fatal("no unit")
				}
			}
		})
	}
}

func BenchmarkCheckAndOutcome(b *testing.B) {
	it := longCitations(b)
	s := sheetOf(b, it, false)
	rulings := agreeing(s)
	for b.Loop() {
		if err := s.Check(rulings); err != nil {
			b.Fatal(err)
		}
		s.Outcome(rulings, it.judge.Band)
		s.Findings(rulings)
		s.Changed(rulings)
	}
}

// A line of a megabyte of any kind of text is read as any other.
func TestMegabyteLine(t *testing.T) {
	for _, line := range []string{"a", "not 5 mg ", "“so it is said there”[1] ", "東", "\u202e\u200b", "x | "} {
		text := strings.Repeat(line, 1_000_000/len(line))
		trace := judge.Trace{Question: "q", Output: "1. a\n2. " + text, Reference: text + "b", Sources: []judge.Source{{ID: "1", Text: text}}}
		for _, name := range builtin.Default() {
			s, err := ruling.New(named(t, name), &trace, nil)
			if err != nil {
				t.Errorf("%s of %q: %v", name, line, err)
			}
			if len(s.Units) == 0 && name != builtin.Citations {
				t.Errorf("%s of %q: no unit", name, line)
			}
		}
	}
}

// Whatever stands in a trace, a report and a ruling, nothing panics, and what Check
// lets through has an outcome or none, and findings.
func FuzzNew(f *testing.F) {
	for i, it := range append(workedExamples(f), citationsItem(f), referenceItem(f)) {
		f.Add(i, it.trace.Output, it.trace.Reference, string(it.eval.Report), `[{"part":"pair/1","value":"missing"},{"part":"add/1","value":"minor","note":"{}"}]`)
	}
	f.Add(0, "1. a\n2. b", "a | b", `{"step_alignments":[{"reference_step_index":-1,"candidate_step_indices":[-1,9]}],"reference_step_count":1}`, `[{"part":"extra/1","value":"valid"}]`)
	f.Add(4, "a", "", `{"step_comparisons":[{"reference_step":"a","model_step":"b","match_type":"extra_step"}]}`, `[{"part":"citation/1/quote","value":"near"}]`)
	f.Fuzz(func(t *testing.T, which int, output, reference, report, ruled string) {
		list := builtin.Judges()
		j := list[(which%len(list)+len(list))%len(list)]
		trace := &judge.Trace{Output: output, Reference: reference, Sources: []judge.Source{{ID: "1", Text: reference}}}
		var rulings []judge.Ruling
		if json.Unmarshal([]byte(ruled), &rulings) != nil {
			rulings = nil
		}
		for _, e := range []*judge.Evaluation{nil, {Report: json.RawMessage(report), Findings: []judge.Finding{{Class: "x"}}}} {
			s, err := ruling.New(&j, trace, e)
			if err != nil {
				continue
			}
			all := append(agreeing(s), rulings...)
			if s.Check(agreeing(s)) != nil {
				// A report that the schema would refuse may hold values that are no choice.
				continue
			}
			s.Changed(all)
			s.Progress(all)
			s.Findings(all)
			s.Outcome(all, j.Band)
			if s.Check(rulings) == nil && len(s.Changed(rulings)) > len(rulings) {
				t.Fatalf("%d of %d rulings differ", len(s.Changed(rulings)), len(rulings))
			}
		}
	})
}
