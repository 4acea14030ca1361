package store_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

const password = "correct horse battery"

func makeUser(t *testing.T, s *store.Store, email string, role store.Role) store.User {
	t.Helper()
	u, err := s.CreateUser(context.Background(), storetest.Operator, store.NewUser{Email: email, Role: role, Password: password})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestCreateUserChecksItsInput(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	for _, test := range []struct {
		name  string
		in    store.NewUser
		field string
	}{
		{"email", store.NewUser{Email: "nobody", Role: store.Lead}, "email"},
		{"email with name", store.NewUser{Email: "A <a@example.org>", Role: store.Lead}, "email"},
		{"role", store.NewUser{Email: "a@example.org", Role: "boss"}, "role"},
		{"short password", store.NewUser{Email: "a@example.org", Role: store.Lead, Password: "11 charac.."}, "password"},
		{"long password", store.NewUser{Email: "a@example.org", Role: store.Lead, Password: strings.Repeat("é", 1001)}, "password"},
		{"long name", store.NewUser{Email: "a@example.org", Role: store.Lead, Name: strings.Repeat("n", 101)}, "name"},
	} {
		_, err := s.CreateUser(ctx, storetest.Operator, test.in)
		var field *store.FieldError
		if !errors.As(err, &field) || field.Field != test.field {
			t.Errorf("%s: error %v, want one of field %s", test.name, err, test.field)
		}
	}
	u := makeUser(t, s, " Ana@Example.ORG ", store.Reviewer)
	if u.Email != "ana@example.org" || u.Name != "ana" {
		t.Errorf("got email %q, name %q", u.Email, u.Name)
	}
	if _, err := s.CreateUser(ctx, storetest.Operator, store.NewUser{Email: "ANA@example.org", Role: store.Lead}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("taken email: error %v, want ErrConflict", err)
	}
	if _, err := s.CreateUser(ctx, u.Actor(), store.NewUser{Email: "b@example.org", Role: store.Admin}); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("reviewer: error %v, want ErrForbidden", err)
	}
}

func TestSignInPausesAfterFiveWrongPasswords(t *testing.T) {
	ctx := context.Background()
	clock := storetest.NewClock()
	s := storetest.Open(t, clock)
	makeUser(t, s, "ana@example.org", store.Reviewer)
	if u, err := s.Authenticate(ctx, "Ana@example.org", password); err != nil || u.Email != "ana@example.org" {
		t.Fatalf("right password: %v, %v", u, err)
	}
	// An email without an account is answered in the same way, step by step.
	for _, email := range []string{"ana@example.org", "stranger@example.org"} {
		for try := 1; try <= 5; try++ {
			u, err := s.Authenticate(ctx, email, "wrong horse battery")
			var refusal *store.SignInError
			if !errors.As(err, &refusal) || !errors.Is(err, store.ErrForbidden) || u.ID != "" {
				t.Fatalf("%s try %d: user %v, error %v", email, try, u, err)
			}
			if paused := !refusal.PausedUntil.IsZero(); paused != (try == 5) || (!paused && refusal.TriesLeft != 5-try) {
				t.Errorf("%s try %d: %+v", email, try, refusal)
			}
		}
		_, err := s.Authenticate(ctx, email, password)
		var refusal *store.SignInError
		if !errors.As(err, &refusal) || refusal.PausedUntil.IsZero() {
			t.Errorf("%s, right password while paused: error %v, want a pause", email, err)
		}
	}
	clock.Advance(15*time.Minute + time.Second)
	if _, err := s.Authenticate(ctx, "ana@example.org", password); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	var denied, signedIn int
	events, _, err := s.ListAudit(ctx, storetest.Operator, store.AuditFilter{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		switch e.Action {
		case "user.sign_in_failed":
			denied++
		case "user.signed_in":
			signedIn++
		}
		if strings.Contains(string(e.Data), "stranger") || strings.Contains(string(e.Data), "horse") {
			t.Errorf("event %d keeps what was typed: %s", e.Seq, e.Data)
		}
	}
	if denied != 12 || signedIn != 2 {
		t.Errorf("%d failed and %d signed in on record, want 12 and 2", denied, signedIn)
	}
}

// Many tries at once get no more guesses than one after another.
func TestParallelGuessesDoNotGetRoundThePause(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	makeUser(t, s, "ana@example.org", store.Reviewer)
	answers := make(chan error)
	for range 12 {
		go func() {
			_, err := s.Authenticate(ctx, "ana@example.org", "wrong horse battery")
			answers <- err
		}()
	}
	left := map[int]int{}
	for range 12 {
		var refusal *store.SignInError
		if err := <-answers; !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		if refusal.PausedUntil.IsZero() {
			left[refusal.TriesLeft]++
		}
	}
	if len(left) != 4 || left[1] != 1 || left[4] != 1 {
		t.Errorf("answers with tries left: %v, want 4, 3, 2, 1 once each", left)
	}
}

func TestPasswordsAreHashed(t *testing.T) {
	address := storetest.Address(t)
	s := storetest.OpenAt(t, address, nil)
	makeUser(t, s, "ana@example.org", store.Reviewer)
	_, secret, err := s.CreateToken(context.Background(), storetest.Operator, "ana@example.org", "ci")
	if err != nil {
		t.Fatal(err)
	}
	db := storetest.Raw(t, address)
	var hash, tokenHash string
	if err := db.QueryRow(`SELECT password_hash FROM users`).Scan(&hash); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(`SELECT hash FROM tokens`).Scan(&tokenHash); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("password is stored as %q", hash)
	}
	if strings.Contains(tokenHash, secret[3:]) || len(tokenHash) != 64 {
		t.Errorf("token is stored as %q", tokenHash)
	}
}

func TestTokens(t *testing.T) {
	ctx := context.Background()
	clock := storetest.NewClock()
	s := storetest.Open(t, clock)
	ana, bo := makeUser(t, s, "ana@example.org", store.Lead), makeUser(t, s, "bo@example.org", store.Reviewer)
	k, secret, err := s.CreateToken(ctx, ana.Actor(), "ana@example.org", "ci")
	if err != nil {
		t.Fatal(err)
	}
	if len(secret) != 46 || !strings.HasPrefix(secret, "cs_") {
		t.Errorf("secret %q, want cs_ and 43 characters", secret)
	}
	if _, _, err := s.CreateToken(ctx, bo.Actor(), "ana@example.org", "mine?"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a token for somebody else: error %v, want ErrForbidden", err)
	}
	if u, err := s.TokenUser(ctx, secret); err != nil || u.ID != ana.ID {
		t.Errorf("TokenUser = %v, %v", u, err)
	}
	for _, wrong := range []string{"", "cs_", secret[:45], secret[3:], secret + "x"} {
		if _, err := s.TokenUser(ctx, wrong); !errors.Is(err, store.ErrForbidden) {
			t.Errorf("secret %q: error %v, want ErrForbidden", wrong, err)
		}
	}
	used := func() time.Time {
		list, err := s.Tokens(ctx, ana.Actor())
		if err != nil || len(list) != 1 || list[0].LastUsedAt == nil {
			t.Fatalf("tokens %+v, error %v", list, err)
		}
		return *list[0].LastUsedAt
	}
	first := used()
	clock.Advance(30 * time.Second)
	s.TokenUser(ctx, secret)
	if got := used(); !got.Equal(first) {
		t.Errorf("last use moved within a minute: %v to %v", first, got)
	}
	clock.Advance(time.Minute)
	s.TokenUser(ctx, secret)
	if got := used(); !got.After(first) {
		t.Errorf("last use stays at %v after a minute", got)
	}
	if list, err := s.Tokens(ctx, bo.Actor()); err != nil || len(list) != 0 {
		t.Errorf("bo sees %v, %v, want none", list, err)
	}
	if err := s.RevokeToken(ctx, bo.Actor(), k.ID); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("revoked by another: error %v, want ErrForbidden", err)
	}
	if err := s.RevokeToken(ctx, ana.Actor(), k.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.TokenUser(ctx, secret); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("revoked token: error %v, want ErrForbidden", err)
	}
}

func TestDisableUser(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	admin := makeUser(t, s, "root@example.org", store.Admin)
	ana := makeUser(t, s, "ana@example.org", store.Reviewer)
	_, secret, err := s.CreateToken(ctx, ana.Actor(), ana.Email, "ci")
	if err != nil {
		t.Fatal(err)
	}
	storetest.JudgeOne(t, s, 0, flagged)
	review, err := s.ClaimNext(ctx, ana.Actor(), "default", store.ClaimFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DisableUser(ctx, ana.Actor(), ana.Email); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
	if err := s.DisableUser(ctx, admin.Actor(), admin.Email); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the last admin: error %v, want ErrConflict", err)
	}
	if err := s.DisableUser(ctx, admin.Actor(), ana.Email); err != nil {
		t.Fatal(err)
	}
	after, err := s.UserByEmail(ctx, ana.Email)
	if err != nil || after.DisabledAt == nil || after.SessionEpoch != ana.SessionEpoch+1 {
		t.Errorf("user after: %+v, %v", after, err)
	}
	if _, err := s.TokenUser(ctx, secret); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("token: error %v, want ErrForbidden", err)
	}
	if _, err := s.Authenticate(ctx, ana.Email, password); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("sign-in: error %v, want ErrForbidden", err)
	}
	free, err := s.GetReview(ctx, admin.Actor(), review.ReviewID)
	if err != nil || free.State != "open" || free.HolderID != "" {
		t.Errorf("her claim: state %s held by %q, error %v", free.State, free.HolderID, err)
	}
}

func TestSetPasswordEndsSessions(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	ana, bo := makeUser(t, s, "ana@example.org", store.Lead), makeUser(t, s, "bo@example.org", store.Reviewer)
	if err := s.SetPassword(ctx, bo.Actor(), ana.Email, "another password"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by another: error %v, want ErrForbidden", err)
	}
	if err := s.SetPassword(ctx, bo.Actor(), "nobody@example.org", "another password"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("who has an account is told to a reviewer: %v", err)
	}
	if err := s.SetPassword(ctx, ana.Actor(), ana.Email, "another password"); err != nil {
		t.Fatal(err)
	}
	if u, err := s.Authenticate(ctx, ana.Email, "another password"); err != nil || u.SessionEpoch != ana.SessionEpoch+1 {
		t.Errorf("with the new one: %+v, %v", u, err)
	}
	if _, err := s.Authenticate(ctx, ana.Email, password); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("with the old one: error %v, want ErrForbidden", err)
	}
}
