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
// and unanswered (no action is sent), a decision otherwise. With then=next it goes
// on to the next item. A script (the header Accept: application/json) is told
// where to go instead of being led there, and 422 means that the form has faults,
// which the page shows when it is sent again as a form.
func (s *Server) decideReview(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	in, err := decisionOf(form)
	if err == nil {
		err = s.holdToSheet(ctx, actor, id, &in)
	}
	switch {
	case err != nil:
		// told below, beside what was typed
	case in.Action == "" && form.Get("stage") == "decide":
		// The form of an item whose verdict is in view: nothing was chosen.
		err = &store.FieldError{Field: "action", Message: "is missing: choose one of the answers beside the button"}
	case in.Action == "":
		_, err = s.cfg.Store.CommitFirstAnswer(ctx, actor, id, store.Answer{
			Verdict: in.Verdict, Label: in.Label, Findings: in.Findings, Rulings: in.Rulings,
		})
		if err == nil {
			return s.leadTo(c, reviewPath(id))
		}
	default:
		_, err = s.cfg.Store.Decide(ctx, actor, id, in)
	}
	var fault *store.FieldError
	if errors.As(err, &fault) {
		return s.refuse(c, id, &typed{body: draftOf(form), fault: fault})
	}
	var signed *store.Review
	switch {
	case err == nil || errors.Is(err, store.ErrConflict):
		conflict := err
		if signed, err = s.signedBy(ctx, actor, id, in, conflict); errors.Is(err, store.ErrConflict) {
			return s.tooLate(c, id, form, conflict)
		} else if err != nil {
			return err
		}
	default:
		return err
	}
	notice := s.signedNotice(*signed, in.Action)
	if form.Get("then") == "next" {
		return s.goOn(c, notice)
	}
	s.setFlash(c, notice)
	return s.leadTo(c, reviewPath(id))
}

// tooLate keeps what was sent as a draft, since somebody was faster or the claim
// is lost, and shows how the item stands now.
func (s *Server) tooLate(c echo.Context, id string, form url.Values, conflict error) error {
	base, err := draftBase(form)
	if err != nil {
		return err
	}
	_, other, err := s.cfg.Store.SaveDraft(c.Request().Context(), user(c).Actor(), id, base, draftOf(form))
	kept := " What you typed is kept as your draft."
	switch {
	case errors.Is(err, store.ErrConflict) && isScript(c): // the page stays as it is, with all that is on it
		return s.draftFault(c, &pageFault{status: http.StatusConflict, title: "Not recorded", what: tooLateWords(conflict, user(c))})
	case errors.Is(err, store.ErrConflict):
		kept = "" // the item is signed by this person: nothing is open
	case err != nil:
		return err
	case other != nil && isScript(c):
		return answerConflict(c, *other)
	case other != nil:
		return s.draftConflictPage(c, id, form, *other)
	}
	s.flash(c, views.NoticeBad, tooLateWords(conflict, user(c))+kept)
	return s.leadTo(c, reviewPath(id))
}

// tooLateWords say who was faster; it may have been the same person, in another
// window.
func tooLateWords(conflict error, u store.User) string {
	var decided *store.DecidedError
	if errors.As(conflict, &decided) && decided.Decision.UserID == u.ID {
		return "You have signed this item already, at " + decided.Decision.At.UTC().Format("15:04") + " UTC, and that stands. Nothing more was recorded."
	}
	return conflictWords(conflict)
}

// leadTo goes to a page, or tells a script where it is.
func (s *Server) leadTo(c echo.Context, path string) error {
	if isScript(c) {
		return c.JSON(http.StatusOK, leads{Location: path})
	}
	return c.Redirect(http.StatusSeeOther, path)
}

// leads tells a script where to go.
type leads struct {
	Location string `json:"location"`
}

// refuse shows a form again with its fault. A script sends it once more as a form
// to see it so.
func (s *Server) refuse(c echo.Context, id string, t *typed) error {
	if isScript(c) {
		return s.draftFault(c, t.fault)
	}
	return s.renderReview(c, id, http.StatusUnprocessableEntity, t)
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
	switch in.Action {
	case store.Keep, store.Adopt, store.Confirm:
		// The fields of another verdict stand in the form, too, filled by what the
		// rulings come to; they are shown, and count, when something else is said.
		in.Verdict, in.Label = "", ""
	}
	if err := wholeAdded(in.Rulings); err != nil {
		return in, err
	}
	var err error
	in.Shown, err = formShown(form)
	return in, err
}

// decidedWords says what became of the item.
func decidedWords(r store.Review, d store.Decision) string {
	switch {
	case r.State == "decided":
		return "Signed and recorded."
	case r.Adjudicating && d.Action == store.Escalate && r.AddresseeName != "":
		return "Recorded. " + r.AddresseeName + " will settle this item."
	case r.Adjudicating && r.Addressee == string(store.Admin):
		return "Recorded. An administrator will settle this item."
	case r.Adjudicating && (d.Action == store.Confirm || d.Action == store.Override):
		return "Signed and recorded. The opinions differ, so somebody who gave none of them will settle this item."
	case r.Adjudicating:
		return "Recorded. A lead will settle this item."
	case d.Action == store.CannotJudge:
		return "Recorded. Somebody else will be asked."
	}
	return fmt.Sprintf("Signed and recorded as opinion %d of %d. The item waits for other people.", r.Opinions, r.OpinionsRequired)
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
		return s.refuse(c, id, &typed{body: draftOf(form), fault: fault})
	}
	return s.backToReview(c, id, err, "Kept as a second opinion. The result stays as it is.")
}

// undoDecision takes the newest decision back. What was said stands in the form
// again, as a draft.
func (s *Server) undoDecision(c echo.Context) error {
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	d, err := s.cfg.Store.Undo(ctx, actor, id)
	if err != nil {
		return s.backToReview(c, id, err, "")
	}
	done := "Taken back. The item is yours again; what you had said stays on record, marked as undone, and is in the form."
	if d.OverQuota {
		done = "Taken back. It stays on record, marked as undone, and is in the form."
	}
	// What it settled anybody could read meanwhile.
	if r, err := s.cfg.Store.GetReview(ctx, actor, id); err == nil && d.Blind && !r.Blind {
		done += " It is blind for nobody any more: its verdict could be read while it was settled."
	}
	return s.backToReview(c, id, nil, done)
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

// deskForm puts what was typed back into the form, the fault beside its field; a
// draft has none.
func deskForm(b store.DraftBody, fault *store.FieldError) views.DeskForm {
	f := views.DeskForm{
		Action: b.Action, Verdict: judge.Verdict(b.Verdict), Label: b.Label, ReasonCode: b.ReasonCode, Severity: b.Severity,
		Comment: b.Comment, Confidence: b.Confidence, To: b.To,
	}
	if fault == nil {
		return f
	}
	sentence := sentenceOf(fault)
	switch fault.Field {
	case "verdict":
		f.VerdictFault = sentence
	case "label":
		f.LabelFault = sentence
	case "severity":
		f.SeverityFault = sentence
	case "to":
		f.ToFault = sentence
	case "reason_code":
		f.ReasonFault = sentence
		if strings.TrimSpace(b.Comment) == "" { // told at once, not after the next try
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
