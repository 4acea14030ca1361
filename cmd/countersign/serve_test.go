package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
)

// start runs a serving command in the background; it gives the address once
// the server listens, and a function that stops it and checks its exit code.
func start(t *testing.T, c *console) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	listening, ended := make(chan string, 1), make(chan int, 1)
	c.listening = func(address string) { listening <- address }
	go func() { ended <- c.run(ctx) }()
	select {
	case address = <-listening:
	case code := <-ended:
		t.Fatalf("ended with %d before it listened:\n%s%s", code, c.out, c.messages)
	case <-time.After(5 * time.Minute): // far more than the demo takes under the race detector
		t.Fatal("it did not listen within five minutes")
	}
	return "http://" + address, func() {
		t.Helper()
		cancel()
		if code := <-ended; code != exitOK {
			t.Errorf("stopped with %d, want %d:\n%s", code, exitOK, c.messages)
		}
	}
}

func get(t *testing.T, client *http.Client, url string) (status int, body string) {
	t.Helper()
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestDemo starts the demo twice on one folder, and signs each role in with its
// address.
func TestDemo(t *testing.T) {
	data := t.TempDir()
	for round := range 2 {
		c := newConsole(t, nil, "demo", "--addr", "127.0.0.1:0", "--data", data)
		c.now = nil // sessions are held against the clock of the cookie codec
		began := time.Now()
		address, stop := start(t, c)
		t.Logf("round %d: ready after %s", round, time.Since(began).Round(time.Millisecond))
		links := regexp.MustCompile(`(?m)^  (reviewer|lead|auditor) +(http://\S+/login/demo\?token=\S+)$`).FindAllStringSubmatch(c.out.String(), -1)
		if len(links) != 3 || !strings.HasPrefix(links[0][2], address) {
			t.Fatalf("no address for each role at %s:\n%s", address, c.out)
		}
		for _, link := range links {
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Jar: jar}
			status, page := get(t, client, link[2])
			if status != http.StatusOK || !strings.Contains(page, "Overview") {
				t.Errorf("%s: status %d at the end of the sign-in address", link[1], status)
			}
			// An open page must not hold up the end of the server.
			stream, err := client.Get(address + "/events")
			if err != nil {
				t.Fatal(err)
			}
			defer stream.Body.Close()
			if stream.StatusCode != http.StatusOK {
				t.Errorf("%s: the stream of events answers %s", link[1], stream.Status)
			}
		}
		if status, _ := get(t, http.DefaultClient, address+"/login/demo?token=forged"); status != http.StatusForbidden {
			t.Errorf("a forged address answers %d, want %d", status, http.StatusForbidden)
		}
		stop()
	}
	report := mustRun(t, exitOK, nil, "calibration", "--data", data)
	for _, want := range []string{`answer-equivalence  gpt-4 .* 989 +0\.85`, `rationale-grading  .* 332 +0\.77`} {
		if !regexp.MustCompile(want).MatchString(regexp.MustCompile(` +`).ReplaceAllString(report.out.String(), "  ")) {
			t.Errorf("the calibration of the demo does not match %q:\n%s", want, report.out)
		}
	}
	mustRun(t, exitOK, nil, "audit", "verify", "--data", data)
	checkDemoHistory(t, data)
}

// TestServe judges what a second process imports while it serves, by an own
// judge that it did not know when it started.
func TestServe(t *testing.T) {
	home := newHome(t)
	c := newConsole(t, home.env, "serve", "--addr", "127.0.0.1:0")
	address, stop := start(t, c)
	if status, _ := get(t, http.DefaultClient, address+"/healthz"); status != http.StatusOK {
		t.Errorf("/healthz answers %d", status)
	}
	if !strings.Contains(c.messages.String(), "; database "+place(t, home)+"; judging by rules") {
		t.Errorf("it does not say which database it serves:\n%s", c.messages)
	}
	if !strings.Contains(c.messages.String(), "nobody can sign in yet") {
		t.Errorf("an empty installation does not say how to begin:\n%s", c.messages)
	}
	own := writeFile(t, "mood.yaml", `name: mood
inputs: {output: required}
prompt: "[CANDIDATE_OUTPUT]"
schema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}
report: {label: /mood}
labels: [{name: good, verdict: pass}, {name: bad, verdict: fail}]
`)
	file := writeFile(t, "t.jsonl", `{"id":"a","output":"hurray","judges":["mood"],"judgments":[{"judge":"mood","output":{"mood":"good"}}]}`)
	mustRun(t, exitOK, home.env, "import", "--judges", own, file)
	deadline := time.Now().Add(30 * time.Second)
	for {
		found := mustRun(t, exitOK, home.env, "export", "evaluations")
		if strings.Contains(found.out.String(), `"verdict":"pass","label":"good"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not judged within 30 s:\n%s\n%s", found.out, c.messages)
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
}

func TestServeRefuses(t *testing.T) {
	short := mustRun(t, exitUsage, map[string]string{"COUNTERSIGN_SESSION_KEY": "short"}, "serve", "--data", t.TempDir())
	if got, want := short.messages.String(), "the session key has 5 bytes: give 32 or more"; !strings.Contains(got, want) {
		t.Errorf("message %q, want %q in it", got, want)
	}
	home := newHome(t)
	c := newConsole(t, home.env, "serve", "--addr", "127.0.0.1:0")
	address, stop := start(t, c)
	defer stop()
	taken := mustRun(t, exitFailed, home.env, "serve", "--addr", strings.TrimPrefix(address, "http://"))
	if got, want := taken.messages.String(), "free the address, or choose another with --addr"; !strings.Contains(got, want) {
		t.Errorf("message %q, want %q in it", got, want)
	}
}

// place is how messages name the database: without what only the program needs.
func place(t *testing.T, h home) string {
	t.Helper()
	at, err := store.Options{URL: h.address}.Place()
	if err != nil {
		t.Fatal(err)
	}
	return at
}
