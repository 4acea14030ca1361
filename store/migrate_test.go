package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// schema2 makes a filled database of the schema before migration 3: traces with
// labels and recorded reports, a refused evaluation, a retried one, a decision.
func schema2(t *testing.T) (address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "old.db")
	dump, err := os.ReadFile("testdata/schema2.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(dump)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return "sqlite://" + path
}

// exports writes the chain's state and everything that can be exported.
func exports(t *testing.T, s *store.Store) string {
	t.Helper()
	ctx := context.Background()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	all := store.EvaluationFilter{}
	op := storetest.Operator
	v, err := s.VerifyAudit(ctx, op)
	if err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		s.EachTrace(ctx, op, all, func(v judge.Trace) error { return enc.Encode(v) }),
		s.EachDecision(ctx, op, all, func(v store.Decision) error { return enc.Encode(v) }),
		s.EachLabel(ctx, op, all, func(v store.LabelRow) error { return enc.Encode(v) }),
		s.EachEvaluation(ctx, op, all, func(v judge.Evaluation) error {
			view, err := s.GetEvaluation(ctx, op, v.ID)
			if err != nil {
				return err
			}
			return enc.Encode(view.Evaluation)
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// TestMigratingAFilledDatabase: what an older program stored reads the same to
// the byte, the chain holds, and work goes on.
func TestMigratingAFilledDatabase(t *testing.T) {
	if storetest.OnPostgres() {
		t.Skip("only SQLite has databases of that age")
	}
	want, err := os.ReadFile("testdata/schema2.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(context.Background(), store.Options{URL: schema2(t), Now: storetest.NewClock().Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(exports(t, s), "\n")); diff != "" {
		t.Errorf("exports (-before +after):\n%s", diff)
	}
	for _, one := range storetest.Import(t, s, storetest.Items(4, 6)) {
		if one.Revised {
			t.Errorf("a trace with the same content became a revision")
		}
		if one.Unchanged == (one.Evaluations > 0) {
			t.Errorf("known %t, and %d evaluations were queued", one.Unchanged, one.Evaluations)
		}
	}
	storetest.JudgeOne(t, s, 20, storetest.Accepted)
}

// TestServersThatStartAtOnce all find one schema.
func TestServersThatStartAtOnce(t *testing.T) {
	address := storetest.Unmigrated(t)
	faults := make([]error, 6)
	var wait sync.WaitGroup
	for i := range faults {
		wait.Go(func() {
			s, err := store.Open(context.Background(), store.Options{URL: address})
			if err == nil {
				_, err = s.EnsureProject(context.Background(), storetest.Operator, store.DefaultProject)
				if closing := s.Close(); err == nil {
					err = closing
				}
			}
			faults[i] = err
		})
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			t.Errorf("program %d: %v", i, err)
		}
	}
}
