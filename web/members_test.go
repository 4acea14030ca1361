package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

// TestMembersPages adds, changes, disables and enables a member by the forms, as
// the roles may, and finds each refusal beside its field with what was typed.
func TestMembersPages(t *testing.T) {
	s := newSite(t)
	root, token := s.user("root@example.org", store.Admin)
	s.user("lea@example.org", store.Lead)
	s.user("ada@example.org", store.Reviewer)
	admin, lead, reviewer := s.signIn("root@example.org"), s.signIn("lea@example.org"), s.signIn("ada@example.org")

	r := admin.post("/members", url.Values{"email": {"Ben@Example.org"}, "name": {"Ben"}, "role": {"reviewer"}, "password": {"a long password"}})
	path := r.Request.URL.Path
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(path, "/members/") {
		t.Fatalf("adding: %s at %s", r.Status, path)
	}
	for name, c := range map[string]struct {
		form   url.Values
		status int
		at     string
	}{
		"taken":    {url.Values{"email": {"ben@example.org"}, "role": {"lead"}}, http.StatusConflict, "#email-fault"},
		"no email": {url.Values{"email": {"ben"}, "role": {"lead"}}, http.StatusUnprocessableEntity, "#email-fault"},
		"short":    {url.Values{"email": {"new@example.org"}, "role": {"lead"}, "password": {"short"}}, http.StatusUnprocessableEntity, "#password-fault"},
	} {
		r := admin.post("/members", c.form)
		if r.StatusCode != c.status || len(find(t, r.body, c.at)) != 1 || attr(find(t, r.body, "#email")[0], "value") != c.form.Get("email") {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	fields := url.Values{"name": {"Ben B"}, "role": {"lead"}, "title": {"Consultant"}, "domains": {"Medical, legal"}, "languages": {"en,de-AT"},
		"qualifications": {"Physician, Senior"}, "conflicts": {"customer:acme\r\nrun: nightly, second\r\n"}, "time_zone": {"Europe/Vienna"}}
	admin.post(path, fields)
	page := lead.get(path)
	for id, want := range map[string]string{"name": "Ben B", "domains": "medical, legal", "languages": "en, de", "qualifications": "Physician, Senior", "time_zone": "Europe/Vienna"} {
		if got := attr(find(t, page.body, "#"+id)[0], "value"); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
	if got := textOf(find(t, page.body, "#conflicts")[0]); got != "customer:acme run: nightly, second" {
		t.Errorf("conflicts are %q", got)
	}
	if len(find(t, page.body, "fieldset[disabled]")) != 1 || len(find(t, page.body, "main button[type=submit]")) != 0 {
		t.Error("a lead is offered changes")
	}
	fields.Set("time_zone", "Mars/Base")
	fields.Set("title", "Surgeon")
	if r := admin.post(path, fields); r.StatusCode != http.StatusUnprocessableEntity || len(find(t, r.body, "#time_zone-fault")) != 1 || attr(find(t, r.body, "#title")[0], "value") != "Surgeon" {
		t.Errorf("a wrong time zone: %s", r.Status)
	}
	signIn := func(word string) (*visitor, bool) {
		v := s.visitor()
		v.get("/login")
		r := v.post("/login", url.Values{"email": {"ben@example.org"}, "password": {word}})
		return v, r.Request.URL.Path != "/login"
	}
	ben, in := signIn("a long password")
	if !in {
		t.Error("ben can't sign in with the first password")
	}
	if r := admin.post(path+"/password", url.Values{"password": {"short"}}); r.StatusCode != http.StatusUnprocessableEntity || len(find(t, r.body, "#password-fault")) != 1 {
		t.Errorf("a short password: %s", r.Status)
	}
	admin.post(path+"/password", url.Values{"password": {"another long one"}})
	if r := ben.get("/queue"); r.Request.URL.Path != "/login" {
		t.Error("a new password leaves the session open")
	}
	admin.post(path+"/disable", url.Values{})
	if _, in := signIn("another long one"); in {
		t.Error("a disabled member signs in")
	}
	if r := admin.post(path+"/enable", url.Values{}); len(find(t, r.body, "form[action$='/disable']")) != 1 {
		t.Errorf("enabling: %s", r.Status)
	}
	if _, in := signIn("another long one"); !in {
		t.Error("an enabled member can't sign in")
	}
	own := "/members/" + root.ID
	for what, r := range map[string]reply{
		"disabling": admin.post(own+"/disable", url.Values{}), "demoting": admin.post(own, url.Values{"name": {"root"}, "role": {"lead"}}),
	} {
		if r.StatusCode != http.StatusConflict || !strings.Contains(textOf(find(t, r.body, ".notice.bad")[0]), "last admin") {
			t.Errorf("%s the last admin: %s", what, r.Status)
		}
	}
	for _, v := range []*visitor{lead, reviewer} {
		for _, to := range []string{"/members", path, path + "/password", path + "/disable", path + "/enable"} {
			if r := v.post(to, url.Values{"email": {"x@example.org"}, "name": {"x"}, "role": {"admin"}, "password": {"a long password"}}); r.StatusCode != http.StatusForbidden {
				t.Errorf("%s by who is no admin: %s", to, r.Status)
			}
		}
	}
	if r := reviewer.get("/members"); r.StatusCode != http.StatusForbidden {
		t.Errorf("a reviewer reads the list: %s", r.Status)
	}
	var list struct{ Members []map[string]any }
	s.api(token, http.MethodGet, "/api/v1/members", nil).json(t, &list)
	if len(list.Members) != 4 || list.Members[1]["title"] != "Consultant" || list.Members[0]["domains"] == nil {
		t.Errorf("the API lists %v", list.Members)
	}
	if r := admin.get("/members/nobody"); r.StatusCode != http.StatusNotFound {
		t.Errorf("nobody's page: %s", r.Status)
	}
}
