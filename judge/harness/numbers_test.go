package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/recorded"
)

// ownCount is a judge of somebody's own with a number of each kind.
const ownCount = `name: count
inputs: {output: required}
prompt: Count [CANDIDATE_OUTPUT]
schema:
  type: object
  required: [label, n, x]
  properties:
    label: {type: string, enum: [good, bad]}
    n: {type: integer}
    x: {type: number}
    list: {type: array, items: {anyOf: [{type: integer}, {type: "null"}]}}
report: {label: /label}
labels: [{name: good, verdict: pass}, {name: bad, verdict: fail}]
`

// goWords are what only who knows this program's language understands.
var goWords = regexp.MustCompile(`unmarshal|json:|strconv|float64|int64|Go (struct|value)|invalid syntax|out of range|panic`)

// TestNumbersBeyondCounting: whatever number stands in a number's place of any
// judge's report, what is wrong is told with the place and the value, in words that
// a person and a model understand. A whole number that is written otherwise is one.
func TestNumbersBeyondCounting(t *testing.T) {
	own, err := judge.ParseDefinition("count.yaml", []byte(ownCount))
	if err != nil {
		t.Fatal(err)
	}
	judges := append(builtin.Judges(), own)
	h, err := harness.New(harness.Config{
		Judges: judges, Engines: map[string]judge.Engine{judge.EngineRecorded: recorded.Engine{}}, Engine: judge.EngineRecorded, Key: []byte(strings.Repeat("k", 32)),
	})
	if err != nil {
		t.Fatal(err)
	}
	told := func(t *testing.T, j judge.Judge, report any) string {
		t.Helper()
		raw, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		trace := judge.Trace{
			ID: "t", Question: "q", Output: "1. One step [1].\n2. Another step [1].", Reference: "1. One.\n2. Another.", Conclusion: "c", Premises: []string{"p"},
			Sources: []judge.Source{{ID: "1", Text: "One step."}}, Judgments: []judge.Judgment{{Judge: j.Name, Raw: string(raw)}},
		}
		e, _, err := h.Evaluate(context.Background(), &trace, judge.Planned{Judge: j.Name, Engine: judge.EngineRecorded, Model: judge.Unknown, PromptVersion: judge.Unknown})
		if err != nil {
			t.Fatal(err)
		}
		if e.Status == judge.Refused {
			t.Fatalf("refused for %s: %s", e.RefusedField, e.Error)
		}
		text := e.Error
		for _, r := range e.Reasons {
			text += " " + r.Detail
		}
		for _, c := range e.Checks {
			text += " " + c.Detail
		}
		for _, c := range e.Calls {
			text += " " + strings.Join(c.Errors, "; ")
		}
		return text
	}
	places := 0
	for _, j := range judges {
		t.Run(j.Name, func(t *testing.T) {
			var schema map[string]any
			if err := json.Unmarshal(j.Schema, &schema); err != nil {
				t.Fatal(err)
			}
			for _, at := range numbersOf(schema, schema, "") {
				places++
				for _, n := range []string{"1e300", "-1e300", "9223372036854775808", "1e999", "-1e9999", "1e400000000"} {
					text := told(t, j, exampleOf(schema, schema, "", at.pointer, json.Number(n)))
					if words := goWords.FindString(text); words != "" {
						t.Errorf("%s = %s: %q in %s", at.pointer, n, words, text)
					}
					counts := at.whole || strings.Contains(n, "999") || strings.Contains(n, "e4")
					if counts && (!strings.Contains(text, at.pointer+":") || !strings.Contains(text, "(received "+n+")")) {
						t.Errorf("%s = %s: the place and what was received are not in %q", at.pointer, n, text)
					}
				}
				for _, n := range []string{"1.0", "1e0", "9223372036854775807", "1e18"} {
					text := told(t, j, exampleOf(schema, schema, "", at.pointer, json.Number(n)))
					if words := goWords.FindString(text); words != "" || strings.Contains(text, "cannot be read") {
						t.Errorf("%s = %s: %s", at.pointer, n, text)
					}
				}
			}
		})
	}
	if places < 12 {
		t.Errorf("only %d places of numbers were tried", places)
	}
}

// numberPlace is where a schema has a number.
type numberPlace struct {
	pointer string
	whole   bool // and no text may stand there
}

func kindsOf(root, schema map[string]any) (map[string]any, []string) {
	if ref, ok := schema["$ref"].(string); ok {
		var at any = root
		for token := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			at = at.(map[string]any)[token]
		}
		return kindsOf(root, at.(map[string]any))
	}
	if either, ok := schema["anyOf"].([]any); ok {
		return kindsOf(root, either[0].(map[string]any))
	}
	switch kind := schema["type"].(type) {
	case string:
		return schema, []string{kind}
	case []any:
		var kinds []string
		for _, k := range kind {
			kinds = append(kinds, k.(string))
		}
		return schema, kinds
	}
	return schema, nil
}

func numbersOf(root, schema map[string]any, at string) (found []numberPlace) {
	schema, kinds := kindsOf(root, schema)
	switch {
	case slices.Contains(kinds, "object"):
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			found = append(found, numbersOf(root, properties[name].(map[string]any), at+"/"+name)...)
		}
	case slices.Contains(kinds, "array"):
		if items, ok := schema["items"].(map[string]any); ok {
			found = numbersOf(root, items, at+"/0")
		}
	case slices.Contains(kinds, "integer"), slices.Contains(kinds, "number"):
		found = []numberPlace{{at, slices.Contains(kinds, "integer") && !slices.Contains(kinds, "string")}}
	}
	return found
}

// exampleOf is a report that fits a schema, with a value at a place.
func exampleOf(root, schema map[string]any, at, place string, value json.Number) any {
	if at == place {
		return value
	}
	schema, kinds := kindsOf(root, schema)
	if of, ok := schema["enum"].([]any); ok {
		return of[0]
	}
	if of, ok := schema["const"]; ok {
		return of
	}
	switch {
	case slices.Contains(kinds, "object"):
		report := map[string]any{}
		properties, _ := schema["properties"].(map[string]any)
		for name, inner := range properties {
			report[name] = exampleOf(root, inner.(map[string]any), at+"/"+name, place, value)
		}
		return report
	case slices.Contains(kinds, "array"):
		if items, ok := schema["items"].(map[string]any); ok {
			return []any{exampleOf(root, items, at+"/0", place, value)}
		}
		return []any{}
	case slices.Contains(kinds, "boolean"):
		return true
	case slices.Contains(kinds, "integer"), slices.Contains(kinds, "number"):
		if least, ok := schema["minimum"].(float64); ok {
			return json.Number(fmt.Sprint(least))
		}
		return json.Number("1")
	}
	return "as it stands"
}
