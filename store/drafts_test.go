package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// whole has something in every field.
func whole() store.DraftBody {
	return store.DraftBody{
		Stage: "decide", Action: "override", Verdict: "pass", Label: "same-thing", ReasonCode: "judge_too_strict", Severity: "minor",
		Comment: "the amounts agree \u202e once rounded", Confidence: "high", To: "lead",
		Rulings:    []judge.Ruling{{Part: "pair/1", Value: "yes"}, {Part: "pair/2", Note: "not chosen yet"}},
		Question:   "is the 2019 rate meant?",
		Correction: &store.DraftCorrection{Target: "reference", Kind: "outdated", Explanation: "since 2020", Replacement: "19 %"},
		Other:      []store.DraftField{{Name: "support-1", Value: "full"}},
	}
}

func said(comment string) store.DraftBody { return store.DraftBody{Comment: comment} }

func (d *desk) save(a store.Actor, review string, base store.DraftBase, body store.DraftBody) store.Draft {
	d.t.Helper()
	saved, conflict, err := d.SaveDraft(d.ctx, a, review, base, body)
	if err != nil || conflict != nil {
		d.t.Fatalf("save by %s on %+v: conflict %+v, error %v", a.Name, base, conflict, err)
	}
	return saved
}

func (d *desk) draft(a store.Actor, review string) *store.Draft {
	d.t.Helper()
	v, err := d.GetReview(d.ctx, a, review)
	if err != nil {
		d.t.Fatal(err)
	}
	own, err := d.GetDraft(d.ctx, a, review)
	if err != nil {
		d.t.Fatal(err)
	}
	if diff := cmp.Diff(own, v.Draft); diff != "" {
		d.t.Errorf("GetDraft and GetReview differ: %s", diff)
	}
	return own
}

func TestDraftComesBackWhole(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	if got := d.draft(d.ann, id); got != nil {
		t.Errorf("a draft before anything was typed: %+v", got)
	}
	saved := d.save(d.ann, id, store.DraftBase{}, whole())
	want := &store.Draft{Version: 1, SavedAt: d.clock.Now(), DraftBody: whole()}
	if diff := cmp.Diff(want, &saved); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, d.draft(d.ann, id)); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	// Nobody else is told, whatever they may do, and no event tells of it.
	for _, a := range []store.Actor{d.ben, d.lea, d.auditor} {
		if v, err := d.GetReview(d.ctx, a, id); err != nil || v.Draft != nil {
			t.Errorf("%s is given %+v, error %v", a.Name, v.Draft, err)
		}
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action LIKE 'draft%' OR data LIKE '%once rounded%'`); n != 0 {
		t.Errorf("%d events tell of a draft", n)
	}
	_, _, err := d.SaveDraft(d.ctx, d.auditor, id, store.DraftBase{}, said("x"))
	wantErr(t, "a draft of an auditor", err, store.ErrForbidden)
	_, _, err = d.SaveDraft(d.ctx, d.ann, "nothing", store.DraftBase{}, said("x"))
	wantErr(t, "a draft on nothing", err, store.ErrNotFound)
	_, _, err = d.SaveDraft(d.ctx, d.ann, id, store.DraftBase{Version: 1}, said(strings.Repeat("x", store.MaxDraft)))
	wantField(t, "too large", err, "draft")
}

func TestDraftVersions(t *testing.T) {
	type step struct {
		base         store.DraftBase
		body         string
		wantVersion  int    // of what is saved
		wantConflict string // the comment of the other
	}
	v := func(n int) store.DraftBase { return store.DraftBase{Version: n} }
	tab := func(name string, version int, seq int64) store.DraftBase {
		return store.DraftBase{Version: version, Tab: name, Seq: seq}
	}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string
	}{
		{"each on the one before", []step{{v(0), "a", 1, ""}, {v(1), "ab", 2, ""}, {v(2), "abc", 3, ""}}, "abc"},
		{"the same again is no version", []step{{v(0), "a", 1, ""}, {v(0), "a", 1, ""}, {v(1), "a", 1, ""}}, "a"},
		{"another page was first", []step{{v(0), "a", 1, ""}, {v(0), "b", 0, "a"}}, "a"},
		{"a page that was overtaken", []step{{v(0), "a", 1, ""}, {v(1), "ab", 2, ""}, {v(1), "ac", 0, "ab"}}, "ab"},
		{"chosen after the conflict", []step{{v(0), "a", 1, ""}, {v(0), "b", 0, "a"}, {v(1), "b", 2, ""}}, "b"},
		{"a page whose answer was lost", []step{{tab("p", 0, 1), "a", 1, ""}, {tab("p", 0, 2), "ab", 2, ""}}, "ab"},
		{"late on the way", []step{{tab("p", 0, 2), "ab", 1, ""}, {tab("p", 0, 1), "a", 1, ""}}, "ab"},
		{"two pages", []step{{tab("p", 0, 1), "a", 1, ""}, {tab("q", 0, 1), "b", 0, "a"}, {tab("q", 1, 2), "b", 2, ""}, {tab("p", 1, 2), "ac", 0, "b"}}, "b"},
		{"all was wiped out", []step{{v(0), "a", 1, ""}, {v(1), "", 2, ""}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := openDesk(t)
			id := d.one()
			d.claim(d.ann, id)
			for i, s := range tt.steps {
				saved, conflict, err := d.SaveDraft(d.ctx, d.ann, id, s.base, said(s.body))
				if err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				if got := conflict != nil; got != (s.wantConflict != "") || got && conflict.Comment != s.wantConflict {
					t.Fatalf("step %d: conflict %+v, want %q", i, conflict, s.wantConflict)
				}
				if saved.Version != s.wantVersion {
					t.Errorf("step %d: version %d, want %d", i, saved.Version, s.wantVersion)
				}
			}
			if got := d.draft(d.ann, id); got == nil || got.Comment != tt.want {
				t.Errorf("kept %+v, want %q", got, tt.want)
			}
		})
	}
}

// A person loses no word, whatever becomes of the item.
func TestDraftOutlivesTheClaim(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *desk, id string)
	}{
		{"the claim ran out", func(d *desk, _ string) { d.clock.add(time.Hour) }},
		{"it was given back", func(d *desk, id string) { d.must(d.ReleaseClaim(d.ctx, d.ann, id)) }},
		{"it was skipped", func(d *desk, id string) { d.must(d.SkipReview(d.ctx, d.ann, id, "")) }},
		{"somebody else took it", func(d *desk, id string) { d.clock.add(time.Hour); d.claim(d.ben, id) }},
		{"somebody else signed it", func(d *desk, id string) {
			d.clock.add(time.Hour)
			d.claim(d.ben, id)
			d.decide(d.ben, id, store.DecisionInput{Action: store.Confirm})
		}},
	} {
		for _, typed := range []bool{true, false} {
			d := openDesk(t)
			d.blind("never")
			id := d.one()
			d.claim(d.ann, id)
			base := store.DraftBase{}
			if typed {
				base.Version = d.save(d.ann, id, base, said("before")).Version
			}
			tt.do(d, id)
			if typed {
				if got := d.draft(d.ann, id); got == nil || got.Comment != "before" {
					t.Errorf("%s: the draft is %+v", tt.name, got)
				}
			}
			d.save(d.ann, id, base, said("after"))
			if got := d.draft(d.ann, id); got == nil || got.Comment != "after" {
				t.Errorf("%s (typed before: %v): then it is %+v", tt.name, typed, got)
			}
		}
	}
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func TestDraftNeedsAClaimOnce(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	_, _, err := d.SaveDraft(d.ctx, d.ann, id, store.DraftBase{}, said("x"))
	wantErr(t, "a draft on what was never claimed", err, store.ErrConflict)
}

// Signing takes the draft with it, but for what signing does not send; a save
// that comes late brings nothing back.
func TestDraftIsSigned(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	id := d.one()
	d.claim(d.ann, id)
	d.save(d.ann, id, store.DraftBase{}, said("agreed"))
	d.decide(d.ann, id, store.DecisionInput{Action: store.Confirm, Comment: "agreed"})
	if got := d.draft(d.ann, id); got != nil {
		t.Errorf("after signing the draft is %+v", got)
	}
	if got := d.text(`SELECT body FROM drafts WHERE review_id = ?`, id); got != "" {
		t.Errorf("the words are still stored: %q", got)
	}
	_, _, err := d.SaveDraft(d.ctx, d.ann, id, store.DraftBase{Version: 1}, said("agreed."))
	wantErr(t, "a save after signing", err, store.ErrConflict)

	d.must(d.Reopen(d.ctx, d.ann, id, "a slip"))
	if got := d.save(d.ann, id, store.DraftBase{}, said("again")); got.Version != 3 {
		t.Errorf("versions start again: %d", got.Version)
	}

	other := d.put(judged{id: "t2"})["t2"]
	d.claim(d.ann, other)
	d.save(d.ann, other, store.DraftBase{}, whole())
	d.decide(d.ann, other, store.DecisionInput{Action: store.Confirm})
	want := store.DraftBody{Question: whole().Question, Correction: whole().Correction}
	if got := d.draft(d.ann, other); got == nil || cmp.Diff(want, got.DraftBody) != "" {
		t.Errorf("left of the draft: %+v, want what signing does not send", got)
	}
}

// Of pages that save at once, each save is kept or told of a conflict.
func TestDraftRace(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	var mu sync.Mutex
	var kept, conflicts int
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			_, conflict, err := d.SaveDraft(context.WithoutCancel(d.ctx), d.ann, id, store.DraftBase{}, said(strings.Repeat("x", i+1)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case conflict != nil:
				conflicts++
			default:
				kept++
			}
		})
	}
	wg.Wait()
	if kept != 1 || conflicts != 19 {
		t.Errorf("%d kept, %d conflicts; want 1 and 19", kept, conflicts)
	}
	if got := d.draft(d.ann, id); got == nil || got.Version != 1 {
		t.Errorf("draft %+v", got)
	}
}

// A decision and a save at the same time leave no words behind that were signed.
func TestDraftRacesWithSigning(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	for i, id := range d.put(numbered("t", 15)...) {
		d.claim(d.ann, id)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, _, err := d.SaveDraft(context.WithoutCancel(d.ctx), d.ann, id, store.DraftBase{}, said("agreed"))
			if err != nil && !errors.Is(err, store.ErrConflict) {
				t.Errorf("%s: save: %v", i, err)
			}
		})
		wg.Go(func() {
			if _, err := d.Decide(context.WithoutCancel(d.ctx), d.ann, id, store.DecisionInput{Action: store.Confirm}); err != nil {
				t.Errorf("%s: decide: %v", i, err)
			}
		})
		wg.Wait()
		if got := d.draft(d.ann, id); got != nil {
			t.Errorf("%s: signed, and still there: %+v", i, got)
		}
	}
}

func TestOldDraftsGo(t *testing.T) {
	d := openDesk(t)
	ids := d.put(judged{id: "t1"}, judged{id: "t2"})
	for _, id := range ids {
		d.claim(d.ann, id)
		d.save(d.ann, id, store.DraftBase{}, said("x"))
	}
	left := func(after time.Duration, want int64) {
		t.Helper()
		d.clock.add(after)
		n, err := d.DropLeftovers(d.ctx)
		if err != nil || n.Drafts != want {
			t.Errorf("dropped %d drafts (%v), want %d", n.Drafts, err, want)
		}
	}
	left(29*24*time.Hour, 0)
	if _, err := d.RenewClaim(d.ctx, d.ann, ids["t1"]); err != nil {
		t.Fatal(err)
	}
	left(2*24*time.Hour, 1) // t2's
	if d.draft(d.ann, ids["t1"]) == nil || d.draft(d.ann, ids["t2"]) != nil {
		t.Error("the draft of the item that was held longer should be the one that is left")
	}
	left(30*24*time.Hour, 1)
}
