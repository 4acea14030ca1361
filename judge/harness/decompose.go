package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// decompositions keeps references that were cut into steps, by model and text,
// so that traces with one reference pay for it once.
type decompositions struct {
	mu    sync.Mutex
	steps map[string]string
}

// maxDecompositions are kept at once; then the cache starts anew.
const maxDecompositions = 10_000

func (d *decompositions) get(key string) (string, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	steps, ok := d.steps[key]
	return steps, ok
}

func (d *decompositions) put(key, steps string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.steps == nil || len(d.steps) >= maxDecompositions {
		d.steps = map[string]string{}
	}
	d.steps[key] = steps
}

// sentenceBreak is where one sentence ends and another begins.
var sentenceBreak = regexp.MustCompile(`[.!?;。]["')\]]*\s+\S`)

// needsSteps: a reference of one paragraph with more than one sentence.
func needsSteps(reference string) bool {
	return len(evidence.Steps(reference)) < 2 && sentenceBreak.MatchString(reference)
}

// withReferenceSteps gives the trace as the prompt shows it: with the reference
// cut into numbered steps by a call of its own, where the judge wants that and
// the reference shows no steps. The words of the reference stay: a reply that
// changes them is kept as an attempt and not used. The error is that of a call
// that brought no reply.
func (h *Harness) withReferenceSteps(ctx context.Context, l *line, j *judge.Judge, t *judge.Trace, e *judge.Evaluation) (*judge.Trace, error) {
	if !j.ReferenceSteps || !needsSteps(t.Reference) {
		return t, nil
	}
	key := judge.HashText(l.planned.Model + "\x00" + t.Reference)
	numbered, known := h.decomposed.get(key)
	if !known {
		steps, err := h.cutReference(ctx, l, t, e)
		if err != nil {
			return nil, err
		}
		if steps == nil {
			return t, nil
		}
		numbered = numberSteps(steps)
		h.decomposed.put(key, numbered)
	}
	shown := *t
	shown.Reference = numbered
	return &shown, nil
}

func numberSteps(steps []string) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = fmt.Sprintf("%d. %s", i+1, strings.Join(strings.Fields(s), " "))
	}
	return strings.Join(lines, "\n")
}

// cutReference makes the call. It gives no steps when the reply cannot be used.
func (h *Harness) cutReference(ctx context.Context, l *line, t *judge.Trace, e *judge.Evaluation) ([]string, error) {
	cut := judge.StepsJudge()
	conversation := firstPrompt(&cut, t, nonce(h.config.Key, e.Hashes.Trace))
	reply, retries, err := h.call(ctx, l, conversation, judge.Params{
		Model: l.planned.Model, MaxTokens: h.config.MaxTokens, Seed: h.config.Seed, Schema: cut.Schema, SchemaName: schemaName(cut.Name),
	})
	if err != nil {
		h.unanswered(l, e, retries, err)
		return nil, err
	}
	attempt := newAttempt(l, e, conversation, reply, retries)
	attempt.Purpose = judge.PurposeDecomposition
	steps, fault := h.readSteps(&cut, t.Reference, reply, &attempt)
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
	words := func(text string) []string { return strings.Fields(evidence.Fold(text).Text) }
	if !slices.Equal(words(strings.Join(doc.Steps, " ")), words(reference)) {
		return nil, "the steps are not the reference's own words; the reference is shown as it is"
	}
	return doc.Steps, ""
}
