package store_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/trust"
	"github.com/countersign/countersign/store"
)

// gpt4 is the version of yesNo that the tests of trust are about.
var gpt4 = store.RaterVersion{Judge: yesNo.Name, Model: "gpt-4", PromptVersion: yesNo.PromptVersion}

func byXia(label string) map[string]string { return map[string]string{"xia": label} }

// agreeing are n labels of each kind that say what the judge says, and wrong ones of
// what it passes.
func agreeing(n, wrong int) []kind {
	return []kind{{n: n, model: "gpt-4", says: "Yes", labels: byXia("Yes")}, {n: n, model: "gpt-4", says: "No", labels: byXia("No")},
		{n: wrong, model: "gpt-4", says: "Yes", labels: byXia("No")}}
}

func (d *desk) trusted() store.JudgeTrust {
	d.t.Helper()
	all, err := d.Trust(d.ctx, d.auditor, "default", yesNo.Name)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, j := range all {
		if j.Model == "gpt-4" {
			return j
		}
	}
	return store.JudgeTrust{State: judge.Advisory}
}

// wantTrust compares the state with what is wanted, and the events of all changes.
func (d *desk) wantTrust(when string, want judge.TrustState, events ...string) store.JudgeTrust {
	d.t.Helper()
	got := d.trusted()
	if got.State != want {
		d.t.Fatalf("%s: %s (%s), want %s", when, got.State, got.Why(), want)
	}
	if told := d.list(`SELECT action FROM audit_events WHERE allowed AND action IN ('judge.trusted', 'judge.advisory', 'judge.suspended', 'judge.resumed') ORDER BY seq`); strings.Join(told, " ") != strings.Join(events, " ") {
		d.t.Fatalf("%s: events %q, want %q", when, told, events)
	}
	return got
}

func TestTrustFollowsLabelsAndPolicy(t *testing.T) {
	d := openDesk(t)
	d.wantTrust("nobody labelled", judge.Advisory)
	d.record(yesNo, agreeing(70, 2))
	got := d.wantTrust("142 labels", judge.Advisory)
	if got.ByRules != judge.Advisory || !strings.Contains(got.Why(), "At least 150 blind labels: 142") || strings.Contains(got.Why(), "kappa") {
		t.Errorf("after 142 labels: %+v", got)
	}

	lax := 100
	d.policy(func(p *judge.Policy) {
		p.Rules = append(p.Rules, judge.PolicyRule{Judge: yesNo.Name, Trust: &judge.TrustRules{MinLabels: &lax}})
	})
	d.clock.add(time.Hour)
	got = d.wantTrust("100 labels are enough", judge.Trusted, "judge.trusted")
	if !got.Since.After(time.Date(2026, 3, 2, 9, 59, 0, 0, time.UTC)) || got.By != "" {
		t.Errorf("trusted since %v by %q", got.Since, got.By)
	}
	var told struct {
		Model string
		Rules []trust.Rule
	}
	if err := json.Unmarshal([]byte(d.text(`SELECT data FROM audit_events WHERE action = 'judge.trusted'`)), &told); err != nil {
		t.Fatal(err)
	}
	if told.Model != "gpt-4" || len(told.Rules) != 5 || told.Rules[1].Wanted != 100 || *told.Rules[1].Found != 142 {
		t.Errorf("the event's evidence: %+v", told)
	}
	d.wantTrust("asked again", judge.Trusted, "judge.trusted")

	strict := 0.01
	d.policy(func(p *judge.Policy) { p.Rules[0].Trust.MaxMissRate = &strict })
	got = d.wantTrust("2 of 72 passes are wrong", judge.Advisory, "judge.trusted", "judge.advisory")
	if !strings.Contains(got.Why(), "failed by people: at most 1%: 2.8%") {
		t.Errorf("why: %s", got.Why())
	}
	d.holds()
}

// A label that a person signs is enough to be looked at again.
func TestTrustIsDueAfterADecision(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a"})
	if _, err := d.RefreshDueTrust(d.ctx); err != nil {
		t.Fatal(err)
	}
	due := func() bool {
		t.Helper()
		_, _, due, err := d.KeptTrust(d.ctx, "default", deskJudge.Name, "m", deskJudge.PromptVersion)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}
	if due() {
		t.Error("due although nothing happened")
	}
	d.claim(d.ann, reviews["a"])
	d.first(d.ann, reviews["a"], judge.Fail)
	d.decide(d.ann, reviews["a"], store.DecisionInput{Action: store.Keep})
	if !due() {
		t.Error("a decision was signed, and trust is not due")
	}
	if _, err := d.RefreshDueTrust(d.ctx); err != nil {
		t.Fatal(err)
	}
	if due() {
		t.Error("still due after it was looked at")
	}
	// What is looked at without any label: after a quarter of an hour.
	before := d.number(`SELECT sum(checked) FROM trust_checks`)
	d.clock.add(16 * time.Minute)
	if _, err := d.RefreshDueTrust(d.ctx); err != nil {
		t.Fatal(err)
	}
	if after := d.number(`SELECT sum(checked) FROM trust_checks`); after <= before || due() {
		t.Errorf("after a quarter of an hour nothing was looked at: %d, before %d", after, before)
	}
}

func TestSuspendedUntilResumed(t *testing.T) {
	d := openDesk(t)
	d.record(yesNo, agreeing(100, 1))
	d.wantTrust("201 labels", judge.Trusted, "judge.trusted")
	_, err := d.Suspend(d.ctx, d.ann, "default", gpt4, "no")
	wantErr(t, "a reviewer suspends", err, store.ErrForbidden)
	_, err = d.Suspend(d.ctx, d.lea, "default", gpt4, " ")
	wantErr(t, "without a reason", err, store.ErrInvalid)
	_, err = d.Suspend(d.ctx, d.lea, "default", gpt4, "\x00 \u200b\n")
	wantErr(t, "a reason that nobody can see", err, store.ErrInvalid)
	_, err = d.Suspend(d.ctx, d.lea, "default", store.RaterVersion{Judge: yesNo.Name, Model: "other", PromptVersion: "v1"}, "no")
	wantErr(t, "a version that judged nothing", err, store.ErrNotFound)
	_, err = d.Resume(d.ctx, d.lea, "default", gpt4, "no")
	wantErr(t, "what is not suspended is resumed", err, store.ErrConflict)

	d.clock.add(time.Hour)
	if _, err := d.Suspend(d.ctx, d.lea, "default", gpt4, "its supplier replaced the model"); err != nil {
		t.Fatal(err)
	}
	events := []string{"judge.trusted", "judge.suspended"}
	got := d.wantTrust("suspended", judge.Suspended, events...)
	if got.By != "lea" || got.Why() != "suspended by lea: its supplier replaced the model" || got.ByRules != judge.Trusted {
		t.Errorf("suspended: %+v", got)
	}
	_, err = d.Suspend(d.ctx, d.luis, "default", gpt4, "again")
	wantErr(t, "twice", err, store.ErrConflict)

	// The rules go on being looked at; only the lead ends it.
	many := 1000
	d.policy(func(p *judge.Policy) { p.Trust = &judge.TrustRules{MinLabels: &many} })
	if got = d.wantTrust("suspended, and other rules", judge.Suspended, events...); got.ByRules != judge.Advisory || got.By != "lea" {
		t.Errorf("suspended under other rules: %+v", got)
	}
	is, err := d.Resume(d.ctx, d.luis, "default", gpt4, "the old model is back")
	if err != nil || is.State != judge.Advisory {
		t.Fatalf("resumed as %+v, %v", is, err)
	}
	d.wantTrust("resumed", judge.Advisory, append(events, "judge.resumed")...)
	d.holds()
	if _, err := d.raw.Exec(`UPDATE judge_trust SET state = 'trusted' WHERE model = 'gpt-4'`); err != nil {
		t.Fatal(err)
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || !strings.Contains(v.Problem, "is kept as trusted, and the chain has it as advisory") {
		t.Errorf("a state that was edited is not found: %q, %v", v.Problem, err)
	}
}

// Several servers find a change at the same time; one of them tells of it.
func TestSeveralServersTellAChangeOfTrustOnce(t *testing.T) {
	d := openDesk(t)
	d.record(yesNo, agreeing(90, 0))
	servers := []*store.Store{d.Store}
	for range 3 {
		s, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		servers = append(servers, s)
	}
	for round, want := range []int{1, 0, 1} { // trusted, the same again, advisory
		least := []int{150, 151, 500}[round]
		if round > 0 {
			d.policy(func(p *judge.Policy) { p.Trust = &judge.TrustRules{MinLabels: &least} })
		}
		changes := make([]int, len(servers))
		var wait sync.WaitGroup
		for i, s := range servers {
			wait.Go(func() {
				var err error
				if changes[i], err = s.RefreshDueTrust(d.ctx); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		sum := 0
		for _, n := range changes {
			sum += n
		}
		if sum != want {
			t.Errorf("round %d: %d changes told, want %d", round, sum, want)
		}
	}
	d.wantTrust("all rounds", judge.Advisory, "judge.trusted", "judge.advisory")
	d.holds()
}

// Trust is worked out without what waits blind, so its figures tell nobody of it.
func TestTrustLeavesOutWhatWaitsBlind(t *testing.T) {
	d := openDesk(t)
	d.record(yesNo, agreeing(80, 0))
	before := d.trusted()
	// The same label is imported for an item that waits for a blind review.
	item := store.ImportItem{
		Trace: judge.Trace{ID: "w", Output: "o", Domain: "general", Judgments: []judge.Judgment{{Judge: yesNo.Name, Model: "gpt-4", Raw: "Yes"}},
			Labels: []judge.HumanLabel{{Judge: yesNo.Name, Reviewer: "lea", Label: "No"}}},
		Plan: []judge.Planned{{Judge: yesNo.Name, PromptVersion: "v1", Engine: judge.EngineRecorded, Model: "gpt-4"}},
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{item}); err != nil {
		t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 5, Lease: time.Minute})
	if err != nil || len(work) != 1 {
		t.Fatalf("claimed %d, %v", len(work), err)
	}
	if err := d.FinishWork(d.ctx, []judge.Finished{{Work: work[0], Evaluation: judge.Evaluation{Status: judge.InReview, Verdict: judge.Pass, Label: "Yes",
		Reasons: []judge.Reason{{Code: judge.ReasonRandomAudit}}}, Draw: &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05}}}); err != nil {
		t.Fatal(err)
	}
	after := d.trusted()
	for i := range before.Rules {
		if b, a := before.Rules[i], after.Rules[i]; b.Shows != a.Shows || b.N != a.N {
			t.Errorf("rule %s shows %s (%d) and did show %s (%d)", a.Name, a.Shows, a.N, b.Shows, b.N)
		}
	}
}

// A version whose evaluations all wait blind again has nothing to show for its trust.
func TestTrustEndsWithItsLabels(t *testing.T) {
	d := openDesk(t)
	d.record(yesNo, agreeing(80, 0))
	d.wantTrust("160 labels", judge.Trusted, "judge.trusted")
	if _, err := d.raw.Exec(`UPDATE agreement_cells SET waiting = TRUE`); err != nil {
		t.Fatal(err)
	}
	d.clock.add(time.Hour)
	if n, err := d.RefreshDueTrust(d.ctx); err != nil || n != 1 {
		t.Fatalf("%d changes, %v", n, err)
	}
	d.wantTrust("all of it waits", judge.Advisory, "judge.trusted", "judge.advisory")
}
