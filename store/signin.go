package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/alexedwards/argon2id"
)

// An account is paused after this many wrong passwords, for this long.
const (
	signInTries = 5
	signInPause = 15 * time.Minute
)

// SignInError is a refused sign-in. It is an ErrForbidden, and says the same
// for an email that has no account.
type SignInError struct {
	TriesLeft   int       // before the account is paused
	PausedUntil time.Time // zero when it is not paused
}

func (e *SignInError) Error() string {
	if !e.PausedUntil.IsZero() {
		return "sign-in is paused until " + e.PausedUntil.UTC().Format("15:04 UTC") + " after too many wrong passwords"
	}
	return fmt.Sprintf("wrong email or password, %d tries left", e.TriesLeft)
}

// Is makes errors.Is(err, ErrForbidden) true.
func (e *SignInError) Is(target error) bool { return target == ErrForbidden }

// decoy is a hash that no password fits: checking it takes as long as checking
// a real one.
var decoy = sync.OnceValues(func() (string, error) { return argon2id.CreateHash(rand.Text(), hashing) })

// Authenticate checks an email and a password. It takes the same time and
// gives the same answers whether or not the email has an account.
func (s *Store) Authenticate(ctx context.Context, email, password string) (User, error) {
	if len(password) > 4000 { // 1,000 characters of 4 bytes: no account has more
		password = ""
	}
	u, hash, err := s.passwordOf(ctx, email)
	if err != nil {
		return User{}, fmt.Errorf("sign in: %w", err)
	}
	against := hash
	if against == "" {
		if against, err = decoy(); err != nil {
			return User{}, fmt.Errorf("sign in: %w", err)
		}
	}
	right, err := argon2id.ComparePasswordAndHash(password, against)
	if err != nil {
		return User{}, fmt.Errorf("sign in: compare with the stored hash of user %s: %w", u.ID, err)
	}
	if hash == "" {
		return User{}, s.strangerFailed(ctx, email)
	}
	if err := s.settleSignIn(ctx, u, hash, right); err != nil {
		return User{}, err
	}
	return u, nil
}

// passwordOf reads a user and the password's hash; the hash is empty when
// there is no such user, or none who can sign in by password.
func (s *Store) passwordOf(ctx context.Context, email string) (u User, hash string, err error) {
	u, err = userByEmail(ctx, s.reader, email)
	if errors.Is(err, ErrNotFound) || (err == nil && u.DisabledAt != nil) {
		return User{}, "", nil
	}
	if err != nil {
		return User{}, "", err
	}
	err = s.reader.QueryRowContext(ctx, `SELECT password_hash FROM users WHERE id = ?`, u.ID).Scan(&hash)
	return u, hash, err
}

// settleSignIn counts and records the outcome. It looks at the account again
// under the write lock: tries that run at the same time can't get round the
// pause, and a password that was changed meanwhile lets nobody in.
func (s *Store) settleSignIn(ctx context.Context, u User, hash string, right bool) error {
	var refusal *SignInError
	err := s.write(ctx, func(t *tx) error {
		refusal = nil
		if err := t.lockUser(ctx, u.ID); err != nil {
			return err
		}
		var failed int
		var paused, disabled sql.NullTime
		var current string
		if err := t.QueryRowContext(ctx, `
SELECT failed_sign_ins, sign_in_paused_until, disabled_at, password_hash FROM users WHERE id = ?`, u.ID).
			Scan(&failed, &paused, &disabled, &current); err != nil {
			return err
		}
		if paused.Valid && paused.Time.After(t.now) {
			refusal = &SignInError{PausedUntil: paused.Time.UTC()}
			t.auditSignIn(u, refusal)
			return nil
		}
		if right && !disabled.Valid && current == hash {
			t.audit(event{actor: u.Actor(), action: "user.signed_in", subject: "user:" + u.ID})
			_, err := t.exec(ctx, `UPDATE users SET failed_sign_ins = 0, sign_in_paused_until = NULL WHERE id = ?`, u.ID)
			return err
		}
		failed++
		refusal = refuseSignIn(failed, t.now)
		if !refusal.PausedUntil.IsZero() {
			failed, paused = 0, nullTime(&refusal.PausedUntil)
		}
		t.auditSignIn(u, refusal)
		_, err := t.exec(ctx, `UPDATE users SET failed_sign_ins = ?, sign_in_paused_until = ? WHERE id = ?`, failed, paused, u.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	if refusal != nil {
		return refusal
	}
	return nil
}

// refuseSignIn is the answer to the failed'th wrong try in a row.
func refuseSignIn(failed int, now time.Time) *SignInError {
	if failed >= signInTries {
		return &SignInError{PausedUntil: now.Add(signInPause)}
	}
	return &SignInError{TriesLeft: signInTries - failed}
}

func (t *tx) auditSignIn(u User, refusal *SignInError) {
	t.audit(event{actor: u.Actor(), action: "user.sign_in_failed", subject: "user:" + u.ID, denied: true,
		data: map[string]any{"paused": !refusal.PausedUntil.IsZero()}})
}

// strangers counts wrong tries for emails without an account, in memory only,
// so that they are answered as an account would be.
type strangers struct {
	mu    sync.Mutex
	tries map[string]*strangerTries
}

type strangerTries struct {
	failed int
	paused time.Time
}

// maxStrangers bounds the memory; beyond it the counts start again.
const maxStrangers = 10_000

func (m *strangers) fail(email string, now time.Time) *SignInError {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tries == nil || len(m.tries) >= maxStrangers {
		m.tries = map[string]*strangerTries{}
	}
	try, ok := m.tries[email]
	if !ok {
		try = &strangerTries{}
		m.tries[email] = try
	}
	if try.paused.After(now) {
		return &SignInError{PausedUntil: try.paused}
	}
	try.failed++
	refusal := refuseSignIn(try.failed, now)
	if !refusal.PausedUntil.IsZero() {
		try.failed, try.paused = 0, refusal.PausedUntil
	}
	return refusal
}

// strangerFailed records a try for an email that has no account. The email is
// not kept: people type passwords into that field.
func (s *Store) strangerFailed(ctx context.Context, email string) error {
	refusal := s.strangers.fail(foldEmail(email), s.clock())
	err := s.write(ctx, func(t *tx) error {
		t.audit(event{actor: Actor{Name: "unknown"}, action: "user.sign_in_failed", subject: "users", denied: true,
			data: map[string]any{"paused": !refusal.PausedUntil.IsZero()}})
		return nil
	})
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	return refusal
}
