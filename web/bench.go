package web

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// deskItem is an item as a workbench draws it: what can be ruled on, what the
// person has ruled so far, and whether that may still change.
type deskItem struct {
	review store.Review
	// definition of the judge; nil when this server does not know it.
	definition *judge.Judge
	sheet      ruling.Sheet
	// given are the person's rulings, typed, drafted or committed, by part.
	given map[string]judge.Ruling
	// markdown says that the trace is shown as Markdown has it.
	markdown bool
	// locked rulings are shown and not changed.
	locked bool
	// at is the number of the citation that the address asks for; 0: none.
	at int
}

// byPart finds rulings by the part that they are about.
func byPart(rulings []judge.Ruling) map[string]judge.Ruling {
	by := make(map[string]judge.Ruling, len(rulings))
	for _, r := range rulings {
		by[r.Part] = r
	}
	return by
}

// benchOf makes the workbench of the item's judge.
func benchOf(d deskItem) views.Bench {
	switch d.sheet.Kind {
	case ruling.Citations:
		return citationsBench(d, d.at)
	case ruling.Steps:
		return stepsBench(d)
	case ruling.Own:
		return genericBench(d)
	case ruling.Reference:
		return referenceBench(d)
	case ruling.Logic:
		return logicBench(d)
	}
	return nil
}

// unit is the i-th part of the item, the person's rulings laid over the judge's.
func (d deskItem) unit(i int) views.RulingUnit {
	u := &d.sheet.Units[i]
	out := views.RulingUnit{Key: u.Key, Anchor: anchorOf(u, i), Title: u.Title, Parts: make([]views.RulingPart, len(u.Parts))}
	for j, p := range u.Parts {
		out.Parts[j] = d.part(p)
	}
	out.Progress, out.Done = progressWords(d.sheet.Judged, out.Parts)
	return out
}

func (d deskItem) part(p ruling.Part) views.RulingPart {
	out := views.RulingPart{
		Key: p.Key, Title: p.Title, Shortcut: p.Shortcut, Judged: p.Judged, JudgeNote: p.JudgeNote,
		Locked: d.locked, Optional: p.Optional, Many: p.Many, Choices: make([]views.RulingChoice, len(p.Choices)),
	}
	for i, c := range p.Choices {
		out.Choices[i] = views.RulingChoice(c)
	}
	if r, ok := d.given[p.Key]; ok {
		out.Value, out.Note = r.Value, r.Note
	}
	return out
}

// anchorOf is a unit's address on the page: c3 for the third citation, d2 for the
// second dimension.
func anchorOf(u *ruling.Unit, i int) string {
	number := func(format string) string {
		var n int
		if _, err := fmt.Sscanf(u.Key, format, &n); err != nil {
			return strconv.Itoa(i + 1)
		}
		return strconv.Itoa(n)
	}
	switch {
	case u.Citation != nil:
		return "c" + number("citation/%d")
	case u.Pair != nil:
		return "p" + number("pair/%d")
	case u.Extra != nil:
		return "x" + number("extra/%d")
	case u.Difference != nil:
		return "d" + number("difference/%d")
	case u.Finding != nil:
		return "f" + number("finding/%d")
	}
	return "u" + strconv.Itoa(i+1)
}

// progressWords say how far a unit is. judged: there is a report to agree with.
func progressWords(judged bool, parts []views.RulingPart) (text string, done bool) {
	needed, ruled, changed := 0, 0, 0
	for _, p := range parts {
		if p.Changed() {
			changed++
		}
		if p.Optional {
			continue
		}
		needed++
		if p.Value != "" {
			ruled++
		}
	}
	switch {
	case changed > 0:
		return strconv.Itoa(changed) + " changed", ruled == needed
	case needed > 0 && ruled == needed && judged:
		return "Agreed", true
	case needed > 0 && ruled == needed:
		return "Ruled", true
	case ruled > 0:
		return fmt.Sprintf("%d of %d", ruled, needed), false
	case needed == 0:
		return "Optional", false
	case judged:
		return "To check", false
	}
	return "To rule", false
}

// besideBench are the inputs that a workbench does not show itself. Of several
// right answers the desk compares one: then all of them are shown beside it.
func besideBench(inputs []views.Input, sheet ruling.Sheet) []views.Input {
	shown := map[ruling.Kind]string{ruling.Citations: "Sources", ruling.Steps: "Reference", ruling.Reference: "Reference"}[sheet.Kind]
	if sheet.Diff != nil && sheet.Diff.Alternatives() {
		return inputs
	}
	return slices.DeleteFunc(inputs, func(in views.Input) bool { return in.Name == shown })
}
