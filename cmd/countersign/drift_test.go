package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/web/webhook"
)

// audited are traces on which the embedded judge passes, with labels of a random audit.
func audited(prefix, label, at string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%s%d","output":"it is %d","reference":"it is %d","judges":["reference"],"labels":[{"judge":"reference","verdict":"%s","reviewer":"r","at":"%s","stratum":"random_audit","inclusion_probability":0.05}]}`+"\n",
			prefix, i, i, i, label, at)
	}
	return b.String()
}

// TestDriftByCommandAndMessage: a baseline is frozen, an alarm opened and closed at the
// command line, and a server tells another system of both.
func TestDriftByCommandAndMessage(t *testing.T) {
	home := newHome(t)
	mustRun(t, exitOK, home.env, "import", "--judge", "--engine", "rules", writeFile(t, "t.jsonl", audited("base", "pass", "2026-04-30T09:00:00Z", 60)))
	c := mustRun(t, exitOK, home.env, "drift")
	line := regexp.MustCompile(`reference +rules +(\S+) +- .*no baseline`).FindStringSubmatch(c.out.String())
	if line == nil {
		t.Fatalf("before: %s", c.out)
	}
	c = mustRun(t, exitOK, home.env, "drift", "freeze", "--judge", "reference", "--model", "rules", "--version", strings.TrimSuffix(line[1], "…"))
	// Some were drawn for an audit here and wait blind: their labels do not count yet.
	if !regexp.MustCompile(`frozen: [456]\d labels of random audits, [456]\d of them agree; 60 verdicts`).MatchString(c.messages.String()) {
		t.Errorf("frozen: %s", c.messages)
	}
	mustRun(t, exitOK, home.env, "import", "--judge", "--engine", "rules", writeFile(t, "t.jsonl", audited("worse", "fail", "2026-05-02T09:00:00Z", 40)))
	c = mustRun(t, exitOK, home.env, "drift", "--look")
	alarm := regexp.MustCompile(`alarm (\S+): lower than the baseline`).FindStringSubmatch(c.out.String())
	if alarm == nil || !strings.Contains(c.messages.String(), "1 alarm opened") {
		t.Fatalf("looked: %s%s", c.messages, c.out)
	}
	// Beside what was found stands its confidence sequence, as in --json.
	var views []struct {
		Drift struct {
			Monitors []struct {
				Monitor string   `json:"monitor"`
				Low     *float64 `json:"seq_low"`
				High    *float64 `json:"seq_high"`
			} `json:"monitors"`
		} `json:"drift"`
	}
	if err := json.Unmarshal(mustRun(t, exitOK, home.env, "drift", "--json").out.Bytes(), &views); err != nil {
		t.Fatal(err)
	}
	for _, m := range views[0].Drift.Monitors {
		if m.Monitor == "agreement" && !strings.Contains(c.out.String(), fmt.Sprintf("(%.2f to %.2f)  ", *m.Low, *m.High)) {
			t.Errorf("no sequence from %.2f to %.2f in %s", *m.Low, *m.High, c.out)
		}
	}
	mustRun(t, exitUsage, home.env, "drift", "close", alarm[1])
	mustRun(t, exitOK, home.env, "drift", "close", alarm[1], "--reason", "the labels were wrong")

	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.Header.Get(webhook.HeaderSignature) != "sha256="+webhook.Sign([]byte("0123456789abcdef"), r.Header.Get(webhook.HeaderTimestamp), body) {
			t.Errorf("signature %s", r.Header.Get(webhook.HeaderSignature))
		}
		got <- r.Header.Get(webhook.HeaderEvent) + " " + string(body)
	}))
	defer receiver.Close()
	c = mustRun(t, exitUsage, home.env, "serve", "--addr", "127.0.0.1:0", "--webhook-url", receiver.URL)
	if !strings.Contains(c.messages.String(), "COUNTERSIGN_WEBHOOK_SECRET") {
		t.Errorf("without a secret: %s", c.messages)
	}
	home.env["COUNTERSIGN_WEBHOOK_SECRET"], home.env["COUNTERSIGN_WEBHOOK_URL"] = "0123456789abcdef", receiver.URL
	server := newConsole(t, home.env, "serve", "--addr", "127.0.0.1:0")
	_, stop := start(t, server)
	for _, want := range []string{"drift.alarm_opened ", "drift.alarm_closed "} {
		select {
		case said := <-got:
			if !strings.HasPrefix(said, want) || !strings.Contains(said, alarm[1]) {
				t.Errorf("told %s, want %s", said, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s was not told", want)
		}
	}
	stop()
	if strings.Contains(server.messages.String(), "0123456789abcdef") {
		t.Error("the secret is in the log")
	}
}

// Recorded reports that do not say their version are listed, so their baseline can be
// frozen.
func TestDriftOfAnUnknownVersion(t *testing.T) {
	home := newHome(t)
	recorded := func(prefix string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"id":"%s%d","output":"it is six","reference":"six","judges":["reference"],"judgments":[{"judge":"reference","model":"m","output":`+equivalent+`}]}`+"\n", prefix, i)
		}
		return writeFile(t, "t.jsonl", b.String())
	}
	mustRun(t, exitOK, home.env, "import", "--judge", recorded("base", 40))
	c := mustRun(t, exitOK, home.env, "drift")
	if !regexp.MustCompile(`reference +m +unknown`).MatchString(c.out.String()) {
		t.Fatalf("before: %s", c.out)
	}
	mustRun(t, exitOK, home.env, "drift", "freeze", "--judge", "reference", "--model", "m", "--version", "unknown")
	c = mustRun(t, exitUsage, home.env, "drift", "freeze", "--judge", "reference", "--model", "m", "--version", "nothing")
	if !strings.Contains(c.messages.String(), "versions \"nothing\"") {
		t.Errorf("told %s", c.messages)
	}
}
