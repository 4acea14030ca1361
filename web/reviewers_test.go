package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// Sizes of TestReviewersAtOnce; COUNTERSIGN_TEST_REVIEWERS=200 and
// COUNTERSIGN_TEST_ITEMS=5000 are those that the product promises.
const (
	reviewersAtOnce = 24
	itemsAtOnce     = 240
)

func sizeFrom(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: give a number above zero", name, text)
	}
	return n
}

// crowd is many reviewers who decide at once, by several servers.
type crowd struct {
	t       *testing.T
	servers []*site
	clock   *clock
	items   int
	client  *http.Client
	settled atomic.Int64 // items that were decided
	done    chan struct{}
	end     sync.Once
	mu      sync.Mutex
	spans   map[string][]span          // what the answers say was held, by review
	stored  map[string]store.Decision  // decisions that were answered 200
	answers map[string]map[int]int     // how often each request got each status
	first   map[string]map[string]bool // first answers that were answered 200: review, user
}

// span is a time in which one person certainly held an item: from the answer to
// the claim until the request whose answer says that the claim still held.
type span struct {
	user     string
	from, to time.Time
}

// member is one of the crowd.
type member struct {
	*crowd
	user   store.User
	token  string
	dice   *rand.Rand
	lapsed []held // claims that were left to run out
}

// held is a claim as the API gives it.
type held struct {
	ID     string
	Sealed bool
	Blind  bool
	Labels []struct {
		Name    string
		Verdict judge.Verdict
		Abstain bool
	}
	Evaluation *judge.Evaluation
	at         time.Time // when the answer had come
}

// call sends one request to one of the servers. Only what is documented may
// come back.
func (m *member) call(server int, what, path, body string, allowed ...int) (status int, answer []byte) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, m.servers[server].http.URL+path, strings.NewReader(body))
	if err != nil {
		m.t.Error(err)
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := m.client.Do(req)
	if err != nil {
		m.t.Errorf("%s: %v", what, err)
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		m.t.Errorf("%s: %v", what, err)
	}
	m.mu.Lock()
	if m.answers[what] == nil {
		m.answers[what] = map[int]int{}
	}
	m.answers[what][resp.StatusCode]++
	m.mu.Unlock()
	for _, a := range append(allowed, http.StatusConflict) {
		if resp.StatusCode == a {
			return a, answer
		}
	}
	m.t.Errorf("%s: status %d, want one of %v or 409: %s", what, resp.StatusCode, allowed, answer)
	return resp.StatusCode, answer
}

func (m *member) anyServer() int { return m.dice.IntN(len(m.servers)) }

// heldUntil notes that the item was certainly this person's until now.
func (m *member) heldUntil(h held, until time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spans[h.ID] = append(m.spans[h.ID], span{m.user.ID, h.at, until})
}

// work claims and decides until everything is decided.
func (m *member) work() {
	for {
		select {
		case <-m.done:
			return
		default:
		}
		status, answer := m.call(m.anyServer(), "claim", "/api/v1/queue/claim", "{}", http.StatusOK, http.StatusNoContent)
		if status != http.StatusOK {
			if m.t.Failed() {
				m.stop()
				return
			}
			m.lateDecision()
			time.Sleep(10 * time.Millisecond)
			continue
		}
		h := held{at: time.Now()}
		if err := json.Unmarshal(answer, &h); err != nil || h.ID == "" {
			m.t.Errorf("claim: %v in %s", err, answer)
			return
		}
		m.review(h)
	}
}

// review does with a claimed item what people do.
func (m *member) review(h held) {
	path := "/api/v1/reviews/" + h.ID
	switch dice := m.dice.IntN(100); {
	case dice < 5:
		m.lapsed = append(m.lapsed, h)
		return
	case dice < 10:
		m.call(m.anyServer(), "skip", path+"/skip", `{"comment":"not mine"}`, http.StatusNoContent) // who lost the claim may skip as well
		return
	case dice < 15:
		asked := time.Now()
		if status, _ := m.call(m.anyServer(), "release", path+"/release", "", http.StatusNoContent); status == http.StatusNoContent {
			m.heldUntil(h, asked)
		}
		return
	case dice < 25:
		asked := time.Now()
		if status, _ := m.call(m.anyServer(), "renew", path+"/renew", "", http.StatusOK); status != http.StatusOK {
			return
		}
		m.heldUntil(h, asked)
	}
	m.decide(h)
}

// lateDecision decides what was left to run out: it counts unless somebody
// took the item.
func (m *member) lateDecision() {
	if len(m.lapsed) == 0 {
		return
	}
	h := m.lapsed[0]
	m.lapsed = m.lapsed[1:]
	m.decide(h)
}

// decide answers first where the item is blind, then settles it or sends it to
// a lead. Some requests are sent twice, to two servers at once.
func (m *member) decide(h held) {
	labels := h.Labels[:0:0]
	for _, l := range h.Labels {
		if !l.Abstain {
			labels = append(labels, l)
		}
	}
	if len(labels) == 0 {
		m.t.Errorf("review %s has no labels to choose from", h.ID)
		return
	}
	own := labels[m.dice.IntN(len(labels))]
	path := "/api/v1/reviews/" + h.ID + "/decision"
	if h.Sealed {
		body := fmt.Sprintf(`{"verdict":%q,"label":%q}`, own.Verdict, own.Name)
		asked := time.Now()
		status, answer := m.call(m.anyServer(), "first answer", path, body, http.StatusOK)
		if status != http.StatusOK {
			return
		}
		m.heldUntil(h, asked)
		m.noteFirst(h)
		if m.dice.IntN(5) == 0 { // the same answer again is the same answer
			m.call(m.anyServer(), "first answer again", path, body, http.StatusOK)
		}
		var shown struct{ Evaluation *judge.Evaluation }
		if err := json.Unmarshal(answer, &shown); err != nil || shown.Evaluation == nil {
			m.t.Errorf("first answer on %s: no evaluation is revealed (%v): %s", h.ID, err, answer)
			return
		}
	}
	actions := []string{"confirm", "override"}
	if h.Blind {
		actions = []string{"keep", "adopt"}
	}
	body := map[string]any{"action": actions[m.dice.IntN(2)], "comment": "seen by " + m.user.Name}
	switch {
	case m.dice.IntN(12) == 0 && m.user.Role == store.Reviewer:
		body["action"] = "escalate"
	case body["action"] == "override":
		body["verdict"], body["label"], body["reason_code"] = own.Verdict, own.Name, "judge_wrong"
	case body["action"] == "keep":
		body["reason_code"] = "judge_wrong"
	}
	text, err := json.Marshal(body)
	if err != nil {
		m.t.Error(err)
		return
	}
	times := 1
	if m.dice.IntN(6) == 0 {
		times = 2
	}
	m.send(h, path, string(text), times)
}

// send sends a decision, once or to two servers at once, and notes the answers.
func (m *member) send(h held, path, body string, times int) {
	server, asked := m.anyServer(), time.Now()
	statuses, answers := make([]int, times), make([][]byte, times)
	var wait sync.WaitGroup
	for i := range times {
		wait.Go(func() {
			statuses[i], answers[i] = m.call((server+i)%len(m.servers), "decision", path, body, http.StatusOK)
		})
	}
	wait.Wait()
	stored := 0
	for i, status := range statuses {
		if status != http.StatusOK {
			continue
		}
		stored++
		var got struct {
			State    string
			Decision store.Decision
		}
		if err := json.Unmarshal(answers[i], &got); err != nil || got.Decision.ID == "" {
			m.t.Errorf("decision on %s: %v in %s", h.ID, err, answers[i])
			continue
		}
		m.heldUntil(h, asked)
		m.noteDecision(got.Decision)
	}
	if stored > 1 {
		m.t.Errorf("review %s: one decision that was sent twice is answered 200 twice", h.ID)
	}
}

func (m *member) noteFirst(h held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.first[h.ID] == nil {
		m.first[h.ID] = map[string]bool{}
	}
	m.first[h.ID][m.user.ID] = true
}

func (c *crowd) noteDecision(d store.Decision) {
	c.mu.Lock()
	c.stored[d.ID] = d
	c.mu.Unlock()
	if d.Action != store.Escalate && int(c.settled.Add(1)) >= c.items {
		c.stop()
	}
}

func (c *crowd) stop() { c.end.Do(func() { close(c.done) }) }

// passTime moves the clock: always a little, and by more than a lease at every
// tenth of the work and whenever nothing was decided for a while.
func (c *crowd) passTime() {
	beat := time.NewTicker(5 * time.Millisecond)
	defer beat.Stop()
	jumped, last, still := 0, int64(0), 0
	for {
		select {
		case <-c.done:
			return
		case <-beat.C:
		}
		c.clock.advance(5 * time.Millisecond)
		n := c.settled.Load()
		if still++; n != last {
			last, still = n, 0
		}
		if tenth := int(n) * 10 / c.items; tenth > jumped || still >= 100 {
			jumped, still = tenth, 0
			c.clock.advance(2 * time.Minute)
		}
	}
}

// newCrowd is people with tokens at several servers over one database, where
// items wait for them, half of them blind.
func newCrowd(t *testing.T, address string, people, items int) (*crowd, []*member) {
	t.Helper()
	c := &crowd{
		t: t, clock: newClock(), items: items, done: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: people}, Timeout: 2 * time.Minute},
		spans:  map[string][]span{}, stored: map[string]store.Decision{}, answers: map[string]map[int]int{}, first: map[string]map[string]bool{},
	}
	t.Cleanup(c.client.CloseIdleConnections)
	for range 3 {
		s, err := store.Open(t.Context(), store.Options{URL: address, Now: c.clock.now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("close the store: %v", err)
			}
		})
		c.servers = append(c.servers, siteOver(t, s, c.clock))
	}
	at := c.servers[0]
	policy := judge.DefaultPolicy()
	policy.Blind, policy.BlindShare, policy.LeaseMinutes = "share", 0.5, 1
	if _, err := at.store.SetPolicy(t.Context(), storetest.Operator, "default", policy, ""); err != nil {
		t.Fatal(err)
	}
	var members []*member
	for i := range people {
		role := store.Reviewer
		if i%8 == 0 {
			role = store.Lead
		}
		u, token := at.user(fmt.Sprintf("r%03d@example.org", i), role)
		members = append(members, &member{crowd: c, user: u, token: token, dice: rand.New(rand.NewPCG(uint64(i), 20261129))})
	}
	c.fill(at.store)
	return c, members
}

// fill brings the items into the queue.
func (c *crowd) fill(s *store.Store) {
	c.t.Helper()
	codes := []string{judge.ReasonMisattribution, judge.ReasonCriticalError}
	for from := 0; from < c.items; from += 200 {
		storetest.Import(c.t, s, storetest.Items(from, min(200, c.items-from)))
	}
	for {
		var done []judge.Finished
		for i, w := range storetest.Claim(c.t, s, 100) {
			f := storetest.Flagged(w, codes[i%2])
			f.Evaluation.Critical = i%2 == 1
			done = append(done, f)
		}
		if len(done) == 0 {
			return
		}
		if err := s.FinishWork(c.t.Context(), done); err != nil {
			c.t.Fatal(err)
		}
	}
}
