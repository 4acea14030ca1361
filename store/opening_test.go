package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func TestExists(t *testing.T) {
	o := store.Options{URL: storetest.Unmigrated(t)}
	for range 2 { // looking makes nothing
		if there, err := store.Exists(t.Context(), o); err != nil || there {
			t.Fatalf("before it was made: %v, %v", there, err)
		}
	}
	storetest.OpenAt(t, o.URL, nil)
	if there, err := store.Exists(t.Context(), o); err != nil || !there {
		t.Errorf("after: %v, %v", there, err)
	}
}

func TestPlaceShowsNoPassword(t *testing.T) {
	place, err := store.Options{URL: "postgres://ann:se%20cret@db.example:6000/cs?sslmode=disable"}.Place()
	if want := "postgres://ann@db.example:6000/cs"; err != nil || place != want {
		t.Errorf("place %q, %v, want %q", place, err, want)
	}
	for _, address := range []string{"mysql://a", "nothing", "postgres://[", ""} {
		if _, err := (store.Options{URL: address}).Place(); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: error %v, want ErrInvalid", address, err)
		}
	}
}

func TestTroubleOfOpening(t *testing.T) {
	o := store.Options{URL: "postgres://nobody@127.0.0.1:1/x?connect_timeout=2"}
	_, err := store.Open(t.Context(), o)
	if trouble := o.Trouble(err); trouble == nil || !strings.Contains(trouble.What, "does not answer") {
		t.Errorf("trouble %v of %v", trouble, err)
	}
	if trouble := o.Trouble(nil); trouble != nil {
		t.Errorf("no error is trouble: %v", trouble)
	}
}

// TestNowIsTheDatabases: what the store says now lies between two readings of a
// clock that a test moves.
func TestNowIsTheDatabases(t *testing.T) {
	clock := storetest.NewClock()
	s := storetest.Open(t, clock)
	clock.Advance(48 * time.Hour)
	before := clock.Now()
	if now := s.Now(); now.Before(before.UTC()) || now.After(clock.Now()) {
		t.Errorf("now is %s, want about %s", now, before)
	}
}
