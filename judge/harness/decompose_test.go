package harness_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
)

const paragraph = "There are 16 eggs. She uses 7 of them. So 9 are left."

// A reference of one paragraph is cut into steps once, and the call is kept.
func TestReferenceIsCutIntoSteps(t *testing.T) {
	report := stepsReport("0.9", "[]", "CORRECT")
	chat := &script{replies: []any{`{"steps": ["There are 16 eggs.", "She uses 7 of them.", "So 9 are left."]}`, report, report}}
	h := newHarness(t, own(t), chat)
	trace := judge.Trace{ID: "t", Question: "q", Output: "o", Reference: paragraph}
	e := evaluate(t, h, trace, planned("steps"))
	if e.Status != judge.Accepted || e.Attempts != 2 || e.Calls[0].Purpose != judge.PurposeDecomposition || e.Calls[1].Purpose != "" || e.Calls[1].Number != 2 {
		t.Errorf("status %s, %d attempts, %+v", e.Status, e.Attempts, e.Calls)
	}
	const numbered = "1. There are 16 eggs.\n2. She uses 7 of them.\n3. So 9 are left."
	if got := chat.asked[1][1].Content; !strings.Contains(got, numbered) {
		t.Errorf("the prompt does not show the steps:\n%s", got)
	}
	trace.Output = "another output"
	if e = evaluate(t, h, trace, planned("steps")); e.Attempts != 1 || !strings.Contains(chat.asked[2][1].Content, numbered) {
		t.Errorf("the same reference was cut again: %d attempts", e.Attempts)
	}
}

func TestReferenceIsShownAsItIs(t *testing.T) {
	report := stepsReport("0.9", "[]", "CORRECT")
	tests := []struct {
		name, reference string
		replies         []any
		attempts        int
	}{
		{"it has steps", "1. a. b\n2. c", []any{report}, 1},
		{"it has one sentence", "Answer: A", []any{report}, 1},
		{"the reply changes a word", paragraph, []any{`{"steps": ["There are 16 eggs.", "She uses 8 of them.", "So 9 are left."]}`, report}, 2},
		{"the reply leaves a step out", paragraph, []any{`{"steps": ["There are 16 eggs.", "So 9 are left."]}`, report}, 2},
		{"the reply is no list", paragraph, []any{`{"steps": "all"}`, report}, 2},
		{"the reply is nothing", paragraph, []any{"no", report}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chat := &script{replies: tt.replies}
			e := evaluate(t, newHarness(t, own(t), chat), judge.Trace{ID: "t", Question: "q", Output: "o", Reference: tt.reference}, planned("steps"))
			if e.Status != judge.Accepted || e.Attempts != tt.attempts || e.Repairs != 0 {
				t.Errorf("status %s, attempts %d, repairs %d, error %s", e.Status, e.Attempts, e.Repairs, e.Error)
			}
			if got := chat.asked[len(chat.asked)-1][1].Content; !strings.Contains(got, "\n"+tt.reference+"\n") {
				t.Errorf("the prompt does not show the reference as it is:\n%s", got)
			}
			if tt.attempts == 2 && len(e.Calls[0].Errors) == 0 {
				t.Error("the attempt does not say why it was not used")
			}
		})
	}
}

func TestReferenceCannotBeCut(t *testing.T) {
	chat := &script{replies: []any{&judge.TransportError{Status: 401, Message: "no"}}}
	e := evaluate(t, newHarness(t, own(t), chat), judge.Trace{ID: "t", Question: "q", Output: "o", Reference: paragraph}, planned("steps"))
	if codes(e) != judge.ReasonJudgeFailed || len(chat.asked) != 1 {
		t.Errorf("reasons %q after %d calls", codes(e), len(chat.asked))
	}
}
