package store_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

// many rates n labelled traces: the second version is right on all, the first misses
// every third.
func (d *desk) many(n int) {
	d.t.Helper()
	var traces []rated
	for i := range n {
		r := rated{id: fmt.Sprintf("t%03d", i), human: judge.Fail, said: bothSay(judge.Fail, judge.Fail)}
		if i%3 == 0 {
			r.said[v1] = judge.Pass
		}
		traces = append(traces, r)
	}
	d.rate(traces...)
}

func (d *desk) comparison(a store.Actor) store.Comparison {
	d.t.Helper()
	r, err := d.CompareJudges(d.ctx, a, "default", "equivalence", []calibration.Competitor{v1, v2})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// Once a test split is locked, its labels are in no figure and no list but those of a
// look; each look is recorded, counted and makes all of them worth less.
func TestLooksAtTheTestSplit(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.many(90)
	who := []calibration.Competitor{v1, v2}
	if r := d.comparison(d.lea); r.On != store.OnAll || r.Labelled.N != 90 || r.Split != nil || len(r.Differences) != 30 {
		t.Fatalf("before: %s, %d, %d", r.On, r.Labelled.N, len(r.Differences))
	}
	if _, err := d.LookAtTestSplit(d.ctx, d.lea, "default", "equivalence", who); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a look before there is a split: %v", err)
	}
	for _, share := range []float64{0, 0.05, 0.95, 1, math.NaN()} {
		if err := d.LockTestSplit(d.ctx, d.lea, "default", "equivalence", share, ""); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("share %v: %v", share, err)
		}
	}
	if err := d.LockTestSplit(d.ctx, d.ann, "default", "equivalence", 0.5, ""); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	if err := d.LockTestSplit(d.ctx, d.lea, "default", "equivalence", 0.5, "before the new prompt"); err != nil {
		t.Fatal(err)
	}
	if err := d.LockTestSplit(d.ctx, d.luis, "default", "equivalence", 0.2, ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second share: %v", err)
	}
	r := d.comparison(d.lea)
	if r.On != store.OnTune || r.Split == nil || r.Labelled.N+r.Split.N != 90 || r.Split.N < 25 || r.Split.N > 65 || r.Split.Looks != 0 {
		t.Fatalf("after: %s, %d, %+v", r.On, r.Labelled.N, r.Split)
	}
	if len(r.Differences) != r.Labelled.Duel.OnlySecond {
		t.Errorf("%d differences are listed, %d are in the tuning part", len(r.Differences), r.Labelled.Duel.OnlySecond)
	}
	first, err := d.LookAtTestSplit(d.ctx, d.lea, "default", "equivalence", who)
	if err != nil || first.Number != 1 || first.Figures.N != r.Split.N || first.Figures.Duel.OnlySecond != 30-r.Labelled.Duel.OnlySecond {
		t.Fatalf("first look %+v, error %v", first, err)
	}
	if again, err := d.LookAtTestSplit(d.ctx, d.luis, "default", "equivalence", who); err != nil || again.Number != 1 || !again.Again || again.By != "lea" {
		t.Errorf("the same again: %+v, error %v", again, err)
	}
	second, err := d.LookAtTestSplit(d.ctx, d.luis, "default", "equivalence", []calibration.Competitor{v2, v1})
	if err != nil || second.Number != 2 || math.Abs(*second.Figures.Duel.P-2**first.Figures.Duel.P) > 1e-12 || math.Abs(second.Figures.ConfLevel-0.975) > 1e-12 {
		t.Errorf("second look %+v, error %v", second, err)
	}
	if _, err := d.LookAtTestSplit(d.ctx, d.auditor, "default", "equivalence", who); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("an auditor: %v", err)
	}
	after := d.comparison(d.auditor)
	if after.Split.Looks != 2 || len(after.Split.Seen) != 2 || after.Split.Seen[0].By != "luis" || after.Split.Seen[1].Figures.Duel.Difference != first.Figures.Duel.Difference || !after.Split.Seen[1].Of(who) {
		t.Errorf("seen %+v", after.Split)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action IN ('judge.test_split_locked', 'judge.test_split_looked') AND allowed`); n != 3 {
		t.Errorf("%d events", n)
	}
	for _, query := range []string{`UPDATE judge_splits SET share = 0.9`, `DELETE FROM judge_test_looks`, `DELETE FROM judge_splits`} {
		if _, err := d.raw.Exec(query); err == nil {
			t.Errorf("%s went through", query)
		}
	}
	d.holds()
}

// Leads who look at once at the same are one look; at something else it is another.
func TestLooksAtOnce(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.many(30)
	if err := d.LockTestSplit(d.ctx, d.lea, "default", "equivalence", 0.5, ""); err != nil {
		t.Fatal(err)
	}
	const clicks = 6
	numbers, faults := make([]int, clicks), make([]error, clicks)
	var wait sync.WaitGroup
	for i := range clicks {
		wait.Go(func() {
			look, err := d.LookAtTestSplit(d.ctx, []store.Actor{d.lea, d.luis}[i%2], "default", "equivalence",
				[][]calibration.Competitor{{v1, v2}, {v2, v1}}[i%2])
			numbers[i], faults[i] = look.Number, err
		})
	}
	wait.Wait()
	seen := map[int]bool{}
	for i, err := range faults {
		if err != nil {
			t.Fatal(err)
		}
		seen[numbers[i]] = true
	}
	if len(seen) != 2 || !seen[1] || !seen[2] {
		t.Errorf("numbers %v", numbers)
	}
	if r := d.comparison(d.lea); r.Split.Looks != 2 {
		t.Errorf("%d looks are counted", r.Split.Looks)
	}
}
