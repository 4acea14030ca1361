package calibration_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// decoded is the report as a reader of the JSON sees it.
func decoded(t *testing.T, r calibration.Report) map[string]any {
	t.Helper()
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(body, []byte("NaN")) {
		t.Fatalf("NaN in %s", body)
	}
	var m map[string]any
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func keys(v any) []string {
	var out []string
	for k := range v.(map[string]any) {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// at is the object under names.
func at(m map[string]any, names ...string) map[string]any {
	for _, name := range names {
		m = m[name].(map[string]any)
	}
	return m
}

// The names are a promise to scripts: a renamed or lost field fails here.
func TestReportFieldNames(t *testing.T) {
	c := openQA()
	c.Ordinal = true
	c.Cells = append(c.Cells, calibration.Cell{Human: label("Yes"), Judge: label("Yes"), N: 1, Visible: true})
	m := decoded(t, compose(t, c))
	kappa := []string{"ci_high", "ci_low", "ci_method", "expected", "n", "observed", "p_value", "se", "se0", "value", "z"}
	estimate := []string{"ci_high", "ci_low", "ci_method", "n", "se", "value"}
	block := []string{"agreement", "cohen_kappa", "confusion", "gwet_ac1", "indices", "kappa_linear", "kappa_max", "kappa_quadratic", "n", "n_abstained", "n_incomparable", "per_label", "scale"}
	pair := []string{"agreement", "cohen_kappa", "kappa_linear", "kappa_quadratic", "n", "n_abstained", "reviewers", "scale"}
	report := slices.Concat(block, []string{"classifier", "conf_level", "first_label_at", "headline", "human_human", "human_pairs", "judge", "last_label_at", "model",
		"n_sealed", "notes", "options", "over_time", "population", "prompt_version", "rates", "reliability", "sampling", "seen_minus_blind", "sentence", "slices", "visible"})
	sort.Strings(report)
	for _, tt := range []struct {
		name string
		got  any
		want []string
	}{
		{"report", m, report},
		{"agreement", m["agreement"], estimate},
		{"cohen_kappa", m["cohen_kappa"], kappa},
		{"kappa_quadratic", m["kappa_quadratic"], kappa},
		{"confusion", m["confusion"], []string{"labels", "matrix"}},
		{"per_label", m["per_label"].([]any)[0], []string{"agreement", "human", "judge", "label"}},
		{"human_human", m["human_human"], pair},
		{"human_pairs", m["human_pairs"].([]any)[1], pair},
		{"visible", m["visible"], block},
		{"rates", m["rates"], []string{"catches", "false_alarms", "flags_right", "misses", "wrong_passes"}},
		{"sampling", m["sampling"], []string{"clusters", "flagged_only", "items", "strata", "text", "weighted"}},
		{"seen_minus_blind", m["seen_minus_blind"], []string{"agreement", "cohen_kappa", "scale"}},
		{"indices", m["indices"], []string{"bias", "pabak", "prevalence"}},
		{"classifier", m["classifier"], []string{"accuracy", "balanced_accuracy", "f1", "lr_neg", "lr_pos", "mcc", "npv", "ppv", "prevalence", "sensitivity", "specificity", "youden"}},
		{"population", m["population"], []string{"begg_greenes", "by_verdict", "evaluations", "labelled", "n_waiting", "pass_rate", "refused", "weighted"}},
		{"weighted", at(m, "population", "weighted"), []string{"agreement", "cohen_kappa", "n", "n_effective", "npv", "ppv", "scale", "sensitivity", "specificity", "unequal_weights", "wrong_passes"}},
		{"weighted.cohen_kappa", at(m, "population", "weighted", "cohen_kappa"), append([]string{"undefined"}, estimate...)},
		{"begg_greenes", at(m, "population", "begg_greenes"), []string{"missed_at_most", "sensitivity", "specificity"}},
		{"pass_rate", at(m, "population", "pass_rate"), []string{"corrected", "estimator", "human_only", "judge_helps", "judge_only", "text"}},
		{"by_verdict", at(m, "population")["by_verdict"].([]any)[0], []string{"evaluations", "labelled", "represents", "verdict"}},
		{"options", m["options"], []string{"conf_level", "kappa_interval", "min_labels", "min_rarer_class", "min_slice", "over_time_weeks", "positive", "seed", "share_interval", "slice_level", "weighted_variance", "weights"}},
		{"stratum", m["sampling"].(map[string]any)["strata"].([]any)[0], []string{"inclusion_probability", "n", "stratum"}},
	} {
		sort.Strings(tt.want)
		if diff := cmp.Diff(tt.want, keys(tt.got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got, want := m["first_label_at"], "2023-05-01T08:00:00Z"; got != want {
		t.Errorf("first_label_at = %v, want %v", got, want)
	}
	if m["last_label_at"] != nil {
		t.Errorf("last_label_at = %v, want null", m["last_label_at"])
	}
}

func TestReportNulls(t *testing.T) {
	m := decoded(t, compose(t, calibration.Counts{Judge: "j", Labels: answerScale, Strata: []calibration.StratumCount{{Stratum: judge.StratumFlagged}}}))
	kappa := m["cohen_kappa"].(map[string]any)
	for _, name := range []string{"value", "se", "ci_low", "ci_high", "ci_method", "se0", "z", "p_value"} {
		if v, there := kappa[name]; !there || v != nil {
			t.Errorf("cohen_kappa.%s = %v, want null", name, v)
		}
	}
	if kappa["undefined"] != "there is nothing to compare yet" {
		t.Errorf("undefined = %v", kappa["undefined"])
	}
	for _, name := range []string{"human_human", "visible", "kappa_max", "first_label_at"} {
		if v, there := m[name]; !there || v != nil {
			t.Errorf("%s = %v, want null", name, v)
		}
	}
	for _, name := range []string{"human_pairs", "notes"} {
		if list, ok := m[name].([]any); !ok || len(list) != 0 {
			t.Errorf("%s = %v, want []", name, m[name])
		}
	}
	if diff := cmp.Diff([]any{[]any{0.0, 0.0}, []any{0.0, 0.0}}, m["confusion"].(map[string]any)["matrix"]); diff != "" {
		t.Errorf("matrix (-want +got):\n%s", diff)
	}
	if m["headline"] != false || m["headline_reason"] != "not enough labels: 0 of at least 50" {
		t.Errorf("headline %v, %v", m["headline"], m["headline_reason"])
	}
}
