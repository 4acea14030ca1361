package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// Whatever happens in whatever order, each evaluation of a run is in exactly one
// of its counts, and each trace has evaluations or is told to have none.
func TestCoverageAddsUp(t *testing.T) {
	seen := store.RunRow{}
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := openOffice(t)
			o := newOffice(d, "t", 500+seed)
			for i := range 150 {
				did := o.step()
				if i%5 == 0 {
					d.checkCoverage(fmt.Sprintf("step %d, %s", i, did), &seen)
				}
			}
		})
	}
	if seen.Unjudged == 0 || seen.Pending == 0 || seen.Refused == 0 || seen.Waiting == 0 || seen.Failed == 0 || seen.Pass == 0 || seen.Fail == 0 {
		t.Errorf("some counts were never above zero: %+v", seen)
	}
}

// checkCoverage compares runs and their judges with what counting rows gives,
// and adds them to seen.
func (d *desk) checkCoverage(after string, seen *store.RunRow) {
	d.t.Helper()
	runs, err := d.Runs(d.ctx, d.auditor, "default", 0)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range runs {
		of := `FROM run_traces rt JOIN runs r ON r.id = rt.run_id`
		one := ` WHERE r.name = '` + r.Name + `'`
		evaluations := of + ` JOIN evaluations e ON e.trace_id = rt.trace_id` + one
		if want := d.number(`SELECT count(*) ` + evaluations); r.Evaluations != want {
			d.t.Fatalf("after %s run %s says %d evaluations, want %d", after, r.Name, r.Evaluations, want)
		}
		if want := d.number(`SELECT count(*) ` + of + one + ` AND NOT EXISTS (SELECT 1 FROM evaluations e WHERE e.trace_id = rt.trace_id)`); r.Unjudged != want {
			d.t.Fatalf("after %s run %s says %d traces without an evaluation, want %d", after, r.Name, r.Unjudged, want)
		}
		judges, err := d.RunJudges(d.ctx, d.auditor, "default", r.Name)
		if err != nil {
			d.t.Fatal(err)
		}
		sum := store.RunJudgeRow{}
		for _, j := range judges {
			if want := d.number(`SELECT count(*) ` + evaluations + ` AND e.judge = '` + j.Judge + `'`); j.Expected() != want {
				d.t.Fatalf("after %s judge %s of run %s: %+v are %d, want %d", after, j.Judge, r.Name, j, j.Expected(), want)
			}
			sum.Pending, sum.Refused, sum.Waiting, sum.Failed = sum.Pending+j.Pending, sum.Refused+j.Refused, sum.Waiting+j.Waiting, sum.Failed+j.Failed
			sum.Pass, sum.Borderline, sum.Fail, sum.NoVerdict = sum.Pass+j.Pass, sum.Borderline+j.Borderline, sum.Fail+j.Fail, sum.NoVerdict+j.NoVerdict
		}
		whole := store.RunJudgeRow{Pending: r.Pending, Refused: r.Refused, Waiting: r.Waiting, Failed: r.Failed, Pass: r.Pass,
			Borderline: r.Borderline, Fail: r.Fail, NoVerdict: r.NoVerdict}
		if sum != whole {
			d.t.Fatalf("after %s the judges of run %s add up to %+v, want %+v", after, r.Name, sum, whole)
		}
		seen.Unjudged, seen.Pending, seen.Refused, seen.Waiting = seen.Unjudged+r.Unjudged, seen.Pending+r.Pending, seen.Refused+r.Refused, seen.Waiting+r.Waiting
		seen.Failed, seen.Pass, seen.Fail = seen.Failed+r.Failed, seen.Pass+r.Pass, seen.Fail+r.Fail
	}
}

// Reasons are counted for everybody; of what waits blind, who may decide is told
// only how many there are.
func TestRunReasons(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "t1", run: "r"}, judged{id: "t2", run: "r"}, judged{id: "t3", run: "r", report: func(e *judge.Evaluation) {
		e.Status, e.Reasons = judge.Accepted, nil
	}})
	got := func(a store.Actor) (all []store.RunReason) {
		t.Helper()
		d.checkKept("a step")
		all, err := d.RunReasons(d.ctx, a, "default", "r")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	// failing gives critical_error, which tells, and untrusted_judge, which does not.
	all := []store.RunReason{{"equivalence", judge.ReasonCriticalError, 2}, {"equivalence", judge.ReasonUntrustedJudge, 2}}
	if diff := got(d.auditor); !slices.Equal(diff, all) {
		t.Errorf("an auditor: %v, want %v", diff, all)
	}
	if diff, want := got(d.ann), []store.RunReason{{"equivalence", "", 2}}; !slices.Equal(diff, want) {
		t.Errorf("a reviewer: %v, want %v", diff, want)
	}
	d.claim(d.ann, reviews["t1"])
	d.first(d.ann, reviews["t1"], judge.Fail)
	d.decide(d.ann, reviews["t1"], store.DecisionInput{Action: store.Keep})
	want := []store.RunReason{{"equivalence", judge.ReasonCriticalError, 1}, {"equivalence", judge.ReasonUntrustedJudge, 1}, {"equivalence", "", 1}}
	if diff := got(d.ben); !slices.Equal(diff, want) {
		t.Errorf("another reviewer, after one was decided: %v, want %v", diff, want)
	}
	if _, err := d.RunReasons(d.ctx, d.ann, "default", "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such run: %v", err)
	}
}

// Whatever sends evaluations to people, and however many reasons each has, those
// who may decide read the same of them while they wait blind.
func TestRunReasonsOfWhatWaitsBlindAreAlike(t *testing.T) {
	codes := judge.ReasonCodes()
	for n := range codes {
		d := openDesk(t)
		d.put(judged{id: "t1", run: "r", report: func(e *judge.Evaluation) {
			e.Reasons = nil
			for _, code := range codes[n:] {
				e.Reasons = append(e.Reasons, judge.Reason{Code: code})
			}
		}})
		for _, a := range []store.Actor{d.ann, d.lea} {
			got, err := d.RunReasons(d.ctx, a, "default", "r")
			if want := []store.RunReason{{"equivalence", "", 1}}; err != nil || !slices.Equal(got, want) {
				t.Errorf("%s of %v: %v, want %v, error %v", a.Role, codes[n:], got, want, err)
			}
		}
	}
}

// A database that counted before reasons were counted is filled by its
// migration, which must know the same bits as the program.
func TestReasonsOfAnOlderDatabase(t *testing.T) {
	d := openDesk(t)
	for i, code := range judge.ReasonCodes() {
		d.put(judged{id: fmt.Sprint("t", i), run: "r", report: func(e *judge.Evaluation) { e.Reasons = []judge.Reason{{Code: code}} }})
	}
	before := d.text(`SELECT string_agg(v, ' ') FROM (SELECT reasons || ':' || reasons_counted AS v FROM evaluations ORDER BY id) x`)
	for _, query := range append([]string{`UPDATE evaluations SET reasons = 0, reasons_counted = 0`, `DELETE FROM run_reasons`,
		`DELETE FROM run_counts WHERE standing = 'planned'`}, append(statementsOf(t, "00009_coverage.sql", "UPDATE", "INSERT"), statementsOf(t, "00019_waiting_blind.sql", "INSERT")...)...) {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if after := d.text(`SELECT string_agg(v, ' ') FROM (SELECT reasons || ':' || reasons_counted AS v FROM evaluations ORDER BY id) x`); after != before {
		t.Errorf("filled %s, want %s", after, before)
	}
	d.checkKept("filling by the migration")
}
