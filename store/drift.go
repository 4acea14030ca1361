package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// DriftReport is how one judge, model and prompt version stands against its frozen
// baseline. Another version is another series and has its own.
type DriftReport struct {
	Judge, Model, PromptVersion string
	// Baseline is the newest; nil: none was frozen, and nothing is watched.
	Baseline *DriftBaseline
	Monitors []DriftMonitor
	// Alarms, the newest first, also those of earlier baselines; 50 at most.
	Alarms []DriftAlarm
	// Sentinel is how the sentinel set was judged; nil: it was not.
	Sentinel *SentinelStand
	// Labels of random audits: all while there is no baseline, else those since then.
	Labels int
}

// DriftMonitor is one of its measures.
type DriftMonitor struct {
	calibration.Monitor
	// Untold says why its figures are kept from the actor; empty: they are not. They
	// are zero then.
	Untold string
	Open   *DriftAlarm // nil: none
	// BaselineID is of its baseline, or of the sentinel set.
	BaselineID string
}

// driftAlarmsShown bounds DriftReport.Alarms.
const driftAlarmsShown = 50

// Drift watches a judge, or all of a project where its name is empty: each of its
// models and prompt versions apart, by judge, model and version. What is counted
// without labels is told to who may decide for the days before the oldest evaluation
// that waits blind. ErrNotFound: the project has no such judge. Roles: lead,
// auditor, admin.
func (s *Store) Drift(ctx context.Context, a Actor, project, judgeName string) (_ []DriftReport, err error) {
	defer wrap(&err, "watch judge %q for drift", judgeName)
	p, scales, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return nil, err
	}
	return s.watchDrift(ctx, p, scales, judgeName, a.MayDecide(), func(ctx context.Context, q querier, scale judgeScale, spans []driftSpan) ([]auditCount, error) {
		return s.shown.of(ctx, q, scale, p.ID, spans)
	})
}

// watchDrift reads one moment. sealed leaves out what waits blind; count is auditLabels,
// or gives what it gave not long ago.
func (s *Store) watchDrift(ctx context.Context, p Project, scales []judgeScale, judgeName string, sealed bool,
	count func(context.Context, querier, judgeScale, []driftSpan) ([]auditCount, error)) (reports []DriftReport, err error) {
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, read.end(ctx)) }()
	w := driftWatch{sealed: sealed}
	if w.days, err = readDriftDays(ctx, read, p.ID, judgeName); err != nil {
		return nil, err
	}
	if sealed {
		if w.waiting, err = firstWaiting(ctx, read, p.ID, judgeName); err != nil {
			return nil, err
		}
	}
	baselines, err := newestBaselines(ctx, read, p.ID, judgeName)
	if err != nil {
		return nil, err
	}
	alarms, err := driftAlarms(ctx, read, p.ID, judgeName)
	if err != nil {
		return nil, err
	}
	sentinels, err := sentinelHistories(ctx, read, p.ID, judgeName, alarms)
	if err != nil {
		return nil, err
	}
	for _, scale := range scales {
		groups := map[agreementGroup]bool{}
		for g := range w.days {
			groups[g] = true
		}
		for g := range sentinels {
			groups[g] = true
		}
		for g := range baselines {
			groups[g] = true
		}
		series := slices.SortedFunc(maps.Keys(groups), compareGroups)
		series = slices.DeleteFunc(series, func(g agreementGroup) bool { return g.judge != scale.name })
		spans := make([]driftSpan, len(series)) // without a baseline: from the beginning
		for i, g := range series {
			spans[i].group = g
			if b, ok := baselines[g]; ok {
				spans[i].from = since(b, alarms[g], calibration.MonitorAgreement)
			}
		}
		counts, err := count(ctx, read, scale, spans)
		if err != nil {
			return nil, err
		}
		for i, g := range series {
			if b, ok := baselines[g]; ok {
				spans[i].from = since(b, alarms[g], calibration.MonitorParts)
			}
		}
		parts, err := readParts(ctx, read, spans)
		if err != nil {
			return nil, err
		}
		for i, g := range series {
			r := DriftReport{Judge: g.judge, Model: g.model, PromptVersion: g.version, Labels: counts[i].labels, Alarms: w.told(g, alarms[g])}
			if b, ok := baselines[g]; ok {
				r.Baseline = &b
				if r.Monitors, err = w.monitors(g, b, alarms[g], counts[i], parts[i]); err != nil {
					return nil, err
				}
			}
			if h, ok := sentinels[g]; ok {
				m, err := h.monitor()
				if err != nil {
					return nil, err
				}
				r.Monitors = append(r.Monitors, DriftMonitor{Monitor: m, BaselineID: h.set})
				r.Sentinel = h.stand()
			}
			r.attach(w, g)
			reports = append(reports, r)
		}
	}
	return reports, nil
}

// attach names the open alarm of each monitor, and keeps baseline figures that are
// not told.
func (r *DriftReport) attach(w driftWatch, g agreementGroup) {
	for i := range r.Monitors {
		for j := range r.Alarms {
			if a := &r.Alarms[j]; a.ClosedAt == nil && a.Monitor == r.Monitors[i].Name {
				r.Monitors[i].Open = a
			}
		}
	}
	if b := r.Baseline; b != nil && w.hides(g, dayOf(b.FrozenAt)) {
		b.Counts.Passed, b.Counts.Verdicts, b.Counts.Scores, b.Counts.ScoreSum, b.Counts.ScoreSquares = 0, 0, 0, 0, 0
	}
}

// since is from when on a monitor counts: its baseline, or the end of the last alarm
// after it.
func since(b DriftBaseline, alarms []DriftAlarm, monitor string) time.Time {
	from := b.FrozenAt
	for _, a := range alarms {
		if a.Monitor == monitor && a.BaselineID == b.ID && a.ClosedAt != nil && a.ClosedAt.After(from) {
			from = *a.ClosedAt
		}
	}
	return from
}

// driftWatch is what the monitors without labels are counted from.
type driftWatch struct {
	days    map[agreementGroup]map[string]driftSum
	waiting map[agreementGroup]string // the first day with something that waits blind
	sealed  bool                      // the reader may have to answer it
}

// hides says that sums up to a day hold something that waits blind for the reader.
func (w driftWatch) hides(g agreementGroup, day string) bool {
	first, waits := w.waiting[g]
	return w.sealed && waits && first <= day
}

func (w driftWatch) monitors(g agreementGroup, b DriftBaseline, alarms []DriftAlarm, labels auditCount, parts keptParts) ([]DriftMonitor, error) {
	agreement, err := calibration.WatchAgreement(b.Counts, calibration.DriftCounts{Agreed: labels.agreed, Labels: labels.labels})
	if err != nil {
		return nil, err
	}
	agreement.Since = since(b, alarms, calibration.MonitorAgreement)
	all := []DriftMonitor{{Monitor: agreement, BaselineID: b.ID}}
	if b.Counts.Ruled > 0 || parts.ruled > 0 { // not every judge has parts
		var seen calibration.DriftCounts
		parts.into(&seen)
		m, err := calibration.WatchParts(b.Counts, seen)
		if err != nil {
			return nil, err
		}
		m.Since = since(b, alarms, calibration.MonitorParts)
		all = append(all, DriftMonitor{Monitor: m, BaselineID: b.ID})
	}
	for _, by := range []struct {
		name  string
		watch func(base, seen calibration.DriftCounts) (calibration.Monitor, error)
	}{{calibration.MonitorPassed, calibration.WatchPassed}, {calibration.MonitorScore, calibration.WatchScore}} {
		from := since(b, alarms, by.name)
		if w.hides(g, dayOf(from)) {
			all = append(all, DriftMonitor{Monitor: calibration.Monitor{Name: by.name, Since: from},
				Untold: "evaluations of " + w.waiting[g] + " wait blind, and you may be asked about them: sums would tell what the judge said"})
			continue
		}
		var seen calibration.DriftCounts
		before := ""
		if w.sealed {
			before = w.waiting[g]
		}
		sumDays(w.days[g], dayOf(from), before).into(&seen)
		m, err := by.watch(b.Counts, seen)
		if err != nil {
			return nil, err
		}
		m.Since = from
		if before != "" {
			if m.Until, err = time.Parse(time.DateOnly, before); err != nil {
				return nil, err
			}
		}
		all = append(all, DriftMonitor{Monitor: m, BaselineID: b.ID})
	}
	return all, nil
}
