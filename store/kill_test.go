package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// workUntilKilled names the database file that this test binary, started
// again as a child, works on until it is killed.
const workUntilKilled = "STORE_TEST_WORK_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if path := os.Getenv(workUntilKilled); path != "" {
		if err := workOn(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if job := os.Getenv(movesUntilKilled); job != "" {
		if err := moveOn(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(storetest.Main(m))
}

// killedItems is far more than the child gets done.
const killedItems = 20_000

// workOn imports and judges as a server does, and says on standard output what
// it was told is stored: "imported ID", "finished EVALUATION".
func workOn(path string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: path})
	if err != nil {
		return err
	}
	if _, err := s.EnsureProject(ctx, storetest.Operator, "default"); err != nil {
		return err
	}
	for from := 0; from < killedItems; from += 50 {
		items := storetest.Items(from, 50)
		if _, err := s.ImportTraces(ctx, storetest.Operator, "default", items); err != nil {
			return err
		}
		for _, item := range items {
			fmt.Println("imported", item.Trace.ID)
		}
		work, err := s.ClaimWork(ctx, judge.Claim{Worker: "child", N: 40, Lease: time.Hour})
		if err != nil {
			return err
		}
		var done []judge.Finished
		for i, w := range work {
			f := storetest.Accepted(w)
			if i%2 == 0 {
				f = flagged(w)
			}
			done = append(done, f)
		}
		if err := s.FinishWork(ctx, done); err != nil {
			return err
		}
		for _, w := range work {
			fmt.Println("finished", w.EvaluationID)
		}
	}
	return nil
}

// A killed server loses nothing that it said is stored, finished calls are not
// made again, what was under way is, and the audit chain holds.
func TestKillAndRestart(t *testing.T) {
	ctx := context.Background()
	for _, more := range []int{7, 1000} {
		path := storetest.Address(t)
		imported, finished := killAfter(t, path, more)
		later := storetest.NewClock()
		later.Advance(time.Since(later.Now()) + 2*time.Hour) // every lease of the child has run out
		s, err := store.Open(ctx, store.Options{URL: path, Now: later.Now})
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range imported {
			if _, err := s.GetTrace(ctx, storetest.Operator, "default", id, 0); err != nil {
				t.Fatalf("lost trace: %v", err)
			}
		}
		for _, id := range finished {
			if v := view(t, s, id); v.Evaluation.Attempts != 1 || len(v.Evaluation.Calls) != 1 || v.Evaluation.Report == nil {
				t.Fatalf("lost result of %s: status %s, %d attempts", id, v.Evaluation.Status, v.Evaluation.Attempts)
			}
		}
		drainAfterKill(t, s, finished)
		v, err := s.VerifyAudit(ctx, storetest.Operator)
		if err != nil || v.Problem != "" {
			t.Errorf("audit chain: %q, %v", v.Problem, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// killAfter starts the child, waits until it has finished something and has said
// so many lines more, kills it, and returns what it said, to the last line that
// was written.
func killAfter(t *testing.T, path string, more int) (imported, finished []string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), workUntilKilled+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for said.Scan() {
		if len(finished) > 0 {
			if more--; more == 0 {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		what, id, ok := strings.Cut(said.Text(), " ")
		switch {
		case !ok || len(id) < len("trace-000000"): // cut off by the kill
		case what == "imported":
			imported = append(imported, id)
		case what == "finished" && len(id) == 26:
			finished = append(finished, id)
		}
	}
	if err := child.Wait(); err == nil || child.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
	if len(imported) == 0 || len(finished) == 0 {
		t.Fatalf("the child said %d imported, %d finished: too early to tell", len(imported), len(finished))
	}
	return imported, finished
}

// drainAfterKill does the rest of the work; none of it may be finished already.
func drainAfterKill(t *testing.T, s *store.Store, finished []string) {
	t.Helper()
	ctx := context.Background()
	was := map[string]bool{}
	for _, id := range finished {
		was[id] = true
	}
	for {
		work := storetest.Claim(t, s, 100)
		if len(work) == 0 {
			break
		}
		var done []judge.Finished
		for _, w := range work {
			if was[w.EvaluationID] {
				t.Fatalf("evaluation %s was finished and is given again", w.EvaluationID)
			}
			done = append(done, storetest.Accepted(w))
		}
		finish(t, s, done...)
	}
	f := store.EvaluationFilter{Limit: 500}
	for {
		page, next, err := s.EvaluationsFull(ctx, storetest.Operator, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page {
			if e.Attempts != 1 || (e.Status != judge.Accepted && e.Status != judge.InReview) {
				t.Errorf("evaluation %s: status %s after %d attempts", e.ID, e.Status, e.Attempts)
			}
		}
		if f.After = next; next == "" {
			return
		}
	}
}
