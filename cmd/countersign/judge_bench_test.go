package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/judge/openai/fakeendpoint"
)

// tapedModel answers from memory what an endpoint answered once, so that what is
// measured is its callers.
type tapedModel struct {
	endpoint http.Handler
	latency  time.Duration
	seed     maphash.Seed
	mu       sync.Mutex
	answers  map[uint64][]byte
	calls    [][]byte // the bodies that were new, as they came
}

func (m *tapedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller left
	}
	key := maphash.Bytes(m.seed, body)
	m.mu.Lock()
	answer := m.answers[key]
	m.mu.Unlock()
	if answer == nil {
		r.Body = io.NopCloser(bytes.NewReader(body))
		taped := httptest.NewRecorder()
		m.endpoint.ServeHTTP(taped, r)
		answer = taped.Body.Bytes()
		m.mu.Lock()
		m.answers[key] = answer
		m.calls = append(m.calls, body)
		m.mu.Unlock()
	} else if m.latency > 0 {
		time.Sleep(m.latency)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer) // a caller that left fails the benchmark by itself
}

// bareMain is the program bare: it makes the calls that are lines of a file,
// writes the rows that are lines of another, and does nothing else.
func bareMain() {
	url, calls, rows, out := os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	concurrency, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = bareClient(context.Background(), url, out, concurrency, calls, rows)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func bareClient(ctx context.Context, url, out string, concurrency int, callsFile, rowsFile string) error {
	calls, err := fileLines(callsFile)
	if err != nil {
		return err
	}
	rows, err := fileLines(rowsFile)
	if err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = concurrency, concurrency
	client := http.Client{Transport: transport}
	w := bufio.NewWriter(f)
	var mu sync.Mutex
	var next atomic.Int64
	faults := make(chan error, concurrency)
	for range concurrency {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(calls) {
					faults <- nil
					return
				}
				if err := bareCall(ctx, &client, url, calls[i]); err != nil {
					faults <- err
					return
				}
				mu.Lock()
				_, err := w.Write(rows[i])
				mu.Unlock()
				if err != nil {
					faults <- err
					return
				}
			}
		}()
	}
	for range concurrency {
		err = errors.Join(err, <-faults)
	}
	return errors.Join(err, w.Flush(), f.Sync(), f.Close())
}

func fileLines(path string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	return bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")), err
}

func bareCall(ctx context.Context, client *http.Client, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(bytes.TrimSuffix(body, []byte("\n"))))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer sk-test")
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var completion struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&completion); err != nil {
		return err
	}
	if len(completion.Choices) != 1 || completion.Choices[0].Message.Content == "" {
		return errors.New("no answer")
	}
	return nil
}

// spent is what a process of its own took.
type spent struct {
	wall, cpu time.Duration
}

// less keeps the smaller of each, since a machine that others use is only ever
// slower.
func (s *spent) less(o spent) {
	if s.wall == 0 {
		*s = o
		return
	}
	s.wall, s.cpu = min(s.wall, o.wall), min(s.cpu, o.cpu)
}

// measured runs a program to its end.
func measured(b *testing.B, env map[string]string, name string, args ...string) spent {
	b.Helper()
	c := exec.Command(name, args...)
	c.Env = append(os.Environ(), "COUNTERSIGN_CONFIG=")
	for name, value := range env {
		c.Env = append(c.Env, name+"="+value)
	}
	at := time.Now()
	if said, err := c.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", name, err, said)
	}
	return spent{wall: time.Since(at), cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
}

// BenchmarkJudgeCommand is the whole command over 5,000 traces of 4 KB with five
// citations, against a client that makes the same calls and writes the same rows.
// Each is a process of its own, one after the other; the endpoint is this one. The
// best of all rounds counts.
func BenchmarkJudgeCommand(b *testing.B) {
	// What the endpoint clears away must not take the processors from its callers.
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	for _, c := range []struct {
		latency     time.Duration
		concurrency int
	}{{200 * time.Millisecond, 128}, {0, 32}} {
		b.Run(fmt.Sprintf("latency=%s,concurrency=%d", c.latency, c.concurrency), func(b *testing.B) {
			const n = 5000
			path, _ := benchLines(b, n)
			model := &tapedModel{endpoint: fakeendpoint.New(fakeendpoint.Config{}), latency: c.latency, seed: maphash.MakeSeed(), answers: map[uint64][]byte{}}
			server := httptest.NewServer(model)
			defer server.Close()
			folder := b.TempDir()
			out, calls := filepath.Join(folder, "out.jsonl"), filepath.Join(folder, "calls.jsonl")
			env, concurrency := endpointEnv(server), fmt.Sprint(c.concurrency)
			judge := func() spent {
				return measured(b, env, "countersign", "judge", "--concurrency", concurrency, "--force", "--out", out, path)
			}
			judge() // fills the tape
			rows, err := fileLines(out)
			if err != nil {
				b.Fatal(err)
			}
			if len(rows) != n || len(model.calls) != n {
				b.Fatalf("%d rows of %d calls, want %d of each", len(rows), len(model.calls), n)
			}
			if err := os.WriteFile(calls, bytes.Join(model.calls, []byte("\n")), 0o600); err != nil {
				b.Fatal(err)
			}
			var ours, bare spent
			for b.Loop() {
				ours.less(judge())
				bare.less(measured(b, nil, "bare", concurrency, server.URL+"/v1", calls, out, filepath.Join(folder, "bare.jsonl")))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours.wall.Seconds(), "s/judge")
			b.ReportMetric(bare.wall.Seconds(), "s/bare")
			b.ReportMetric(100*bare.wall.Seconds()/ours.wall.Seconds(), "%of-bare-speed")
			b.ReportMetric(n/ours.wall.Seconds(), "evaluations/s")
			b.ReportMetric(float64(ours.cpu.Microseconds())/n, "µs-cpu/evaluation")
			b.ReportMetric(float64(bare.cpu.Microseconds())/n, "µs-cpu/bare-call")
		})
	}
}
