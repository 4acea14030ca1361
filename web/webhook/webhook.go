// Package webhook sends what happened to an address that an administrator gave:
// signed, at least once, in the order in which it is due.
//
// It must never follow where an answer points, believe what it says, or let the
// secret or the address into a message that people read.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/countersign/countersign/store"
)

// Headers of a message.
const (
	HeaderID        = "Countersign-Id"        // of the message: repeats have the same
	HeaderEvent     = "Countersign-Event"     // such as drift.alarm_opened
	HeaderTimestamp = "Countersign-Timestamp" // of this try, seconds since 1970
	HeaderSignature = "Countersign-Signature" // "sha256=" and Sign in hex
)

// Bounds of sending.
const (
	MaxAttempts = 16               // over about a day and a half
	timeLimit   = 10 * time.Second // of one try
	hold        = time.Minute      // another server waits so long for one that may be gone
	mostRead    = 4 << 10          // of an answer
	longestWait = 6 * time.Hour
)

// Outbox is where messages wait; a store.Store is one.
type Outbox interface {
	TakeDelivery(ctx context.Context, hold time.Duration) (*store.Delivery, error)
	Delivered(ctx context.Context, id string) error
	NotDelivered(ctx context.Context, id, why string, again time.Duration) error
}

// Sender sends what an outbox holds.
type Sender struct {
	Outbox Outbox
	URL    string
	Secret []byte
	Log    *slog.Logger
	Now    func() time.Time // time.Now when nil
	// FirstWait before a second try, doubled for each more, up to 6 hours; 10 s when 0.
	FirstWait time.Duration
	// Idle is the wait before an empty outbox is asked again; 5 s when 0.
	Idle time.Duration
}

// Check says what is wrong with an address and a secret.
func Check(address string, secret []byte) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the webhook's address must be like https://HOST/PATH")
	case u.Port() != "" && !isPort(u.Port()):
		return fmt.Errorf("the webhook's address has the port %s: give one from 1 to 65535", u.Port())
	case u.User != nil:
		return errors.New("the webhook's address must not hold a name or a password: messages are signed with the secret")
	case len(secret) < 16:
		return fmt.Errorf("the webhook's secret has %d bytes: give 16 or more by COUNTERSIGN_WEBHOOK_SECRET or --webhook-secret-file", len(secret))
	}
	return nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// Sign is what the receiver computes too: HMAC-SHA256 of the timestamp, a dot and
// the body.
func Sign(secret []byte, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// Run sends until ctx ends. What can't be sent is tried again; an outbox that fails
// is waited for.
func (s Sender) Run(ctx context.Context) error {
	client := &http.Client{Timeout: timeLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		d, err := s.Outbox.TakeDelivery(ctx, hold)
		if err == nil && d != nil {
			err = s.try(ctx, client, d)
		}
		if err != nil && ctx.Err() == nil {
			s.Log.LogAttrs(ctx, slog.LevelError, "messages to the webhook", slog.Any("error", err))
		}
		if err == nil && d != nil {
			continue
		}
		timer := time.NewTimer(cmp.Or(s.Idle, 5*time.Second))
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
	return nil
}

// try sends one message and notes what came of it.
func (s Sender) try(ctx context.Context, client *http.Client, d *store.Delivery) error {
	err := s.send(ctx, client, d)
	if ctx.Err() != nil {
		return nil // it is sent again once its hold runs out
	}
	if err == nil {
		return s.Outbox.Delivered(ctx, d.ID)
	}
	again := s.wait(d.Attempts)
	s.Log.LogAttrs(ctx, slog.LevelWarn, "the webhook did not take a message", slog.String("id", d.ID), slog.String("event", d.Event),
		slog.Int("attempt", d.Attempts), slog.Duration("again_in", again), slog.Any("error", err))
	return s.Outbox.NotDelivered(ctx, d.ID, err.Error(), again)
}

// wait before the next try; 0: there is none.
func (s Sender) wait(attempts int) (d time.Duration) {
	if attempts >= MaxAttempts {
		return 0
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval, waits.Multiplier, waits.RandomizationFactor = cmp.Or(s.FirstWait, 10*time.Second), longestWait, 2, 0.2
	waits.Reset()
	for range attempts {
		d = waits.NextBackOff()
	}
	return d
}

func (s Sender) send(ctx context.Context, client *http.Client, d *store.Delivery) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, bytes.NewReader(d.Body))
	if err != nil {
		return errors.New("the address can't be called")
	}
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	timestamp := strconv.FormatInt(now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "countersign")
	req.Header.Set(HeaderID, d.ID)
	req.Header.Set(HeaderEvent, d.Event)
	req.Header.Set(HeaderTimestamp, timestamp)
	req.Header.Set(HeaderSignature, "sha256="+Sign(s.Secret, timestamp, d.Body))
	resp, err := client.Do(req)
	if err != nil {
		// The address may hold a token: it is not told.
		if inner := new(url.Error); errors.As(err, &inner) {
			err = inner.Err
		}
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	// A short answer is read so that its connection can be used again.
	_, _ = io.CopyN(io.Discard, resp.Body, mostRead)
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return fmt.Errorf("it answered %d and points elsewhere, which is not followed: give the address itself", resp.StatusCode)
	}
	return fmt.Errorf("it answered %d", resp.StatusCode)
}
