package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// audits loads recorded traces with labels of a random audit; right of n agree.
func (s *site) audits(prefix string, n, right int) {
	s.t.Helper()
	var traces []judge.Trace
	at, p := s.clock.now(), 0.1
	for i := range n {
		tr := recordedTrace(fmt.Sprintf("%s%d", prefix, i), "Yes")
		label := "Yes"
		if i >= right {
			label = "No"
		}
		tr.Labels = []judge.HumanLabel{{Judge: "answer-equivalence", Label: label, Reviewer: "auditor", At: &at, Stratum: judge.StratumRandomAudit, InclusionProbability: &p}}
		traces = append(traces, tr)
	}
	s.load(traces...)
}

// drifted freezes a baseline of the recorded judge and gives it an alarm and a sentinel
// set.
func (s *site) drifted() {
	s.t.Helper()
	ctx, op := context.Background(), store.Operator("test")
	reports, err := s.store.Drift(ctx, op, "default", "answer-equivalence")
	if err != nil || len(reports) != 1 {
		s.t.Fatalf("%d reports, error %v", len(reports), err)
	}
	if _, err := s.store.FreezeBaseline(ctx, op, "default", "answer-equivalence", reports[0].Model, reports[0].PromptVersion); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.store.SetSentinel(ctx, op, "default", "answer-equivalence", "nightly", 7, nil); err != nil {
		s.t.Fatal(err)
	}
	s.clock.advance(24 * time.Hour)
	var traces []judge.Trace
	for i := range 60 {
		traces = append(traces, recordedTrace(fmt.Sprintf("drifted%d", i), "No"))
	}
	s.load(traces...)
	if n, err := s.store.LookForDrift(ctx); n == 0 || err != nil {
		s.t.Fatalf("%d alarms, error %v", n, err)
	}
}

// TestDriftOnThePage: a lead freezes a baseline, sees the alarm with its figures and
// on the other pages, and closes it with what was found.
func TestDriftOnThePage(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lea@example.org", store.Lead)
	s.user("audrey@example.org", store.Auditor)
	s.audits("base", 150, 141)
	lea, audrey := s.signIn("lea@example.org"), s.signIn("audrey@example.org")
	const page = "/calibration/answer-equivalence"
	if r := lea.get(page); !strings.Contains(r.body, "no baseline is frozen. There are 150 labels of random audits") || !strings.Contains(r.body, "Freeze the baseline") {
		t.Errorf("before: %s", r.Status)
	}
	if r := audrey.get(page); strings.Contains(r.body, "Freeze the baseline") {
		t.Error("an auditor is offered to freeze")
	}
	version := regexp.MustCompile(`name="version" value="([^"]*)"`).FindStringSubmatch(lea.get(page).body)
	if version == nil {
		t.Fatal("the form names no version")
	}
	if r := lea.post(page+"/baseline", url.Values{"model": {"nobody"}, "version": {version[1]}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a baseline of nothing: %s", r.Status)
	}
	lea.get(page)
	if r := lea.post(page+"/baseline", url.Values{"model": {"gpt-4"}, "version": {version[1]}}); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "frozen by lea") || !strings.Contains(r.body, "0.94") {
		t.Errorf("frozen: %s", r.Status)
	}
	s.clock.advance(48 * time.Hour)
	s.audits("worse", 120, 60)
	if n, err := s.store.LookForDrift(context.Background()); n != 1 || err != nil {
		t.Fatalf("%d alarms, error %v", n, err)
	}
	lea, audrey = s.signIn("lea@example.org"), s.signIn("audrey@example.org")
	for _, path := range []string{"/", "/judges"} {
		if r := lea.get(path); !strings.Contains(r.body, "1 open") {
			t.Errorf("%s does not tell of the alarm", path)
		}
	}
	r := lea.get(page)
	for _, want := range []string{"Agreement with people lower than the baseline", "−0.44", "drift: lower than the baseline", "0.50 after 0.94, from 120 labels"} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, path := range []string{page + "/numbers.json"} {
		var reports []struct{ Drift json.RawMessage }
		lea.get(path).json(t, &reports)
		if len(reports) != 1 || !strings.Contains(string(reports[0].Drift), `"monitor": "agreement"`) {
			t.Errorf("%s: %+v", path, reports)
		}
	}
	var reports []struct {
		Drift struct {
			Baseline struct {
				Labels int `json:"audit_labels"`
			}
			Monitors []struct {
				Monitor string
				Value   struct{ Value *float64 }
				EValue  *float64 `json:"e_value"`
				Low     *float64 `json:"seq_low"`
				N       int
				Open    string `json:"open_alarm"`
			}
			Alarms []struct{ ID, Direction string }
		}
	}
	s.api(token, http.MethodGet, "/api/v1/calibration?judge=answer-equivalence", nil).json(t, &reports)
	d := reports[0].Drift
	if d.Baseline.Labels != 150 || len(d.Monitors) != 3 || len(d.Alarms) != 1 || d.Alarms[0].Direction != "lower" {
		t.Fatalf("by the API: %+v", d)
	}
	if m := d.Monitors[0]; m.Monitor != "agreement" || m.N != 120 || m.EValue == nil || *m.EValue < 40 || m.Low == nil || m.Open != d.Alarms[0].ID || *m.Value.Value != 0.5 {
		t.Errorf("agreement by the API: %+v", m)
	}
	if r := audrey.get(page); strings.Contains(r.body, "Close alarm") {
		t.Error("an auditor is offered to close")
	}
	lea.get(page)
	if r := lea.post(page+"/alarms/"+d.Alarms[0].ID+"/close", url.Values{"reason": {" "}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("closed for no reason: %s", r.Status)
	}
	lea.get(page)
	if r := lea.post(page+"/alarms/"+d.Alarms[0].ID+"/close", url.Values{"reason": {"The supplier <b>replaced</b> it."}}); r.StatusCode != http.StatusOK ||
		!strings.Contains(r.body, "closed by lea on 1 December 2026: The supplier &lt;b&gt;replaced&lt;/b&gt; it.") {
		t.Errorf("closed: %s", r.Status)
	}
	if r := lea.get("/"); strings.Contains(r.body, "open alarm") {
		t.Error("the overview tells of a closed alarm")
	}
	// What does not arrive elsewhere is told to admins.
	s.user("max@example.org", store.Admin)
	taken, err := s.store.TakeDelivery(context.Background(), time.Minute)
	if err != nil || taken == nil {
		t.Fatalf("took %+v, error %v", taken, err)
	}
	if err := s.store.NotDelivered(context.Background(), taken.ID, "it answered 500", time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := s.signIn("max@example.org").get("/"); !strings.Contains(r.body, "The webhook takes no messages") || !strings.Contains(r.body, "After 1 try: it answered 500.") {
		t.Error("an admin is not told what does not arrive")
	}
	if r := lea.get("/"); strings.Contains(r.body, "webhook") {
		t.Error("a lead is told of the webhook")
	}
}

// TestSentinelSetOnThePage: a lead chooses it, what does not fit is told beside its
// field, and nobody else is asked.
func TestSentinelSetOnThePage(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("audrey@example.org", store.Auditor)
	known, unknown := recordedTrace("known", "Yes"), recordedTrace("unknown", "Yes")
	known.Run, unknown.Run = "golden", "unlabelled"
	known.Labels = []judge.HumanLabel{{Judge: "answer-equivalence", Label: "Yes", Reviewer: "panel", Adjudicated: true}}
	s.load(known, unknown)
	lea := s.signIn("lea@example.org")
	const page = "/calibration/answer-equivalence"
	if r := lea.get(page); !strings.Contains(r.body, "No traces are judged again and again by this judge") {
		t.Errorf("before: %s", r.Status)
	}
	for want, form := range map[string]url.Values{
		"The run unlabelled has no trace with a label for judge answer-equivalence": {"run": {"unlabelled"}, "every_days": {"7"}},
		"Give a whole number of days":          {"run": {"golden"}, "every_days": {"often"}},
		"It is 999: it lies between 0 and 365": {"run": {"golden"}, "every_days": {"999"}},
		"Give an amount in dollars":            {"run": {"golden"}, "every_days": {"7"}, "budget_usd": {"much"}},
		"It is -1: give an amount above 0":     {"run": {"golden"}, "every_days": {"7"}, "budget_usd": {"-1"}},
	} {
		if r := lea.post(page+"/sentinel", form); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, want) {
			t.Errorf("%v: %s without %q", form, r.Status, want)
		}
	}
	if r := lea.post(page+"/sentinel", url.Values{"run": {"golden"}, "every_days": {"7"}, "budget_usd": {"2.5"}}); r.StatusCode != http.StatusOK ||
		!strings.Contains(r.body, "1 trace of run golden with a known label, judged again every 7 days by the present version and models, for at most $2.5 a round. Chosen by lea") {
		t.Errorf("chosen: %s", r.Status)
	}
	if r := s.signIn("audrey@example.org").get(page); !strings.Contains(r.body, "1 trace of run golden") || strings.Contains(r.body, "Choose the sentinel set") {
		t.Error("an auditor is offered to choose, or not told")
	}
	if r := lea.post(page+"/sentinel", url.Values{"run": {"golden"}, "every_days": {"0"}}); !strings.Contains(r.body, "It is not judged again any more: lea ended it") {
		t.Errorf("ended: %s", r.Status)
	}
}
