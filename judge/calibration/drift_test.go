package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/drift"
)

func trials(r *rand.Rand, n int, p float64) (x int) {
	for range n {
		if r.Float64() < p {
			x++
		}
	}
	return x
}

// scored adds n scores around a mean.
func scored(r *rand.Rand, c *DriftCounts, n int, mean float64) {
	for range n {
		v := min(1, max(0, mean+0.3*(r.Float64()-0.5)))
		c.Scores, c.ScoreSum, c.ScoreSquares = c.Scores+1, c.ScoreSum+v, c.ScoreSquares+v*v
	}
}

// alarms is the rule of a monitor for one baseline, without what is only shown.
func alarms(t *testing.T, name string, base DriftCounts) func(DriftCounts) bool {
	t.Helper()
	watch := map[string]func(base, seen DriftCounts) (Monitor, error){MonitorAgreement: WatchAgreement, MonitorPassed: WatchPassed, MonitorScore: WatchScore}[name]
	m, err := watch(base, DriftCounts{})
	if err != nil || m.Unwatched != "" {
		t.Fatalf("%s: %s, %v", name, m.Unwatched, err)
	}
	null := widened(agreement.Interval{Low: m.Baseline.Low, High: m.Baseline.High}, m.Tolerance)
	return func(seen DriftCounts) bool {
		var e drift.Evalue
		switch name {
		case MonitorAgreement:
			e, err = drift.BetaBinomialWithin(seen.Agreed, seen.Labels, null, drift.Uniform)
		case MonitorPassed:
			e, err = drift.BetaBinomialWithin(seen.Passed, seen.Verdicts, null, drift.Uniform)
		default:
			e, err = drift.BoundedMeanWithin(seen.ScoreSum, seen.Scores, null, scoresTuned)
		}
		if err != nil {
			t.Fatal(err)
		}
		return e.Alarms(DriftRisk)
	}
}

// looks watches day after day. alarmed is the day of the first alarm, 0: none.
func looks(t *testing.T, days int, add func(*DriftCounts), base DriftCounts, name string) (alarmed int) {
	t.Helper()
	var seen DriftCounts
	alarm := alarms(t, name, base)
	for day := 1; day <= days; day++ {
		if add(&seen); alarm(seen) {
			return day
		}
	}
	return 0
}

// A judge that stays as it is gives an alarm in under 5% of its whole life, though
// it is looked at every day, and though its baseline was estimated from few labels.
func TestDriftFalseAlarmsUnderDailyLooks(t *testing.T) {
	const lives, days = 400, 60
	r := rand.New(rand.NewPCG(24, 1))
	for _, p := range []float64{0.97, 0.9, 0.6} {
		for _, labels := range []int{MinBaseline, 200} {
			alarmed := map[string]int{MonitorAgreement: 0, MonitorPassed: 0, MonitorScore: 0}
			for range lives {
				base := DriftCounts{Labels: labels, Agreed: trials(r, labels, p), Verdicts: labels, Passed: trials(r, labels, p)}
				scored(r, &base, labels, p)
				for _, name := range []string{MonitorAgreement, MonitorPassed, MonitorScore} { // in order: the draws are seeded
					add := func(c *DriftCounts) {
						switch name {
						case MonitorAgreement:
							c.Labels, c.Agreed = c.Labels+20, c.Agreed+trials(r, 20, p)
						case MonitorPassed:
							c.Verdicts, c.Passed = c.Verdicts+20, c.Passed+trials(r, 20, p)
						default:
							scored(r, c, 20, p)
						}
					}
					if looks(t, days, add, base, name) > 0 {
						alarmed[name]++
					}
				}
			}
			for name, n := range alarmed {
				if share := float64(n) / lives; share >= 0.05 {
					t.Errorf("%s at %.2f, a baseline of %d: %.3f of steady judges had an alarm", name, p, labels, share)
				}
			}
		}
	}
}

// Without the interval of the baseline, few labels would give the false alarms of
// which the interval is the cure.
func TestDriftAgainstABaselineTakenAsKnown(t *testing.T) {
	r, alarms := rand.New(rand.NewPCG(24, 2)), 0
	const lives = 300
	for range lives {
		p0 := float64(trials(r, 50, 0.9)) / 50
		s, n := 0, 0
		for range 60 {
			s, n = s+trials(r, 20, 0.9), n+20
			if e, err := drift.BetaBinomial(s, n, min(p0, 0.999), drift.Uniform); err == nil && e.Alarms(0.05) {
				alarms++
				break
			}
		}
	}
	if share := float64(alarms) / lives; share < 0.2 {
		t.Errorf("%.3f of steady judges had an alarm; the test shows nothing", share)
	}
}

// A fall from .90 to .80 is found.
func TestDriftFindsAFall(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 3))
	for _, c := range []struct {
		name         string
		labels, days int // of the baseline; until most are found, at 20 labels a day
	}{{"a large baseline", 2000, 14}, {"a baseline of 400", 400, 25}} {
		var found []int
		for range 100 {
			base := DriftCounts{Labels: c.labels, Agreed: trials(r, c.labels, 0.9)}
			day := looks(t, 150, func(s *DriftCounts) { s.Labels, s.Agreed = s.Labels+20, s.Agreed+trials(r, 20, 0.8) }, base, MonitorAgreement)
			if day == 0 {
				day = math.MaxInt
			}
			found = append(found, day)
		}
		slices.Sort(found)
		if median := found[len(found)/2]; median > c.days {
			t.Errorf("%s: found after a median of %d days, want %d at most", c.name, median, c.days)
		}
	}
	base := DriftCounts{Verdicts: 1000, Passed: 850}
	scored(r, &base, 1000, 0.8)
	if day := looks(t, 60, func(s *DriftCounts) { s.Verdicts, s.Passed = s.Verdicts+100, s.Passed+trials(r, 100, 0.95) }, base, MonitorPassed); day == 0 {
		t.Error("a verdict rate that rises from .85 to .95 is not found")
	}
	if day := looks(t, 60, func(s *DriftCounts) { scored(r, s, 100, 0.9) }, base, MonitorScore); day == 0 {
		t.Error("scores that are inflated by .10 are not found")
	}
}

// A sentinel set of the same items depends on itself; a noisy judge that stays the
// same must give no alarm, whatever its first round was by luck.
func TestSentinelFalseAlarmsAndPower(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 4))
	const lives, items, rounds = 300, 100, 26
	life := func(worse float64) (alarmed bool) {
		chance := make([]float64, items) // of being right, each item's own
		at := make([]bool, items)
		begin := SentinelRepeat{N: items}
		for i := range chance {
			if chance[i] = 0.98; i%4 == 0 {
				chance[i] = r.Float64()
			}
			if at[i] = r.Float64() < chance[i]; at[i] {
				begin.Right++
			}
		}
		var repeats []SentinelRepeat
		for range rounds {
			now := SentinelRepeat{N: items}
			for i, p := range chance {
				right := r.Float64() < p*(1-worse)
				switch {
				case right && !at[i]:
					now.Better++
				case !right && at[i]:
					now.Worse++
				}
				if right {
					now.Right++
				}
			}
			repeats = append(repeats, now)
			m, err := WatchSentinel(begin, repeats)
			if err != nil {
				t.Fatal(err)
			}
			alarmed = alarmed || m.Alarm
		}
		return alarmed
	}
	steady, fallen := 0, 0
	for range lives {
		if life(0) {
			steady++
		}
		if life(0.2) {
			fallen++
		}
	}
	if share := float64(steady) / lives; share >= 0.05 {
		t.Errorf("%.3f of steady judges had an alarm", share)
	}
	if share := float64(fallen) / lives; share < 0.9 {
		t.Errorf("of judges that lost a fifth, %.2f were found", share)
	}
}

func TestMonitorEdges(t *testing.T) {
	m, err := WatchAgreement(DriftCounts{Labels: 29, Agreed: 29}, DriftCounts{Labels: 5})
	if err != nil || m.Unwatched == "" || m.Alarm {
		t.Errorf("a small baseline: %+v, %v", m, err)
	}
	m, err = WatchAgreement(DriftCounts{Labels: 100, Agreed: 100}, DriftCounts{})
	if err != nil || m.Unwatched != "" || m.Alarm || m.Value.Defined() || m.Evidence.Log != 0 {
		t.Errorf("nothing seen: %+v, %v", m, err)
	}
	base, fallen := DriftCounts{Labels: 500, Agreed: 450}, DriftCounts{Labels: 300, Agreed: 210}
	m, err = WatchAgreement(base, fallen)
	if err != nil || !m.Alarm || m.Alarm != alarms(t, MonitorAgreement, base)(fallen) || !m.Down() || m.Sequence.High > m.Baseline.Low {
		t.Errorf("a fall: %+v, %v", m, err)
	}
	m, err = WatchAgreement(DriftCounts{Labels: 100, Agreed: 100}, DriftCounts{Labels: 100, Agreed: 100})
	if err != nil || m.Alarm || m.Evidence.Log > 0 || m.Baseline.Low < 0.9 {
		t.Errorf("all agree: %+v, %v", m, err)
	}
	m, err = WatchScore(DriftCounts{Scores: 100, ScoreSum: 50, ScoreSquares: 25}, DriftCounts{Scores: 10, ScoreSum: 5, ScoreSquares: 2.5})
	if err != nil || m.Alarm || m.Baseline.Low != 0.5 || m.Value.Value != 0.5 {
		t.Errorf("scores without spread: %+v, %v", m, err)
	}
	if _, err := WatchAgreement(DriftCounts{Labels: 100, Agreed: 90}, DriftCounts{Labels: 1, Agreed: 2}); err == nil {
		t.Error("two of one is a share")
	}
	if m, err = WatchSentinel(SentinelRepeat{Right: 9, N: 10}, nil); err != nil || m.Alarm || m.Unwatched == "" {
		t.Errorf("no repeat: %+v, %v", m, err)
	}
}

func TestSameVerdict(t *testing.T) {
	labels := []judge.Label{{Name: "a", Verdict: judge.Pass}, {Name: "b", Verdict: judge.Pass}, {Name: "c", Verdict: judge.Fail}, {Name: "?", Abstain: true}}
	agreed, n, err := SameVerdict(labels, []Cell{
		{Human: Answer{Label: "a"}, Judge: Answer{Label: "b", Verdict: judge.Pass}, N: 3},
		{Human: Answer{Verdict: judge.Fail}, Judge: Answer{Label: "a", Verdict: judge.Pass}, N: 2},
		{Human: Answer{Label: "?"}, Judge: Answer{Verdict: judge.Pass}, N: 7},
		{Human: Answer{Verdict: judge.Borderline}, Judge: Answer{Verdict: judge.Borderline}, N: 1},
	})
	if err != nil || agreed != 4 || n != 6 {
		t.Errorf("%d of %d, %v; want 4 of 6", agreed, n, err)
	}
}
