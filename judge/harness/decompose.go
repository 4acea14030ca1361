package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// sentenceBreak is where one sentence ends and another begins.
var sentenceBreak = regexp.MustCompile(`[.!?;。]["')\]]*\s+\S`)

// needsSteps: a reference of one paragraph with more than one sentence.
func needsSteps(reference string) bool {
	return len(evidence.Steps(reference)) < 2 && sentenceBreak.MatchString(reference)
}

// shownTrace is the trace as the prompt shows it.
type shownTrace struct {
	trace *judge.Trace
	// from is the evaluation whose call cut the reference, where that is another.
	from string
}

// withReferenceSteps gives the trace as the prompt shows it: with the reference
// cut into numbered steps by a call of its own, where the judge wants that and
// the reference shows no steps. The words of the reference stay: a reply that
// changes them is kept as an attempt and not used. The error is that of a call
// that brought no reply, or of the cache.
func (h *Harness) withReferenceSteps(ctx context.Context, l *line, j *judge.Judge, t *judge.Trace, e *judge.Evaluation) (shownTrace, error) {
	if !j.ReferenceSteps || !needsSteps(t.Reference) {
		return shownTrace{trace: t}, nil
	}
	cut, err := h.cutSteps(ctx, l, t, e)
	if err != nil || cut.Steps == nil {
		return shownTrace{trace: t}, err
	}
	shown := *t
	shown.Reference = numberSteps(cut.Steps)
	from := cut.Evaluation
	if from == l.key {
		from = ""
	}
	return shownTrace{trace: &shown, from: from}, nil
}

func (h *Harness) cutSteps(ctx context.Context, l *line, t *judge.Trace, e *judge.Evaluation) (judge.CutSteps, error) {
	asked := judge.StepsJudge()
	conversation := firstPrompt(&asked, t, nonce(h.config.Key, e.Hashes.Trace))
	ask := func() (judge.CutSteps, error) {
		steps, err := h.cutReference(ctx, l, &asked, conversation, t, e)
		return judge.CutSteps{Steps: steps, Evaluation: l.key}, err
	}
	if replayed, ok := l.chat.(*tape); ok {
		return replayed.cutSteps(conversation, ask)
	}
	key := judge.HashText(strings.Join([]string{l.planned.EngineKey(), l.planned.Model, asked.Prompt, string(asked.Schema), t.Reference}, "\x00"))
	return h.decomposed.of(ctx, key, h.config.Steps, ask)
}

func numberSteps(steps []string) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, strings.Join(strings.Fields(s), " "))
	}
	return strings.Join(lines, "\n")
}

// cutReference makes the call. It gives no steps when the reply cannot be used.
func (h *Harness) cutReference(ctx context.Context, l *line, cut *judge.Judge, conversation judge.Conversation, t *judge.Trace, e *judge.Evaluation) ([]string, error) {
	reply, retries, err := h.call(ctx, l, conversation, judge.Params{
		Model: l.planned.Model, MaxTokens: h.config.MaxTokens, Seed: h.config.Seed, Schema: cut.Schema, SchemaName: schemaName(cut.Name),
	})
	if err != nil {
		h.unanswered(l, e, retries)
		return nil, err
	}
	h.probed(l, e)
	attempt := h.newAttempt(l, e, conversation, reply, retries)
	attempt.Purpose = judge.PurposeDecomposition
	steps, fault := h.readSteps(cut, t.Reference, reply, &attempt)
	if fault != "" {
		attempt.Errors = []string{fault}
		steps = nil
	}
	h.attempted(e, attempt)
	return steps, nil
}

func (h *Harness) readSteps(cut *judge.Judge, reference string, reply judge.Reply, attempt *judge.Attempt) (steps []string, fault string) {
	if fault := unusable(reply); fault != "" {
		return nil, fault
	}
	report, err := ExtractReport(reply.Text)
	if err != nil {
		return nil, err.Error()
	}
	attempt.Report = report
	s, err := h.schemas.of(cut)
	if err != nil {
		return nil, err.Error()
	}
	if faults := s.faults(report); faults != nil {
		return nil, strings.Join(faults, "; ")
	}
	var doc struct{ Steps []string }
	if err := json.Unmarshal(report, &doc); err != nil {
		return nil, err.Error()
	}
	if !ownWords(doc.Steps, reference) {
		return nil, "the steps are not the reference's own words; the reference is shown as it is"
	}
	return doc.Steps, ""
}

// ownWords reports whether steps are a reference's words, all of them and in
// their order.
func ownWords(steps []string, reference string) bool {
	words := func(text string) []string { return strings.Fields(evidence.Fold(text).Text) }
	return slices.Equal(words(strings.Join(steps, " ")), words(reference))
}
