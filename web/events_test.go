package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestEventsAcrossServers: what happens at one server is told at the other,
// with events of the audit log (claims, decisions) and without (renewals,
// claims that run out).
func TestEventsAcrossServers(t *testing.T) {
	here, there := twoSites(t)
	ada, _ := here.user("ada@example.org", store.Reviewer)
	ben, _ := here.user("ben@example.org", store.Reviewer)
	here.load(citationTrace("t1"), citationTrace("t2"))
	ctx := context.Background()

	v := there.signIn("ada@example.org")
	review := strings.TrimPrefix(v.post("/queue/next", url.Values{}).Request.URL.Path, "/reviews/")
	l := v.listen("?project=default&review=" + review)
	if got := l.wantOpen(2); got.Overdue != 0 {
		t.Errorf("%d overdue, want none", got.Overdue)
	}
	if got := l.wantClaim("yours"); got.Seconds != 30*60 || !got.Until.Equal(there.clock.now().Add(30*time.Minute)) || got.Holder != "" {
		t.Errorf("own claim: %+v", got)
	}
	here.clock.advance(10 * time.Minute)
	if _, err := here.store.RenewClaim(ctx, ada.Actor(), review); err != nil {
		t.Fatal(err)
	}
	if got := l.wantClaim("yours"); got.Seconds != 30*60 {
		t.Errorf("renewed at the other server: %+v", got)
	}
	here.clock.advance(31 * time.Minute)
	l.wantClaim("lapsed")
	if _, err := here.store.ClaimReview(ctx, ben.Actor(), review); err != nil {
		t.Fatal(err)
	}
	if got := l.wantClaim("taken"); got.Holder != "ben" || !strings.Contains(got.Text, "ben holds this item now") {
		t.Errorf("taken at the other server: %+v", got)
	}
	w := here.signIn("ben@example.org")
	w.get("/reviews/" + review)
	w.post("/reviews/"+review+"/decision", url.Values{"verdict": {"pass"}})
	w.post("/reviews/"+review+"/decision", url.Values{"action": {"keep"}, "reason_code": {"too_strict"}, "comment": {"zebra comment"}})
	l.wantOpen(1)
	l.wantClaim("decided")
	here.clock.advance(30 * 24 * time.Hour)
	here.load(citationTrace("t3"))
	if got := l.wantOpen(2); got.Overdue != 1 {
		t.Errorf("%d overdue after a month, want 1", got.Overdue)
	}
	if word := tells(l.text()); word != "" || strings.Contains(l.text(), "zebra") {
		t.Errorf("the events tell %q:\n%s", word, l.text())
	}
}

// TestEventsTellNothingSealed: two worlds that differ in nothing but what the
// judge said give the same bytes.
func TestEventsTellNothingSealed(t *testing.T) {
	world := func(v judge.Verdict, label string, score float64, critical bool, code string) string {
		s := newSite(t)
		s.web.Beat(50*time.Millisecond, time.Hour)
		s.user("ada@example.org", store.Reviewer)
		tr := citationTrace("t1")
		plan, err := s.harness.Plan(&tr)
		if err != nil {
			t.Fatal(err)
		}
		storetest.Import(t, s.store, []store.ImportItem{{Trace: tr, Plan: plan}})
		for _, w := range storetest.Claim(t, s.store, 10) {
			f := storetest.Flagged(w, code)
			f.Evaluation.Verdict, f.Evaluation.Label, f.Evaluation.Score, f.Evaluation.Critical = v, label, &score, critical
			if err := s.store.FinishWork(context.Background(), []judge.Finished{f}); err != nil {
				t.Fatal(err)
			}
		}
		visitor := s.signIn("ada@example.org")
		items, _, err := s.store.ListQueue(context.Background(), store.Operator("test"), store.QueueFilter{})
		if err != nil || len(items) != 1 || !items[0].Blind {
			t.Fatalf("queue = %+v (%v), want one blind item", items, err)
		}
		l := visitor.listen("?review=" + items[0].ReviewID)
		l.wantClaim("free")
		visitor.post("/queue/next", url.Values{})
		l.wantClaim("yours")
		visitor.post("/reviews/"+items[0].ReviewID+"/release", url.Values{})
		l.wantClaim("free")
		// Ids count audit events, whose number is not the judge's; which of them a
		// look at the database sees is a matter of the moment.
		return regexp.MustCompile(`(?m)^id: \d+$`).ReplaceAllString(l.text(), "id: N")
	}
	failed := world(judge.Fail, "inaccurate", 0.125, true, judge.ReasonCriticalError)
	passed := world(judge.Pass, "accurate", 0.975, false, judge.ReasonUntrustedJudge)
	if diff := cmp.Diff(failed, passed); diff != "" {
		t.Errorf("the streams differ with the judge's answer (-fail +pass):\n%s", diff)
	}
}

func TestEventsRefuse(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org")
	for _, c := range []struct {
		name  string
		v     *visitor
		query string
		want  int
	}{
		{"nobody", s.visitor(), "", http.StatusUnauthorized},
		{"no such item", v, "?review=nope", http.StatusNotFound},
		{"no such project", v, "?project=nope", http.StatusNotFound},
	} {
		resp, _ := c.v.stream(c.query)
		if resp.StatusCode != c.want || resp.Request.URL.Path != "/events" {
			t.Errorf("%s: %s at %s, want %d", c.name, resp.Status, resp.Request.URL, c.want)
		}
	}
	if n, _ := s.web.Listeners(); n != 0 {
		t.Errorf("%d listen, want none", n)
	}
}

// TestEventsResume: who comes back with the present pulse is not told again
// what has not changed.
func TestEventsResume(t *testing.T) {
	s := newSite(t)
	s.web.Beat(50*time.Millisecond, time.Hour)
	s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"), citationTrace("t2"))
	v := s.signIn("ada@example.org")
	review := strings.TrimPrefix(v.post("/queue/next", url.Values{}).Request.URL.Path, "/reviews/")
	l := v.listen("?review=" + review)
	first := l.next()
	if first.name != "queue" || first.id == "" {
		t.Fatalf("first event = %+v, want the counts with an id", first)
	}
	l.end()
	l = v.listen("?review="+review, "Last-Event-ID", first.id)
	if e := l.next(); e.name != "claim" {
		t.Errorf("after coming back the first event is %+v, want the claim", e)
	}
	s.load(citationTrace("t3"))
	l.wantOpen(3)
	l = v.listen("?review="+review, "Last-Event-ID", first.id)
	if e := l.next(); e.name != "queue" || !strings.Contains(e.data, `"open":3`) {
		t.Errorf("after coming back late the first event is %+v, want the counts", e)
	}
}

func TestEventsLimits(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.user("ben@example.org", store.Reviewer)
	ada, ben := s.signIn("ada@example.org"), s.signIn("ben@example.org")
	full := func(who *visitor) {
		t.Helper()
		resp, _ := who.stream("")
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("one too many: %s, Retry-After %q", resp.Status, resp.Header.Get("Retry-After"))
		}
	}
	var open []*listening
	for range 8 {
		open = append(open, ada.listen(""))
	}
	full(ada)
	ben.listen("")
	open[0].end()
	eventually(t, "the place is free again", func() bool { n, _ := s.web.Listeners(); return n == 8 })
	ada.listen("").wantOpen(0)

	s.web.LimitListeners(100, 9)
	full(ben)
	for _, l := range open {
		l.end()
	}
	eventually(t, "places are free again", func() bool { n, _ := s.web.Listeners(); return n == 2 })
	ben.listen("").wantOpen(0)
}

// TestEventsStopAsking: nobody listens, nothing is asked.
func TestEventsStopAsking(t *testing.T) {
	s := newSite(t)
	s.web.Beat(20*time.Millisecond, time.Hour)
	s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org")
	for range 2 {
		l := v.listen("")
		l.wantOpen(0)
		if _, asking := s.web.Listeners(); !asking {
			t.Error("somebody listens and nobody asks")
		}
		l.end()
		eventually(t, "the asking ends", func() bool { n, asking := s.web.Listeners(); return n == 0 && !asking })
	}
}

// TestEventsEndWithTheSession: signed out anywhere, or disabled.
func TestEventsEndWithTheSession(t *testing.T) {
	here, there := twoSites(t)
	here.user("ada@example.org", store.Reviewer)
	here.user("ben@example.org", store.Reviewer)
	ends := func(l *listening) {
		t.Helper()
		wants(l, "end", func(m struct{ Message string }) bool { return strings.Contains(m.Message, "signed out") })
		l.wantEnd()
	}
	l, v := there.signIn("ada@example.org").listen(""), here.signIn("ada@example.org")
	others := there.signIn("ben@example.org").listen("")
	l.wantOpen(0)
	v.get("/")
	v.post("/logout", url.Values{})
	ends(l)
	others.wantOpen(0)
	if err := here.store.DisableUser(context.Background(), store.Operator("test"), "ben@example.org"); err != nil {
		t.Fatal(err)
	}
	ends(others)
}

// TestEventsOutlastTimeouts: limits that are right for requests that end do not
// end a stream.
func TestEventsOutlastTimeouts(t *testing.T) {
	s := newSite(t)
	s.web.Beat(50*time.Millisecond, 100*time.Millisecond)
	s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org") // where there is time for it
	server := httptest.NewUnstartedServer(s.web)
	server.Config.ReadTimeout, server.Config.WriteTimeout = time.Second, time.Second
	server.Start()
	s.http.Close()
	s.http = server
	l := v.listen("")
	for range 25 { // two seconds and a half of them
		l.first("a comment", func(e event) bool { return e.name == ":" })
	}
	s.load(citationTrace("t1"))
	l.wantOpen(1)
}

// TestShutdownEndsStreams: without that it would wait for them, and fail.
func TestShutdownEndsStreams(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org")
	s.http.Config.RegisterOnShutdown(s.web.EndStreams)
	l := v.listen("")
	l.wantOpen(0)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := s.http.Config.Shutdown(ctx); err != nil {
		t.Errorf("shut down with an open stream: %v", err)
	}
	l.wantEnd()
	r := httptest.NewRequest(http.MethodGet, "/events", nil)
	at, err := url.Parse(s.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range v.client.Jar.Cookies(at) {
		r.AddCookie(cookie)
	}
	late := httptest.NewRecorder()
	s.web.ServeHTTP(late, r)
	if late.Code != http.StatusServiceUnavailable {
		t.Errorf("a stream after the end: %d, want 503", late.Code)
	}
}

// TestEventsTrouble: the database is away for a while. It is told once, the
// stream stays open, and the counts come when it is back.
func TestEventsTrouble(t *testing.T) {
	c := newClock()
	address := storetest.Address(t)
	s := siteOver(t, openStore(t, address, c), c)
	s.web.Beat(20*time.Millisecond, time.Hour)
	s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	l := v.listen("")
	l.wantOpen(1)
	behind := openBehind(t, address)
	behind(`ALTER TABLE audit_head RENAME TO audit_head_away`)
	trouble := func(m struct{ Message string }) bool { return strings.Contains(m.Message, "database") }
	wants(l, "trouble", trouble)
	wants(v.listen(""), "trouble", trouble) // which took another look at it
	behind(`ALTER TABLE audit_head_away RENAME TO audit_head`)
	if e := l.next(); e.name != "queue" || !strings.Contains(e.data, `"open":1`) {
		t.Errorf("after one trouble came %+v, want the counts", e)
	}
	if n := strings.Count(s.log.String(), "no news for open pages"); n != 1 {
		t.Errorf("the trouble is in the log %d times, want once", n)
	}
}

// slowReader is a reader whose connection takes nothing until it is let.
type slowReader struct {
	*httptest.ResponseRecorder
	mu      sync.Mutex
	blocked chan struct{} // closed when it takes again
	fail    error         // what a write then gives
	waits   chan struct{} // gets one for each write that waits
}

func (r *slowReader) Write(b []byte) (int, error) {
	r.waits <- struct{}{}
	<-r.blocked
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return 0, r.fail
	}
	return r.ResponseRecorder.Write(b)
}

func (*slowReader) SetWriteDeadline(time.Time) error { return nil }

// TestSlowReader: it holds up nobody, is told the latest and not all that it
// missed, and is dropped when it takes too long.
func TestSlowReader(t *testing.T) {
	s := newSite(t)
	s.web.Beat(20*time.Millisecond, time.Hour)
	s.user("ada@example.org", store.Reviewer)
	v := s.signIn("ada@example.org")
	at, err := url.Parse(s.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	slow := func(fail error) (r *slowReader, leave context.CancelFunc, left chan struct{}) {
		ctx, leave := context.WithCancel(context.Background())
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil)
		for _, cookie := range v.client.Jar.Cookies(at) {
			req.AddCookie(cookie)
		}
		r = &slowReader{ResponseRecorder: httptest.NewRecorder(), blocked: make(chan struct{}), fail: fail, waits: make(chan struct{}, 100)}
		left = make(chan struct{})
		go func() {
			defer close(left)
			s.web.ServeHTTP(r, req)
		}()
		<-r.waits
		return r, leave, left
	}
	late, leave, left := slow(nil)
	dropped, _, gone := slow(os.ErrDeadlineExceeded)
	quick := v.listen("")
	quick.wantOpen(0)
	for i := range 5 {
		s.load(citationTrace(fmt.Sprint("t", i)))
		quick.wantOpen(i + 1)
	}
	close(dropped.blocked)
	<-gone
	close(late.blocked)
	<-late.waits // the retry line went out, and now what it missed
	eventually(t, "the late one is told", func() bool {
		late.mu.Lock()
		defer late.mu.Unlock()
		return strings.Contains(late.Body.String(), `"open":5`)
	})
	leave()
	<-left
	if n := strings.Count(late.Body.String(), "event: queue"); n != 1 {
		t.Errorf("the late one was told %d times, want the latest only:\n%s", n, late.Body)
	}
	if n, _ := s.web.Listeners(); n != 1 {
		t.Errorf("%d listen, want the quick one", n)
	}
}

// openBehind runs statements on the database behind the store's back.
func openBehind(t testing.TB, address string) (exec func(statement string)) {
	t.Helper()
	db := storetest.Raw(t, address)
	return func(statement string) {
		t.Helper()
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
}
