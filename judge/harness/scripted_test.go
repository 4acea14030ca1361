package harness_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/recorded"
)

// script is a chat engine that says what it was given, in turn, and keeps what
// it was asked.
type script struct {
	mu      sync.Mutex
	replies []any // judge.Reply, string or error
	asked   []judge.Conversation
	params  []judge.Params
}

func (s *script) Name() string { return judge.EngineOpenAI }

func (s *script) Reply(ctx context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, c)
	s.params = append(s.params, p)
	if err := ctx.Err(); err != nil {
		return judge.Reply{}, err
	}
	if len(s.replies) == 0 {
		return judge.Reply{}, errors.New("the script has no more replies")
	}
	next := s.replies[0]
	s.replies = s.replies[1:]
	switch r := next.(type) {
	case error:
		return judge.Reply{}, r
	case judge.Reply:
		return r, nil
	}
	return judge.Reply{
		Text: next.(string), FinishReason: judge.FinishStop, Model: "m-2026", Endpoint: "host",
		Tokens: judge.Tokens{Prompt: 100, Completion: 10}, CostUSD: 0.5, Latency: 20 * time.Millisecond, StartedAt: noon(),
	}, nil
}

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

// newHarness makes a harness of the built-in judges and more, with engines; its
// waits are short.
func newHarness(t *testing.T, change func(*harness.Config), engines ...judge.Engine) *harness.Harness {
	t.Helper()
	c := harness.Config{
		Judges: builtin.Judges(), Default: builtin.Default(), Key: []byte("key"), Now: noon,
		Engines: map[string]judge.Engine{judge.EngineRecorded: recorded.Engine{}},
		Retry:   harness.Retry{Initial: time.Millisecond, Max: 2 * time.Millisecond},
	}
	for _, e := range engines {
		c.Engines[e.Name()] = e
	}
	if change != nil {
		change(&c)
	}
	h, err := harness.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func parsed(t *testing.T, text string) judge.Judge {
	t.Helper()
	j, err := judge.ParseDefinition("j.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

const verdictJudge = `name: v
inputs: {output: required, reference: optional, question: optional, premises: optional, sources: optional}
prompt: |
  Judge this.
  Question: [QUESTION]
  Reference: [REFERENCE_OUTPUT] (golden)
  [IF PREMISES]
  Premises, with care:
  [PREMISES]
  [END PREMISES]
  [SOURCE_DOCUMENTS]
  [CANDIDATE_OUTPUT]
  End.
schema:
  type: object
  required: [verdict]
  properties:
    verdict: {enum: ["Yes", "No", "Maybe"]}
    rationale: {type: string}
    score: {type: number}
report: {label: /verdict}
labels:
  - {name: "Yes", verdict: pass}
  - {name: "No", verdict: fail}
  - {name: "Maybe", verdict: borderline, abstain: true}
max_repairs: 1
checks:
  - {name: reason.given, kind: hard, when: {pointer: /verdict, equals: "No"}, requires: /rationale}
`
