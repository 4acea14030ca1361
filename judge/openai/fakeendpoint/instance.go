package fakeendpoint

import (
	"encoding/json"
	"math"
)

// shape is the part of a JSON Schema that an example of it needs.
type shape struct {
	Type       json.RawMessage  `json:"type"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Properties map[string]shape `json:"properties"`
	Items      *shape           `json:"items"`
	MinItems   int              `json:"minItems"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
}

// instance is a report for a judge of somebody's own: the first words of its
// enumerations and the upper ends of its numbers for what is good, the last and
// the lower ones for what is bad.
func instance(schema json.RawMessage, o opinion) any {
	var s shape
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return map[string]any{}
	}
	return s.example(o)
}

func (s shape) example(o opinion) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[(len(s.Enum)-1)*int(o)/int(bad)]
	}
	switch s.kind() {
	case "object":
		report := map[string]any{}
		for name, inner := range s.Properties {
			report[name] = inner.example(o)
		}
		return report
	case "array":
		entries := []any{}
		for range s.MinItems {
			if s.Items != nil {
				entries = append(entries, s.Items.example(o))
			}
		}
		return entries
	case "boolean":
		return o == good
	case "integer":
		return math.Floor(s.number(o))
	case "number":
		return s.number(o)
	case "null":
		return nil
	}
	return "as the trace says"
}

// number between the bounds; from 0 to 1 where there are none.
func (s shape) number(o opinion) float64 {
	low, high := 0.0, 1.0
	if s.Minimum != nil {
		low, high = *s.Minimum, max(high, *s.Minimum)
	}
	if s.Maximum != nil {
		high = *s.Maximum
	}
	return high - (high-low)*[]float64{0, 0.3, 0.8}[o]
}

// kind is the first type that the schema lets the value have.
func (s shape) kind() string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		return one
	}
	var several []string
	if json.Unmarshal(s.Type, &several) == nil && len(several) > 0 {
		return several[0]
	}
	if s.Properties != nil {
		return "object"
	}
	return ""
}
