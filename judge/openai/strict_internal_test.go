package openai

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign/judge/builtin"
)

func TestStrictSchema(t *testing.T) {
	tests := []struct {
		name, schema, want string
		strict             bool
	}{
		{"optional becomes nullable, order stays", `{"type":"object","required":["z"],"properties":{"z":{"type":"string"},"a":{"enum":["x"]},"m":{"type":["number","string"]},"n":{"type":["number","null"]}}}`,
			`{"type":"object","required":["z","a","m","n"],"properties":{"z":{"type":"string"},"a":{"enum":["x",null]},"m":{"type":["number","string","null"]},"n":{"type":["number","null"]}},"additionalProperties":false}`, true},
		{"inside lists", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","required":[],"properties":{"b":{"type":"boolean"}}}}},"required":["l"]}`,
			`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","required":["b"],"properties":{"b":{"type":["boolean","null"]}},"additionalProperties":false}}},"required":["l"],"additionalProperties":false}`, true},
		{"open object", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","additionalProperties":{"type":"string"}}`, false},
		{"object without properties", `{"type":"object"}`, `{"type":"object"}`, false},
		{"open object inside", `{"type":"object","properties":{"o":{"type":"object"}}}`, `{"type":"object","properties":{"o":{"type":"object"}}}`, false},
		{"composed", `{"type":"object","properties":{"o":{"anyOf":[{"type":"string"}]}}}`, `{"type":"object","properties":{"o":{"anyOf":[{"type":"string"}]}}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, strict := strictSchema(json.RawMessage(tt.schema))
			text, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != tt.want || strict != tt.strict {
				t.Errorf("got %v %s\nwant %v %s", strict, text, tt.strict, tt.want)
			}
		})
	}
}

// Every built-in judge is asked for strictly; logic by the dimensions of its rubric.
func TestStrictBuiltin(t *testing.T) {
	for _, j := range builtin.Judges() {
		if _, strict := strictSchema(j.Schema); !strict {
			t.Errorf("judge %s: not strict", j.Name)
		}
	}
}
