package store

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// Bounds of what a person says about the parts of one item.
const (
	MaxRulings    = 5000 // four for each of more citations than a desk shows
	maxRulingName = 100  // characters of a part and of a value
)

// checkRulings bounds rulings. Which parts an item has, and which values these
// take, is told by its judge's sheet, before they come here.
func checkRulings(rulings []judge.Ruling) error {
	if len(rulings) > MaxRulings {
		return invalid("rulings", "are %d: at most %d can be kept", len(rulings), MaxRulings)
	}
	seen := make(map[string]bool, len(rulings))
	for i, r := range rulings {
		switch {
		case strings.TrimSpace(r.Part) == "":
			return invalid("rulings", "number %d names no part", i+1)
		case utf8.RuneCountInString(r.Part) > maxRulingName:
			return invalid("rulings", "number %d names a part with more than %d characters", i+1, maxRulingName)
		case utf8.RuneCountInString(r.Value) > maxRulingName:
			return invalid("rulings", "on %s has a value of more than %d characters", r.Part, maxRulingName)
		case utf8.RuneCountInString(r.Note) > MaxComment:
			return invalid("rulings", "on %s has a note of more than 4,000 characters", r.Part)
		case seen[r.Part]:
			return invalid("rulings", "are two on %s: give one", r.Part)
		}
		seen[r.Part] = true
	}
	return nil
}

// writeRulings is the stored form.
func writeRulings(rulings []judge.Ruling) (string, error) {
	body, err := json.Marshal(list(rulings))
	return string(body), err
}

// readRulings reads the stored form; none is nil.
func readRulings(stored string) (rulings []judge.Ruling, err error) {
	if stored == "[]" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(stored), &rulings)
	return rulings, err
}

// sameRulings says whether two lists say the same, in whatever order.
func sameRulings(x, y []judge.Ruling) bool {
	byPart := func(a, b judge.Ruling) int { return strings.Compare(a.Part, b.Part) }
	return slices.Equal(slices.SortedFunc(slices.Values(x), byPart), slices.SortedFunc(slices.Values(y), byPart))
}
