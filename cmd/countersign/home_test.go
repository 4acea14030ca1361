package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// home is a place for data of a test's own, on the database that the tests run
// on: a folder, or a PostgreSQL database.
type home struct {
	address string
	env     map[string]string // what tells the program of it
}

func newHome(t *testing.T) home {
	t.Helper()
	address := storetest.Address(t)
	if path, ok := strings.CutPrefix(address, "sqlite://"); ok {
		return home{address, map[string]string{"COUNTERSIGN_DATA": filepath.Dir(path)}}
	}
	return home{address, map[string]string{"COUNTERSIGN_DATABASE_URL": address}}
}

// open is a store over the same data, with the clock of newConsole.
func (h home) open(t *testing.T) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: h.address, Now: newConsole(t, nil).now})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
