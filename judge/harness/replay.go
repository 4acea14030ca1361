package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// ReplayError says why an evaluation can't be made again from what was kept of it.
type ReplayError struct{ msg string }

func (e *ReplayError) Error() string { return e.msg }

// Replayed is an evaluation that was made again.
type Replayed struct {
	// Evaluation as it comes out now, under the harness's own policy.
	Evaluation judge.Evaluation
	// Differences from the kept one in what the judge says, one line each; nil:
	// the same to the byte. Reasons and draws are the policy's, not the judge's,
	// and are not compared.
	Differences []string
	// Unanswered: the evaluation ended in a call without a reply. Its error was
	// taken as it was kept.
	Unanswered bool
}

// Replay makes an evaluation again from its trace and its attempts, without a
// network: each prompt is filled anew and must be the one that was sent, to the
// byte; each reply is the kept one; everything after is computed again. What
// called no model is asked again, since rules and recorded reports give the same.
//
// j is the judge in the version of the evaluation, p what was planned, and kept
// the evaluation with its Calls; of several rounds the last is replayed. Probes
// of the endpoint are left out. The error is a *ReplayError when that can't be
// done: another version, texts that retention removed, a prompt that differs.
func (h *Harness) Replay(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned, kept *judge.Evaluation) (Replayed, error) {
	if detail := otherVersion(j, p); detail != "" {
		return Replayed{}, &ReplayError{detail}
	}
	hashes := judge.TraceHashes(*t)
	if kept.Hashes.Trace != "" && kept.Hashes.Trace != hashes.Trace {
		return Replayed{}, &ReplayError{"the trace is another revision than the one that was judged"}
	}
	again := &Harness{config: h.config}
	again.config.Ledger, again.config.Purse, again.config.Steps, again.config.Audit = nil, nil, nil, false
	if kept.StartedAt != nil {
		started := *kept.StartedAt
		again.config.Now = func() time.Time { return started }
	}
	if kept.Samples > 1 {
		p.Samples = kept.Samples
	}
	var r Replayed
	var t0 *tape
	if h.callsModel(p) || p.Engine == judge.EngineOpenAI {
		round := lastRound(kept.Calls)
		for _, a := range round {
			if a.PromptRemovedAt != nil || a.ReplyRemovedAt != nil {
				return Replayed{}, &ReplayError{fmt.Sprintf("the texts of attempt %d were removed by retention: there is nothing to replay", a.Number)}
			}
		}
		t0 = &tape{kept: round, mark: nonce(h.config.Key, hashes.Trace), trace: t}
		if failedForGood(kept) {
			t0.ended = kept.Error
			t0.retries = kept.TransportRetries
			for _, a := range kept.Calls {
				t0.retries -= a.TransportRetries
			}
		}
		again.config.Engines = map[string]judge.Engine{p.EngineKey(): t0}
	}
	e, _, err := again.evaluate(ctx, task{judge: j, trace: t, planned: p, key: kept.ID})
	if err != nil {
		return Replayed{}, err
	}
	if t0 != nil {
		if t0.fault != nil {
			return Replayed{}, t0.fault
		}
		if t0.at < len(t0.kept) {
			return Replayed{}, &ReplayError{fmt.Sprintf("%d of %d kept replies are not asked for now", len(t0.kept)-t0.at, len(t0.kept))}
		}
		r.Unanswered = t0.over
	}
	r.Evaluation = e
	r.Differences, err = differences(kept, &e)
	return r, err
}

// failedForGood reports whether an evaluation ended in a call without a reply.
func failedForGood(e *judge.Evaluation) bool {
	for _, r := range e.Reasons {
		if r.Code == judge.ReasonJudgeFailed {
			return e.Error != ""
		}
	}
	return false
}

// lastRound is what of an evaluation's attempts its present result came from: a
// retry makes another round, which begins with the first prompt again.
func lastRound(calls []judge.Attempt) []judge.Attempt {
	round := make([]judge.Attempt, 0, len(calls))
	for _, a := range calls {
		if a.Prompt != "" && a.Prompt != probePrompt {
			round = append(round, a)
		}
	}
	begin := 0
	for i, a := range round {
		if a.Sample <= 1 && turns(a.Prompt) == 2 {
			begin = i
		}
	}
	if begin > 0 && turns(round[begin-1].Prompt) == 2 && round[begin-1].Sample <= 1 && round[begin-1].Prompt != round[begin].Prompt {
		begin-- // the call that cut the reference
	}
	return round[begin:]
}

var probePrompt = encodeConversation(judge.ProbePrompt())

func turns(prompt string) int {
	var c judge.Conversation
	if json.Unmarshal([]byte(prompt), &c) != nil {
		return 0
	}
	return len(c)
}

// differences names what the judge says otherwise now.
func differences(kept, now *judge.Evaluation) ([]string, error) {
	var list []string
	for _, field := range []struct {
		name string
		of   func(*judge.Evaluation) any
	}{
		{"judge", func(e *judge.Evaluation) any { return e.Judge }},
		{"prompt version", func(e *judge.Evaluation) any { return e.PromptVersion }},
		{"score", func(e *judge.Evaluation) any { return e.Score }},
		{"verdict", func(e *judge.Evaluation) any { return e.Verdict }},
		{"label", func(e *judge.Evaluation) any { return e.Label }},
		{"critical", func(e *judge.Evaluation) any { return e.Critical }},
		{"report", func(e *judge.Evaluation) any { return e.Report }},
		{"findings", func(e *judge.Evaluation) any { return append([]judge.Finding{}, e.Findings...) }},
		{"checks", func(e *judge.Evaluation) any { return append([]judge.CheckResult{}, e.Checks...) }},
		{"refused field", func(e *judge.Evaluation) any { return e.RefusedField }},
		{"error", func(e *judge.Evaluation) any { return e.Error }},
		{"spread", func(e *judge.Evaluation) any { return e.Spread }},
	} {
		before, err := compact(field.of(kept))
		if err != nil {
			return nil, fmt.Errorf("replay: the kept %s: %w", field.name, err)
		}
		after, err := compact(field.of(now))
		if err != nil {
			return nil, fmt.Errorf("replay: the %s of now: %w", field.name, err)
		}
		if before != after {
			list = append(list, fmt.Sprintf("%s: kept %s, now %s", field.name, shortened(before), shortened(after)))
		}
	}
	return list, nil
}

func compact(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return "", err
	}
	return b.String(), nil
}

func shortened(text string) string { return bounded([]string{text})[0] }

// stepsInPrompt reads the numbered steps of a reference back from a first prompt;
// ok is false when it shows none that are the reference's own words.
func stepsInPrompt(prompt, mark, reference string) (steps []string, ok bool) {
	var c judge.Conversation
	if json.Unmarshal([]byte(prompt), &c) != nil || len(c) < 2 {
		return nil, false
	}
	for _, name := range judge.PlaceholderNames() {
		if field, _ := judge.PlaceholderField(name); field != "reference" {
			continue
		}
		_, rest, found := strings.Cut(c[1].Content, "<<<"+name+" "+mark+">>>\n")
		if !found {
			continue
		}
		text, _, closed := strings.Cut(rest, "\n<<<END "+name+" "+mark+">>>")
		if !closed {
			continue
		}
		for i, line := range strings.Split(text, "\n") {
			step, numbered := strings.CutPrefix(line, fmt.Sprintf("%d. ", i+1))
			if !numbered {
				return nil, false
			}
			steps = append(steps, step)
		}
		return steps, ownWords(steps, reference)
	}
	return nil, false
}
