package openai

import (
	"encoding/json"
	"slices"
)

// strictSchema writes a schema as structured output in strict mode wants it:
// every object closed and every property required, those that were optional
// nullable, in the schema's own order. ok is false when the schema has something
// that strict mode cannot hold, such as an object with open properties; it is then
// sent as it is, not strict.
func strictSchema(schema json.RawMessage) (strict any, ok bool) {
	value, err := readOrdered(schema)
	if err != nil {
		return schema, false
	}
	if strict, ok = closed(value); !ok {
		return schema, false
	}
	return strict, true
}

// composed are keywords that say what an object is in other ways than by its
// properties; a schema that has them is better not touched.
var composed = []string{"anyOf", "allOf", "oneOf", "$ref", "patternProperties", "not", "if"}

func closed(value any) (any, bool) {
	node, isObject := value.(object)
	if !isObject {
		return value, true
	}
	out := slices.Clone(node)
	for _, key := range composed {
		if _, given := node.get(key); given {
			return nil, false
		}
	}
	if extra, given := node.get("additionalProperties"); given && extra != false {
		return nil, false
	}
	if items, given := node.get("items"); given {
		c, ok := closed(items)
		if !ok {
			return nil, false
		}
		out.set("items", c)
	}
	properties, given := node.get("properties")
	if !given {
		kind, _ := node.get("type")
		return out, kind != "object"
	}
	members, ok := properties.(object)
	if !ok {
		return nil, false
	}
	required, _ := node.get("required")
	always, _ := required.([]any)
	sub, names := object{}, []any{}
	for _, m := range members {
		c, ok := closed(m.value)
		if !ok {
			return nil, false
		}
		if !slices.Contains(always, any(m.name)) {
			c = nullable(c)
		}
		sub = append(sub, member{m.name, c})
		names = append(names, m.name)
	}
	out.set("properties", sub)
	out.set("required", names)
	out.set("additionalProperties", false)
	return out, true
}

// nullable lets a schema be null too.
func nullable(value any) any {
	node, ok := value.(object)
	if !ok {
		return value
	}
	if list, ok := node.get("enum"); ok {
		if values, ok := list.([]any); ok && !slices.Contains(values, nil) {
			node.set("enum", append(slices.Clone(values), nil))
		}
	}
	switch kind, _ := node.get("type"); kind := kind.(type) {
	case string:
		if kind != "null" {
			node.set("type", []any{kind, "null"})
		}
	case []any:
		if !slices.Contains(kind, any("null")) {
			node.set("type", append(slices.Clone(kind), "null"))
		}
	}
	return node
}
