package calibration

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/drift"
)

// Monitors of drift.
const (
	MonitorAgreement = "agreement"    // with people, on labels of random audits
	MonitorPassed    = "verdict_rate" // the share of verdicts that pass
	MonitorScore     = "score"        // the mean score
	MonitorParts     = "parts"        // the share of a report's parts that people left as they were
	MonitorSentinel  = "sentinel"     // agreement on the sentinel set, judged again and again
)

// How an alarm is decided. A baseline is estimated too: it is tested as the interval
// that holds it but for DriftBaselineRisk, with e-values against that interval. So a
// monitor of a judge that does not change gives an alarm with a probability under
// DriftBaselineRisk + DriftRisk = 5%, however often it is looked at.
const (
	DriftBaselineRisk = 0.025
	DriftRisk         = 0.025
	// DriftTolerance is by how much the share that passes and the mean score may
	// move beyond the baseline's interval: work changes a little every day, and
	// among many evaluations everything is significant.
	DriftTolerance = 0.02
	// MinBaseline is the least number of labels, verdicts or scores of a baseline.
	MinBaseline = 30
	// AutomaticBaseline is the number of random audit labels at which a baseline is
	// frozen by itself where no lead has frozen one.
	AutomaticBaseline = 200
	// scoresTuned is the number of scores near which the mean's e-value is strongest.
	scoresTuned = 1000
)

// DriftCounts are what the monitors of one judge, model and prompt version count in
// a span of time. A monitor may count over another span than the others: each has
// its own numbers.
type DriftCounts struct {
	Agreed, Labels   int // of random audit labels; on verdicts
	Passed, Verdicts int
	Scores           int
	ScoreSum         float64 // each in [0,1]
	ScoreSquares     float64 // the sum of the squared scores
	// Ruled decisions, each with the share of the parts that it left as they were.
	Ruled                int
	KeptSum, KeptSquares float64
}

// mean is what is known of a mean of values in [0,1].
type mean struct {
	n            int
	sum, squares float64
}

func (c DriftCounts) scores() mean { return mean{c.Scores, c.ScoreSum, c.ScoreSquares} }
func (c DriftCounts) kept() mean   { return mean{c.Ruled, c.KeptSum, c.KeptSquares} }

// Monitor is how one measure stands against its baseline.
type Monitor struct {
	Name string // a constant above
	// Value since the baseline; undefined with its reason.
	Value agreement.Estimate
	// Sequence holds the true value at all times at once with 95% probability.
	Sequence agreement.Interval
	// Baseline is the frozen value with the interval that is tested, without the
	// tolerance.
	Baseline  agreement.Estimate
	Tolerance float64
	// Evidence that the value has left the baseline; Threshold is where it is an alarm.
	Evidence  drift.Evalue
	Threshold float64
	Alarm     bool
	// Unwatched says why there is no evidence yet; empty: there is.
	Unwatched string
	// Since is from when on it counts.
	Since time.Time
	// Until is up to when, where something must not be told yet; zero: until now.
	Until time.Time
}

// Down says whether the value is under its baseline.
func (m Monitor) Down() bool { return m.Value.Value < m.Baseline.Value }

// WatchAgreement holds labels against those of the baseline.
func WatchAgreement(base, seen DriftCounts) (Monitor, error) {
	return watchShare(MonitorAgreement, "audit label", share{base.Agreed, base.Labels}, share{seen.Agreed, seen.Labels}, 0)
}

// WatchPassed holds the share of verdicts that pass against that of the baseline.
func WatchPassed(base, seen DriftCounts) (Monitor, error) {
	return watchShare(MonitorPassed, "verdict", share{base.Passed, base.Verdicts}, share{seen.Passed, seen.Verdicts}, DriftTolerance)
}

type share struct{ x, n int }

func watchShare(name, unit string, base, seen share, tolerance float64) (Monitor, error) {
	m := Monitor{Name: name, Tolerance: tolerance, Threshold: 1 / DriftRisk, Sequence: agreement.Interval{High: 1}}
	m.Value = shareOf(seen.x, seen.n, "there is no "+unit+" since the baseline was frozen")
	m.Baseline = shareOf(base.x, base.n, "the baseline has no "+unit)
	if m.Unwatched = tooSmall(base.n, unit); m.Unwatched != "" {
		return m, nil
	}
	ci, err := agreement.ClopperPearson(base.x, base.n, 1-DriftBaselineRisk)
	if err != nil {
		return m, err
	}
	m.Baseline.Low, m.Baseline.High, m.Baseline.Method = ci.Low, ci.High, "clopper_pearson"
	if m.Evidence, err = drift.BetaBinomialWithin(seen.x, seen.n, widened(ci, tolerance), drift.Uniform); err != nil {
		return m, err
	}
	if m.Sequence, err = drift.Sequence(seen.x, seen.n, 1-Level, drift.Uniform); err != nil {
		return m, err
	}
	m.Alarm = seen.n > 0 && m.Evidence.Alarms(DriftRisk)
	return m, nil
}

// WatchScore holds the mean score against that of the baseline, whose interval is
// Student's.
func WatchScore(base, seen DriftCounts) (Monitor, error) {
	return watchMean(MonitorScore, "score", base.scores(), seen.scores())
}

// WatchParts holds the mean share of a report's parts that people left as they were,
// a decision counting once however many parts it has: parts of one report depend on
// each other.
func WatchParts(base, seen DriftCounts) (Monitor, error) {
	return watchMean(MonitorParts, "ruled decision", base.kept(), seen.kept())
}

func watchMean(name, unit string, base, seen mean) (Monitor, error) {
	m := Monitor{Name: name, Tolerance: DriftTolerance, Threshold: 1 / DriftRisk, Sequence: agreement.Interval{High: 1}}
	m.Value = seen.estimate("there is no " + unit + " since the baseline was frozen")
	m.Baseline = base.estimate("the baseline has no " + unit)
	if m.Unwatched = tooSmall(base.n, unit); m.Unwatched != "" {
		return m, nil
	}
	half := m.Baseline.SE * distuv.StudentsT{Sigma: 1, Nu: float64(base.n - 1)}.Quantile(1-DriftBaselineRisk/2)
	ci := agreement.Interval{Low: max(0, m.Baseline.Value-half), High: min(1, m.Baseline.Value+half)}
	m.Baseline.Low, m.Baseline.High, m.Baseline.Method = ci.Low, ci.High, agreement.MethodStudent
	var err error
	if m.Evidence, err = drift.BoundedMeanWithin(seen.sum, seen.n, widened(ci, DriftTolerance), scoresTuned); err != nil {
		return m, err
	}
	if m.Sequence, err = drift.BoundedMeanSequence(seen.sum, seen.n, 1-Level, scoresTuned); err != nil {
		return m, err
	}
	m.Alarm = seen.n > 0 && m.Evidence.Alarms(DriftRisk)
	return m, nil
}

func (c mean) estimate(none string) agreement.Estimate {
	if c.n == 0 {
		return agreement.Estimate{Undefined: none}
	}
	n := float64(c.n)
	e := agreement.Estimate{Value: c.sum / n, N: c.n, NoInterval: "one value gives no interval"}
	if c.n > 1 {
		e.SE = math.Sqrt(max(0, c.squares-n*e.Value*e.Value) / (n - 1) / n)
		e.NoInterval, e.Method = "", agreement.MethodStudent
		half := e.SE * distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1-(1-Level)/2)
		e.Low, e.High = max(0, e.Value-half), min(1, e.Value+half)
	}
	return e
}

// SentinelRepeat is how one repeat of the sentinel set compares with its first
// round, of the items that both gave a verdict on.
type SentinelRepeat struct {
	Right, N      int // as the known labels have it
	Worse, Better int // right at first and wrong now, and the other way round
}

// WatchSentinel holds repeats of the sentinel set against its first round. The same
// items come again, so each repeat is compared with the first round item by item: of
// those that changed sides, half should have become better while the judge is the
// same (McNemar 1947, as an e-value). Repeats depend on each other, so their evidence
// is added up with weights (drift.Accumulated). first and repeats are of one judge,
// model and version.
func WatchSentinel(first SentinelRepeat, repeats []SentinelRepeat) (Monitor, error) {
	m := Monitor{Name: MonitorSentinel, Threshold: 1 / (DriftRisk + DriftBaselineRisk), Sequence: agreement.Interval{High: 1}}
	m.Baseline = shareOf(first.Right, first.N, "the sentinel set was not judged yet")
	m.Value = agreement.Estimate{Undefined: "the sentinel set was not judged a second time"}
	if len(repeats) == 0 {
		m.Unwatched = m.Value.Undefined
		return m, nil
	}
	last := repeats[len(repeats)-1]
	m.Value = shareOf(last.Right, last.N, "no item of the sentinel set has a verdict and a label")
	es := make([]drift.Evalue, len(repeats))
	for i, r := range repeats {
		var err error
		if es[i], err = drift.BetaBinomial(r.Worse, r.Worse+r.Better, 0.5, drift.Uniform); err != nil {
			return m, err
		}
	}
	m.Evidence = drift.Accumulated(es)
	m.Alarm = m.Evidence.Alarms(DriftRisk + DriftBaselineRisk)
	if ci, err := agreement.Wilson(last.Right, last.N, Level); err == nil {
		m.Sequence = ci // of this repeat alone: repeats of the same items are not more of them
	}
	return m, nil
}

// SameVerdict counts the pairs in which people and the judge give one verdict, of
// those that can be compared. Drift is always told on verdicts, so that a first
// label without a class of the judge does not begin another scale.
func SameVerdict(labels []judge.Label, cells []Cell) (agreed, n int, err error) {
	s := scaleOf(labels, false)
	var pairs []pairing
	for _, c := range cells {
		pairs = append(pairs, pairing{s.read(c.Human), s.read(c.Judge), c.N})
	}
	c, err := s.compareOn(ScaleVerdicts, pairs)
	if err != nil {
		return 0, 0, err
	}
	for i, row := range c.matrix.Counts() {
		agreed += row[i]
	}
	return agreed, c.n, nil
}

func widened(ci agreement.Interval, by float64) agreement.Interval {
	return agreement.Interval{Low: max(0, ci.Low-by), High: min(1, ci.High+by)}
}

func tooSmall(n int, unit string) string {
	if n >= MinBaseline {
		return ""
	}
	return fmt.Sprintf("the baseline has %d %ss; %d are needed", n, unit, MinBaseline)
}
