package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// whole reads every page of a list.
func (d *desk) whole(a store.Actor, f store.QueueFilter) (items []store.QueueItem) {
	d.t.Helper()
	for f.Limit = 3; ; {
		page, next, err := d.ListQueue(d.ctx, a, f)
		if err != nil {
			d.t.Fatalf("%+v: %v", f, err)
		}
		if items = append(items, page...); next == "" {
			return items
		}
		f.After = next
	}
}

// Each count is the number of rows that its list gives, to everybody, whatever
// happened before; and what is counted by reason adds up to all that waits.
func TestCountsAreOfTheRows(t *testing.T) {
	for seed := range uint64(2) {
		d := openOffice(t)
		o := newOffice(d, "t", seed)
		for i := range 120 {
			o.step()
			if i%20 != 19 {
				continue
			}
			for _, a := range []store.Actor{d.ann, d.lea, d.auditor} {
				d.checkCounts(a, fmt.Sprintf("seed %d, step %d", seed, i))
			}
		}
	}
}

func (d *desk) checkCounts(a store.Actor, when string) {
	d.t.Helper()
	for _, f := range []store.QueueFilter{
		{}, {State: store.QueueFree}, {State: store.QueueMine}, {State: store.QueueAdjudication}, {State: store.QueueAssigned}, {State: store.QueueSkipped}, {State: store.QueueForMe}, {State: store.QueueDrafts},
		{Overdue: true}, {Blind: "yes"}, {Blind: "no"}, {Held: store.HeldByNobody}, {Held: store.HeldByMe}, {Held: d.ben.UserID}, {Assigned: store.HeldByNobody},
		{Assigned: d.ann.UserID}, {Waiting: 30 * time.Minute}, {Priority: 1}, {Judge: "tone", Stakes: "standard"}, {Run: "first"},
		{Reason: judge.ReasonCriticalError}, {Lead: store.LeadSealed},
	} {
		n, err := d.CountQueue(d.ctx, a, f)
		if rows := d.whole(a, f); err != nil || n != len(rows) {
			d.t.Errorf("%s: %s counts %d by %+v and lists %d, %v", when, a.Name, n, f, len(rows), err)
		}
	}
	counts, err := d.QueueCounts(d.ctx, a, "")
	if err != nil {
		d.t.Fatal(err)
	}
	sum := 0
	for _, c := range counts.ByReason {
		lead := c.Code
		if lead == "" {
			lead = store.LeadSealed
		}
		if rows := d.whole(a, store.QueueFilter{Lead: lead}); len(rows) != c.N {
			d.t.Errorf("%s: %s counts %d for %s and lists %d", when, a.Name, c.N, lead, len(rows))
		}
		sum += c.N
	}
	if rows := d.whole(a, store.QueueFilter{Blind: "yes"}); len(rows) != counts.Blind {
		d.t.Errorf("%s: %s is told of %d blind items and lists %d", when, a.Name, counts.Blind, len(rows))
	}
	if rows := d.whole(a, store.QueueFilter{}); sum != counts.Total || len(rows) != counts.Total {
		d.t.Errorf("%s: %s is told of %d items, %d by reason, and lists %d", when, a.Name, counts.Total, sum, len(rows))
	}
}

// Views are their owner's, but for shared ones, which only leads make.
func TestQueueViews(t *testing.T) {
	d := openDesk(t)
	save := func(a store.Actor, name, filters string, shared bool) error {
		return d.SaveQueueView(d.ctx, a, "", store.QueueView{Name: name, Filters: filters, Shared: shared})
	}
	names := func(a store.Actor) (names []string) {
		views, err := d.QueueViews(d.ctx, a, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range views {
			names = append(names, fmt.Sprint(v.Name, " ", v.Filters, " ", v.Mine))
		}
		return names
	}
	for _, err := range []error{save(d.ann, "late", "overdue=1", false), save(d.ann, "late", "overdue=1&judge=tone", false), save(d.lea, "law", "domain=legal", true)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	wantErr(t, "a reviewer shares", save(d.ann, "x", "", true), store.ErrForbidden)
	wantErr(t, "the operator saves", save(store.Operator("cli"), "x", "", false), store.ErrForbidden)
	wantField(t, "no name", save(d.ann, " ", "", false), "name")
	if diff := cmp.Diff([]string{"late overdue=1&judge=tone true", "law domain=legal false"}, names(d.ann)); diff != "" {
		t.Errorf("ann's (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"law domain=legal false"}, names(d.ben)); diff != "" {
		t.Errorf("ben's (-want +got):\n%s", diff)
	}
	views, _ := d.QueueViews(d.ctx, d.ann, "")
	wantErr(t, "ben deletes ann's", d.DeleteQueueView(d.ctx, d.ben, views[0].ID), store.ErrNotFound)
	wantErr(t, "a lead deletes ann's", d.DeleteQueueView(d.ctx, d.lea, views[0].ID), store.ErrNotFound)
	wantErr(t, "ann deletes the shared one", d.DeleteQueueView(d.ctx, d.ann, views[1].ID), store.ErrNotFound)
	for _, err := range []error{d.DeleteQueueView(d.ctx, d.ann, views[0].ID), d.DeleteQueueView(d.ctx, d.luis, views[1].ID)} {
		if err != nil {
			t.Error(err)
		}
	}
	if got := names(d.ann); len(got) != 0 {
		t.Errorf("after deleting all: %v", got)
	}
}

// MyWork has what a person holds, what is theirs to do, and what they did.
func TestMyWork(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	reviews := d.put(numbered("t", 7)...)
	for i := range 4 {
		d.claim(d.ann, reviews[fmt.Sprintf("t%03d", i)])
	}
	d.clock.add(4 * time.Minute)
	d.decide(d.ann, reviews["t000"], store.DecisionInput{Action: store.Confirm})
	d.clock.add(2 * time.Minute)
	d.decide(d.ann, reviews["t001"], store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "other", Comment: "c"})
	d.decide(d.ann, reviews["t002"], store.DecisionInput{Action: store.Escalate, Comment: "c"})
	d.change([]string{reviews["t003"], reviews["t004"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ann.UserID})
	if err := d.SkipReview(d.ctx, d.ann, reviews["t005"], ""); err != nil {
		t.Fatal(err)
	}
	got, err := d.MyWork(d.ctx, d.ann, "")
	if err != nil {
		t.Fatal(err)
	}
	pace := store.Pace{Decisions: 2, Overrides: 1, MedianSeconds: 300}
	if fmt.Sprint(traceIDs(got.Held), traceIDs(got.Assigned), got.Skipped, got.ForLead) != "[t003] [t004] 1 0" || got.Today != pace || got.Week != pace {
		t.Errorf("ann's work: held %v, assigned %v, %d skipped, today %+v, this week %+v", traceIDs(got.Held), traceIDs(got.Assigned), got.Skipped, got.Today, got.Week)
	}
	d.clock.add(24 * time.Hour)
	if got, err = d.MyWork(d.ctx, d.ann, ""); err != nil || got.Today.Decisions != 0 || got.Week.Decisions != 2 || got.Skipped != 0 {
		t.Errorf("a day later: %+v, %v", got, err)
	}
	if lead, err := d.MyWork(d.ctx, d.lea, ""); err != nil || lead.ForLead != 1 {
		t.Errorf("lea settles %d, %v", lead.ForLead, err)
	}
	_, err = d.MyWork(d.ctx, d.auditor, "")
	wantErr(t, "an auditor's work", err, store.ErrForbidden)
}
