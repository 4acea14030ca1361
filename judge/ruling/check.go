package ruling

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
)

// Bounds of a set of rulings.
const (
	MostRulings = 5000 // four for each of more citations than a desk shows
	MostAdded   = 50   // a person's own violations
	MostNote    = 4000 // bytes of a note
)

// Fault is a ruling that does not fit the sheet.
type Fault struct {
	Field   string // "rulings[3].part", "rulings[3].value", "rulings[3].note" or "rulings"
	Message string // a plain sentence part: "is no part of this item"
}

// Faults are all faults of a set of rulings, in their order.
type Faults []Fault

func (f Faults) Error() string {
	const shown = 20
	var b strings.Builder
	for i, fault := range f {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(f)-shown)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(fault.Field + " " + fault.Message)
	}
	return b.String()
}

// Check says which rulings are about no part of the item, or have a value that
// the part does not take. The error is of type Faults; nil: all fit. Parts
// without a ruling are no fault.
func (s Sheet) Check(rulings []judge.Ruling) error {
	var faults Faults
	if len(rulings) > MostRulings {
		return Faults{{"rulings", fmt.Sprintf("are %d: an item takes at most %d", len(rulings), MostRulings)}}
	}
	seen := make(map[string]bool, len(rulings))
	for i, r := range rulings {
		add := func(field, format string, args ...any) {
			faults = append(faults, Fault{fmt.Sprintf("rulings[%d].%s", i, field), fmt.Sprintf(format, args...)})
		}
		if len(r.Note) > MostNote {
			add("note", "is longer than %d bytes", MostNote)
		}
		part, ok := s.Part(r.Part)
		switch {
		case !ok:
			add("part", "%q is no part of this item", clipped(r.Part))
		case seen[r.Part]:
			add("part", "%q is ruled on twice", r.Part)
		case !part.takes(r.Value):
			add("value", "%q is not one of %s", clipped(r.Value), part.values())
		case part.Many:
			if err := s.checkAdded(r); err != nil {
				add("note", "%s", err)
			}
		}
		seen[r.Part] = true
	}
	if faults == nil {
		return nil
	}
	return faults
}

// Part finds the part that a ruling is about.
func (s Sheet) Part(key string) (Part, bool) {
	if p, ok := s.at[key]; ok {
		part := s.Units[p.unit].Parts[p.part]
		return part, !part.Many // a list takes numbered rulings only
	}
	if p, ok := s.further[key]; ok {
		return p, true
	}
	if list, number, ok := cutNumber(key); ok && number <= MostAdded {
		if p, ok := s.at[list]; ok && s.Units[p.unit].Parts[p.part].Many {
			return s.Units[p.unit].Parts[p.part], true
		}
	}
	return Part{}, false
}

// cutNumber parts "add/3" into "add" and 3, which counts from 1 and has no
// leading zero.
func cutNumber(key string) (list string, number int, ok bool) {
	i := strings.LastIndexByte(key, '/')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(key[i+1:])
	if err != nil || n < 1 || strconv.Itoa(n) != key[i+1:] {
		return "", 0, false
	}
	return key[:i], n, true
}

func (p Part) takes(value string) bool {
	_, ok := p.Choice(value)
	return ok
}

// Choice finds one of a part's choices by its value.
func (p Part) Choice(value string) (Choice, bool) {
	for _, c := range p.Choices {
		if c.Value == value {
			return c, true
		}
	}
	return Choice{}, false
}

func (p Part) values() string {
	const shown = 12
	var list []string
	for i, c := range p.Choices {
		if i == shown {
			list = append(list, fmt.Sprintf("and %d more", len(p.Choices)-shown))
			break
		}
		list = append(list, c.Value)
	}
	return strings.Join(list, ", ")
}

// clipped is a text that a message shows.
func clipped(text string) string { return clippedTo(text, 80) }

func clippedTo(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
