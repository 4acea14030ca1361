package harness

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// call sends a conversation, or takes the reply that was paid for before the
// evaluation was cut off. The same trace gives the same prompt again, so the
// reply to it is found by the call's own hash.
func (h *Harness) call(ctx context.Context, chat judge.Chat, evaluation string, c judge.Conversation, p judge.Params) (judge.Reply, int, error) {
	if h.config.Ledger == nil {
		return h.send(ctx, chat, c, p)
	}
	body, err := json.Marshal(struct {
		Engine       string
		Conversation judge.Conversation
		Params       judge.Params
	}{chat.Name(), c, p})
	if err != nil {
		return judge.Reply{}, 0, fmt.Errorf("encode the call: %w", err)
	}
	name := judge.HashText(string(body))
	kept, ok, err := h.config.Ledger.KeptReply(ctx, evaluation, name)
	if err != nil {
		return judge.Reply{}, 0, fmt.Errorf("look for a reply of before: %w", err)
	}
	if ok {
		return kept.Reply, kept.Retries, nil
	}
	reply, retries, err := h.send(ctx, chat, c, p)
	if err != nil {
		return reply, retries, err
	}
	// It is paid for: it is kept even when the worker is being stopped.
	if err := h.config.Ledger.KeepReply(context.WithoutCancel(ctx), evaluation, name, judge.KeptReply{Reply: reply, Retries: retries}); err != nil {
		return reply, retries, fmt.Errorf("keep the reply: %w", err)
	}
	return reply, retries, nil
}
