package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/recorded"
	"github.com/countersign/countersign/judge/rules"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/web"
)

// site is a whole Countersign on a real database and a real HTTP server.
type site struct {
	t       testing.TB
	store   *store.Store
	harness *harness.Harness
	web     *web.Server
	http    *httptest.Server
	clock   *clock
	log     *bytes.Buffer
	lead    store.User // where a test needs one
	// between, where there is one, answers instead of the server, as a bad network does.
	between atomic.Pointer[http.HandlerFunc]
}

// clock is a time that a test moves by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

const password = "correct horse battery staple"

func newSite(t testing.TB) *site {
	t.Helper()
	clock := newClock()
	return siteOver(t, openStore(t, storetest.Address(t), clock), clock)
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)} }

func openStore(t testing.TB, address string, c *clock) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{URL: address, Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return s
}

// siteOver is a server over a store that others may share.
func siteOver(t testing.TB, db *store.Store, c *clock) *site {
	t.Helper()
	s := &site{t: t, store: db, clock: c, log: &bytes.Buffer{}}
	own, err := judge.LoadDefinitions("testdata/judges")
	if err != nil {
		t.Fatal(err)
	}
	s.harness, err = harness.New(harness.Config{
		Judges: append(builtin.Judges(), own...), Default: builtin.Default(),
		Engines: map[string]judge.Engine{judge.EngineRules: rules.Engine{}, judge.EngineRecorded: recorded.Engine{}},
		Engine:  judge.EngineRules, Key: bytes.Repeat([]byte("k"), 32), Now: s.clock.now,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, op := context.Background(), store.Operator("test")
	if _, err := s.store.EnsureProject(ctx, op, "default"); err != nil {
		t.Fatal(err)
	}
	if err := s.store.SaveJudges(ctx, op, "default", append(builtin.Judges(), own...)); err != nil {
		t.Fatal(err)
	}
	s.web, err = web.New(web.Config{
		Store: s.store, Harness: func(context.Context, string) (*harness.Harness, error) { return s.harness, nil }, SessionKey: bytes.Repeat([]byte("s"), 32), Demo: true, MaxBody: 4 << 20,
		Now: s.clock.now, Logger: slog.New(slog.NewTextHandler(s.log, nil)), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if between := s.between.Load(); between != nil {
			(*between)(w, r)
			return
		}
		s.web.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.web.EndStreams() // closing waits for what is under way
		s.http.Close()
	})
	return s
}

// user makes an account and its API token.
func (s *site) user(email string, role store.Role) (store.User, string) {
	s.t.Helper()
	u, err := s.store.CreateUser(context.Background(), store.Operator("test"), store.NewUser{
		Email: email, Name: strings.Split(email, "@")[0], Role: role, Password: password,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	_, secret, err := s.store.CreateToken(context.Background(), store.Operator("test"), email, "test")
	if err != nil {
		s.t.Fatal(err)
	}
	return u, secret
}

// load imports traces and judges them.
func (s *site) load(traces ...judge.Trace) {
	s.t.Helper()
	var items []store.ImportItem
	for _, t := range traces {
		if t.Stakes == "" {
			t.Stakes = judge.DefaultStakes(t.Domain)
		}
		plan, err := s.harness.Plan(&t)
		if err != nil {
			s.t.Fatal(err)
		}
		items = append(items, store.ImportItem{Trace: t, Plan: plan})
	}
	if _, err := s.store.ImportTraces(context.Background(), store.Operator("test"), "default", items); err != nil {
		s.t.Fatal(err)
	}
	s.judgeAll()
}

func (s *site) judgeAll() {
	s.t.Helper()
	w := harness.Worker{List: s.store, Harness: s.harness, Name: "test"}
	if err := w.Drain(context.Background()); err != nil {
		s.t.Fatal(err)
	}
}

// reply is what came back.
type reply struct {
	*http.Response
	body string
}

func (r reply) json(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		t.Fatalf("body is not JSON: %v\n%s", err, r.body)
	}
}

func (s *site) send(c *http.Client, req *http.Request) reply {
	s.t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{resp, string(body)}
}

// api calls the API with a token. A string body is sent as it is.
func (s *site) api(token, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	var src io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		src = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		src = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, s.http.URL+path, src)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return s.send(http.DefaultClient, req)
}

// visitor is a browser without scripts: it keeps cookies and sends forms with
// the token of the page it looked at last.
type visitor struct {
	s      *site
	client *http.Client
	csrf   string
}

func (s *site) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return &visitor{s: s, client: &http.Client{Jar: jar}}
}

// signIn is a visitor who has signed in with email and password.
func (s *site) signIn(email string) *visitor {
	s.t.Helper()
	v := s.visitor()
	v.get("/login")
	if r := v.post("/login", url.Values{"email": {email}, "password": {password}}); r.StatusCode != http.StatusOK || r.Request.URL.Path != "/" {
		s.t.Fatalf("sign in as %s: %s at %s", email, r.Status, r.Request.URL)
	}
	return v
}

var csrfField = regexp.MustCompile(`name="_csrf" value="([^"]+)"`)

func (v *visitor) note(r reply) reply {
	if m := csrfField.FindStringSubmatch(r.body); m != nil {
		v.csrf = m[1]
	}
	return r
}

func (v *visitor) get(path string) reply {
	v.s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, v.s.http.URL+path, nil)
	if err != nil {
		v.s.t.Fatal(err)
	}
	return v.note(v.s.send(v.client, req))
}

func (v *visitor) post(path string, form url.Values) reply {
	v.s.t.Helper()
	form.Set("_csrf", v.csrf)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, v.s.http.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.note(v.s.send(v.client, req))
}

// citationTrace is a medical trace whose second citation has no source: the
// rules engine can tell that without doubt, and it waits for a person.
func citationTrace(id string) judge.Trace {
	return judge.Trace{
		ID: id, Domain: "medical", Question: "What dose of apixaban should she have?",
		Output: "1. The formulary says to \"offer anticoagulation to people with a score of 2 or more\" [1].\n" +
			"2. A cohort found that the reduced dose halved major bleeding [2].\n3. Give 2.5 mg twice daily.",
		Sources: []judge.Source{{ID: "1", Title: "Northgate Formulary", Text: "Assess stroke risk. Offer anticoagulation to people with a score of 2 or more, taking bleeding risk into account."}},
		Judges:  []string{"citations"}, Run: "renal-12",
	}
}

// recordedTrace brings a report of another system's judge.
func recordedTrace(id, verdict string) judge.Trace {
	return judge.Trace{
		ID: id, Domain: "general", Question: "Who wrote it?", Output: "Mary Shelley wrote it.", Reference: "Mary Shelley",
		Judges:    []string{"answer-equivalence"},
		Judgments: []judge.Judgment{{Judge: "answer-equivalence", Model: "gpt-4", Output: json.RawMessage(`{"verdict":"` + verdict + `","rationale":"zebra rationale"}`)}},
	}
}
