package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

type problemBody struct {
	Title, Detail, Field string
	Status               int
	Holder               string
	Decision             *struct {
		Verdict string `json:"verdict"`
	} `json:"decision"`
}

func wantProblem(t *testing.T, r reply, status int, field string) problemBody {
	t.Helper()
	if r.StatusCode != status {
		t.Fatalf("status = %d, want %d; body %s", r.StatusCode, status, r.body)
	}
	if got := r.Header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type = %q, want application/problem+json", got)
	}
	var p problemBody
	r.json(t, &p)
	if p.Status != status || p.Field != field || p.Title == "" {
		t.Errorf("problem = %+v, want status %d and field %q", p, status, field)
	}
	return p
}

func TestAPINeedsAToken(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lead@example.org", store.Lead)
	for _, c := range []struct{ name, token string }{{"none", ""}, {"unknown", "cs_" + strings.Repeat("x", 43)}, {"cut", token[:len(token)-1]}} {
		t.Run(c.name, func(t *testing.T) {
			r := s.api(c.token, http.MethodGet, "/api/v1/queue", nil)
			wantProblem(t, r, http.StatusUnauthorized, "")
			if r.Header.Get("WWW-Authenticate") == "" {
				t.Error("no WWW-Authenticate header")
			}
		})
	}
	// A signed-in browser is nobody to the API.
	v := s.signIn("lead@example.org")
	if r := v.get("/api/v1/queue"); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("session cookie: status = %d, want 401", r.StatusCode)
	}
}

type receivedBody struct {
	Traces, Created, Revised, Unchanged, Labels, Evaluations int
	Errors                                                   []struct {
		Line           int
		Field, Message string
	}
}

func TestPostTraces(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lead@example.org", store.Lead)
	post := func(body string, headers ...string) (reply, receivedBody) {
		t.Helper()
		r := s.api(token, http.MethodPost, "/api/v1/traces", body, headers...)
		var got receivedBody
		if r.Header.Get("Content-Type") == "application/json" {
			r.json(t, &got)
		}
		return r, got
	}

	r, got := post("{\n  \"id\": \"a\",\n  \"judges\": [\"citations\"],\n  \"output\": \"It is so [1].\",\n  \"sources\": [{\"id\": \"1\", \"text\": \"It is so.\"}]\n}")
	if r.StatusCode != http.StatusAccepted || got.Created != 1 || got.Evaluations != 1 {
		t.Fatalf("one object: %s %+v", r.Status, got)
	}
	r, got = post(`[{"id":"b","output":"x","reference":"x"},{"id":"c","output":"y","reference":"x"}]`)
	if r.StatusCode != http.StatusAccepted || got.Created != 2 {
		t.Errorf("array: %s %+v", r.Status, got)
	}
	r, got = post("{\"id\":\"d\",\"output\":\"x\"}\n{\"id\":\"e\"}\n{\"output\":\"x\"}\nnot json\n{\"id\":\"f\",\"output\":\"x\"}\n")
	if r.StatusCode != http.StatusAccepted || got.Created != 2 || len(got.Errors) != 3 {
		t.Fatalf("lines: %s %+v", r.Status, got)
	}
	for i, want := range []struct {
		line  int
		field string
	}{{2, "output"}, {3, "id"}, {4, ""}} {
		if e := got.Errors[i]; e.Line != want.line || (want.field != "" && e.Field != want.field) || e.Message == "" {
			t.Errorf("error %d = %+v, want line %d field %q", i, e, want.line, want.field)
		}
	}
	if _, got = post(`{"id":"d","output":"x"}`); got.Unchanged != 1 {
		t.Errorf("the same again: %+v, want unchanged", got)
	}
	if _, got = post(`{"id":"d","output":"other"}`); got.Revised != 1 {
		t.Errorf("other content: %+v, want a revision", got)
	}
	if r, _ := post(`{"id":"z"}`); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("only bad lines: %s, want 422", r.Status)
	}
	if r, _ := post(`{"id":"big","output":"` + strings.Repeat("x", 5<<20) + `"}`); r.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("body over the limit: %s, want 413", r.Status)
	}

	first, _ := post(`{"id":"k","output":"x"}`, "Idempotency-Key", "one")
	again, _ := post(`{"id":"k","output":"x"}`, "Idempotency-Key", "one")
	if first.body != again.body || !strings.Contains(first.body, `"created":1`) {
		t.Errorf("same key: %s, then %s", first.body, again.body)
	}
	other, _ := post(`{"id":"l","output":"x"}`, "Idempotency-Key", "one")
	wantProblem(t, other, http.StatusConflict, "")
}

func TestReviewersMayNotImport(t *testing.T) {
	s := newSite(t)
	for _, role := range []store.Role{store.Reviewer, store.Auditor} {
		_, token := s.user(string(role)+"@example.org", role)
		wantProblem(t, s.api(token, http.MethodPost, "/api/v1/traces", `{"id":"a","output":"x"}`), http.StatusForbidden, "")
	}
}

type claimBody struct {
	ID             string
	EvaluationID   string    `json:"evaluation_id"`
	TraceID        string    `json:"trace_id"`
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
	Reasons        []judge.Reason
	Sealed, Blind  bool
	Evaluation     *judge.Evaluation
}

func (s *site) claim(token string) claimBody {
	s.t.Helper()
	r := s.api(token, http.MethodPost, "/api/v1/queue/claim", map[string]string{})
	if r.StatusCode != http.StatusOK {
		s.t.Fatalf("claim: %s %s", r.Status, r.body)
	}
	var c claimBody
	r.json(s.t, &c)
	return c
}

// tells finds in a body what only the judge knows about citationTrace.
func tells(body string) string {
	for _, word := range []string{"misattribution", "citation_not_found", "unsupported", "inaccurate", `"verdict":"fail"`, `"verdict":"borderline"`,
		`"verdict":"pass"`, "critical_error", "ambiguous_score", "below_threshold", "overall_citation_accuracy_score", "zebra rationale", `"score":0`} {
		if strings.Contains(body, word) {
			return word
		}
	}
	return ""
}

func TestBlindReviewByAPI(t *testing.T) {
	s := newSite(t)
	reviewer, token := s.user("reviewer@example.org", store.Reviewer)
	_, auditor := s.user("auditor@example.org", store.Auditor)
	s.load(citationTrace("t1"))

	item := s.claim(token)
	if item.TraceID != "t1" || !item.Blind || !item.Sealed || item.Evaluation != nil || !item.LeaseExpiresAt.After(s.clock.now()) {
		t.Fatalf("claim = %+v, want t1, blind and sealed, without an evaluation", item)
	}
	for _, path := range []string{
		"/api/v1/queue", "/api/v1/queue?state=mine", "/api/v1/evaluations", "/api/v1/evaluations/" + item.EvaluationID,
		"/api/v1/traces/t1", "/api/v1/queue?reason=misattribution", "/api/v1/queue?reason=critical_error",
		"/api/v1/evaluations?verdict=fail", "/api/v1/evaluations?verdict=borderline", "/api/v1/evaluations?reason=misattribution",
	} {
		r := s.api(token, http.MethodGet, path, nil)
		if word := tells(r.body); word != "" {
			t.Errorf("GET %s tells the verdict (%s): %s", path, word, r.body)
		}
		if strings.Contains(path, "verdict=") || strings.Contains(path, "reason=") {
			if strings.Contains(r.body, item.EvaluationID) {
				t.Errorf("GET %s finds a sealed item by what is sealed", path)
			}
		}
	}
	// The auditor can't decide, so nothing is kept from them.
	if r := s.api(auditor, http.MethodGet, "/api/v1/evaluations/"+item.EvaluationID, nil); tells(r.body) == "" {
		t.Errorf("the auditor sees no verdict: %s", r.body)
	}

	decision := "/api/v1/reviews/" + item.ID + "/decision"
	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{}), http.StatusUnprocessableEntity, "verdict")
	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"verdict": "maybe"}), http.StatusUnprocessableEntity, "verdict")
	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"verdikt": "pass"}), http.StatusUnprocessableEntity, "verdikt")
	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"action": "confirm"}), http.StatusUnprocessableEntity, "action")

	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"verdict": "pass", "comment": strings.Repeat("é", 4001)}), http.StatusUnprocessableEntity, "comment")
	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"verdict": "pass", "confidence": "sure"}), http.StatusUnprocessableEntity, "confidence")

	r := s.api(token, http.MethodPost, decision, map[string]any{"verdict": "pass", "comment": "Before the reveal.", "confidence": "low"})
	var shown struct {
		State      string
		Evaluation *judge.Evaluation
	}
	r.json(t, &shown)
	if r.StatusCode != http.StatusOK || shown.State != "revealed" || shown.Evaluation == nil || shown.Evaluation.Verdict == "" {
		t.Fatalf("first answer: %s %s", r.Status, r.body)
	}
	if got := s.draftComment(t, reviewer, item.ID); got != "Before the reveal." {
		t.Errorf("the draft after a first answer with a comment says %q", got)
	}
	wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"action": "keep"}), http.StatusUnprocessableEntity, "reason_code")
	r = s.api(token, http.MethodPost, decision, map[string]any{"action": "keep", "reason_code": "too_strict", "comment": "The second citation is common knowledge."})
	var done struct {
		State  string
		Result *judge.Result
	}
	r.json(t, &done)
	if r.StatusCode != http.StatusOK || done.State != "decided" || done.Result == nil || *done.Result != (judge.Result{Verdict: judge.Pass, Source: judge.ByHuman}) {
		t.Fatalf("keep: %s %s", r.Status, r.body)
	}
	p := wantProblem(t, s.api(token, http.MethodPost, decision, map[string]any{"action": "confirm"}), http.StatusConflict, "")
	if p.Decision == nil || p.Decision.Verdict != "pass" {
		t.Errorf("late decision: %+v, want the winner's", p)
	}
	if r := s.api(token, http.MethodPost, "/api/v1/queue/claim", nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("claim from an empty queue: %s, want 204", r.Status)
	}
}

func TestTwoPeopleOneItem(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	_, ben := s.user("ben@example.org", store.Reviewer)
	s.load(citationTrace("t1"))

	item := s.claim(ada)
	p := wantProblem(t, s.api(ben, http.MethodPost, "/api/v1/reviews/"+item.ID+"/renew", nil), http.StatusConflict, "")
	if p.Holder != "ada" {
		t.Errorf("holder = %q, want ada", p.Holder)
	}
	wantProblem(t, s.api(ben, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", map[string]any{"verdict": "fail"}), http.StatusConflict, "")
	if r := s.api(ben, http.MethodPost, "/api/v1/queue/claim", nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("ben's claim: %s, want 204", r.Status)
	}
	// Ada's claim runs out and Ben takes the item.
	s.clock.advance(31 * time.Minute)
	if got := s.claim(ben); got.ID != item.ID {
		t.Fatalf("ben got %s, want %s", got.ID, item.ID)
	}
	wantProblem(t, s.api(ada, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", map[string]any{"verdict": "fail"}), http.StatusConflict, "")
	if r := s.api(ben, http.MethodPost, "/api/v1/reviews/"+item.ID+"/release", nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("release: %s", r.Status)
	}

	// Both try to settle it at the same time, whoever holds it: one does.
	s.claim(ada)
	s.api(ada, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", map[string]any{"verdict": "fail"})
	var wg sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		wg.Go(func() {
			codes[i] = s.api(ada, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", map[string]any{"action": "adopt"}).StatusCode
		})
	}
	wg.Wait()
	counts := map[int]int{}
	for _, code := range codes {
		counts[code]++
	}
	if counts[http.StatusOK] != 1 || counts[http.StatusConflict] != len(codes)-1 {
		t.Errorf("status codes = %v, want one 200 and the rest 409", counts)
	}
}

func TestSkipAndRenewByAPI(t *testing.T) {
	s := newSite(t)
	_, token := s.user("reviewer@example.org", store.Reviewer)
	s.load(citationTrace("t1"), citationTrace("t2"))
	first := s.claim(token)
	if r := s.api(token, http.MethodPost, "/api/v1/reviews/"+first.ID+"/skip", map[string]string{"comment": "outside my field"}); r.StatusCode != http.StatusNoContent {
		t.Fatalf("skip: %s %s", r.Status, r.body)
	}
	second := s.claim(token)
	if second.ID == first.ID {
		t.Error("the skipped item came back first")
	}
	s.clock.advance(10 * time.Minute)
	r := s.api(token, http.MethodPost, "/api/v1/reviews/"+second.ID+"/renew", nil)
	var renewed struct {
		LeaseExpiresAt time.Time `json:"lease_expires_at"`
	}
	r.json(t, &renewed)
	if !renewed.LeaseExpiresAt.After(second.LeaseExpiresAt) {
		t.Errorf("renewed until %v, not later than %v", renewed.LeaseExpiresAt, second.LeaseExpiresAt)
	}
}

func TestCalibrationByAPI(t *testing.T) {
	s := newSite(t)
	_, lead := s.user("lead@example.org", store.Lead)
	_, reviewer := s.user("reviewer@example.org", store.Reviewer)
	var traces []judge.Trace
	for i := range 6 {
		tr := recordedTrace(fmt.Sprintf("r%d", i), []string{"Yes", "No"}[i%2])
		tr.Labels = []judge.HumanLabel{{Judge: "answer-equivalence", Label: "Yes", Reviewer: "panel", Adjudicated: true}}
		traces = append(traces, tr)
	}
	s.load(traces...)
	wantProblem(t, s.api(reviewer, http.MethodGet, "/api/v1/calibration", nil), http.StatusForbidden, "")
	var reports []struct {
		Judge, Model string
		N            int
		Agreement    struct{ Value float64 }
		CohenKappa   struct{ Value *float64 } `json:"cohen_kappa"`
		Confusion    struct {
			Labels []string
			Matrix [][]int
		}
	}
	s.api(lead, http.MethodGet, "/api/v1/calibration?judge=answer-equivalence", nil).json(t, &reports)
	if len(reports) != 1 || reports[0].Model != "gpt-4" || reports[0].N != 6 || reports[0].Agreement.Value != 0.5 {
		t.Fatalf("reports = %+v", reports)
	}
	if got := fmt.Sprint(reports[0].Confusion.Labels, reports[0].Confusion.Matrix); got != "[Yes No] [[3 3] [0 0]]" {
		t.Errorf("confusion = %s", got)
	}
	if r := s.api(lead, http.MethodGet, "/api/v1/calibration?judge=steps", nil); strings.TrimSpace(r.body) != "[]" {
		t.Errorf("no reports = %s, want an empty array", r.body)
	}
	if r := s.api(lead, http.MethodGet, "/api/v1/runs/nope", nil); r.StatusCode != http.StatusNotFound {
		t.Errorf("unknown run: %s", r.Status)
	}
}

// TestDescriptionIsComplete holds openapi.json and the routes together.
func TestDescriptionIsComplete(t *testing.T) {
	s := newSite(t)
	_, token := s.user("admin@example.org", store.Admin)
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.api("", http.MethodGet, "/api/v1/openapi.json", nil).json(t, &doc)
	described := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			described[strings.ToUpper(method)+" "+path] = true
			at := strings.NewReplacer("{id}", "none", "{name}", "none").Replace(path)
			r := s.api(token, strings.ToUpper(method), at, nil)
			if r.StatusCode == http.StatusMethodNotAllowed || (r.StatusCode == http.StatusNotFound && !strings.Contains(path, "{")) {
				t.Errorf("%s %s is described and not there: %s", method, path, r.Status)
			}
		}
	}
	for _, route := range s.web.Routes() {
		if method, path, _ := strings.Cut(route, " "); method != echo.RouteNotFound && strings.HasPrefix(path, "/api/") && !described[method+" "+path] {
			t.Errorf("%s is there and not described", route)
		}
	}
}
