package calibration

import (
	"math"
	"time"

	"github.com/countersign/countersign/judge/agreement"
)

// Drift is how a judge, model and prompt version stands against its frozen
// baseline, as it is written. What is undefined or not told is null, with the
// reason beside it.
type Drift struct {
	Baseline *DriftFrozen     `json:"baseline"` // null: none was frozen
	Monitors []WrittenMonitor `json:"monitors"`
	Alarms   []WrittenAlarm   `json:"alarms"` // the newest first
	// TestRetest is the share of the sentinel set's last round with the verdict of
	// the judge's own evaluation of the same trace; null: the set was not judged.
	TestRetest *agreement.Estimate `json:"test_retest,omitempty"`
}

// DriftFrozen is a baseline.
type DriftFrozen struct {
	ID        string     `json:"id"`
	FrozenAt  time.Time  `json:"frozen_at"`
	FrozenBy  string     `json:"frozen_by"`
	Automatic bool       `json:"automatic"`
	Labels    int        `json:"audit_labels"`
	FirstAt   *time.Time `json:"first_label_at"`
	LastAt    *time.Time `json:"last_label_at"`
}

// WrittenMonitor is one measure.
type WrittenMonitor struct {
	Monitor   string             `json:"monitor"`
	Value     agreement.Estimate `json:"value"`    // since the baseline
	Low       *float64           `json:"seq_low"`  // 95% confidence sequence
	High      *float64           `json:"seq_high"` // valid at every look
	Baseline  agreement.Estimate `json:"baseline"` // with the interval that is tested
	Tolerance float64            `json:"tolerance"`
	EValue    *float64           `json:"e_value"`
	LogE      *float64           `json:"log_e_value"`
	Threshold float64            `json:"alarm_at"`
	Alarm     bool               `json:"alarm"`
	Open      string             `json:"open_alarm,omitempty"` // its id
	Reason    string             `json:"undefined,omitempty"`
	Since     *time.Time         `json:"since"`
	Until     *time.Time         `json:"until,omitempty"`
	N         int                `json:"n"`
}

// Written is a monitor as JSON. untold says why its figures are kept from the
// reader; empty: they are not.
func (m Monitor) Written(untold, open string) WrittenMonitor {
	w := WrittenMonitor{Monitor: m.Name, Value: m.Value, Baseline: m.Baseline, Tolerance: m.Tolerance, Threshold: m.Threshold, Alarm: m.Alarm,
		Open: open, Reason: m.Unwatched, Since: known(m.Since), Until: known(m.Until), N: m.Value.N}
	switch {
	case untold != "":
		w.Value, w.Baseline = agreement.Estimate{Undefined: untold}, agreement.Estimate{Undefined: untold}
		w.Reason, w.Threshold = untold, 1/DriftRisk
	case m.Unwatched == "":
		e, log := m.Evidence.Value(), m.Evidence.Log
		w.EValue, w.LogE = &e, &log
		if m.Value.N > 0 && !math.IsInf(log, 0) {
			w.Low, w.High = &m.Sequence.Low, &m.Sequence.High
		}
	}
	return w
}

// WrittenAlarm is an alarm; figures that the reader may not know are null.
type WrittenAlarm struct {
	ID          string     `json:"id"`
	Monitor     string     `json:"monitor"`
	Direction   string     `json:"direction"` // lower or higher than the baseline
	OpenedAt    time.Time  `json:"opened_at"`
	EValue      *float64   `json:"e_value"`
	Found       *float64   `json:"found"`
	Baseline    *float64   `json:"baseline"`
	N           *int       `json:"n"`
	ClosedAt    *time.Time `json:"closed_at"`
	ClosedBy    string     `json:"closed_by,omitempty"`
	CloseReason string     `json:"close_reason,omitempty"`
}

// TestRetest is the share of repeats that gave the same verdict as the first time.
func TestRetest(same, n int) agreement.Estimate {
	return shareOf(same, n, "no item of the sentinel set has an evaluation by this judge, model and version")
}
