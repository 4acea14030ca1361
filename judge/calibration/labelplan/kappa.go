package labelplan

import (
	"math"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/sampling"
)

var scale = []string{string(judge.Pass), string(judge.Borderline), string(judge.Fail)}

// Kappa is the weighted kappa of verdicts after a draw of more labels from each stratum,
// in their order, if people answer them as they did before: its interval is what such
// labels would give (linearised within strata). With none more it is the present one.
func Kappa(strata []Stratum, more []int, level float64) (agreement.Estimate, error) {
	var cells []sampling.Cell
	ways := map[[2]float64]int{}
	add := func(of, human int, chance float64, n int) {
		k := [2]float64{float64(of), chance}
		if _, known := ways[k]; !known {
			ways[k] = len(ways)
		}
		if n > 0 {
			cells = append(cells, sampling.Cell{Human: human, Judge: of, Stratum: ways[k], Probability: chance, N: n})
		}
	}
	for i, s := range strata {
		of := slices.Index(scale, string(s.Verdict))
		weights := make([]float64, len(scale))
		for _, l := range s.Labels {
			weights[slices.Index(scale, string(l.Human))] += float64(l.N) / l.Chance
		}
		for _, l := range s.plan(more[i]) {
			if l.Human != "" {
				add(of, slices.Index(scale, string(l.Human)), l.Chance, l.N)
				continue
			}
			for human, n := range parts(weights, l.N) {
				add(of, human, l.Chance, n)
			}
		}
	}
	d, err := sampling.WeighCells(scale, cells)
	if err != nil {
		return agreement.Estimate{}, err
	}
	return d.Kappa(agreement.Identity(len(scale)), level), nil
}

// parts shares n out as weights are, the largest remainders first; without any weight,
// in equal parts on pass and fail.
func parts(weights []float64, n int) []int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if sum == 0 {
		return []int{n / 2, 0, n - n/2}
	}
	out, left := make([]int, len(weights)), n
	rest := make([]int, len(weights))
	for i, w := range weights {
		out[i] = int(math.Floor(float64(n) * w / sum))
		left -= out[i]
		rest[i] = i
	}
	slices.SortStableFunc(rest, func(a, b int) int {
		x, y := float64(n)*weights[a]/sum-float64(out[a]), float64(n)*weights[b]/sum-float64(out[b])
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, i := range rest[:left] {
		out[i]++
	}
	return out
}
