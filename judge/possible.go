package judge

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// possible refuses a schema that no report can fit: an object that must have a
// property which it may not have. It looks where a report has to go through,
// not into alternatives.
func (p *parser) possible(schema located) {
	if schema.Kind != yaml.MappingNode {
		return
	}
	p.required(schema)
	for _, key := range []string{"properties", "$defs", "definitions"} {
		if parts, ok := schema.get(key); ok && parts.Kind == yaml.MappingNode {
			for i := 1; i < len(parts.Content); i += 2 {
				p.possible(located{parts.Content[i], parts.file})
			}
		}
	}
	if items, ok := schema.get("items"); ok {
		p.possible(items)
	}
	if all, ok := schema.get("allOf"); ok {
		for _, part := range all.items() {
			p.possible(part)
		}
	}
}

// required holds the names under required to those that a closed object may have.
func (p *parser) required(schema located) {
	names, ok := schema.get("required")
	closed, given := schema.get("additionalProperties")
	if !ok || !given || closed.Tag != "!!bool" || closed.Value != "false" {
		return
	}
	if _, ok := schema.get("patternProperties"); ok {
		return
	}
	var known []string
	if properties, ok := schema.get("properties"); ok && properties.Kind == yaml.MappingNode {
		for i := 0; i < len(properties.Content); i += 2 {
			known = append(known, properties.Content[i].Value)
		}
	}
	for _, name := range names.items() {
		if !slices.Contains(known, name.Value) {
			p.fault(name, "no report can fit the schema: it requires %q, which properties does not have, and additionalProperties is false; add it to properties, or take it out of required", name.Value)
		}
	}
}
