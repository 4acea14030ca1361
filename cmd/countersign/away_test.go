package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// onServer runs a command on the database's own clock.
func onServer(t *testing.T, env map[string]string, stdin string, args ...string) string {
	t.Helper()
	c := newConsole(t, env, args...)
	c.now, c.stdin = nil, strings.NewReader(stdin)
	if got := c.run(t.Context()); got != exitOK {
		t.Fatalf("countersign %s: exit code %d\n%s%s", strings.Join(args, " "), got, c.out, c.messages)
	}
	return c.out.String()
}

// flagged are traces with a citation that has no source: the embedded rules can
// tell that, and each waits for a person.
func flagged(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`{"id":"cited-` + string(rune('a'+i/26)) + string(rune('a'+i%26)) + `","domain":"medical","question":"What dose?","output":"Give 2.5 mg [2].",` +
			`"sources":[{"id":"1","title":"Formulary","text":"Assess the risk."}],"judges":["citations"]}` + "\n")
	}
	return b.String()
}

// asked are traces that the reference judge can't settle without a model.
func asked(n int) string {
	return strings.ReplaceAll(lines(n), `"output":"answer `, `"output":"it is surely what we call answer `)
}

// visitor asks a server again and again, and notes how it answered. An answer
// that is neither what is wanted nor a 503 with its header fails the test.
type visitor struct {
	t      *testing.T
	client *http.Client
	token  string

	mu   sync.Mutex
	seen map[string]map[int]int // what was asked, status, how often
}

// ask gives status and body; the status 0 when there is no answer in time.
func (v *visitor) ask(what, method, url, body string, wanted ...int) (int, string) {
	req, err := http.NewRequestWithContext(v.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		v.t.Error(err)
		return 0, ""
	}
	if v.token != "" {
		req.Header.Set("Authorization", "Bearer "+v.token)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		if v.t.Context().Err() == nil {
			v.t.Errorf("%s: %v", what, err)
		}
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Errorf("%s: %v", what, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen[what] == nil {
		v.seen[what] = map[int]int{}
	}
	v.seen[what][resp.StatusCode]++
	known := resp.StatusCode == http.StatusServiceUnavailable && what != "/healthz"
	for _, status := range wanted {
		known = known || resp.StatusCode == status
	}
	if !known || resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") != "5" {
		v.t.Errorf("%s answers %s (Retry-After %q), want %v or 503:\n%.300s", what, resp.Status, resp.Header.Get("Retry-After"), wanted, text)
	}
	return resp.StatusCode, string(text)
}

// count says how often something was answered with a status.
func (v *visitor) count(what string, status int) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen[what][status]
}

// decide answers an item and then takes what the judge said, until both are known to be
// stored.
func (v *visitor) decide(address, id string) {
	for _, body := range []string{`{"verdict":"fail"}`, `{"action":"adopt"}`} {
		// A conflict says that an answer of before was stored and its reply lost.
		for status := 0; status != http.StatusOK && status != http.StatusConflict && !v.t.Failed(); {
			status, _ = v.ask("decision", http.MethodPost, address+"/api/v1/reviews/"+id+"/decision", body, http.StatusOK, http.StatusConflict)
		}
	}
}

// signedIn is a person at a browser.
func signedIn(t *testing.T, address, email, password string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, Timeout: answerLimit}
	_, page := get(t, client, address+"/login")
	token := regexp.MustCompile(`name="_csrf" value="([^"]+)"`).FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("no form at /login:\n%s", page)
	}
	resp, err := client.PostForm(address+"/login", url.Values{"_csrf": {token[1]}, "email": {email}, "password": {password}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/" {
		t.Fatalf("sign in: %s at %s", resp.Status, resp.Request.URL)
	}
	return client
}

// answerLimit is the longest that any answer may take while the database is
// away.
const answerLimit = 15 * time.Second

// decideAll claims and decides until nothing waits that is not claimed.
func (v *visitor) decideAll(address string) {
	for v.t.Context().Err() == nil && !v.t.Failed() {
		status, body := v.ask("claim", http.MethodPost, address+"/api/v1/queue/claim", "{}", http.StatusOK, http.StatusNoContent)
		switch status {
		case http.StatusOK:
			var item struct{ ID string }
			if err := json.Unmarshal([]byte(body), &item); err != nil {
				v.t.Error(err)
			}
			v.decide(address, item.ID)
			time.Sleep(50 * time.Millisecond) // so that not all is decided before the database goes
		case http.StatusNoContent:
			return
		}
	}
}

func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if t.Failed() {
			t.FailNow()
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within 90 s: %s", what)
		}
	}
}

// outageLasts is how long the server is away in the test; OUTAGE sets another
// time, such as 30s.
func outageLasts(t *testing.T) time.Duration {
	text := os.Getenv("OUTAGE")
	if text == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDatabaseGoesAway stops PostgreSQL under page reads, decisions and judging
// by a model, and starts it again. Meanwhile every answer is a 503; afterwards
// all work is done exactly once, by itself, and no call was made twice.
func TestDatabaseGoesAway(t *testing.T) {
	if !storetest.OnPostgres() {
		t.Skip("a database that goes away is PostgreSQL's; see TEST_ENGINE")
	}
	const items, traces = 30, 60
	cluster := pgcluster.Start(t)
	home := map[string]string{"COUNTERSIGN_DATABASE_URL": cluster.URL("postgres")}
	onServer(t, home, "", "import", "--engine", "rules", "--judge", writeFile(t, "flagged.jsonl", flagged(items)))
	onServer(t, home, "correct horse battery staple\n", "user", "add", "ada@example.org", "--role", "reviewer", "--password-stdin")
	token := strings.TrimSpace(onServer(t, home, "", "token", "create", "--user", "ada@example.org"))

	model, calls := endpoint(t, func(int64) (int, string) {
		time.Sleep(100 * time.Millisecond) // so that calls are under way when the database goes
		return http.StatusOK, equivalent
	})
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": model.URL + "/v1", "COUNTERSIGN_MODEL": "grader", "COUNTERSIGN_CONCURRENCY": "2"}
	for name, value := range home {
		env[name] = value
	}
	c := newConsole(t, env, "serve", "--addr", "127.0.0.1:0")
	c.now = nil
	address, stop := start(t, c)
	api := &visitor{t: t, client: &http.Client{Timeout: answerLimit}, token: token, seen: map[string]map[int]int{}}
	person := &visitor{t: t, client: signedIn(t, address, "ada@example.org", "correct horse battery staple"), seen: map[string]map[int]int{}}

	onServer(t, env, "", "import", writeFile(t, "asked.jsonl", asked(traces)))
	over, end := context.WithCancel(t.Context())
	var load sync.WaitGroup
	t.Cleanup(load.Wait)
	defer end()
	load.Go(func() {
		for {
			for _, path := range []string{"/queue", "/evaluations", "/healthz", "/readyz", "/"} {
				person.ask(path, http.MethodGet, address+path, "", http.StatusOK)
			}
			if over.Err() != nil || t.Failed() {
				return
			}
		}
	})
	load.Go(func() { api.decideAll(address) })
	waitUntil(t, "some judging and deciding", func() bool { return calls.Load() > 5 && api.count("decision", http.StatusOK) > 4 })
	cluster.Stop()
	waitUntil(t, "every kind of answer says that the database is away", func() bool {
		return person.count("/queue", 503) > 0 && person.count("/", 503) > 0 && person.count("/readyz", 503) > 0 &&
			api.count("claim", 503)+api.count("decision", 503) > 0
	})
	during := &visitor{t: t, client: person.client, seen: map[string]map[int]int{}}
	if _, page := during.ask("page", http.MethodGet, address+"/queue", ""); !strings.Contains(page, "The database server does not answer.") || !strings.Contains(page, "Try again") {
		t.Errorf("the page does not say what is the matter:\n%s", page)
	}
	if status, _ := during.ask("/healthz", http.MethodGet, address+"/healthz", "", http.StatusOK); status != http.StatusOK {
		t.Errorf("/healthz answers %d while the database is away", status)
	}
	if status, problem := api.ask("problem", http.MethodGet, address+"/api/v1/queue", ""); status != 503 || !strings.Contains(problem, `"status":503`) {
		t.Errorf("the API answers %d %s", status, problem)
	}
	time.Sleep(outageLasts(t))
	cluster.Start()
	back := time.Now()
	waitUntil(t, "all is judged", func() bool { return judged(t, home) == traces+items })
	t.Logf("all was judged %s after the database was back", time.Since(back).Round(time.Millisecond))
	end()
	load.Wait()

	// Accepted answers are drawn for an audit, too. A claim whose answer was lost
	// in the outage is still hers.
	api.decideAll(address)
	_, body := api.ask("rest", http.MethodGet, address+"/api/v1/queue?limit=500", "", http.StatusOK)
	var rest struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &rest); err != nil {
		t.Fatal(err)
	}
	for _, item := range rest.Items {
		api.decide(address, item.ID)
	}
	stop()
	t.Logf("answers: pages %v, API %v; %d left after lost claims", person.seen, api.seen, len(rest.Items))

	if got := calls.Load(); got != traces {
		t.Errorf("%d calls to the model, want %d: each exactly once", got, traces)
	}
	decided := map[string]int{}
	for d := json.NewDecoder(strings.NewReader(onServer(t, home, "", "export", "decisions"))); d.More(); {
		var made store.Decision
		if err := d.Decode(&made); err != nil {
			t.Fatal(err)
		}
		decided[made.ReviewID]++
	}
	for id, n := range decided {
		if n != 1 {
			t.Errorf("review %s was decided %d times", id, n)
		}
	}
	final := 0
	for _, e := range evaluations(t, onServer(t, home, "", "export", "evaluations")) {
		if e.Status == judge.Final {
			final++
		}
		if e.Attempts != 1 || e.Status == judge.InReview || e.Error != "" {
			t.Errorf("evaluation of %s: status %s after %d attempts, error %q", e.TraceID, e.Status, e.Attempts, e.Error)
		}
	}
	if len(decided) != final || final < items {
		t.Errorf("%d items were decided and %d are final, want the same and at least %d", len(decided), final, items)
	}
	if out := onServer(t, home, "", "audit", "verify"); !strings.Contains(out, "the chain holds") {
		t.Error(out)
	}
	for _, began := range []string{"the work list fails; judging waits", "replies can't be read or kept; they wait"} {
		if n := strings.Count(c.messages.String(), began); n > 1 {
			t.Errorf("one outage is told %d times: %q", n, began)
		}
	}
	began := strings.Count(c.messages.String(), "the work list fails") + strings.Count(c.messages.String(), "replies can't be read or kept")
	ended := strings.Count(c.messages.String(), "the work list works again") + strings.Count(c.messages.String(), "replies are kept again")
	if began == 0 || began != ended {
		t.Errorf("the outage is told %d times to begin and %d times to end:\n%s", began, ended, firstLines(c.messages.Bytes(), 40))
	}
}

// judged counts the evaluations that are settled or wait for a person.
func judged(t *testing.T, env map[string]string) int {
	n := 0
	for _, e := range evaluations(t, onServer(t, env, "", "export", "evaluations")) {
		if e.Status != judge.Queued && e.Status != judge.Judging {
			n++
		}
	}
	return n
}

func firstLines(text []byte, n int) []byte {
	all := bytes.SplitAfterN(text, []byte("\n"), n+1)
	return bytes.Join(all[:min(n, len(all))], nil)
}

// TestImportWaitsForTheDatabase: a batch is tried again until the database is
// back; the import says so.
func TestImportWaitsForTheDatabase(t *testing.T) {
	if !storetest.OnPostgres() {
		t.Skip("a database that goes away is PostgreSQL's; see TEST_ENGINE")
	}
	cluster := pgcluster.Start(t)
	env := map[string]string{"COUNTERSIGN_DATABASE_URL": cluster.URL("postgres")}
	onServer(t, env, "", "import", writeFile(t, "first.jsonl", lines(10)))
	read, write := io.Pipe()
	c := newConsole(t, env, "import", "-")
	messages := &lockedBuffer{}
	c.now, c.stdin, c.stderr = nil, read, messages
	ended := make(chan int, 1)
	go func() { ended <- c.run(t.Context()) }()
	if _, err := io.WriteString(write, lines(10)); err != nil { // read: the database is open
		t.Fatal(err)
	}
	cluster.Stop()
	go func() {
		_, err := io.WriteString(write, strings.ReplaceAll(lines(1500), `"id":"t`, `"id":"u`))
		_ = write.CloseWithError(err)
	}()
	waitUntil(t, "the import says that it waits", func() bool {
		return strings.Contains(messages.String(), "the database server does not answer") && strings.Contains(messages.String(), "trying for up to 1m0s")
	})
	cluster.Start()
	if code := <-ended; code != exitOK {
		t.Fatalf("exit code %d:\n%s%s", code, c.out, messages)
	}
	if want := "1,510 traces: 1,500 new, 0 new revisions, 10 unchanged;"; !strings.HasPrefix(c.out.String(), want) {
		t.Errorf("summary %q, want it to begin %q", c.out, want)
	}
	if !strings.Contains(messages.String(), "the database is there again; the import goes on") {
		t.Errorf("messages:\n%s", messages)
	}

	// A server that is not up yet is waited for by serve; import says at once.
	cluster.Stop()
	at := newConsole(t, env, "import", writeFile(t, "t.jsonl", lines(1)))
	at.now = nil
	if code := at.run(t.Context()); code != exitFailed || !strings.Contains(at.messages.String(), "the database server does not answer") {
		t.Errorf("exit code %d: %s", code, at.messages)
	}
	server := newConsole(t, env, "serve", "--addr", "127.0.0.1:0")
	waits := &lockedBuffer{}
	server.now, server.stderr = nil, waits
	listening, done := make(chan string, 1), make(chan int, 1)
	server.listening = func(address string) { listening <- address }
	ctx, stop := context.WithCancel(t.Context())
	go func() { done <- server.run(ctx) }()
	waitUntil(t, "serve says that it waits", func() bool { return strings.Contains(waits.String(), "waiting up to 30s for it") })
	cluster.Start()
	select {
	case <-listening:
		stop()
		if code := <-done; code != exitOK {
			t.Errorf("exit code %d:\n%s", code, waits)
		}
	case code := <-done:
		stop()
		t.Errorf("ended with %d before it listened:\n%s", code, waits)
	}
}

// lockedBuffer is read while others write it.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
