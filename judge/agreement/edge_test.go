package agreement_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/agreement"
)

func TestUndefinedSaysWhy(t *testing.T) {
	one := agreement.Confusion{}
	var noItems agreement.Items
	single, err := agreement.CountRatings([]string{"a", "b"}, [][]string{{"a"}, {"b"}, {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	uneven, err := agreement.CountRatings([]string{"a", "b"}, [][]string{{"a", "b"}, {"b", ""}})
	if err != nil {
		t.Fatal(err)
	}
	alike, err := agreement.NewItems([]string{"a", "b"}, [][]int{{3, 0}, {3, 0}})
	if err != nil {
		t.Fatal(err)
	}
	same := matrix(t, [][]int{{20, 0}, {0, 0}})
	for _, tt := range []struct {
		name string
		got  agreement.Estimate
		want string
	}{
		{"agreement of nothing", agreement.Agreement(one, 0.95), "no item was labelled by both"},
		{"kappa of nothing", agreement.CohenKappa(one, agreement.Identity(0), 0.95).Estimate, "no item was labelled by both"},
		{"kappa of empty scale in use", agreement.CohenKappa(matrix(t, [][]int{{0, 0}, {0, 0}}), agreement.Identity(2), 0.95).Estimate, "no item was labelled by both"},
		{"kappa with one label declared", agreement.CohenKappa(matrix(t, [][]int{{5}}), agreement.Identity(1), 0.95).Estimate, "fewer than two labels"},
		{"kappa with one label in use", agreement.CohenKappa(same, agreement.Identity(2), 0.95).Estimate, `always said "1"`},
		{"pi with one label in use", agreement.ScottPi(same, agreement.Identity(2), 0.95).Estimate, "one and the same label"},
		{"AC1 with one label declared", agreement.GwetAC(matrix(t, [][]int{{5}}), agreement.Identity(1), 0.95).Estimate, "fewer than two labels"},
		{"weights of another scale", agreement.CohenKappa(same, agreement.Linear(3), 0.95).Estimate, "not for this scale"},
		{"many raters of nothing", agreement.MultiAgreement(noItems, 0.95), "no item has two labels"},
		{"a single rater", agreement.MultiGwetAC(single, agreement.Identity(2), 0.95).Estimate, "no item has two labels"},
		{"Fleiss with gaps", agreement.FleissKappa(uneven, 0.95).Estimate, "same number of labels"},
		{"Fleiss with one label in use", agreement.FleissKappa(alike, 0.95).Estimate, "one and the same label"},
		{"share of nothing", agreement.Proportion(0, 0, 0.95), "nothing to count"},
		{"more than all", agreement.Proportion(3, 2, 0.95), "not a share"},
		{"a label nobody used", agreement.Specific(same)[1], "nobody used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got.Defined() || !strings.Contains(tt.got.Undefined, tt.want) {
				t.Errorf("got %+v, want undefined with %q", tt.got, tt.want)
			}
			body, err := json.Marshal(tt.got)
			if err != nil || !bytes.Contains(body, []byte(`"value":null`)) {
				t.Errorf("JSON %s, %v; want value null", body, err)
			}
		})
	}
	if top := agreement.KappaMax(same); top.Undefined == "" {
		t.Errorf("ceiling %+v where kappa is undefined", top)
	}
	if x := agreement.PrevalenceBias(matrix(t, [][]int{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})); x.Undefined == "" {
		t.Errorf("indices %+v on three labels", x)
	}
	if a := agreement.Agreement(same, 0.95); a.Value != 1 || a.N != 20 {
		t.Errorf("agreement %+v, want 20 of 20 where kappa is undefined", a)
	}
}

func TestConstantRater(t *testing.T) {
	for name, counts := range map[string][][]int{
		"judge":            {{7, 0, 0}, {3, 0, 0}, {2, 0, 0}},
		"person":           {{0, 0, 0}, {3, 4, 5}, {0, 0, 0}},
		"judge, awkward":   {{0, 1}, {0, 6}},
		"each another one": {{0, 9}, {0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			m := matrix(t, counts)
			q := len(counts)
			for _, w := range []agreement.Weights{agreement.Identity(q), agreement.Linear(q), agreement.Quadratic(q)} {
				k := agreement.CohenKappa(m, w, 0.95)
				if !k.Defined() || k.Value != 0 || k.SE != 0 || k.SE0 != 0 {
					// Both constant and one step apart on a weighted scale is still 0.
					t.Errorf("kappa %+v, want exactly 0 with SE 0", k)
				}
				if k.NoTest == "" || k.HasInterval() {
					t.Errorf("a test or an interval of a constant rater: %+v", k)
				}
				body, err := json.Marshal(k)
				if err != nil {
					t.Fatal(err)
				}
				var got map[string]any
				if err := json.Unmarshal(body, &got); err != nil {
					t.Fatal(err)
				}
				if got["value"] != 0.0 || got["se0"] != 0.0 || got["z"] != nil || got["p_value"] != nil || got["ci_low"] != nil {
					t.Errorf("JSON %s", body)
				}
			}
		})
	}
}

func TestPerfectAgreementIsNotCertain(t *testing.T) {
	m := matrix(t, [][]int{{10, 0, 0}, {0, 7, 0}, {0, 0, 3}})
	for name, e := range coefficients(m, agreement.Quadratic(3)) {
		if name == "agreement" {
			continue
		}
		// Clopper-Pearson at n of n has the closed form (alpha/2)^(1/n).
		if low := math.Pow(0.025, 1.0/20); e.Value != 1 || e.SE != 0 || e.High != 1 || math.Abs(e.Low-low) > 1e-12 || e.Method != agreement.MethodAtOne {
			t.Errorf("%s %+v, want 1 with lower bound %v", name, e, low)
		}
	}
	if k := agreement.CohenKappa(m, agreement.Identity(3), 0.95); !(k.Z > 0) || !(k.P > 0 && k.P < 0.01) {
		t.Errorf("the test of perfect agreement: z %v, p %v", k.Z, k.P)
	}
}

func TestTotalDisagreement(t *testing.T) {
	k := agreement.CohenKappa(matrix(t, [][]int{{0, 10}, {10, 0}}), agreement.Identity(2), 0.95)
	if k.Value != -1 || k.HasInterval() || k.NoInterval == "" {
		t.Errorf("kappa %+v, want -1 without interval", k)
	}
	if _, _, ok := k.Wald(0.95); ok {
		t.Error("a Wald interval without width")
	}
}

func TestLevelIsChecked(t *testing.T) {
	m := matrix(t, [][]int{{10, 2}, {3, 9}})
	for _, level := range []float64{0, 1, -0.5, 95, math.NaN()} {
		for name, e := range map[string]agreement.Estimate{
			"agreement": agreement.Agreement(m, level),
			"kappa":     agreement.CohenKappa(m, agreement.Identity(2), level).Estimate,
			"AC1":       agreement.GwetAC(m, agreement.Identity(2), level).Estimate,
		} {
			if e.HasInterval() || !strings.Contains(e.NoInterval, "not between 0 and 1") {
				t.Errorf("%s at level %v: %+v", name, level, e)
			}
		}
		if _, err := agreement.Wilson(1, 2, level); err == nil {
			t.Errorf("Wilson accepts level %v", level)
		}
	}
}

func TestNewConfusionRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		labels []string
		counts [][]int
		want   string
	}{
		{"rows", []string{"a", "b"}, [][]int{{1, 2}}, "1 rows for 2 labels"},
		{"cells", []string{"a", "b"}, [][]int{{1, 2}, {3}}, "row 2 has 1 cells"},
		{"negative", []string{"a", "b"}, [][]int{{1, 2}, {3, -4}}, "row 2, column 2 holds -4"},
		{"twice", []string{"a", "a"}, [][]int{{1, 2}, {3, 4}}, `"a" is declared twice`},
	} {
		if _, err := agreement.NewConfusion(tt.labels, tt.counts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := agreement.CountPairs([]string{"a"}, []string{"a", "a"}, []string{"a", "z"}); err == nil || !strings.Contains(err.Error(), `pair 2: label "z" of the second rater`) {
		t.Errorf("label off the scale: %v", err)
	}
	if _, err := agreement.CountPairs([]string{"a"}, []string{"a"}, nil); err == nil {
		t.Error("pairs of unequal length are accepted")
	}
	if _, err := agreement.CountRatings([]string{"a"}, [][]string{{"a", ""}, {"", "z"}}); err == nil || !strings.Contains(err.Error(), `item 2: label "z" of rater 2`) {
		t.Errorf("rating off the scale: %v", err)
	}
	if _, err := agreement.NewItems([]string{"a", "b"}, [][]int{{1, 2}, {3}}); err == nil || !strings.Contains(err.Error(), "item 2 has 1 counts") {
		t.Errorf("short row: %v", err)
	}
}

func TestConfusionIsNotShared(t *testing.T) {
	counts := [][]int{{1, 2}, {3, 4}}
	m := matrix(t, counts)
	counts[0][0] = 100
	m.Counts()[0][0] = 100
	m.Labels()[0] = "changed"
	m.Rows()[0] = 100
	if m.Counts()[0][0] != 1 || m.N() != 10 || m.Agreed() != 5 || m.Labels()[0] != "1" || m.Rows()[0] != 3 {
		t.Errorf("the matrix changed with what it was made of: %v", m.Counts())
	}
}

func TestFromDisagreementRefuses(t *testing.T) {
	for name, d := range map[string][][]float64{
		"not square": {{0, 1}}, "negative": {{0, -1}, {-1, 0}}, "diagonal": {{1, 1}, {1, 0}},
		"asymmetric": {{0, 1}, {2, 0}}, "all zero": {{0, 0}, {0, 0}}, "NaN": {{0, math.NaN()}, {math.NaN(), 0}},
	} {
		if w, err := agreement.FromDisagreement(d); err == nil {
			t.Errorf("%s: accepted as %v", name, w)
		}
	}
}

// Values of a table of Student's t (two-sided) and closed forms of the beta
// distribution, through the functions that use them.
func TestQuantiles(t *testing.T) {
	for _, tt := range []struct {
		n    int
		t975 float64
	}{{2, 12.706204736}, {3, 4.30265273}, {6, 2.570581836}, {31, 2.042272456}, {1001, 1.962339081}} {
		e := agreement.Estimate{Value: 0, SE: 0.01, N: tt.n}
		if _, high, ok := e.Student(0.95); !ok || math.Abs(high/0.01-tt.t975) > 1e-8 {
			t.Errorf("t(%d) = %v, want %v", tt.n-1, high/0.01, tt.t975)
		}
	}
	for _, n := range []int{1, 2, 10, 1000, 1_000_000} {
		ci, err := agreement.ClopperPearson(0, n, 0.9)
		if want := -math.Expm1(math.Log(0.05) / float64(n)); err != nil || math.Abs(ci.High-want) > 1e-10 || ci.Low != 0 {
			t.Errorf("0 of %d: %v, %v; want high %v", n, ci, err, want)
		}
	}
}

func TestAlphaUndefined(t *testing.T) {
	labels := []string{"1", "2"}
	mixed, err := agreement.NewItems(labels, [][]int{{1, 1}, {2, 0}})
	if err != nil {
		t.Fatal(err)
	}
	alike, err := agreement.NewItems(labels, [][]int{{2, 0}, {3, 0}})
	if err != nil {
		t.Fatal(err)
	}
	single, err := agreement.NewItems(labels, [][]int{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		items  agreement.Items
		metric agreement.Metric
		values []float64
		want   string
	}{
		{"single labels", single, agreement.MetricNominal, nil, "no item has two labels"},
		{"all the same", alike, agreement.MetricNominal, nil, "all labels are the same"},
		{"all the same, ordinal", alike, agreement.MetricOrdinal, nil, "all labels are the same"},
		{"unknown level", mixed, "cardinal", nil, `level "cardinal" is not`},
		{"interval without numbers", mixed, agreement.MetricInterval, nil, "needs a number"},
		{"ratio below zero", mixed, agreement.MetricRatio, []float64{-1, 1}, "cannot be a value"},
		{"not a number", mixed, agreement.MetricInterval, []float64{1, math.NaN()}, "cannot be a value"},
	} {
		a := agreement.KrippendorffAlpha(tt.items, tt.metric, tt.values)
		if a.Defined() || !strings.Contains(a.Undefined, tt.want) {
			t.Errorf("%s: %+v, want undefined with %q", tt.name, a, tt.want)
		}
		if body, err := json.Marshal(a); err != nil || !bytes.Contains(body, []byte(`"value":null`)) {
			t.Errorf("%s: JSON %s, %v", tt.name, body, err)
		}
	}
	zero := agreement.KrippendorffAlpha(mixed, agreement.MetricRatio, []float64{0, 1})
	if !zero.Defined() || math.IsNaN(zero.Value) {
		t.Errorf("ratio with the value 0: %+v", zero)
	}
	if g := agreement.KrippendorffGwet(alike, agreement.Identity(2), 0.95); g.Defined() {
		t.Errorf("alpha of one label in use: %+v", g)
	}
}

func TestMarginsUndefined(t *testing.T) {
	perfect := matrix(t, [][]int{{5, 0}, {0, 5}})
	if b := agreement.Bowker(perfect); b.Undefined == "" {
		t.Errorf("Bowker of raters who never differ: %+v", b)
	}
	if s, b := agreement.MarginalHomogeneity(perfect); s.Undefined == "" || b.Undefined == "" {
		t.Errorf("margins of raters who never differ: %+v, %+v", s, b)
	}
	// Labels 1 and 2 are confused with each other and 3 with 4, but never across.
	groups := matrix(t, [][]int{{5, 2, 0, 0}, {1, 5, 0, 0}, {0, 0, 5, 3}, {0, 0, 1, 5}})
	if s, _ := agreement.MarginalHomogeneity(groups); s.Undefined == "" {
		t.Errorf("margins of separate groups: %+v", s)
	}
	// An unused label must not make the statistic singular, nor change it.
	three, _ := agreement.MarginalHomogeneity(matrix(t, [][]int{{5, 2, 1}, {4, 6, 1}, {0, 3, 7}}))
	four, _ := agreement.MarginalHomogeneity(matrix(t, [][]int{{5, 0, 2, 1}, {0, 0, 0, 0}, {4, 0, 6, 1}, {0, 0, 3, 7}}))
	if three.Undefined != "" || math.Abs(three.Value-four.Value) > 1e-9 || three.DF != four.DF {
		t.Errorf("with an unused label %+v, without %+v", four, three)
	}
	if p := agreement.McNemar(0, 0); p.Exact != 1 || p.Plain.Undefined == "" {
		t.Errorf("McNemar without discordant items: %+v", p)
	}
}

// With two labels Stuart-Maxwell, Bowker and McNemar are one statistic.
func TestMarginsMeetAtTwoLabels(t *testing.T) {
	m := matrix(t, [][]int{{20, 9}, {4, 30}})
	s, _ := agreement.MarginalHomogeneity(m)
	b, p := agreement.Bowker(m), agreement.McNemar(9, 4).Plain
	if math.Abs(s.Value-b.Value) > 1e-12 || math.Abs(b.Value-p.Value) > 1e-12 || s.DF != 1 || b.DF != 1 {
		t.Errorf("Stuart-Maxwell %+v, Bowker %+v, McNemar %+v", s, b, p)
	}
}

// Embedded structs must not lose fields in JSON.
func TestJSONFieldNames(t *testing.T) {
	m := matrix(t, [][]int{{10, 2}, {3, 9}})
	it, err := agreement.NewItems([]string{"a", "b"}, [][]int{{3, 0}, {1, 2}, {0, 3}})
	if err != nil {
		t.Fatal(err)
	}
	estimate := []string{"ci_high", "ci_low", "ci_method", "n", "se", "value"}
	coefficient := append([]string{"expected", "observed"}, estimate...)
	for _, tt := range []struct {
		name string
		v    any
		want []string
	}{
		{"estimate", agreement.Agreement(m, 0.95), estimate},
		{"coefficient", agreement.GwetAC(m, agreement.Identity(2), 0.95), coefficient},
		{"kappa", agreement.CohenKappa(m, agreement.Identity(2), 0.95), append([]string{"p_value", "se0", "z"}, coefficient...)},
		{"Fleiss", agreement.FleissKappa(it, 0.95), append([]string{"per_label", "se0", "z"}, coefficient...)},
		{"alpha", agreement.KrippendorffAlpha(it, agreement.MetricNominal, nil), append([]string{"expected_disagreement", "no_interval", "observed_disagreement", "pairable"}, estimate...)},
	} {
		body, err := json.Marshal(tt.v)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range got {
			names = append(names, name)
		}
		slices.Sort(names)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
