package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// awaySite is a site whose PostgreSQL can be stopped.
func awaySite(t *testing.T) (*site, *pgcluster.Cluster) {
	t.Helper()
	if !storetest.OnPostgres() {
		t.Skip("a database that goes away is PostgreSQL's; see TEST_ENGINE")
	}
	cluster := pgcluster.Start(t)
	c := newClock()
	return siteOver(t, openStore(t, cluster.URL("postgres"), c), c), cluster
}

func wantAway(t *testing.T, r reply) {
	t.Helper()
	if r.StatusCode != http.StatusServiceUnavailable || r.Header.Get("Retry-After") != "5" {
		t.Errorf("%s %s answers %s (Retry-After %q), want 503 and 5", r.Request.Method, r.Request.URL.Path, r.Status, r.Header.Get("Retry-After"))
	}
}

// TestFormSurvivesAnOutage: every page and call says 503 while the database is
// away; the page that answers a form holds it, and sends it again when it is
// back.
func TestFormSurvivesAnOutage(t *testing.T) {
	s, cluster := awaySite(t)
	s.load(citationTrace("t1"))
	_, token := s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org")
	desk := v.get("/queue/next")
	form := url.Values{"stage": {"answer"}, "verdict": {"fail"}, "support-1": {"supported"}, "comment": {`says "no" & <b>`}}
	cluster.Stop()

	for _, path := range []string{"/", "/queue", "/evaluations", "/help", "/readyz"} {
		wantAway(t, v.get(path))
	}
	if r := v.get("/healthz"); r.StatusCode != http.StatusOK {
		t.Errorf("/healthz answers %s: the process runs", r.Status)
	}
	if r := s.visitor().get("/login"); r.StatusCode != http.StatusOK {
		t.Errorf("/login answers %s to who is not signed in: it needs no database", r.Status)
	}
	wantProblem(t, s.api(token, http.MethodGet, "/api/v1/queue", nil), http.StatusServiceUnavailable, "")
	wantProblem(t, s.api(token, http.MethodPost, "/api/v1/traces", `{"id":"x","output":"y"}`), http.StatusServiceUnavailable, "")

	path := desk.Request.URL.Path + "/decision"
	lost := v.post(path, form)
	wantAway(t, lost)
	for _, want := range []string{"The data can&#39;t be reached now", "may be sent again: nothing is recorded twice", "Send it again", `action="` + path + `"`} {
		if !strings.Contains(lost.body, want) {
			t.Errorf("the page lacks %q:\n%s", want, lost.body)
		}
	}
	if strings.Contains(lost.body, "<b>") {
		t.Error("what was typed is markup on the page")
	}
	// The sign-in form is not kept: it has a password.
	if r := v.post("/login", url.Values{"email": {"ada@example.org"}, "password": {password}}); strings.Contains(r.body, password) {
		t.Errorf("a password is on the page:\n%s", r.body)
	}

	cluster.Start()
	again := url.Values{}
	for _, input := range find(t, lost.body, "main form input") {
		again.Add(attr(input, "name"), attr(input, "value"))
	}
	for name := range form {
		if again.Get(name) != form.Get(name) {
			t.Errorf("field %s is %q on the page, want %q", name, again.Get(name), form.Get(name))
		}
	}
	// Connections that ended with the server are found out one by one.
	var r reply
	eventually(t, "the form is taken", func() bool {
		r = v.post(path, again)
		return r.StatusCode != http.StatusServiceUnavailable
	})
	if r.StatusCode != http.StatusOK || r.Request.URL.Path != desk.Request.URL.Path {
		t.Errorf("sent again: %s at %s", r.Status, r.Request.URL)
	}
	if n := strings.Count(s.log.String(), "level=ERROR"); n != 0 {
		t.Errorf("an outage is %d faults of ours in the log:\n%s", n, s.log)
	}
}

// TestCutOffBodyIsTheClients: a body that ends too early is no trouble of the
// database's, whatever the two have in common.
func TestCutOffBodyIsTheClients(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	wantProblem(t, s.api(token, http.MethodPost, "/api/v1/queue/claim", `{"judge": "cita`), http.StatusUnprocessableEntity, "body")
}

// TestLeaseIsToldByTheDatabasesClock: how long a claim holds is said by the
// clock that keeps it.
func TestLeaseIsToldByTheDatabasesClock(t *testing.T) {
	s := newSite(t)
	s.load(citationTrace("t1"))
	_, token := s.user("ada@example.org", store.Reviewer)
	var item struct{ ID string }
	s.api(token, http.MethodPost, "/api/v1/queue/claim", "{}").json(t, &item)
	var renewed struct {
		LeaseSeconds int `json:"lease_seconds"`
	}
	s.api(token, http.MethodPost, "/api/v1/reviews/"+item.ID+"/renew", "{}").json(t, &renewed)
	if renewed.LeaseSeconds < 60 || renewed.LeaseSeconds > 3600 {
		t.Errorf("the claim holds for %d s by a clock that stands in the past", renewed.LeaseSeconds)
	}
}
