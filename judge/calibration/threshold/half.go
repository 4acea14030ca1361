package threshold

import (
	"cmp"
	"slices"

	"github.com/countersign/countersign/judge/agreement/resample"
)

// half are the labels of one half as the bootstrap takes them: what is equal in all
// that is asked is one kind, so that a replicate costs what its kinds do.
type half struct {
	Half
	units  resample.Units
	kinds  []kind
	judged []int
	ends   int
	scored int // labels that a band decides
}

// kind are labels of one bin (or none: fixed), answer, verdict and weight.
type kind struct {
	bin     int // -1: the band does not decide it
	pass    bool
	verdict int
	weight  float64
	stratum int
}

// tuned says in which half a cluster is: a mixed bit of its number.
func tuned(cluster uint64) bool {
	x := cluster * 0x9E3779B97F4A7C15
	x ^= x >> 32
	x *= 0xD6E8FEB86659FD93
	return x>>63 == 1
}

func newHalf(labels []Label, judged []int, ends []float64) half {
	h := half{judged: judged, ends: len(ends)}
	at := map[kind]int{}
	clusters := map[uint64]int{}
	sizes := 0
	of := make([]int, len(labels))
	for i, l := range labels {
		k := kind{bin: bin(ends, l.Score), pass: l.Pass, verdict: l.Verdict, weight: 1 / l.Probability, stratum: l.Stratum}
		if l.Fixed {
			k.bin = -1
		} else {
			h.scored++
		}
		n, known := at[k]
		if !known {
			n = len(h.kinds)
			at[k] = n
			h.kinds = append(h.kinds, k)
		}
		of[i] = n
		if _, known := clusters[l.Cluster]; !known {
			clusters[l.Cluster] = len(clusters)
		} else {
			sizes++
		}
		if h.N++; l.Pass {
			h.Good++
		} else {
			h.Bad++
		}
	}
	h.Clusters = len(clusters)
	// In one order, whatever the labels' order: a seed then always draws the same.
	order := make([]int, len(h.kinds))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return compareKinds(h.kinds[x], h.kinds[y]) })
	place, sorted := make([]int, len(order)), make([]kind, len(order))
	for to, from := range order {
		place[from], sorted[to] = to, h.kinds[from]
	}
	h.kinds = sorted
	h.units = resample.Units{Kinds: len(sorted), Kind: make([]int, len(labels)), Stratum: make([]int, len(labels))}
	for i, l := range labels {
		h.units.Kind[i], h.units.Stratum[i] = place[of[i]], l.Stratum
	}
	if sizes > 0 {
		h.cluster(labels, clusters)
	}
	return h
}

// cluster draws clusters whole. One with labels of several strata is drawn in the
// first of them.
func (h *half) cluster(labels []Label, clusters map[uint64]int) {
	first := map[int]int{}
	h.units.Cluster = make([]int, len(labels))
	for i, l := range labels {
		c := clusters[l.Cluster]
		h.units.Cluster[i] = c
		if s, known := first[c]; !known || l.Stratum < s {
			first[c] = l.Stratum
		}
	}
	for i := range labels {
		h.units.Stratum[i] = first[h.units.Cluster[i]]
	}
}

func compareKinds(a, b kind) int {
	side := func(p bool) int {
		if p {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.stratum, b.stratum), cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.bin, b.bin),
		side(a.pass)-side(b.pass), cmp.Compare(a.weight, b.weight))
}

// adder adds counts by kind up into sums, into the same memory each time.
type adder struct {
	half
	byVerdict []float64
	into      sums
}

func (h half) adder() *adder {
	return &adder{half: h, byVerdict: make([]float64, len(h.judged)), into: sums{good: make([]float64, h.ends+1), bad: make([]float64, h.ends+1)}}
}

// add is not defined where a verdict that the judge gave has no label.
func (a *adder) add(counts []int) (sums, bool) {
	clear(a.byVerdict)
	clear(a.into.good)
	clear(a.into.bad)
	a.into.allBad = 0
	for i, n := range counts {
		if n > 0 {
			a.byVerdict[a.kinds[i].verdict] += float64(n) * a.kinds[i].weight
		}
	}
	all := 0
	for _, n := range a.judged {
		all += n
	}
	for v, n := range a.judged {
		if n == 0 {
			continue
		}
		if a.byVerdict[v] == 0 {
			return a.into, false
		}
		a.byVerdict[v] = float64(n) / (a.byVerdict[v] * float64(all))
	}
	good, bad := a.into.good, a.into.bad
	for i, n := range counts {
		k := a.kinds[i]
		if n == 0 || k.bin < 0 {
			continue
		}
		w := float64(n) * k.weight * a.byVerdict[k.verdict]
		if k.pass {
			good[k.bin] += w
		} else {
			bad[k.bin] += w
			a.into.allBad += w
		}
	}
	for k := 1; k <= a.ends; k++ {
		good[k] += good[k-1]
		bad[k] += bad[k-1]
	}
	s := a.into
	s.good, s.bad = good[:a.ends], bad[:a.ends]
	return s, true
}
