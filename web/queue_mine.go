package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// showMyWork shows what one person has to do and how they get on, and when there
// is nothing for them, why.
func (s *Server) showMyWork(c echo.Context) error {
	f, err := s.frame(c, "My work", views.TabQueue)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	w, err := s.cfg.Store.MyWork(ctx, actor, f.Project)
	if err != nil {
		return err
	}
	page := views.MyWorkPage{
		Frame: f, Held: queueRows(w.Held, actor), Assigned: queueRows(w.Assigned, actor), ForLead: w.ForLead, Skipped: w.Skipped, Drafts: w.Drafts, ForMe: w.ForMe,
		Today: weekOf(w.Today), Week: weekOf(w.Week),
	}
	if page.Tabs, err = s.queueTabs(c, f); err != nil {
		return err
	}
	if page.Asked, err = said(s.cfg.Store.QuestionsFor(ctx, actor, f.Project)); err != nil {
		return err
	}
	if page.Answers, err = said(s.cfg.Store.AnswersTo(ctx, actor, f.Project)); err != nil {
		return err
	}
	if page.Corrections, err = s.cfg.Store.OpenCorrections(ctx, actor, f.Project); err != nil {
		return err
	}
	if w.Next != nil {
		page.Next = nextItem(*w.Next, actor)
	} else {
		why, err := s.cfg.Store.WhyQueue(ctx, actor, f.Project)
		if err != nil {
			return err
		}
		page.Waiting = why.Waiting()
		for _, cause := range why.Withheld {
			page.Why = append(page.Why, whyLine(cause))
		}
	}
	return s.render(c, http.StatusOK, views.MyWork(page))
}

// said are questions or answers with the way to where each stands on the desk.
func said(list []store.Asked, err error) ([]views.Said, error) {
	said := make([]views.Said, len(list))
	for i, x := range list {
		said[i] = views.Said{Who: x.UserName, Text: x.Text, At: x.At, ItemTitle: x.Title, Href: reviewPath(x.ReviewID) + "#comment-" + x.ID}
	}
	return said, err
}

func weekOf(p store.Pace) views.Week {
	return views.Week{Decisions: p.Decisions, Overridden: p.Overrides, Blind: p.Blind, MedianSeconds: int(p.MedianSeconds)}
}

// whyLine says one cause in words, and where its items are, if a list shows
// exactly those.
func whyLine(w store.Withheld) views.WhyLine {
	line := views.WhyLine{N: w.N}
	switch w.Cause {
	case store.CauseMine:
		line.Text = "held by you: go on with them above"
	case store.CauseHeld:
		line.Text = "held by somebody else: they come back when the claim ends"
	case store.CauseCorrection:
		line.Text, line.Href = "waiting for a lead to accept or decline a correction of their trace", "/corrections?state=open"
	case store.CauseLead:
		line.Text = "for a lead, or for somebody who is named, to settle"
	case store.CauseSentAway:
		line.Text = "answered by you without settling them: somebody else does"
	case store.CauseAnswered:
		line.Text = "answered by you, and waiting for more opinions"
	case store.CauseAssigned:
		line.Text = "assigned to somebody else"
	case store.CauseConflict:
		line.Text = "kept from you by a conflict of interest that your profile names"
	case store.CauseDomain:
		line.Text = "of other domains than yours (" + w.Detail + ")"
	case store.CauseQualification:
		line.Text = "for people with the qualification " + w.Detail + ", which your profile does not have"
	case store.CauseLanguage:
		line.Text = "in a language that your profile does not have"
	case store.CauseSkipped:
		line.Text, line.Href = "skipped by you today: you can open them", "/queue?state=skipped"
	}
	return line
}
