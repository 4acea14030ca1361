package judge

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// pointerPath is a JSON pointer (RFC 6901) cut into its tokens. The token * is
// our addition: every element of a list, every property of an object.
type pointerPath []string

func parsePointer(s string) (pointerPath, error) {
	if !strings.HasPrefix(s, "/") {
		return nil, errors.New("a JSON pointer starts with /")
	}
	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(t), "~") {
			return nil, fmt.Errorf("in %q a ~ must be written ~0 and a / inside a name ~1", t)
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

// place is a value that a pointer found, with its own pointer.
type place struct {
	at    string
	value any
}

// find gives the values that a path points at. A null is like an absent value.
func (p pointerPath) find(report any) []place {
	found := []place{{"", report}}
	for _, token := range p {
		var next []place
		step := func(from place, token string, value any) {
			if value != nil {
				next = append(next, place{from.at + "/" + token, value})
			}
		}
		for _, f := range found {
			switch v := f.value.(type) {
			case map[string]any:
				if token == "*" {
					for _, name := range sortedKeys(v) {
						step(f, name, v[name])
					}
				} else if inner, ok := v[token]; ok {
					step(f, token, inner)
				}
			case []any:
				if token == "*" {
					for i, inner := range v {
						step(f, strconv.Itoa(i), inner)
					}
				} else if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
					step(f, token, v[i])
				}
			}
		}
		found = next
	}
	return found
}

// maxRefs bounds how many references a pointer follows inside a schema.
const maxRefs = 32

// inSchema gives the sub-schemas that a path leads to in a schema; none means
// that the schema does not know such a place.
func (p pointerPath) inSchema(root located) []located {
	found := alternatives(root, root, 0)
	for _, token := range p {
		var next []located
		for _, s := range found {
			for _, sub := range descend(s, token) {
				next = append(next, alternatives(root, sub, 0)...)
			}
		}
		found = next
	}
	return found
}

// alternatives are a schema itself and those it is composed of.
func alternatives(root, s located, depth int) []located {
	if s.Node == nil || s.Kind != yaml.MappingNode || depth > maxRefs {
		return nil
	}
	list := []located{s}
	if ref, ok := s.get("$ref"); ok && strings.HasPrefix(ref.Value, "#/") {
		if target, ok := follow(root, ref.Value[1:]); ok {
			list = append(list, alternatives(root, target, depth+1)...)
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		if choices, ok := s.get(key); ok {
			for _, c := range choices.items() {
				list = append(list, alternatives(root, c, depth+1)...)
			}
		}
	}
	return list
}

func follow(root located, ref string) (located, bool) {
	path, err := parsePointer(ref)
	if err != nil {
		return located{}, false
	}
	at := root
	for _, token := range path {
		next, ok := at.get(token)
		if !ok {
			return located{}, false
		}
		at = next
	}
	return at, true
}

// descend gives the schemas of what a token names below a schema.
func descend(s located, token string) []located {
	var list []located
	if properties, ok := s.get("properties"); ok && properties.Kind == yaml.MappingNode {
		if token == "*" {
			for i := 1; i < len(properties.Content); i += 2 {
				list = append(list, located{properties.Content[i], s.file})
			}
		} else if p, ok := properties.get(token); ok {
			list = append(list, p)
		}
	}
	if list == nil {
		if extra, ok := s.get("additionalProperties"); ok && extra.Kind == yaml.MappingNode {
			list = append(list, extra)
		}
	}
	if items, ok := s.get("items"); ok {
		if _, err := strconv.Atoi(token); err == nil || token == "*" {
			list = append(list, items)
		}
	}
	return list
}
