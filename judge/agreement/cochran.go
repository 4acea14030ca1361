package agreement

import "fmt"

// CochranQ tests whether three or more judges are right equally often on the
// same items (Cochran 1950): Q = (k-1)(k sum C² - N²)/(k N - sum R²), C the hits
// of each judge, R those of each item, N all; chi-square with k-1 degrees of
// freedom. For two judges it is McNemar's plain chi-square. right holds items by
// judges. Undefined when no item tells the judges apart; rows must be of one
// length, two or more.
func CochranQ(right [][]bool) ChiSquare {
	if len(right) == 0 {
		return ChiSquare{Undefined: noPairs}
	}
	k := len(right[0])
	if k < 2 {
		return ChiSquare{Undefined: "there are fewer than two judges to compare"}
	}
	hits := make([]float64, k)
	all, within := 0.0, 0.0
	for i, row := range right {
		if len(row) != k {
			return ChiSquare{Undefined: fmt.Sprintf("item %d has %d judges where item 1 has %d", i+1, len(row), k)}
		}
		r := 0.0
		for j, ok := range row {
			if ok {
				hits[j]++
				r++
			}
		}
		all += r
		within += r * r
	}
	between := 0.0
	for _, c := range hits {
		between += c * c
	}
	K := float64(k)
	if K*all == within {
		return ChiSquare{Undefined: "no item tells the judges apart"}
	}
	return chiSquare((K-1)*(K*between-all*all)/(K*all-within), k-1)
}
