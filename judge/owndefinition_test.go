package judge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

// designed is the definition that shows every key of the form.
const designed = `name: answer-equivalence
description: one line
inputs: {output: required, reference: required, question: optional}
prompt: |
  Question: [QUESTION]
  Golden answers: [REFERENCE_OUTPUT]
  Candidate: [CANDIDATE_OUTPUT]
schema: {type: object, required: [verdict], properties: {verdict: {enum: ["Yes", "No", undetermined]}, rationale: {type: string}, score: {type: number}}}
report:
  label: /verdict
  score: /score
  critical: /critical_errors
labels:
  - {name: "Yes", verdict: pass}
  - {name: "No", verdict: fail}
  - {name: undetermined, verdict: borderline, abstain: true}
ordinal: false
max_repairs: 1
thresholds: {band: [0.6, 0.8]}
checks:
  - {name: rationale.cites, kind: soft, quote: /rationale, in: reference}
  - {name: total.sum, kind: hard, sum: /parts/*/points, equals: /total, within: 0.01}
  - {name: overall.mean, kind: hard, mean: /dimension_scores/*/score, equals: /overall, within: 0.05}
  - {name: reason.given, kind: hard, when: {pointer: /verdict, equals: "No"}, requires: /rationale}
routing: {high: [below_threshold]}
`

// An open schema allows a report more than it declares, so optional places may be
// outside it: they are noted. A closed one allows nothing else.
func TestUndeclaredPlaces(t *testing.T) {
	j := parse(t, designed)
	var places []string
	for _, note := range j.Notes {
		place, _, _ := strings.Cut(note[strings.Index(note, "declare ")+len("declare "):], ";")
		places = append(places, strings.Fields(note)[0]+" "+place)
	}
	want := []string{"j.yaml:12: /critical_errors", "j.yaml:22: /parts/*/points", "j.yaml:22: /total", "j.yaml:23: /dimension_scores/*/score", "j.yaml:23: /overall"}
	if diff := cmp.Diff(want, places); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	run := func(report string) (failed []string) {
		for _, c := range j.Checks {
			if faults, skipped := c.Run(json.RawMessage(report), &judge.Trace{Reference: "r"}); !skipped && faults != nil {
				failed = append(failed, c.Name)
			}
		}
		return failed
	}
	if got := run(`{"verdict":"Yes"}`); got != nil {
		t.Errorf("a report without the places fails %v", got)
	}
	if got := run(`{"verdict":"Yes","parts":[{"points":1},{"points":2}],"total":4}`); fmt.Sprint(got) != "[total.sum]" {
		t.Errorf("a wrong sum fails %v", got)
	}
	r, err := j.Read(json.RawMessage(`{"verdict":"Yes","score":1,"critical_errors":["x"]}`), &judge.Trace{})
	if err != nil || !r.Critical {
		t.Errorf("reading: %+v, %v; want it critical", r, err)
	}

	closed := strings.Replace(designed, "schema: {type: object,", "schema: {type: object, additionalProperties: false,", 1)
	_, err = judge.ParseDefinition("j.yaml", []byte(closed))
	for _, place := range []string{"j.yaml:12: report.critical: the pointer /critical_errors finds nothing", "j.yaml:22: sum: the pointer", "j.yaml:23: equals: the pointer /overall finds nothing"} {
		if err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("a closed schema: got %v, want %q", err, place)
		}
	}
	for _, label := range []string{"label: /verdicts", "label: /other"} {
		if _, err := judge.ParseDefinition("j.yaml", []byte(strings.Replace(designed, "label: /verdict\n", label+"\n", 1))); err == nil {
			t.Errorf("%s was taken: every report must hold its label", label)
		}
	}
}

func TestIdenticalTexts(t *testing.T) {
	const whole = `identical: {verdict: "Yes", rationale: word for word}`
	for _, key := range []string{`identical: "Yes"`, whole} {
		j := parse(t, designed+key+"\n")
		for _, tt := range []struct {
			output, reference string
			want              bool
		}{
			{"42", " 42\n", true}, {"b c", "a | b c", true}, {"a | b", "a | b", true},
			{"42", "43", false}, {"b", "a | b c", false}, {"", "a |  | b", false}, {"A", "a", false}, {" ", " ", false},
		} {
			report := j.Settle(&judge.Trace{Output: tt.output, Reference: tt.reference})
			if (report != nil) != tt.want {
				t.Errorf("%q against %q: report %s, want one: %v", tt.output, tt.reference, report, tt.want)
			}
			if report == nil {
				continue
			}
			if r, err := j.Read(report, &judge.Trace{}); err != nil || r.Label != "Yes" || r.Verdict != judge.Pass {
				t.Errorf("%s reads as %+v, %v", report, r, err)
			}
		}
		if j.PromptVersion == parse(t, designed).PromptVersion {
			t.Errorf("%s is not part of the prompt version", key)
		}
	}
	if parse(t, designed).Settle != nil {
		t.Error("a definition that says nothing of identical texts settles them")
	}
}

func TestIdenticalFaults(t *testing.T) {
	for _, tt := range []struct{ name, old, new, key, want string }{
		{"no label", "", "", `identical: Perhaps`, `j.yaml:26: identical: the label "Perhaps" is not one of`},
		{"no reference", "reference: required, ", "", `identical: "Yes"`, `j.yaml:`},
		{"report is not whole", "required: [verdict]", "required: [verdict, rationale]", `identical: "Yes"`, `the report on identical texts, {"verdict":"Yes"}, does not hold`},
		{"report fails a hard check", "", "", `identical: {verdict: "No"}`, `check reason.given: `},
		{"a label that is none", `enum: ["Yes", "No", undetermined]`, "type: string", `identical: {verdict: maybe}`, `the label "maybe" is not one of`},
		{"label inside a list", "label: /verdict", "label: /verdicts/0", `identical: "Yes"`, `makes no report by itself`},
		{"no label at all", "  label: /verdict\n", "", `identical: "Yes"`, `report says of none where it is`},
	} {
		text := strings.Replace(designed, tt.old, tt.new, 1)
		if strings.Contains(tt.new, "verdicts/0") {
			text = strings.Replace(text, `verdict: {enum`, `verdicts: {type: array, items: {type: string}}, verdict: {enum`, 1)
		}
		_, err := judge.ParseDefinition("j.yaml", []byte(text+tt.key+"\n"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// The quote check folds what every copy of a text may change, and lets an
// ellipsis leave words out, in their order.
func TestQuoteCheckFolds(t *testing.T) {
	j := parse(t, designed)
	reference := "The “ﬁrst” dose is 5\u00a0mg — taken at night, and co\u00adoperation matters."
	for rationale, want := range map[string]bool{
		`It says "the 'first' dose is 5 mg - taken at night".`: false, // single marks are not double ones
		`It says "dose is 5 mg - taken at night".`:             true,
		`It says “DOSE IS 5 MG – taken”, so yes.`:              true,
		`It says "cooperation matters."`:                       true,
		`It says "dose is … taken at night".`:                  true,
		`It says "dose is [...] cooperation matters".`:         true,
		`It says "taken at night ... dose is".`:                false,
		`It says "dose is 6 mg".`:                              false,
		`It says "...".`:                                       false,
		`first" dose is 5 mg`:                                  true,
	} {
		report, _ := json.Marshal(map[string]string{"verdict": "Yes", "rationale": rationale})
		for _, c := range j.Checks {
			if c.Name != "rationale.cites" {
				continue
			}
			if faults, _ := c.Run(report, &judge.Trace{Reference: reference}); (faults == nil) != want {
				t.Errorf("%s: faults %v, want it to hold: %v", rationale, faults, want)
			}
		}
	}
}
