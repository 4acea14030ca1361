package harness

import "strings"

// withoutNulls leaves out properties that are null and not required: an optional
// property may be null, whatever a strict schema asked the model for. schemas are
// those that hold for the value, root is the one they are parts of.
func withoutNulls(value, root any, schemas []any) any {
	rules := parts(root, schemas)
	switch v := value.(type) {
	case map[string]any:
		kept := make(map[string]any, len(v))
		for name, inner := range v {
			subs, declared := propertyOf(rules, name)
			if inner == nil && declared && !requiredBy(rules, name) {
				continue
			}
			kept[name] = withoutNulls(inner, root, subs)
		}
		return kept
	case []any:
		var items []any
		for _, r := range rules {
			if of, ok := r["items"]; ok {
				items = append(items, of)
			}
		}
		kept := make([]any, len(v))
		for i, inner := range v {
			kept[i] = withoutNulls(inner, root, items)
		}
		return kept
	}
	return value
}

// propertyOf gives the schemas of a property; declared is false when only those of
// undeclared properties hold for it.
func propertyOf(rules []map[string]any, name string) (subs []any, declared bool) {
	var others []any
	for _, r := range rules {
		properties, _ := r["properties"].(map[string]any)
		if sub, ok := properties[name]; ok {
			subs, declared = append(subs, sub), true
		} else if other, ok := r["additionalProperties"]; ok {
			others = append(others, other)
		}
	}
	if !declared {
		return others, false
	}
	return subs, true
}

// requiredBy reports whether any of the schemas requires a property. A schema that
// is one of several alternatives counts: better a fault too many than a null that
// the report may not have.
func requiredBy(rules []map[string]any, name string) bool {
	for _, r := range rules {
		list, _ := r["required"].([]any)
		for _, required := range list {
			if required == name {
				return true
			}
		}
	}
	return false
}

// mostParts bounds how many schemas are looked at for one value: references may
// lead in circles.
const mostParts = 100

// parts are the schemas themselves and all that they refer to or are made of.
func parts(root any, schemas []any) []map[string]any {
	var found []map[string]any
	for next := schemas; len(next) > 0 && len(found) < mostParts; {
		schema, ok := next[0].(map[string]any)
		next = next[1:]
		if !ok {
			continue
		}
		found = append(found, schema)
		if at, ok := schema["$ref"].(string); ok {
			next = append(next[:len(next):len(next)], referred(root, at))
		}
		for _, key := range []string{"allOf", "anyOf", "oneOf"} {
			if list, ok := schema[key].([]any); ok {
				next = append(next[:len(next):len(next)], list...)
			}
		}
	}
	return found
}

// referred finds the place of a schema that "#/a/b" names; nil when it names none.
func referred(root any, at string) any {
	path, inside := strings.CutPrefix(at, "#")
	if !inside {
		return nil
	}
	place := root
	for _, token := range strings.Split(path, "/")[1:] {
		object, ok := place.(map[string]any)
		if !ok {
			return nil
		}
		place = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	}
	return place
}
