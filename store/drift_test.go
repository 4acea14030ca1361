package store_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

// audited puts n evaluations on the desk that were accepted and drawn at random, as
// far as they have a label; right of them agree with it.
func (d *desk) audited(prefix string, n, right int) {
	d.t.Helper()
	var items []judged
	at := d.clock.Now()
	for i := range n {
		verdict := judge.Pass
		if i >= right {
			verdict = judge.Fail
		}
		p := 0.05
		items = append(items, judged{id: fmt.Sprintf("%s%d", prefix, i), labels: []judge.HumanLabel{{
			Judge: "equivalence", Reviewer: "r", Verdict: verdict, At: &at, Stratum: judge.StratumRandomAudit, InclusionProbability: &p,
		}}, report: passing})
	}
	for len(items) > 0 {
		part := min(100, len(items))
		d.put(items[:part]...)
		items = items[part:]
	}
}

func passing(e *judge.Evaluation) {
	score := 0.9
	*e = judge.Evaluation{Status: judge.Accepted, Verdict: judge.Pass, Label: "same-thing", Score: &score}
}

func (d *desk) drift(a store.Actor) store.DriftReport {
	d.t.Helper()
	reports, err := d.Drift(d.ctx, a, "default", "equivalence")
	if err != nil || len(reports) != 1 {
		d.t.Fatalf("%d reports, error %v; want one", len(reports), err)
	}
	return reports[0]
}

func (d *desk) look() int {
	d.t.Helper()
	n, err := d.LookForDrift(d.ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

func monitor(t *testing.T, r store.DriftReport, name string) store.DriftMonitor {
	t.Helper()
	for _, m := range r.Monitors {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no monitor %s in %+v", name, r)
	return store.DriftMonitor{}
}

func TestDriftFromBaselineToAlarmAndBack(t *testing.T) {
	d := openDesk(t)
	d.audited("base", 150, 140)
	for _, who := range []store.Actor{d.ann, d.auditor} {
		_, err := d.FreezeBaseline(d.ctx, who, "default", "equivalence", "rules", "v1")
		wantErr(t, "freeze by "+who.Name, err, store.ErrForbidden)
	}
	if _, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "other", "v1"); err == nil || !strings.Contains(err.Error(), "30 of one") {
		t.Errorf("a baseline of nothing: %v", err)
	}
	b, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1")
	if err != nil || b.Counts.Labels != 150 || b.Counts.Agreed != 140 || b.Counts.Passed != 150 || b.Counts.Scores != 150 || b.FirstLabel.IsZero() {
		t.Fatalf("baseline %+v, error %v", b, err)
	}
	d.clock.add(24 * time.Hour)
	d.audited("same", 50, 47)
	if n := d.look(); n != 0 {
		t.Errorf("%d alarms of a judge that is the same", n)
	}
	if m := monitor(t, d.drift(d.auditor), calibration.MonitorAgreement); m.Value.N != 50 || m.Alarm || m.Unwatched != "" {
		t.Errorf("agreement %+v", m)
	}
	d.clock.add(24 * time.Hour)
	d.audited("worse", 150, 75)
	if n := d.look(); n != 1 {
		t.Fatalf("%d alarms, want one", n)
	}
	if n := d.look(); n != 0 {
		t.Errorf("%d more alarms by a second look", n)
	}
	r := d.drift(d.lea)
	m := monitor(t, r, calibration.MonitorAgreement)
	if m.Value.N != 200 || m.Open == nil || !m.Open.Lower || m.Open.N != 200 || m.Open.Found > 0.65 || m.Open.EValue < 40 || !m.Open.Told || len(r.Alarms) != 1 {
		t.Fatalf("monitor %+v, alarms %+v", m, r.Alarms)
	}
	if n, err := d.OpenDrift(d.ctx, "default", "equivalence", "rules", "v1"); n != 1 || err != nil {
		t.Errorf("%d open, error %v", n, err)
	}
	if n, err := d.OpenDrift(d.ctx, "default", "equivalence", "rules", "v2"); n != 0 || err != nil {
		t.Errorf("of another version %d open, error %v", n, err)
	}
	if by, err := d.OpenDriftByJudge(d.ctx, d.lea, "default"); by["equivalence"] != 1 || err != nil {
		t.Errorf("open by judge %v, error %v", by, err)
	}
	id := m.Open.ID
	_, err = d.CloseAlarm(d.ctx, d.ann, "default", id, "x")
	wantErr(t, "closed by a reviewer", err, store.ErrForbidden)
	_, err = d.CloseAlarm(d.ctx, d.lea, "default", id, "  ")
	wantField(t, "no reason", err, "reason")
	_, err = d.CloseAlarm(d.ctx, d.lea, "default", "none", "x")
	wantErr(t, "unknown", err, store.ErrNotFound)
	closed, err := d.CloseAlarm(d.ctx, d.lea, "default", id, "The supplier replaced the model.")
	if err != nil || closed.ClosedBy != "lea" {
		t.Errorf("closed %+v, error %v", closed, err)
	}
	_, err = d.CloseAlarm(d.ctx, d.luis, "default", id, "again")
	wantErr(t, "closed twice", err, store.ErrConflict)
	for _, change := range []string{`UPDATE drift_alarms SET found = 1`, `UPDATE drift_alarms SET close_reason = 'x'`, `DELETE FROM drift_alarms`,
		`UPDATE drift_baselines SET agreed = 0`, `DELETE FROM drift_baselines`} {
		if _, err := d.raw.ExecContext(d.ctx, change); err == nil {
			t.Errorf("%s: it was done", change)
		}
	}
	// The monitor begins anew, against the same baseline.
	if m := monitor(t, d.drift(d.lea), calibration.MonitorAgreement); m.Value.N != 0 || m.Open != nil || d.look() != 0 {
		t.Errorf("after it was closed: %+v", m)
	}
	d.clock.add(time.Hour)
	d.audited("still", 150, 75)
	if n := d.look(); n != 1 {
		t.Errorf("%d alarms of what goes on, want one", n)
	}
	for action, want := range map[string]int{"drift.baseline_frozen": 1, "drift.alarm_opened": 2, "drift.alarm_closed": 1} {
		events, _, err := d.ListAudit(d.ctx, d.auditor, store.AuditFilter{Action: action})
		n := 0
		for _, e := range events {
			if e.Allowed {
				n++
			}
		}
		if err != nil || n != want {
			t.Errorf("%d events %s, error %v; want %d", n, action, err, want)
		}
	}
	d.holds()
}

// Several servers look at once: one baseline, one alarm.
func TestDriftOfSeveralServers(t *testing.T) {
	d := openDesk(t)
	d.audited("base", calibration.AutomaticBaseline, 190)
	atOnce := func() (opened int) {
		t.Helper()
		found := make(chan int, 4)
		for range 4 {
			go func() {
				n, err := d.LookForDrift(d.ctx)
				if err != nil {
					t.Error(err)
				}
				found <- n
			}()
		}
		for range 4 {
			opened += <-found
		}
		return opened
	}
	if atOnce() != 0 || d.number(`SELECT count(*) FROM drift_baselines`) != 1 {
		t.Errorf("%d baselines", d.number(`SELECT count(*) FROM drift_baselines`))
	}
	d.clock.add(time.Hour)
	d.audited("worse", 100, 40)
	if n := atOnce(); n != 1 || d.number(`SELECT count(*) FROM drift_alarms`) != 1 {
		t.Errorf("%d alarms opened, %d kept", n, d.number(`SELECT count(*) FROM drift_alarms`))
	}
	if r := d.drift(d.auditor); r.Baseline == nil || !r.Baseline.Automatic || r.Baseline.FrozenBy != "drift" {
		t.Errorf("baseline %+v", r.Baseline)
	}
	d.holds()
}

// What waits blind must not be told by sums of verdicts, neither by monitors nor by
// the alarms and events that come of them.
func TestDriftTellsNothingOfWhatWaitsBlind(t *testing.T) {
	d := openDesk(t)
	d.blind("always")
	accept := func(prefix string, n int) {
		var items []judged
		for _, it := range numbered(prefix, n) {
			it.report = passing
			items = append(items, it)
		}
		d.put(items...)
	}
	accept("base", 100)
	if _, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1"); err != nil {
		t.Fatal(err)
	}
	d.clock.add(24 * time.Hour)
	accept("clear", 10)
	d.clock.add(24 * time.Hour)
	waits := d.put(numbered("waits", 60)...)
	if n := d.look(); n != 2 {
		t.Fatalf("%d alarms, want one of verdicts and one of scores", n)
	}
	lead, auditor := d.drift(d.lea), d.drift(d.auditor)
	for _, name := range []string{calibration.MonitorPassed, calibration.MonitorScore} {
		if m := monitor(t, auditor, name); m.Value.N != 70 || m.Open == nil || !m.Open.Told {
			t.Errorf("%s for an auditor: %+v", name, m)
		}
		if m := monitor(t, lead, name); m.Value.N != 10 || m.Until.IsZero() || m.Open == nil || m.Open.Told || m.Open.Found != 0 || m.Open.N != 0 || !m.Open.Lower {
			t.Errorf("%s for a lead: %+v, open %+v", name, m, m.Open)
		}
	}
	events, err := d.AuditAfter(d.ctx, d.lea, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Action == "drift.alarm_opened" && strings.Contains(string(e.Data), "found") {
			t.Errorf("the event tells %s", e.Data)
		}
	}
	if body := d.text(`SELECT min(body) FROM webhook_deliveries`); strings.Contains(body, "found") || !strings.Contains(body, `"direction":"lower"`) {
		t.Errorf("the message tells %s", body)
	}
	// A baseline that holds what waits is not told either.
	if _, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1"); err != nil {
		t.Fatal(err)
	}
	r := d.drift(d.lea)
	if m := monitor(t, r, calibration.MonitorPassed); m.Untold == "" || m.Value.N != 0 || m.Baseline.N != 0 || r.Baseline.Counts.Verdicts != 0 {
		t.Errorf("a baseline with what waits, for a lead: %+v of %+v", m, r.Baseline.Counts)
	}
	if r := d.drift(d.auditor); r.Baseline.Counts.Verdicts != 170 {
		t.Errorf("for an auditor: %+v", r.Baseline.Counts)
	}
	for _, id := range waits {
		d.claim(d.ann, id)
		d.first(d.ann, id, judge.Fail)
		d.decide(d.ann, id, store.DecisionInput{Action: store.Adopt})
	}
	if r := d.drift(d.lea); monitor(t, r, calibration.MonitorPassed).Untold != "" || r.Baseline.Counts.Verdicts != 170 || !r.Alarms[0].Told {
		t.Errorf("after all was answered: %+v", r)
	}
	d.holds()
}

// Days are counted right also where a verdict is given anew, and by the migration.
func TestDriftDaysAreKept(t *testing.T) {
	d := openDesk(t)
	d.put(judged{id: "a", report: passing}, judged{id: "b"}, judged{id: "c", report: func(e *judge.Evaluation) {
		e.Reasons = []judge.Reason{{Code: judge.ReasonInvalidOutput, Detail: "x"}}
	}})
	d.holds()
	if err := d.RetryEvaluation(d.ctx, d.lea, d.text(`SELECT e.id FROM evaluations e JOIN traces t ON t.id = e.trace_id WHERE t.external_id = 'c'`)); err != nil {
		t.Fatal(err)
	}
	d.holds()
	file := "00024_drift_sqlite3.sql"
	before := d.list(`SELECT day || ' ' || verdicts || ' ' || passed || ' ' || scores || ' ' || score_micro || ' ' || square_micro FROM drift_days WHERE verdicts > 0`)
	if _, err := d.raw.ExecContext(d.ctx, `DELETE FROM drift_days`); err != nil {
		t.Fatal(err)
	}
	for _, statement := range statementsOf(t, file, "INSERT") {
		if _, err := d.raw.ExecContext(d.ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	after := d.list(`SELECT day || ' ' || verdicts || ' ' || passed || ' ' || scores || ' ' || score_micro || ' ' || square_micro FROM drift_days`)
	if len(before) != 1 || len(after) != 1 || before[0] != after[0] {
		t.Errorf("kept %v, by the migration %v", before, after)
	}
	d.holds()
}

// TestDriftOfParts: what people left of a report's parts, a decision counting once;
// not what was ruled blind, and not what was taken back.
func TestDriftOfParts(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	rule := func(prefix string, n, changed int) (last string) {
		t.Helper()
		for _, it := range numbered(prefix, n) {
			last = d.put(it)[it.id]
			d.claim(d.ann, last)
			rulings := []judge.Ruling{{Part: "a", Value: "x"}, {Part: "b", Value: "x"}, {Part: "c", Value: "x"}, {Part: "d", Value: "x"}}
			in := store.DecisionInput{Action: store.Confirm, Rulings: rulings, Compared: 4}
			if changed > 0 {
				in = store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "judge_wrong", Comment: "x", Rulings: rulings, Compared: 4, Changed: changed}
			}
			d.decide(d.ann, last, in)
		}
		return last
	}
	rule("base", 30, 0)
	b, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1")
	if err != nil || b.Counts.Ruled != 30 || b.Counts.KeptSum != 30 {
		t.Fatalf("baseline %+v, error %v", b, err)
	}
	d.clock.add(time.Hour)
	last := rule("worse", 40, 3)
	undone := monitor(t, d.drift(d.auditor), calibration.MonitorParts)
	if undone.Value.N != 40 || undone.Value.Value != 0.25 || !undone.Alarm {
		t.Errorf("parts %+v", undone)
	}
	if _, err := d.Undo(d.ctx, d.ann, last); err != nil {
		t.Fatal(err)
	}
	if m := monitor(t, d.drift(d.lea), calibration.MonitorParts); m.Value.N != 39 {
		t.Errorf("after one was taken back: %+v", m)
	}
	d.blind("always")
	blind := d.put(judged{id: "blind"})["blind"]
	d.claim(d.ann, blind)
	d.first(d.ann, blind, judge.Fail)
	d.decide(d.ann, blind, store.DecisionInput{Action: store.Keep, Rulings: []judge.Ruling{{Part: "a", Value: "x"}}})
	if n := d.number(`SELECT count(*) FROM drift_parts`); n != 70 {
		t.Errorf("%d decisions with parts", n)
	}
	d.holds()
}

// A form that is sent many times at once freezes one baseline and names one set.
func TestBaselineAndSentinelSetAtOnce(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.audited("base", 60, 58)
	d.many(3)
	const clicks = 8
	var wait sync.WaitGroup
	budget := 2.5
	for range clicks {
		wait.Go(func() {
			if b, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1"); err != nil || b.Counts.Labels != 60 {
				t.Errorf("baseline %+v, error %v", b, err)
			}
			if set, err := d.SetSentinel(d.ctx, d.lea, "default", "equivalence", "nightly", 7, &budget); err != nil || set.Traces == 0 {
				t.Errorf("set %+v, error %v", set, err)
			}
		})
	}
	wait.Wait()
	count := func(baselines, sets int) {
		t.Helper()
		if b, s := d.number(`SELECT count(*) FROM drift_baselines`), d.number(`SELECT count(*) FROM sentinel_sets`); b != baselines || s != sets {
			t.Errorf("%d baselines and %d sets, want %d and %d", b, s, baselines, sets)
		}
	}
	count(1, 1)
	// What is new makes another of each.
	d.clock.add(time.Hour)
	d.audited("more", 1, 1)
	if _, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.SetSentinel(d.ctx, d.lea, "default", "equivalence", "nightly", 7, nil); err != nil {
		t.Fatal(err)
	}
	count(2, 2)
	d.holds()
}
