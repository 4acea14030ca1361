package judge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

const queuePolicy = `
due:
  high: 12
  standard: 48
  rules:
    - {reason: critical_error, stakes: high, domain: ' Medical', hours: 2}
    - {domain: legal, hours: 30}
    - {reason: random_audit, hours: 500}
assignment:
  rules:
    - {domain: Medical, stakes: high, requires: [Physician, senior]}
    - {languages: true}
`

func TestQueuePolicyAsYAML(t *testing.T) {
	want := judge.DefaultPolicy()
	want.Version, want.DueHoursHigh, want.DueHoursStandard = 0, 12, 48
	want.DueRules = []judge.DueRule{{Reason: "critical_error", Stakes: "high", Domain: "medical", Hours: 2}, {Domain: "legal", Hours: 30}, {Reason: "random_audit", Hours: 500}}
	want.Assignment = []judge.AssignmentRule{{Domain: "medical", Stakes: "high", Requires: []string{"Physician", "senior"}}, {Languages: true}}
	got := parsePolicy(t, queuePolicy)
	for name, p := range map[string]judge.Policy{"read": got, "written and read": parsePolicy(t, string(got.YAML())), "through JSON": throughJSON(t, got)} {
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if text := string(got.YAML()); strings.Contains(text, "due_hours") {
		t.Errorf("due times are written twice:\n%s", text)
	}
	if text := string(judge.DefaultPolicy().YAML()); !strings.Contains(text, "due_hours: {high: 24, standard: 72}") {
		t.Errorf("without rules an earlier program could not read it:\n%s", text)
	}
}

// The first rule that fits counts, else what holds for the stakes.
func TestDueHours(t *testing.T) {
	p := parsePolicy(t, queuePolicy)
	for _, tt := range []struct {
		reason string
		stakes judge.Stakes
		domain string
		want   int
	}{
		{"critical_error", "high", "medical", 2}, {"critical_error", "standard", "medical", 48}, {"critical_error", "high", "finance", 12},
		{"random_audit", "high", "legal", 30}, {"random_audit", "standard", "math", 500}, {"", "standard", "", 48},
	} {
		if got := p.DueHours(tt.reason, tt.stakes, tt.domain); got != tt.want {
			t.Errorf("%s, %s, %s: due after %d hours, want %d", tt.reason, tt.stakes, tt.domain, got, tt.want)
		}
	}
}

func TestAssignmentLacks(t *testing.T) {
	r := judge.AssignmentRule{Domain: "medical", Requires: []string{"Physician", "Senior  reviewer"}}
	for _, tt := range []struct{ has, want []string }{
		{nil, []string{"Physician", "Senior  reviewer"}}, {[]string{"physician"}, []string{"Senior  reviewer"}}, {[]string{" senior reviewer", "PHYSICIAN", "x"}, nil},
	} {
		if diff := cmp.Diff(tt.want, r.Lacks(tt.has)); diff != "" {
			t.Errorf("with %q (-want +got):\n%s", tt.has, diff)
		}
	}
	if !r.Fits("high", "medical") || r.Fits("high", "legal") {
		t.Error("a rule for a domain fits another one")
	}
}

func TestQueuePolicyFaults(t *testing.T) {
	for text, want := range map[string]string{
		"due_hours: {high: 2}\ndue: {high: 3}\n":                  "p.yaml:2: due and due_hours say the same",
		"due: {high: 0}\n":                                        "is 0: it lies between 1 and 8760",
		"due:\n  rules:\n    - {hours: 3}\n":                      "p.yaml:3: rule 1 of due is for everything",
		"due: {rules: [{domain: legal}]}\n":                       "rule 1 of due, hours is 0",
		"due: {rules: [{reason: late, hours: 3}]}\n":              `rule 1 of due, reason is "late", which is no reason`,
		"due: {rules: [{stakes: low, hours: 3}]}\n":               "it is high or standard",
		"due: {rules: [{domain: a, hours: 3, day: 1}]}\n":         `unknown key "day"`,
		"assignment: {rules: [{domain: legal}]}\n":                "rule 1 of assignment asks for nothing",
		"assignment: {rules: [{requires: [a, a]}]}\n":             `rule 1 of assignment, requires.1 names "a", as one before it does`,
		"assignment: {rules: [{requires: ['']}]}\n":               "is empty",
		"assignment: {rules: [{stakes: low, languages: true}]}\n": "it is high or standard",
		"assignment: {rules: [{languages: maybe}]}\n":             "languages must be true or false",
		"assignment: [{languages: true}]\n":                       "assignment must be a mapping",
	} {
		_, err := judge.ParsePolicy("p.yaml", []byte(text))
		var fault *judge.DefinitionError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
