package threshold

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
)

// work is a population whose truth is known: people pass an item with a chance that
// grows with the judge's score. Below 0.6 the judge fails and people see all; from
// there on it passes and a share is drawn.
type work struct {
	score float64
	pass  bool
}

func population(source *rand.Rand, n int) []work {
	all := make([]work, n)
	for i := range all {
		score := math.Pow(source.Float64(), 0.5)
		all[i] = work{score, source.Float64() < 1/(1+math.Exp(-12*(score-0.55)))}
	}
	return all
}

// drawn are the labels of one audit, and the ask that fits.
func drawn(source *rand.Rand, all []work, share float64) ([]Label, Ask) {
	var labels []Label
	judged := []int{0, 0}
	first := source.Uint64() >> 1 // the halves are others each time
	for i, w := range all {
		l := Label{Score: w.score, Pass: w.pass, Probability: 1, Cluster: first + uint64(i)}
		if w.score >= 0.6 {
			l.Verdict, l.Stratum, l.Probability = 1, 1, share
		}
		judged[l.Verdict]++
		if source.Float64() < l.Probability {
			labels = append(labels, l)
		}
	}
	return labels, Ask{Chosen: judge.Band{Low: 0.4, Pass: 0.8}, Now: judge.Band{Low: 0.6, Pass: 0.8}, Cut: 0.6,
		Costs: Costs{Miss: 10, Alarm: 4, Minute: 0.5}, Minutes: 2, Judged: judged, Level: 0.95, Replicates: 200, Seed: 7}
}

// truly are the shares of a band among all work.
func truly(all []work, b judge.Band) (misses, alarms, people float64) {
	for _, w := range all {
		switch v := b.Verdict(w.score, false, false); {
		case v == judge.Borderline:
			people++
		case v == judge.Pass && !w.pass:
			misses++
		case v == judge.Fail && w.pass:
			alarms++
		}
	}
	n := float64(len(all))
	return misses / n, alarms / n, people / n
}

func TestIntervalsCoverTheTruthUnderAuditReview(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	all := population(source, 8000)
	band := judge.Band{Low: 0.4, Pass: 0.8}
	misses, alarms, people := truly(all, band)
	const rounds = 60
	inside, sum := [3]int{}, 0.0
	for range rounds {
		labels, ask := drawn(source, all, 0.06)
		r, err := Simulate(labels, ask)
		if err != nil || r.Refused != "" {
			t.Fatal(err, r.Refused)
		}
		sum += r.Chosen.Misses.Value
		for i, e := range []struct {
			agreement.Estimate
			truth float64
		}{{r.Chosen.Misses, misses}, {r.Chosen.Alarms, alarms}, {r.Chosen.People, people}} {
			if e.Low <= e.truth && e.truth <= e.High {
				inside[i]++
			}
		}
	}
	if bias := sum/rounds - misses; math.Abs(bias) > 0.15*misses {
		t.Errorf("wrong passes are %.4f on average, truly %.4f", sum/rounds, misses)
	}
	for i, n := range inside {
		if n < 50 { // of 60 at 95%; under 50 has a chance below 1 in 1,000
			t.Errorf("interval %d held the truth %d times of %d", i, n, rounds)
		}
	}
}

func TestTheRecommendedBandCostsNearTheLeast(t *testing.T) {
	source := rand.New(rand.NewPCG(3, 4))
	all := population(source, 20000)
	labels, ask := drawn(source, all, 0.2)
	r, err := Simulate(labels, ask)
	if err != nil || r.Refused != "" || r.Best == nil {
		t.Fatal(err, r.Refused, r.NoBest)
	}
	price := func(b judge.Band) float64 {
		m, a, p := truly(all, b)
		return ask.Costs.Miss*m + ask.Costs.Alarm*a + ask.Costs.Minute*ask.Minutes*p
	}
	least := math.Inf(1)
	for low := range 101 {
		for pass := low; pass <= 100; pass += 2 {
			least = min(least, price(judge.Band{Low: float64(low) / 100, Pass: float64(pass) / 100}))
		}
	}
	if got := price(r.Best.Band); got > 1.1*least {
		t.Errorf("the recommended band %v truly costs %.4f, the best one %.4f", r.Best.Band, got, least)
	}
	if !(r.Best.Low.Low <= r.Best.Band.Low && r.Best.Band.Low <= r.Best.Low.High) {
		t.Errorf("the lower end %v is outside its own interval %v to %v", r.Best.Band.Low, r.Best.Low.Low, r.Best.Low.High)
	}
	if r.Best.Cost.Low > price(r.Best.Band) || r.Best.Cost.High < price(r.Best.Band) {
		t.Errorf("its cost is %.4f to %.4f, truly %.4f", r.Best.Cost.Low, r.Best.Cost.High, price(r.Best.Band))
	}
	limit := 0.02
	ask.MaxPeople = &limit
	narrow, err := Simulate(labels, ask)
	if err != nil || narrow.Best == nil {
		t.Fatal(err, narrow.NoBest)
	}
	if narrow.Best.People.Value > 0.04 || narrow.Best.People.Value > r.Best.People.Value {
		t.Errorf("with at most 2%% to people the band sends %.3f", narrow.Best.People.Value)
	}
	last := math.Inf(1)
	for _, p := range r.Curve {
		if p.People < 0 || p.Misses+p.Alarms > 1 {
			t.Errorf("a point of the curve %+v", p)
		}
		last = min(last, p.Cost)
	}
	if len(r.Curve) < 5 || last > 1.25*least {
		t.Errorf("the curve has %d points and comes down to %.4f, the least is %.4f", len(r.Curve), last, least)
	}
}

func TestTheSameLabelsInAnyOrderGiveTheSameReport(t *testing.T) {
	source := rand.New(rand.NewPCG(5, 6))
	labels, ask := drawn(source, population(source, 1500), 0.3)
	for i := range labels {
		labels[i].Cluster /= 3
	}
	first, err := Simulate(labels, ask)
	if err != nil {
		t.Fatal(err)
	}
	source.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	second, err := Simulate(labels, ask)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("%v\n%+v\n%+v", err, first.Chosen, second.Chosen)
	}
	if first.Reporting.Clusters >= first.Reporting.N {
		t.Errorf("%d clusters of %d labels", first.Reporting.Clusters, first.Reporting.N)
	}
}

func TestEndsAreThoseOfABand(t *testing.T) {
	for _, score := range []float64{0, 0.07, 0.29, 0.57, 0.58, 0.7, 0.7 - 1e-10, 0.7 - 1e-8, 0.999, 1} {
		ends := grid(0.333)
		for k, end := range ends {
			fails := judge.Band{Low: end, Pass: 1}.Verdict(score, false, false) == judge.Fail
			if below := bin(ends, score) <= k; below != fails {
				t.Errorf("a score of %v is below %v: %v, by the band %v", score, end, below, fails)
			}
		}
	}
}

func TestTheFastWalkFindsWhatTheSlowOneDoes(t *testing.T) {
	source := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		s := sums{}
		good, bad := 0.0, 0.0
		for range 30 {
			good, bad = good+float64(source.IntN(4)), bad+float64(source.IntN(4))
			s.good, s.bad = append(s.good, good), append(s.bad, bad)
		}
		s.allBad = bad + float64(source.IntN(3))
		a := Ask{Costs: Costs{Miss: float64(source.IntN(20)), Alarm: float64(source.IntN(9)), Minute: float64(source.IntN(3))}, Minutes: 1.5}
		low, pass, _ := s.fastest(a)
		slowLow, slowPass, _ := s.cheapest(a)
		if got, want := s.cost(a, low, pass), s.cost(a, slowLow, slowPass); math.Abs(got-want) > 1e-9 || low > pass {
			t.Fatalf("%d to %d costs %v, %d to %d costs %v", low, pass, got, slowLow, slowPass, want)
		}
	}
}

func TestWhatTheLabelsCannotCarryIsRefused(t *testing.T) {
	source := rand.New(rand.NewPCG(9, 10))
	all := population(source, 4000)
	labels, ask := drawn(source, all, 0.2)
	r, err := Simulate(labels[:80], ask)
	if err != nil || !strings.Contains(r.Refused, "of at least 50") || r.Best != nil {
		t.Errorf("80 labels: %v %q", err, r.Refused)
	}
	good := slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return !l.Pass })
	if r, _ = Simulate(good, ask); !strings.Contains(r.Refused, "failed 0") {
		t.Errorf("no bad work: %q", r.Refused)
	}
	passes := slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Verdict == 1 })
	if r, _ = Simulate(passes, ask); !strings.Contains(r.Refused, "no label at all of one of the judge's verdicts") {
		t.Errorf("nothing of what the judge passes: %q", r.Refused)
	}
	unscored := slices.Clone(labels)
	for i := range unscored {
		unscored[i].Fixed = true
	}
	if r, _ = Simulate(unscored, ask); !strings.Contains(r.Refused, "not enough scores") {
		t.Errorf("a judge without scores: %q", r.Refused)
	}
	ask.Chosen = judge.Band{Low: 0.9, Pass: 0.2}
	if _, err = Simulate(labels, ask); err == nil {
		t.Error("a band upside down is taken")
	}
}

func TestNoErrorSeenIsNotNoError(t *testing.T) {
	source := rand.New(rand.NewPCG(11, 12))
	labels, ask := drawn(source, population(source, 3000), 0.3)
	for i := range labels {
		if labels[i].Score > 0.8 {
			labels[i].Pass = true
		}
	}
	r, err := Simulate(labels, ask)
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Chosen.Misses; m.Value != 0 || m.High < 0.001 || m.Method != methodNone {
		t.Errorf("no wrong pass was seen, and there are said to be %v to %v by %s", m.Low, m.High, m.Method)
	}
}

func BenchmarkSimulate(b *testing.B) {
	source := rand.New(rand.NewPCG(1, 1))
	labels, ask := drawn(source, population(source, 300_000), 0.1)
	ask.Replicates = 500 // as the page does
	labels = labels[:min(len(labels), 10_000)]
	for _, c := range []struct {
		name string
		per  uint64
	}{{"alone", 1}, {"clusters", 5}} {
		for i := range labels {
			labels[i].Cluster = uint64(i) / c.per
		}
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if r, err := Simulate(labels, ask); err != nil || r.Refused != "" {
					b.Fatal(err, r.Refused)
				}
			}
			b.ReportMetric(float64(len(labels)), "labels")
		})
	}
}

// TestNoGain: a recommendation stands back where the policy's band costs no more on the
// labels that did not choose it, and keeps the limits.
func TestNoGain(t *testing.T) {
	least := 0.1
	of := func(cost, people float64) Outcome {
		return Outcome{Cost: agreement.Estimate{Value: cost}, People: agreement.Estimate{Value: people}}
	}
	for _, tt := range []struct {
		name string
		w    Written
		want bool
	}{
		{"cheaper", Written{Report: Report{Now: of(2, 0.2), Best: &Recommended{Outcome: of(1.5, 0.1)}}}, false},
		{"dearer", Written{Report: Report{Now: of(1.5, 0.2), Best: &Recommended{Outcome: of(2, 0.1)}}}, true},
		{"the same", Written{Report: Report{Now: of(2, 0.2), Best: &Recommended{Outcome: of(2, 0.2)}}}, true},
		{"today breaks a limit", Written{MaxPeople: &least, Report: Report{Now: of(1.5, 0.2), Best: &Recommended{Outcome: of(2, 0.1)}}}, false},
		{"none found", Written{Report: Report{Now: of(1.5, 0.2)}}, false},
	} {
		if got := tt.w.NoGain(); got != tt.want {
			t.Errorf("%s: no gain is %v", tt.name, got)
		}
	}
}
