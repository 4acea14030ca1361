package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// line is how one evaluation reaches its model.
type line struct {
	chat    judge.Chat
	breaker *breaker
	planned judge.Planned
	key     string // under which ledger and purse know the evaluation
	under   judge.Effective
	called  bool           // a model, or was about to
	probes  []judge.Reply  // of the endpoint, that no attempt holds yet
	asked   map[string]int // how often each call was made
	failure string         // the newest of the tries that the last call took before its reply
}

// refusedEndpoint says that a trace may not be sent to the planned endpoint.
type refusedEndpoint struct{ field, message string }

func (e *refusedEndpoint) Error() string { return e.message }

// call sends a conversation, or takes the reply that was paid for before the
// evaluation was cut off. The same trace gives the same prompt again, so the
// reply to it is found by the call's own hash.
//
// Every text that leaves for a model goes through here, so here it is held to
// where the policy lets it go, and to the budget.
func (h *Harness) call(ctx context.Context, l *line, c judge.Conversation, p judge.Params) (judge.Reply, int, error) {
	if t, ok := l.chat.(*tape); ok {
		reply, retries, err := t.next(c)
		l.failure = t.failure
		return reply, retries, err
	}
	l.failure = ""
	if field, message := l.under.Refusal(judge.EndpointOf(l.chat)); field != "" {
		return judge.Reply{}, 0, &refusedEndpoint{field, message}
	}
	if h.config.Ledger == nil && h.config.Purse == nil {
		return h.inTurn(ctx, l, nil, c, p)
	}
	name, err := l.callName(c, p)
	if err != nil {
		return judge.Reply{}, 0, err
	}
	if h.config.Ledger != nil {
		kept, ok, err := h.config.Ledger.KeptReply(ctx, l.key, name)
		if err != nil {
			return judge.Reply{}, 0, &LedgerError{fmt.Errorf("look for a reply of before: %w", err)}
		}
		if ok {
			l.failure = kept.Failure
			return kept.Reply, kept.Retries, nil
		}
	}
	pay := h.payment(l, name, c, p)
	reply, retries, err := h.inTurn(ctx, l, pay, c, p)
	// What is paid for is kept even when the worker is being stopped.
	keeping, stop := outliving(ctx, keepGrace)
	defer stop()
	if err != nil {
		return reply, retries, errors.Join(err, pay.unanswered(keeping, l.probes))
	}
	if h.config.Ledger != nil {
		if err := h.config.Ledger.KeepReply(keeping, l.key, name, judge.KeptReply{Reply: reply, Retries: retries, Failure: l.failure}); err != nil {
			return reply, retries, &LedgerError{errors.Join(fmt.Errorf("keep the reply: %w", err), pay.spent(keeping, append(l.probes, reply)...))}
		}
	}
	if err := pay.spent(keeping, append(l.probes, reply)...); err != nil {
		return reply, retries, err
	}
	return reply, retries, nil
}

// keepGrace is how long a reply that was paid for is still tried to be kept
// after its evaluation was told to end.
const keepGrace = 5 * time.Second

// LedgerError says that the replies or the payments of an evaluation could not be
// read or kept. It says nothing of the evaluation, which belongs back in the
// queue.
type LedgerError struct{ err error }

func (e *LedgerError) Error() string { return e.err.Error() }

// Unwrap is the ledger's own error.
func (e *LedgerError) Unwrap() error { return e.err }
