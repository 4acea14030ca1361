package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

// allowed are the roles that may use a route that changes something, beside admins
// and leads, who may use each. A route that is not here has no rule: the test
// fails until somebody has thought of one.
var allowed = map[string][]store.Role{
	"/login": nil, "/logout": nil, "/preferences": nil, "/preferences/theme": nil, // anybody; checked elsewhere

	"/queue/next": {store.Reviewer}, "/reviews/{id}/claim": {store.Reviewer}, "/reviews/{id}/renew": {store.Reviewer},
	"/reviews/{id}/release": {store.Reviewer}, "/reviews/{id}/skip": {store.Reviewer}, "/reviews/{id}/decision": {store.Reviewer},
	"/reviews/{id}/reopen": {store.Reviewer}, "/reviews/{id}/undo": {store.Reviewer}, "/reviews/{id}/second-opinion": {store.Reviewer},
	"/reviews/{id}/opinions": {}, "/reviews/{id}/reassign": {}, "/reviews/{id}/change": {},
	"/api/v1/reviews/{id}/undo": {store.Reviewer}, "/api/v1/reviews/{id}/second-opinion": {store.Reviewer},
	"/api/v1/reviews/{id}/opinions": {}, "/api/v1/reviews/{id}/reassign": {},
	"/reviews/{id}/draft": {store.Reviewer}, "/api/v1/reviews/{id}/draft": {store.Reviewer},
	"/reviews/{id}/correction": {store.Reviewer}, "/reviews/{id}/correction/text": {store.Reviewer}, "/corrections/{id}/withdraw": {store.Reviewer},
	"/corrections/{id}/accept": {}, "/corrections/{id}/decline": {},
	"/api/v1/reviews/{id}/correction": {store.Reviewer}, "/api/v1/corrections/{id}/withdraw": {store.Reviewer},
	"/api/v1/corrections/{id}/accept": {}, "/api/v1/corrections/{id}/decline": {},
	"/reviews/{id}/comments": {store.Reviewer}, "/reviews/{id}/comments/{comment}/withdraw": {store.Reviewer},
	"/reviews/{id}/comments/{comment}/resolve": {store.Reviewer}, "/reviews/{id}/comments/{comment}/reopen": {store.Reviewer},
	"/api/v1/reviews/{id}/comments": {store.Reviewer}, "/api/v1/comments/{id}/withdraw": {store.Reviewer}, "/api/v1/comments/{id}/resolve": {store.Reviewer},
	"/evaluations/{id}/retry": {}, "/evaluations/{id}/request": {}, "/evaluations/{id}/expose": {}, "/traces/{id}/judge": {},
	"/runs/{name}/retry": {}, "/runs/{name}/budget": {}, "/judges/{name}/rerun": {}, "/reruns/{id}/stop": {},
	"/runs/{name}/release": {}, "/runs/{name}/release/withdraw": {}, "/calibration/{judge}/trust": {}, "/api/v1/judges/{name}/trust": {},
	"/judges/{name}/test-split": {}, "/judges/{name}/test-split/look": {}, "/judges/{name}/promote": {},
	"/judges/{name}/shadow": {}, "/judges/{name}/shadow/stop": {},
	"/calibration/{judge}/baseline": {}, "/calibration/{judge}/sentinel": {}, "/calibration/{judge}/alarms/{id}/close": {},
	"/policy": {}, "/policy/dry-run": {store.Auditor}, "/policy/requeue": {}, "/import": {},
	"/calibration/{judge}/draw": {},
	"/queue/change":             {}, "/queue/views": {store.Reviewer, store.Auditor}, "/queue/views/{id}/delete": {store.Reviewer, store.Auditor},
	"/members": {}, "/members/{id}": {}, "/members/{id}/password": {}, "/members/{id}/disable": {}, "/members/{id}/enable": {},

	"/api/v1/traces": {}, "/api/v1/evaluations/{id}/retry": {}, "/api/v1/queue/claim": {store.Reviewer}, "/api/v1/reviews/{id}/renew": {store.Reviewer},
	"/api/v1/reviews/{id}/release": {store.Reviewer}, "/api/v1/reviews/{id}/skip": {store.Reviewer}, "/api/v1/reviews/{id}/decision": {store.Reviewer},
	"/api/v1/runs/{name}/retry": {}, "/api/v1/runs/{name}/budget": {}, "/api/v1/traces/{id}/judge": {},
	"/api/v1/judges/{name}/rerun": {store.Auditor}, // tells the cost; starting is tested below
	"/api/v1/reruns/{id}/stop":    {}, "/api/v1/policy": {}, "/api/v1/policy/dry-run": {store.Auditor},
}

// changing are the paths of all routes that change something, with values for
// their parameters.
func (s *site) changing(t *testing.T) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for _, route := range s.web.Routes() {
		method, path, _ := strings.Cut(route, " ")
		if !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}, method) {
			continue
		}
		if method != http.MethodPost {
			t.Errorf("%s: this test sends POST only", route)
		}
		paths[path] = strings.NewReplacer("{id}", "x", "{comment}", "x", "{name}", "citations", "{judge}", "citations").Replace(path)
	}
	if len(paths) < 30 {
		t.Fatalf("only %d routes change something", len(paths))
	}
	return paths
}

// TestRightsBeforeFaults: whoever may not use a route is told so, whatever they
// send, and the attempt is on record. A fault of what was sent would tell a lead.
func TestRightsBeforeFaults(t *testing.T) {
	s := newSite(t)
	tokens, people := map[store.Role]string{}, map[store.Role]*visitor{}
	for _, role := range []store.Role{store.Reviewer, store.Auditor} {
		_, tokens[role] = s.user(string(role)+"@example.org", role)
		people[role] = s.signIn(string(role) + "@example.org")
	}
	refused := 0
	for route, path := range s.changing(t) {
		roles, known := allowed[route]
		if !known {
			t.Errorf("POST %s has no rule of who may use it", route)
			continue
		}
		if roles == nil {
			continue
		}
		for role, token := range tokens {
			for _, body := range []string{"", "rubbish", `{"polic": 1}`, "[1"} {
				var r reply
				if strings.HasPrefix(route, "/api/") {
					r = s.api(token, http.MethodPost, path, body)
				} else {
					form := url.Values{}
					if body != "" {
						form.Set(body, body)
					}
					r = people[role].post(path, form)
				}
				may := slices.Contains(roles, role)
				switch told := strings.Contains(r.body, "Your role does not include this"); {
				case may && told:
					t.Errorf("POST %s as %s with %q: refused", route, role, body)
				case !may && (r.StatusCode != http.StatusForbidden || !told):
					t.Errorf("POST %s as %s with %q: %s, want 403: %.200s", route, role, body, r.Status, r.body)
				case !may:
					refused++
				}
			}
		}
	}
	r := s.api(tokens[store.Auditor], http.MethodPost, "/api/v1/judges/citations/rerun", `{"estimate": false, "engine": "rubbish"}`)
	if r.StatusCode != http.StatusForbidden {
		t.Errorf("an auditor starts a re-run: %s, want 403", r.Status)
	}
	refused++
	events, err := s.store.AuditAfter(t.Context(), store.Operator("test"), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	recorded := 0
	for _, e := range events {
		if !e.Allowed {
			recorded++
		}
	}
	if recorded != refused {
		t.Errorf("%d refusals are on record, want each of the %d", recorded, refused)
	}
}

// TestTooLarge: a body that is larger than its route takes is told as such on each
// route, to whoever sends it, and the answer arrives.
func TestTooLarge(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lea@example.org", store.Lead)
	v := s.signIn("lea@example.org")
	large := `{"policy": "` + strings.Repeat("x", 10<<20) + `"}`
	for route, path := range s.changing(t) {
		for _, sized := range []bool{true, false} {
			var src = struct{ *strings.Reader }{strings.NewReader(large)} // hides its length
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.http.URL+path, src)
			if err != nil {
				t.Fatal(err)
			}
			if sized {
				req.ContentLength = int64(len(large))
			}
			client := v.client
			if strings.HasPrefix(route, "/api/") {
				client = http.DefaultClient
				req.Header.Set("Authorization", "Bearer "+token)
			} else {
				// Without the header by which the page's own script is known, which is
				// answered with JSON.
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			r := s.send(client, req)
			if strings.HasPrefix(route, "/api/") {
				wantProblem(t, r, http.StatusRequestEntityTooLarge, "")
			} else if r.StatusCode != http.StatusRequestEntityTooLarge || len(find(t, r.body, "main h1")) != 1 {
				t.Errorf("POST %s (length given: %v): %s, want a page that says 413: %.300q", route, sized, r.Status, r.body)
			}
		}
	}
}

// TestAnswerArrives: who is refused for another reason than the size of what they
// send is told that, however much they send.
func TestAnswerArrives(t *testing.T) {
	s := newSite(t)
	_, reviewer := s.user("ray@example.org", store.Reviewer)
	body := strings.Repeat(" ", 3<<20)
	wantProblem(t, s.api(reviewer, http.MethodPost, "/api/v1/traces", body), http.StatusForbidden, "")
	wantProblem(t, s.api(reviewer, http.MethodPost, "/api/v1/policy", body), http.StatusForbidden, "")
	if r := s.api("", http.MethodPost, "/api/v1/traces", body); r.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s, want 401", r.Status)
	}
}
