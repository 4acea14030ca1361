package agreement

import (
	"fmt"
	"math"
)

// MethodBonettPrice names the interval of PairedDifference in JSON.
const MethodBonettPrice = "bonett_price"

// PairedDifference is the share of n items on which the second of two answers is
// right less that of the first, in [-1,1]: (c-b)/n, where only the first is right on
// b items and only the second on c. The interval is Wald's around shares with one
// more item in each of those two cells (Bonett & Price 2012, recommended by Fagerland,
// Lydersen & Laake 2013), clipped to [-1,1]; SE is the plain one. Undefined when n is
// 0 and for counts that do not fit.
func PairedDifference(b, c, n int, level float64) Estimate {
	switch {
	case b < 0 || c < 0 || b+c > n:
		return Estimate{Undefined: fmt.Sprintf("%d and %d of %d items are not counts of one sample", b, c, n)}
	case n == 0:
		return Estimate{Undefined: "no item has both answers"}
	}
	total := float64(n)
	first, second := float64(b)/total, float64(c)/total
	e := Estimate{N: n, Value: second - first}
	e.SE = math.Sqrt((first + second - e.Value*e.Value) / total)
	if !(level > 0 && level < 1) {
		e.NoInterval = fmt.Sprintf("a level of %v is not between 0 and 1", level)
		return e
	}
	first, second = float64(b+1)/(total+2), float64(c+1)/(total+2)
	mid := second - first
	half := zQuantile(level) * math.Sqrt((first+second-mid*mid)/(total+2))
	e.Low, e.High, e.Method = max(-1, mid-half), min(1, mid+half), MethodBonettPrice
	return e
}
