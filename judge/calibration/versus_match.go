package calibration

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
)

// matched are the items on which people and every judge gave an answer on one scale.
type matched struct {
	comparison // its matrix is that of no judge
	judges     int
	items      []matchedItem
	tied       int // items on which people are tied, and nobody abstained
}

// matchedItem holds places on the scale.
type matchedItem struct {
	cluster  string
	human    int
	judges   []int
	verdicts []said // people's, then the judges'
}

func (it matchedItem) right(k int) bool { return it.judges[k] == it.human }

// match brings the answers to one scale.
func match(s scale, judges int, items []JudgedTwice) (matched, error) {
	m := matched{comparison: comparison{scale: ScaleLabels, labels: s.labels, ordinal: s.ordinal}, judges: judges}
	if len(s.labels) == 0 {
		m.scale = ScaleVerdicts
	}
	read := make([][]said, len(items))
	for i, it := range items {
		if len(it.Judges) != judges {
			return m, fmt.Errorf("item %d has answers of %d judges where %d are compared", i+1, len(it.Judges), judges)
		}
		answers := []said{s.read(it.Human)}
		for _, a := range it.Judges {
			answers = append(answers, s.read(a))
		}
		read[i] = answers
		if slices.ContainsFunc(answers, func(a said) bool { return a.abstained }) {
			continue
		}
		unlabelled := slices.ContainsFunc(answers, func(a said) bool { return a.label == "" })
		if unlabelled && !slices.ContainsFunc(answers, func(a said) bool { return a.verdict == "" }) {
			m.scale = ScaleVerdicts
		}
	}
	if m.scale == ScaleVerdicts {
		m.labels, m.ordinal = verdictScale, true
	}
	at := make(map[string]int, len(m.labels))
	for i, l := range m.labels {
		at[l] = i
	}
	for i, answers := range read {
		if slices.ContainsFunc(answers, func(a said) bool { return a.abstained }) {
			if answers[0].tied && !slices.ContainsFunc(answers[1:], func(a said) bool { return a.abstained }) {
				m.tied++
			} else {
				m.abstained++
			}
			continue
		}
		places := make([]int, len(answers))
		fits := true
		for k, a := range answers {
			name := a.label
			if m.scale == ScaleVerdicts {
				name = a.verdict
			}
			place, ok := at[name]
			places[k], fits = place, fits && ok
		}
		if !fits {
			m.incomparable++
			continue
		}
		m.items = append(m.items, matchedItem{cluster: items[i].Cluster, human: places[0], judges: places[1:], verdicts: answers})
	}
	return m, nil
}

// clusters counts what is independent.
func (m matched) clusters() int {
	seen, alone := map[string]bool{}, 0
	for _, it := range m.items {
		if it.cluster == "" {
			alone++
		} else {
			seen[it.cluster] = true
		}
	}
	return alone + len(seen)
}

// confusion is people's answers against one judge's.
func (m matched) confusion(k int) (agreement.Confusion, error) {
	counts := make([][]int, len(m.labels))
	for i := range counts {
		counts[i] = make([]int, len(m.labels))
	}
	for _, it := range m.items {
		counts[it.human][it.judges[k]]++
	}
	return agreement.NewConfusion(m.labels, counts)
}

// tooFew is the reason why coefficients are no headline, or "".
func (m matched) tooFew() string {
	matrix, err := m.confusion(0)
	if err != nil {
		return err.Error()
	}
	return comparison{matrix: matrix, n: len(m.items), labels: m.labels}.tooFew()
}

// alone measures one judge.
func (m matched) alone(k int, level float64) (one Competing, err error) {
	matrix, err := m.confusion(k)
	if err != nil {
		return one, err
	}
	one.Right = matrix.Agreed()
	one.Agreement = agreement.Agreement(matrix, level)
	one.CohenKappa = agreement.CohenKappa(matrix, agreement.Identity(len(m.labels)), level)
	if len(m.items) == 0 {
		one.Agreement.Undefined, one.CohenKappa.Undefined = nothingYet, nothingYet
	}
	var pairs []pairing
	for _, it := range m.items {
		people, judged := it.verdicts[0], it.verdicts[k+1]
		pairs = append(pairs, pairing{people, judged, 1})
		switch bad, flags := people.verdict == verdictScale[placeFail], judged.verdict == verdictScale[placeFail]; {
		case bad:
			one.Bad++
			one.Misses += oneIf(!flags)
		case people.verdict == verdictScale[placePass]:
			one.Alarms += oneIf(flags)
		}
	}
	one.Classifier, err = classify(pairs)
	return one, err
}

const nothingYet = "there is nothing to compare yet"

func oneIf(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// Draws of a bootstrap: fewer where many items lie in clusters, so that a page waits
// less than a second.
const (
	mostUnitDraws   = 20_000_000
	fewestReplicate = 400
)

// differences resamples the items, those of one cluster together, and gives the
// second judge's kappa and agreement less the first's.
func (m matched) differences(level float64) (kappa, share Resampled, err error) {
	q := len(m.labels)
	units, clustered := m.units()
	plan := resample.Plan{Level: level, Seed: VersusSeed, Replicates: resample.DefaultReplicates}
	if clustered {
		plan.Replicates = max(fewestReplicate, min(plan.Replicates, mostUnitDraws/max(1, len(m.items))))
	}
	if len(m.items) == 0 {
		none := Resampled{Figure: agreement.Estimate{Undefined: nothingYet}.Figure(), Seed: VersusSeed}
		return none, none, nil
	}
	identity := agreement.Identity(q)
	k, err := resample.Percentile(units, func(counts []int) (float64, bool) {
		first, second := m.kappaOf(counts, identity, 0), m.kappaOf(counts, identity, 1)
		if first == nil || second == nil {
			return 0, false
		}
		return *second - *first, true
	}, plan)
	if err != nil {
		return kappa, share, err
	}
	a, err := resample.Percentile(units, func(counts []int) (float64, bool) {
		n, more := 0, 0
		for kind, c := range counts {
			if c == 0 {
				continue
			}
			human, first, second := kind/(q*q), kind/q%q, kind%q
			n += c
			more += c * (oneIf(second == human) - oneIf(first == human))
		}
		return float64(more) / float64(max(1, n)), n > 0
	}, plan)
	return resampled(k), resampled(a), err
}

// units are the items by what people and the first two judges said.
func (m matched) units() (u resample.Units, clustered bool) {
	q := len(m.labels)
	u.Kinds = q * q * q
	clustered = m.clusters() < len(m.items)
	if !clustered {
		u.Counts = make([]int, u.Kinds)
	}
	numbers := map[string]int{}
	for i, it := range m.items {
		kind := (it.human*q+it.judges[0])*q + it.judges[1]
		if !clustered {
			u.Counts[kind]++
			continue
		}
		u.Kind = append(u.Kind, kind)
		cluster := len(m.items) + i // of its own
		if it.cluster != "" {
			known, ok := numbers[it.cluster]
			if !ok {
				known = len(numbers)
				numbers[it.cluster] = known
			}
			cluster = known
		}
		u.Cluster = append(u.Cluster, cluster)
	}
	return u, clustered
}

// kappaOf is the kappa of the first or second judge for counts by kind; nil: undefined.
func (m matched) kappaOf(counts []int, w agreement.Weights, which int) *float64 {
	q := len(m.labels)
	cells := make([][]int, q)
	for i := range cells {
		cells[i] = make([]int, q)
	}
	for kind, c := range counts {
		if c == 0 {
			continue
		}
		said := kind / q % q
		if which == 1 {
			said = kind % q
		}
		cells[kind/(q*q)][said] += c
	}
	matrix, err := agreement.NewConfusion(m.labels, cells)
	if err != nil {
		return nil
	}
	v, ok := agreement.CohenKappaValue(matrix, w)
	if !ok {
		return nil
	}
	return &v
}
