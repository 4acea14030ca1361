package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// openShared opens one database twice, as two processes would.
func openShared(t testing.TB, clock *storetest.Clock) (a, b *store.Store) {
	t.Helper()
	address := storetest.Address(t)
	return storetest.OpenAt(t, address, clock), storetest.OpenAt(t, address, clock)
}

// of asks for a slice of an endpoint with this limit, of calls only.
func of(perMinute, least, most int) judge.BudgetRequest {
	return judge.BudgetRequest{
		Endpoint: "endpoint", PerMinute: judge.Budget{Requests: perMinute},
		Least: judge.Budget{Requests: least}, Most: judge.Budget{Requests: most},
	}
}

func take(t testing.TB, s *store.Store, r judge.BudgetRequest) (judge.Budget, time.Duration) {
	t.Helper()
	granted, wait, err := s.TakeAllowance(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return granted, wait
}

func TestTakeAllowance(t *testing.T) {
	clock := storetest.NewClock()
	a, b := openShared(t, clock)
	both := judge.BudgetRequest{
		Endpoint: "endpoint", PerMinute: judge.Budget{Requests: 600, Tokens: 60_000},
		Least: judge.Budget{Requests: 1, Tokens: 900}, Most: judge.Budget{Requests: 3, Tokens: 2700},
	}
	granted, wait := take(t, a, both)
	if diff := cmp.Diff(judge.Budget{Requests: 3, Tokens: 1000}, granted); diff != "" || wait != 0 {
		t.Errorf("first slice: wait %s (-want +got):\n%s", wait, diff)
	}
	// The other process finds the tokens gone, and then loses no request to it.
	for range 3 {
		granted, wait = take(t, b, both)
		if granted != (judge.Budget{}) || wait < 800*time.Millisecond || wait > 900*time.Millisecond {
			t.Errorf("second process: granted %+v and wait %s, want nothing and the rest of 900 ms", granted, wait)
		}
	}
	both.Least.Tokens, both.Most.Tokens = 0, 0
	if granted, wait = take(t, b, both); granted != (judge.Budget{Requests: 3}) || wait != 0 {
		t.Errorf("requests alone: granted %+v and wait %s, want 3 requests", granted, wait)
	}
	elsewhere := both
	elsewhere.Endpoint = "another endpoint"
	elsewhere.Most.Requests = 10
	if granted, _ = take(t, b, elsewhere); granted != (judge.Budget{Requests: 10}) {
		t.Errorf("another endpoint: granted %+v, want 10 requests", granted)
	}
	clock.Advance(time.Second)
	both.Least.Tokens = 900
	if granted, wait = take(t, b, both); granted.Tokens < 900 || wait != 0 {
		t.Errorf("a second later: granted %+v and wait %s", granted, wait)
	}
}

// TestAllowanceOfAMinute: two processes that take as much as they get, each
// first in its turn, have the limit in a minute, and nearly all of it.
func TestAllowanceOfAMinute(t *testing.T) {
	clock := storetest.NewClock()
	a, b := openShared(t, clock)
	start := clock.Now()
	var sums [2]int
	for turn := 0; clock.Now().Sub(start) < time.Minute; turn++ {
		for i := range 2 {
			which := (i + turn) % 2
			granted, _ := take(t, []*store.Store{a, b}[which], of(600, 1, 100))
			sums[which] += granted.Requests
		}
		clock.Advance(300 * time.Millisecond)
	}
	if sum := sums[0] + sums[1]; sum > 610 || sum < 590 {
		t.Errorf("granted %d and %d in a minute, want 600 together and at most a slice of 10 more", sums[0], sums[1])
	}
	if sums[0] < 200 || sums[1] < 200 {
		t.Errorf("granted %d and %d: who asked first in turn has not got as much", sums[0], sums[1])
	}
}

// TestAllowanceAtOnce: many goroutines of two processes take at the same time.
func TestAllowanceAtOnce(t *testing.T) {
	clock := storetest.NewClock()
	a, b := openShared(t, clock)
	start := clock.Now()
	var mu sync.Mutex
	sum := 0
	var group sync.WaitGroup
	for _, s := range []*store.Store{a, b, a, b, a, b} {
		group.Go(func() {
			for clock.Now().Sub(start) < 15*time.Second {
				granted, wait, err := s.TakeAllowance(context.Background(), of(600, 1, 4))
				if err != nil {
					t.Error(err)
					return
				}
				clock.Advance(min(wait, 20*time.Millisecond)) // each of them moves the clock of all
				mu.Lock()
				sum += granted.Requests
				mu.Unlock()
			}
		})
	}
	group.Wait()
	took := clock.Now().Sub(start)
	if most := int(took.Seconds()*10) + 10; sum > most || sum <= 10 {
		t.Errorf("granted %d in %s, want at most %d and more than the first slice of 10", sum, took, most)
	}
}

func TestPauseEndpoint(t *testing.T) {
	ctx := context.Background()
	clock := storetest.NewClock()
	a, b := openShared(t, clock)
	unlimited := judge.BudgetRequest{Endpoint: "endpoint"}
	pause := func(d time.Duration) {
		t.Helper()
		if err := a.PauseEndpoint(ctx, "endpoint", d); err != nil {
			t.Fatal(err)
		}
	}
	waits := func(want time.Duration) {
		t.Helper()
		for name, r := range map[string]judge.BudgetRequest{"limited": of(600, 1, 10), "without a limit": unlimited} {
			granted, got := take(t, b, r)
			if got > want || got < want-50*time.Millisecond || (want > 0 && granted != (judge.Budget{})) {
				t.Errorf("%s: granted %+v and wait %s, want a wait of %s", name, granted, got, want)
			}
		}
	}
	waits(0)
	pause(20 * time.Second)
	waits(20 * time.Second)
	pause(5 * time.Second) // shortens nothing
	waits(20 * time.Second)
	clock.Advance(10 * time.Second)
	waits(10 * time.Second)
	pause(30 * time.Second)
	waits(30 * time.Second)
	if granted, wait := take(t, b, judge.BudgetRequest{Endpoint: "another"}); wait != 0 || granted != (judge.Budget{}) {
		t.Errorf("another endpoint waits %s", wait)
	}
	clock.Advance(31 * time.Second)
	waits(0)
	pause(24 * time.Hour)
	waits(judge.MaxPause)
	clock.Advance(-time.Hour) // a pause from the future is none, and gives way to a new one
	waits(0)
	pause(2 * time.Second)
	waits(2 * time.Second)
}

func TestAllowanceWithoutDatabase(t *testing.T) {
	s := storetest.Open(t, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]judge.BudgetRequest{"limited": of(60, 1, 1), "without a limit": {Endpoint: "endpoint"}} {
		if granted, wait, err := s.TakeAllowance(context.Background(), r); err == nil || granted != (judge.Budget{}) || wait != 0 {
			t.Errorf("%s: granted %+v, wait %s, error %v; want an error", name, granted, wait, err)
		}
	}
	if err := s.PauseEndpoint(context.Background(), "endpoint", time.Second); err == nil {
		t.Error("a pause that was not stored is no error")
	}
}

// BenchmarkTakeAllowance is the write that a slice costs.
func BenchmarkTakeAllowance(b *testing.B) {
	clock := storetest.NewClock()
	s := storetest.Open(b, clock)
	for b.Loop() {
		clock.Advance(time.Second)
		take(b, s, of(600, 1, 10))
	}
}
