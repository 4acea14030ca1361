package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func total(calls map[string]int) (n int) {
	for _, c := range calls {
		n += c
	}
	return n
}

// rowsOf reads rows of two texts behind the program's back.
func rowsOf(t *testing.T, db *storetest.Database, query string) (all [][2]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r [2]string
		if err := rows.Scan(&r[0], &r[1]); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

const evaluationStates = `SELECT tr.external_id, e.status FROM evaluations e JOIN traces tr ON tr.id = e.trace_id`

// noteFinished notes the cases whose reply the database holds, with how often
// the model was asked about them: it must never be asked again.
func (f *fleet) noteFinished(db *storetest.Database, finished map[string]int) {
	f.t.Helper()
	var names []string
	for _, r := range rowsOf(f.t, db, `SELECT evaluation, reply FROM kept_replies`) {
		names = append(names, caseName.FindString(r[1]))
	}
	for _, r := range rowsOf(f.t, db, evaluationStates) {
		if r[1] != "queued" && r[1] != "judging" {
			names = append(names, r[0])
		}
	}
	calls := f.model.asked()
	for _, name := range names {
		if _, known := finished[name]; !known {
			finished[name] = calls[name]
		}
	}
}

// drain waits until everything is judged and decided.
func (f *fleet) drain(db *storetest.Database) {
	f.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		left := map[string]int{}
		for _, r := range rowsOf(f.t, db, evaluationStates+` WHERE e.status IN ('queued', 'judging', 'in_review')`) {
			left[r[1]]++
		}
		if len(left) == 0 {
			return
		}
		if f.t.Failed() || time.Now().After(deadline) {
			f.t.Fatalf("work does not drain: %v", left)
		}
	}
}

// checkCalls: what was finished was not asked again, and only what was in
// flight at a kill was asked twice.
func (f *fleet) checkCalls(db *storetest.Database, finished map[string]int, kills int) {
	f.t.Helper()
	calls := f.model.asked()
	for name, n := range finished {
		if calls[name] != n || n == 0 {
			f.t.Errorf("%s: its reply was kept after %d calls, and at the end there are %d", name, n, calls[name])
		}
	}
	if len(finished) == 0 {
		f.t.Error("nothing was finished at any kill: the test did not test it")
	}
	judged := len(rowsOf(f.t, db, evaluationStates))
	if got, most := total(calls), judged+2*kills*killedConcurrency; got > most {
		f.t.Errorf("%d calls for %d evaluations: at most %d were to be expected", got, judged, most)
	}
	for _, r := range rowsOf(f.t, db, `SELECT e.id, CAST(count(*) AS TEXT) FROM evaluations e JOIN attempts a ON a.evaluation_id = e.id
GROUP BY e.id HAVING count(*) <> 1`) {
		f.t.Errorf("evaluation %s has %s attempts, want 1", r[0], r[1])
	}
	if left := rowsOf(f.t, db, `SELECT evaluation, call FROM kept_replies`); len(left) != 0 {
		f.t.Errorf("%d kept replies are left over", len(left))
	}
}

// checkAcknowledged: all that was answered well is there, once, and the chain
// holds.
func (f *fleet) checkAcknowledged(db *storetest.Database) {
	f.t.Helper()
	states := map[string]string{}
	for _, r := range rowsOf(f.t, db, evaluationStates) {
		if states[r[0]] != "" {
			f.t.Errorf("%s has two evaluations", r[0])
		}
		states[r[0]] = r[1]
	}
	for _, name := range f.crew.imported {
		want := "accepted"
		if isAmbiguous(name) {
			want = "final"
		}
		if got := states[name]; got != want && got != "final" { // an accepted one may have been drawn for audit
			f.t.Errorf("%s, which was imported, is %q, want %s", name, got, want)
		}
	}
	decisions, byReview := map[string]string{}, map[string]int{}
	for _, r := range rowsOf(f.t, db, `SELECT id, review_id FROM decisions`) {
		decisions[r[0]] = r[1]
		if byReview[r[1]]++; byReview[r[1]] > 1 {
			f.t.Errorf("review %s was decided %d times", r[1], byReview[r[1]])
		}
	}
	for id, review := range f.crew.decided {
		if decisions[id] != review {
			f.t.Errorf("decision %s on %s is lost", id, review)
		}
	}
	firsts := map[string]bool{}
	for _, r := range rowsOf(f.t, db, `SELECT review_id, user_id FROM first_answers`) {
		firsts[r[0]] = true
	}
	for _, review := range f.crew.firsts {
		if !firsts[review] {
			f.t.Errorf("the first answer on %s is lost", review)
		}
	}
	if got, want := fmt.Sprint(rowsOf(f.t, db, `SELECT kind || ' ' || name, CAST(n AS TEXT) FROM tallies WHERE n <> 0 AND kind NOT IN ('status', 'use')`)), "[]"; got != want {
		f.t.Errorf("counts of what waits: %s, want none", got)
	}
	s, err := store.Open(f.t.Context(), store.Options{URL: f.home.address})
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			f.t.Error(err)
		}
	}()
	if v, err := s.VerifyAudit(f.t.Context(), storetest.Operator); err != nil || v.Problem != "" {
		f.t.Errorf("audit chain: %q, %v", v.Problem, err)
	}
}
