package ruling_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/ruling"
)

const citationsReport = `{"overall_citation_accuracy_score": 0.5, "total_citations_evaluated": 3, "summary": "", "citation_evaluations": [
	{"citation_id": "1", "reasoning_step_index": 1, "reasoning_step_text": "a", "citation_exists": true, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "said so", "flagged": false},
	{"citation_id": "2", "reasoning_step_index": 2, "reasoning_step_text": "b", "citation_exists": true, "quote_accurate": true, "context_fidelity": "partial_mismatch", "claim_support_strength": "partially_supported", "explanation": "weaker", "flagged": false},
	{"citation_id": "9", "reasoning_step_index": 3, "reasoning_step_text": "c", "citation_exists": false, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "unsupported", "explanation": "", "flagged": true}],
	"misattribution_flags": [{"citation_id": "9", "reasoning_step_index": 3, "flag_type": "citation_not_found", "severity": "minor", "detail": "no source 9"},
	{"citation_id": "9", "reasoning_step_index": 3, "flag_type": "unsupported", "severity": "minor", "detail": "nothing supports it"}]}`

func citationsItem(t testing.TB) item {
	trace := judge.Trace{
		Output: "The trial had 400 patients, and \"212 of them recovered within ten days\" [1].\nMost of them were adults [2].\nIt was repeated later [9].",
		Sources: []judge.Source{
			{ID: "1", Title: "Trial", Text: "Of the 400 patients 212 of them recovered quickly within ten days; children were excluded."},
			{ID: "2", Text: "Adults were the larger group."},
		},
	}
	j := named(t, builtin.Citations)
	return item{"citations", j, trace, evaluated(t, j, &trace, citationsReport)}
}

const stepsReference = "1. Three months before 30 June is 30 March.\n2. 10 April is after 30 March, so the notice is late.\n3. The lease does not end.\nAnswer: 3"

// stepsItem has four steps in the output; the report has as many as it says.
func stepsItem(t testing.TB, referenceSteps, candidateSteps int) item {
	trace := judge.Trace{
		Question: "Does it end?", Reference: stepsReference,
		Output: "1. The notice was due by 30 March at the latest.\n2. 10 April is well before 30 June.\n3. So the lease ends.\n4. The keys have to be returned.\nAnswer: 4",
	}
	if referenceSteps != 3 {
		trace.Reference = "Three months before 30 June is 30 March. 10 April is after it. The lease does not end."
	}
	report := `{"reference_step_count": 3, "candidate_step_count": ` + string(rune('0'+candidateSteps)) + `, "step_alignments": [
		{"reference_step_index": 1, "reference_step_summary": "find the day", "candidate_step_indices": [1], "alignment_judgment": "CORRECT", "explanation": "the same day"},
		{"reference_step_index": 2, "reference_step_summary": "compare", "candidate_step_indices": [2], "alignment_judgment": "INCORRECT", "explanation": "another day"},
		{"reference_step_index": 3, "reference_step_summary": "conclude", "candidate_step_indices": [3], "alignment_judgment": "INCORRECT", "explanation": "the contrary"}],
		"unaligned_candidate_steps": [{"candidate_step_index": 4, "candidate_step_summary": "keys", "classification": "EXTRA_IRRELEVANT", "explanation": "nothing of keys"}],
		"final_answer_match": false, "overall_assessment": {"critical_errors": ["the day"], "summary": "", "reasoning_score": 0.2}}`
	j := named(t, builtin.Steps)
	return item{"steps", j, trace, evaluated(t, j, &trace, report)}
}

func logicItem(t testing.TB) item {
	trace := judge.Trace{Output: "1. All whales are mammals.\n2. Willy is a mammal.\n3. So Willy is a whale, certainly."}
	report := `{"overall_validity_score": 3.5, "overall_assessment": "", "dimension_scores": {
		"premise_support": {"score": 5, "violations": []},
		"inference_rule_adherence": {"score": 2, "violations": [{"step_citation": "So Willy is a whale", "explanation": "it does not follow", "severity": "major"}]},
		"formal_fallacy_detection": {"score": 2, "violations": [{"step_citation": "Willy is a mammal", "explanation": "the middle", "fallacy_type": "undistributed middle", "severity": "critical"}]},
		"conclusion_alignment": {"score": 5, "violations": []}}}`
	j := named(t, builtin.Logic)
	return item{"logic", j, trace, evaluated(t, j, &trace, report)}
}

func referenceItem(t testing.TB) item {
	trace := judge.Trace{
		Reference: "The tenant may end the lease on 29 September 2026 by giving not less than six months’ written notice. Take 5 mg daily. Email is not sufficient.",
		Output:    "The tenant may end the lease on 30 September 2026 by giving at least six months’ written notice. Take 5 g daily. Email is sufficient.",
	}
	report := `{"similarity_score": 0.4, "equivalence_class": "substantive_difference", "partial_credit": 0.7, "rationale": "the day differs",
		"key_differences": ["The day is 30 September and not 29 September."], "critical_error_count": 1}`
	j := named(t, builtin.Reference)
	return item{"reference", j, trace, evaluated(t, j, &trace, report)}
}

// What rulings come to, by each judge's formula.
func TestOutcome(t *testing.T) {
	rule := func(pairs ...string) (list []judge.Ruling) {
		for _, p := range pairs {
			part, value, _ := strings.Cut(p, "=")
			value, note, _ := strings.Cut(value, "|")
			list = append(list, judge.Ruling{Part: part, Value: value, Note: note})
		}
		return list
	}
	type want struct {
		open     bool
		score    float64 // -1: none
		verdict  judge.Verdict
		label    string
		critical bool
		credit   float64 // 0: none
		changed  string
		findings string // classes
	}
	tests := []struct {
		name    string
		item    item
		sealed  bool
		rulings []judge.Ruling
		want    want
	}{
		{name: "citations: nothing ruled", item: citationsItem(t), want: want{score: 0.5, verdict: judge.Fail, label: "inaccurate", findings: "partially_supported citation_not_found"}},
		{name: "citations: better support", item: citationsItem(t), rulings: rule("citation/2/support=fully_supported", "citation/2/fidelity=accurate"),
			want: want{score: 2.0 / 3, verdict: judge.Borderline, label: "partial", changed: "citation/2/fidelity citation/2/support", findings: "citation_not_found"}},
		{name: "citations: the missing source is there", item: citationsItem(t), rulings: rule("citation/3/exists=exists", "citation/3/support=fully_supported"),
			want: want{score: 2.5 / 3, verdict: judge.Pass, label: "accurate", changed: "citation/3/exists citation/3/support", findings: "partially_supported"}},
		{name: "citations: a source that is not there is critical", item: citationsItem(t), rulings: rule("citation/1/exists=not_found"),
			want: want{score: 0.5 / 3, verdict: judge.Fail, label: "inaccurate", critical: true, changed: "citation/1/exists", findings: "citation_not_found partially_supported citation_not_found"}},
		{name: "citations: a wrong quotation", item: citationsItem(t), rulings: rule("citation/1/quote=not_found|a word is missing"),
			want: want{score: 0.5 / 3, verdict: judge.Fail, label: "inaccurate", changed: "citation/1/quote", findings: "quote_mismatch partially_supported citation_not_found"}},
		{name: "citations: misleading", item: citationsItem(t), rulings: rule("citation/2/fidelity=mismatch"),
			want: want{score: 1.0 / 3, verdict: judge.Fail, label: "inaccurate", changed: "citation/2/fidelity", findings: "context_mismatch citation_not_found"}},
		{name: "citations: what cannot be verified is open", item: citationsItem(t), rulings: rule("citation/1/exists=cannot_verify"),
			want: want{open: true, changed: "citation/1/exists", findings: "cannot_verify partially_supported citation_not_found"}},
		{name: "citations: sealed and not done", item: citationsItem(t), sealed: true, rulings: rule("citation/1/support=fully_supported"), want: want{open: true}},
		{name: "citations: sealed and done", item: citationsItem(t), sealed: true, rulings: rule(
			"citation/1/exists=exists", "citation/1/quote=near", "citation/1/fidelity=accurate", "citation/1/support=fully_supported",
			"citation/2/exists=exists", "citation/2/quote=no_quote", "citation/2/fidelity=accurate", "citation/2/support=fully_supported",
			"citation/3/exists=exists", "citation/3/quote=no_quote", "citation/3/fidelity=accurate", "citation/3/support=unsupported"),
			want: want{score: 2.0 / 3, verdict: judge.Borderline, label: "partial", findings: "unsupported"}},

		{name: "steps: agreeing", item: stepsItem(t, 3, 4), rulings: rule("pair/1=equivalent", "pair/2=contradicts", "first_wrong=2"),
			want: want{score: 0.2, verdict: judge.Fail, label: "invalid", critical: true, findings: "INCORRECT INCORRECT EXTRA_IRRELEVANT critical_error"}},
		{name: "steps: otherwise", item: stepsItem(t, 3, 4), rulings: rule("pair/2=partial", "pair/3=not_needed", "extra/4=valid", "answer=yes", "first_wrong=none"),
			want: want{open: true, changed: "pair/2 pair/3 extra/4 answer first_wrong", findings: "PARTIALLY_CORRECT"}},
		{name: "steps: the judge cut the reference otherwise", item: stepsItem(t, 1, 4), rulings: rule("pair/1=partial", "pair/2/3=equivalent"),
			want: want{open: true, changed: "pair/2/3", findings: "INCORRECT EXTRA_IRRELEVANT final_answer first_wrong_step"}},
		{name: "steps: the judge counts the output otherwise", item: stepsItem(t, 3, 5), rulings: rule("extra/4/5=erroneous", "extra/4=valid"),
			want: want{open: true, changed: "extra/4/5", findings: "INCORRECT INCORRECT EXTRA_ERRONEOUS final_answer"}},
		{name: "steps: one that lines up is called wrong", item: stepsItem(t, 3, 4), rulings: rule("extra/1=erroneous"),
			want: want{open: true, changed: "extra/1", findings: "INCORRECT INCORRECT EXTRA_IRRELEVANT final_answer first_wrong_step EXTRA_ERRONEOUS"}},

		{name: "reference: agreeing", item: referenceItem(t), rulings: rule("class=substantive_difference"),
			want: want{score: 0.4, verdict: judge.Fail, label: "substantive_difference", credit: 0.7, findings: "difference"}},
		{name: "reference: three material differences", item: referenceItem(t), rulings: rule("difference/1=material", "difference/3=material", "difference/4=material"),
			want: want{score: 0.4, verdict: judge.Fail, label: "substantive_difference", credit: 0.1, changed: "difference/3 difference/4", findings: "difference difference difference"}},
		{name: "reference: another class", item: referenceItem(t), rulings: rule("class=semantic_equivalent", "difference/1=wording"),
			want: want{score: -1, verdict: judge.Pass, label: "semantic_equivalent", credit: 0.95, changed: "difference/1 class"}},
		{name: "reference: sealed", item: referenceItem(t), sealed: true, rulings: rule("class=substantive_difference", "difference/2=wording", "difference/4=material|the opposite"),
			want: want{score: -1, verdict: judge.Fail, label: "substantive_difference", credit: 0.7, findings: "difference"}},
		{name: "reference: sealed without a class", item: referenceItem(t), sealed: true, rulings: rule("difference/4=material"), want: want{open: true, findings: "difference"}},

		{name: "logic: agreeing", item: logicItem(t), rulings: rule("dimension/premise_support=5", "violation/1=uphold"),
			want: want{score: 0.7, verdict: judge.Fail, label: "4", critical: true, findings: "undistributed middle violation"}},
		{name: "logic: rejected", item: logicItem(t), rulings: rule("violation/1=reject", "dimension/formal_fallacy_detection=5"),
			want: want{score: 17.0 / 20, verdict: judge.Pass, label: "4", changed: "dimension/formal_fallacy_detection violation/1", findings: "violation"}},
		{name: "logic: found besides", item: logicItem(t), rulings: append(rule("violation/1=reject"), ruling.Added{Severity: "critical", Step: 3, Quote: "certainly", Explanation: "too sure"}.Ruling(1)),
			want: want{score: 0.7, verdict: judge.Fail, label: "4", critical: true, changed: "violation/1 add/1", findings: "violation violation"}},
		{name: "logic: sealed", item: logicItem(t), sealed: true, rulings: rule("dimension/premise_support=5", "dimension/inference_rule_adherence=4", "dimension/formal_fallacy_detection=4", "dimension/conclusion_alignment=4", "add/1=minor|loose"),
			want: want{score: 0.85, verdict: judge.Pass, label: "4", findings: "violation"}},
		{name: "logic: sealed and not done", item: logicItem(t), sealed: true, rulings: rule("dimension/premise_support=5"), want: want{open: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := sheetOf(t, tt.item, tt.sealed)
			if err := s.Check(tt.rulings); err != nil {
				t.Fatal(err)
			}
			out, ok := s.Outcome(tt.rulings, tt.item.judge.Band)
			got := want{open: !ok, changed: strings.Join(s.Changed(tt.rulings), " ")}
			for _, f := range s.Findings(tt.rulings) {
				got.findings = strings.TrimSpace(got.findings + " " + f.Class)
			}
			if ok {
				got.score, got.verdict, got.label, got.critical = -1, out.Verdict, out.Label, out.Critical
				if out.Score != nil {
					got.score = *out.Score
				}
				if out.Credit != nil {
					got.credit = *out.Credit
				}
			}
			close := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(want{}), close); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// What does not fit is told by its field.
func TestCheck(t *testing.T) {
	tests := []struct {
		name    string
		item    item
		sealed  bool
		rulings []judge.Ruling
		want    string
	}{
		{"no such citation", citationsItem(t), false, []judge.Ruling{{Part: "citation/4/support", Value: "unsupported"}}, "rulings[0].part "},
		{"no such question", citationsItem(t), false, []judge.Ruling{{Part: "citation/1", Value: "unsupported"}}, "rulings[0].part "},
		{"no such value", citationsItem(t), false, []judge.Ruling{{Part: "citation/1/support", Value: "fully_supported"}, {Part: "citation/1/quote", Value: "unsupported"}}, `rulings[1].value "unsupported" is not one of exact, near, not_found, no_quote`},
		{"twice", citationsItem(t), false, []judge.Ruling{{Part: "citation/1/support", Value: "unsupported"}, {Part: "citation/1/support", Value: "fully_supported"}}, "rulings[1].part "},
		{"a long note", citationsItem(t), false, []judge.Ruling{{Part: "citation/1/support", Value: "unsupported", Note: strings.Repeat("a", 4001)}}, "rulings[0].note "},
		{"too many", citationsItem(t), false, make([]judge.Ruling, ruling.MostRulings+1), "rulings are 5001"},
		{"a step that is not there", stepsItem(t, 3, 4), false, []judge.Ruling{{Part: "first_wrong", Value: "5"}}, "rulings[0].value "},
		{"a pair of another cut", stepsItem(t, 3, 4), false, []judge.Ruling{{Part: "pair/2/5", Value: "partial"}}, "rulings[0].part "},
		{"a violation while sealed", logicItem(t), true, []judge.Ruling{{Part: "violation/1", Value: "reject"}}, "rulings[0].part "},
		{"a score out of range", logicItem(t), true, []judge.Ruling{{Part: "dimension/premise_support", Value: "6"}}, "rulings[0].value "},
		{"a list without a number", logicItem(t), false, []judge.Ruling{{Part: "add", Value: "minor", Note: "x"}}, "rulings[0].part "},
		{"number zero", logicItem(t), false, []judge.Ruling{{Part: "add/0", Value: "minor", Note: "x"}}, "rulings[0].part "},
		{"a number written otherwise", logicItem(t), false, []judge.Ruling{{Part: "add/01", Value: "minor", Note: "x"}}, "rulings[0].part "},
		{"too many of a list", logicItem(t), false, []judge.Ruling{{Part: "add/51", Value: "minor", Note: "x"}}, "rulings[0].part "},
		{"a violation that says nothing", logicItem(t), false, []judge.Ruling{{Part: "add/1", Value: "minor", Note: ` {"step":1}`}}, "rulings[0].note "},
		{"a violation of no step", logicItem(t), false, []judge.Ruling{ruling.Added{Severity: "minor", Step: 4, Explanation: "x"}.Ruling(1)}, "rulings[0].note names step 4; the output has 3"},
		{"a violation of no dimension", logicItem(t), false, []judge.Ruling{ruling.Added{Severity: "minor", Dimension: "style", Explanation: "x"}.Ruling(2)}, "rulings[0].note "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := sheetOf(t, tt.item, tt.sealed).Check(tt.rulings)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCitationFacts(t *testing.T) {
	it := citationsItem(t)
	s := sheetOf(t, it, false)
	var kinds []ruling.MatchKind
	for _, u := range s.Units {
		kinds = append(kinds, u.Citation.Kind)
	}
	if diff := cmp.Diff([]ruling.MatchKind{ruling.MatchNear, ruling.MatchNoQuote, ruling.MatchNoSource}, kinds); diff != "" {
		t.Errorf("kinds (-want +got)\n%s", diff)
	}
	c := s.Units[0].Citation
	if c.Quote != "212 of them recovered within ten days" || c.LeftOut != 1 || c.Source.Title != "Trial" ||
		it.trace.Output[c.Claim.Start:c.Claim.End] == "" || c.Altered != "" {
		t.Errorf("got %+v", c)
	}
	if got := s.Units[2].Parts[0].JudgeNote; got != "minor: no source 9" {
		t.Errorf("note on existence: %q", got)
	}
}

func TestFirstWrongOfTheJudge(t *testing.T) {
	for _, tt := range []struct {
		name string
		item item
		want string
	}{
		{"counted as the trace is shown", stepsItem(t, 3, 4), "2"},
		{"counted otherwise", stepsItem(t, 3, 5), ""},
		{"another cut of the reference alone", stepsItem(t, 1, 4), "2"},
	} {
		p, ok := sheetOf(t, tt.item, false).Part("first_wrong")
		if !ok || p.Judged != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, p.Judged, tt.want)
		}
	}
}

// The reference that a call cut for the judge is shown in its own words.
func TestCutReference(t *testing.T) {
	it := stepsItem(t, 1, 4)
	it.eval.Calls = []judge.Attempt{{Purpose: judge.PurposeDecomposition, Report: []byte(`{"steps":["One.","Two.","Three."]}`)}}
	if got := sheetOf(t, it, false).Units[1].Pair.ReferenceText; got != "Two." {
		t.Errorf("got %q, want Two.", got)
	}
}

func TestViolationPlaces(t *testing.T) {
	it := logicItem(t)
	for _, u := range sheetOf(t, it, false).Units {
		for _, p := range u.Parts {
			if p.Violation == nil {
				continue
			}
			at := p.Violation.Place
			if got := it.trace.Output[at.Start:at.End]; got != p.Violation.Quote || p.Violation.Step == 0 {
				t.Errorf("%s stands at %q in step %d, want %q", p.Key, got, p.Violation.Step, p.Violation.Quote)
			}
		}
	}
}

func TestOwnJudge(t *testing.T) {
	j, err := judge.ParseDefinition("own.yaml", []byte(`name: own
description: one
inputs: {output: required}
prompt: "[CANDIDATE_OUTPUT]"
schema: {type: object, required: [verdict], properties: {verdict: {enum: ["Yes", "No", undetermined]}, faults: {type: array}}}
report: {label: /verdict, critical: /faults}
labels: [{name: "Yes", verdict: pass}, {name: "No", verdict: fail}, {name: undetermined, verdict: borderline, abstain: true}]
`))
	if err != nil {
		t.Fatal(err)
	}
	trace := judge.Trace{Output: "a"}
	it := item{"own", &j, trace, evaluated(t, &j, &trace, `{"verdict": "No", "faults": ["x"]}`)}
	s := sheetOf(t, it, false)
	if out, ok := s.Outcome(agreeing(s), j.Band); !ok || out.Label != "No" || !out.Critical {
		t.Errorf("agreeing: %+v, %v", out, ok)
	}
	rulings := []judge.Ruling{{Part: "label", Value: "Yes"}, {Part: "finding/1", Value: ruling.Reject}}
	if got := s.Changed(rulings); len(got) != 2 {
		t.Errorf("changed %q", got)
	}
	if out, ok := s.Outcome(rulings, j.Band); !ok || out.Label != "Yes" || out.Verdict != judge.Pass || out.Score != nil {
		t.Errorf("otherwise: %+v, %v", out, ok)
	}
	if got := s.Findings(rulings); len(got) != 0 {
		t.Errorf("rejected findings stay: %+v", got)
	}
	sealed := sheetOf(t, it, true)
	if len(sealed.Units) != 1 || sealed.Units[0].Parts[0].Judged != "" {
		t.Errorf("sealed: %+v", sealed.Units)
	}
}

// A report by a rubric that the project had before is ruled on by that one; what
// was ruled blind by the present one stands, and counts for nothing.
func TestAnotherRubric(t *testing.T) {
	it := logicItem(t)
	present, _ := builtin.LogicWith(judge.Rubric{
		{Name: "premise_support", Check: "c", Anchors: [5]string{"a", "b", "c", "d", "e"}}, {Name: "causes", Check: "c", Anchors: [5]string{"a", "b", "c", "d", "e"}},
	})
	it.judge = &present
	blind := []judge.Ruling{{Part: "dimension/causes", Value: "1"}, {Part: "dimension/premise_support", Value: "5"}}
	if err := sheetOf(t, it, true).Check(blind); err != nil {
		t.Fatal(err)
	}
	s := sheetOf(t, it, false)
	if err := s.Check(blind); err != nil {
		t.Fatal(err)
	}
	out, ok := s.Outcome(blind, it.judge.Band)
	if !ok || len(s.Changed(blind)) > 0 || math.Abs(*out.Score-0.7) > 1e-9 || len(out.Parts) != 4 {
		t.Errorf("got %+v, %v, changed %q", out, ok, s.Changed(blind))
	}
}

func TestUnknownJudge(t *testing.T) {
	trace := judge.Trace{Output: "a"}
	e := &judge.Evaluation{Report: []byte(`{}`), Findings: []judge.Finding{{Class: "x"}}, Verdict: judge.Fail}
	s, err := ruling.New(nil, &trace, e)
	if err != nil || s.Kind != ruling.Own || len(s.Units) != 1 || s.Units[0].Key != "finding/1" {
		t.Errorf("got %+v, %v", s.Units, err)
	}
}

// Blind, steps stand beside those of the reference that their texts line up with,
// and without a judgment.
func TestLinedUp(t *testing.T) {
	trace := judge.Trace{
		Question: "q", Reference: "1. 3 + 4 = 7 apples are there.\n2. 7 - 2 = 5 apples are left.\nAnswer: 5",
		Output: "1. First, apples are fruit.\n2. 3 + 4 = 7 apples are there.\n3. 7 - 2 = 5 apples are left.\nAnswer: 5",
	}
	s := sheetOf(t, item{"", named(t, builtin.Steps), trace, nil}, true)
	var got []string
	for _, u := range s.Units {
		line := u.Key
		if u.Pair != nil {
			for _, c := range u.Pair.Candidate {
				line += " " + s.Steps[c-1].Text[:1]
			}
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"pair/1 2", "pair/2 3", "extra/1", "answer", "first_wrong"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if a := s.Answers; !a.Compared || !a.Same || a.Candidate != "5" {
		t.Errorf("answers %+v", a)
	}
}
