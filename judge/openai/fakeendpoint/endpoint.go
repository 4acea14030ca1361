// Package fakeendpoint is an OpenAI-compatible chat-completions endpoint for
// tests and benchmarks. It answers each filled prompt of a judge with a report
// that fits the trace in it: the right number of steps, every marker evaluated,
// sums that add up. On order it fails as endpoints do: it limits, breaks, stalls,
// cuts connections, refuses, and writes reports that are no reports.
//
// It is no judge: what it thinks of a trace is a throw of dice that depends on the
// trace alone. Nothing but tests may use it, and it must never know more of a
// judge than its prompt says.
package fakeendpoint

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config of an endpoint. The zero value answers everything at once and well.
type Config struct {
	Latency  time.Duration // before each answer
	Faults   Faults
	Opinions Opinions
	// Seed of faults and opinions. The same conversation meets the same faults in
	// the same order, whenever it comes.
	Seed uint64
	// Key that calls must bring as a bearer token; empty: any or none.
	Key string
}

// maxRequest is the longest request that is read.
const maxRequest = 64 << 20

// Endpoint is an http.Handler for POST …/chat/completions. It is safe for
// concurrent use.
type Endpoint struct {
	config Config
	storm  atomic.Int64 // calls that are still to be answered 429
	down   atomic.Bool

	mu            sync.Mutex
	stats         Stats
	inFlight      int
	conversations map[uint64]seen // by the hash of the request
}

// seen is how often one request came, and how often it was answered whole.
type seen struct{ came, answered uint32 }

// Stats count calls since the endpoint was made.
type Stats struct {
	Calls        int // all of them
	Answered     int // 200 with a whole completion, fit or not: what a caller pays for
	RateLimited  int // 429
	ServerErrors int // 500 and 503
	Cut          int // the connection ended before the answer did
	Unauthorized int
	BadRequests  int
	Gone         int // the caller left before its answer
	// Of those answered: no report could be read, or one that contradicts itself,
	// or the model refused, or the reply was cut by its length.
	Malformed, Inconsistent, Refused, CutShort int
	// Conversations that differ, and how many of them were answered more than
	// once: paid twice. Traces of equal content are one conversation.
	Conversations, AnsweredTwice int
	MaxInFlight                  int
}

// New makes an endpoint.
func New(c Config) *Endpoint {
	return &Endpoint{config: c, conversations: map[uint64]seen{}}
}

// Stats are the counts until now.
func (e *Endpoint) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Conversations = len(e.conversations)
	for _, c := range e.conversations {
		if c.answered > 1 {
			s.AnsweredTwice++
		}
	}
	return s
}

// Storm answers the next n calls with 429, whatever the dice say.
func (e *Endpoint) Storm(n int) { e.storm.Store(int64(n)) }

// SetDown makes every call fail with 503 until it is called with false.
func (e *Endpoint) SetDown(down bool) { e.down.Store(down) }

func (e *Endpoint) count(n *int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*n++
}

// ServeHTTP answers one call.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.begin()
	defer e.end()
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		e.count(&e.stats.BadRequests)
		fail(w, http.StatusNotFound, "there is nothing but POST /chat/completions here", "invalid_request_error")
		return
	}
	if e.config.Key != "" && r.Header.Get("Authorization") != "Bearer "+e.config.Key {
		e.count(&e.stats.Unauthorized)
		fail(w, http.StatusUnauthorized, "the key is wrong", "invalid_api_key")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		e.count(&e.stats.Gone)
		return
	}
	hash := hashBytes(e.config.Seed, body)
	die := e.roll(hash)
	if !e.wait(r.Context(), die) {
		e.count(&e.stats.Gone)
		return
	}
	switch fault := e.faultOf(die); fault {
	case rateLimited:
		e.count(&e.stats.RateLimited)
		e.askToWait(w)
		fail(w, http.StatusTooManyRequests, "too many requests", "rate_limit_exceeded")
	case serverError:
		e.count(&e.stats.ServerErrors)
		fail(w, http.StatusInternalServerError, "something broke", "server_error")
	case away:
		e.count(&e.stats.ServerErrors)
		fail(w, http.StatusServiceUnavailable, "there is nobody here", "server_error")
	default:
		var q request
		if err := json.Unmarshal(body, &q); err != nil || q.Model == "" || len(q.Messages) == 0 {
			e.count(&e.stats.BadRequests)
			fail(w, http.StatusBadRequest, "the request has no model or no messages, or is no JSON", "invalid_request_error")
			return
		}
		completion := e.complete(&q, fault, die, len(body))
		if fault == cut {
			e.count(&e.stats.Cut)
			cutConnection(w, completion, die)
			return
		}
		e.answered(hash, fault)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(completion)))
		_, _ = w.Write(completion) // a caller that left has not paid attention, but paid
	}
}

func (e *Endpoint) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Calls++
	e.inFlight++
	e.stats.MaxInFlight = max(e.stats.MaxInFlight, e.inFlight)
}

func (e *Endpoint) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inFlight--
}

// answered counts what a caller pays for.
func (e *Endpoint) answered(hash uint64, f fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Answered++
	s := e.conversations[hash]
	s.answered++
	e.conversations[hash] = s
	switch f {
	case malformed:
		e.stats.Malformed++
	case inconsistent:
		e.stats.Inconsistent++
	case refused:
		e.stats.Refused++
	case cutShort:
		e.stats.CutShort++
	}
}

func fail(w http.ResponseWriter, status int, message, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}}) // to a caller that may be gone
}
