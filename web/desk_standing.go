package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// standing is how an item stands by a person's rulings: what the decision bar says
// on the page, and what a saved draft is answered with.
type standing struct {
	Progress    string        `json:"progress"`
	Hint        string        `json:"hint"`
	Changed     int           `json:"changed"`
	Confirmable bool          `json:"confirmable"`
	Outcome     string        `json:"outcome"`
	Verdict     judge.Verdict `json:"verdict,omitempty"`
	Label       string        `json:"label,omitempty"`
	Score       string        `json:"score,omitempty"`
	Credit      string        `json:"credit,omitempty"`
	// Units are those that a person has ruled on, with the words of their progress.
	Units []unitStanding `json:"units"`
}

type unitStanding struct {
	Key  string `json:"key"`
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// standing is that of an item by the rulings on it.
func (d deskItem) standing(rulings []judge.Ruling) standing {
	changed := d.sheet.Changed(rulings)
	st := standing{Changed: len(changed), Confirmable: len(changed) == 0, Units: []unitStanding{}}
	if done, of := d.sheet.Progress(rulings); of > 0 {
		st.Progress = fmt.Sprintf("%d of %d checked", done, of)
	}
	if d.definition != nil {
		out, comes := d.sheet.Outcome(rulings, d.review.Under.BandOf(d.definition))
		if comes && len(rulings) > 0 && (len(changed) > 0 || !d.sheet.Judged) {
			st.Outcome, st.Verdict, st.Label = outcomeWords(out), out.Verdict, out.Label
			// A critical error fails whatever the class: then the class alone would be
			// taken for another verdict.
			if i := slices.IndexFunc(d.review.Labels, func(l judge.Label) bool { return l.Name == out.Label }); i >= 0 && d.review.Labels[i].Verdict != out.Verdict {
				st.Label = ""
			}
		}
		st.Score, st.Credit = twoDecimals(out.Score), twoDecimals(out.Credit)
	}
	st.Hint = d.hint(changed, rulings, st.Outcome)
	return st
}

// withUnits adds the words of the units that were ruled on.
func (d deskItem) withUnits(st standing) standing {
	for i := range d.sheet.Units {
		u := &d.sheet.Units[i]
		if !slices.ContainsFunc(u.Parts, func(p ruling.Part) bool { _, ok := d.given[p.Key]; return ok }) {
			continue
		}
		drawn := d.unit(i)
		st.Units = append(st.Units, unitStanding{Key: drawn.Key, Text: drawn.Progress, Done: drawn.Done})
	}
	return st
}

func (st standing) bar() views.DeskBar {
	return views.DeskBar{
		Progress: st.Progress, Hint: st.Hint, Confirmable: st.Confirmable, Outcome: st.Outcome, Verdict: st.Verdict, Label: st.Label,
	}
}

// hint says what can be done with an item now, and why something can't.
func (d deskItem) hint(changed []string, rulings []judge.Ruling, outcome string) string {
	switch {
	case len(changed) > 0 && d.review.First == nil:
		what := "this can no longer be confirmed. Override it, or change "
		if len(changed) == 1 {
			return strings.TrimSpace("You changed a ruling" + d.where(changed) + ", so " + what + "it back. " + outcome)
		}
		return strings.TrimSpace("You changed " + strconv.Itoa(len(changed)) + " rulings" + d.where(changed) + ", so " + what + "them back. " + outcome)
	case d.review.First != nil && !d.review.Sealed:
		return "Your first answer is kept whatever you choose. Rulings that you change now count when you revise it. " + outcome
	case outcome != "":
		return outcome
	case len(rulings) == 0 || !d.sheet.Judged:
		return ""
	}
	return "You agree with the judge on all that you checked."
}

// where names the part of the item when all changes are in one.
func (d deskItem) where(changed []string) string {
	title := ""
	for _, u := range d.sheet.Units {
		if !slices.ContainsFunc(u.Parts, func(p ruling.Part) bool { return slices.Contains(changed, p.Key) }) {
			continue
		}
		if title != "" {
			return ""
		}
		title = u.Title
	}
	if title == "" {
		return ""
	}
	return " on " + strings.ToLower(title[:1]) + title[1:]
}

// outcomeWords say what rulings come to.
func outcomeWords(out ruling.Outcome) string {
	var parts []string
	if out.Score != nil {
		parts = append(parts, twoDecimals(out.Score))
	}
	if out.Label != "" {
		parts = append(parts, "“"+words(out.Label)+"”")
	}
	parts = append(parts, string(out.Verdict))
	said := "Your rulings come to " + strings.Join(parts, ", ")
	if out.Critical {
		said += ", because a critical error stands"
	}
	return said + "."
}

func twoDecimals(f *float64) string {
	if f == nil {
		return ""
	}
	return agreement.Decimals(*f, 2)
}
