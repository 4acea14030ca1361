package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/countersign/countersign/store"
)

// dataFlags say where the data is: in a folder, or in a PostgreSQL database.
type dataFlags struct {
	Data            string `help:"Folder of the database (default: the platform's data folder)." placeholder:"DIR" env:"COUNTERSIGN_DATA" config:"data" type:"path"`
	DatabaseURL     string `name:"database-url" help:"Database instead of a folder: postgres://USER@HOST:PORT/NAME. Others on this machine see flags (ps): give a password by the environment or a file." placeholder:"URL" env:"COUNTERSIGN_DATABASE_URL" config:"database_url"`
	DatabaseURLFile string `name:"database-url-file" help:"File that holds the database's URL." placeholder:"FILE" env:"COUNTERSIGN_DATABASE_URL_FILE" config:"database_url_file"`
}

// projectFlags say where the data is and which project of it.
type projectFlags struct {
	dataFlags
	Project string `help:"Project." default:"default" env:"COUNTERSIGN_PROJECT" config:"project"`
}

// options of the store: the flag that comes from nearest counts (command line,
// then environment, then configuration), and of one place a URL counts before a
// folder. On the command line itself there may be only one.
func (f dataFlags) options(s *state) (store.Options, error) {
	o := store.Options{Now: s.now}
	name, err := s.nearest("database-url", "database-url-file", "data")
	if err != nil {
		return o, err
	}
	switch name {
	case "database-url":
		o.URL = f.DatabaseURL
	case "database-url-file":
		text, err := os.ReadFile(f.DatabaseURLFile)
		if err != nil {
			return o, usagef("the file of the database's URL: %w", err)
		}
		if o.URL = strings.TrimSpace(string(text)); o.URL == "" {
			return o, usagef("the file of the database's URL, %s, is empty", f.DatabaseURLFile)
		}
	default:
		folder, err := f.folder(s, "countersign")
		if err != nil {
			return o, err
		}
		o.Path = databaseIn(folder)
		return o, nil
	}
	if _, err := o.Place(); err != nil {
		// Not the error's own words: they may show a password.
		return o, usagef("the database's URL can't be read: it is postgres://USER@HOST:PORT/NAME, with %%XX for special characters of a password, or sqlite://PATH")
	}
	return o, nil
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

func databaseIn(folder string) string { return filepath.Join(folder, "countersign.db") }

// open opens the database, making it when it is absent.
func (f dataFlags) open(ctx context.Context, s *state) (*store.Store, error) {
	o, err := f.options(s)
	if err != nil {
		return nil, err
	}
	return openStore(ctx, s, o)
}

// openExisting opens the database for a command that only reads or names what
// must be there: a mistyped place must not turn into an empty database.
func (f dataFlags) openExisting(ctx context.Context, s *state) (*store.Store, error) {
	o, err := f.options(s)
	if err != nil {
		return nil, err
	}
	there, err := f.exists(ctx, s)
	switch {
	case err != nil:
		return nil, err
	case !there && o.Path != "":
		return nil, usagef("there is no database in %s yet: import something first, or name another folder with --data", filepath.Dir(o.Path))
	case !there:
		place, _ := o.Place() // it could be read above
		return nil, usagef("there is nothing of Countersign in %s yet: import something first, or name another database with --database-url", place)
	}
	return openStore(ctx, s, o)
}

// exists reports whether there is a database.
func (f dataFlags) exists(ctx context.Context, s *state) (bool, error) {
	o, err := f.options(s)
	if err != nil {
		return false, err
	}
	there, err := store.Exists(ctx, o)
	return there, plainly(o, err)
}

// openStore opens a database, and notes it for the messages of faults.
func openStore(ctx context.Context, s *state, o store.Options) (*store.Store, error) {
	o.Upgraded = s.tellUpgrade()
	db, err := store.Open(ctx, o)
	if err != nil {
		return nil, plainly(o, err)
	}
	s.db = db
	return db, nil
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
