package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// Token lets a program act as a user. Its secret is shown once, when it is
// made; only the SHA-256 of it is stored (it has 256 random bits, so a slow
// hash would protect nothing).
type Token struct {
	ID         string
	UserID     string
	UserEmail  string
	Name       string
	CreatedAt  time.Time
	LastUsedAt *time.Time // to the minute
	RevokedAt  *time.Time
}

const tokenPrefix = "cs_"

// CreateToken makes a token for a user and returns its secret. Role: admin, or
// the user.
func (s *Store) CreateToken(ctx context.Context, a Actor, userEmail, name string) (_ Token, secret string, err error) {
	defer wrap(&err, "create a token for %s", userEmail)
	u, err := s.ownOrAdmin(ctx, a, userEmail, "token.created")
	if err != nil {
		return Token{}, "", err
	}
	if u.DisabledAt != nil {
		return Token{}, "", fmt.Errorf("the user is disabled: %w", ErrConflict)
	}
	if name = strings.TrimSpace(name); utf8.RuneCountInString(name) > 100 {
		return Token{}, "", invalid("name", "is longer than 100 characters")
	}
	random := make([]byte, 32)
	rand.Read(random) // never fails: crypto/rand ends the program instead
	secret = tokenPrefix + base64.RawURLEncoding.EncodeToString(random)
	k := Token{ID: newID(s.clock()), UserID: u.ID, UserEmail: u.Email, Name: name}
	err = s.write(ctx, func(t *tx) error {
		k.CreatedAt = t.now
		t.audit(event{actor: a, action: "token.created", subject: "token:" + k.ID,
			data: map[string]any{"user": u.ID, "name": name}})
		_, err := t.exec(ctx, `INSERT INTO tokens (id, user_id, name, hash, created_at) VALUES (?, ?, ?, ?, ?)`,
			k.ID, k.UserID, k.Name, judge.HashText(secret), k.CreatedAt)
		return err
	})
	if err != nil {
		return Token{}, "", err
	}
	return k, secret, nil
}

// Tokens lists tokens, the newest first: an admin's list has everybody's,
// others see their own.
func (s *Store) Tokens(ctx context.Context, a Actor) (_ []Token, err error) {
	defer wrap(&err, "list tokens")
	return collect(ctx, s.reader, func(r *sql.Rows, k *Token) error {
		var used, revoked sql.NullTime
		err := r.Scan(&k.ID, &k.UserID, &k.UserEmail, &k.Name, &k.CreatedAt, &used, &revoked)
		k.CreatedAt, k.LastUsedAt, k.RevokedAt = k.CreatedAt.UTC(), optional(used), optional(revoked)
		return err
	}, `
SELECT k.id, k.user_id, u.email, k.name, k.created_at, k.last_used_at, k.revoked_at
FROM tokens k JOIN users u ON u.id = k.user_id
WHERE ? OR k.user_id = ? ORDER BY k.created_at DESC, k.id DESC`, a.Role == Admin, a.UserID)
}

// RevokeToken ends a token at once. Revoking twice changes nothing. Role:
// admin, or the token's user.
func (s *Store) RevokeToken(ctx context.Context, a Actor, id string) (err error) {
	defer wrap(&err, "revoke token %s", id)
	var owner string
	err = s.reader.QueryRowContext(ctx, `SELECT user_id FROM tokens WHERE id = ?`, id).Scan(&owner)
	if err := notFound(err, "token %s", id); err != nil {
		return err
	}
	if a.UserID != owner {
		if err := s.authorise(ctx, a, admins, "token.revoked", "token:"+id); err != nil {
			return err
		}
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.changed(ctx, `UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, t.now, id)
		if err == nil && n == 1 {
			t.audit(event{actor: a, action: "token.revoked", subject: "token:" + id})
		}
		return err
	})
}

// TokenUser finds whose token a secret is. ErrForbidden when it is unknown or
// revoked, or its user is disabled.
func (s *Store) TokenUser(ctx context.Context, secret string) (u User, err error) {
	refusal := fmt.Errorf("the token is unknown or revoked: %w", ErrForbidden)
	if !strings.HasPrefix(secret, tokenPrefix) {
		return User{}, refusal
	}
	var id string
	var used sql.NullTime
	row := s.reader.QueryRowContext(ctx, `
SELECT k.id, k.last_used_at, u.id, u.email, u.name, u.role, u.session_epoch, u.created_at, u.disabled_at
FROM tokens k JOIN users u ON u.id = k.user_id
WHERE k.hash = ? AND k.revoked_at IS NULL AND u.disabled_at IS NULL`, judge.HashText(secret))
	err = scanUser(func(into ...any) error { return row.Scan(append([]any{&id, &used}, into...)...) }, &u)
	if errors.Is(err, sql.ErrNoRows) {
		return User{}, refusal
	}
	if err != nil {
		return User{}, fmt.Errorf("find the token: %w", err)
	}
	// At most one write a minute: a busy program does not queue for the writer.
	if now := s.clock(); !used.Valid || now.Sub(used.Time) >= time.Minute {
		err = s.noteUse(ctx, id)
	}
	return u, err
}

// notingLimit is how long a call may wait for its token's last use to be noted.
const notingLimit = time.Second

// noteUse notes when a token was used last. While writers queue, or a full disk
// lets nothing be written, the call does not wait for it: it may only be to
// read, and the next call notes it.
func (s *Store) noteUse(ctx context.Context, tokenID string) error {
	soon, cancel := context.WithTimeout(ctx, notingLimit)
	defer cancel()
	err := s.write(soon, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE tokens SET last_used_at = ? WHERE id = ?`, t.now, tokenID)
		return err
	})
	if err != nil && ctx.Err() == nil && (soon.Err() != nil || s.Trouble(err) != nil) {
		return nil
	}
	return err
}
