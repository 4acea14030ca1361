package harness

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOptionalMayBeNull, wherever a schema says what a property is.
func TestOptionalMayBeNull(t *testing.T) {
	for name, tt := range map[string]struct{ schema, report, want string }{
		"optional":          {`{"properties":{"a":{},"b":{}},"required":["a"]}`, `{"a":1,"b":null}`, `{"a":1}`},
		"required":          {`{"properties":{"a":{}},"required":["a"]}`, `{"a":null}`, `{"a":null}`},
		"undeclared":        {`{"properties":{"a":{}}}`, `{"x":null}`, `{"x":null}`},
		"in a list":         {`{"properties":{"l":{"items":{"properties":{"a":{}}}}}}`, `{"l":[{"a":null},{"a":1}]}`, `{"l":[{},{"a":1}]}`},
		"by reference":      {`{"$defs":{"x/y":{"properties":{"a":{}}}},"properties":{"p":{"$ref":"#/$defs/x~1y"}}}`, `{"p":{"a":null}}`, `{"p":{}}`},
		"all of":            {`{"allOf":[{"properties":{"a":{}}},{"required":["b"],"properties":{"b":{}}}]}`, `{"a":null,"b":null}`, `{"b":null}`},
		"any of":            {`{"properties":{"p":{"anyOf":[{"type":"null"},{"properties":{"a":{}}}]}}}`, `{"p":{"a":null}}`, `{"p":{}}`},
		"other properties":  {`{"additionalProperties":{"properties":{"a":{}}}}`, `{"x":{"a":null}}`, `{"x":{}}`},
		"in a circle":       {`{"$ref":"#"}`, `{"a":null}`, `{"a":null}`},
		"in its own circle": {`{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}}}`, `{"next":{"next":{"next":null}}}`, `{"next":{"next":{}}}`},
		"to nowhere":        {`{"$ref":"#/a/b","properties":{"a":{}}}`, `{"a":null}`, `{}`},
		"elsewhere":         {`{"$ref":"https://example.org/x"}`, `{"a":null}`, `{"a":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			decode := func(text string) (v any) {
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					t.Fatal(err)
				}
				return v
			}
			schema := decode(tt.schema)
			if diff := cmp.Diff(decode(tt.want), withoutNulls(decode(tt.report), schema, []any{schema})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
