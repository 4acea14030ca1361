package builtin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// Traces and reports of a megabyte, of kinds that were once read again for each
// evaluation or flag. Every case is told by what the checks and the reading find
// in it; where a check took quadratic time these did not end.
func TestCitationsOfAMegabyte(t *testing.T) {
	const n = 40_000
	tests := []struct {
		name    string
		part    func(i int) string // of the output
		id      func(i int) string
		step    func(i int) int // that the evaluation names
		flag    func(i int) string
		quote   bool
		sources int
		want    map[string]string
		found   int // findings
	}{
		{name: "one source, a step each", part: func(int) string { return "So it is shown there [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, quote: true, sources: 1, want: map[string]string{}},
		{name: "steps counted otherwise", part: func(int) string { return "So it is shown there [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return n + i + 2 }, quote: true, sources: 1, want: map[string]string{}},
		{name: "all in one step, flagged by flags without a step", part: func(int) string { return "so it is shown [1] " }, id: func(int) string { return "1" },
			step: func(int) int { return 1 }, flag: func(int) string { return "" }, quote: true, sources: 1, want: map[string]string{}, found: n},
		{name: "all flagged in a step of their own", part: func(int) string { return "So it is shown there [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, flag: func(i int) string { return fmt.Sprintf(`"reasoning_step_index": %d, `, i+1) }, quote: true, sources: 1, want: map[string]string{}, found: n},
		{name: "flags of other steps", part: func(int) string { return "So it is shown there [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, flag: func(i int) string { return fmt.Sprintf(`"reasoning_step_index": %d, `, n+i+1) }, quote: true, sources: 1,
			want: map[string]string{"flag.matches": "and 39980 more"}, found: n},
		{name: "side by side, a source each, with a quotation", part: func(i int) string {
			if i == 0 {
				return `It says "nothing of that kind was ever said by anybody" [s0]`
			}
			return fmt.Sprintf("[s%d]", i)
		}, id: func(i int) string { return fmt.Sprintf("s%d", i) }, step: func(int) int { return 1 }, quote: true, sources: n,
			want: map[string]string{"quote.agrees": "does not occur"}},
		{name: "a number each", part: func(i int) string { return fmt.Sprintf("There were %d of them [1].\n", i+1_000_000) }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, quote: true, sources: 1, want: map[string]string{"numbers.agree": `"1000000" is nowhere`}},
	}
	j := named(t, builtin.Citations)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{}
			for i := range tt.sources {
				id := "1"
				if tt.sources > 1 {
					id = tt.id(i)
				}
				trace.Sources = append(trace.Sources, judge.Source{ID: id, Text: "It is shown that so it is there."})
			}
			var output, evaluations, flags strings.Builder
			for i := range n {
				output.WriteString(tt.part(i))
				comma := ","
				if i == 0 {
					comma = ""
				}
				fmt.Fprintf(&evaluations, `%s{"citation_id": %q, "reasoning_step_index": %d, "reasoning_step_text": "t", "citation_exists": true, "quote_accurate": %v,
					"context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "", "flagged": %v}`, comma, tt.id(i), tt.step(i), tt.quote, tt.flag != nil)
				if tt.flag != nil {
					fmt.Fprintf(&flags, `%s{"citation_id": %q, %s"flag_type": "unsupported", "severity": "minor", "detail": "d"}`, comma, tt.id(i), tt.flag(i))
				}
			}
			trace.Output = output.String()
			score := "1"
			if tt.flag != nil {
				score = "0"
			}
			report := json.RawMessage(`{"overall_citation_accuracy_score": ` + score + fmt.Sprintf(`, "total_citations_evaluated": %d, "summary": "", "citation_evaluations": [`, n) +
				evaluations.String() + `], "misattribution_flags": [` + flags.String() + `]}`)
			checks, read := j.Examine(report, &trace)
			for _, c := range checks {
				switch part, bad := tt.want[c.Name]; {
				case c.OK == bad:
					t.Errorf("check %s: OK is %v: %s", c.Name, c.OK, c.Detail)
				case bad && !strings.Contains(c.Detail, part):
					t.Errorf("check %s: got %q, want it to say %q", c.Name, c.Detail, part)
				}
			}
			reading, err := read()
			if err != nil {
				t.Fatal(err)
			}
			if len(reading.Findings) != tt.found {
				t.Errorf("findings: got %d, want %d", len(reading.Findings), tt.found)
			}
		})
	}
}
