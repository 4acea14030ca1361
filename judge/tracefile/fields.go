package tracefile

// aliases are the other names that files of other tools use for a field.
var aliases = map[string]string{
	"input": "question", "prompt": "question", "problem": "question",
	"candidate": "output", "trace": "output", "response": "output", "answer": "output",
	"expected_output": "reference", "expected": "reference", "reference_solution": "reference",
	"context": "sources", "documents": "sources",
}

// Fields are the names of a trace file in the order of the format, without
// aliases.
func Fields() []string {
	return []string{
		"id", "domain", "stakes", "question", "output", "reference", "premises", "conclusion", "sources",
		"constraints", "judges", "run", "tags", "metadata", "cluster", "judgments", "labels",
	}
}

// canonical is the trace's own name of a field.
func canonical(name string) string {
	if own, ok := aliases[name]; ok {
		return own
	}
	return name
}

// given remembers under which name each field of a trace came.
type given [32]struct{ field, name string }

// add refuses a field that came before, under the same name or another.
func (g *given) add(name string) error {
	field := canonical(name)
	for i := range g {
		switch g[i].field {
		case "":
			g[i].field, g[i].name = field, name
			return nil
		case field:
			if g[i].name == name {
				return faultf(name, "is given twice; keep one")
			}
			return faultf(name, "is the same field as %s, and both are given; keep one", g[i].name)
		}
	}
	return nil // never: a trace has fewer fields than the array
}
