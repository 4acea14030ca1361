package harness_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// cutter cuts references into steps, slowly, and judges them.
type cutter struct {
	mu    sync.Mutex
	cut   string // its answer
	fails int    // cuts that fail first
	cuts  int
}

func (*cutter) Name() string { return judge.EngineOpenAI }

func (c *cutter) Reply(ctx context.Context, asked judge.Conversation, p judge.Params) (judge.Reply, error) {
	time.Sleep(time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.SchemaName != "reference-steps" {
		return judge.Reply{Text: stepsReport("0.9", "[]", "CORRECT"), FinishReason: "stop"}, nil
	}
	c.cuts++
	if c.cuts <= c.fails {
		return judge.Reply{}, &judge.TransportError{Status: 401, Message: "no"}
	}
	return judge.Reply{Text: c.cut, FinishReason: "stop"}, nil
}

const cutParagraph = `{"steps": ["There are 16 eggs.", "She uses 7 of them.", "So 9 are left."]}`

// TestReferenceIsCutOnce for all traces that want it at the same time, and a
// reply that can't be used is not asked for again.
func TestReferenceIsCutOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		cut           string
		fails         int
		cuts, refused int
		shown         bool
	}{
		"used":        {cutParagraph, 0, 1, 0, true},
		"not used":    {`{"steps": ["Something else."]}`, 0, 1, 0, false},
		"fails first": {cutParagraph, 2, 3, 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chat := &cutter{cut: tt.cut, fails: tt.fails}
				h := newHarness(t, own(t), chat)
				results := make([]judge.Evaluation, 20)
				var all sync.WaitGroup
				for i := range results {
					all.Go(func() {
						trace := judge.Trace{ID: strings.Repeat("x", i+1), Question: "q", Output: "o", Reference: paragraph}
						e, _, err := h.Evaluate(context.Background(), &trace, planned("steps"))
						if err != nil {
							t.Error(err)
						}
						results[i] = e
					})
				}
				all.Wait()
				if chat.cuts != tt.cuts {
					t.Errorf("the reference was cut %d times, want %d", chat.cuts, tt.cuts)
				}
				cutters, refused := map[string]bool{}, 0
				from := map[string]int{}
				for _, e := range results {
					if codes(e) == judge.ReasonJudgeFailed {
						refused++
						continue
					}
					for _, a := range e.Calls {
						switch {
						case a.Purpose == judge.PurposeDecomposition:
							cutters[e.ID] = true
						case strings.Contains(a.Prompt, `2. She uses 7 of them.`) != tt.shown:
							t.Errorf("attempt %d shows steps: %v, want %v", a.Number, !tt.shown, tt.shown)
						case a.StepsFrom != "":
							from[a.StepsFrom]++
						}
					}
				}
				if refused != tt.refused || len(cutters) != 1 {
					t.Errorf("%d evaluations failed, %d hold the call; want %d, 1", refused, len(cutters), tt.refused)
				}
				for id, n := range from {
					if !tt.shown || !cutters[id] || n != len(results)-refused-1 {
						t.Errorf("%d prompts name %s as where their steps came from; the call is in %v", n, id, cutters)
					}
				}
				if tt.shown && len(from) != 1 {
					t.Errorf("steps came from %v, want one evaluation", from)
				}
			})
		})
	}
}

// steps keeps what was cut, in memory.
type keptSteps struct {
	mu    sync.Mutex
	kept  map[string]judge.CutSteps
	fault error
}

func (k *keptSteps) CutSteps(_ context.Context, key string) (judge.CutSteps, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, ok := k.kept[key]
	return c, ok, k.fault
}

func (k *keptSteps) KeepCutSteps(_ context.Context, key string, c judge.CutSteps) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]judge.CutSteps{}
	}
	if _, ok := k.kept[key]; !ok {
		k.kept[key] = c
	}
	return k.fault
}

// TestCutStepsOutliveAHarness: the next one finds them, for the same model only.
func TestCutStepsOutliveAHarness(t *testing.T) {
	steps := &keptSteps{}
	report := stepsReport("0.9", "[]", "CORRECT")
	trace := judge.Trace{ID: "t", Question: "q", Output: "o", Reference: paragraph}
	with := func(replies ...any) (*harness.Harness, *script) {
		chat := &script{replies: replies}
		return newHarness(t, func(c *harness.Config) { own(t)(c); c.Steps = steps }, chat), chat
	}
	h, _ := with(cutParagraph, report)
	first := evaluate(t, h, trace, planned("steps"))
	want := judge.CutSteps{Steps: []string{"There are 16 eggs.", "She uses 7 of them.", "So 9 are left."}, Evaluation: first.ID}
	for _, got := range steps.kept {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
	}
	h, chat := with(report)
	trace.Output = "another"
	second := evaluate(t, h, trace, planned("steps"))
	if len(chat.asked) != 1 || second.Attempts != 1 || second.Calls[0].StepsFrom != first.ID {
		t.Errorf("%d calls, %d attempts, steps from %q; want 1, 1, %q", len(chat.asked), second.Attempts, second.Calls[0].StepsFrom, first.ID)
	}
	h, _ = with(cutParagraph, report)
	other := planned("steps")
	other.Model = "another"
	if e := evaluate(t, h, trace, other); e.Attempts != 2 || len(steps.kept) != 2 {
		t.Errorf("another model: %d attempts, %d kept; want 2, 2", e.Attempts, len(steps.kept))
	}

	steps.fault = errors.New("no connection")
	h, chat = with(cutParagraph, report)
	_, _, err := h.Evaluate(context.Background(), &trace, planned("steps"))
	var unkept *harness.LedgerError
	if !errors.As(err, &unkept) || len(chat.asked) != 0 {
		t.Errorf("a cache that fails gave %v after %d calls, want a LedgerError after none", err, len(chat.asked))
	}
}
