package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

// converse asks a model for a report and, while it is at fault and repairs are
// left, for a better one in the same conversation: the first prompt stays, then
// comes the last raw reply, then the list of its faults with the schema.
func (h *Harness) converse(ctx context.Context, chat judge.Chat, j *judge.Judge, t *judge.Trace, p judge.Planned, e *judge.Evaluation) outcome {
	shown, err := h.withReferenceSteps(ctx, chat, j, t, p, e)
	if err != nil {
		return outcome{failure: judge.ReasonJudgeFailed, detail: err.Error(), err: err}
	}
	first := firstPrompt(j, shown, nonce(h.config.Key, e.Hashes.Trace))
	params := judge.Params{
		Model: p.Model, MaxTokens: h.config.MaxTokens, Seed: h.config.Seed,
		Schema: j.Schema, SchemaName: schemaName(j.Name),
	}
	conversation := first
	for {
		reply, retries, err := h.call(ctx, chat, e.ID, conversation, params)
		if err != nil {
			e.TransportRetries += retries
			return outcome{failure: judge.ReasonJudgeFailed, detail: err.Error(), err: err}
		}
		attempt := newAttempt(chat, p, e, conversation, reply, retries)
		if unusable := unusable(reply); unusable != "" {
			attempt.Errors = []string{unusable}
			h.attempted(e, attempt)
			return outcome{failure: judge.ReasonInvalidOutput, detail: unusable}
		}

		report, err := ExtractReport(reply.Text)
		var v verified
		if err != nil {
			v.faults = []string{err.Error()}
		} else {
			v = h.verify(j, t, report)
		}
		attempt.Report, attempt.Errors = report, v.faults
		h.attempted(e, attempt)
		if v.faults == nil {
			return outcome{report: report, checks: v.checks, reading: &v.reading}
		}
		if e.Repairs >= j.MaxRepairs {
			return outcome{
				failure: judge.ReasonInvalidOutput, checks: v.checks, incomplete: v.incomplete,
				detail: fmt.Sprintf("the report is still at fault after %d repairs: %s", e.Repairs, strings.Join(v.faults, "; ")),
			}
		}
		e.Repairs++
		conversation = append(append(judge.Conversation{}, first...),
			judge.Message{Role: judge.RoleAssistant, Content: reply.Text}, repairPrompt(j, v.faults))
	}
}

// newAttempt is the record of a call that brought a reply.
func newAttempt(chat judge.Chat, p judge.Planned, e *judge.Evaluation, c judge.Conversation, reply judge.Reply, retries int) judge.Attempt {
	attempt := judge.Attempt{
		Number: e.Attempts + 1, Engine: chat.Name(), Endpoint: reply.Endpoint,
		ModelAsked: p.Model, ModelAnswered: reply.Model, Parameters: reply.Parameters,
		Prompt: encodeConversation(c), Reply: reply.Text, FinishReason: reply.FinishReason,
		Tokens: reply.Tokens, CostUSD: reply.CostUSD, LatencyMS: reply.Latency.Milliseconds(),
		TransportRetries: retries, StartedAt: reply.StartedAt,
	}
	if reply.Refusal != "" && reply.Text == "" {
		attempt.Reply = reply.Refusal
	}
	return attempt
}

// unusable says why a reply is no report at all: its own kind of failure, never
// parsed and never sent back for repair.
func unusable(r judge.Reply) string {
	switch {
	case r.FinishReason == judge.FinishLength:
		return "the reply was cut by its length limit; raise the limit of tokens and retry"
	case r.FinishReason == judge.FinishFiltered:
		return "the endpoint's content filter stopped the reply"
	case r.Refusal != "":
		return "the model refused to answer: " + r.Refusal
	case strings.TrimSpace(r.Text) == "":
		return "the reply is empty"
	}
	return ""
}

// encodeConversation is the conversation as an attempt keeps it: a JSON array
// of turns, exact to the byte.
func encodeConversation(c judge.Conversation) string {
	b, err := json.Marshal(c)
	if err != nil { // strings always encode
		panic(err)
	}
	return string(b)
}

// schemaName is a judge's name as endpoints take it: letters, digits, _ and -,
// at most 64.
func schemaName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return safe[:min(len(safe), 64)]
}
