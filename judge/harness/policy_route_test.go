package harness_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// factual is a judge named name whose every report reads as the given facts, with
// soft checks that fail as named.
func factual(name string, r judge.Reading, failing ...string) judge.Judge {
	j := judge.Judge{
		Name: name, PromptVersion: "v1", Band: judge.DefaultBand, Prompt: "[CANDIDATE_OUTPUT]",
		Inputs: []judge.Input{{Field: "output", Required: true}},
		Schema: json.RawMessage(`{"type":"object"}`),
		Read:   func(json.RawMessage, *judge.Trace) (judge.Reading, error) { return r, nil },
	}
	for _, check := range failing {
		j.Checks = append(j.Checks, judge.Check{Name: check, Kind: judge.Soft, Run: func(json.RawMessage, *judge.Trace) ([]string, bool) {
			return []string{"it does not hold"}, false
		}})
	}
	return j
}

func readPolicy(t *testing.T, text string) judge.Policy {
	t.Helper()
	p, err := judge.ParsePolicy("policy.yaml", []byte("version: 1\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const everythingOff = `
reasons: {critical_error: off, misattribution: off, substantive_difference: off, inconsistent_output: off, below_threshold: off,
  ambiguous_score: off, uncited_claims: off, judge_disagreement: off, untrusted_judge: off, boundary_audit: off, random_audit: off}
`

// TestRoutingByPolicy holds every reason to the policy, by stakes: what it turns
// on and off, by rules for a judge, a domain or both, and what it cannot.
func TestRoutingByPolicy(t *testing.T) {
	sound := judge.Reading{Score: 0.9, Label: "good"}
	with := func(change func(*judge.Reading)) judge.Reading {
		r := sound
		change(&r)
		return r
	}
	critical := with(func(r *judge.Reading) {
		r.Critical = true
		r.Findings = []judge.Finding{{Class: "dose", Severity: "critical", Explanation: "ten times too much"}}
	})
	minor := with(func(r *judge.Reading) {
		r.Misattribution = &judge.Misattribution{Severity: "minor", Detail: "[1] context_mismatch"}
	})
	major := with(func(r *judge.Reading) {
		r.Misattribution = &judge.Misattribution{Severity: "major", Detail: "[1] context_mismatch"}
	})
	odd := with(func(r *judge.Reading) {
		r.Misattribution = &judge.Misattribution{Severity: "grievous", Detail: "[1] context_mismatch"}
	})
	different := with(func(r *judge.Reading) { r.Score, r.SubstantiveDifference = 0.2, "the amount" })
	uncited := with(func(r *judge.Reading) { r.UncitedSteps = []int{2, 4} })
	parts := with(func(r *judge.Reading) {
		r.Parts = []judge.Part{{Name: "overall", Value: 0.9}, {Name: "citation 2, [7]", Value: 0.5}, {Name: "premise_support", Value: 3, Max: 5}}
	})
	inBand := with(func(r *judge.Reading) { r.Score = 0.7 })

	type row struct {
		name           string
		judge          judge.Judge
		domain, policy string
		undecided      bool
		standard, high string
	}
	tests := []row{
		{"sound", factual("a", sound), "", "", false, "", ""},

		{"critical", factual("a", critical), "", "", false, "critical_error", "critical_error"},
		{"critical, off", factual("a", critical), "", "reasons: {critical_error: off}", false, "", ""},
		{"critical, for high stakes", factual("a", critical), "", "reasons: {critical_error: [high]}", false, "", "critical_error"},
		{"critical, off in a domain", factual("a", critical), "law", "rules: [{domain: law, reasons: {critical_error: off}}]", false, "", ""},
		{"critical, off in another domain", factual("a", critical), "law", "rules: [{domain: tax, reasons: {critical_error: off}}]", false, "critical_error", "critical_error"},
		{"critical logic in medicine, all off", factual("logic", critical), "medical", everythingOff, false, "critical_error", "critical_error"},
		{"critical logic elsewhere, all off", factual("logic", critical), "physics", everythingOff, false, "", ""},

		{"in the band", factual("a", inBand), "", "", false, "ambiguous_score", "ambiguous_score"},
		{"in the band, off", factual("a", inBand), "", "reasons: {ambiguous_score: off}", false, "", ""},
		{"in the band, for standard stakes", factual("a", inBand), "", "reasons: {ambiguous_score: [standard]}", false, "ambiguous_score", ""},
		{"band moved below", factual("a", inBand), "", "rules: [{judge: a, band: [0.5, 0.7]}]", false, "", ""},
		{"band moved onto a sound score", factual("a", sound), "", "rules: [{judge: a, band: [0.7, 0.95]}]", false, "ambiguous_score", "ambiguous_score"},
		{"band moved for another judge", factual("a", sound), "", "rules: [{judge: b, band: [0.7, 0.95]}]", false, "", ""},
		{"undecided, off", factual("a", sound), "", "reasons: {ambiguous_score: off}", true, "ambiguous_score", "ambiguous_score"},

		{"minor misattribution", factual("a", minor), "", "", false, "", "misattribution"},
		{"major misattribution", factual("a", major), "", "", false, "misattribution", "misattribution"},
		{"minor misattribution, on", factual("a", minor), "", "reasons: {misattribution: on}", false, "misattribution", "misattribution"},
		{"minor misattribution, asked for", factual("a", minor), "", "reasons: {misattribution: {standard: minor}}", false, "misattribution", "misattribution"},
		{"major misattribution, critical only", factual("a", major), "", "reasons: {misattribution: {standard: critical, high: critical}}", false, "", ""},
		{"misattribution, off", factual("a", major), "", "reasons: {misattribution: off}", false, "", ""},
		{"misattribution of an unknown severity", factual("a", odd), "", "reasons: {misattribution: critical}", false, "misattribution", "misattribution"},

		{"difference", factual("a", different), "", "", false, "", "substantive_difference"},
		{"difference, on", factual("a", different), "", "reasons: {substantive_difference: on}", false, "substantive_difference", "substantive_difference"},
		{"difference, off", factual("a", different), "", "reasons: {substantive_difference: off}", false, "", ""},

		{"soft check", factual("a", sound, "too.high"), "", "", false, "inconsistent_output", "inconsistent_output"},
		{"soft check, off", factual("a", sound, "too.high"), "", "reasons: {inconsistent_output: off}", false, "", ""},

		{"below, which the judge does not ask for", factual("a", parts), "", "", false, "", ""},
		{"below, on", factual("a", parts), "", "reasons: {below_threshold: [high]}", false, "", "below_threshold"},
		{"below another line", factual("a", parts), "", "rules: [{judge: a, below: 0.4, reasons: {below_threshold: on}}]", false, "", ""},
		{"below the moved band", factual("a", sound), "", "rules: [{judge: a, band: [0.5, 0.95], reasons: {below_threshold: on, ambiguous_score: off}}]", false, "below_threshold", "below_threshold"},

		{"uncited", factual("a", uncited), "", "", false, "", ""},
		{"uncited, asked for", factual("a", uncited), "", "reasons: {uncited_claims: [high]}", false, "", "uncited_claims"},
		{"uncited, everywhere", factual("a", uncited), "", "reasons: {uncited_claims: on}", false, "uncited_claims", "uncited_claims"},
		{"nothing uncited", factual("a", with(func(r *judge.Reading) { r.UncitedSteps = []int{} })), "", "reasons: {uncited_claims: on}", false, "", ""},

		{"untrusted, asked for", factual("a", sound), "", "reasons: {untrusted_judge: [high]}", false, "", "untrusted_judge"},
		{"trusted, asked for", factual("trusted", sound), "", "reasons: {untrusted_judge: on}", false, "", ""},
		{"advisory, not asked for", factual("a", sound), "", "reasons: {untrusted_judge: off}", false, "", ""},
		{"suspended, not asked for", factual("suspended", sound), "", "reasons: {untrusted_judge: off}", false, "untrusted_judge", "untrusted_judge"},
		{"suspended, asked for", factual("suspended", sound), "", "reasons: {untrusted_judge: on}", false, "untrusted_judge", "untrusted_judge"},

		{"every audit", factual("a", sound), "", "audit: {random: 1, boundary: 1}", false, "random_audit", "random_audit"},
		{"every audit near a boundary", factual("a", with(func(r *judge.Reading) { r.Score = 0.82 })), "", "audit: {random: 0, boundary: 1}", false, "boundary_audit", "boundary_audit"},
		{"near a boundary, narrower", factual("a", with(func(r *judge.Reading) { r.Score = 0.82 })), "", "audit: {random: 0, boundary: 1, boundary_width: 0.01}", false, "", ""},
		{"near a boundary, narrower for this judge", factual("a", with(func(r *judge.Reading) { r.Score = 0.82 })), "", "audit: {random: 0, boundary: 1}\nrules: [{judge: a, audit: {boundary_width: 0.01}}]", false, "", ""},
		{"audits off for this judge", factual("a", sound), "", "audit: {random: 1, boundary: 1}\nrules: [{judge: a, reasons: {random_audit: off}}]", false, "", ""},
		{"audits off for high stakes", factual("a", sound), "", "audit: {random: 1}\nreasons: {random_audit: [standard]}", false, "random_audit", ""},
		{"audits of a rule's own share", factual("a", sound), "", "audit: {random: 0, boundary: 0}\nrules: [{judge: a, audit: {random: 1}}]", false, "random_audit", "random_audit"},
	}
	for _, tt := range tests {
		for stakes, want := range map[judge.Stakes]string{judge.StandardStakes: tt.standard, judge.HighStakes: tt.high} {
			t.Run(tt.name+", "+string(stakes), func(t *testing.T) {
				if !strings.Contains(tt.policy, "audit:") {
					tt.policy += "\naudit: {random: 0, boundary: 0}\n"
				}
				h := newHarness(t, func(c *harness.Config) {
					c.Judges, c.Policy, c.Audit = []judge.Judge{tt.judge}, readPolicy(t, tt.policy), true
					c.Trust = func(_ context.Context, e *judge.Evaluation) (judge.TrustState, string) {
						state, is := map[string]judge.TrustState{"trusted": judge.Trusted, "suspended": judge.Suspended}[e.Judge]
						if !is {
							state = judge.Advisory
						}
						return state, "its agreement is too low"
					}
				}, oracle{given: judge.Given{Report: json.RawMessage(`{}`), Undecided: tt.undecided}})
				e := evaluate(t, h, judge.Trace{ID: "t", Domain: tt.domain, Stakes: stakes, Output: "o"}, byRules(tt.judge.Name))
				if got := codes(e); got != want {
					t.Errorf("reasons: got %q, want %q", got, want)
				}
				if (e.Status == judge.InReview) != (want != "") || (e.Result == nil) != (want != "") {
					t.Errorf("status %s with result %v for reasons %q", e.Status, e.Result, want)
				}
				for _, r := range e.Reasons {
					if r.Detail == "" {
						t.Errorf("reason %s has no detail", r.Code)
					}
				}
				if e.PolicyVersion != 1 {
					t.Errorf("policy version %d, want 1", e.PolicyVersion)
				}
			})
		}
	}
}

// What leaves nothing to accept is reviewed, whatever the policy says.
func TestFailuresAreReviewedUnderEveryPolicy(t *testing.T) {
	incomplete := factual("a", judge.Reading{Score: 1})
	incomplete.Checks = []judge.Check{{Name: "all.covered", Kind: judge.Hard, Coverage: true,
		Run: func(json.RawMessage, *judge.Trace) ([]string, bool) { return []string{"step 2 is missing"}, false }}}
	for want, h := range map[string]*harness.Harness{
		"judge_failed":                     newHarness(t, under(t, everythingOff, factual("a", judge.Reading{})), oracle{err: context.DeadlineExceeded}),
		"invalid_output":                   newHarness(t, under(t, everythingOff, factual("a", judge.Reading{})), oracle{given: judge.Given{Raw: "no idea"}}),
		"invalid_output incomplete_report": newHarness(t, under(t, everythingOff, incomplete), oracle{given: judge.Given{Report: json.RawMessage(`{}`)}}),
		"ambiguous_score":                  newHarness(t, under(t, everythingOff, factual("a", judge.Reading{})), oracle{given: judge.Given{NoReport: true, Explanation: "cannot"}}),
	} {
		e := evaluate(t, h, judge.Trace{ID: "t", Output: "o"}, byRules("a"))
		if codes(e) != want || e.Status != judge.InReview || e.Result != nil {
			t.Errorf("reasons %q, status %s; want %q in review", codes(e), e.Status, want)
		}
	}
}

func under(t *testing.T, policy string, judges ...judge.Judge) func(*harness.Config) {
	return func(c *harness.Config) { c.Judges, c.Policy, c.Audit = judges, readPolicy(t, policy), true }
}

// What a reason says in words comes from the facts and the line in force.
func TestReasonsInWords(t *testing.T) {
	many := make([]int, 30)
	for i := range many {
		many[i] = i + 1
	}
	tests := []struct {
		reading judge.Reading
		line    *judge.Line
		policy  string
		want    judge.Reason
	}{
		{judge.Reading{Score: 0.9, UncitedSteps: []int{3}}, nil, "reasons: {uncited_claims: on}", judge.Reason{Code: "uncited_claims", Detail: "without any citation: step 3"}},
		{judge.Reading{Score: 0.9, UncitedSteps: many}, nil, "reasons: {uncited_claims: on}", judge.Reason{Code: "uncited_claims",
			Detail: "without any citation: steps 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 and 10 more"}},
		{judge.Reading{Score: 0.5}, nil, "reasons: {below_threshold: on}", judge.Reason{Code: "below_threshold", Detail: "score 0.50 is below 0.8"}},
		{judge.Reading{Score: 0.9, Parts: []judge.Part{{Name: "premise_support", Value: 3, Max: 5}, {Name: "conclusion_alignment", Value: 4, Max: 5}}},
			&judge.Line{At: 0.6, Inclusive: true}, "reasons: {below_threshold: on}", judge.Reason{Code: "below_threshold", Detail: "premise_support has 3 (3 or less)"}},
		{judge.Reading{Score: 0.9, Parts: []judge.Part{{Name: "premise_support", Value: 4, Max: 5}}},
			&judge.Line{At: 0.6, Inclusive: true}, "rules: [{judge: a, below: 0.9, reasons: {below_threshold: on}}]", judge.Reason{Code: "below_threshold", Detail: "premise_support has 4 (below 4.5)"}},
		{judge.Reading{Score: 0.65}, nil, "rules: [{judge: a, band: [0.5, 0.7]}]", judge.Reason{Code: "ambiguous_score", Detail: "score 0.65 lies in the band from 0.50 to 0.70"}},
		{judge.Reading{Score: 0.9, Critical: true}, nil, "", judge.Reason{Code: "critical_error", Detail: "the report marks a critical error"}},
	}
	for _, tt := range tests {
		j := factual("a", tt.reading)
		j.Below = tt.line
		h := newHarness(t, under(t, tt.policy+"\naudit: {random: 0}\n", j), oracle{given: judge.Given{Report: json.RawMessage(`{}`)}})
		e := evaluate(t, h, judge.Trace{ID: "t", Output: "o"}, byRules("a"))
		found := false
		for _, r := range e.Reasons {
			if r.Code == tt.want.Code {
				found = true
				if diff := cmp.Diff(tt.want, r); diff != "" {
					t.Errorf("reason (-want +got):\n%s", diff)
				}
			}
		}
		if !found {
			t.Errorf("no reason %s among %v", tt.want.Code, e.Reasons)
		}
	}
}

// Draws are made again from the policy's version, its seed and the key; another
// seed draws others, and what was drawn names the version.
func TestDrawsAreRepeated(t *testing.T) {
	drawn := func(seed string) (ids []string) {
		h := newHarness(t, under(t, "audit: {random: 0.2, seed: "+seed+"}", factual("a", judge.Reading{Score: 1})), oracle{given: judge.Given{Report: json.RawMessage(`{}`)}})
		for _, id := range strings.Split("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "") {
			trace := judge.Trace{ID: id, Output: "o"}
			_, draw, err := h.Evaluate(context.Background(), &trace, byRules("a"))
			if err != nil {
				t.Fatal(err)
			}
			if draw != nil {
				ids = append(ids, id)
				if draw.PolicyVersion != 1 {
					t.Errorf("the draw names policy version %d, want 1", draw.PolicyVersion)
				}
			}
		}
		return ids
	}
	once, again, other := drawn("s"), drawn("s"), drawn("other")
	if diff := cmp.Diff(once, again); diff != "" {
		t.Errorf("draws differ (-once +again):\n%s", diff)
	}
	if cmp.Equal(once, other) || len(once) == 0 {
		t.Errorf("another seed draws the same: %v", once)
	}
}

// Work brings the policy of its project, which counts before the harness's own.
func TestEvaluateUnder(t *testing.T) {
	j := factual("a", judge.Reading{Score: 0.7})
	h := newHarness(t, under(t, "audit: {random: 0}", j), oracle{given: judge.Given{Report: json.RawMessage(`{}`)}})
	other := readPolicy(t, "audit: {random: 0}\nreasons: {ambiguous_score: off}")
	other.Version = 9
	trace := judge.Trace{ID: "t", Output: "o"}
	for _, tt := range []struct {
		policy  *judge.Policy
		want    string
		version int
	}{{nil, "ambiguous_score", 1}, {&other, "", 9}} {
		e, _, err := h.EvaluateUnder(context.Background(), &j, &trace, byRules("a"), tt.policy)
		if err != nil || codes(e) != tt.want || e.PolicyVersion != tt.version {
			t.Errorf("got %q under version %d (%v), want %q under %d", codes(e), e.PolicyVersion, err, tt.want, tt.version)
		}
	}
}
