package store_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/store"
)

func TestMembers(t *testing.T) {
	d := openDesk(t)
	root := d.person("root", store.Admin)
	want := store.Profile{Title: "Consultant", Domains: []string{"medical", "general"}, Languages: []string{"de", "pt"},
		Qualifications: []string{"Physician"}, Conflicts: []string{"run:acme"}, TimeZone: "Europe/Vienna"}
	change := store.MemberChange{Name: " Ann B ", Role: store.Lead, Profile: store.Profile{Title: " Consultant ", Domains: []string{"Medical", "general ", "", "medical"},
		Languages: []string{"de-AT", "DE", "pt-br"}, Qualifications: []string{"Physician"}, Conflicts: []string{"run:acme"}, TimeZone: "Europe/Vienna"}}
	if err := d.ChangeMember(d.ctx, root, d.ann.UserID, change); err != nil {
		t.Fatal(err)
	}
	m, err := d.Member(d.ctx, d.auditor, d.ann.UserID)
	if diff := cmp.Diff(want, m.Profile); err != nil || diff != "" || m.Name != "Ann B" || m.Role != store.Lead {
		t.Errorf("ann is %q, %s (-want +got):\n%s%v", m.Name, m.Role, diff, err)
	}
	change.Name, change.Profile = "Ann B", want
	if err := d.ChangeMember(d.ctx, root, d.ann.UserID, change); err != nil || d.events("user.changed") != 1 {
		t.Errorf("changing nothing: %d events, want the one before, %v", d.events("user.changed"), err)
	}
	all, err := d.Members(d.ctx, d.auditor)
	if err != nil || len(all) != 6 || all[0].Name != "Ann B" {
		t.Errorf("%d members, %v", len(all), err)
	}
	_, err = d.Members(d.ctx, d.ben)
	wantErr(t, "a reviewer lists members", err, store.ErrForbidden)
	_, err = d.Member(d.ctx, d.ben, d.ann.UserID)
	wantErr(t, "a reviewer reads another", err, store.ErrForbidden)
	if own, err := d.Member(d.ctx, d.ben, d.ben.UserID); err != nil || own.Email != "ben@example.org" {
		t.Errorf("ben reads himself: %+v, %v", own, err)
	}
	for _, a := range []store.Actor{d.ann, d.ben, d.lea, d.auditor} {
		wantErr(t, "a change by "+string(a.Role), d.ChangeMember(d.ctx, a, d.ann.UserID, change), store.ErrForbidden)
		wantErr(t, "enabling by "+string(a.Role), d.EnableUser(d.ctx, a, "ann@example.org"), store.ErrForbidden)
	}
	for field, spoil := range map[string]func(*store.MemberChange){
		"name": func(c *store.MemberChange) { c.Name = " " }, "role": func(c *store.MemberChange) { c.Role = "boss" },
		"title":          func(c *store.MemberChange) { c.Profile.Title = strings.Repeat("x", 101) },
		"languages":      func(c *store.MemberChange) { c.Profile.Languages = []string{"klingonese"} },
		"conflicts":      func(c *store.MemberChange) { c.Profile.Conflicts = []string{"--"} },
		"time_zone":      func(c *store.MemberChange) { c.Profile.TimeZone = "Mars/Base" },
		"qualifications": func(c *store.MemberChange) { c.Profile.Qualifications = many(101) },
		"domains":        func(c *store.MemberChange) { c.Profile.Domains = []string{strings.Repeat("x", 201)} },
	} {
		bad := change
		spoil(&bad)
		wantField(t, field, d.ChangeMember(d.ctx, root, d.ann.UserID, bad), field)
	}
}

// The last admin who can sign in stays one, however they would go.
func TestLastAdminStays(t *testing.T) {
	d := openDesk(t)
	root := d.person("root", store.Admin)
	demote := func(a store.Actor, name string) error {
		return d.ChangeMember(d.ctx, root, a.UserID, store.MemberChange{Name: name, Role: store.Lead})
	}
	wantErr(t, "demoting the only admin", demote(root, "root"), store.ErrConflict)
	second := d.person("second", store.Admin)
	if err := d.DisableUser(d.ctx, root, "second@example.org"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "demoting the only admin who can sign in", demote(root, "root"), store.ErrConflict)
	if err := demote(second, "second"); err != nil {
		t.Errorf("demoting who is disabled: %v", err)
	}
}

// Who stops deciding gives everything back; who is enabled again can sign in, and
// old tokens stay revoked.
func TestMemberStopsDeciding(t *testing.T) {
	d := openDesk(t)
	root := d.person("root", store.Admin)
	reviews := d.put(judged{id: "a"}, judged{id: "b", run: "acme"}, judged{id: "c"})
	give := func() {
		t.Helper()
		d.claim(d.ann, reviews["a"])
		d.claim(d.ann, reviews["b"])
		d.change([]string{reviews["c"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ann.UserID})
	}
	left := func() int {
		return d.number(`SELECT count(*) FROM reviews WHERE holder_id = ? OR assigned_to = ?`, d.ann.UserID, d.ann.UserID)
	}
	give()
	d.profile(d.ann, store.Profile{Conflicts: []string{"acme"}})
	if n := left(); n != 2 {
		t.Errorf("ann keeps %d items after naming a conflict with one, want 2", n)
	}
	d.profile(d.ann, store.Profile{})
	give()
	if err := d.ChangeMember(d.ctx, root, d.ann.UserID, store.MemberChange{Name: "ann", Role: store.Auditor}); err != nil || left() != 0 {
		t.Errorf("an auditor keeps %d items, %v", left(), err)
	}
	d.profile(d.ann, store.Profile{})
	give()
	_, secret, err := d.CreateToken(d.ctx, d.ann, "ann@example.org", "ci")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.DisableUser(d.ctx, root, "ann@example.org"); err != nil || left() != 0 {
		t.Errorf("a disabled person keeps %d items, %v", left(), err)
	}
	for range 2 { // the second time changes nothing
		if err := d.EnableUser(d.ctx, root, "ANN@example.org"); err != nil {
			t.Fatal(err)
		}
	}
	if d.events("user.enabled") != 1 {
		t.Errorf("%d events of enabling, want 1", d.events("user.enabled"))
	}
	_, err = d.TokenUser(d.ctx, secret)
	wantErr(t, "a token of before", err, store.ErrForbidden)
	d.claim(d.ann, reviews["a"])
	wantErr(t, "enabling nobody", d.EnableUser(d.ctx, root, "x@example.org"), store.ErrNotFound)
	d.checkKept("all that")
}

// What a profile says stands, as it was then, beside the signature.
func TestSignatureHasTheProfile(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	id := d.one()
	d.profile(d.ann, store.Profile{Title: "Consultant", Qualifications: []string{"Physician", "Senior"}})
	d.claim(d.ann, id)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Confirm})
	d.profile(d.ann, store.Profile{})
	r, err := d.GetReview(d.ctx, d.auditor, id)
	if err != nil || len(r.Decisions) != 1 || r.Decisions[0].Signature == nil || r.Decisions[0].Signature.Qualification != "Consultant, Physician, Senior" {
		t.Errorf("decisions %+v, %v", r.Decisions, err)
	}
}
