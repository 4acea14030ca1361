package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// tape is an engine that gives the replies of attempts that were kept, in their
// order, and holds every prompt against the one that was sent.
type tape struct {
	kept    []judge.Attempt // none is a probe
	at      int
	mark    string
	trace   *judge.Trace
	ended   string // the error of an evaluation that ended without a reply
	retries int    // of that call
	failure string // the newest before the last reply

	over  bool  // that call was asked for
	fault error // the first prompt that is another one now
}

// Name implements judge.Engine.
func (*tape) Name() string { return judge.EngineOpenAI }

// Reply implements judge.Chat. The harness asks next instead.
func (*tape) Reply(context.Context, judge.Conversation, judge.Params) (judge.Reply, error) {
	return judge.Reply{}, errors.New("a replay sends nothing")
}

// next is the reply to a prompt.
func (t *tape) next(c judge.Conversation) (judge.Reply, int, error) {
	if t.at == len(t.kept) {
		if t.ended != "" {
			t.over = true
			return judge.Reply{}, t.retries, errors.New(t.ended)
		}
		return t.stop("the evaluation now asks for one reply more than were kept")
	}
	a := t.kept[t.at]
	if now := encodeConversation(c); now != a.Prompt {
		return t.stop(fmt.Sprintf("the prompt of attempt %d is another one now: they differ from byte %d on", a.Number, firstDifference(now, a.Prompt)))
	}
	t.at++
	t.failure = a.TransportError
	reply := judge.Reply{
		Text: a.Reply, FinishReason: a.FinishReason, Model: a.ModelAnswered, Endpoint: a.Endpoint, Parameters: a.Parameters,
		Tokens: a.Tokens, CostUSD: a.CostUSD, Unpriced: a.Unpriced, StartedAt: a.StartedAt,
		Latency: time.Duration(a.LatencyMS) * time.Millisecond,
	}
	if len(a.Errors) == 1 {
		if refusal, ok := strings.CutPrefix(a.Errors[0], refusedToAnswer); ok {
			reply.Refusal = refusal
		}
	}
	return reply, a.TransportRetries, nil
}

func (t *tape) stop(msg string) (judge.Reply, int, error) {
	if t.fault == nil {
		t.fault = &ReplayError{msg}
	}
	return judge.Reply{}, 0, t.fault
}

// cutSteps gives the steps of the reference: from the call that is on the tape,
// or, where another evaluation had paid for it, from the first prompt itself.
// Which it was is told by the prompts, not by what is said of them.
func (t *tape) cutSteps(asked judge.Conversation, ask func() (judge.CutSteps, error)) (judge.CutSteps, error) {
	if t.at == len(t.kept) || t.kept[t.at].Prompt == encodeConversation(asked) {
		return ask()
	}
	a := t.kept[t.at]
	if steps, ok := stepsInPrompt(a.Prompt, t.mark, t.trace.Reference); ok {
		return judge.CutSteps{Steps: steps, Evaluation: a.StepsFrom}, nil
	}
	return judge.CutSteps{}, nil // the reference was shown as it is, or the prompt will differ
}

func firstDifference(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
