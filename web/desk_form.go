package web

import (
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// typed is a form that was sent and refused: what was in it, and its fault.
type typed struct {
	body  store.DraftBody
	fault *store.FieldError
}

// fillForm puts what the person has said so far into the page: what was just
// refused, else their draft, else their first answer.
func (d *deskItem) fillForm(p *views.DeskPage, a store.Actor, refused *typed) {
	r := d.review
	p.Draft.Key = "draft-" + r.ReviewID + "-" + a.UserID
	if r.Draft != nil {
		p.Draft.Version, p.Draft.SavedAt = r.Draft.Version, r.Draft.SavedAt
		p.Draft.Lines = draftLines(r.Draft.DraftBody)
	}
	var rulings []judge.Ruling
	if r.First != nil {
		rulings = r.First.Rulings
	}
	switch {
	case refused != nil:
		p.Form, rulings = deskForm(refused.body, refused.fault), refused.body.Rulings
	case r.Draft != nil && (p.State != views.DeskRevealed || r.Draft.Stage == "decide"):
		p.Form, p.Draft.Restored = deskForm(r.Draft.DraftBody, nil), true
		if r.Draft.Rulings != nil {
			rulings = r.Draft.Rulings
		}
	case r.Draft != nil: // it is of the answer that is in: what was written goes on
		p.Form.Comment, p.Form.Confidence = r.Draft.Comment, r.Draft.Confidence
	}
	valued := withValue(rulings)
	d.given = byPart(rulings)
	st := d.standing(valued)
	p.Bar = st.bar()
	p.Form.Chosen = p.Form.Verdict != "" && p.Form.Verdict != st.Verdict || p.Form.Label != "" && p.Form.Label != st.Label
	if p.Form.Verdict == "" && p.State != views.DeskBlind {
		p.Form.Verdict, p.Form.Label = st.Verdict, labelOr(p.Form.Label, st.Label)
	}
}

func labelOr(chosen, comes string) string {
	if chosen != "" {
		return chosen
	}
	return comes
}

// withValue leaves out parts that have a note and no ruling yet.
func withValue(rulings []judge.Ruling) []judge.Ruling {
	kept := make([]judge.Ruling, 0, len(rulings))
	for _, r := range rulings {
		if r.Value != "" {
			kept = append(kept, r)
		}
	}
	return kept
}

// opinionLine says how many people an item asks.
func opinionLine(r store.Review) string {
	if r.OpinionsRequired <= 1 || r.State == "decided" || r.State == "closed" {
		return ""
	}
	line := fmt.Sprintf("This item needs %d opinions; %d in so far.", r.OpinionsRequired, r.Opinions)
	if r.Opinions > 0 && r.PeersSealed {
		line += " What others said is withheld from you until yours is in."
	}
	return line
}

// affirmations are the words of what signing affirms, for each action that the
// page offers.
func affirmations(p views.DeskPage, r store.Review) []views.Choice {
	keep := store.Override
	if p.Own != nil && p.Proposal != nil && p.Own.Verdict == p.Proposal.Verdict && (p.Own.Label == "" || p.Own.Label == p.Proposal.Label) {
		keep = store.Confirm
	}
	var list []views.Choice
	for _, of := range []struct{ action, as string }{
		{store.Confirm, store.Confirm}, {store.Override, store.Override}, {store.Keep, keep}, {store.Adopt, store.Confirm},
		{store.Escalate, store.Escalate}, {store.CannotJudge, store.CannotJudge},
	} {
		list = append(list, views.Choice{Value: of.action, Text: store.Affirmation(of.as, r.Adjudicating)})
	}
	return list
}
