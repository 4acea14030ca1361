package trust_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/trust"
)

var yesNo = []judge.Label{{Name: "Yes", Verdict: judge.Pass}, {Name: "No", Verdict: judge.Fail}}

// cell counts labels: what people and the judge said, and how they were drawn.
func cell(human, judged string, n int, stratum string, probability float64) calibration.Cell {
	return calibration.Cell{Human: calibration.Answer{Label: human}, Judge: calibration.Answer{Label: judged}, N: n, Stratum: stratum, InclusionProbability: probability}
}

// report composes one with a stratum row for each of its cells.
func report(t testing.TB, c calibration.Counts) calibration.Report {
	t.Helper()
	c.Labels = yesNo
	for _, x := range c.Cells {
		c.Strata = append(c.Strata, calibration.StratumCount{Stratum: x.Stratum, N: x.N, InclusionProbability: x.InclusionProbability})
		c.Items += x.N
	}
	r, err := calibration.Compose(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func judged(passes, fails int, reached [2]int) []calibration.JudgedCount {
	return []calibration.JudgedCount{{Verdict: judge.Pass, N: passes, Reached: reached[0]}, {Verdict: judge.Fail, N: fails, Reached: reached[1]}}
}

func rule(t *testing.T, s trust.Standing, name string) trust.Rule {
	t.Helper()
	for _, r := range s.Rules {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("there is no rule %s", name)
	return trust.Rule{}
}

func TestDecide(t *testing.T) {
	imported := func(yes, no, wrongPass, wrongFail int) []calibration.Cell {
		return []calibration.Cell{cell("Yes", "Yes", yes, "imported", 0), cell("No", "No", no, "imported", 0),
			cell("No", "Yes", wrongPass, "imported", 0), cell("Yes", "No", wrongFail, "imported", 0)}
	}
	slice := func(cells ...calibration.Cell) calibration.SliceCount {
		return calibration.SliceCount{Dimension: calibration.ByDomain, Value: "law", Cells: cells}
	}
	watched := trust.Drift{Watched: true}
	for _, tt := range []struct {
		name   string
		counts calibration.Counts
		drift  trust.Drift
		fails  []string // the rules that are not met
		says   string   // in the detail of the first
	}{
		{"no labels", calibration.Counts{}, watched, []string{trust.RuleKappa, trust.RuleLabels, trust.RuleMissRate}, "not enough labels"},
		{"all agree", calibration.Counts{Cells: imported(100, 60, 0, 0)}, watched, nil, ""},
		{"149 labels", calibration.Counts{Cells: imported(100, 49, 0, 0)}, watched, []string{trust.RuleLabels}, "Needed more: 1"},
		{"kappa is high and its lower bound is not", calibration.Counts{Cells: imported(80, 45, 5, 20)}, watched, []string{trust.RuleKappa, trust.RuleMissRate}, "Kappa is 0.6"},
		{"a rare class", calibration.Counts{Cells: imported(195, 5, 0, 0)}, watched, []string{trust.RuleKappa}, "rarer class"},
		{"11 of 111 passes are wrong", calibration.Counts{Cells: imported(100, 100, 11, 0)}, watched, []string{trust.RuleMissRate}, "11 of 111"},
		{"5 of 100 passes are wrong", calibration.Counts{Cells: imported(95, 100, 5, 0)}, watched, nil, ""},
		{"drift", calibration.Counts{Cells: imported(100, 60, 0, 0)}, trust.Drift{Open: 2, Watched: true}, []string{trust.RuleDrift}, "changed since its baseline"},
		{"nothing watches", calibration.Counts{Cells: imported(100, 60, 0, 0)}, trust.Drift{}, nil, ""},
		{"a slice by chance", calibration.Counts{Cells: imported(100, 60, 0, 0), Slices: []calibration.SliceCount{
			slice(cell("Yes", "Yes", 10, "", 0), cell("No", "No", 10, "", 0), cell("Yes", "No", 10, "", 0), cell("No", "Yes", 10, "", 0))}},
			watched, []string{trust.RuleSlices}, "domain law, 40 labels"},
		{"a small slice by chance", calibration.Counts{Cells: imported(100, 60, 0, 0), Slices: []calibration.SliceCount{
			slice(cell("Yes", "Yes", 7, "", 0), cell("No", "No", 7, "", 0), cell("Yes", "No", 8, "", 0), cell("No", "Yes", 7, "", 0))}}, watched, nil, ""},
		{"a slice in which the judge says one thing", calibration.Counts{Cells: imported(100, 60, 0, 0), Slices: []calibration.SliceCount{
			slice(cell("Yes", "Yes", 20, "", 0), cell("No", "Yes", 20, "", 0))}}, watched, []string{trust.RuleSlices}, "domain law"},
		// Within a reason the judge hardly varies: that says nothing of it.
		{"a reason in which the judge says one thing", calibration.Counts{Cells: imported(100, 60, 0, 0), Slices: []calibration.SliceCount{
			{Dimension: calibration.ByReason, Value: "critical_error", Cells: []calibration.Cell{cell("No", "No", 20, "", 0), cell("Yes", "No", 20, "", 0)}}}}, watched, nil, ""},
		{"only flagged work was labelled", calibration.Counts{
			Cells:  []calibration.Cell{cell("Yes", "Yes", 80, judge.StratumFlagged, 1), cell("No", "No", 80, judge.StratumFlagged, 1)},
			Judged: judged(900, 80, [2]int{80, 80})}, watched, []string{trust.RuleKappa, trust.RuleMissRate}, "random audit"},
		{"the labels are of two draws", calibration.Counts{
			Cells:  []calibration.Cell{cell("Yes", "Yes", 240, judge.StratumRandomAudit, .6), cell("Yes", "Yes", 24, judge.StratumRandomAudit, .05), cell("No", "No", 80, judge.StratumFlagged, 1)},
			Judged: judged(468, 80, [2]int{264, 80})}, watched, []string{trust.RuleKappa, trust.RuleMissRate}, "stand for 880 of 468"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := trust.Decide(report(t, tt.counts), judge.DefaultTrust(), tt.drift)
			var fails []string
			for _, r := range s.Rules {
				if r.Asks == "" || r.Shows == "" || r.Detail == "" {
					t.Errorf("rule without words: %+v", r)
				}
				if !r.Met {
					fails = append(fails, r.Name)
				}
			}
			if strings.Join(fails, " ") != strings.Join(tt.fails, " ") {
				t.Fatalf("not met: %q, want %q: %s", fails, tt.fails, s.Failing())
			}
			if want := judge.Trusted; (len(fails) == 0) != (s.State == want) {
				t.Errorf("state %s with %d rules not met", s.State, len(fails))
			}
			if len(fails) > 0 && !strings.Contains(rule(t, s, fails[0]).Detail, tt.says) {
				t.Errorf("detail %q does not say %q", rule(t, s, fails[0]).Detail, tt.says)
			}
		})
	}
}

// TestWeightedWhereIdentified: of 1,000 evaluations all 230 that the judge flags and 5%
// of the others are labelled. Counted once each, the labels say miss rate 3 of 39 and
// kappa .32; weighted they say what holds of all.
func TestWeightedWhereIdentified(t *testing.T) {
	s := trust.Decide(report(t, calibration.Counts{
		Cells: []calibration.Cell{cell("No", "No", 150, judge.StratumFlagged, 1), cell("Yes", "No", 80, judge.StratumFlagged, 1),
			cell("No", "Yes", 3, judge.StratumRandomAudit, 0.05), cell("Yes", "Yes", 36, judge.StratumRandomAudit, 0.05)},
		Judged: judged(770, 230, [2]int{39, 230}),
	}), judge.DefaultTrust(), trust.Drift{})
	k, miss := rule(t, s, trust.RuleKappa), rule(t, s, trust.RuleMissRate)
	if k.Basis != trust.Weighted || miss.Basis != trust.Weighted {
		t.Errorf("bases %s and %s, want weighted", k.Basis, miss.Basis)
	}
	if !strings.HasPrefix(k.Detail, "Kappa is 0.59") || k.Found == nil || *k.Found > 0.55 {
		t.Errorf("kappa: %+v", k)
	}
	if miss.Found == nil || *miss.Found < 0.076 || *miss.Found > 0.078 || !strings.Contains(miss.Detail, "may be up to") {
		t.Errorf("miss rate: %+v", miss)
	}
}

// TestFalseTrust: a judge whose true kappa is 0.55, under the minimum of 0.60, comes
// to be trusted by 200 labels in at most one draw of forty, and one with 0.85 in most.
func TestFalseTrust(t *testing.T) {
	random := rand.New(rand.NewPCG(22, 7))
	draw := func(right float64) (trusted int) {
		for range 1000 {
			n := [2][2]int{}
			for range 200 {
				truth := random.IntN(2)
				says := truth
				if random.Float64() > right {
					says = 1 - truth
				}
				n[truth][says]++
			}
			r := report(t, calibration.Counts{Cells: []calibration.Cell{cell("Yes", "Yes", n[0][0], "imported", 0), cell("Yes", "No", n[0][1], "imported", 0),
				cell("No", "Yes", n[1][0], "imported", 0), cell("No", "No", n[1][1], "imported", 0)}})
			limits := judge.DefaultTrust()
			limits.MaxMissRate = 1
			if trust.Decide(r, limits, trust.Drift{}).State == judge.Trusted {
				trusted++
			}
		}
		return trusted
	}
	// Two equal classes: kappa is twice the share that is right, less one.
	if n := draw(0.775); n > 25 {
		t.Errorf("with kappa 0.55 trusted in %d of 1,000 draws", n)
	}
	if n := draw(0.925); n < 900 {
		t.Errorf("with kappa 0.85 trusted in %d of 1,000 draws", n)
	}
}
