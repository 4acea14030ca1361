package web

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// proposeCorrection takes the form on the desk, or the one on a page of its own. A
// faulty one comes back on that page, as it was typed.
func (s *Server) proposeCorrection(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	id := param(c, "id")
	if stop, err := s.keepTyped(c, id, form); stop || err != nil {
		return err
	}
	actor := user(c).Actor()
	r, err := s.cfg.Store.GetReview(c.Request().Context(), actor, id)
	if err != nil {
		return err
	}
	in := correctionOf(form, &r.Trace)
	k, err := s.cfg.Store.ProposeCorrection(c.Request().Context(), actor, id, in)
	var fault *store.FieldError
	switch {
	case errors.As(err, &fault) && isScript(c):
		return s.draftFault(c, &pageFault{status: http.StatusUnprocessableEntity, title: "Not proposed", what: correctionFault(fault)})
	case errors.As(err, &fault):
		return s.correctionPage(c, r, http.StatusUnprocessableEntity, in, correctionFault(fault))
	case err != nil:
		return s.backToReview(c, id, err, "")
	}
	s.flash(c, views.NoticeInfo, "Proposed. The item waits until a lead accepts or declines it; nobody is given it meanwhile.")
	return s.leadTo(c, correctionPath(k.ID))
}

func correctionPath(id string) string { return "/corrections/" + url.PathEscape(id) }

// correctionOf reads the fields. Browsers send lines with two signs at their ends,
// and a text that is left as it was is none.
func correctionOf(form url.Values, t *judge.Trace) store.NewCorrection {
	in := store.NewCorrection{Target: form.Get("correction_target"), Kind: form.Get("correction_kind"), Explanation: form.Get("correction_explanation"),
		Replacement: oneSign(form.Get("correction_replacement"))}
	if before, err := store.CorrectionText(t, in.Target); err == nil && oneSign(before) == in.Replacement {
		in.Replacement = ""
	}
	return in
}

func oneSign(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// correctionFault is what is wrong with a proposal, as people read it.
func correctionFault(fault *store.FieldError) string {
	names := map[string]string{"target": "Which text", "kind": "What is the matter", "explanation": "How you know", "replacement": "The text"}
	if fault.Field == "kind" {
		return "What is the matter is missing: say whether it is wrong or outdated."
	}
	if name, ok := names[fault.Field]; ok {
		return name + " " + fault.Message + "."
	}
	return sentenceOf(fault)
}

// editCorrection goes from the desk to the page that has the present text.
func (s *Server) editCorrection(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	id := param(c, "id")
	if stop, err := s.keepTyped(c, id, form); stop || err != nil {
		return err
	}
	return s.leadTo(c, reviewPath(id)+"/correction?"+url.Values{"target": {form.Get("correction_target")}}.Encode())
}

// showCorrectionForm is the page with the present text of one target, and with
// what is in the draft.
func (s *Server) showCorrectionForm(c echo.Context) error {
	r, err := s.cfg.Store.GetReview(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	in := store.NewCorrection{Target: c.QueryParam("target")}
	if targets := store.CorrectionTargets(&r.Trace); in.Target == "" && len(targets) > 0 {
		in.Target = targets[0]
	}
	if _, err = store.CorrectionText(&r.Trace, in.Target); err != nil {
		return err
	}
	if r.Draft != nil && r.Draft.Correction != nil {
		d := r.Draft.Correction
		in.Kind, in.Explanation = d.Kind, d.Explanation
		if d.Target == in.Target {
			in.Replacement = d.Replacement
		}
	}
	return s.correctionPage(c, r, http.StatusOK, in, "")
}

func (s *Server) correctionPage(c echo.Context, r store.Review, status int, in store.NewCorrection, fault string) error {
	f, err := s.frame(c, "Correct a text: "+r.Title, views.TabQueue)
	if err != nil {
		return err
	}
	if present, err := store.CorrectionText(&r.Trace, in.Target); err == nil && in.Replacement == "" {
		in.Replacement = present
	}
	form := correctionForm(f, r, "")
	form.Target, form.Kind, form.Explanation, form.Replacement, form.Whole, form.Fault = in.Target, in.Kind, in.Explanation, in.Replacement, true, fault
	return s.render(c, status, views.Correction(views.CorrectionPage{CorrectionForm: form, ItemTitle: r.Title, TargetText: targetText(in.Target, &r.Trace)}))
}

// correctionForm is the desk's part, with what is in the draft. form is the id of
// the form that it stands in.
func correctionForm(f views.Frame, r store.Review, form string) views.CorrectionForm {
	out := views.CorrectionForm{Frame: f, ReviewID: r.ReviewID, Form: form}
	for _, target := range store.CorrectionTargets(&r.Trace) {
		out.Targets = append(out.Targets, views.Choice{Value: target, Text: sentenceCase(targetText(target, &r.Trace))})
	}
	if r.Draft != nil && r.Draft.Correction != nil {
		d := r.Draft.Correction
		out.Target, out.Kind, out.Explanation, out.Replacement = d.Target, d.Kind, d.Explanation, d.Replacement
	}
	return out
}

func sentenceCase(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// targetText names a text of a trace; t may be nil.
func targetText(target string, t *judge.Trace) string {
	kind, which, _ := strings.Cut(target, ":")
	switch kind {
	case store.TargetReference, store.TargetQuestion:
		return "the " + kind
	case store.TargetPremise:
		return "premise " + which
	case store.TargetSource:
		if t != nil {
			if i := slices.IndexFunc(t.Sources, func(s judge.Source) bool { return s.ID == which }); i >= 0 && t.Sources[i].Title != "" {
				return "source " + which + ", " + t.Sources[i].Title
			}
		}
		return "source " + which
	}
	return "a text"
}

// apiProposeCorrection is proposeCorrection for clients.
func (s *Server) apiProposeCorrection(c echo.Context) error {
	var in struct {
		Target      string `json:"target"`
		Kind        string `json:"kind"`
		Explanation string `json:"explanation"`
		Replacement string `json:"replacement"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	k, err := s.cfg.Store.ProposeCorrection(c.Request().Context(), user(c).Actor(), param(c, "id"), store.NewCorrection(in))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, k)
}
