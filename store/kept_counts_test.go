package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

var toneJudge = judge.Judge{
	Name: "tone", PromptVersion: "v1", Source: []byte("name: tone\n"), Ordinal: true,
	Labels: []judge.Label{{Name: "kind", Verdict: judge.Pass}, {Name: "curt", Verdict: judge.Borderline}, {Name: "rude", Verdict: judge.Fail}},
}

// checkKept compares everything that is kept with what counting every row
// gives: for who decides nothing, and for everybody who may decide.
func (d *desk) checkKept(after string) {
	d.t.Helper()
	problems, err := d.CheckKeptCounts(d.ctx)
	if err != nil || len(problems) > 0 {
		d.t.Fatalf("after %s: %q, error %v", after, problems, err)
	}
	for _, a := range []store.Actor{d.auditor, d.ann, d.ben, d.lea, d.luis} {
		for _, name := range []string{"equivalence", "tone"} {
			kept, counted, err := d.Agreement(d.ctx, a, "default", name)
			if err != nil {
				d.t.Fatal(err)
			}
			if diff := cmp.Diff(counted, kept); diff != "" {
				d.t.Fatalf("after %s the agreement of judge %s for %s differs (-counted +kept):\n%s", after, name, a.Name, diff)
			}
		}
	}
}

func openOffice(t *testing.T) *desk {
	d := openDesk(t)
	if err := d.SaveJudges(d.ctx, store.Operator("test"), "default", []judge.Judge{toneJudge}); err != nil {
		t.Fatal(err)
	}
	return d
}

// Whatever happens in whatever order, what is kept is what counting every row
// gives, for everybody.
func TestKeptCountsStayTrue(t *testing.T) {
	rare := map[string]int{} // what has to happen in one of the sequences
	defer func() {
		for query, n := range rare {
			if n == 0 {
				t.Errorf("never: %s", query)
			}
		}
	}()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d := openOffice(t)
			o := newOffice(d, "t", seed)
			for i := range 180 {
				did := o.step()
				if i%5 == 0 {
					d.checkKept(fmt.Sprintf("step %d, %s", i, did))
				}
			}
			d.checkKept("the last step")
			d.holds()
			for _, query := range []string{
				`SELECT count(*) FROM withheld_labels WHERE why = 'waits'`, `SELECT count(*) FROM withheld_labels WHERE why = 'undone'`,
				`SELECT count(*) FROM withheld_labels WHERE why = 'over_quota'`,
				`SELECT count(*) FROM agreement_cells WHERE drawn > 0 AND n > 0`,
				`SELECT count(*) FROM label_draws WHERE number > 1`,
				`SELECT count(*) FROM reviews WHERE opinions > 1`, `SELECT count(*) FROM audit_events WHERE action = 'decision.undone' AND allowed`,
			} {
				rare[query] += d.number(query)
			}
			if len(o.done) < 9 {
				t.Errorf("only %v happened: the sequence tests too little", o.done)
			}
			// What is compared must be there.
			for _, query := range []string{
				`SELECT count(*) FROM agreement_cells WHERE n > 0 AND waiting AND flags >= 0`,
				`SELECT count(*) FROM agreement_pairs WHERE n > 0`,
				`SELECT count(*) FROM agreement_slices WHERE n > 0 AND dimension = 'domain'`,
				`SELECT count(*) FROM agreement_slices WHERE n > 0 AND dimension = 'reason'`,
				`SELECT count(*) FROM agreement_slices WHERE n > 0 AND dimension = 'week'`,
				`SELECT count(*) FROM agreement_slices WHERE n > 0 AND dimension = 'band'`,
				`SELECT count(*) FROM agreement_cluster_counts WHERE clusters > 0`,
			} {
				if d.number(query) == 0 {
					t.Errorf("nothing to compare: %s", query)
				}
			}
		})
	}
}

// What a migration counts by SQL is what the program counts, where labels and
// scores were there before slices were kept.
func TestSlicesOfAnOlderDatabase(t *testing.T) {
	d := openOffice(t)
	o := newOffice(d, "t", 3)
	for range 150 {
		o.step()
	}
	for _, query := range []string{`DELETE FROM agreement_slices`, `UPDATE evaluations SET sliced = 0`} {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	if problems, err := d.CheckKeptCounts(d.ctx); err != nil || len(problems) == 0 {
		t.Fatalf("nothing is missing: %q, error %v", problems, err)
	}
	for _, query := range statementsOf(t, "00021_slices.sql", "UPDATE", "INSERT") {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	d.checkKept("the migration")
	for i := range 40 {
		d.checkKept(fmt.Sprintf("the migration and step %d, %s", i, o.step()))
	}
}

// A database from before the counts were kept is counted when it is opened.
func TestKeptCountsOfAnOlderDatabase(t *testing.T) {
	d := openOffice(t)
	o := newOffice(d, "t", 7)
	for range 150 {
		o.step()
	}
	d.forgetKept()
	if problems, err := d.CheckKeptCounts(d.ctx); err != nil || len(problems) == 0 {
		t.Fatalf("nothing is missing: %q, error %v", problems, err)
	}
	again, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	d.checkKept("opening it again")
	for i := range 40 {
		d.checkKept(fmt.Sprintf("opening it again and step %d, %s", i, o.step()))
	}
}

// forgetKept leaves the database as the migration makes it from an older one.
func (d *desk) forgetKept() {
	d.t.Helper()
	for _, query := range []string{
		`UPDATE evaluations SET standing = 'pending', sealed = FALSE, cell = 0, cluster_key = 0, labelled_us = NULL, reasons_counted = 0, sliced = 0`,
		`UPDATE consensus SET pairs_waiting = FALSE`,
		`DELETE FROM agreement_cells`, `DELETE FROM agreement_slices`, `DELETE FROM agreement_clusters`, `DELETE FROM agreement_cluster_counts`,
		`DELETE FROM agreement_pairs`, `DELETE FROM run_counts`, `DELETE FROM run_reasons`,
		`DELETE FROM settings WHERE name = 'kept_counts'`,
	} {
		if _, err := d.raw.Exec(query); err != nil {
			d.t.Fatalf("%s: %v", query, err)
		}
	}
}

// Several servers work on the same traces at once, and every count is right in
// the end. On SQLite they wait for one another; on PostgreSQL they meet.
func TestKeptCountsOfSeveralServers(t *testing.T) {
	d := openOffice(t)
	var wait sync.WaitGroup
	for seed := range uint64(4) {
		s, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
		if err != nil {
			t.Fatal(err)
		}
		own := *d
		own.Store = s
		o := newOffice(&own, "t", 100+seed) // all have the same traces
		wait.Go(func() {
			for range 80 {
				o.step()
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	d.checkKept("all that several servers did")
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("audit chain: %+v, %v", v, err)
	}
}

// A trace counts as one cluster, however many reports there are on it: for a
// lead who has answered one of them, the report that nobody waits for counts
// for both.
func TestTwoReportsOnOneTraceAreOneCluster(t *testing.T) {
	d := openOffice(t)
	item := store.ImportItem{Trace: judge.Trace{ID: "t", Output: "o", Domain: "general",
		Labels: []judge.HumanLabel{{Judge: "tone", Reviewer: "xia", Label: "rude"}}}}
	for i := range 2 {
		item.Trace.Judgments = append(item.Trace.Judgments, judge.Judgment{Judge: "tone", Raw: fmt.Sprint(i)})
		item.Plan = append(item.Plan, judge.Planned{Judge: "tone", PromptVersion: "v1", Engine: judge.EngineRecorded, Model: "tape", Judgment: i})
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{item}); err != nil {
		t.Fatal(err)
	}
	clusters := func(a store.Actor) int {
		t.Helper()
		d.checkKept("a step")
		counts, err := d.CalibrationCounts(d.ctx, a, "default", "tone")
		if err != nil || len(counts) != 1 {
			t.Fatalf("counts %+v, error %v", counts, err)
		}
		return counts[0].Clusters
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 2, Lease: time.Minute})
	if err != nil || len(work) != 2 {
		t.Fatalf("claimed %d, error %v", len(work), err)
	}
	finish := func(w judge.Work, e judge.Evaluation) {
		t.Helper()
		e.Judge, e.Model, e.PromptVersion, e.Engine = w.Planned.Judge, w.Planned.Model, w.Planned.PromptVersion, w.Planned.Engine
		if err := d.FinishWork(d.ctx, []judge.Finished{{Work: w, Evaluation: e}}); err != nil {
			t.Fatal(err)
		}
	}
	finish(work[0], judge.Evaluation{Status: judge.InReview, Verdict: judge.Fail, Label: "rude", Reasons: []judge.Reason{{Code: judge.ReasonCriticalError}}})
	if all, own := clusters(d.auditor), clusters(d.lea); all != 1 || own != 0 {
		t.Errorf("one report waits blind: %d clusters for an auditor, %d for a lead, want 1 and 0", all, own)
	}
	review := d.text(`SELECT id FROM reviews`)
	d.claim(d.lea, review)
	d.first(d.lea, review, judge.Fail)
	if own := clusters(d.lea); own != 1 {
		t.Errorf("the lead has answered: %d clusters, want 1", own)
	}
	finish(work[1], judge.Evaluation{Status: judge.Accepted, Verdict: judge.Pass, Label: "kind"})
	if all, own, other := clusters(d.auditor), clusters(d.lea), clusters(d.luis); all != 1 || own != 1 || other != 1 {
		t.Errorf("a second report: %d clusters for an auditor, %d for who answered, %d for another lead, want 1 each", all, own, other)
	}
}
