package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign/countersign/judge"
)

// model answers in place of a language model: with a report that fits the
// judge's schema and the trace. The harness round it is the real one, so
// prompts, checks, findings and routing are what a project has.
type model struct{ make maker }

// modelName is what the evaluations say judged them.
const modelName = "gpt-4o-2024-08-06"

func (model) Name() string { return judge.EngineOpenAI }

// about is the evaluation under way; a conversation does not name its trace.
type about struct {
	trace  *judge.Trace
	number int
	judge  string
}

type aboutKey struct{}

func (m model) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	on, ok := ctx.Value(aboutKey{}).(about)
	if !ok {
		return judge.Reply{}, errors.New("the call does not say which trace it is about")
	}
	w := newWriter(m.make, on)
	text, err := json.Marshal(w.report())
	if err != nil {
		return judge.Reply{}, err
	}
	if on.number%2 == 1 { // about half of all models write on lines
		var lines bytes.Buffer
		if err := json.Indent(&lines, text, "", "  "); err != nil {
			return judge.Reply{}, err
		}
		text = lines.Bytes()
	}
	prompt := 0
	for _, m := range c {
		prompt += len(m.Content)
	}
	return judge.Reply{
		Text: string(text), FinishReason: judge.FinishStop, Model: p.Model, Endpoint: "api.openai.com",
		Parameters: json.RawMessage(`{"model":"gpt-4o-2024-08-06","temperature":0,"seed":1,"max_completion_tokens":4096,"response_format":"json_schema"}`),
		Tokens:     judge.Tokens{Prompt: prompt / 4, Completion: len(text) / 4},
		CostUSD:    float64(prompt/4)*2.5e-6 + float64(len(text)/4)*1e-5,
		Latency:    time.Duration(1500+w.r.IntN(6000)) * time.Millisecond,
		StartedAt:  time.Now().UTC(),
	}, nil
}
