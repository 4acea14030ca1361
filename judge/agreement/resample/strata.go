package resample

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// strata hold the clusters of each stratum, and each cluster the kinds of its
// units.
type strata struct {
	single   [][]int   // by stratum: kinds of units, where every unit is alone
	grouped  [][][]int // by stratum and cluster: kinds of units
	clusters int
}

// strata sorts units into clusters and strata, in the order in which they appear.
func (u Units) strata() (strata, error) {
	n := len(u.Kind)
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
				s.single = append(s.single, nil)
			}
			s.single[at] = append(s.single[at], k)
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
	for _, kinds := range s.single {
		n := uint64(len(kinds))
		for range kinds {
			counts[kinds[below(source, n)]]++
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

// below is a uniform number under n, without bias (Lemire 2019).
func below(source *rand.PCG, n uint64) uint64 {
	for {
		hi, lo := bits.Mul64(source.Uint64(), n)
		if lo >= n || lo >= -n%n {
			return hi
		}
	}
}
