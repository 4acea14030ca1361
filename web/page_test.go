package web_test

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// find is every element of a page that a CSS selector fits.
func find(t *testing.T, page, selector string) []*html.Node {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	sel, err := cascadia.ParseGroup(selector)
	if err != nil {
		t.Fatal(err)
	}
	return cascadia.QueryAll(doc, sel)
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(textOf(c))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestSignInIsNeeded(t *testing.T) {
	s := newSite(t)
	v := s.visitor()
	for _, path := range []string{"/", "/queue", "/evaluations", "/audit", "/reviews/x", "/preferences", "/import"} {
		r := v.get(path)
		if r.Request.URL.Path != "/login" {
			t.Errorf("GET %s led to %s, want /login", path, r.Request.URL)
		}
		if next := r.Request.URL.Query().Get("next"); path != "/" && next != path {
			t.Errorf("GET %s: next = %q", path, next)
		}
	}
}

func TestWrongPassword(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	for _, email := range []string{"ada@example.org", "nobody@example.org"} {
		v := s.visitor()
		v.get("/login")
		r := v.post("/login", url.Values{"email": {email}, "password": {"wrong password here"}})
		if r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, "do not match") {
			t.Errorf("%s: %s, want 422 and a plain sentence", email, r.Status)
		}
		if fields := find(t, r.body, `#email[value="`+email+`"]`); len(fields) != 1 {
			t.Errorf("%s: the email is not kept in the form", email)
		}
		if strings.Contains(r.body, "wrong password here") {
			t.Errorf("%s: the password came back", email)
		}
	}
	v := s.visitor()
	v.get("/login")
	var last reply
	for range 5 {
		last = v.post("/login", url.Values{"email": {"ada@example.org"}, "password": {"wrong"}})
	}
	if !strings.Contains(last.body, "Try again in") {
		t.Errorf("after five wrong tries: %s", textOf(find(t, last.body, "main")[0]))
	}
	if r := v.post("/login", url.Values{"email": {"ada@example.org"}, "password": {password}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("the right password in the pause: %s, want 422", r.Status)
	}
	s.clock.advance(16 * time.Minute)
	if r := v.post("/login", url.Values{"email": {"ada@example.org"}, "password": {password}}); r.Request.URL.Path != "/" {
		t.Errorf("the right password after the pause led to %s", r.Request.URL)
	}
}

func TestSignInGoesBack(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	for _, c := range []struct{ next, want string }{
		{"/queue?judge=citations", "/queue?judge=citations"}, {"https://evil.example/", "/"}, {"//evil.example", "/"},
		{`/\evil.example`, "/"}, {"javascript:alert(1)", "/"}, {"", "/"},
	} {
		v := s.visitor()
		v.get("/login?" + url.Values{"next": {c.next}}.Encode())
		r := v.post("/login", url.Values{"email": {"ada@example.org"}, "password": {password}, "next": {c.next}})
		if got := r.Request.URL.RequestURI(); got != c.want || !strings.HasPrefix(s.http.URL, "http://"+r.Request.URL.Host) {
			t.Errorf("next %q led to %s, want %s", c.next, r.Request.URL, c.want)
		}
	}
}

func TestFormsNeedTheirToken(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Lead)
	v := s.signIn("ada@example.org")
	for _, path := range []string{"/login", "/logout", "/queue/next", "/reviews/x/decision", "/preferences", "/preferences/theme", "/evaluations/x/retry", "/import"} {
		v.csrf = "forged"
		if r := v.post(path, url.Values{}); r.StatusCode != http.StatusForbidden {
			t.Errorf("POST %s with a forged token: %s, want 403", path, r.Status)
		}
	}
}

func TestSessionEndsWithTheAccount(t *testing.T) {
	s := newSite(t)
	ctx, op := context.Background(), store.Operator("test")
	for name, end := range map[string]func(email string) error{
		"disabled":     func(e string) error { return s.store.DisableUser(ctx, op, e) },
		"new password": func(e string) error { return s.store.SetPassword(ctx, op, e, "another good long password") },
	} {
		t.Run(name, func(t *testing.T) {
			email := strings.ReplaceAll(name, " ", ".") + "@example.org"
			s.user(email, store.Reviewer)
			v := s.signIn(email)
			if err := end(email); err != nil {
				t.Fatal(err)
			}
			if r := v.get("/queue"); r.Request.URL.Path != "/login" {
				t.Errorf("the session goes on at %s", r.Request.URL)
			}
		})
	}
	t.Run("signed out", func(t *testing.T) {
		s.user("out@example.org", store.Reviewer)
		v := s.signIn("out@example.org")
		v.post("/logout", url.Values{})
		if r := v.get("/queue"); r.Request.URL.Path != "/login" {
			t.Errorf("the session goes on at %s", r.Request.URL)
		}
	})
}

func TestRolesAndPages(t *testing.T) {
	s := newSite(t)
	s.load(citationTrace("t1"), recordedTrace("r1", "Yes"))
	pages := []string{"/", "/queue", "/evaluations", "/runs", "/judges", "/judges/citations", "/traces/r1", "/help", "/preferences",
		"/calibration", "/calibration/citations", "/calibration/citations/plan", "/calibration/citations/thresholds", "/audit", "/audit?verify=1", "/import", "/runs/renal-12"}
	denied := map[store.Role][]string{
		store.Reviewer: {"/calibration", "/calibration/citations", "/calibration/citations/plan", "/calibration/citations/thresholds", "/audit", "/audit?verify=1", "/import"},
		store.Auditor:  {"/import"},
	}
	for _, role := range []store.Role{store.Reviewer, store.Lead, store.Auditor, store.Admin} {
		email := string(role) + "@example.org"
		s.user(email, role)
		v := s.signIn(email)
		for _, path := range pages {
			want := http.StatusOK
			for _, d := range denied[role] {
				if d == path {
					want = http.StatusForbidden
				}
			}
			r := v.get(path)
			if r.StatusCode != want {
				t.Errorf("%s: GET %s = %s, want %d", role, path, r.Status, want)
			}
			if h := find(t, r.body, "h1"); len(h) != 1 {
				t.Errorf("%s: GET %s has %d headings of the first order", role, path, len(h))
			}
			if csp := r.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") {
				t.Errorf("GET %s: policy %q", path, csp)
			}
			if inline := find(t, r.body, "script:not([src]), style, [style], [onclick], [onload]"); len(inline) > 0 {
				t.Errorf("GET %s has inline script or style: %s", path, inline[0].Data)
			}
		}
	}
	v := s.signIn("auditor@example.org")
	if r := v.post("/queue/next", url.Values{}); r.StatusCode != http.StatusForbidden {
		t.Errorf("an auditor claims: %s, want 403", r.Status)
	}
}

func TestBlindReviewByForms(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")

	desk := v.post("/queue/next", url.Values{})
	if !strings.HasPrefix(desk.Request.URL.Path, "/reviews/") {
		t.Fatalf("claim led to %s", desk.Request.URL)
	}
	path := desk.Request.URL.Path
	evaluation := evaluationID(t, s)
	for _, at := range []string{path, "/", "/queue", "/evaluations", "/evaluations/" + evaluation, "/traces/t1", "/runs/renal-12"} {
		page := v.get(at)
		if page.StatusCode != http.StatusOK {
			t.Fatalf("GET %s: %s", at, page.Status)
		}
		for _, word := range []string{"Unsupported", "citation_not_found", "Misattribution", "misattribution", "Inaccurate", "Critical error", "Ambiguous score"} {
			if strings.Contains(page.body, word) && !isControl(t, page.body, word) {
				t.Errorf("GET %s tells %q before the first answer", at, word)
			}
		}
		if marks := find(t, page.body, "main .verdict.fail:not(details *), main .verdict.part, main .verdict.pass"); len(marks) > 0 && at != path {
			t.Errorf("GET %s shows a verdict: %s", at, textOf(marks[0]))
		}
	}
	if chips := find(t, desk.body, ".trace .cite"); len(chips) != 2 {
		t.Errorf("the trace has %d citation chips, want 2", len(chips))
	}
	if marks := find(t, desk.body, ".passage mark"); len(marks) == 0 || !strings.Contains(textOf(marks[0]), "anticoagulation to people") {
		t.Error("the quotation is not marked in its source")
	}

	if r := v.post(path+"/decision", url.Values{}); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, `id="verdict-fault"`) {
		t.Errorf("an empty answer: %s, want 422 and the fault beside the verdict", r.Status)
	}
	shown := v.post(path+"/decision", url.Values{"verdict": {"pass"}, "support-1": {"fully_supported"}})
	if shown.StatusCode != http.StatusOK || len(find(t, shown.body, `input[name=action][value=keep]`)) != 1 {
		t.Fatalf("after the first answer: %s, no way to keep it", shown.Status)
	}
	typed := v.post(path+"/decision", url.Values{"action": {"keep"}, "comment": {"kept words"}})
	if typed.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(typed.body, "kept words") {
		t.Errorf("keep without a reason: %s; what was typed must stay", typed.Status)
	}
	done := v.post(path+"/decision", url.Values{"action": {"keep"}, "reason_code": {"too_strict"}, "comment": {"It is common knowledge."}})
	if done.StatusCode != http.StatusOK || !strings.Contains(done.body, "Signed and recorded") {
		t.Fatalf("keep: %s", done.Status)
	}
	late := v.post(path+"/decision", url.Values{"action": {"adopt"}})
	if !strings.Contains(late.body, "You have signed this item already, at 09:00 UTC, and that stands.") {
		t.Error("a late decision does not say that it is signed already")
	}
	if page := v.get("/evaluations/" + evaluation); !strings.Contains(page.body, "It is common knowledge.") {
		t.Error("the evaluation's page does not show the decision")
	}
}

// isControl says that a word stands only in a control (a choice of a select or
// radio group), which offers all values to everybody.
func isControl(t *testing.T, page, word string) bool {
	t.Helper()
	all := strings.Count(page, word)
	inControls := 0
	for _, n := range find(t, page, "option, label.option, select, .help, [popover]#help") {
		if n.Data != "select" {
			var b bytes.Buffer
			if err := html.Render(&b, n); err != nil {
				t.Fatal(err)
			}
			inControls += strings.Count(b.String(), word)
		}
	}
	return inControls >= all
}

func evaluationID(t *testing.T, s *site) string {
	t.Helper()
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{Project: "default"})
	if err != nil || len(rows) == 0 {
		t.Fatalf("no evaluation: %v", err)
	}
	return rows[0].ID
}

const hostile = `<script>window.hacked=1</script><img src=x onerror="window.hacked=2"></textarea></pre>"'><a href="https://evil.example">x</a> {{.}} ${7*7}`

func TestHostileTraceIsText(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Lead)
	tr := citationTrace("hostile/../ <id>")
	tr.Question, tr.Run, tr.Cluster, tr.Tags = hostile, hostile, hostile, []string{hostile}
	tr.Output = "1. " + hostile + " \"" + "offer anticoagulation to people with a score" + "\" [1].\n2. " + hostile + " [2]."
	tr.Sources = []judge.Source{{ID: "1", Title: hostile, URL: "javascript:alert(1)", Text: hostile + " Offer anticoagulation to people with a score. " + hostile}}
	tr.Reference, tr.Premises, tr.Conclusion, tr.Constraints = hostile, []string{hostile}, hostile, []string{hostile}
	tr.Metadata = map[string]any{"note": hostile}
	tr.Labels = []judge.HumanLabel{{Judge: "citations", Verdict: judge.Fail, Reviewer: hostile, Comment: hostile}}
	s.load(tr)
	v := s.signIn("ada@example.org")
	desk := v.post("/queue/next", url.Values{})
	path := desk.Request.URL.Path
	v.post(path+"/decision", url.Values{"verdict": {"fail"}})
	v.post(path+"/decision", url.Values{"action": {"keep"}, "reason_code": {"other"}, "comment": {hostile}})
	id := evaluationID(t, s)
	for _, at := range []string{"/", "/queue", path, "/evaluations", "/evaluations/" + id, "/traces/" + url.PathEscape(tr.ID),
		"/runs", "/runs/" + url.PathEscape(hostile), "/audit", "/calibration/citations"} {
		r := v.get(at)
		if r.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", at, r.Status)
		}
		for _, bad := range []string{"script:not([src])", "img", "[onerror]", `a[href^="http"]`, `[href^="javascript:"]`} {
			if found := find(t, r.body, bad); len(found) > 0 {
				t.Errorf("GET %s: markup of the trace became %s", at, bad)
			}
		}
	}
	if r := v.get("/traces/" + url.PathEscape(tr.ID)); !strings.Contains(textOf(find(t, r.body, "main")[0]), "window.hacked=1") {
		t.Error("the trace's text is not shown")
	}
}

func TestFaultPages(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Lead)
	v := s.signIn("ada@example.org")
	for _, c := range []struct {
		path string
		want int
	}{
		{"/nowhere", http.StatusNotFound}, {"/reviews/nope", http.StatusNotFound}, {"/evaluations/nope", http.StatusNotFound},
		{"/traces/nope", http.StatusNotFound}, {"/runs/nope", http.StatusNotFound}, {"/judges/nope", http.StatusNotFound},
		{"/calibration/nope", http.StatusNotFound}, {"/evaluations?status=odd", http.StatusUnprocessableEntity},
		{"/evaluations?verdict=odd", http.StatusUnprocessableEntity}, {"/audit?after=x", http.StatusUnprocessableEntity},
		{"/queue?after=garbage", http.StatusUnprocessableEntity}, {"/traces/x?revision=-1", http.StatusUnprocessableEntity},
	} {
		r := v.get(c.path)
		if r.StatusCode != c.want {
			t.Errorf("GET %s = %s, want %d", c.path, r.Status, c.want)
		}
		if len(find(t, r.body, "main h1")) != 1 || len(find(t, r.body, "main a[href='/']")) == 0 {
			t.Errorf("GET %s: no page that says what to do next", c.path)
		}
	}
	if strings.Contains(s.log.String(), "request failed") {
		t.Errorf("faults of users were logged as ours:\n%s", s.log)
	}
}

func TestImportByForm(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Lead)
	v := s.signIn("ada@example.org")
	v.get("/import")
	upload := func(content string, fields map[string]string) reply {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		fields["_csrf"] = v.csrf
		for name, value := range fields {
			if err := w.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		part, err := w.CreateFormFile("file", "traces.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.http.URL+"/import", &body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", w.FormDataContentType())
		return v.note(s.send(v.client, req))
	}
	bad := "{\"id\":\"a\",\"output\":\"x\"}\n{\"id\":\"b\"}\n"
	if r := upload(bad, map[string]string{"strict": "on"}); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, "Nothing was imported") {
		t.Errorf("strict: %s", r.Status)
	}
	if rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{Project: "default"}); err != nil || len(rows) != 0 {
		t.Errorf("strict left %d evaluations (%v)", len(rows), err)
	}
	r := upload(bad, map[string]string{"run": "nightly"})
	if r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(textOf(find(t, r.body, "main")[0]), "output") {
		t.Errorf("bad line: %s, and its field must be named", r.Status)
	}
	if r := v.get("/runs/nightly"); r.StatusCode != http.StatusOK {
		t.Errorf("the good line's run: %s", r.Status)
	}
	if r := upload("{\"id\":\"c\",\"output\":\"x\"}\n", map[string]string{}); r.StatusCode != http.StatusOK {
		t.Errorf("good file: %s", r.Status)
	}
	if r := upload("", map[string]string{}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("empty file: %s, want 422", r.Status)
	}
}

func TestPreferencesAndTheme(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org")
	v.post("/preferences/theme", url.Values{"theme": {"dark"}, "next": {"/queue"}})
	if r := v.get("/queue"); len(find(t, r.body, `html[data-theme="dark"]`)) != 1 {
		t.Error("the dark theme was not kept")
	}
	v.post("/preferences", url.Values{"theme": {"light"}, "density": {"compact"}})
	r := v.get("/queue")
	if len(find(t, r.body, `html[data-theme="light"][data-density="compact"][data-shortcuts="off"]`)) != 1 {
		t.Error("preferences were not kept")
	}
}

func TestDemoLink(t *testing.T) {
	s := newSite(t)
	u, _ := s.user("ada@example.org", store.Reviewer)
	link, err := s.web.DemoLink(u.ID)
	if err != nil {
		t.Fatal(err)
	}
	v := s.visitor()
	if r := v.get(link); r.Request.URL.Path != "/" || r.StatusCode != http.StatusOK {
		t.Errorf("the link led to %s: %s", r.Request.URL, r.Status)
	}
	if r := s.visitor().get(link[:len(link)-4]); r.StatusCode != http.StatusForbidden {
		t.Errorf("a cut link: %s, want 403", r.Status)
	}
}
