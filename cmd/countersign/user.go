package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/countersign/countersign/store"
)

type userCmd struct {
	Add      userAddCmd      `cmd:"" help:"Add a person."`
	List     userListCmd     `cmd:"" help:"List people."`
	Disable  userDisableCmd  `cmd:"" help:"Keep a person from signing in, and end their sessions, tokens and claims."`
	Enable   userEnableCmd   `cmd:"" help:"Let a disabled person sign in again."`
	Password userPasswordCmd `cmd:"" help:"Set a person's password, and end their sessions."`
}

type userAddCmd struct {
	Email string `arg:"" help:"Email address."`
	dataFlags
	Role          string `required:"" enum:"reviewer,lead,auditor,admin" help:"What the person may do: reviewer, lead, auditor or admin."`
	Name          string `help:"Name as others see it (default: the part before the @)."`
	PasswordStdin bool   `help:"Read the password from standard input; else a terminal is asked (an empty answer means none yet)."`
}

// Run adds a person.
func (c userAddCmd) Run(ctx context.Context, s *state) error {
	password := ""
	if c.PasswordStdin || s.asksAtTerminal() {
		var err error
		if password, err = s.readPassword(); err != nil {
			return err
		}
	}
	return c.with(ctx, s, c.open, func(db *store.Store) error {
		u, err := db.CreateUser(ctx, s.operator(), store.NewUser{Email: c.Email, Name: c.Name, Role: store.Role(c.Role), Password: password})
		if err != nil {
			return err
		}
		s.say("added %s as %s", u.Email, u.Role)
		if password == "" {
			s.say("there is no password yet: set one with `countersign user password %s`; standard input is read only with --password-stdin", u.Email)
		}
		return nil
	})
}

// with opens the database for one action and closes it.
func (f dataFlags) with(ctx context.Context, s *state, open func(context.Context, *state) (*store.Store, error), do func(*store.Store) error) error {
	db, err := open(ctx, s)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// asksAtTerminal says that a person can be asked something.
func (s *state) asksAtTerminal() bool {
	f, ok := s.stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// readPassword reads one line: from the terminal without showing it, else from
// standard input.
func (s *state) readPassword() (string, error) {
	if s.asksAtTerminal() {
		fmt.Fprint(s.stderr, "Password (12 characters or more): ")
		password, err := term.ReadPassword(int(s.stdin.(*os.File).Fd()))
		s.say("")
		return string(password), err
	}
	line, err := bufio.NewReader(io.LimitReader(s.stdin, 64<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	if line = strings.TrimRight(line, "\r\n"); line == "" {
		return "", usagef("there is no password on standard input")
	}
	return line, nil
}

type userListCmd struct {
	dataFlags
	JSON bool `help:"Write JSON."`
}

type userView struct {
	Email      string     `json:"email"`
	Name       string     `json:"name"`
	Role       store.Role `json:"role"`
	CreatedAt  time.Time  `json:"created_at"`
	DisabledAt *time.Time `json:"disabled_at,omitempty"`
}

// Run lists people.
func (c userListCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		users, err := db.Users(ctx, s.operator())
		if err != nil {
			return err
		}
		views := []userView{}
		for _, u := range users {
			views = append(views, userView{u.Email, u.Name, u.Role, u.CreatedAt, u.DisabledAt})
		}
		if c.JSON {
			return s.writeJSON(views)
		}
		w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "EMAIL\tNAME\tROLE\tADDED\tSTATE")
		for _, v := range views {
			state := "active"
			if v.DisabledAt != nil {
				state = "disabled " + day(*v.DisabledAt)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", v.Email, v.Name, v.Role, day(v.CreatedAt), state)
		}
		return w.Flush()
	})
}

type userDisableCmd struct {
	Email string `arg:"" help:"Email address."`
	dataFlags
}

// Run disables a person.
func (c userDisableCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		if err := db.DisableUser(ctx, s.operator(), c.Email); err != nil {
			return err
		}
		s.say("disabled %s", c.Email)
		return nil
	})
}

type userEnableCmd struct {
	Email string `arg:"" help:"Email address."`
	dataFlags
}

// Run enables a person.
func (c userEnableCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		if err := db.EnableUser(ctx, s.operator(), c.Email); err != nil {
			return err
		}
		s.say("enabled %s; tokens that were revoked stay so", c.Email)
		return nil
	})
}

type userPasswordCmd struct {
	Email string `arg:"" help:"Email address."`
	dataFlags
	PasswordStdin bool `help:"Read the password from standard input; else the terminal is asked."`
}

// Run sets a password.
func (c userPasswordCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		password, err := s.readPassword()
		if err != nil {
			return err
		}
		if err := db.SetPassword(ctx, s.operator(), c.Email, password); err != nil {
			return err
		}
		s.say("the password of %s is set; their sessions have ended", c.Email)
		return nil
	})
}

// day is a date as tables show it.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
