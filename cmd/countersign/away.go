package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/countersign/countersign/store"
)

// awayError says that the database could not do its work, and where it is.
type awayError struct {
	place   string
	trouble *store.TroubleError
	err     error
}

func (e *awayError) Error() string {
	text := e.trouble.Error()
	var network *net.OpError
	var name *net.DNSError
	switch { // what the machine says of it, for whoever set it up
	case errors.As(e.err, &name):
		text += " (" + name.Error() + ")"
	case errors.As(e.err, &network):
		text += " (" + network.Error() + ")"
	}
	return "database " + e.place + ": " + text
}

func (e *awayError) Unwrap() error { return e.err }

// plainly says what trouble kept a database from being opened; other errors
// stay as they are.
func plainly(o store.Options, err error) error {
	trouble := o.Trouble(err)
	if trouble == nil {
		return err
	}
	place, _ := o.Place() // an address that can't be read gives no trouble
	return &awayError{place, trouble, err}
}

// plainly is the same for a database that was open.
func (s *state) plainly(err error) error {
	var said *awayError
	var network *net.OpError
	switch {
	case s.db == nil, err == nil, errors.As(err, &said):
		return err
	case errors.As(err, &network) && (network.Op == "listen" || network.Op == "accept"):
		return err // it is about our own server
	}
	if trouble := s.db.Trouble(err); trouble != nil {
		return &awayError{s.db.Place(), trouble, err}
	}
	return err
}

// Waits between tries while a database is away: they double from the first on.
const (
	firstTry   = 100 * time.Millisecond
	longestTry = 5 * time.Second
)

// How long a database that is away is waited for.
const (
	startPatience  = 30 * time.Second // by a server that starts
	importPatience = time.Minute      // by an import, in the midst of it
)

// remote says that a database is on a server, which may be away for a while. A
// file's trouble does not pass by itself.
func remote(place string) bool { return strings.HasPrefix(place, "postgres://") }

// openWaiting opens the database, and waits for a server that is not up yet.
func (f dataFlags) openWaiting(ctx context.Context, s *state) (*store.Store, error) {
	for began, told := time.Now(), false; ; {
		db, err := f.open(ctx, s)
		var away *awayError
		switch {
		case ctx.Err() != nil && err != nil:
			return nil, errInterrupted
		case err == nil || !errors.As(err, &away) || !remote(away.place):
			return db, err
		case time.Since(began) >= startPatience:
			return nil, fmt.Errorf("%w; gave up after %s", err, startPatience)
		case !told:
			told = true
			s.say("%v; waiting up to %s for it", err, startPatience)
		}
		if err := sleep(ctx, time.Second); err != nil {
			return nil, err
		}
	}
}

// sleep waits, or ends as an interrupted command when ctx does.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return stopped(ctx)
}
