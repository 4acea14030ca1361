package webhook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/web/webhook"
)

var secret = []byte("a secret of the receiver")

// receiver is another system, which answers as it is told.
type receiver struct {
	mu   sync.Mutex
	got  []*http.Request
	body []string
	as   func(n int, w http.ResponseWriter)
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.mu.Lock()
	r.got, r.body = append(r.got, req), append(r.body, string(body))
	n := len(r.got)
	r.mu.Unlock()
	r.as(n, w)
}

func (r *receiver) n() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// alarmed is a database with an alarm.
func alarmed(t *testing.T) *store.Store {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: storetest.Address(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, op := t.Context(), store.Operator("test")
	if _, err := db.EnsureProject(ctx, op, "default"); err != nil {
		t.Fatal(err)
	}
	j := judge.Judge{Name: "j", PromptVersion: "v1", Source: []byte("x"), Labels: []judge.Label{{Name: "yes", Verdict: judge.Pass}, {Name: "no", Verdict: judge.Fail}}}
	if err := db.SaveJudges(ctx, op, "default", []judge.Judge{j}); err != nil {
		t.Fatal(err)
	}
	label := func(prefix string, verdict judge.Verdict) {
		var items []store.ImportItem
		at := time.Now()
		for i := range 60 {
			items = append(items, store.ImportItem{
				Trace: judge.Trace{ID: prefix + string(rune('A'+i)), Output: "o", Domain: "general", Labels: []judge.HumanLabel{{Judge: "j", Verdict: verdict, At: &at, Stratum: judge.StratumRandomAudit}}},
				Plan:  []judge.Planned{{Judge: "j", PromptVersion: "v1", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}},
			})
		}
		if _, err := db.ImportTraces(ctx, op, "default", items); err != nil {
			t.Fatal(err)
		}
		work, err := db.ClaimWork(ctx, judge.Claim{Worker: "w", N: 100, Lease: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		var done []judge.Finished
		for _, w := range work {
			done = append(done, judge.Finished{Work: w, Evaluation: judge.Evaluation{Status: judge.Accepted, Engine: judge.EngineRules, Verdict: judge.Pass, Label: "yes"}})
		}
		if err := db.FinishWork(ctx, done); err != nil {
			t.Fatal(err)
		}
	}
	label("base", judge.Pass)
	if _, err := db.FreezeBaseline(ctx, op, "default", "j", "rules", "v1"); err != nil {
		t.Fatal(err)
	}
	label("worse", judge.Fail)
	if n, err := db.LookForDrift(ctx); n != 1 || err != nil {
		t.Fatalf("%d alarms, error %v", n, err)
	}
	return db
}

// send runs a sender until the outbox is as it should be.
func send(t *testing.T, db *store.Store, s webhook.Sender, done func([]store.Delivery) bool) []store.Delivery {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		all, err := db.Deliveries(ctx, store.Operator("test"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if done(all) {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("still %+v", all)
		}
	}
}

func sender(db *store.Store, url string, log io.Writer) webhook.Sender {
	return webhook.Sender{Outbox: db, URL: url, Secret: secret, Log: slog.New(slog.NewTextHandler(log, nil)), FirstWait: 5 * time.Millisecond, Idle: 5 * time.Millisecond}
}

// TestMessagesArriveSigned: what fails at first is sent again, the same and signed,
// and nobody reads the secret or the address.
func TestMessagesArriveSigned(t *testing.T) {
	db := alarmed(t)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	defer elsewhere.Close()
	r := &receiver{as: func(n int, w http.ResponseWriter) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
		case 2:
			w.Header().Set("Location", elsewhere.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	}}
	server := httptest.NewServer(r)
	defer server.Close()
	var log bytes.Buffer
	all := send(t, db, sender(db, server.URL+"/hook?token=abc", &log), func(all []store.Delivery) bool { return len(all) == 1 && !all[0].DeliveredAt.IsZero() })
	if all[0].Attempts != 3 || all[0].LastError != "" || !all[0].NextAt.IsZero() || r.n() != 3 {
		t.Errorf("%+v after %d calls", all[0], r.n())
	}
	for i, req := range r.got {
		timestamp := req.Header.Get(webhook.HeaderTimestamp)
		if req.Method != http.MethodPost || req.Header.Get(webhook.HeaderID) != all[0].ID || r.body[i] != r.body[0] || timestamp == "" ||
			req.Header.Get(webhook.HeaderSignature) != "sha256="+webhook.Sign(secret, timestamp, []byte(r.body[i])) {
			t.Errorf("try %d: %v %s", i+1, req.Header, r.body[i])
		}
	}
	var said map[string]any
	if err := json.Unmarshal([]byte(r.body[0]), &said); err != nil {
		t.Fatal(err)
	}
	if said["event"] != "drift.alarm_opened" || said["id"] != all[0].ID || said["project"] != "default" || said["monitor"] != calibration.MonitorAgreement || said["n"] != 60.0 || said["direction"] != "lower" {
		t.Errorf("said %v", said)
	}
	if strings.Contains(log.String(), string(secret)) || strings.Contains(log.String(), "abc") {
		t.Errorf("the log tells: %s", log.String())
	}
}

// TestMessagesAreGivenUp after so many tries, and the last fault is told to admins
// alone.
func TestMessagesAreGivenUp(t *testing.T) {
	db := alarmed(t)
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close() // nobody listens
	s := sender(db, server.URL+"/hook?token=abc", io.Discard)
	s.FirstWait = time.Microsecond
	all := send(t, db, s, func(all []store.Delivery) bool { return len(all) == 1 && all[0].NextAt.IsZero() })
	if all[0].Attempts != webhook.MaxAttempts || !all[0].DeliveredAt.IsZero() || !strings.Contains(all[0].LastError, "no answer") || strings.Contains(all[0].LastError, "abc") {
		t.Errorf("%+v", all[0])
	}
	if _, err := db.Deliveries(t.Context(), store.Actor{UserID: "x", Name: "x", Role: store.Lead}, 0); err == nil {
		t.Error("a lead reads messages to other systems")
	}
}

// TestMessagesOfServersThatWereLost: several servers send a message once; one that a server
// took with it when it died is sent by another.
func TestMessagesOfServersThatWereLost(t *testing.T) {
	db := alarmed(t)
	lost, err := db.TakeDelivery(t.Context(), 300*time.Millisecond)
	if err != nil || lost == nil {
		t.Fatalf("took %+v, error %v", lost, err)
	}
	if again, err := db.TakeDelivery(t.Context(), time.Minute); again != nil || err != nil {
		t.Errorf("took %+v while it is held, error %v", again, err)
	}
	r := &receiver{as: func(int, http.ResponseWriter) {}}
	server := httptest.NewServer(r)
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() { _ = sender(db, server.URL, io.Discard).Run(ctx) })
	}
	all := send(t, db, sender(db, server.URL, io.Discard), func(all []store.Delivery) bool { return len(all) == 1 && !all[0].DeliveredAt.IsZero() })
	stop()
	group.Wait()
	if r.n() != 1 || all[0].Attempts != 2 {
		t.Errorf("%d calls, %+v", r.n(), all[0])
	}
}

func TestCheckOfTheAddress(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.org/hook": true, "http://10.0.0.1:8080/": true, "example.org/hook": false, "ftp://example.org": false, "https://a:b@example.org": false, "": false,
		"https://example.org:99999/hook": false, "https://example.org:0/": false, "https://example.org:65535/": true,
	} {
		if err := webhook.Check(address, secret); (err == nil) != want {
			t.Errorf("%q: %v", address, err)
		}
	}
	if err := webhook.Check("https://example.org", []byte("short")); err == nil {
		t.Error("a short secret is good enough")
	}
}
