package views

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

func TestWords(t *testing.T) {
	at := time.Date(2026, 7, 14, 10, 40, 0, 0, time.UTC)
	half := 0.5
	for _, tt := range []struct{ name, got, want string }{
		{"span seconds", span(40 * time.Second), "40 s"},
		{"span minutes", span(59*time.Minute + 59*time.Second), "59 min"},
		{"span hours", span(80 * time.Minute), "1 h 20 min"},
		{"span whole hours", span(5 * time.Hour), "5 h"},
		{"span one day", span(26 * time.Hour), "1 day"},
		{"span days", span(50 * time.Hour), "2 days"},
		{"span backwards", span(-40 * time.Second), "40 s"},
		{"number", number(1234567), "1,234,567"},
		{"number small", number(999), "999"},
		{"number negative", number(-1000), "-1,000"},
		{"count one", count(1, "trace", "traces"), "1 trace"},
		{"count none", count(0, "trace", "traces"), "0 traces"},
		{"percent", percent(1010, 1163), "87%"},
		{"percent of nothing", percent(0, 0), ""},
		{"score", score2(&half), "0.50"},
		{"no score", score2(nil), ""},
		{"lease", leaseClock(1450), "24:10"},
		{"lease over", leaseClock(-5), "0:00"},
		{"ring half", leaseDash(900, 1800), "18.9 37.7"}, // half of 37.7 rounds up
		{"ring unknown", leaseDash(900, 0), "0.0 37.7"},
		{"seconds", seconds(893), "14 min 53 s"},
		{"same day", shortTime(at, at.Add(time.Hour)), "11:40"},
		{"other day", shortTime(at, at.Add(24*time.Hour)), "15 Jul 10:40"},
		{"hash", shortHash("5cff4379c3a40f87767e4769b505a43a"), "5cff43…a43a"},
		{"short hash", shortHash("09ce"), "09ce"},
		{"sentence", sentence("partially_supported"), "Partially supported"},
		{"sentence of a label", sentence("Yes"), "Yes"},
		{"money none", money(0), "none"},
		{"money tiny", money(0.00123), "$0.0012"},
		{"money", money(1.5), "$1.50"},
		{"link", linkTo("/traces/", "a b/c"), "/traces/a%20b%2Fc"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

// Every reason and verdict has words and an icon that the sprite holds.
func TestReasonsHaveWords(t *testing.T) {
	for _, code := range judge.ReasonCodes() {
		if w := reasonWord(code); w == "" || w == code {
			t.Errorf("reason %s has no words", code)
		}
	}
	if got, want := verdictWord(""), "No verdict"; got != want {
		t.Errorf("no verdict is %q, want %q", got, want)
	}
}

// A detail goes with its telling reason, and is never told while sealed.
func TestTold(t *testing.T) {
	all := []judge.Reason{{Code: judge.ReasonCriticalError, Detail: "x"}, {Code: judge.ReasonJudgeFailed, Detail: "y"}}
	if diff := cmp.Diff(all, told(all, false)); diff != "" {
		t.Errorf("open: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]judge.Reason{{Code: judge.ReasonJudgeFailed}}, told(all, true)); diff != "" {
		t.Errorf("sealed: (-want +got)\n%s", diff)
	}
}

// unmarked changes nothing of its caller's.
func TestUnmarkedCopies(t *testing.T) {
	in := TraceText{Steps: []Step{{N: 1, Segments: []Segment{{Text: "a", Kind: Violation}}}}, Answer: []Segment{{Text: "b", Kind: Violation}}}
	out := unmarked(in, true)
	if out.Steps[0].Segments[0].Kind != Plain || out.Answer[0].Kind != Plain {
		t.Errorf("still marked: %v", out)
	}
	if in.Steps[0].Segments[0].Kind != Violation || in.Answer[0].Kind != Violation {
		t.Errorf("the caller's trace was changed: %v", in)
	}
}
