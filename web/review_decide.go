package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// decideReview takes the desk's form: a first answer when the item is blind
// and unanswered (no action is sent), a decision otherwise.
func (s *Server) decideReview(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	var decided store.Decision
	in, err := decisionOf(form)
	if err == nil {
		err = s.holdToSheet(ctx, actor, id, &in)
	}
	if err != nil {
		// told below, beside what was typed
	} else if in.Action == "" && form.Get("stage") == "decide" {
		// The form of an item whose verdict is in view: nothing was chosen.
		err = &store.FieldError{Field: "action", Message: "is missing: choose one of the answers beside the button"}
	} else if in.Action == "" {
		_, err = s.cfg.Store.CommitFirstAnswer(ctx, actor, id, store.Answer{
			Verdict: in.Verdict, Label: in.Label, Findings: in.Findings, Rulings: in.Rulings,
		})
		if err == nil {
			return c.Redirect(http.StatusSeeOther, reviewPath(id))
		}
	} else {
		decided, err = s.cfg.Store.Decide(ctx, actor, id, in)
	}
	var fault *store.FieldError
	if errors.As(err, &fault) {
		return s.renderReview(c, id, http.StatusUnprocessableEntity, deskForm(in, fault))
	}
	done := ""
	if err == nil && decided.ID != "" {
		if done, err = s.decidedWords(c, decided); err != nil {
			return err
		}
	}
	return s.backToReview(c, id, err, done)
}

// decisionOf reads the desk's form.
func decisionOf(form url.Values) (store.DecisionInput, error) {
	in := store.DecisionInput{
		Action: form.Get("action"), Verdict: judge.Verdict(form.Get("verdict")), Label: form.Get("label"),
		Findings: supports(form), Rulings: formRulings(form), ReasonCode: form.Get("reason_code"), Severity: form.Get("severity"),
		Comment: form.Get("comment"), Confidence: form.Get("confidence"),
	}
	if in.Action == store.Escalate {
		in.To = form.Get("to") // the field stands in the form whatever is chosen
	}
	if err := wholeAdded(in.Rulings); err != nil {
		return in, err
	}
	var err error
	in.Shown, err = formShown(form)
	return in, err
}

// decidedWords says what became of the item.
func (s *Server) decidedWords(c echo.Context, d store.Decision) (string, error) {
	r, err := s.cfg.Store.GetReview(c.Request().Context(), user(c).Actor(), d.ReviewID)
	if err != nil {
		return "", err
	}
	switch {
	case r.State == "decided":
		return "Signed and recorded.", nil
	case r.Adjudicating && d.Action == store.Escalate && r.AddresseeName != "":
		return "Recorded. " + r.AddresseeName + " will settle this item.", nil
	case r.Adjudicating && r.Addressee == string(store.Admin):
		return "Recorded. An administrator will settle this item.", nil
	case r.Adjudicating && (d.Action == store.Confirm || d.Action == store.Override):
		return "Signed and recorded. The opinions differ, so somebody who gave none of them will settle this item.", nil
	case r.Adjudicating:
		return "Recorded. A lead will settle this item.", nil
	case d.Action == store.CannotJudge:
		return "Recorded. Somebody else will be asked.", nil
	}
	return fmt.Sprintf("Signed and recorded as opinion %d of %d. The item waits for other people.", r.Opinions, r.OpinionsRequired), nil
}

// addSecondOpinion keeps an answer that came when the item was settled.
func (s *Server) addSecondOpinion(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	in, err := decisionOf(form)
	if err == nil {
		err = s.holdToSheet(ctx, actor, id, &in)
	}
	if err == nil {
		_, err = s.cfg.Store.AddSecondOpinion(ctx, actor, id, in)
	}
	var fault *store.FieldError
	if errors.As(err, &fault) {
		return s.renderReview(c, id, http.StatusUnprocessableEntity, deskForm(in, fault))
	}
	return s.backToReview(c, id, err, "Kept as a second opinion. The result stays as it is.")
}

// undoDecision takes the newest decision back.
func (s *Server) undoDecision(c echo.Context) error {
	d, err := s.cfg.Store.Undo(c.Request().Context(), user(c).Actor(), param(c, "id"))
	done := "Taken back. The item is yours again; what you had said stays on record, marked as undone."
	if d.OverQuota {
		done = "Taken back. It stays on record, marked as undone."
	}
	return s.backToReview(c, param(c, "id"), err, done)
}

// raiseOpinions asks for more opinions on an item.
func (s *Server) raiseOpinions(c echo.Context) error {
	n, err := strconv.Atoi(strings.TrimSpace(c.FormValue("opinions")))
	if err != nil {
		return &store.FieldError{Field: "opinions", Message: "is not a whole number"}
	}
	err = s.cfg.Store.RaiseOpinions(c.Request().Context(), user(c).Actor(), param(c, "id"), n)
	return s.backToReview(c, param(c, "id"), err, fmt.Sprintf("The item needs %d opinions now.", n))
}

// reassignReview sends an item that somebody else has to settle to another one.
func (s *Server) reassignReview(c echo.Context) error {
	err := s.cfg.Store.Reassign(c.Request().Context(), user(c).Actor(), param(c, "id"), c.FormValue("to"))
	return s.backToReview(c, param(c, "id"), err, "Sent on.")
}

// supports reads the support-N fields: one finding for each citation ruled on.
func supports(form url.Values) []judge.Finding {
	var found []judge.Finding
	for name, values := range form {
		number, ok := strings.CutPrefix(name, "support-")
		if !ok || len(values) == 0 || values[0] == "" {
			continue
		}
		if n, err := strconv.Atoi(number); err == nil && n > 0 {
			found = append(found, judge.Finding{Citation: n, Class: values[0]})
		}
	}
	return sortedByCitation(found)
}

// deskForm puts what was typed back into the form, the fault beside its field.
func deskForm(in store.DecisionInput, fault *store.FieldError) views.DeskForm {
	f := views.DeskForm{
		Action: in.Action, Verdict: in.Verdict, Label: in.Label, ReasonCode: in.ReasonCode,
		Comment: in.Comment, Confidence: in.Confidence,
	}
	sentence := sentenceOf(fault)
	switch fault.Field {
	case "verdict":
		f.VerdictFault = sentence
	case "label":
		f.LabelFault = sentence
	case "reason_code":
		f.ReasonFault = sentence
		if strings.TrimSpace(in.Comment) == "" { // told at once, not after the next try
			f.CommentFault = "Comment is missing, too."
		}
	case "comment":
		f.CommentFault = sentence
	default:
		f.ActionFault = sentence
	}
	return f
}

// sentenceOf is a field's fault as people read it beside the field.
func sentenceOf(fault *store.FieldError) string {
	return words(fault.Field) + " " + fault.Message + "."
}
