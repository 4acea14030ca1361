package web

import (
	"errors"
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
	in := store.DecisionInput{
		Action: form.Get("action"), Verdict: judge.Verdict(form.Get("verdict")), Label: form.Get("label"),
		Findings: rulings(form), ReasonCode: form.Get("reason_code"), Comment: form.Get("comment"),
		Confidence: form.Get("confidence"),
	}
	if in.Action == "" && form.Get("stage") == "decide" {
		// The form of an item whose verdict is in view: nothing was chosen.
		err = &store.FieldError{Field: "action", Message: "is missing: choose one of the answers beside the button"}
	} else if in.Action == "" {
		_, err = s.cfg.Store.CommitFirstAnswer(ctx, actor, id, store.Answer{
			Verdict: in.Verdict, Label: in.Label, Findings: in.Findings,
		})
		if err == nil {
			return c.Redirect(http.StatusSeeOther, reviewPath(id))
		}
	} else {
		_, err = s.cfg.Store.Decide(ctx, actor, id, in)
	}
	var fault *store.FieldError
	if errors.As(err, &fault) {
		return s.renderReview(c, id, http.StatusUnprocessableEntity, deskForm(in, fault))
	}
	return s.backToReview(c, id, err, decidedWords(in.Action))
}

func decidedWords(action string) string {
	switch action {
	case "escalate", "cannot_judge":
		return "Recorded. A lead will settle this item."
	}
	return "Signed and recorded."
}

// rulings reads the support-N fields: one finding for each citation ruled on.
func rulings(form url.Values) []judge.Finding {
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
