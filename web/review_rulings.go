package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
)

// Names of the desk's form: a ruling on a part is in the field "ruling." and the
// part, what the person adds in "ruling-note." and the part.
const (
	rulingField     = "ruling."
	rulingNoteField = "ruling-note."
)

// formRulings reads the rulings of the desk's form, in the order of their parts.
// A part that was left open is none.
func formRulings(form url.Values) (rulings []judge.Ruling) {
	for name := range form {
		part, ok := strings.CutPrefix(name, rulingField)
		if value := form.Get(name); ok && value != "" {
			rulings = append(rulings, judge.Ruling{Part: part, Value: value, Note: strings.TrimSpace(form.Get(rulingNoteField + part))})
		}
	}
	rulings = withAdded(rulings, form)
	slices.SortFunc(rulings, func(a, b judge.Ruling) int { return cmp.Compare(a.Part, b.Part) })
	return rulings
}

// formShown reads what the page said that it showed: the field "shown" holds
// store.Shown as JSON, as the page was given it.
func formShown(form url.Values) (*store.Shown, error) {
	text := form.Get("shown")
	if text == "" {
		return nil, nil
	}
	var shown store.Shown
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		return nil, &store.FieldError{Field: "shown", Message: "is not what the page put there: reload the page"}
	}
	return &shown, nil
}

// shownField is formShown's opposite.
func shownField(s store.Shown) (string, error) {
	body, err := json.Marshal(s)
	return string(body), err
}

// holdToSheet holds rulings to what there is to rule on in the item, counts those
// that differ from the judge's, and adds the findings that they come to where the
// person gave none. Without rulings it does nothing; rulings of the first answer are
// left out when the judge's is adopted instead of it.
func (s *Server) holdToSheet(ctx context.Context, a store.Actor, reviewID string, in *store.DecisionInput) error {
	if len(in.Rulings) == 0 {
		return nil
	}
	r, err := s.cfg.Store.GetReview(ctx, a, reviewID)
	if err != nil {
		return err
	}
	if in.Action == store.Adopt && r.First != nil && maps.Equal(byPart(in.Rulings), byPart(r.First.Rulings)) {
		in.Rulings = nil // they are of the answer that is given up
		return nil
	}
	definition, err := s.definition(ctx, r.Project, r.Judge, r.PromptVersion)
	if err != nil {
		return err
	}
	if definition == nil {
		return &store.FieldError{Field: "rulings", Message: "can't be read, because this server does not know the judge " + r.Judge + ": send the verdict without them"}
	}
	sheet, err := s.sheets.of(definition, &r.Trace, r.Hashes.Trace, r.Evaluation)
	if err != nil {
		return err
	}
	var faults ruling.Faults
	switch err := sheet.Check(in.Rulings); {
	case errors.As(err, &faults) && len(faults) > 0:
		return &store.FieldError{Field: "rulings", Message: "do not fit: " + strings.TrimPrefix(faults.Error(), "rulings ")}
	case err != nil:
		return err
	}
	in.Changed = len(sheet.Changed(in.Rulings))
	if sheet.Judged {
		in.Compared = len(in.Rulings)
	}
	// What agrees with the judge in all has the judge's findings.
	if in.Findings == nil && (in.Changed > 0 || r.Evaluation == nil || in.Verdict != "" && in.Verdict != r.Evaluation.Verdict) {
		in.Findings = sheet.Findings(in.Rulings)
	}
	return nil
}
