package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// draftSaved acknowledges a draft by its version.
type draftSaved struct {
	Version int       `json:"version"`
	SavedAt time.Time `json:"saved_at"`
}

// draftConflict is a problem with what the other page saved.
type draftConflict struct {
	problem
	Draft *store.Draft `json:"draft"`
}

// saveDraft keeps everything in the desk's form. A script (the header
// X-CSRF-Token, or the field draft_by=script of a beacon, which can send no
// header) is answered in JSON, a person who pressed a button with the desk.
// Fields of its own: draft_version, which the page was given last; draft_tab, a
// name that the page made up for itself, and draft_seq, which counts its saves:
// both may be absent.
func (s *Server) saveDraft(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	script := isScript(c) || form.Get("draft_by") == "script"
	id := param(c, "id")
	next, err := s.agreeHere(c, id, form)
	if err != nil {
		return err
	}
	base, err := draftBase(form)
	var saved store.Draft
	var conflict *store.Draft
	if err == nil {
		saved, conflict, err = s.cfg.Store.SaveDraft(c.Request().Context(), user(c).Actor(), id, base, draftOf(form))
	}
	switch {
	case err != nil && script:
		return s.draftFault(c, err)
	case err != nil && !errors.Is(err, store.ErrConflict):
		return err
	case err != nil:
		return &pageFault{status: http.StatusConflict, err: err, title: "The draft was not kept",
			what: "What you typed is not stored: " + conflictDetail(err) + ".", next: "Go back in your browser to copy it."}
	case conflict != nil && script:
		return answerConflict(c, *conflict)
	case conflict != nil:
		return s.draftConflictPage(c, id, form, *conflict)
	case script:
		st, err := s.standingOf(c, id, saved)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, struct {
			draftSaved
			standing
		}{draftSaved{Version: saved.Version, SavedAt: saved.SavedAt}, st})
	}
	if next != "" {
		return c.Redirect(http.StatusSeeOther, reviewPath(id)+"#"+next)
	}
	return s.backToReview(c, id, nil, "Draft saved. It waits for you here, also when the claim runs out.")
}

// standingOf is how an item stands by the rulings of a draft that was just saved.
func (s *Server) standingOf(c echo.Context, id string, saved store.Draft) (standing, error) {
	r, err := s.cfg.Store.GetReview(c.Request().Context(), user(c).Actor(), id)
	if err != nil {
		return standing{}, err
	}
	d, err := s.deskItem(c.Request().Context(), r)
	if err != nil {
		return standing{}, err
	}
	d.given = byPart(saved.Rulings)
	return d.withUnits(d.standing(withValue(saved.Rulings))), nil
}

// draftFault answers a script, which can't use a page.
func (s *Server) draftFault(c echo.Context, err error) error {
	err = s.plainly(err)
	if isAway(err) {
		return err
	}
	return writeProblem(c, problemOf(faultOf(err), err, c.Response().Header().Get(echo.HeaderXRequestID)))
}

func answerConflict(c echo.Context, other store.Draft) error {
	body, err := json.Marshal(draftConflict{Draft: &other, problem: problem{
		Type: "about:blank", Title: "Another page saved this draft", Status: http.StatusConflict,
		Detail:   "Another page of yours saved this draft meanwhile. Nothing was overwritten: choose one, and send it with version " + strconv.Itoa(other.Version) + ".",
		Instance: "urn:request:" + c.Response().Header().Get(echo.HeaderXRequestID),
	}})
	if err != nil {
		return err
	}
	return c.Blob(http.StatusConflict, "application/problem+json", body)
}

// draftBase reads what the page says of itself.
func draftBase(form url.Values) (b store.DraftBase, err error) {
	b.Tab = form.Get("draft_tab")
	if v := form.Get("draft_version"); v != "" {
		if b.Version, err = strconv.Atoi(v); err != nil || b.Version < 0 {
			return b, &store.FieldError{Field: "draft_version", Message: "is not a version: reload the page"}
		}
	}
	if v := form.Get("draft_seq"); v != "" {
		if b.Seq, err = strconv.ParseInt(v, 10, 64); err != nil || b.Seq < 0 {
			return b, &store.FieldError{Field: "draft_seq", Message: "is not a number"}
		}
	}
	return b, nil
}

// ownOfPage are fields that the page put into the form, and not the person.
var ownOfPage = []string{"_csrf", "draft_version", "draft_tab", "draft_seq", "draft_by", "shown", "then", "thread", personField, agreeField}

// draftOf takes everything from the desk's form: what has no place of its own
// goes to the rest. Rulings may have a note and no value yet.
func draftOf(form url.Values) store.DraftBody {
	var b store.DraftBody
	var correction store.DraftCorrection
	known := map[string]*string{
		"stage": &b.Stage, "action": &b.Action, "verdict": &b.Verdict, "label": &b.Label, "reason_code": &b.ReasonCode,
		"severity": &b.Severity, "comment": &b.Comment, "confidence": &b.Confidence, "to": &b.To, "question": &b.Question,
		"correction_target": &correction.Target, "correction_kind": &correction.Kind,
		"correction_explanation": &correction.Explanation, "correction_replacement": &correction.Replacement,
	}
	rulings := map[string]judge.Ruling{}
	for name, values := range form {
		value := strings.Join(values, "\n")
		part, isRuling := strings.CutPrefix(name, rulingField)
		notedPart, isNote := strings.CutPrefix(name, rulingNoteField)
		switch {
		case value == "" || slices.Contains(ownOfPage, name):
		case known[name] != nil:
			*known[name] = value
		case isRuling:
			r := rulings[part]
			r.Part, r.Value = part, value
			rulings[part] = r
		case isNote:
			r := rulings[notedPart]
			r.Part, r.Note = notedPart, value
			rulings[notedPart] = r
		default:
			b.Other = append(b.Other, store.DraftField{Name: name, Value: value})
		}
	}
	// Which text would be corrected is always chosen in the form: alone it says nothing.
	if correction != (store.DraftCorrection{Target: correction.Target}) {
		b.Correction = &correction
	}
	for _, r := range rulings {
		b.Rulings = append(b.Rulings, r)
	}
	// The same form must give the same draft.
	slices.SortFunc(b.Rulings, func(x, y judge.Ruling) int { return cmp.Compare(x.Part, y.Part) })
	slices.SortFunc(b.Other, func(x, y store.DraftField) int { return cmp.Compare(x.Name, y.Name) })
	return b
}

// draftConflictPage shows both drafts to a person without script: theirs is on
// it, to be saved all the same.
func (s *Server) draftConflictPage(c echo.Context, id string, form url.Values, other store.Draft) error {
	f, err := s.frame(c, "Two drafts of one item", views.TabQueue)
	if err != nil {
		return err
	}
	p := views.DraftConflictPage{Frame: f, ReviewID: id, Version: other.Version, SavedAt: other.SavedAt,
		Yours: draftLines(draftOf(form)), Other: draftLines(other.DraftBody)}
	for name, values := range form {
		if slices.Contains(ownOfPage, name) && name != "shown" {
			continue
		}
		for _, value := range values {
			p.Fields = append(p.Fields, views.FieldAgain{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(p.Fields, func(a, b views.FieldAgain) int { return cmp.Compare(a.Name, b.Name) })
	return s.render(c, http.StatusConflict, views.DraftConflict(p))
}

// draftLines are a draft's contents to read.
func draftLines(b store.DraftBody) []views.DraftLine {
	var lines []views.DraftLine
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, views.DraftLine{Name: name, Value: value})
		}
	}
	add("Answer", words(b.Action))
	add("Verdict", words(b.Verdict))
	add("Label", b.Label)
	add("Reason", words(b.ReasonCode))
	add("Severity", words(b.Severity))
	add("Comment", b.Comment)
	add("Confidence", words(b.Confidence))
	for _, r := range b.Rulings {
		said := r.Value
		if r.Note != "" {
			said = strings.TrimSpace(said + " – " + r.Note)
		}
		add(r.Part, said)
	}
	add("Question", b.Question)
	if k := b.Correction; k != nil {
		add("Correction", strings.Join(slices.DeleteFunc([]string{k.Target, k.Kind, k.Explanation, k.Replacement}, func(s string) bool { return s == "" }), "\n"))
	}
	for _, f := range b.Other {
		add(f.Name, f.Value)
	}
	return lines
}

// draftRequest is the API's draft: the body, and what the client had.
type draftRequest struct {
	store.DraftBody
	Version int    `json:"draft_version"`
	Tab     string `json:"draft_tab"`
	Seq     int64  `json:"draft_seq"`
}

func (s *Server) apiSaveDraft(c echo.Context) error {
	var in draftRequest
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	saved, conflict, err := s.cfg.Store.SaveDraft(c.Request().Context(), user(c).Actor(), param(c, "id"),
		store.DraftBase{Version: in.Version, Tab: in.Tab, Seq: in.Seq}, in.DraftBody)
	switch {
	case err != nil:
		return fmt.Errorf("save the draft: %w", err)
	case conflict != nil:
		return answerConflict(c, *conflict)
	}
	return c.JSON(http.StatusOK, draftSaved{Version: saved.Version, SavedAt: saved.SavedAt})
}

// apiGetDraft gives the caller's own draft.
func (s *Server) apiGetDraft(c echo.Context) error {
	d, err := s.cfg.Store.GetDraft(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	if d == nil {
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, d)
}
