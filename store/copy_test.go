package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// fillDesk leaves something in every corner: labels, blind answers, decisions
// that supersede others, kept answers and replies, tokens, an empty value of
// each kind.
func fillDesk(t testing.TB) *desk {
	t.Helper()
	d := openDesk(t)
	at := time.Date(2026, 2, 1, 10, 0, 0, 123456000, time.UTC)
	p := 0.1 + 0.2 // a number that only its bits give back
	items := append(numbered("t", 60), judged{id: "Ünïcode ✓ \u2028 end", run: "nightly", cluster: "c1", domain: "legal", labels: []judge.HumanLabel{
		{Judge: "equivalence", Label: "same-thing", Reviewer: "x", At: &at, InclusionProbability: &p, Stratum: "s"},
		{Judge: "equivalence", Verdict: judge.Fail, Reviewer: "y", At: &at, Findings: []judge.Finding{{Class: "c"}}},
	}})
	reviews := d.put(items...)
	for i := range 20 {
		id := reviews[fmt.Sprintf("t%03d", i)]
		d.clock.add(time.Second + 7*time.Microsecond)
		d.claim(d.ann, id)
		d.first(d.ann, id, judge.Pass)
		if i%2 == 0 {
			d.decide(d.ann, id, store.DecisionInput{Action: store.Keep, ReasonCode: "other", Comment: "no"})
			continue
		}
		d.decide(d.ann, id, store.DecisionInput{Action: store.Escalate, Comment: "hard"})
		d.claim(d.lea, id)
		d.first(d.lea, id, judge.Fail)
		d.decide(d.lea, id, store.DecisionInput{Action: store.Adopt})
	}
	if _, _, err := d.CreateToken(d.ctx, d.lea, "lea@example.org", "ci"); err != nil {
		t.Fatal(err)
	}
	if err := d.KeepAnswer(d.ctx, d.lea, "k", "r", store.Answered{Status: 202, Body: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if err := d.KeepReply(d.ctx, "e", "c", judge.KeptReply{}); err != nil {
		t.Fatal(err)
	}
	return d
}

// exported is all that a project's exports hold.
func exported(t testing.TB, address string) string {
	t.Helper()
	ctx, op := context.Background(), storetest.Operator
	s, err := store.Open(ctx, store.Options{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	write := func(v any) error { return e.Encode(v) }
	head, err := s.EachAuditEvent(ctx, op, func(v store.AuditEvent) error { return write(v) }) // first: the others add events
	if err == nil {
		err = write(head)
	}
	f := store.EvaluationFilter{}
	err = errors.Join(err,
		s.EachEvaluation(ctx, op, f, func(v judge.Evaluation) error {
			full, err := s.GetEvaluation(ctx, op, v.ID)
			full.Events = nil // exports are among them
			return errors.Join(err, write(v), write(full))
		}),
		s.EachDecision(ctx, op, f, func(v store.Decision) error { return write(v) }),
		s.EachLabel(ctx, op, f, func(v store.LabelRow) error { return write(v) }),
		s.EachTrace(ctx, op, f, func(v judge.Trace) error { return write(v) }))
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func mustCopy(t testing.TB, from, to string) store.CopyReport {
	t.Helper()
	r, err := store.Copy(t.Context(), store.Options{URL: from}, store.Options{URL: to}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func newFile(t testing.TB) string {
	return "sqlite://" + filepath.Join(t.TempDir(), "new", "countersign.db")
}

// Round and round, also within one engine, and nothing is another than it was.
func TestCopyRound(t *testing.T) {
	d := fillDesk(t)
	places := []string{d.address, pgcluster.Database(t), newFile(t), newFile(t), pgcluster.Database(t), pgcluster.Database(t), newFile(t)}
	rows := 0
	var first store.CopyReport
	for i, to := range places[1:] {
		r := mustCopy(t, places[i], to)
		if i == 0 {
			first = r
			for _, c := range r.Tables {
				rows += d.number(`SELECT count(*) FROM ` + c.Name)
			}
			if int(r.Rows) != rows || r.Events < 100 || len(r.Head) != 64 {
				t.Errorf("report %+v, want %d rows", r, rows)
			}
		}
		if r.Rows != first.Rows || r.Head != first.Head || r.Events != first.Events {
			t.Errorf("copy %d: %d rows, %d events, head %s; the first had %d, %d, %s", i, r.Rows, r.Events, r.Head, first.Rows, first.Events, first.Head)
		}
	}
	for _, c := range first.Tables { // what fillDesk promises
		if c.Rows == 0 && c.Name != "exposures" && c.Name != "review_skips" && c.Name != "settings" {
			t.Logf("nothing in table %s", c.Name)
		}
	}
	// Exports last: they write events of their own.
	want := exported(t, d.address)
	for i, place := range places[1:] {
		if diff := cmp.Diff(want, exported(t, place)); diff != "" {
			t.Fatalf("exports of copy %d (-original +copy):\n%s", i, diff)
		}
	}
}

// A copy works on as the original did: rows stay append-only, numbers go on.
func TestCopyWorksOn(t *testing.T) {
	d := fillDesk(t)
	for name, to := range map[string]string{"file": newFile(t), "server": pgcluster.Database(t)} {
		mustCopy(t, d.address, to)
		s, err := store.Open(t.Context(), store.Options{URL: to})
		if err != nil {
			t.Fatal(err)
		}
		storetest.Import(t, s, []store.ImportItem{{Trace: judge.Trace{ID: "new", Output: "o", Domain: "general"}}})
		raw := storetest.Raw(t, to)
		for _, forbidden := range []string{`DELETE FROM decisions`, `UPDATE labels SET comment = 'x'`, `DELETE FROM audit_events`} {
			if _, err := raw.Exec(forbidden); err == nil || !strings.Contains(err.Error(), "append-only") {
				t.Errorf("%s: %s in the copy: error %v, want one about append-only", name, forbidden, err)
			}
		}
		if _, err := raw.Exec(`INSERT INTO run_traces (run_id, trace_id) VALUES ('no', 'no')`); err == nil {
			t.Errorf("%s: a foreign key of the copy does not hold", name)
		}
		if v, err := s.VerifyAudit(t.Context(), storetest.Operator); err != nil || v.Problem != "" {
			t.Errorf("%s: chain after more work: %q, %v", name, v.Problem, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCopyRefuses(t *testing.T) {
	d := fillDesk(t)
	refused := func(what, from, to string, want error) {
		t.Helper()
		before := ""
		if to == d.address {
			before = d.text(`SELECT hash FROM audit_head`)
		}
		_, err := store.Copy(d.ctx, store.Options{URL: from}, store.Options{URL: to}, nil)
		if !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", what, err, want)
		}
		if before != "" && d.text(`SELECT hash FROM audit_head`) != before {
			t.Errorf("%s: the target changed", what)
		}
	}
	missing := newFile(t)
	refused("no source", missing, newFile(t), store.ErrNotFound)
	if _, err := os.Stat(strings.TrimPrefix(missing, "sqlite://")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the missing source was made: %v", err)
	}
	refused("onto itself", d.address, d.address, store.ErrConflict)
	refused("no address", "nonsense", newFile(t), store.ErrInvalid)
	for _, to := range []string{newFile(t), pgcluster.Database(t)} {
		mustCopy(t, d.address, to)
		refused("onto a full one", d.address, to, store.ErrConflict)
	}
	// A fresh target may have been opened before; one that is in use may not.
	for _, to := range []string{newFile(t), pgcluster.Database(t)} {
		s, err := store.Open(d.ctx, store.Options{URL: to})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(to, "sqlite") {
			refused("onto an open one", d.address, to, store.ErrConflict)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		mustCopy(t, d.address, to)
	}
	if _, err := d.raw.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, ?)`, true); err != nil {
		t.Fatal(err)
	}
	refused("a newer schema", d.address, newFile(t), store.ErrInvalid)
	// The next test finds the database emptied, but not its schema's version.
	if _, err := d.raw.Exec(`DELETE FROM goose_db_version WHERE version_id = 999`); err != nil {
		t.Fatal(err)
	}
}

// A source that was tampered with is not copied.
func TestCopyFindsTampering(t *testing.T) {
	d := fillDesk(t)
	if _, err := storetest.Forger(t, d.address).Exec(`UPDATE decisions SET comment = 'forged'`); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{newFile(t), pgcluster.Database(t)} {
		_, err := store.Copy(d.ctx, store.Options{URL: d.address}, store.Options{URL: to}, nil)
		if err == nil || !strings.Contains(err.Error(), "the audit chain of the source does not hold") {
			t.Errorf("error %v", err)
		}
		s, err := store.Open(d.ctx, store.Options{URL: to}) // still as new
		if err != nil {
			t.Fatal(err)
		}
		if p, err := s.Projects(d.ctx); err != nil || len(p) != 0 {
			t.Errorf("%d projects were copied, error %v", len(p), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What is written while a copy runs is not copied, and the copy is whole.
func TestCopyIsOneMoment(t *testing.T) {
	d := fillDesk(t)
	before := d.number(`SELECT count(*) FROM traces`)
	for i, to := range []string{newFile(t), pgcluster.Database(t)} {
		wrote := false
		_, err := store.Copy(d.ctx, store.Options{URL: d.address}, store.Options{URL: to}, func(string, int64) {
			if !wrote {
				wrote = true
				d.put(judged{id: fmt.Sprintf("later%d", i)})
			}
		})
		if err != nil || !wrote {
			t.Fatalf("wrote %v, error %v", wrote, err)
		}
		var n int
		if err := storetest.Raw(t, to).QueryRow(`SELECT count(*) FROM traces`).Scan(&n); err != nil || n != before+i {
			t.Errorf("%d traces, error %v; want %d", n, err, before+i)
		}
	}
}

// A copy that is stopped anywhere leaves a target that is as new, or that no
// store opens, and the same copy then works.
func TestCopyInterrupted(t *testing.T) {
	d := fillDesk(t)
	for name, to := range map[string]string{"file": newFile(t), "server": pgcluster.Database(t)} {
		for _, stop := range []int{0, 3, 11, 24} {
			ctx, cancel := context.WithCancel(d.ctx)
			steps := 0
			_, err := store.Copy(ctx, store.Options{URL: d.address}, store.Options{URL: to}, func(string, int64) {
				if steps == stop {
					cancel()
				}
				steps++
			})
			cancel()
			if steps <= stop { // it was over before
				t.Fatalf("%s: %d steps, error %v", name, steps, err)
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("%s: stopped at step %d: error %v", name, stop, err)
			}
		}
		if path, file := strings.CutPrefix(to, "sqlite://"); file {
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range left {
				t.Errorf("left behind: %s", f.Name())
			}
		}
		mustCopy(t, d.address, to)
	}
}

// A server that holds rows which were never verified is refused by every store,
// and begun anew by a copy.
func TestUnfinishedCopy(t *testing.T) {
	d := fillDesk(t)
	to := pgcluster.Database(t)
	mustCopy(t, d.address, to)
	raw := storetest.Raw(t, to)
	if _, err := raw.Exec(`INSERT INTO settings (name, value) VALUES ('unfinished_copy', 'now')`); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Exec(`TRUNCATE exposures, idempotent_answers`); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(d.ctx, store.Options{URL: to}); !errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "countersign copy` again") {
		t.Errorf("open: error %v", err)
	}
	if _, err := store.Copy(d.ctx, store.Options{URL: to}, store.Options{URL: newFile(t)}, nil); !errors.Is(err, store.ErrConflict) {
		t.Errorf("copy from it: error %v", err)
	}
	mustCopy(t, d.address, to)
	if want, got := exported(t, d.address), exported(t, to); want != got {
		t.Errorf("exports differ:\n%s", cmp.Diff(want, got))
	}
}
