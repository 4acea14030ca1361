package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// TestAddressesThatTellAPassword: signs that were not escaped move a part of the
// password into the host or the name, which messages show.
func TestAddressesThatTellAPassword(t *testing.T) {
	for _, address := range []string{
		"postgres://bob:p@SEKRET@127.0.0.1:1/x",
		"postgres://bob:1234/SEKRET@127.0.0.1:1/x",
		"postgres://bob:SEK RET@127.0.0.1:1/x",
		"postgres://bob:SEKRET%@127.0.0.1:1/x",
	} {
		s, err := store.Open(t.Context(), store.Options{URL: address})
		if err == nil {
			t.Fatalf("opened %s: %v", address, s.Close())
		}
		if !errors.Is(err, store.ErrInvalid) || strings.Contains(err.Error(), "SEK") {
			t.Errorf("%s: %v; want an invalid address and nothing of the password", address, err)
		}
	}
}

// TestForeignDatabaseIsRefused before anything is written to it.
func TestForeignDatabaseIsRefused(t *testing.T) {
	if !storetest.OnPostgres() {
		t.Skip("a file is one program's; PostgreSQL databases are shared")
	}
	address := pgcluster.Database(t)
	db := storetest.Raw(t, address)
	if _, err := db.Exec(`CREATE TABLE users (name TEXT)`); err != nil {
		t.Fatal(err)
	}
	if s, err := store.Open(t.Context(), store.Options{URL: address}); err == nil {
		t.Fatalf("opened it: %v", s.Close())
	} else if !strings.Contains(err.Error(), "tables of something else") {
		t.Errorf("error %v", err)
	}
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d tables afterwards, error %v; want the one", n, err)
	}
}
