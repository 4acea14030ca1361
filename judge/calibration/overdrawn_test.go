package calibration_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// Labels that were imported with their chance, and the project's own audit on the same
// work: a decision keeps its own chance and replaces the imported label. What the two
// stand for together is refused; each alone is right on average, and refused hardly ever.
func TestTwoDrawsAreRefusedAndOneIsNot(t *testing.T) {
	r := rand.New(rand.NewPCG(60, 5))
	const runs, n, wrong = 400, 468, .13
	refused, mean := map[string]int{}, map[string]float64{}
	for range runs {
		cells := map[string]map[calibration.Cell]int{"both": {}, "imported": {}, "audit": {}}
		add := func(to, said, stratum string, p float64) { cells[to][labelled(said, "good", stratum, p, 0)]++ }
		for range n {
			said, p := "good", .05
			if r.Float64() < wrong {
				said = "bad"
			}
			if r.IntN(3) == 0 {
				p = .145
			}
			audited, imported := r.Float64() < p, r.Float64() < .6
			switch {
			case audited:
				add("both", said, judge.StratumRandomAudit, p)
			case imported:
				add("both", said, judge.StratumRandomAudit, .6)
			}
			if audited {
				add("audit", said, judge.StratumRandomAudit, p)
			}
			if imported {
				add("imported", said, judge.StratumRandomAudit, .6)
			}
		}
		for name, counted := range cells {
			c := calibration.Counts{Labels: passFail, Judged: judged(n, 20, 300)}
			c.Cells = append(c.Cells, labelled("bad", "bad", judge.StratumFlagged, 1, 20))
			for cell, k := range counted {
				cell.N = k
				c.Cells = append(c.Cells, cell)
			}
			p := compose(t, c).Population
			if p.Overdrawn {
				refused[name]++
				if !strings.HasPrefix(p.Refused, "labels of more than one draw") || p.PassRate.Corrected.Defined() || p.Weighted.WrongPasses.Defined() {
					t.Fatalf("refused by %q: %+v", p.Refused, p.Weighted.WrongPasses)
				}
				continue
			}
			mean[name] += p.Weighted.WrongPasses.Value
		}
	}
	if refused["both"] < runs*99/100 {
		t.Errorf("two draws are refused in %d of %d rounds", refused["both"], runs)
	}
	for _, name := range []string{"imported", "audit"} {
		if refused[name] > runs/100 {
			t.Errorf("%s alone is refused in %d of %d rounds", name, refused[name], runs)
		}
		near(t, "wrong passes by "+name, mean[name]/float64(runs-refused[name]), wrong, .012)
	}
}
