package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

// TestPlanAndDrawLabels: the planner says what more labels tell, takes a number or a
// wanted width, and a lead draws by one form; sent twice it draws once. Who reads only
// has no form, and a draw that cannot be is refused with what to do.
func TestPlanAndDrawLabels(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("audi@example.org", store.Auditor)
	lead, auditor := s.signIn("lea@example.org"), s.signIn("audi@example.org")
	const page = "/calibration/citations/plan"
	if r := lead.get(page); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "There is nothing to label yet") {
		t.Errorf("without anything judged: %s", r.Status)
	}
	s.scored(300, 0.2)
	first := lead.get(page)
	for _, want := range []string{"on what the judge passed would narrow the miss rate from ± ", "Kappa of the verdicts on all work is", "of people’s time", "Nothing was drawn here yet"} {
		if !strings.Contains(first.body, want) {
			t.Errorf("the plan does not say %q", want)
		}
	}
	if r := lead.get(page + "?half=6"); !strings.Contains(r.body, "the miss rate to ± 6 points.") {
		t.Errorf("a wanted width is not answered: %s", r.Status)
	}
	for _, bad := range []string{"?n=many", "?n=0", "?half=-3", "?half=wide"} {
		if r := lead.get(page + bad); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, `id="plan-fault"`) {
			t.Errorf("%s: %s", bad, r.Status)
		}
	}
	if r := auditor.get(page); r.StatusCode != http.StatusOK || strings.Contains(r.body, `action="/calibration/citations/draw"`) {
		t.Errorf("an auditor: %s, with a form to draw", r.Status)
	}
	if r := lead.get("/calibration/citations"); !strings.Contains(r.body, "would narrow the miss rate") || !strings.Contains(r.body, page+"?series=") {
		t.Error("the calibration page does not lead to the plan")
	}
	if !strings.Contains(lead.get(page+"?n=9").body, "at least 10, or all there are") {
		t.Error("a draw of 9 is offered, or it is not said why not")
	}
	form := formOf(t, lead.get(page+"?n=25").body, `form:has([name=take-pass])`)
	alone := url.Values{"model": form["model"], "version": form["version"], "take-pass": {"12"}, "token": {"other"}}
	if left := form.Get("take-fail") != "0" || form.Get("take-borderline") != "0"; left {
		if r := lead.post("/calibration/citations/draw", alone); r.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("a draw from one verdict: %s", r.Status)
		}
	} else if form.Get("visible") != "1" || !strings.Contains(first.body, "will count as given with the verdict in sight") {
		t.Error("it is not said that such labels are not blind")
	}
	if r := lead.post("/calibration/citations/draw", form); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "25 evaluations of ") || !strings.Contains(r.body, " were drawn at random") {
		t.Errorf("the draw: %s at %s", r.Status, r.Request.URL)
	}
	form.Set("take-pass", "40")
	if r := lead.post("/calibration/citations/draw", form); !strings.Contains(r.body, "This form was used already: draw 1 by ") || !strings.Contains(r.body, " drew 25 evaluations with it.") {
		t.Errorf("the form sent twice: %s", r.Status)
	}
	items, _, err := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{Project: "default", Reason: "random_audit", Limit: 100})
	if err != nil || len(items) != 25 {
		t.Errorf("%d items wait, %v", len(items), err)
	}
	if r := lead.post("/calibration/citations/draw", url.Values{"model": form["model"], "version": form["version"], "take-fail": {"15"}, "token": {"another"}}); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "Nothing was drawn: ") {
		t.Errorf("a draw from what is all labelled: %s %.300s", r.Status, r.body)
	}
	if r := lead.post("/calibration/citations/draw", url.Values{"take-pass": {"some"}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a draw of some: %s", r.Status)
	}
}
