package judge

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pointer reads a JSON pointer to what every report must hold; the schema must
// declare the place.
func (p *parser) pointer(n located, what string) pointerPath {
	path, ok := p.parsedPointer(n, what)
	if ok && p.schemaIsObject() && len(path.inSchema(p.schema)) == 0 {
		p.fault(n, "%s: the pointer %s finds nothing in the schema", what, n.Value)
		return nil
	}
	return path
}

// optional reads a JSON pointer to what a report may hold. A schema that is open
// (no additionalProperties: false) lets a report hold more than it declares, so
// such a place is taken and noted; but not one that reads like a slip of a
// declared one.
func (p *parser) optional(n located, what string) pointerPath {
	path, ok := p.parsedPointer(n, what)
	if !ok || !p.schemaIsObject() || len(path.inSchema(p.schema)) > 0 {
		return path
	}
	open, near := path.undeclared(p.schema)
	switch {
	case near != "":
		p.fault(n, "%s: the pointer %s finds nothing in the schema; did you mean %s?", what, n.Value, near)
		return nil
	case !open:
		p.fault(n, "%s: the pointer %s finds nothing in the schema", what, n.Value)
		return nil
	}
	p.judge.Notes = append(p.judge.Notes, fmt.Sprintf("%s:%d: %s: the schema does not declare %s; being open it allows it, and where a report lacks it the check is not run",
		n.file, n.Line, what, n.Value))
	return path
}

func (p *parser) parsedPointer(n located, what string) (pointerPath, bool) {
	path, err := parsePointer(p.text(n, what))
	if err != nil {
		p.fault(n, "%s: %v", what, err)
		return nil, false
	}
	return path, true
}

func (p *parser) schemaIsObject() bool {
	return p.schema.Node != nil && p.schema.Kind == yaml.MappingNode
}

// undeclared follows a path that a schema does not declare as far as it does.
// open: an object there may hold more than its schema says. near: a declared name
// that the next token looks like.
func (path pointerPath) undeclared(root located) (open bool, near string) {
	found := alternatives(root, root, 0)
	for _, token := range path {
		var next []located
		for _, s := range found {
			for _, sub := range descend(s, token) {
				next = append(next, alternatives(root, sub, 0)...)
			}
		}
		if len(next) > 0 {
			found = next
			continue
		}
		open = true
		for _, s := range found {
			open = open && isOpen(s)
			if name := nearName(s, token); name != "" {
				near = name
			}
		}
		return open, near
	}
	return false, ""
}

// isOpen reports whether an object of this schema may hold what it does not
// declare.
func isOpen(s located) bool {
	if kind, ok := s.get("type"); ok && kind.Value != "object" &&
		!slices.ContainsFunc(kind.items(), func(k located) bool { return k.Value == "object" }) {
		return false
	}
	for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
		if extra, ok := s.get(key); ok && (extra.Kind == yaml.MappingNode || extra.Value != "true") {
			return false
		}
	}
	return true
}

// nearName is a declared property that a name is a slip of: two changed letters
// at most, or one is the beginning of the other.
func nearName(s located, name string) string {
	properties, ok := s.get("properties")
	if !ok || properties.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(properties.Content); i += 2 {
		declared := properties.Content[i].Value
		short, long := min(len(declared), len(name)), max(len(declared), len(name))
		prefix := short >= 3 && (strings.HasPrefix(declared, name) || strings.HasPrefix(name, declared))
		if prefix || long >= 4 && long <= 64 && letterChanges(strings.ToLower(declared), strings.ToLower(name)) <= 2 {
			return declared
		}
	}
	return ""
}

// letterChanges is the edit distance of two short words (Levenshtein 1966), by
// bytes.
func letterChanges(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
