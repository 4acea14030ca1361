package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// A file that another program keeps locked longer than the busy time-out refuses
// writes in plain words, and nothing is half-written.
func TestLockedFile(t *testing.T) {
	d := fileDesk(t)
	other := storetest.Raw(t, d.address)
	for _, lock := range []string{`BEGIN IMMEDIATE`, `BEGIN EXCLUSIVE`} {
		if _, err := other.Exec(lock); err != nil {
			t.Fatal(err)
		}
		_, err := d.ImportTraces(d.ctx, storetest.Operator, "default", storetest.Items(1, 3))
		if trouble := d.Trouble(err); trouble == nil || trouble.What != "another program has been writing to the database file for too long" {
			t.Errorf("%s: error %v, in plain words %v", lock, err, trouble)
		}
		if n := d.number(`SELECT count(*) FROM traces WHERE external_id LIKE 'trace-%'`); n != 0 {
			t.Errorf("%s: %d traces are stored", lock, n)
		}
		if _, err := other.Exec(`ROLLBACK`); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Import(t, d.Store, storetest.Items(1, 3))
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("chain: %q, %v", v.Problem, err)
	}
}

// A second server on the same file is safe: every item is decided once, and the
// chain holds.
func TestSecondServerOnOneDatabase(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	reviews := d.put(numbered("t", 30)...)
	second, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}()
	var group sync.WaitGroup
	var mu sync.Mutex
	decided := map[string]int{}
	for i, s := range []*store.Store{d.Store, second} {
		a := []store.Actor{d.ann, d.ben}[i]
		group.Go(func() {
			for trace, id := range reviews {
				if _, err := s.ClaimReview(d.ctx, a, id); err != nil {
					if !errors.Is(err, store.ErrConflict) {
						t.Errorf("claim of %s: %v", trace, err)
					}
					continue
				}
				if _, err := s.Decide(d.ctx, a, id, store.DecisionInput{Action: store.Confirm, Comment: fmt.Sprint("by ", a.Name)}); err != nil {
					t.Errorf("decision on %s: %v", trace, err)
					continue
				}
				mu.Lock()
				decided[id]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if len(decided) != len(reviews) {
		t.Errorf("%d of %d items were decided", len(decided), len(reviews))
	}
	for id, n := range decided {
		if n != 1 {
			t.Errorf("item %s was decided %d times", id, n)
		}
	}
	if n := d.number(`SELECT count(*) FROM decisions`); n != len(reviews) {
		t.Errorf("%d decisions are stored, want %d", n, len(reviews))
	}
	if v, err := second.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("chain: %q, %v", v.Problem, err)
	}
}

// So are two processes: one works until it is killed while the other reads and
// writes the same database.
func TestSecondProcess(t *testing.T) {
	d := openDesk(t)
	stop, ended := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				ended <- n
				return
			default:
			}
			if _, err := d.ImportTraces(d.ctx, storetest.Operator, "default", storetest.Items(1_000_000+n, 1)); err != nil {
				t.Error(err)
			}
			n++
		}
	}()
	imported, _ := killAfter(t, d.address, 600)
	close(stop)
	own := <-ended
	if own == 0 || len(imported) == 0 {
		t.Fatalf("%d traces here and %d there: too few to tell", own, len(imported))
	}
	for _, id := range imported {
		if _, err := d.GetTrace(d.ctx, storetest.Operator, "default", id, 0); err != nil {
			t.Fatalf("lost: %v", err)
		}
	}
	if n := d.number(`SELECT count(*) FROM traces`); n < own+len(imported) {
		t.Errorf("%d traces, want %d and %d", n, own, len(imported))
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("chain: %q, %v", v.Problem, err)
	}
}
