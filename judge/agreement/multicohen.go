package agreement

import "fmt"

// CongerKappa is Cohen's kappa for any number of raters, some of whom may be
// missing (Conger 1980; weighted unless w is Identity, and with missing ratings,
// after Gwet 2014): chance from each rater's own shares, over all pairs of two
// different raters. SE by Gwet's linearisation, with the t(n-1) interval. For two
// raters without gaps it is CohenKappa, with n-1 in the variance for n.
//
// Undefined when no item has two labels, with fewer than two raters or labels,
// and where all used one and the same label.
func CongerKappa(r Ratings, w Weights, level float64) Coefficient {
	q := len(r.labels)
	shares, given := r.sharesByRater()
	raters := float64(len(shares))
	if len(shares) < 2 {
		return Coefficient{Estimate: undefined(len(r.codes), "fewer than two raters gave a label")}
	}
	return multi(r.Items(), w, level, func(rated []int) itemModel {
		n := float64(len(rated))
		sum := make([]float64, q) // of the raters' shares
		for _, p := range shares {
			for k := range p {
				sum[k] += p[k]
			}
		}
		// toward[g][l] is the weight of label l against all other raters.
		toward := make([][]float64, len(shares))
		// own[g] is the part of pe that rater g carries.
		own := make([]float64, len(shares))
		pe := 0.0
		for g, p := range shares {
			toward[g] = make([]float64, q)
			for l := range q {
				for k := range q {
					toward[g][l] += w[k][l] * (sum[k] - p[k])
				}
				own[g] += toward[g][l] * p[l]
			}
			pe += own[g]
		}
		pairs := raters * (raters - 1)
		pe /= pairs
		at := make([]int, 0, r.raters) // rater's place among those who gave labels
		for g, used := 0, 0; g < r.raters; g++ {
			if given[g] > 0 {
				at = append(at, used)
				used++
			} else {
				at = append(at, missing)
			}
		}
		return itemModel{pe: pe, item: func(i int) float64 {
			e := 0.0
			for g, k := range r.codes[i] {
				if at[g] == missing {
					continue
				}
				e += own[at[g]]
				if k != missing {
					e += (toward[at[g]][k] - own[at[g]]) * n / float64(given[g])
				}
			}
			return e / pairs
		}}
	})
}

// sharesByRater gives each rater's shares of the labels, for raters who gave any,
// and the number of labels that each rater gave.
func (r Ratings) sharesByRater() (shares [][]float64, given []int) {
	counts := make([][]int, r.raters)
	given = make([]int, r.raters)
	for g := range counts {
		counts[g] = make([]int, len(r.labels))
	}
	for _, codes := range r.codes {
		for g, k := range codes {
			if k != missing {
				counts[g][k]++
				given[g]++
			}
		}
	}
	for g, row := range counts {
		if given[g] == 0 {
			continue
		}
		p := make([]float64, len(row))
		for k, c := range row {
			p[k] = float64(c) / float64(given[g])
		}
		shares = append(shares, p)
	}
	return shares, given
}

// LightKappa is the mean of Cohen's kappa over all pairs of raters (Light 1971),
// each over the items that both rated; R's irr drops an item on which any rater
// is missing, which changes nothing without gaps. There is no standard error.
// Undefined where the kappa of any pair is: the reason names the pair.
func LightKappa(r Ratings, w Weights) Estimate {
	if r.raters < 2 {
		return undefined(len(r.codes), "there are fewer than two raters")
	}
	sum, pairs := 0.0, 0
	for a := range r.raters {
		for b := range a {
			k := CohenKappa(r.Pair(b, a), w, 0.95)
			if !k.Defined() {
				return undefined(len(r.codes), fmt.Sprintf("raters %d and %d: %s", b+1, a+1, k.Undefined))
			}
			sum += k.Value
			pairs++
		}
	}
	return Estimate{Value: sum / float64(pairs), N: len(r.codes)}.
		withoutInterval("no standard error is computed for the mean of kappas")
}
