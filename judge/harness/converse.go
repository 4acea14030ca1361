package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// converse asks a model for its report: once, or as often as is planned.
func (h *Harness) converse(ctx context.Context, l *line, j *judge.Judge, t *judge.Trace, e *judge.Evaluation) outcome {
	shown, err := h.withReferenceSteps(ctx, l, j, t, e)
	if err != nil {
		return outcome{failure: judge.ReasonJudgeFailed, detail: err.Error(), err: err}
	}
	ask := asking{judge: j, trace: t, mark: nonce(h.config.Key, e.Hashes.Trace), params: judge.Params{
		Model: l.planned.Model, MaxTokens: h.config.MaxTokens, Seed: h.config.Seed,
		Schema: j.Schema, SchemaName: schemaName(j.Name),
	}}
	ask.first = firstPrompt(j, shown.trace, ask.mark)
	ask.stepsFrom = shown.from
	if l.planned.Samples > 1 {
		return h.sampled(ctx, l, ask, e)
	}
	return h.answer(ctx, l, ask, e)
}

// asking is one question to a model.
type asking struct {
	judge     *judge.Judge
	trace     *judge.Trace
	mark      string
	first     judge.Conversation
	params    judge.Params
	sample    int // of several, from 1; 0: it is asked once
	stepsFrom string
}

// answer asks for a report and, while it is at fault and repairs are left, for a
// better one in the same conversation: the first prompt stays, then comes the last
// raw reply, then the list of its faults with the schema.
func (h *Harness) answer(ctx context.Context, l *line, ask asking, e *judge.Evaluation) outcome {
	conversation := ask.first
	for repairs := 0; ; repairs++ {
		reply, retries, err := h.call(ctx, l, conversation, ask.params)
		if err != nil {
			h.unanswered(l, e, retries)
			return outcome{failure: judge.ReasonJudgeFailed, detail: err.Error(), err: err}
		}
		h.probed(l, e)
		attempt := h.newAttempt(l, e, conversation, reply, retries)
		attempt.Sample, attempt.StepsFrom = ask.sample, ask.stepsFrom
		if unusable := unusable(reply); unusable != "" {
			attempt.Errors = []string{unusable}
			h.attempted(e, attempt)
			return outcome{failure: judge.ReasonInvalidOutput, detail: unusable}
		}

		report, err := ExtractReport(reply.Text)
		var v verified
		if err == nil && copied(ask.first, reply.Text, report) {
			err = errors.New("the reply quotes a report from the texts it was given; write one of your own, and nothing else")
		}
		if err != nil {
			v.faults = bounded([]string{err.Error()})
		} else {
			v = h.verify(ask.judge, ask.trace, report)
		}
		attempt.Report, attempt.Errors = report, v.faults
		h.attempted(e, attempt)
		if v.faults == nil {
			return outcome{report: report, checks: v.checks, reading: &v.reading}
		}
		if repairs >= ask.judge.MaxRepairs {
			return outcome{
				failure: judge.ReasonInvalidOutput, checks: v.checks, incomplete: v.incomplete,
				detail: fmt.Sprintf("the report is still at fault after %d repairs: %s", repairs, strings.Join(v.faults, "; ")),
			}
		}
		e.Repairs++
		conversation = append(append(judge.Conversation{}, ask.first...),
			judge.Message{Role: judge.RoleAssistant, Content: reply.Text}, repairPrompt(ask.judge, ask.mark, v.faults))
	}
}

// unanswered accounts for a call that brought no reply.
func (h *Harness) unanswered(l *line, e *judge.Evaluation, retries int) {
	e.TransportRetries += retries
	h.probed(l, e)
}

// probed makes attempts of the probes that a call took: they were paid for.
func (h *Harness) probed(l *line, e *judge.Evaluation) {
	for _, reply := range l.probes {
		probe := h.newAttempt(l, e, judge.ProbePrompt(), reply, 0)
		probe.Purpose = judge.PurposeProbe
		h.attempted(e, probe)
	}
	l.probes = nil
}

// newAttempt is the record of a call that brought a reply.
func (h *Harness) newAttempt(l *line, e *judge.Evaluation, c judge.Conversation, reply judge.Reply, retries int) judge.Attempt {
	attempt := judge.Attempt{
		Number: e.Attempts + 1, Engine: l.chat.Name(), Endpoint: reply.Endpoint,
		ModelAsked: l.planned.Model, ModelAnswered: reply.Model, Parameters: reply.Parameters,
		Reply: reply.Text, FinishReason: reply.FinishReason,
		Tokens: reply.Tokens, CostUSD: reply.CostUSD, LatencyMS: reply.Latency.Milliseconds(),
		TransportRetries: retries, StartedAt: reply.StartedAt, Unpriced: reply.Unpriced,
	}
	if !h.config.NoPrompts {
		attempt.Prompt = encodeConversation(c)
	}
	if retries > 0 {
		attempt.TransportError = l.failure
	}
	if reply.Refusal != "" && reply.Text == "" {
		attempt.Reply = reply.Refusal
	}
	return attempt
}

// refusedToAnswer begins the fault of a reply that is the model's refusal.
const refusedToAnswer = "the model refused to answer: "

// How endpoints say that a reply is cut, and that it is whole. Many local ones
// have words of their own, and some say nothing.
var (
	cutReasons   = []string{"length", "max_tokens", "model_length"}
	wholeReasons = []string{"", "stop", "stop_sequence", "end_turn", "eos", "eos_token", "completed", "tool_calls", "function_call"}
)

// copied says that a report was not made but copied: it stands word for word in
// what was asked, in a text that is judged or an example, and other words stand
// round it. A refusal that quotes a trace's own report is no report.
func copied(c judge.Conversation, reply string, report json.RawMessage) bool {
	if strings.TrimSpace(reply) == string(report) {
		return false
	}
	return slices.ContainsFunc(c, func(m judge.Message) bool { return strings.Contains(m.Content, string(report)) })
}

// unusable says why a reply is no report at all: its own kind of failure, never
// parsed and never sent back for repair.
func unusable(r judge.Reply) string {
	switch {
	case r.FinishReason == judge.FinishLength, slices.Contains(cutReasons, strings.ToLower(r.FinishReason)):
		return "the reply was cut by its length limit; raise the limit of tokens and retry"
	case r.FinishReason == judge.FinishFiltered:
		return "the endpoint's content filter stopped the reply"
	case r.Refusal != "":
		return refusedToAnswer + r.Refusal
	case strings.TrimSpace(r.Text) == "":
		return "the reply is empty"
	case !slices.Contains(wholeReasons, strings.ToLower(r.FinishReason)):
		return fmt.Sprintf("the endpoint ended the reply by %q, which does not say that it is whole", r.FinishReason)
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
