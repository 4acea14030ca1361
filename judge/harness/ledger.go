package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// line is how one evaluation reaches its model.
type line struct {
	chat    judge.Chat
	breaker *breaker // of the endpoint; nil where nothing is sent
	planned judge.Planned
	key     string // under which ledger and purse know the evaluation
}

// call sends a conversation, or takes the reply that was paid for before the
// evaluation was cut off. The same trace gives the same prompt again, so the
// reply to it is found by the call's own hash.
func (h *Harness) call(ctx context.Context, l *line, c judge.Conversation, p judge.Params) (judge.Reply, int, error) {
	if h.config.Ledger == nil {
		return h.send(ctx, l.chat, l.breaker, c, p)
	}
	body, err := json.Marshal(struct {
		Engine       string
		Conversation judge.Conversation
		Params       judge.Params
	}{l.chat.Name(), c, p})
	if err != nil {
		return judge.Reply{}, 0, fmt.Errorf("encode the call: %w", err)
	}
	name := judge.HashText(string(body))
	kept, ok, err := h.config.Ledger.KeptReply(ctx, l.key, name)
	if err != nil {
		return judge.Reply{}, 0, &LedgerError{fmt.Errorf("look for a reply of before: %w", err)}
	}
	if ok {
		return kept.Reply, kept.Retries, nil
	}
	reply, retries, err := h.send(ctx, l.chat, l.breaker, c, p)
	if err != nil {
		return reply, retries, err
	}
	// It is paid for: it is kept even when the worker is being stopped.
	keeping, stop := outliving(ctx, keepGrace)
	defer stop()
	if err := h.config.Ledger.KeepReply(keeping, l.key, name, judge.KeptReply{Reply: reply, Retries: retries}); err != nil {
		return reply, retries, &LedgerError{fmt.Errorf("keep the reply: %w", err)}
	}
	return reply, retries, nil
}

// keepGrace is how long a reply that was paid for is still tried to be kept
// after its evaluation was told to end.
const keepGrace = 5 * time.Second

// LedgerError says that the replies of an evaluation could not be read or kept.
// It says nothing of the evaluation, which belongs back in the queue.
type LedgerError struct{ err error }

func (e *LedgerError) Error() string { return e.err.Error() }

// Unwrap is the ledger's own error.
func (e *LedgerError) Unwrap() error { return e.err }
