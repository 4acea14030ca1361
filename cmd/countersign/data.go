package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/countersign/countersign/store"
)

// dataFlags say where the data is.
type dataFlags struct {
	DatabaseURL string `name:"database-url" help:"PostgreSQL database, postgres://USER@HOST/DATABASE, instead of the embedded one in the data folder." placeholder:"URL" env:"COUNTERSIGN_DATABASE_URL" config:"database_url"`
	Data        string `help:"Folder of the database (default: the platform's data folder)." placeholder:"DIR" env:"COUNTERSIGN_DATA" config:"data" type:"path"`
}

// projectFlags say where the data is and which project of it.
type projectFlags struct {
	dataFlags
	Project string `help:"Project." default:"default" env:"COUNTERSIGN_PROJECT" config:"project"`
}

// folder is the data folder; name is the last part of the default one.
func (f dataFlags) folder(s *state, name string) (string, error) {
	if f.Data != "" {
		return f.Data, nil
	}
	if base := s.env("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, name), nil
	}
	if base := s.env("LocalAppData"); runtime.GOOS == "windows" && base != "" {
		return filepath.Join(base, name), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usagef("there is no home folder for the data (%w): say where with --data", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Application Support", name), nil
	}
	return filepath.Join(home, ".local", "share", name), nil
}

// address says which database it is.
func (f dataFlags) address(s *state) (store.Options, error) {
	if f.DatabaseURL != "" && s.byName["data"] {
		return store.Options{}, usagef("--data names a folder, and --database-url or COUNTERSIGN_DATABASE_URL another database: leave one of them out")
	}
	if f.DatabaseURL != "" {
		return store.Options{URL: f.DatabaseURL}, nil // its leases run on its own clock
	}
	folder, err := f.folder(s, "countersign")
	return store.Options{Path: databaseIn(folder), Now: s.now}, err
}

// open opens the database, making it when it is absent.
func (f dataFlags) open(ctx context.Context, s *state) (*store.Store, error) {
	o, err := f.address(s)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, o)
}

// openExisting opens the database for a command that only reads or names what
// must be there: a mistyped folder must not turn into an empty database.
func (f dataFlags) openExisting(ctx context.Context, s *state) (*store.Store, error) {
	there, err := f.exists(s)
	if err != nil {
		return nil, err
	}
	if !there {
		folder, err := f.folder(s, "countersign")
		return nil, errors.Join(err, usagef("there is no database in %s yet: import something first, or name another folder with --data", folder))
	}
	return f.open(ctx, s)
}

// exists reports whether there is a database. One that is named by its address
// is there, or opening it says what is wrong.
func (f dataFlags) exists(s *state) (bool, error) {
	o, err := f.address(s)
	if err != nil || o.URL != "" {
		return o.URL != "", err
	}
	_, err = os.Stat(o.Path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func databaseIn(folder string) string { return filepath.Join(folder, "countersign.db") }

// openStore opens the database of a folder.
func openStore(ctx context.Context, s *state, folder string) (*store.Store, error) {
	return store.Open(ctx, store.Options{Path: databaseIn(folder), Now: s.now})
}

// secret reads a key of the installation as bytes, or makes and keeps one.
func secret(ctx context.Context, db *store.Store, name string) ([]byte, error) {
	text, err := db.Setting(ctx, name, func() (string, error) {
		key := make([]byte, 32)
		rand.Read(key) // never fails: crypto/rand ends the program instead
		return hex.EncodeToString(key), nil
	})
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the stored %s is not hexadecimal: %w", name, err)
	}
	return key, nil
}
