package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

func builtinJudge(t *testing.T, name string) judge.Judge {
	t.Helper()
	for _, j := range builtin.Judges() {
		if j.Name == name {
			return j
		}
	}
	t.Fatalf("no judge %s", name)
	return judge.Judge{}
}

func TestReferenceAsExample(t *testing.T) {
	j := builtinJudge(t, builtin.Reference)
	trace := judge.Trace{Output: "twelve", Reference: "12"}
	for label, class := range map[string]string{
		"semantic_equivalent": "semantic_equivalent", "acceptable_variation": "acceptable_variation", "substantive_difference": "substantive_difference",
		"exact_match": "", "": "", "other": "",
	} {
		e, ok := j.Example(&trace, nil, judge.Settled{Label: label})
		if ok != (class != "") || e.Class != class || ok && !strings.HasPrefix(e.Answer, "Class: "+class+".") {
			t.Errorf("label %q gives %+v, %v", label, e, ok)
		}
	}
	for name, other := range map[string]judge.Trace{
		"identical": {Output: " 12", Reference: "12"}, "with rules of its own": {Output: "a", Reference: "b", Constraints: []string{"c"}},
	} {
		if e, ok := j.Example(&other, nil, judge.Settled{Label: "semantic_equivalent"}); ok {
			t.Errorf("a trace that is %s gives %+v", name, e)
		}
	}
}

func TestCitationAsExample(t *testing.T) {
	j := builtinJudge(t, builtin.Citations)
	evaluation := func(id string, step int, change map[string]any) map[string]any {
		e := map[string]any{"citation_id": id, "reasoning_step_index": step, "reasoning_step_text": "words of the model", "citation_exists": true, "quote_accurate": true,
			"context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "SECRET", "flagged": false}
		for k, v := range change {
			e[k] = v
		}
		return e
	}
	report := func(list ...map[string]any) json.RawMessage {
		body, err := json.Marshal(map[string]any{"overall_citation_accuracy_score": 1, "total_citations_evaluated": len(list), "citation_evaluations": list, "misattribution_flags": []any{}, "summary": "s"})
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	wrong := map[string]any{"claim_support_strength": "unsupported", "flagged": true}
	trace := judge.Trace{Output: "Step 1: it was red [s1].\nStep 2: it was round [s2].\nStep 3: both [s1] [s2].", Sources: []judge.Source{{ID: "s1", Text: "A red one."}, {ID: "s2", Text: "It is square."}}}
	right := []map[string]any{evaluation("s1", 1, nil), evaluation("s2", 2, nil), evaluation("s1", 3, nil), evaluation("s2", 3, nil)}
	with := func(at int, change map[string]any) []map[string]any {
		list := append([]map[string]any{}, right...)
		list[at] = evaluation(list[at]["citation_id"].(string), list[at]["reasoning_step_index"].(int), change)
		return list
	}
	confirmed := judge.Settled{Label: "accurate", Confirmed: true}
	for _, c := range []struct {
		name        string
		report      json.RawMessage
		by          judge.Settled
		class, step string
	}{
		{"all right", report(right...), confirmed, judge.ExampleCorrect, "Step 1: it was red [s1]."},
		{"the second is flagged", report(with(1, wrong)...), confirmed, judge.ExampleFlagged, "Step 2: it was round [s2]."},
		{"flagged beside another marker", report(with(2, wrong)...), confirmed, judge.ExampleCorrect, "Step 1: it was red [s1]."},
		{"the first supports in part", report(with(0, map[string]any{"claim_support_strength": "partially_supported"})...), confirmed, judge.ExampleCorrect, "Step 2: it was round [s2]."},
		{"flagged without a fault", report(with(1, map[string]any{"flagged": true})...), confirmed, judge.ExampleCorrect, "Step 1: it was red [s1]."},
		{"not what the judge said", report(right...), judge.Settled{Label: "inaccurate"}, "", ""},
		{"no report", nil, confirmed, "", ""},
		{"a report of another form", json.RawMessage(`{"citation_evaluations":3}`), confirmed, "", ""},
	} {
		e, ok := j.Example(&trace, c.report, c.by)
		if ok != (c.class != "") || e.Class != c.class || ok && e.Texts[0].Text != c.step {
			t.Errorf("%s: %+v, %v", c.name, e, ok)
		}
		if strings.Contains(e.Answer, "SECRET") || c.class == judge.ExampleFlagged && !strings.HasSuffix(e.Answer, "with the flags unsupported.") {
			t.Errorf("%s: the answer is %q", c.name, e.Answer)
		}
	}
}
