package web

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
)

// comesTo says in a sentence what the person's rulings come to by the judge's own
// formula; empty where there is none, or too little is ruled on to say.
func (d deskItem) comesTo() string {
	list := make([]judge.Ruling, 0, len(d.given))
	for _, r := range d.given {
		list = append(list, r)
	}
	return rulingsComeTo(d.sheet, list)
}

// rulingsComeTo is comesTo for any rulings on a sheet: the answer to a draft says
// it too, so that the desk is kept up as one rules. On a sealed sheet it counts the
// person's rulings alone.
func rulingsComeTo(s ruling.Sheet, rulings []judge.Ruling) string {
	// The band decides the verdict, which is not told here.
	out, _ := s.Outcome(rulings, judge.Band{})
	switch s.Kind {
	case ruling.Reference:
		if out.Credit == nil {
			return ""
		}
		text := fmt.Sprintf("Credit %.2f for %s", *out.Credit, strings.ReplaceAll(out.Label, "_", " "))
		if n := materialOf(s, rulings); n > 0 {
			text += " with " + counted(n, "material difference")
		}
		return text + "."
	case ruling.Logic:
		return scoresComeTo(s, out)
	}
	return ""
}

// materialOf counts the differences that are material where the person's rulings
// lie over the judge's.
func materialOf(s ruling.Sheet, rulings []judge.Ruling) int {
	said, n := byPart(rulings), 0
	for _, u := range s.Units {
		if u.Difference == nil {
			continue
		}
		value := u.Parts[0].Judged
		if r, ok := said[u.Key]; ok {
			value = r.Value
		}
		if value == "material" {
			n++
		}
	}
	return n
}

// scoresComeTo says the mean of the dimensions' scores, or how many of them are
// still open.
func scoresComeTo(s ruling.Sheet, out ruling.Outcome) string {
	of := 0
	for _, u := range s.Units {
		if u.Dimension != nil {
			of++
		}
	}
	text := ""
	switch {
	case out.Score != nil:
		text = fmt.Sprintf("The mean is %.2f of %d, a score of %.2f.", *out.Score*judge.MaxScore, judge.MaxScore, *out.Score)
	case of > 0:
		text = fmt.Sprintf("%d of %s scored; the mean comes with the last.", len(out.Parts), counted(of, "dimension"))
	}
	if out.Critical {
		text += " A critical violation stands, so the item fails whatever the mean."
	}
	return text
}
