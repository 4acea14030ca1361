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
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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

// bareClient makes the calls and stores the rows, and does nothing else.
func bareClient(ctx context.Context, url, out string, concurrency int, calls, rows [][]byte) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = concurrency, concurrency
	client := http.Client{Transport: transport}
	defer transport.CloseIdleConnections()
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

func bareCall(ctx context.Context, client *http.Client, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", bytes.NewReader(body))
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

// cpu is the processor time of this process so far: client, program and
// endpoint together.
func cpu() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkJudgeCommand is the whole command over 5,000 traces of 4 KB with five
// citations, against a client that makes the same calls and writes the same rows,
// one after the other. The best of all rounds counts, since a machine that others
// use is only ever slower.
func BenchmarkJudgeCommand(b *testing.B) {
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
			env := endpointEnv(server)
			out := filepath.Join(b.TempDir(), "out.jsonl")
			judge := func() {
				s := state{
					args:  []string{"judge", "--concurrency", fmt.Sprint(c.concurrency), "--out", out, path},
					stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
					lookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
				}
				if code := run(b.Context(), &s); code != exitOK {
					b.Fatalf("exit code %d", code)
				}
			}
			judge() // fills the tape
			text, err := os.ReadFile(out)
			if err != nil {
				b.Fatal(err)
			}
			rows := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
			if len(rows) != n || len(model.calls) != n {
				b.Fatalf("%d rows of %d calls, want %d of each", len(rows), len(model.calls), n)
			}
			var ours, bare, oursCPU, bareCPU time.Duration
			best := func(best *time.Duration, took time.Duration) {
				if *best == 0 || took < *best {
					*best = took
				}
			}
			for b.Loop() {
				at, used := time.Now(), cpu()
				judge()
				best(&ours, time.Since(at))
				best(&oursCPU, cpu()-used)
				at, used = time.Now(), cpu()
				if err := bareClient(b.Context(), server.URL+"/v1", filepath.Join(b.TempDir(), "bare.jsonl"), c.concurrency, model.calls, rows); err != nil {
					b.Fatal(err)
				}
				best(&bare, time.Since(at))
				best(&bareCPU, cpu()-used)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(ours.Seconds(), "s/judge")
			b.ReportMetric(bare.Seconds(), "s/bare")
			b.ReportMetric(100*bare.Seconds()/ours.Seconds(), "%of-bare-speed")
			b.ReportMetric(n/ours.Seconds(), "evaluations/s")
			b.ReportMetric(float64((oursCPU-bareCPU).Microseconds())/n, "µs-cpu-over-bare/evaluation")
		})
	}
}
