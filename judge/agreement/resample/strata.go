package resample

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// strata hold the clusters of each stratum, and each cluster the kinds of its
// units.
type strata struct {
	single   []loose   // by stratum, where every unit is alone
	grouped  [][][]int // by stratum and cluster: kinds of units
	clusters int
}

// loose are units of one stratum that are clusters of their own.
type loose struct {
	counts []int // by kind
	kinds  []int // of each unit; nil where only counts are known
	n      int
}

// strata sorts units into clusters and strata, in the order in which they appear.
func (u Units) strata() (strata, error) {
	n := len(u.Kind)
	if u.Counts != nil {
		if u.Kind != nil || u.Cluster != nil || u.Stratum != nil || len(u.Counts) != u.Kinds {
			return strata{}, fmt.Errorf("resample: counts of %d kinds stand alone, and for all of %d kinds", len(u.Counts), u.Kinds)
		}
		for k, c := range u.Counts {
			if c < 0 {
				return strata{}, fmt.Errorf("resample: %d units of kind %d are less than nothing", c, k)
			}
		}
		return strata{single: []loose{{counts: u.Counts, n: u.n()}}, clusters: u.n()}, nil
	}
	if u.Cluster != nil && len(u.Cluster) != n || u.Stratum != nil && len(u.Stratum) != n {
		return strata{}, fmt.Errorf("resample: %d units with %d clusters and %d strata named", n, len(u.Cluster), len(u.Stratum))
	}
	for i, k := range u.Kind {
		if k < 0 || k >= u.Kinds {
			return strata{}, fmt.Errorf("resample: unit %d is of kind %d of %d", i+1, k, u.Kinds)
		}
	}
	var s strata
	stratumAt := map[int]int{}
	stratum := func(i int) int {
		name := 0
		if u.Stratum != nil {
			name = u.Stratum[i]
		}
		at, ok := stratumAt[name]
		if !ok {
			at = len(stratumAt)
			stratumAt[name] = at
		}
		return at
	}
	if u.Cluster == nil {
		s.clusters = n
		for i, k := range u.Kind {
			at := stratum(i)
			if at == len(s.single) {
				s.single = append(s.single, loose{counts: make([]int, u.Kinds)})
			}
			one := &s.single[at]
			one.counts[k]++
			one.kinds = append(one.kinds, k)
			one.n++
		}
		return s, nil
	}
	type place struct{ stratum, cluster int }
	clusterAt := map[int]place{}
	for i, k := range u.Kind {
		at := stratum(i)
		if at == len(s.grouped) {
			s.grouped = append(s.grouped, nil)
		}
		p, ok := clusterAt[u.Cluster[i]]
		switch {
		case !ok:
			p = place{at, len(s.grouped[at])}
			clusterAt[u.Cluster[i]] = p
			s.grouped[at] = append(s.grouped[at], nil)
		case p.stratum != at:
			return strata{}, fmt.Errorf("resample: cluster %d lies in two strata", u.Cluster[i])
		}
		s.grouped[at][p.cluster] = append(s.grouped[at][p.cluster], k)
	}
	s.clusters = len(clusterAt)
	return s, nil
}

// draw adds a replicate to counts: from each stratum as many clusters as it has,
// with replacement.
func (s strata) draw(source *rand.PCG, counts []int) {
	for _, l := range s.single {
		if l.kinds == nil || l.n > 16*len(l.counts) {
			l.multinomial(source, counts)
			continue
		}
		n := uint64(l.n)
		for range l.kinds {
			counts[l.kinds[below(source, n)]]++
		}
	}
	for _, clusters := range s.grouped {
		n := uint64(len(clusters))
		for range clusters {
			for _, k := range clusters[below(source, n)] {
				counts[k]++
			}
		}
	}
}

// multinomial draws how many of n units are of each kind, one binomial after the
// other: the same distribution as n single draws, at a price per kind.
func (l loose) multinomial(source *rand.PCG, counts []int) {
	left, among := float64(l.n), float64(l.n)
	for k, c := range l.counts {
		if c == 0 {
			continue
		}
		if left == 0 {
			return
		}
		drawn := left
		if p := float64(c) / among; p < 1 {
			drawn = distuv.Binomial{N: left, P: p, Src: source}.Rand()
		}
		counts[k] += int(drawn)
		left -= drawn
		among -= float64(c)
	}
}

// below is a uniform number under n, without bias (Lemire 2019).
func below(source *rand.PCG, n uint64) uint64 {
	for {
		hi, lo := bits.Mul64(source.Uint64(), n)
		if lo >= n || lo >= -n%n {
			return hi
		}
	}
}
