package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// profile gives a person a profile.
func (d *desk) profile(a store.Actor, p store.Profile) {
	d.t.Helper()
	if err := d.ChangeMember(d.ctx, store.Operator("test"), a.UserID, store.MemberChange{Name: a.Name, Role: a.Role, Profile: p}); err != nil {
		d.t.Fatal(err)
	}
}

// served claims what a person is given, one after another, and gives it all
// back.
func (d *desk) served(a store.Actor) (traces []string) {
	d.t.Helper()
	var held []string
	for {
		r, err := d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			d.t.Fatal(err)
		}
		traces, held = append(traces, r.TraceID), append(held, r.ReviewID)
	}
	for _, id := range held {
		if err := d.ReleaseClaim(d.ctx, a, id); err != nil {
			d.t.Fatal(err)
		}
	}
	return traces
}

func language(tag string) func(*judge.Trace) {
	return func(t *judge.Trace) { t.Metadata = map[string]any{"language": tag} }
}

// Each row is a profile and a policy, and what the person is given and refused.
func TestWhoIsGivenWhat(t *testing.T) {
	items := []judged{
		{id: "law", domain: "legal"}, {id: "med", domain: "medical"}, {id: "gen", domain: "general"},
		{id: "german", domain: "general", trace: language("de-AT")},
		{id: "acme", domain: "general", trace: func(t *judge.Trace) { t.Metadata = map[string]any{"customer": map[string]any{"name": "ACME, Inc."}} }},
		{id: "tagged", domain: "general", trace: func(t *judge.Trace) { t.Tags = []string{"acmeville"}; t.Cluster = "case 7" }},
		{id: "run", domain: "general", run: "Nightly Acme"},
	}
	all := []string{"law", "med", "gen", "german", "acme", "tagged", "run"}
	for _, tt := range []struct {
		name    string
		profile store.Profile
		rules   []judge.AssignmentRule
		not     map[string]string // trace: cause
	}{
		{name: "no profile, no rules"},
		{name: "domains", profile: store.Profile{Domains: []string{"Medical", "general"}}, not: map[string]string{"law": store.CauseDomain}},
		{name: "a qualification in a domain", rules: []judge.AssignmentRule{{Domain: "medical", Requires: []string{"Physician"}}},
			profile: store.Profile{Qualifications: []string{"nurse"}}, not: map[string]string{"med": store.CauseQualification}},
		{name: "a qualification that is there", rules: []judge.AssignmentRule{{Domain: "medical", Requires: []string{"Physician"}}},
			profile: store.Profile{Qualifications: []string{"  physician "}}},
		{name: "each rule has to be met", rules: []judge.AssignmentRule{{Domain: "medical", Requires: []string{"physician"}}, {Stakes: judge.HighStakes, Requires: []string{"senior"}}},
			profile: store.Profile{Qualifications: []string{"physician"}}, not: map[string]string{"law": store.CauseQualification, "med": store.CauseQualification}},
		{name: "languages", rules: []judge.AssignmentRule{{Languages: true}}, not: map[string]string{"german": store.CauseLanguage}},
		{name: "a language that is read", rules: []judge.AssignmentRule{{Languages: true}}, profile: store.Profile{Languages: []string{"de-CH"}}},
		{name: "languages elsewhere", rules: []judge.AssignmentRule{{Domain: "legal", Languages: true}}},
		{name: "a word of conflict", profile: store.Profile{Conflicts: []string{"Acme"}}, not: map[string]string{"acme": store.CauseConflict, "run": store.CauseConflict}},
		{name: "a conflict by key", profile: store.Profile{Conflicts: []string{"customer.name: acme inc", "cluster:case 7", "run:weekly"}},
			not: map[string]string{"acme": store.CauseConflict, "tagged": store.CauseConflict}},
		{name: "a conflict by another key", profile: store.Profile{Conflicts: []string{"tag:acme"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := openDesk(t)
			d.policy(func(p *judge.Policy) { p.Assignment = tt.rules })
			if len(tt.profile.Conflicts) > 0 { // one order of profile and items each
				d.profile(d.ann, tt.profile)
			}
			reviews := d.put(items...)
			d.profile(d.ann, tt.profile)
			got := map[string]bool{}
			for _, id := range d.served(d.ann) {
				got[id] = true
			}
			for _, id := range all {
				cause, kept := tt.not[id]
				if got[id] == kept {
					t.Errorf("ann is given %s: %v, want %v", id, got[id], !kept)
				}
				_, err := d.ClaimReview(d.ctx, d.ann, reviews[id])
				var unfit *store.UnfitError
				switch {
				case kept && (!errors.As(err, &unfit) || unfit.Cause != cause || !errors.Is(err, store.ErrForbidden)):
					t.Errorf("claim of %s by its address: %v, want UnfitError for %s", id, err, cause)
				case !kept && err != nil:
					t.Errorf("claim of %s by its address: %v", id, err)
				}
			}
			if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'review.claimed' AND NOT allowed`); n != len(tt.not) {
				t.Errorf("%d refusals are on record, want %d", n, len(tt.not))
			}
			d.checkKept("claims by fitness")
		})
	}
}

// What WhyQueue tells adds up to all that waits, and Free is what ClaimNext gives.
func TestWhyQueueAddsUp(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.policy(func(p *judge.Policy) {
		p.Assignment = []judge.AssignmentRule{{Domain: "medical", Requires: []string{"physician"}}, {Languages: true}}
	})
	reviews := d.put(
		judged{id: "mine"}, judged{id: "bens"}, judged{id: "lead"}, judged{id: "assigned"}, judged{id: "acme", run: "acme"},
		judged{id: "law", domain: "legal"}, judged{id: "med", domain: "medical"}, judged{id: "med2", domain: "medical"},
		judged{id: "german", trace: language("de")}, judged{id: "skipped"}, judged{id: "free"}, judged{id: "free2"}, judged{id: "lapsed"})
	d.profile(d.ann, store.Profile{Domains: []string{"general", "medical"}, Conflicts: []string{"run:acme"}, Languages: []string{"en"}})
	d.claim(d.ben, reviews["lapsed"])
	d.clock.add(31 * time.Minute)
	d.claim(d.ann, reviews["mine"])
	d.claim(d.ben, reviews["bens"])
	d.claim(d.ben, reviews["lead"])
	d.decide(d.ben, reviews["lead"], store.DecisionInput{Action: store.Escalate, Comment: "c"})
	if _, err := d.ChangeQueue(d.ctx, d.lea, "", []string{reviews["assigned"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ben.UserID}); err != nil {
		t.Fatal(err)
	}
	if err := d.SkipReview(d.ctx, d.ann, reviews["skipped"], ""); err != nil {
		t.Fatal(err)
	}
	got, err := d.WhyQueue(d.ctx, d.ann, "default")
	if err != nil {
		t.Fatal(err)
	}
	want := store.QueueAnswer{Free: 3, Withheld: []store.Withheld{
		{Cause: store.CauseMine, N: 1}, {Cause: store.CauseHeld, N: 1}, {Cause: store.CauseLead, N: 1}, {Cause: store.CauseAssigned, N: 1},
		{Cause: store.CauseConflict, N: 1}, {Cause: store.CauseDomain, Detail: "general, medical", N: 1},
		{Cause: store.CauseQualification, Detail: "physician", N: 2}, {Cause: store.CauseLanguage, N: 1}, {Cause: store.CauseSkipped, N: 1},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("for ann (-want +got):\n%s", diff)
	}
	for _, a := range []store.Actor{d.ann, d.ben, d.lea, d.luis} {
		got, err := d.WhyQueue(d.ctx, a, "default")
		if err != nil {
			t.Fatal(err)
		}
		if n := d.number(`SELECT count(*) FROM reviews WHERE state IN ('open', 'claimed', 'adjudication')`); got.Waiting() != n {
			t.Errorf("the reasons told to %s add up to %d items of %d", a.Name, got.Waiting(), n)
		}
		if n := len(d.served(a)); n != got.Free {
			t.Errorf("%s is given %d items, and told of %d", a.Name, n, got.Free)
		}
	}
}

// What is assigned to a person comes first to them, and to nobody else.
func TestAssignedComesFirst(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a", domain: "legal"}, judged{id: "b"}, judged{id: "c", domain: "medical"})
	d.profile(d.ann, store.Profile{Domains: []string{"general"}})
	if n, err := d.ChangeQueue(d.ctx, d.lea, "", []string{reviews["c"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ann.UserID}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for who, want := range map[*store.Actor][]string{&d.ann: {"c", "b"}, &d.ben: {"a", "b"}, &d.lea: {"a", "b"}} {
		if diff := cmp.Diff(want, d.served(*who)); diff != "" {
			t.Errorf("%s is given (-want +got):\n%s", who.Name, diff)
		}
	}
	var unfit *store.UnfitError
	if _, err := d.ClaimReview(d.ctx, d.ben, reviews["c"]); !errors.As(err, &unfit) || unfit.Cause != store.CauseAssigned {
		t.Errorf("ben claims what is ann's: %v", err)
	}
	d.claim(d.lea, reviews["c"]) // a lead may
}

// A person's day ends by their own clock.
func TestSkippedUntilTheDayEnds(t *testing.T) {
	for zone, hours := range map[string]int{"UTC": 15, "Europe/Vienna": 14, "America/New_York": 20, "Pacific/Auckland": 2} {
		t.Run(zone, func(t *testing.T) { // the desk opens at 09:00 UTC on 2 March
			d := openDesk(t)
			id := d.one()
			d.profile(d.ann, store.Profile{TimeZone: zone})
			if err := d.SkipReview(d.ctx, d.ann, id, ""); err != nil {
				t.Fatal(err)
			}
			d.clock.add(time.Duration(hours)*time.Hour - time.Second)
			if got := d.served(d.ann); len(got) != 0 {
				t.Errorf("given again a second before the day ends: %v", got)
			}
			d.clock.add(time.Second)
			if got := d.served(d.ann); len(got) != 1 {
				t.Error("not given again on the next day")
			}
		})
	}
}

// An item is due by the first rule that fits it.
func TestDueByRule(t *testing.T) {
	d := openDesk(t)
	d.policy(func(p *judge.Policy) {
		p.DueRules = []judge.DueRule{{Reason: judge.ReasonCriticalError, Domain: "medical", Hours: 2}, {Stakes: judge.HighStakes, Hours: 7}, {Reason: judge.ReasonRequested, Hours: 500}}
	})
	reviews := d.put(judged{id: "med", domain: "medical"}, judged{id: "law", domain: "legal"}, judged{id: "gen"})
	for id, want := range map[string]time.Duration{"med": 2, "law": 7, "gen": 72} {
		r, err := d.GetReview(d.ctx, d.auditor, reviews[id])
		if err != nil {
			t.Fatal(err)
		}
		if got := r.DueAt.Sub(r.OpenedAt); got != want*time.Hour {
			t.Errorf("%s is due after %v, want %dh", id, got, want)
		}
	}
}

// Fifty people with fifty profiles claim at once: nobody gets what is not for
// them, and all that is for somebody is taken.
func TestClaimsByProfileRace(t *testing.T) {
	d := openDesk(t)
	d.policy(func(p *judge.Policy) {
		p.Assignment = []judge.AssignmentRule{{Domain: "medical", Requires: []string{"physician"}}}
	})
	var items []judged
	for i := range 40 {
		items = append(items, judged{id: fmt.Sprintf("t%02d", i), domain: []string{"general", "medical"}[i%2]})
	}
	d.put(items...)
	type got struct {
		physician bool
		domain    string
		err       error
	}
	results := make(chan got, 50)
	var people []store.Actor
	for i := range 50 {
		people = append(people, d.person(fmt.Sprintf("p%02d", i), store.Reviewer))
		if i%2 == 0 {
			d.profile(people[i], store.Profile{Qualifications: []string{"physician"}, Domains: []string{"medical"}})
		}
	}
	for i, a := range people {
		go func() {
			r, err := d.ClaimNext(d.ctx, a, "", store.ClaimFilter{})
			results <- got{i%2 == 0, r.Domain, err}
		}()
	}
	taken, empty := map[string]int{}, 0
	for range people {
		switch g := <-results; {
		case errors.Is(g.err, store.ErrNotFound):
			empty++
		case g.err != nil:
			t.Error(g.err)
		default:
			taken[g.domain]++
			if g.physician != (g.domain == "medical") {
				t.Errorf("an item of %s went to somebody who is a physician: %v", g.domain, g.physician)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"general": 20, "medical": 20}, taken); diff != "" || empty != 10 {
		t.Errorf("taken (-want +got), %d went away empty:\n%s", empty, diff)
	}
}
