package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// crew imports and decides at servers that are killed meanwhile, and notes all
// that was acknowledged.
type crew struct {
	t        *testing.T
	mu       sync.Mutex
	places   []string          // addresses of the servers that are up
	imported []string          // cases, answered 202
	decided  map[string]string // decisions, answered 200: their review
	firsts   []string          // reviews whose first answer was answered 200
	lost     int               // requests without an answer
}

func (c *crew) up(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places = append(c.places, address)
}

func (c *crew) down(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places = slices.DeleteFunc(c.places, func(a string) bool { return a == address })
}

// acknowledged is how much was answered well so far.
func (c *crew) acknowledged() (imported, decided int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.imported), len(c.decided)
}

// request is one call of the API at any server that is up. Status 0: no answer
// came, so nobody knows whether it was done.
func (c *crew) request(token, method, path, key, body string) (status int, answer []byte) {
	c.mu.Lock()
	if len(c.places) == 0 {
		c.mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		return 0, nil
	}
	address := c.places[rand.IntN(len(c.places))]
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0, nil
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer resp.Body.Close()
		answer, err = io.ReadAll(resp.Body)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			c.t.Errorf("%s %s: no answer within a minute", method, path)
		}
		c.mu.Lock()
		c.lost++
		c.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		return 0, nil
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusConflict:
	default:
		c.t.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	return resp.StatusCode, answer
}

// batchOfCases is how many traces one request brings.
const batchOfCases = 5

// importCases sends batches until stop is closed; each again, with its key,
// until it is answered.
func (c *crew) importCases(token string, stop <-chan struct{}) {
	for from := 0; ; from += batchOfCases {
		var body strings.Builder
		var names []string
		for n := from; n < from+batchOfCases; n++ {
			body.WriteString(caseLine(n))
			names = append(names, fmt.Sprintf("case-%06d", n))
		}
		for {
			select {
			case <-stop:
				return
			default:
			}
			if status, _ := c.request(token, http.MethodPost, "/api/v1/traces", fmt.Sprint("from ", from), body.String()); status == http.StatusAccepted {
				break
			}
		}
		c.mu.Lock()
		c.imported = append(c.imported, names...)
		c.mu.Unlock()
		time.Sleep(time.Duration(rand.IntN(120)) * time.Millisecond)
	}
}

// waiting is an item as the queue and the answer to a claim show it.
type waiting struct {
	ID     string
	Sealed bool
	Blind  bool
}

// decideItems claims and decides until stop is closed, what was claimed without
// an answer included.
func (c *crew) decideItems(token string, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		var mine struct{ Items []waiting }
		if status, answer := c.request(token, http.MethodGet, "/api/v1/queue?state=mine", "", ""); status == http.StatusOK {
			if err := json.Unmarshal(answer, &mine); err != nil {
				c.t.Errorf("queue: %v in %s", err, answer)
			}
		}
		for _, w := range mine.Items {
			c.decide(token, w)
		}
		var w waiting
		switch status, answer := c.request(token, http.MethodPost, "/api/v1/queue/claim", "", "{}"); status {
		case http.StatusOK:
			if err := json.Unmarshal(answer, &w); err != nil || w.ID == "" {
				c.t.Errorf("claim: %v in %s", err, answer)
				continue
			}
			c.decide(token, w)
		case http.StatusNoContent:
			time.Sleep(30 * time.Millisecond)
		}
	}
}

func (c *crew) decide(token string, w waiting) {
	path := "/api/v1/reviews/" + w.ID + "/decision"
	if w.Sealed {
		status, _ := c.request(token, http.MethodPost, path, "", `{"verdict":"fail"}`)
		if status != http.StatusOK {
			return // without an answer it is found among one's own again
		}
		c.mu.Lock()
		c.firsts = append(c.firsts, w.ID)
		c.mu.Unlock()
	}
	action := []string{"keep", "adopt"}[rand.IntN(2)]
	status, answer := c.request(token, http.MethodPost, path, "", `{"action":"`+action+`","reason_code":"judge_wrong","comment":"looked at"}`)
	if status != http.StatusOK {
		return
	}
	var got struct {
		Decision struct {
			ID       string `json:"id"`
			ReviewID string `json:"review_id"`
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil || got.Decision.ID == "" || got.Decision.ReviewID != w.ID {
		c.t.Errorf("decision on %s: %v in %s", w.ID, err, answer)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decided[got.Decision.ID] = w.ID
}
