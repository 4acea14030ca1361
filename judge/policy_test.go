package judge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
)

// wholePolicy says something in every place that a policy has.
const wholePolicy = `version: 7
audit: {random: 0.05, boundary: 0.1, boundary_width: 0.04, seed: countersign}
blind:
  mode: share
  share: 0.8
  rules:
    - {reason: critical_error, stakes: high, mode: always}
    - {stakes: standard, mode: share, share: 0.25}
due_hours: {high: 12, standard: 48}
lease_minutes: 20
opinions:
  default: 2
  rules:
    - {reason: critical_error, domain: medical, stakes: high, n: 3}
    - {stakes: standard, n: 1}
cannot_judge: 3
undo_seconds: 0
reason_codes:
  - {code: dose_error, text: "The dose: wrong", severity: critical, domains: [medical], judges: [citations]}
  - {code: other, text: Other, severity: minor}
high_stakes_domains: [legal, aviation]
endpoints: [api.openai.com, ward-7]
disagreement: {engines: [openai], between: models, recorded: true}
models: [gpt-x, {model: qwen, endpoint: ward-7}]
samples: 3
temperature: 0.5
budget_usd: 25
reasons:
  uncited_claims: [high]
  untrusted_judge: "on"
rules:
  - judge: citations
    domain: medical
    band: [0.7, 0.9]
    below: 0.85
    audit: {random: 0.5, boundary_width: 0.1}
    endpoints: [ward-7]
    models: [qwen]
    samples: 5
    reasons:
      ambiguous_score: "off"
      below_threshold: [high, standard]
      misattribution: {high: minor, standard: major}
      random_audit: false
  - domain: finance
    reasons: {inconsistent_output: [standard], uncited_claims: {standard: on}}
`

func parsePolicy(t *testing.T, text string) judge.Policy {
	t.Helper()
	p, err := judge.ParsePolicy("policy.yaml", []byte(text))
	if err != nil {
		t.Fatalf("ParsePolicy: %v", err)
	}
	return p
}

func TestPolicyAsYAML(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	never := 0
	want := judge.Policy{
		Version: 7, RandomAudit: 0.05, BoundaryAudit: 0.1, BoundaryWidth: number(0.04), Seed: "countersign",
		Blind: "share", BlindShare: 0.8, BlindRules: []judge.BlindRule{
			{Reason: "critical_error", Stakes: "high", Mode: "always"}, {Stakes: "standard", Mode: "share", Share: 0.25}},
		DueHoursHigh: 12, DueHoursStandard: 48, LeaseMinutes: 20,
		Opinions: &judge.Opinions{Default: 2, Rules: []judge.OpinionRule{
			{Reason: "critical_error", Domain: "medical", Stakes: "high", N: 3}, {Stakes: "standard", N: 1}}},
		CannotJudge: 3, UndoSeconds: &never,
		OverrideReasons: []judge.OverrideReason{
			{Code: "dose_error", Text: "The dose: wrong", Severity: "critical", Domains: []string{"medical"}, Judges: []string{"citations"}},
			{Code: "other", Text: "Other", Severity: "minor"}},
		HighStakesDomains: []string{"legal", "aviation"}, Endpoints: []string{"api.openai.com", "ward-7"},
		Disagreement: &judge.Disagreement{Engines: []string{"openai"}, Between: "models", Recorded: true},
		Models:       []judge.ModelChoice{{Model: "gpt-x"}, {Model: "qwen", Endpoint: "ward-7"}},
		Samples:      3, SampleTemperature: number(0.5), BudgetUSD: 25,
		Reasons: map[string]judge.Switch{"uncited_claims": {High: "on", Standard: "off"}, "untrusted_judge": {High: "on", Standard: "on"}},
		Rules: []judge.PolicyRule{
			{Judge: "citations", Domain: "medical", Band: &judge.Band{Low: 0.7, Pass: 0.9}, Below: number(0.85),
				RandomAudit: number(0.5), BoundaryWidth: number(0.1), Endpoints: []string{"ward-7"},
				Models: []judge.ModelChoice{{Model: "qwen"}}, Samples: 5,
				Reasons: map[string]judge.Switch{"ambiguous_score": {High: "off", Standard: "off"}, "below_threshold": {High: "on", Standard: "on"},
					"misattribution": {High: "minor", Standard: "major"}, "random_audit": {High: "off", Standard: "off"}}},
			{Domain: "finance", Reasons: map[string]judge.Switch{
				"inconsistent_output": {High: "off", Standard: "on"}, "uncited_claims": {Standard: "on"}}},
		},
	}
	got := parsePolicy(t, wholePolicy)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, parsePolicy(t, string(want.YAML()))); diff != "" {
		t.Errorf("policy after writing and reading (-want +got):\n%s\n%s", diff, want.YAML())
	}
	if text := string(want.YAML()); strings.Contains(text, "!!") {
		t.Errorf("tags that nobody writes:\n%s", text)
	}
	if diff := cmp.Diff(want, throughJSON(t, want)); diff != "" {
		t.Errorf("policy after JSON (-want +got):\n%s", diff)
	}
}

func throughJSON(t *testing.T, p judge.Policy) (back judge.Policy) {
	t.Helper()
	text, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// What a file leaves out is the default, and an empty list is not a missing one.
func TestPolicyLeftOut(t *testing.T) {
	want := judge.DefaultPolicy()
	want.Version, want.Endpoints = 0, []string{}
	got := parsePolicy(t, "endpoints: []\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
	for name, back := range map[string]judge.Policy{"YAML": parsePolicy(t, string(got.YAML())), "JSON": throughJSON(t, got)} {
		if diff := cmp.Diff(want, back); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", name, diff)
		}
	}
}

// Policies that were stored before there were rules mean what they meant.
func TestPolicyStoredBefore(t *testing.T) {
	const old = `{"version":3,"random_audit":0.2,"boundary_audit":0.3,"seed":"s","blind":"share","blind_share":0.5,"due_hours_high":8,"due_hours_standard":16,"lease_minutes":5`
	want := judge.Policy{Version: 3, RandomAudit: 0.2, BoundaryAudit: 0.3, Seed: "s", Blind: "share", BlindShare: 0.5, DueHoursHigh: 8, DueHoursStandard: 16, LeaseMinutes: 5}
	for ending, asks := range map[string]bool{"}": false, `,"uncited_claims":true}`: true} {
		var got judge.Policy
		if err := json.Unmarshal([]byte(old+ending), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(judge.Policy{}, "Reasons")); diff != "" {
			t.Errorf("policy (-want +got):\n%s", diff)
		}
		for stakes, on := range map[judge.Stakes]bool{judge.HighStakes: asks, judge.StandardStakes: false} {
			if got.For("citations", "", stakes).On(nil, judge.ReasonUncitedClaims) != on {
				t.Errorf("%s: uncited_claims at %s stakes is not %v", ending, stakes, on)
			}
		}
		if err := got.Check(); err != nil {
			t.Errorf("Check: %v", err)
		}
	}
}

// Every fault is told at once, each with its line.
func TestPolicyFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", "p.yaml: the file is empty"},
		{"no YAML", "audit: [", "p.yaml:1: not valid YAML"},
		{"a list", "- a\n", "p.yaml:1: the policy must be a mapping"},
		{"unknown key", "audit: {random: 0.1}\nrandom: 0.1\n", `p.yaml:2: unknown key "random" in the policy`},
		{"unknown key inside", "rules:\n  - judge: a\n    bands: [0, 1]\n", `p.yaml:3: unknown key "bands" in rule 1`},
		{"key twice", "lease_minutes: 3\nlease_minutes: 4\n", "p.yaml:2: "},
		{"version", "version: x\n", "p.yaml:1: version must be a whole number"},
		{"share", "audit:\n  random: 1.5\n", "p.yaml:2: audit.random is 1.5: a share lies between 0 and 1"},
		{"no number", "audit:\n  boundary: often\n", "p.yaml:2: audit.boundary must be a number"},
		{"not a number", "audit:\n  boundary: .nan\n", "p.yaml:2: audit.boundary is NaN"},
		{"width", "audit: {boundary_width: 0.6}\n", "audit.boundary_width is 0.6"},
		{"null", "temperature:\n", "temperature must be a number"},
		{"temperature", "temperature: 3\n", "temperature is 3"},
		{"blind", "blind: {mode: sometimes}\n", `blind.mode is "sometimes"`},
		{"blind order", "blind: {mode: always, order: random}\n", `blind.order is "random"`},
		{"blind without share", "blind: {mode: share}\n", "needs the share"},
		{"blind rule", "blind:\n  mode: always\n  rules:\n    - {reason: bad, stakes: middle, mode: never}\n", `p.yaml:4: rule 1 of blind, reason is "bad", which is no reason`},
		{"due", "due_hours: {high: 0}\n", "due_hours.high is 0"},
		{"lease", "lease_minutes: 1441\n", "lease_minutes is 1441"},
		{"no opinion", "opinions: {default: 0}\n", "an item needs one opinion at least"},
		{"many opinions", "opinions: {rules: [{n: 6}]}\n", "rule 1 of opinions, n is 6"},
		{"opinions without a number", "opinions: {rules: [{stakes: high}]}\n", "rule 1 of opinions, n is 0"},
		{"opinions for no reason", "opinions: {rules: [{reason: whim, n: 2}]}\n", "which is no reason"},
		{"opinions for no stakes", "opinions: {rules: [{stakes: low, n: 2}]}\n", "it is high or standard"},
		{"nobody cannot judge", "cannot_judge: 0\n", "at least one person"},
		{"many cannot judge", "cannot_judge: 6\n", "cannot_judge is 6"},
		{"undo for a day", "undo_seconds: 86400\n", "undo_seconds is 86400"},
		{"undo before", "undo_seconds: -1\n", "undo_seconds is -1"},
		{"no reason codes", "reason_codes: []\n", "an override names its reason"},
		{"reason code of words", "reason_codes: [{code: Dose error, text: x, severity: minor}]\n", "lower-case letters"},
		{"reason code twice", "reason_codes: [{code: a, text: x, severity: minor}, {code: a, text: y, severity: minor}]\n", "there twice"},
		{"reason code without text", "reason_codes: [{code: a, severity: minor}]\n", "has 0 characters"},
		{"reason code's severity", "reason_codes: [{code: a, text: x, severity: grave}]\n", "critical, major or minor"},
		{"reason codes for one domain only", "reason_codes: [{code: a, text: x, severity: minor, domains: [legal]}]\n", "elsewhere nobody could override"},
		{"endpoints", "endpoints:\n", "endpoints must be a list; [] means that traces are sent nowhere"},
		{"endpoint twice", "endpoints: [a, a]\n", `entry 2 of endpoints names "a", as one before it does`},
		{"engine", "disagreement: {engines: [recorded]}\n", `entry 1 of disagreement.engines is "recorded"`},
		{"between", "disagreement: {between: people}\n", `disagreement.between is "people"`},
		{"models", "models: []\n", "models is empty"},
		{"model", "models: [{endpoint: a}]\n", "entry 1 of models names no model"},
		{"samples", "samples: 26\n", "samples is 26"},
		{"budget", "budget_usd: -1\n", "budget_usd is -1"},
		{"reason", "reasons: {bad_mood: [high]}\n", "reasons.bad_mood is no reason"},
		{"reason's value", "reasons: {below_threshold: often}\n", `reasons.below_threshold is "often" for high stakes`},
		{"reason's stakes", "reasons: {below_threshold: [middle]}\n", `"middle" is neither high nor standard`},
		{"severity elsewhere", "reasons: {below_threshold: {high: minor}}\n", "only misattribution is switched by severity"},
		{"says nothing", "reasons: {below_threshold: {}}\n", "reasons.below_threshold says nothing"},
		{"never off: invalid_output", "reasons: {invalid_output: off}\n", "reasons.invalid_output can't be switched: without a valid report"},
		{"never off: judge_failed", "rules:\n- {judge: a, reasons: {judge_failed: off}}\n", "p.yaml:2: rule 1, reasons.judge_failed can't be switched: a trace whose judge failed"},
		{"never off: incomplete_report", "reasons: {incomplete_report: [high]}\n", "reasons.incomplete_report can't be switched: what a report left out"},
		{"never off: requested", "reasons: {requested: off}\n", "reasons.requested can't be switched: a person asked"},
		{"never off: logic in medicine", "rules:\n- judge: logic\n  domain: medical\n  reasons: {critical_error: [high]}\n", "p.yaml:4: rule 1, reasons.critical_error can't be off for logic in the domain medical"},
		{"rule of nothing", "rules:\n- {band: [0.1, 0.2]}\n", "p.yaml:2: rule 1 names neither a judge nor a domain"},
		{"rule twice", "rules:\n- {judge: a, samples: 2}\n- {judge: a, samples: 3}\n", "p.yaml:3: rule 2 is for the same judge and domain as rule 1"},
		{"empty rule", "rules:\n- {judge: a}\n", "rule 1 changes nothing"},
		{"band", "rules:\n- {judge: a, band: [0.9, 0.2]}\n", "rule 1, band is [0.9, 0.2]"},
		{"band of three", "rules:\n- {judge: a, band: [0.1, 0.2, 0.3]}\n", "band must be two numbers"},
		{"below", "rules:\n- {judge: a, below: 2}\n", "rule 1, below is 2"},
		{"rule's audit", "rules:\n- {judge: a, audit: {random: -1}}\n", "rule 1, audit.random is -1"},
		{"rule twice but for case", "rules:\n- {domain: Tax, samples: 2}\n- {domain: ' tax', samples: 3}\n", "p.yaml:3: rule 2 is for the same judge and domain as rule 1"},
		{"judge's name", "rules:\n- {judge: 'a b', samples: 2}\n", `rule 1, judge is "a b", which is no name`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := judge.ParsePolicy("p.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	t.Run("all at once, of every kind, in the order of lines", func(t *testing.T) {
		const text = `audit: {random: 2}
lease_minutes: 0
colour: red
reasons: {judge_failed: off, critical_error: [middle]}
samples: 0
due_hours: {high: often, standard: 0}
models: [a, {modle: b}, a]
rules:
  - judge: logic
    bands: [0, 1]
  - {judge: "a b", below: 2}
  - {judge: [], samples: 26}
  - {judge: [], samples: 99}
  - {judge: logic, band: [high, low]}
blind: {mode: share, rules: [{mode: sometimes}]}
`
		_, err := judge.ParsePolicy("p.yaml", []byte(text))
		if err == nil {
			t.Fatal("it was read")
		}
		want := strings.TrimPrefix(`
p.yaml:1: audit.random is 2: a share lies between 0 and 1
p.yaml:2: lease_minutes is 0: it lies between 1 and 1440 (minutes, at most a day)
p.yaml:3: unknown key "colour" in the policy
p.yaml:4: reasons.critical_error: "middle" is neither high nor standard
p.yaml:4: reasons.judge_failed can't be switched: a trace whose judge failed would be without an owner
p.yaml:5: samples is 0: it lies between 1 and 25 (answers of a model)
p.yaml:6: due_hours.high must be a whole number
p.yaml:6: due_hours.standard is 0: it lies between 1 and 8760 (hours, at most a year)
p.yaml:7: unknown key "modle" in entry 2 of models; known are endpoint, model
p.yaml:7: entry 3 of models names the model "a", as one before it does
p.yaml:10: unknown key "bands" in rule 1
p.yaml:11: rule 2, judge is "a b", which is no name of a judge
p.yaml:11: rule 2, below is 2: it lies between 0 and 1, as a share of the best value
p.yaml:12: rule 3, judge must be text
p.yaml:12: rule 3, samples is 26: it lies between 1 and 25 (answers of a model)
p.yaml:13: rule 4, judge must be text
p.yaml:13: rule 4, samples is 99: it lies between 1 and 25 (answers of a model)
p.yaml:14: rule 5, band must be two numbers such as [0.6, 0.8]
p.yaml:14: rule 5 is for the same judge and domain as rule 1; write them as one
p.yaml:15: the mode share needs the share, such as {mode: share, share: 0.8}
p.yaml:15: rule 1 of blind, mode is "sometimes": it is one of never, always, share`, "\n")
		var got []string
		for line := range strings.SplitSeq(err.Error(), "\n") {
			line, _, _ = strings.Cut(line, "; known are assignment")
			line, _, _ = strings.Cut(line, "; known are audit") // as long as the policy has keys
			line, _, _ = strings.Cut(line, "; known are band")
			got = append(got, line)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
			t.Errorf("faults (-want +got):\n%s", diff)
		}
	})
}

// The more special rule counts, field by field and stakes by stakes.
func TestPolicyFor(t *testing.T) {
	p := parsePolicy(t, `
audit: {random: 0.1, boundary: 0.2}
samples: 2
reasons: {inconsistent_output: off}
rules:
  - {judge: a, domain: x, samples: 5, reasons: {random_audit: off}}
  - {judge: a, samples: 4, band: [0.1, 0.2], audit: {boundary: 0.3}}
  - {domain: x, samples: 3, below: 0.5, audit: {boundary: 0.4}, reasons: {inconsistent_output: [high], boundary_audit: [high]}}
`)
	tests := []struct {
		judge, domain    string
		stakes           judge.Stakes
		samples          int
		random, boundary float64
		band, below      bool
		inconsistent     bool
	}{
		{"b", "y", judge.HighStakes, 2, 0.1, 0.2, false, false, false},
		{"b", "x", judge.HighStakes, 3, 0.1, 0.4, false, true, true},
		{"b", "x", judge.StandardStakes, 3, 0.1, 0, false, true, false},
		{"a", "y", judge.HighStakes, 4, 0.1, 0.3, true, false, false},
		{"a", "x", judge.HighStakes, 5, 0, 0.3, true, true, true},
	}
	for _, tt := range tests {
		e := p.For(tt.judge, tt.domain, tt.stakes)
		got := fmt.Sprint(e.Samples, e.RandomAudit, e.BoundaryAudit, e.Band != nil, e.Below != nil, e.On(nil, judge.ReasonInconsistentOutput))
		want := fmt.Sprint(tt.samples, tt.random, tt.boundary, tt.band, tt.below, tt.inconsistent)
		if got != want {
			t.Errorf("%s in %s at %s stakes: got %s, want %s", tt.judge, tt.domain, tt.stakes, got, want)
		}
	}
}

// Whatever a policy says, these reasons stay on.
func TestPolicyNeverOff(t *testing.T) {
	p := judge.DefaultPolicy()
	p.Reasons = map[string]judge.Switch{}
	off := judge.Switch{High: judge.SwitchOff, Standard: judge.SwitchOff}
	for _, code := range judge.ReasonCodes() {
		p.Reasons[code] = off
	}
	critical := map[string]bool{"logic medical": true, "logic-steps legal": true, "logic safety": true, "logic finance": false, "steps medical": false}
	for at, on := range critical {
		name, domain, _ := strings.Cut(at, " ")
		e := p.For(name, domain, judge.StandardStakes)
		for _, code := range []string{judge.ReasonInvalidOutput, judge.ReasonJudgeFailed, judge.ReasonIncompleteReport, judge.ReasonRequested} {
			if !e.On(nil, code) {
				t.Errorf("%s is off for %s", code, at)
			}
		}
		if e.On(nil, judge.ReasonCriticalError) != on {
			t.Errorf("critical_error for %s is not %v", at, on)
		}
	}
}

func TestMayGoTo(t *testing.T) {
	ward, hosted := judge.Endpoint{Name: "ward-7", Host: "10.0.0.7"}, judge.Endpoint{Name: "api.openai.com", Host: "api.openai.com"}
	tests := []struct {
		endpoints string
		to        judge.Endpoint
		want      bool
	}{
		{"", hosted, true}, {"", judge.Endpoint{}, true},
		{"endpoints: []", ward, false}, {"endpoints: []", judge.Endpoint{}, false},
		{"endpoints: [ward-7]", ward, true}, {"endpoints: [10.0.0.7]", ward, true}, {"endpoints: [ward-7]", hosted, false},
		{"endpoints: [ward-7]", judge.Endpoint{}, false},
		{"endpoints: [ward-7]\nrules: [{domain: d, endpoints: [api.openai.com]}]", hosted, true},
	}
	for _, tt := range tests {
		e := parsePolicy(t, tt.endpoints+"\nlease_minutes: 5\n").For("j", "d", judge.HighStakes)
		field, message := e.Refusal(tt.to)
		if e.MayGoTo(tt.to) != tt.want || (field == "") != tt.want || (message == "") != tt.want {
			t.Errorf("%q to %v: got %v with field %q, want %v", tt.endpoints, tt.to, !tt.want, field, tt.want)
		}
	}
}

func TestBlindShareOf(t *testing.T) {
	p := parsePolicy(t, wholePolicy)
	for at, want := range map[string]float64{"critical_error high": 1, "critical_error standard": 0.25, "random_audit high": 0.8} {
		reason, stakes, _ := strings.Cut(at, " ")
		if got := p.BlindShareOf(reason, judge.Stakes(stakes)); got != want {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
	}
	if got := judge.DefaultPolicy().BlindShareOf("requested", judge.HighStakes); got != 1 {
		t.Errorf("default: got %v, want 1", got)
	}
}

// Domains of traces are in lower case, so those of a policy are.
func TestPolicyDomains(t *testing.T) {
	p := parsePolicy(t, "high_stakes_domains: [Aviation]\nrules: [{domain: ' Tax', samples: 3}]\n")
	for domain, want := range map[string]judge.Stakes{"aviation": judge.HighStakes, "medical": judge.StandardStakes, "": judge.StandardStakes} {
		if got := p.StakesOf(domain); got != want {
			t.Errorf("stakes of %q: got %s, want %s", domain, got, want)
		}
	}
	if got := p.For("a", "tax", judge.HighStakes).Samples; got != 3 {
		t.Errorf("samples: got %d, want the rule's 3", got)
	}
	p.Rules[0].Domain = "Tax"
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "rule 1, domain ") {
		t.Errorf("Check: got %v, want a fault of a domain that no trace has", err)
	}
}

// A rule for a judge that is not there yet is told and taken.
func TestRulesForUnknownJudges(t *testing.T) {
	p := parsePolicy(t, "rules: [{judge: logic, samples: 2}, {judge: citation, samples: 2}, {domain: law, samples: 2}]\n")
	want := []string{`rule 2 is for the judge "citation", which the project does not have: the rule holds for nothing until it has; known are logic, citations`}
	if diff := cmp.Diff(want, p.UnknownJudges([]string{"logic", "citations"})); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// What was read can be written and is read again as the same.
func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte(wholePolicy))
	f.Add([]byte("endpoints: []\nreasons: {misattribution: {high: minor}}\n"))
	f.Add([]byte("audit: {seed: \"a\\nb: c\"}\nblind: {mode: never}\n"))
	f.Add([]byte("models: ['on', \"1\", null]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := judge.ParsePolicy("p", data)
		if err != nil {
			return
		}
		if err := p.Check(); err != nil {
			t.Fatalf("a policy was read that does not hold: %v", err)
		}
		back, err := judge.ParsePolicy("p", p.YAML())
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, p.YAML())
		}
		if diff := cmp.Diff(p, back); diff != "" {
			t.Fatalf("policy after writing and reading (-want +got):\n%s\n%s", diff, p.YAML())
		}
	})
}

// The example of the documentation is a policy, for judges that there are.
func TestDocumentedPolicy(t *testing.T) {
	text, err := os.ReadFile("../docs/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	p := parsePolicy(t, string(text))
	if warnings := p.UnknownJudges([]string{"citations", "reference", "steps"}); warnings != nil {
		t.Error(warnings)
	}
	e := p.For("citations", "medical", judge.StandardStakes)
	if !e.On(nil, judge.ReasonBelowThreshold) || e.LeastSeverity() != judge.SeverityMinor || e.RandomAudit != 0 ||
		e.MayGoTo(judge.Endpoint{Name: "api.openai.com"}) || *e.Below != 0.85 {
		t.Errorf("citations in medicine: %+v", e)
	}
	if got := p.BlindShareOf(judge.ReasonJudgeFailed, judge.HighStakes); got != 0 {
		t.Errorf("blind share of failed judges: got %v, want 0", got)
	}
}

// TestOpinionsFor: the first rule that fits counts, and there is always one
// person at least.
func TestOpinionsFor(t *testing.T) {
	p := parsePolicy(t, `
opinions:
  default: 2
  rules:
    - {domain: medical, stakes: high, n: 3}
    - {reason: random_audit, n: 1}
    - {domain: medical, n: 4}
`)
	for _, tt := range []struct {
		policy         judge.Policy
		reason, domain string
		stakes         judge.Stakes
		want           int
	}{
		{p, "critical_error", "medical", judge.HighStakes, 3},
		{p, "random_audit", "medical", judge.HighStakes, 3},
		{p, "random_audit", "medical", judge.StandardStakes, 1},
		{p, "critical_error", "medical", judge.StandardStakes, 4},
		{p, "critical_error", "legal", judge.HighStakes, 2},
		{judge.DefaultPolicy(), "critical_error", "legal", judge.HighStakes, 1},
		{judge.Policy{Opinions: &judge.Opinions{}}, "critical_error", "legal", judge.HighStakes, 1},
	} {
		if got := tt.policy.OpinionsFor(tt.reason, tt.domain, tt.stakes); got != tt.want {
			t.Errorf("%s, %s, %s: %d opinions, want %d", tt.reason, tt.domain, tt.stakes, got, tt.want)
		}
	}
}

// TestDefaultOverrideReasons: the list that holds without a policy's own can be
// a policy's own, and every domain and judge has reasons in it.
func TestDefaultOverrideReasons(t *testing.T) {
	p := judge.DefaultPolicy()
	p.OverrideReasons = judge.DefaultOverrideReasons()
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(p.OverrideReasons, parsePolicy(t, string(p.YAML())).OverrideReasons); diff != "" {
		t.Errorf("after writing and reading (-want +got):\n%s", diff)
	}
	codes := func(domain, name string) (list []string) {
		for _, r := range judge.DefaultPolicy().OverrideReasonsFor(domain, name) {
			list = append(list, r.Code)
		}
		return list
	}
	for domain, want := range map[string]string{"legal": "outdated_law", "medical": "dose_error", "finance": "amount_error"} {
		if !slices.Contains(codes(domain, "citations"), want) || slices.Contains(codes("general", "citations"), want) {
			t.Errorf("%s is offered for %v in %s and %v in general", want, codes(domain, "citations"), domain, codes("general", "citations"))
		}
	}
	p.OverrideReasons = []judge.OverrideReason{{Code: "a", Text: "x", Severity: "minor", Judges: []string{"steps"}}, {Code: "b", Text: "y", Severity: "minor"}}
	if got := p.OverrideReasonsFor("legal", "logic"); len(got) != 1 || got[0].Code != "b" {
		t.Errorf("reasons for another judge: %+v", got)
	}
	if w := p.UnknownJudges([]string{"logic"}); len(w) != 1 || !strings.Contains(w[0], `the judge "steps", which the project does not have`) {
		t.Errorf("a reason for a judge that there is not: %q", w)
	}
}
