package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a person's day ends by their own clock, also where the machine has no zones
	"unicode/utf8"
)

// Profile is what is known of a person besides their role: it says which items
// they are given, and what stands beside their signature.
type Profile struct {
	Title string // up to 100 characters, such as "Consultant cardiologist"
	// Domains that the person works in, in lower case; none: all.
	Domains []string
	// Languages that the person reads, as ISO 639 codes.
	Languages []string
	// Qualifications as the policy's assignment names them.
	Qualifications []string
	// Conflicts of interest: words, or key:value, held against a trace's tags,
	// metadata, cluster, run and sources.
	Conflicts []string
	// TimeZone of the IANA database, by which the person's day ends; empty: UTC.
	TimeZone string
}

// Member is a user with their profile.
type Member struct {
	User
	Profile Profile
	Holds   int // items claimed, also by claims that ran out
}

// Bounds of a profile.
const (
	maxProfileEntries = 100
	maxProfileEntry   = 200 // characters
)

// check folds a profile's entries and says what is wrong with them.
func (p Profile) check() (Profile, error) {
	p.Title, p.TimeZone = strings.TrimSpace(p.Title), strings.TrimSpace(p.TimeZone)
	if utf8.RuneCountInString(p.Title) > 100 {
		return p, invalid("title", "is longer than 100 characters")
	}
	if _, err := time.LoadLocation(p.TimeZone); err != nil || strings.EqualFold(p.TimeZone, "local") {
		return p, invalid("time_zone", "is %q: it is a name such as Europe/Vienna, or empty for UTC", p.TimeZone)
	}
	for _, l := range []struct {
		field string
		list  *[]string
		fold  func(string) string
	}{
		{"domains", &p.Domains, strings.ToLower}, {"languages", &p.Languages, strings.ToLower},
		{"qualifications", &p.Qualifications, func(s string) string { return s }}, {"conflicts", &p.Conflicts, func(s string) string { return s }},
	} {
		var kept []string
		for _, entry := range *l.list {
			entry = l.fold(strings.Join(strings.Fields(entry), " "))
			switch {
			case entry == "" || slices.Contains(kept, entry):
				continue
			case utf8.RuneCountInString(entry) > maxProfileEntry:
				return p, invalid(l.field, "have an entry of more than %d characters", maxProfileEntry)
			}
			kept = append(kept, entry)
		}
		if len(kept) > maxProfileEntries {
			return p, invalid(l.field, "are %d: at most %d can be kept", len(kept), maxProfileEntries)
		}
		*l.list = kept
	}
	for i, tag := range p.Languages {
		code, err := baseLanguage(tag)
		if err != nil {
			return p, invalid("languages", "have %q, which is no language code such as de or pt-BR", tag)
		}
		p.Languages[i] = code
	}
	p.Languages = distinct(p.Languages)
	for _, c := range p.Conflicts {
		if foldWords(c) == "" {
			return p, invalid("conflicts", "have %q, which has no word in it", c)
		}
	}
	return p, nil
}

// standing is what stands beside the person's signature: their title and their
// qualifications.
func (p Profile) standing() string {
	return strings.Join(slices.DeleteFunc(append([]string{p.Title}, p.Qualifications...), func(s string) bool { return s == "" }), ", ")
}

// location is the person's time zone.
func (p Profile) location() *time.Location {
	if at, err := time.LoadLocation(p.TimeZone); err == nil {
		return at
	}
	return time.UTC
}

// profileColumns are read with a user; a user without a profile has an empty one.
const profileColumns = `COALESCE(m.title, ''), COALESCE(m.domains, '[]'), COALESCE(m.languages, '[]'), COALESCE(m.qualifications, '[]'),
    COALESCE(m.conflicts, '[]'), COALESCE(m.time_zone, '')`

func (p *Profile) fields() []any {
	return []any{&p.Title, (*jsonTexts)(&p.Domains), (*jsonTexts)(&p.Languages), (*jsonTexts)(&p.Qualifications),
		(*jsonTexts)(&p.Conflicts), &p.TimeZone}
}

// profileOf reads a person's profile; who has none has an empty one.
func profileOf(ctx context.Context, q querier, userID string) (p Profile, err error) {
	err = q.QueryRowContext(ctx, `SELECT `+profileColumns+` FROM member_profiles m WHERE m.user_id = ?`, userID).Scan(p.fields()...)
	if errors.Is(err, sql.ErrNoRows) {
		return Profile{}, nil
	}
	return p, err
}

// Members lists every user by name, who left last. Roles: lead, auditor, admin.
func (s *Store) Members(ctx context.Context, a Actor) (_ []Member, err error) {
	defer wrap(&err, "list members")
	if err := s.authorise(ctx, a, readers, "user.listed", "users"); err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, scanMember, `
SELECT `+memberColumns+` FROM users u LEFT JOIN member_profiles m ON m.user_id = u.id
ORDER BY u.disabled_at IS NOT NULL, lower(u.name), u.email`)
}

// Member reads one user. Roles: lead, auditor, admin, or the user.
func (s *Store) Member(ctx context.Context, a Actor, userID string) (m Member, err error) {
	defer wrap(&err, "read member %s", userID)
	if a.UserID != userID || userID == "" {
		if err := s.authorise(ctx, a, readers, "user.listed", "user:"+userID); err != nil {
			return Member{}, err
		}
	}
	found, err := collect(ctx, s.reader, scanMember, `
SELECT `+memberColumns+` FROM users u LEFT JOIN member_profiles m ON m.user_id = u.id WHERE u.id = ?`, userID)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("user with id %s: %w", userID, ErrNotFound)
	}
	if err != nil {
		return Member{}, err
	}
	return found[0], nil
}

const memberColumns = `u.id, u.email, u.name, u.role, u.session_epoch, u.created_at, u.disabled_at, ` + profileColumns + `,
    (SELECT count(*) FROM reviews r WHERE r.holder_id = u.id AND r.state = 'claimed')`

func scanMember(r *sql.Rows, m *Member) error {
	return scanUser(func(user ...any) error {
		return r.Scan(append(append(user, m.Profile.fields()...), &m.Holds)...)
	}, &m.User)
}

// MemberChange is how a member is to be from now on.
type MemberChange struct {
	Name    string // 1 to 100 characters
	Role    Role
	Profile Profile
}

// ChangeMember sets a member's name, role and profile. Who stops deciding gives
// back what they hold, and what is assigned to them; so does who comes to have a
// conflict of interest with it. The last admin stays one (ErrConflict). Role: admin.
func (s *Store) ChangeMember(ctx context.Context, a Actor, userID string, c MemberChange) (err error) {
	defer wrap(&err, "change member %s", userID)
	if err := s.authorise(ctx, a, admins, "user.changed", "user:"+userID); err != nil {
		return err
	}
	c.Name = strings.TrimSpace(c.Name)
	if n := utf8.RuneCountInString(c.Name); n < 1 || n > 100 {
		return invalid("name", "has %d characters: it has 1 to 100", n)
	}
	if c.Role, err = ParseRole(string(c.Role)); err != nil {
		return err
	}
	if c.Profile, err = c.Profile.check(); err != nil {
		return err
	}
	return s.writeAlone(ctx, func(t *tx) error {
		u, err := userByID(ctx, t, userID)
		if err != nil {
			return err
		}
		if err := t.lockUser(ctx, u.ID); err != nil {
			return err
		}
		if u.Role == Admin && c.Role != Admin && u.DisabledAt == nil {
			if err := t.keepAnAdmin(ctx, u); err != nil {
				return err
			}
		}
		before, err := profileOf(ctx, t, u.ID)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE users SET name = ?, role = ? WHERE id = ?`, c.Name, string(c.Role), u.ID); err != nil {
			return err
		}
		if err := t.saveProfile(ctx, u.ID, c.Profile); err != nil {
			return err
		}
		t.auditMember(a, u, before, c)
		now := User{ID: u.ID, Name: c.Name, Role: c.Role}
		if !now.Actor().MayDecide() {
			if err := t.releaseClaims(ctx, a, u, "role changed", ""); err != nil {
				return err
			}
			if err := t.unassignAll(ctx, a, u.ID); err != nil {
				return err
			}
		}
		if slices.Equal(before.Conflicts, c.Profile.Conflicts) {
			return nil
		}
		return t.rematch(ctx, a, u, c.Profile.Conflicts)
	})
}

func (t *tx) saveProfile(ctx context.Context, userID string, p Profile) error {
	args := []any{userID, p.Title}
	for _, l := range []jsonTexts{p.Domains, p.Languages, p.Qualifications, p.Conflicts} {
		column, err := l.column()
		if err != nil {
			return err
		}
		args = append(args, column)
	}
	_, err := t.exec(ctx, `
INSERT INTO member_profiles (user_id, title, domains, languages, qualifications, conflicts, time_zone) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (user_id) DO UPDATE SET title = excluded.title, domains = excluded.domains, languages = excluded.languages,
    qualifications = excluded.qualifications, conflicts = excluded.conflicts, time_zone = excluded.time_zone`, append(args, p.TimeZone)...)
	return err
}

// auditMember records what of a member changed; nothing changed is no event.
func (t *tx) auditMember(a Actor, u User, before Profile, c MemberChange) {
	data := map[string]any{}
	was := func(field string, from, to any) {
		if fmt.Sprint(from) != fmt.Sprint(to) {
			data[field] = map[string]any{"from": from, "to": to}
		}
	}
	was("name", u.Name, c.Name)
	was("role", u.Role, c.Role)
	was("title", before.Title, c.Profile.Title)
	was("domains", list(before.Domains), list(c.Profile.Domains))
	was("languages", list(before.Languages), list(c.Profile.Languages))
	was("qualifications", list(before.Qualifications), list(c.Profile.Qualifications))
	was("conflicts", list(before.Conflicts), list(c.Profile.Conflicts))
	was("time_zone", before.TimeZone, c.Profile.TimeZone)
	if len(data) > 0 {
		t.audit(event{actor: a, action: "user.changed", subject: "user:" + u.ID, data: data})
	}
}

// unassignAll takes a person's name off every item: what is assigned to them, and
// what was sent to them to settle, which leads settle then.
func (t *tx) unassignAll(ctx context.Context, a Actor, userID string) error {
	type item struct{ review, project string }
	items, err := collect(ctx, t, func(r *sql.Rows, i *item) error { return r.Scan(&i.review, &i.project) }, `
SELECT r.id, p.name FROM projects p CROSS JOIN reviews r
WHERE r.project_id = p.id AND r.assigned_to = ? AND r.state IN ('open', 'claimed', 'adjudication') ORDER BY r.id`, userID)
	if err != nil {
		return err
	}
	for _, i := range items {
		if _, err := t.exec(ctx, `UPDATE reviews SET assigned_to = NULL WHERE id = ?`, i.review); err != nil {
			return err
		}
		t.audit(event{project: i.project, actor: a, action: "review.assigned", subject: "review:" + i.review,
			data: map[string]any{"from": userID, "to": "", "cause": "the person decides no more"}})
	}
	sent, err := collect(ctx, t, func(r *sql.Rows, i *item) error { return r.Scan(&i.review, &i.project) }, `
SELECT r.id, p.name FROM reviews r JOIN projects p ON p.id = r.project_id
WHERE r.addressee = ? AND r.addressee <> '' AND r.state IN ('open', 'claimed', 'adjudication') AND r.adjudicating ORDER BY r.id`, userID)
	if err != nil {
		return err
	}
	for _, i := range sent {
		if _, err := t.exec(ctx, `UPDATE reviews SET addressee = '' WHERE id = ?`, i.review); err != nil {
			return err
		}
		t.audit(event{project: i.project, actor: a, action: "review.reassigned", subject: "review:" + i.review,
			data: map[string]any{"from": userID, "to": "", "cause": "the person decides no more"}})
	}
	return nil
}

// keepAnAdmin refuses to lose the last admin who can sign in.
func (t *tx) keepAnAdmin(ctx context.Context, u User) error {
	// Two admins who disable each other must not both succeed.
	if err := t.lockRow(ctx, "u", `SELECT u.id FROM users u WHERE u.role = 'admin' ORDER BY u.id`); err != nil {
		return err
	}
	var others int
	if err := t.QueryRowContext(ctx, `SELECT count(*) FROM users WHERE role = 'admin' AND disabled_at IS NULL AND id <> ?`, u.ID).Scan(&others); err != nil {
		return err
	}
	if others == 0 {
		return fmt.Errorf("%s is the last admin: make another one first: %w", u.Email, ErrConflict)
	}
	return nil
}

// EnableUser lets a person sign in again. Tokens that were revoked stay so.
// Enabling twice changes nothing. Role: admin.
func (s *Store) EnableUser(ctx context.Context, a Actor, email string) (err error) {
	defer wrap(&err, "enable user %s", email)
	if err := s.authorise(ctx, a, admins, "user.enabled", "users"); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		u, err := userByEmail(ctx, t, email)
		if err != nil || u.DisabledAt == nil {
			return err
		}
		if _, err := t.exec(ctx, `
UPDATE users SET disabled_at = NULL, failed_sign_ins = 0, sign_in_paused_until = NULL WHERE id = ?`, u.ID); err != nil {
			return err
		}
		t.audit(event{actor: a, action: "user.enabled", subject: "user:" + u.ID})
		return nil
	})
}

// Colleague is a person as everybody may know of them.
type Colleague struct{ ID, Name string }

// Deciders lists who may decide items and can sign in, by name. Roles: all.
func (s *Store) Deciders(ctx context.Context, a Actor) (_ []Colleague, err error) {
	defer wrap(&err, "list who decides")
	if err := s.authorise(ctx, a, everyone, "queue.listed", "queue"); err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(r *sql.Rows, c *Colleague) error { return r.Scan(&c.ID, &c.Name) }, `
SELECT id, name FROM users WHERE disabled_at IS NULL AND role IN ('reviewer', 'lead', 'admin') ORDER BY lower(name), id`)
}
