package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// addComment sends a question, or an answer in the thread that the field thread
// names. Everything else in the form is kept as a draft first.
func (s *Server) addComment(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	id, thread := param(c, "id"), form.Get("thread")
	if stop, err := s.keepTyped(c, id, form); stop || err != nil {
		return err
	}
	in := store.NewComment{ParentID: thread, Text: form.Get("question"), To: form.Get("question_to")}
	if thread != "" {
		in.Text, in.To = form.Get(store.ReplyField+thread), ""
	}
	_, err = s.cfg.Store.AddComment(c.Request().Context(), user(c).Actor(), id, in)
	return s.backToThread(c, id, err, "Sent. It stands under Questions.")
}

func (s *Server) withdrawComment(c echo.Context) error {
	return s.changeComment(c, func() error {
		return s.cfg.Store.WithdrawComment(c.Request().Context(), user(c).Actor(), param(c, "comment"))
	}, "Taken back. Its place stays, the text is gone.")
}

func (s *Server) resolveComment(c echo.Context) error {
	return s.changeComment(c, func() error {
		return s.cfg.Store.ResolveComment(c.Request().Context(), user(c).Actor(), param(c, "comment"), true)
	}, "Marked as answered.")
}

func (s *Server) reopenComment(c echo.Context) error {
	return s.changeComment(c, func() error {
		return s.cfg.Store.ResolveComment(c.Request().Context(), user(c).Actor(), param(c, "comment"), false)
	}, "The question is open again.")
}

func (s *Server) changeComment(c echo.Context, change func() error, done string) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	id := param(c, "id")
	if stop, err := s.keepTyped(c, id, form); stop || err != nil {
		return err
	}
	return s.backToThread(c, id, change(), done)
}

// keepTyped keeps the rest of the desk's form when one button of it sent a part:
// without a script the page that comes back would have lost it. stop: another page
// saved meanwhile, and the answer shows both.
func (s *Server) keepTyped(c echo.Context, id string, form url.Values) (stop bool, err error) {
	if !form.Has("draft_version") { // a form of its own
		return false, nil
	}
	base, err := draftBase(form)
	if err != nil {
		return false, err
	}
	_, conflict, err := s.cfg.Store.SaveDraft(c.Request().Context(), user(c).Actor(), id, base, draftOf(form))
	switch {
	case errors.Is(err, store.ErrConflict): // never theirs, or signed: there is nothing to lose
		return false, nil
	case err != nil:
		return false, err
	case conflict != nil && isScript(c):
		return true, answerConflict(c, *conflict)
	case conflict != nil:
		return true, s.draftConflictPage(c, id, form, *conflict)
	}
	return false, nil
}

// backToThread goes back to where the questions are.
func (s *Server) backToThread(c echo.Context, id string, err error, done string) error {
	var refused *store.RefusedError
	switch {
	case errors.As(err, &refused):
		s.flash(c, views.NoticeBad, refused.Why+".")
	case err != nil:
		return err
	default:
		s.flash(c, views.NoticeInfo, done)
	}
	return s.leadTo(c, reviewPath(id)+"#questions")
}

// addTalk adds to a desk whom the item can be sent to or asked about, what was
// asked, and the correction that is proposed or may be.
func (s *Server) addTalk(ctx context.Context, a store.Actor, f views.Frame, r store.Review, p *views.DeskPage) error {
	form := ""
	if p.MayRule() {
		form = "decision"
	}
	var people []views.Choice
	if a.MayDecide() {
		others, err := s.addressees(ctx, a)
		if err != nil {
			return err
		}
		if p.MayEscalate() {
			p.Addressees = others
		}
		people = append([]views.Choice{{Value: "", Text: "Anybody"}, {Value: string(store.Lead), Text: "A lead"}}, others...)
	}
	p.Questions = threadOf(f, a, r, form, people)
	if r.Correction != nil {
		notice := correctionNotice(a, *r.Correction)
		p.Correction = &notice
	} else if p.Holding() {
		if correct := correctionForm(f, r, form); len(correct.Targets) > 0 {
			p.Correct = &correct
		}
	}
	return nil
}

// threadOf is an item's questions for its desk. form is the id of the form that
// they stand in, people who may be asked.
func threadOf(f views.Frame, a store.Actor, r store.Review, form string, people []views.Choice) views.Thread {
	t := views.Thread{
		Frame: f, ReviewID: r.ReviewID, Form: form, Sealed: r.Comments.Sealed, WouldTell: r.Comments.WouldTell,
		MayWrite: a.MayDecide(), People: people,
	}
	drafts := map[string]string{}
	if r.Draft != nil {
		t.Draft = r.Draft.Question
		for _, field := range r.Draft.Other {
			drafts[field.Name] = field.Value
		}
		t.DraftTo = drafts["question_to"]
	}
	at := map[string]int{}
	for _, c := range r.Comments.All {
		line := views.Comment{ID: c.ID, Who: c.UserName, At: c.At, Text: c.Text, Withdrawn: c.WithdrawnAt != nil,
			MayWithdraw: t.MayWrite && c.UserID == a.UserID && c.WithdrawnAt == nil}
		if c.ParentID != "" {
			q := &t.Questions[at[c.ParentID]]
			q.Answers = append(q.Answers, line)
			continue
		}
		at[c.ID] = len(t.Questions)
		q := views.Question{Comment: line, To: c.ToName, MayResolve: t.MayWrite && (c.UserID == a.UserID || isLead(a)), Draft: drafts[store.ReplyField+c.ID]}
		switch store.Role(c.To) {
		case store.Lead:
			q.To = "the leads"
		case store.Admin:
			q.To = "the administrators"
		}
		if c.ResolvedAt != nil {
			q.Resolved = c.ResolvedBy
		}
		t.Questions = append(t.Questions, q)
	}
	return t
}

// commentList is the API's form of an item's comments.
type commentList struct {
	Items     []store.Comment `json:"items"`
	Sealed    int             `json:"sealed"`
	WouldTell bool            `json:"would_tell"`
}

func (s *Server) apiListComments(c echo.Context) error {
	v, err := s.cfg.Store.ListComments(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	out := commentList{Items: v.All, Sealed: v.Sealed, WouldTell: v.WouldTell}
	if out.Items == nil {
		out.Items = []store.Comment{}
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Server) apiAddComment(c echo.Context) error {
	var in struct {
		ParentID string `json:"parent_id"`
		To       string `json:"to"`
		Text     string `json:"text"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	added, err := s.cfg.Store.AddComment(c.Request().Context(), user(c).Actor(), param(c, "id"), store.NewComment(in))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, added)
}

func (s *Server) apiWithdrawComment(c echo.Context) error {
	if err := s.cfg.Store.WithdrawComment(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) apiResolveComment(c echo.Context) error {
	in := struct {
		Resolved *bool `json:"resolved"`
	}{}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	resolved := in.Resolved == nil || *in.Resolved
	if err := s.cfg.Store.ResolveComment(c.Request().Context(), user(c).Actor(), param(c, "id"), resolved); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
