package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
)

// TestRunIsReleasedOnItsPage: who may, signs by a form that holds the evidence; what is
// in the way needs a reason; a second press signs nothing; and the run's page, the list
// and the API say it.
func TestRunIsReleasedOnItsPage(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("luis@example.org", store.Lead)
	s.user("ray@example.org", store.Reviewer)
	_, token := s.user("ann@example.org", store.Auditor)
	s.aRun()
	const at = "/runs/renal-12/release"
	if r := s.signIn("ray@example.org").get(at); r.StatusCode != http.StatusForbidden {
		t.Errorf("a reviewer reads the evidence: %s", r.Status)
	}
	lea, luis := s.signIn("lea@example.org"), s.signIn("luis@example.org")
	if page := s.signIn("ann@example.org").get(at).body; len(find(t, page, "#sign")) != 0 || !strings.Contains(page, "Nobody has signed") {
		t.Error("an auditor is offered to sign")
	}
	page := lea.get(at).body
	waiting := textOf(find(t, page, `a[href="/queue?run=renal-12"]`)[0])
	rows := find(t, lea.get("/queue?run=renal-12").body, "main tbody tr")
	if n, err := strconv.Atoi(waiting); err != nil || n != len(rows) || n == 0 {
		t.Errorf("the page says that %s wait, and the list has %d", waiting, len(rows))
	}
	form := formOf(t, page, "#sign form")
	if r := lea.post(at, form); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(textOf(find(t, r.body, "#although-fault")[0]), "say why the run is released") {
		t.Errorf("without a reason: %s", r.Status)
	}
	form.Set("although", "the fix is urgent")
	form.Set("comment", "seen <b>with</b> the ward")
	for range 2 { // a double click
		if r := lea.post(at, form); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "Released by lea@example.org") && !strings.Contains(r.body, "Released by lea") {
			t.Fatalf("signed: %s", r.Status)
		}
	}
	page = luis.get(at).body
	if n := len(find(t, page, "#releases article")); n != 1 {
		t.Errorf("%d sign-offs after a double click", n)
	}
	if strings.Contains(page, "<b>with</b>") || !strings.Contains(textOf(find(t, page, "#releases")[0]), "the fix is urgent") {
		t.Error("the sign-off is not shown as it was written")
	}
	for _, path := range []string{"/runs", "/runs/renal-12"} {
		if !strings.Contains(luis.get(path).body, "Released by") {
			t.Errorf("%s does not say that the run is released", path)
		}
	}
	// What is signed is what was shown: something is settled meanwhile.
	stale := formOf(t, page, "#sign form")
	stale.Set("although", "me too")
	s.clock.advance(time.Minute)
	s.load(citationTrace("later"))
	if r := luis.post(at, stale); r.StatusCode != http.StatusConflict || !strings.Contains(r.body, "the run has changed since this page was opened") ||
		rawText(find(t, r.body, "#although")[0]) != "me too" {
		t.Errorf("signed on what was shown before: %s", r.Status)
	}
	if page := luis.get("/runs/renal-12").body; !strings.Contains(page, "2 evaluations and 0 decisions are newer than the signature") {
		t.Errorf("the run’s page does not say what changed since: %s", textOf(find(t, page, "main")[0]))
	}
	id := attr(find(t, page, "input[name=release]")[0], "value")
	if r := luis.post(at+"/withdraw", url.Values{"release": {id}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("withdrawn without a reason: %s", r.Status)
	}
	if r := luis.post(at+"/withdraw", url.Values{"release": {id}, "reason": {"a dose is wrong"}}); r.StatusCode != http.StatusOK {
		t.Errorf("withdrawn: %s", r.Status)
	}
	if r := lea.post(at+"/withdraw", url.Values{"release": {id}, "reason": {"mine"}}); r.StatusCode != http.StatusConflict || !strings.Contains(r.body, "withdrew this release at") {
		t.Errorf("withdrawn by another first: %s", r.Status)
	}
	var run struct {
		Release struct {
			State  string
			Newest store.RunRelease
		}
	}
	s.api(token, http.MethodGet, "/api/v1/runs/renal-12", nil).json(t, &run)
	if r := run.Release; r.State != "withdrawn" || r.Newest.Although != "the fix is urgent" || r.Newest.Withdrawn == nil || r.Newest.Withdrawn.Reason != "a dose is wrong" {
		t.Errorf("the API says %+v", r)
	}
}
