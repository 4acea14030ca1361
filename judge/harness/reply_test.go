package harness_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge/harness"
)

func TestExtractReport(t *testing.T) {
	const r = `{"a": {"b": [1, 2]}, "c": "}{"}`
	tests := []struct{ name, reply, want, wantErr string }{
		{"alone", r, r, ""},
		{"white space", " \n" + r + "\n", r, ""},
		{"code fence", "```json\n" + r + "\n```", r, ""},
		{"prose and fence", "Here it is:\n```\n" + r + "\n```\n", r, ""},
		{"taken back", r + " but actually the candidate is wrong.", "", "goes on after its JSON object"},
		{"words after a fence", "```\n" + r + "\n```\nDone.", "", "goes on after its JSON object"},
		{"reasoning preamble", "Step {1}: the set {x, y} is empty.\n" + r, r, ""},
		{"think block", "<think>maybe {\"a\": 1}? or {\"a\": 2}</think>\n" + r, r, ""},
		{"two objects", r + "\n" + r, "", "holds 2 JSON objects"},
		{"draft and final", "Draft: {\"a\": 1}\nFinal: {\"a\": 2}", "", "holds 2 JSON objects"},
		{"none", "I cannot say.", "", "no JSON object"},
		{"empty", " \n", "", "the reply is empty"},
		{"only thought", "<think>{\"a\": 1}</think>", "", "the reply is empty"},
		{"cut", `{"a": {"b": 1}, "c": [`, "", "ends before it is complete"},
		{"trailing comma", `{"a": 1,}`, "", "broken"},
		{"trailing comma round objects", `{"a": {"b": 1}, "c": {"d": 2},}`, "", "broken"},
		{"array", `[{"a": 1}]`, "", "a JSON array"},
		{"key twice", `{"a": 1, "a": 2}`, "", `"a" twice`},
		{"inner key twice", `{"x": [{"a": 1, "b": 3, "a": 2}]}`, "", `"a" twice`},
		{"same key in two objects", `{"x": [{"a": 1}, {"a": 2}], "y": {"a": 1}}`, `{"x": [{"a": 1}, {"a": 2}], "y": {"a": 1}}`, ""},
		{"key as value", `{"a": "a", "b": ["a", "a"]}`, `{"a": "a", "b": ["a", "a"]}`, ""},
		{"many braces", strings.Repeat("{", 1000), "", "ends before it is complete"},
		{"braces of prose", strings.Repeat("{x} ", 1000) + r, r, ""},
		{"whole and broken", r + ` {"a":`, "", "ends before it is complete"},
		{"whole and faulty", r + ` {"a": 1,}`, "", "broken"},
		{"faulty and whole", `{"a": 1,} ` + r, "", "broken"},
		{"array in prose", "Here: [" + r + "]", "", "a JSON array"},
		{"array in a code fence", "```json\n[\n" + r + "\n]\n```", "", "a JSON array"},
		{"bracket in prose", "As in [1] " + r + ".", r, ""},
		{"thought without an end", "<think>I would say {\"a\": 1}", "", "never ends"},
		{"no key", "The set {\"a\", \"b\"}. " + r, "", "broken"},
		{"brace at the end", r + " {", "", "ends before it is complete"},
		{"deep", strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000), "", "broken"},
		{"too long", strings.Repeat(" ", 5<<20), "", "more than a report can have"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := harness.ExtractReport(tt.reply)
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Errorf("error: got %v (report %s), want %q", err, got, tt.wantErr)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func FuzzExtractReport(f *testing.F) {
	for _, s := range []string{`{"a": 1}`, "```json\n{}\n```", `<think>{</think>{"a":{"a":1}}`, `{"a":{"b":1},`, "{\"\xff\":1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		report, err := harness.ExtractReport(reply)
		if err != nil {
			return
		}
		var object map[string]any
		if err := json.Unmarshal(report, &object); err != nil {
			t.Errorf("%q gave %q, which is no object: %v", reply, report, err)
		}
		if !strings.Contains(reply, string(report)) {
			t.Errorf("%q gave %q, which it does not contain", reply, report)
		}
	})
}
