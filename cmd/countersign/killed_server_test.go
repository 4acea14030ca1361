package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// child is a countersign of its own process, which can be killed.
type child struct {
	t       *testing.T
	cmd     *exec.Cmd
	address chan string // of a server, once it listens
	said    chan string // all that it wrote, when it has ended
}

// startChild starts this program as a process of its own.
func startChild(t *testing.T, env map[string]string, stdin io.Reader, args ...string) *child {
	t.Helper()
	p := &child{t: t, cmd: exec.Command("countersign", args...), address: make(chan string, 1), said: make(chan string, 1)}
	p.cmd.Env = append(os.Environ(), "OPENAI_API_KEY=sk-none", "COUNTERSIGN_CONFIG=")
	for name, value := range env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdin = stdin
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // most have ended by then
	go p.listen(out)
	return p
}

var servesAt = regexp.MustCompile(`countersign serves (http://[^;\s]+)`)

func (p *child) listen(out *os.File) {
	defer out.Close()
	var all bytes.Buffer
	for lines := bufio.NewScanner(out); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if m := servesAt.FindStringSubmatch(lines.Text()); m != nil {
			p.address <- m[1]
		}
	}
	p.said <- all.String()
}

// kill ends the process as kill -9 does, and waits until it is gone. It must
// not have ended by itself.
func (p *child) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatalf("kill: %v", err)
	}
	err := p.cmd.Wait()
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		p.t.Fatalf("the process ended by itself: %v\n%s", err, <-p.said)
	}
}

// end stops the process in good order.
func (p *child) end() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("stopped with %v\n%s", err, <-p.said)
	}
}

// countedModel is an OpenAI-compatible endpoint that counts how often it is
// asked about each case.
type countedModel struct {
	*httptest.Server
	mu    sync.Mutex
	calls map[string]int
}

// caseName is what tells cases apart in prompts and replies.
var caseName = regexp.MustCompile(`case-\d{6}`)

// isAmbiguous says which cases the model can't tell: a person decides those.
func isAmbiguous(name string) bool { return (name[len(name)-1]-'0')%2 == 1 }

func newCountedModel(t *testing.T) *countedModel {
	m := &countedModel{calls: map[string]int{}}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		name := caseName.FindString(string(body))
		if err != nil || name == "" {
			return // the caller was killed while it sent
		}
		m.mu.Lock()
		m.calls[name]++
		m.mu.Unlock()
		time.Sleep(5*time.Millisecond + rand.N(40*time.Millisecond))
		said := strings.Replace(equivalent, "the same", name+" is the same", 1)
		if isAmbiguous(name) {
			said = `{"similarity_score":0.7,"equivalence_class":"acceptable_variation","partial_credit":0.7,"rationale":"` + name +
				` says nearly the same","key_differences":["the end is another"],"critical_error_count":0}`
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{ // who was killed does not read it
			"id": "1", "object": "chat.completion", "created": 1, "model": "grader",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": said}}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
		})
	}))
	t.Cleanup(m.Close)
	return m
}

// asked is how often the model was asked about each case until now.
func (m *countedModel) asked() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := make(map[string]int, len(m.calls))
	for name, n := range m.calls {
		calls[name] = n
	}
	return calls
}

// caseLine is a trace about the n-th case, as a line of a trace file.
func caseLine(n int) string {
	return fmt.Sprintf(`{"id":"case-%06d","output":"the candidate says case-%06d ends well","reference":"the reference says case-%06d ends so","judges":["reference"]}`+"\n", n, n, n)
}
