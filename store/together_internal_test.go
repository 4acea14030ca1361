package store

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// openLine gives a store with a table of numbers to write into.
func openLine(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: filepath.Join(t.TempDir(), "db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.writer.Exec(`CREATE TABLE numbers (n INTEGER PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Store) numbers(t *testing.T) (n int) {
	t.Helper()
	if err := s.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM numbers`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// hold keeps the writer busy until the line behind it has n places; it returns
// once it does. What it gives says how often it ran, once all is over.
func (s *Store) hold(t *testing.T, wait *sync.WaitGroup, n int, then func()) (ran func() int) {
	t.Helper()
	runs, begun := 0, make(chan struct{})
	wait.Go(func() {
		err := s.write(t.Context(), func(*tx) error {
			if runs++; runs > 1 {
				return nil
			}
			close(begun)
			for g, waiting := s.engine.oneWriter(), 0; waiting < n; time.Sleep(time.Millisecond) {
				g.mu.Lock()
				waiting = len(g.waiting)
				g.mu.Unlock()
			}
			then()
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	return func() int { return runs }
}

// Of many that share a commit, those that fail or panic leave nothing behind,
// and take nothing of the others with them.
func TestSharedCommitKeepsTransactionsApart(t *testing.T) {
	s := openLine(t)
	wrong := errors.New("wrong")
	const all = 60
	var wait sync.WaitGroup
	s.hold(t, &wait, all, func() {})
	got := make([]error, all)
	for i := range all {
		wait.Go(func() {
			defer func() {
				if i%3 == 2 && recover() == nil {
					t.Errorf("transaction %d did not pass its panic on", i)
				}
			}()
			got[i] = s.write(t.Context(), func(x *tx) error {
				if _, err := x.exec(t.Context(), `INSERT INTO numbers (n) VALUES (?)`, i); err != nil {
					return err
				}
				x.audit(event{actor: Actor{Name: "x"}, action: "test", subject: "number"})
				switch i % 3 {
				case 1:
					return wrong
				case 2:
					panic("wrong")
				}
				return nil
			})
		})
	}
	wait.Wait()
	for i, err := range got {
		if want := i%3 == 1; errors.Is(err, wrong) != want || !want && err != nil {
			t.Errorf("transaction %d: %v", i, err)
		}
	}
	if n := s.numbers(t); n != all/3 {
		t.Errorf("%d numbers are stored, want %d", n, all/3)
	}
	var events int
	if err := s.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM audit_events WHERE action = 'test'`).Scan(&events); err != nil || events != all/3 {
		t.Errorf("%d events are in the chain, want %d (%v)", events, all/3, err)
	}
}

// A database that gives up a whole transaction, as it does on a full disk,
// fails who caused it; what others had done in it is done again.
func TestSharedCommitOutlastsABrokenOne(t *testing.T) {
	s := openLine(t)
	const all = 20
	var wait sync.WaitGroup
	s.hold(t, &wait, all, func() {})
	failed := make([]error, all)
	for i := range all {
		wait.Go(func() {
			failed[i] = s.write(t.Context(), func(x *tx) error {
				if i%10 == 5 {
					_, err := x.exec(t.Context(), `ROLLBACK`) // what SQLite does by itself
					return errors.Join(errors.New("the disk is full"), err)
				}
				_, err := x.exec(t.Context(), `INSERT INTO numbers (n) VALUES (?)`, i)
				return err
			})
		})
	}
	wait.Wait()
	for i, err := range failed {
		if (err != nil) != (i%10 == 5) {
			t.Errorf("transaction %d: %v", i, err)
		}
	}
	if n := s.numbers(t); n != all-2 {
		t.Errorf("%d numbers are stored, want %d", n, all-2)
	}
}

// Who goes while waiting leaves the line to the others, and a long transaction
// shares with nobody.
func TestLineGoesOnWithoutThoseWhoLeft(t *testing.T) {
	s := openLine(t)
	gone, leave := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	ran := s.hold(t, &wait, 30, leave)
	for i := range 30 {
		wait.Go(func() {
			ctx, write := t.Context(), s.write
			switch i % 3 {
			case 1:
				ctx = gone
			case 2:
				write = s.writeAlone
			}
			err := write(ctx, func(x *tx) error {
				_, err := x.exec(ctx, `INSERT INTO numbers (n) VALUES (?)`, i)
				return err
			})
			if (err == nil) == (i%3 == 1) || err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("transaction %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	if n := s.numbers(t); n != 20 {
		t.Errorf("%d numbers are stored, want 20", n)
	}
	if n := ran(); n != 1 {
		t.Errorf("the first ran %d times: who left undid it", n)
	}
}
