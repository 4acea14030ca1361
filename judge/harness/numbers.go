package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// numberFault is a number of a report that nothing can be counted with.
type numberFault struct {
	at   []string
	what string
	// endless: it is beyond every number, and can't even be compared.
	endless bool
}

// numberFaults finds numbers that a schema lets through since it has no bounds:
// larger than any number of this machine, or where the schema asks for whole ones
// larger than a count can be (64 bits).
func (s *schema) numberFaults(value any) (found []numberFault) {
	var walk func(value any, at []string)
	walk = func(value any, at []string) {
		at = at[:len(at):len(at)]
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], append(at, name))
			}
		case []any:
			for i, inner := range v {
				walk(inner, append(at, strconv.Itoa(i)))
			}
		case json.Number:
			f, err := v.Float64()
			switch {
			case err != nil || math.IsInf(f, 0):
				found = append(found, numberFault{at, fmt.Sprintf("it is no number that can be counted with: the largest is about %.1e", math.MaxFloat64), true})
			case !countable(v, f) && s.asksWhole(at):
				found = append(found, numberFault{at, fmt.Sprintf("a whole number lies between %d and %d", math.MinInt64, math.MaxInt64), false})
			}
		}
	}
	walk(value, nil)
	return found
}

// countable reports whether a number, if it is whole, has 64 bits at most.
func countable(v json.Number, f float64) bool {
	_, err := v.Int64()
	return err == nil || math.Abs(f) < 1<<63
}

// asksWhole reports whether the schema wants a whole number at a place. Where a
// text may stand as well, digits are taken as they are written.
func (s *schema) asksWhole(at []string) bool {
	schemas := []any{s.value}
	for _, token := range at {
		rules := parts(s.value, schemas)
		next, _ := propertyOf(rules, token)
		if _, err := strconv.Atoi(token); err == nil {
			for _, r := range rules {
				if of, ok := r["items"]; ok {
					next = append(next[:len(next):len(next)], of)
				}
			}
		}
		schemas = next
	}
	whole := false
	for _, r := range parts(s.value, schemas) {
		kinds, several := r["type"].([]any)
		if !several {
			kinds = []any{r["type"]}
		}
		for _, kind := range kinds {
			if kind == "number" || kind == "string" {
				return false
			}
			whole = whole || kind == "integer"
		}
	}
	return whole
}
