package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/countersign/countersign/store"
)

type tokenCmd struct {
	Create tokenCreateCmd `cmd:"" help:"Create a token; it is printed once, alone on standard output."`
	List   tokenListCmd   `cmd:"" help:"List tokens."`
	Revoke tokenRevokeCmd `cmd:"" help:"End a token."`
}

type tokenCreateCmd struct {
	dataFlags
	User string `required:"" help:"Email address of the person the token acts as." placeholder:"EMAIL"`
	Name string `help:"What the token is for."`
}

// Run creates a token.
func (c tokenCreateCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		token, secret, err := db.CreateToken(ctx, s.operator(), c.User, c.Name)
		if err != nil {
			return err
		}
		s.say("token %s acts as %s; it is not shown again:", token.ID, token.UserEmail)
		_, err = fmt.Fprintln(s.stdout, secret)
		return err
	})
}

type tokenListCmd struct {
	dataFlags
	JSON bool `help:"Write JSON."`
}

type tokenView struct {
	ID         string     `json:"id"`
	User       string     `json:"user"`
	Name       string     `json:"name"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
}

// Run lists tokens, without their secrets, which are not kept.
func (c tokenListCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		tokens, err := db.Tokens(ctx, s.operator())
		if err != nil {
			return err
		}
		views := []tokenView{}
		for _, t := range tokens {
			views = append(views, tokenView{t.ID, t.UserEmail, t.Name, t.CreatedAt, t.LastUsedAt, t.RevokedAt})
		}
		if c.JSON {
			return s.writeJSON(views)
		}
		w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tUSER\tNAME\tCREATED\tLAST USED\tSTATE")
		for _, v := range views {
			used, state := "never", "active"
			if v.LastUsedAt != nil {
				used = v.LastUsedAt.UTC().Format("2006-01-02 15:04")
			}
			if v.RevokedAt != nil {
				state = "revoked " + day(*v.RevokedAt)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.User, v.Name, day(v.CreatedAt), used, state)
		}
		return w.Flush()
	})
}

type tokenRevokeCmd struct {
	ID string `arg:"" help:"Id of the token, as list shows it."`
	dataFlags
}

// Run ends a token.
func (c tokenRevokeCmd) Run(ctx context.Context, s *state) error {
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		if err := db.RevokeToken(ctx, s.operator(), c.ID); err != nil {
			return err
		}
		s.say("revoked token %s", c.ID)
		return nil
	})
}
