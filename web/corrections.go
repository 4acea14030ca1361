package web

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) listCorrections(c echo.Context) error {
	f, err := s.frame(c, "Corrections", views.TabQueue)
	if err != nil {
		return err
	}
	filter := store.CorrectionFilter{Project: f.Project, State: c.QueryParam("state"), After: c.QueryParam("after"), Limit: pageRows + 1}
	all, err := s.cfg.Store.ListCorrections(c.Request().Context(), user(c).Actor(), filter)
	if err != nil {
		return err
	}
	p := views.CorrectionsPage{Frame: f, State: filter.State}
	next := ""
	if len(all) > pageRows {
		all = all[:pageRows]
		if filter.State != "" { // the list of all is a first page
			next = all[pageRows-1].ID
		}
	}
	for _, k := range all {
		p.Rows = append(p.Rows, correctionRow(k))
	}
	p.NextHref, p.FirstHref = paging(c.Request().URL, next)
	return s.render(c, http.StatusOK, views.Corrections(p))
}

func correctionRow(k store.Correction) views.CorrectionRow {
	r := views.CorrectionRow{
		Href: correctionPath(k.ID), ItemTitle: k.Title, TraceID: k.TraceID, Target: targetText(k.Target, nil), Kind: k.Kind,
		Proposer: k.Proposer, At: k.At, State: k.State, AnsweredBy: k.AnsweredBy,
	}
	if k.AnsweredAt != nil {
		r.AnsweredAt = *k.AnsweredAt
	}
	return r
}

// correctionNotice tells of the correction on its item; the address only to who
// may open it.
func correctionNotice(a store.Actor, k store.Correction) views.CorrectionRow {
	r := correctionRow(k)
	if a.Role == store.Reviewer && k.ProposerID != a.UserID {
		r.Href = ""
	}
	return r
}

func (s *Server) showCorrection(c echo.Context) error {
	return s.renderCorrection(c, http.StatusOK, "", "", "")
}

// renderCorrection shows one, with what was typed and its fault after an answer
// that was refused.
func (s *Server) renderCorrection(c echo.Context, status int, fault, comment, typed string) error {
	actor := user(c).Actor()
	k, err := s.cfg.Store.GetCorrection(c.Request().Context(), actor, param(c, "id"))
	if err != nil {
		return err
	}
	f, err := s.frame(c, "Correction: "+k.Title, views.TabQueue)
	if err != nil {
		return err
	}
	p := views.OneCorrectionPage{
		Frame: f, CorrectionRow: correctionRow(k), ID: k.ID, ReviewID: k.ReviewID, Revision: k.Revision, NewRevision: k.NewRevision,
		NewHref: tracePath(k.TraceID), Explanation: k.Explanation, Answer: k.Answer, Unknown: k.Replacement == "", Before: k.Before,
		MaySettle: isLead(actor) && k.ProposerID != actor.UserID, MayWithdraw: k.ProposerID == actor.UserID, Fault: fault, Typed: typed,
	}
	if comment != "" {
		p.Answer = comment
	}
	if p.Typed == "" {
		p.Typed = k.Before
	}
	if !p.Unknown {
		p.Pieces = pieces(k.Before, k.Replacement)
	}
	return s.render(c, status, views.OneCorrection(p))
}

// sameShown is how many characters of what is the same stand on either side of a
// change.
const sameShown = 300

// pieces compares two texts for reading: what is the same and far from a change is
// left out.
func pieces(before, after string) []views.DiffPiece {
	var list []views.DiffPiece
	add := func(kind, text string) {
		if text != "" {
			list = append(list, views.DiffPiece{Kind: kind, Text: text})
		}
	}
	at := 0 // in after; white space between words stands with what follows
	segments := ruling.CompareAll(before, after).Segments
	for i, seg := range segments {
		switch seg.Kind {
		case ruling.Same:
			same := []rune(after[at:seg.Candidate.End])
			lead, trail := sameShown, sameShown
			if i == 0 {
				lead = 0
			}
			if i == len(segments)-1 {
				trail = 0
			}
			if n := len(same) - lead - trail; n > sameShown {
				add("same", string(same[:lead]))
				add("cut", counted(n, "character", "characters"))
				add("same", string(same[len(same)-trail:]))
			} else {
				add("same", string(same))
			}
			at = seg.Candidate.End
		case ruling.Deleted, ruling.Inserted, ruling.Replaced:
			add("same", after[at:max(at, seg.Candidate.Start)])
			add("del", before[seg.Reference.Start:seg.Reference.End])
			add("ins", after[seg.Candidate.Start:seg.Candidate.End])
			at = max(at, seg.Candidate.End)
		}
	}
	return list
}

func (s *Server) acceptCorrection(c echo.Context) error {
	if _, err := c.FormParams(); err != nil {
		return unreadable(err)
	}
	in := store.Acceptance{Comment: c.FormValue("comment"), Replacement: oneSign(c.FormValue("correction_replacement"))}
	k, err := s.accept(c, in)
	if err != nil {
		return s.answeredBadly(c, err, in.Comment, in.Replacement)
	}
	s.flash(c, views.NoticeInfo, "Accepted. Revision "+thousands(k.NewRevision)+" of the trace is in the list of work.")
	return c.Redirect(http.StatusSeeOther, correctionPath(k.ID))
}

func (s *Server) accept(c echo.Context, in store.Acceptance) (store.Correction, error) {
	k, err := s.cfg.Store.AcceptCorrection(c.Request().Context(), user(c).Actor(), param(c, "id"), in, s.planAgain)
	if err == nil {
		s.cfg.Wake()
	}
	return k, err
}

func (s *Server) declineCorrection(c echo.Context) error {
	if _, err := c.FormParams(); err != nil {
		return unreadable(err)
	}
	reason := c.FormValue("comment")
	if err := s.cfg.Store.DeclineCorrection(c.Request().Context(), user(c).Actor(), param(c, "id"), reason); err != nil {
		return s.answeredBadly(c, err, reason, oneSign(c.FormValue("correction_replacement")))
	}
	s.flash(c, views.NoticeInfo, "Declined. The item is in the queue again, and who proposed it is told why.")
	return c.Redirect(http.StatusSeeOther, correctionPath(param(c, "id")))
}

func (s *Server) withdrawCorrection(c echo.Context) error {
	if err := s.cfg.Store.WithdrawCorrection(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return s.answeredBadly(c, err, "", "")
	}
	s.flash(c, views.NoticeInfo, "Taken back. The item is in the queue again.")
	return c.Redirect(http.StatusSeeOther, correctionPath(param(c, "id")))
}

// answeredBadly shows the correction as it stands, with what was typed and why it
// was not taken.
func (s *Server) answeredBadly(c echo.Context, err error, comment, replacement string) error {
	var fault *store.FieldError
	switch {
	case errors.As(err, &fault) && (fault.Field == "reason" || fault.Field == "comment"):
		return s.renderCorrection(c, http.StatusUnprocessableEntity, "The comment "+fault.Message+".", comment, replacement)
	case errors.As(err, &fault):
		return s.renderCorrection(c, http.StatusUnprocessableEntity, sentenceOf(fault), comment, replacement)
	case errors.Is(err, store.ErrConflict):
		s.flash(c, views.NoticeBad, sentenceCase(conflictDetail(err))+". Nothing of yours was recorded.")
		return c.Redirect(http.StatusSeeOther, correctionPath(param(c, "id")))
	}
	return err
}

// planAgain plans a corrected trace as an import would, for the judges that judged
// it before: also those that a person had asked for.
func (s *Server) planAgain(ctx context.Context, project string, t *judge.Trace, judges []string) ([]judge.Planned, error) {
	h, policy, err := s.judging(ctx, project)
	if err != nil {
		return nil, err
	}
	all, err := h.PlanUnder(t, policy)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p judge.Planned) bool { return !slices.Contains(judges, p.Judge) })
	for _, name := range judges {
		j, known := h.Judge(name)
		if !known || slices.ContainsFunc(all, func(p judge.Planned) bool { return p.Judge == name }) {
			continue
		}
		asked := *t
		asked.Judges = []string{name}
		more, err := h.PlanUnder(&asked, policy)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(more, func(p judge.Planned) bool { return p.Judge != j.Name })...)
	}
	return all, nil
}

// correctionList is the API's list.
type correctionList struct {
	Items []store.Correction `json:"items"`
	Next  string             `json:"next,omitempty"`
}

func (s *Server) apiListCorrections(c echo.Context) error {
	limit, err := intParam(c, "limit", pageRows, 1, 200)
	if err != nil {
		return err
	}
	all, err := s.cfg.Store.ListCorrections(c.Request().Context(), user(c).Actor(), store.CorrectionFilter{
		Project: s.apiProject(c), State: c.QueryParam("state"), After: c.QueryParam("after"), Limit: limit})
	if err != nil {
		return err
	}
	out := correctionList{Items: all}
	if out.Items == nil {
		out.Items = []store.Correction{}
	}
	if len(all) == limit && c.QueryParam("state") != "" {
		out.Next = all[limit-1].ID
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Server) apiAcceptCorrection(c echo.Context) error {
	var in struct {
		Comment     string `json:"comment"`
		Replacement string `json:"replacement"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	k, err := s.accept(c, store.Acceptance(in))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, k)
}

func (s *Server) apiDeclineCorrection(c echo.Context) error {
	var in struct {
		Reason string `json:"reason"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	if err := s.cfg.Store.DeclineCorrection(c.Request().Context(), user(c).Actor(), param(c, "id"), in.Reason); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) apiWithdrawCorrection(c echo.Context) error {
	if err := s.cfg.Store.WithdrawCorrection(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
