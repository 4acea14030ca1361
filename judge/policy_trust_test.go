package judge_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

const trustPolicy = `
trust: {min_labels: 200, slice_kappa: 0.3}
release: {min_pass_rate: 0.9}
rules:
  - {judge: steps, trust: {min_kappa: 0.7, max_miss_rate: 0}}
  - {domain: medical, below: 0.9}
`

func TestTrustFor(t *testing.T) {
	p := parsePolicy(t, trustPolicy)
	for name, want := range map[string]judge.TrustLimits{
		"citations": {MinKappa: 0.60, MinLabels: 200, MaxMissRate: 0.05, SliceLabels: 30, SliceKappa: 0.3},
		"steps":     {MinKappa: 0.70, MinLabels: 200, MaxMissRate: 0, SliceLabels: 30, SliceKappa: 0.3},
	} {
		if diff := cmp.Diff(want, p.TrustFor(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(judge.DefaultTrust(), judge.DefaultPolicy().TrustFor("steps")); diff != "" {
		t.Errorf("a policy that says nothing (-want +got):\n%s", diff)
	}
	for name, again := range map[string]judge.Policy{"written and read": parsePolicy(t, string(p.YAML())), "through JSON": throughJSON(t, p)} {
		if diff := cmp.Diff(p, again); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTrustFaults(t *testing.T) {
	for text, want := range map[string]string{
		"trust: {min_kappa: 1.5}":      "p.yaml:1: trust.min_kappa is 1.5: a kappa lies between -1 and 1",
		"trust: {max_miss_rate: 5}":    "trust.max_miss_rate is 5: a share lies between 0 and 1",
		"trust: {slice_labels: 10}":    "trust.slice_labels is 10: it lies between 30 and",
		"trust: {min_labels: many}":    "trust.min_labels must be a whole number",
		"trust: {}":                    "asks for nothing",
		"trust: {kappa: 0.6}":          `unknown key "kappa"`,
		"release: {min_pass_rate: 90}": "release.min_pass_rate is 90: a share lies between 0 and 1",
		"rules: [{judge: steps, domain: legal, trust: {min_labels: 10}}]":      "a judge is trusted or not as a whole",
		"rules: [{judge: steps, trust: {slice_kappa: .inf}}]":                  "rule 1, trust.slice_kappa",
		"trust: {min_kappa: 0.7}\nrules: [{domain: x, trust: {min_kappa: 0}}]": "p.yaml:2",
	} {
		_, err := judge.ParsePolicy("p.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}
