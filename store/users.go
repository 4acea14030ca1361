package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
)

// User is a person with a role.
type User struct {
	ID    string
	Email string // lower case
	Name  string
	Role  Role
	// SessionEpoch is part of every session; raising it ends them all.
	SessionEpoch int
	CreatedAt    time.Time
	DisabledAt   *time.Time
}

// Actor is the user as who acts.
func (u User) Actor() Actor { return Actor{UserID: u.ID, Name: u.Name, Role: u.Role} }

// NewUser is what a user is made of.
type NewUser struct {
	Email string
	Name  string // empty: the part of the email before the @
	Role  Role
	// Password has 12 to 1,000 characters; empty: cannot sign in by password.
	Password string
}

// hashing is argon2id at the OWASP minimum (19 MiB, 2 passes, 1 thread): a
// sign-in costs some 30 ms, and a burst of them does not exhaust a small
// machine.
var hashing = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

const userColumns = `id, email, name, role, session_epoch, created_at, disabled_at`

func scanUser(scan func(...any) error, u *User) error {
	var disabled sql.NullTime
	err := scan(&u.ID, &u.Email, &u.Name, &u.Role, &u.SessionEpoch, &u.CreatedAt, &disabled)
	u.CreatedAt, u.DisabledAt = u.CreatedAt.UTC(), optional(disabled)
	return err
}

// Users lists every user by email. Roles: lead, auditor, admin.
func (s *Store) Users(ctx context.Context, a Actor) (_ []User, err error) {
	defer wrap(&err, "list users")
	if err := s.authorise(ctx, a, readers, "user.listed", "users"); err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(r *sql.Rows, u *User) error { return scanUser(r.Scan, u) },
		`SELECT `+userColumns+` FROM users ORDER BY email`)
}

// UserByID finds a user.
func (s *Store) UserByID(ctx context.Context, id string) (User, error) {
	return userByID(ctx, s.reader, id)
}

func userByID(ctx context.Context, q querier, id string) (u User, err error) {
	row := q.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE id = ?`, id)
	return u, notFound(scanUser(row.Scan, &u), "user with id %s", id)
}

// UserByEmail finds a user; the case of the email does not matter.
func (s *Store) UserByEmail(ctx context.Context, email string) (User, error) {
	return userByEmail(ctx, s.reader, email)
}

func userByEmail(ctx context.Context, q querier, email string) (u User, err error) {
	row := q.QueryRowContext(ctx, `SELECT `+userColumns+` FROM users WHERE email = ?`, foldEmail(email))
	return u, notFound(scanUser(row.Scan, &u), "user %s", email)
}

func foldEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

func checkEmail(email string) error {
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > 254 {
		return invalid("email", "is not an email address such as name@example.org")
	}
	return nil
}

func checkPassword(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case n < 12:
		return invalid("password", "is shorter than 12 characters")
	case n > 1000:
		return invalid("password", "is longer than 1,000 characters")
	case !utf8.ValidString(password):
		return invalid("password", "is not valid UTF-8")
	}
	return nil
}

// CreateUser makes a user. ErrConflict when the email is taken. Role: admin.
func (s *Store) CreateUser(ctx context.Context, a Actor, n NewUser) (u User, err error) {
	defer wrap(&err, "create user %s", n.Email)
	n.Email = foldEmail(n.Email)
	if err := s.authorise(ctx, a, admins, "user.created", "users"); err != nil {
		return User{}, err
	}
	if err := checkEmail(n.Email); err != nil {
		return User{}, err
	}
	if n.Role, err = ParseRole(string(n.Role)); err != nil {
		return User{}, err
	}
	n.Name = strings.TrimSpace(n.Name)
	if n.Name == "" {
		n.Name, _, _ = strings.Cut(n.Email, "@")
	}
	if utf8.RuneCountInString(n.Name) > 100 {
		return User{}, invalid("name", "is longer than 100 characters")
	}
	hash := ""
	if n.Password != "" {
		if err := checkPassword(n.Password); err != nil {
			return User{}, err
		}
		if hash, err = argon2id.CreateHash(n.Password, hashing); err != nil {
			return User{}, err
		}
	}
	err = s.write(ctx, func(t *tx) error {
		u = User{ID: t.newID(), Email: n.Email, Name: n.Name, Role: n.Role, CreatedAt: t.now}
		added, err := t.changed(ctx, `
INSERT INTO users (id, email, name, role, password_hash, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (email) DO NOTHING`, u.ID, u.Email, u.Name, string(u.Role), hash, u.CreatedAt)
		if err != nil {
			return err
		}
		if added == 0 {
			return fmt.Errorf("the email is taken: %w", ErrConflict)
		}
		t.audit(event{actor: a, action: "user.created", subject: "user:" + u.ID,
			data: map[string]any{"email": u.Email, "role": u.Role}})
		return nil
	})
	return u, err
}

// SetPassword gives a user a new password and ends their sessions. Role: admin,
// or the user.
func (s *Store) SetPassword(ctx context.Context, a Actor, email, password string) (err error) {
	defer wrap(&err, "set the password of %s", email)
	u, err := s.ownOrAdmin(ctx, a, email, "user.password_set")
	if err != nil {
		return err
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	hash, err := argon2id.CreateHash(password, hashing)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		t.audit(event{actor: a, action: "user.password_set", subject: "user:" + u.ID})
		_, err := t.exec(ctx, `
UPDATE users SET password_hash = ?, session_epoch = session_epoch + 1, failed_sign_ins = 0, sign_in_paused_until = NULL
WHERE id = ?`, hash, u.ID)
		return err
	})
}

// ownOrAdmin finds a user on whom the actor may act: an admin on anybody,
// everybody on themselves.
func (s *Store) ownOrAdmin(ctx context.Context, a Actor, email, action string) (User, error) {
	u, err := userByEmail(ctx, s.reader, email)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return User{}, err
	}
	if err == nil && a.UserID == u.ID {
		return u, nil
	}
	// Refused before "not found", so that only admins learn who has an account.
	if refusal := s.authorise(ctx, a, admins, action, "users"); refusal != nil {
		return User{}, refusal
	}
	return u, err
}

// DisableUser ends a user's sessions, revokes their tokens, gives their claims
// back to the queue and takes their name off what is assigned to them. What they decided stays. The last admin can't be
// disabled (ErrConflict). Disabling twice changes nothing. Role: admin.
func (s *Store) DisableUser(ctx context.Context, a Actor, email string) (err error) {
	defer wrap(&err, "disable user %s", email)
	if err := s.authorise(ctx, a, admins, "user.disabled", "users"); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		u, err := userByEmail(ctx, t, email)
		if err != nil || u.DisabledAt != nil {
			return err
		}
		if u.Role == Admin {
			if err := t.keepAnAdmin(ctx, u); err != nil {
				return err
			}
		}
		if _, err := t.exec(ctx, `UPDATE users SET disabled_at = ?, session_epoch = session_epoch + 1 WHERE id = ?`, t.now, u.ID); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE tokens SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL`, t.now, u.ID); err != nil {
			return err
		}
		if err := t.releaseClaims(ctx, a, u, "user disabled", ""); err != nil {
			return err
		}
		if err := t.unassignAll(ctx, a, u.ID); err != nil {
			return err
		}
		t.audit(event{actor: a, action: "user.disabled", subject: "user:" + u.ID})
		return nil
	})
}

// releaseClaims gives back the items that a user holds and that a condition on
// reviews r, empty or begun with AND, keeps. The cause goes into the audit log.
func (t *tx) releaseClaims(ctx context.Context, a Actor, u User, cause, condition string) error {
	type held struct {
		review, project, projectID string
		adjudicating               bool
	}
	claims, err := collect(ctx, t, func(r *sql.Rows, h *held) error {
		return r.Scan(&h.review, &h.project, &h.projectID, &h.adjudicating)
	}, `
SELECT r.id, p.name, p.id, r.adjudicating FROM reviews r JOIN projects p ON p.id = r.project_id
WHERE r.holder_id = ? AND r.state = 'claimed'`+condition+` ORDER BY r.id`, u.ID)
	if err != nil {
		return err
	}
	for _, h := range claims {
		state := "open"
		if h.adjudicating {
			state = "adjudication"
			t.tally(h.projectID, tallyQueueState, tallyAdjudication, 1)
		}
		if _, err := t.exec(ctx, `
UPDATE reviews SET state = ?, holder_id = NULL, claimed_at = NULL, lease_expires_at = NULL WHERE id = ?`, state, h.review); err != nil {
			return err
		}
		t.audit(event{project: h.project, actor: a, action: "review.released", subject: "review:" + h.review,
			data: map[string]any{"holder": u.ID, "cause": cause}})
	}
	return nil
}

// EndSessions signs the actor out wherever they are signed in.
func (s *Store) EndSessions(ctx context.Context, a Actor) (err error) {
	defer wrap(&err, "end the sessions of %s", a.Name)
	return s.write(ctx, func(t *tx) error {
		n, err := t.changed(ctx, `UPDATE users SET session_epoch = session_epoch + 1 WHERE id = ?`, a.UserID)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("user %q: %w", a.UserID, ErrNotFound)
		}
		t.audit(event{actor: a, action: "user.signed_out", subject: "user:" + a.UserID})
		return nil
	})
}
