package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
	"github.com/countersign/countersign/store"
)

func (d *desk) evidence() store.ReleaseEvidence {
	d.t.Helper()
	e, err := d.ReleaseEvidence(d.ctx, d.auditor, "default", "rc1")
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

func (d *desk) releases() ([]store.RunRelease, store.ReleaseState) {
	d.t.Helper()
	all, state, err := d.Releases(d.ctx, d.ann, "default", "rc1")
	if err != nil {
		d.t.Fatal(err)
	}
	return all, state
}

func TestReleaseEvidence(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a", run: "rc1"}, judged{id: "b", run: "rc1"}, judged{id: "c", run: "rc1"}, judged{id: "elsewhere", run: "rc2"})
	_, err := d.ReleaseEvidence(d.ctx, d.ann, "default", "rc1")
	wantErr(t, "a reviewer reads the evidence", err, store.ErrForbidden)
	_, err = d.ReleaseEvidence(d.ctx, d.lea, "default", "rc9")
	wantErr(t, "there is no such run", err, store.ErrNotFound)

	before := d.evidence()
	if before.Traces != 3 || before.Waiting != 3 || before.Overridden != 0 || before.Gate.Overall.Waiting != 3 {
		t.Errorf("three wait: %+v", before)
	}
	if items := d.whole(d.lea, store.QueueFilter{Project: "default", Run: "rc1"}); len(items) != before.Waiting {
		t.Errorf("the list has %d items, and the evidence %d", len(items), before.Waiting)
	}
	if again := d.evidence(); again.SHA256 != before.SHA256 {
		t.Error("the same evidence has two hashes")
	}
	// People settle one as the judge did, and one otherwise.
	for id, v := range map[string]judge.Verdict{"a": judge.Fail, "b": judge.Pass} {
		d.claim(d.ann, reviews[id])
		d.first(d.ann, reviews[id], v)
		d.decide(d.ann, reviews[id], store.DecisionInput{Action: store.Keep, ReasonCode: "judge_wrong", Comment: "seen"})
	}
	after := d.evidence()
	list, _, err := d.ListEvaluations(d.ctx, d.auditor, store.EvaluationFilter{Run: "rc1", Overridden: true})
	if err != nil {
		t.Fatal(err)
	}
	if after.Waiting != 1 || after.Overridden != 1 || len(list) != 1 || after.SHA256 == before.SHA256 || after.ResultsSHA256 == before.ResultsSHA256 {
		t.Errorf("after two decisions: %d waiting, %d overridden, %d in the list", after.Waiting, after.Overridden, len(list))
	}
	if g := after.Gate; g.Overall.Decided != 2 || g.Overall.Passed != 1 || g.Outcome != release.Untrusted || !g.Overall.PassRate.HasInterval() {
		t.Errorf("the gate: %+v", g.Overall)
	}
	// Who may decide and who may not read the same.
	if e, err := d.ReleaseEvidence(d.ctx, d.lea, "default", "rc1"); err != nil || e.SHA256 != after.SHA256 {
		t.Errorf("a lead reads other evidence than an auditor, %v", err)
	}
}

func TestReleaseIsSignedOnceAndWithdrawn(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a", run: "rc1"}, judged{id: "b", run: "rc1"})
	e := d.evidence()
	sign := func(a store.Actor, in store.ReleaseInput) (store.RunRelease, error) {
		return d.ReleaseRun(d.ctx, a, "default", "rc1", in)
	}
	although := store.ReleaseInput{EvidenceSHA256: e.SHA256, Although: "the fix is urgent; both are looked at tomorrow"}
	_, err := sign(d.ann, although)
	wantErr(t, "a reviewer signs", err, store.ErrForbidden)
	_, err = sign(store.Operator("test"), although)
	wantErr(t, "nobody by name signs", err, store.ErrInvalid)
	_, err = sign(d.lea, store.ReleaseInput{EvidenceSHA256: e.SHA256})
	var field *store.FieldError
	if !errors.As(err, &field) || field.Field != "although" {
		t.Errorf("items wait, and no reason is given: %v", err)
	}
	_, err = sign(d.lea, store.ReleaseInput{EvidenceSHA256: strings.Repeat("0", 64), Although: "x"})
	wantErr(t, "other evidence than there is", err, store.ErrConflict)

	first, err := sign(d.lea, although)
	if err != nil {
		t.Fatal(err)
	}
	d.clock.add(time.Second)
	if again, err := sign(d.lea, although); err != nil || again.ID != first.ID {
		t.Errorf("pressed twice: %s and %s, %v", first.ID, again.ID, err)
	}
	second, err := sign(d.luis, although) // another lead's own signature
	if err != nil || second.ID == first.ID {
		t.Fatalf("another lead signs: %v", err)
	}
	if all, state := d.releases(); len(all) != 2 || state.State != store.StateReleased || state.Newest.Name != "luis" || state.Decisions+state.Evaluations != 0 {
		t.Errorf("two releases: %d, %+v", len(all), state)
	}
	// What changed since is told.
	d.clock.add(time.Minute)
	d.claim(d.ann, reviews["a"])
	d.first(d.ann, reviews["a"], judge.Fail)
	d.decide(d.ann, reviews["a"], store.DecisionInput{Action: store.Keep})
	d.put(judged{id: "new", run: "rc1"})
	if _, state := d.releases(); state.Decisions != 1 || state.Evaluations != 1 {
		t.Errorf("since the release: %+v", state)
	}
	_, err = sign(d.lea, although)
	wantErr(t, "signing what was shown before", err, store.ErrConflict)

	_, err = d.WithdrawRelease(d.ctx, d.lea, "default", "rc1", second.ID, "")
	wantErr(t, "withdrawn without a reason", err, store.ErrInvalid)
	_, err = d.WithdrawRelease(d.ctx, d.lea, "default", "rc1", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x")
	wantErr(t, "there is no such release", err, store.ErrNotFound)
	if _, err := d.WithdrawRelease(d.ctx, d.lea, "default", "rc1", second.ID, "a wrong dose was found"); err != nil {
		t.Fatal(err)
	}
	_, err = d.WithdrawRelease(d.ctx, d.luis, "default", "rc1", second.ID, "the same")
	if wantErr(t, "withdrawn twice", err, store.ErrConflict); !strings.Contains(err.Error(), "lea withdrew this release") {
		t.Errorf("who was first is not told: %v", err)
	}
	if _, state := d.releases(); state.State != store.StateReleased || state.Newest.ID != first.ID {
		t.Errorf("the first release stands still: %+v", state)
	}
	if _, err := d.WithdrawRelease(d.ctx, d.luis, "default", "rc1", first.ID, "this one too"); err != nil {
		t.Fatal(err)
	}
	states, err := d.ReleaseStates(d.ctx, d.ann, "default", 50)
	if err != nil || states["rc1"].State != store.StateWithdrawn {
		t.Errorf("in the list of runs: %+v, %v", states["rc1"], err)
	}
	if told := d.list(`SELECT action FROM audit_events WHERE allowed AND subject LIKE 'run:%' AND action LIKE 'run.release%' ORDER BY seq`); !slices.Equal(told, []string{
		"run.released", "run.released", "run.release_withdrawn", "run.release_withdrawn"}) {
		t.Errorf("events: %q", told)
	}
	d.holds()
	if _, err := d.raw.Exec(`UPDATE run_releases SET although = 'it was perfect'`); err == nil {
		t.Error("a release was edited")
	}
}

// Two leads press at the same time, and one of them twice.
func TestSeveralPeopleReleaseAtOnce(t *testing.T) {
	d := openDesk(t)
	d.put(judged{id: "a", run: "rc1"})
	in := store.ReleaseInput{EvidenceSHA256: d.evidence().SHA256, Although: "urgent"}
	var wait sync.WaitGroup
	ids := make([]string, 6)
	for i := range ids {
		wait.Go(func() {
			r, err := d.ReleaseRun(d.ctx, []store.Actor{d.lea, d.luis}[i%2], "default", "rc1", in)
			if err != nil {
				t.Error(err)
			}
			ids[i] = r.ID
		})
	}
	wait.Wait()
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != 2 {
		t.Errorf("%d releases by two people", len(ids))
	}
	if all, _ := d.releases(); len(all) != 2 {
		t.Errorf("%d releases are kept", len(all))
	}
	d.holds()
}

// What waits blind is in the evidence without its verdict: whatever the judge said of
// it, the evidence is the same.
func TestReleaseEvidenceTellsNothingOfWhatWaitsBlind(t *testing.T) {
	sums := map[string]bool{}
	for _, v := range []judge.Verdict{judge.Pass, judge.Fail} {
		d := openDesk(t)
		d.put(judged{id: "a", run: "rc1", report: func(e *judge.Evaluation) { e.Verdict = v }})
		e := d.evidence()
		e.ResultsSHA256, e.Gate.Method = "", nil // ids are made by the time
		sums[string(e.Gate.Outcome)+" "+e.Gate.Sentence] = true
		if j := e.Gate.Judges; len(j) != 1 || j[0].Correction.JudgeOnly.Defined() {
			t.Errorf("the judge's verdict is in the evidence: %+v", j)
		}
	}
	if len(sums) != 1 {
		t.Errorf("two verdicts that wait blind give two gates: %v", sums)
	}
}
