package store

import (
	"context"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// AddDrift gives reports on judges of a project how each stands against its
// baseline, as the actor may know it. judgeName is that of the reports; empty: they
// are of all. Roles: lead, auditor, admin.
func (s *Store) AddDrift(ctx context.Context, a Actor, project, judgeName string, reports []TrustedReport) error {
	if len(reports) == 0 {
		return nil
	}
	all, err := s.Drift(ctx, a, project, judgeName)
	for _, d := range all {
		for i := range reports {
			if r := &reports[i]; r.Judge == d.Judge && r.Model == d.Model && r.PromptVersion == d.PromptVersion {
				r.Drift = d.Written()
			}
		}
	}
	return err
}

// Written is the report as JSON.
func (r DriftReport) Written() *calibration.Drift {
	d := &calibration.Drift{Monitors: []calibration.WrittenMonitor{}, Alarms: []calibration.WrittenAlarm{}}
	if b := r.Baseline; b != nil {
		d.Baseline = &calibration.DriftFrozen{ID: b.ID, FrozenAt: b.FrozenAt, FrozenBy: b.FrozenBy, Automatic: b.Automatic, Labels: b.Counts.Labels,
			FirstAt: timeOrNil(b.FirstLabel), LastAt: timeOrNil(b.LastLabel)}
	}
	for _, m := range r.Monitors {
		open := ""
		if m.Open != nil {
			open = m.Open.ID
		}
		d.Monitors = append(d.Monitors, m.Written(m.Untold, open))
	}
	for _, a := range r.Alarms {
		w := calibration.WrittenAlarm{ID: a.ID, Monitor: a.Monitor, Direction: a.Direction(), OpenedAt: a.OpenedAt,
			ClosedAt: a.ClosedAt, ClosedBy: a.ClosedBy, CloseReason: a.CloseReason}
		if a.Told {
			w.EValue, w.Found, w.Baseline, w.N = &a.EValue, &a.Found, &a.Baseline, &a.N
		}
		d.Alarms = append(d.Alarms, w)
	}
	if s := r.Sentinel; s != nil {
		e := calibration.TestRetest(s.Same, s.Again)
		d.TestRetest = &e
	}
	return d
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
