package web

import (
	"context"
	"errors"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// signedBy is the item after a decision of the actor's. A decision that was sent
// twice, because its answer was lost on the way, is refused by the store the second
// time (err is an ErrConflict) but stands as it was sent: it is told as signed. Any
// other conflict comes back.
func (s *Server) signedBy(ctx context.Context, a store.Actor, id string, in store.DecisionInput, err error) (*store.Review, error) {
	r, readErr := s.cfg.Store.GetReview(ctx, a, id)
	if readErr != nil {
		return nil, readErr
	}
	if err == nil {
		return &r, nil
	}
	if d := lastOf(r, a); d != nil && r.State != "claimed" && sentAs(*d, in) {
		return &r, nil
	}
	return nil, err
}

// lastOf is the actor's newest decision on an item that was not taken back.
func lastOf(r store.Review, a store.Actor) *store.Decision {
	for i := len(r.Decisions) - 1; i >= 0; i-- {
		if d := &r.Decisions[i]; d.UserID == a.UserID && d.UndoneAt == nil && !d.OverQuota {
			return d
		}
	}
	return nil
}

// sentAs says that a decision is what an input came to. An override that changes
// nothing is kept as a confirm.
func sentAs(d store.Decision, in store.DecisionInput) bool {
	if d.Comment != in.Comment || d.ReasonCode != in.ReasonCode || d.Confidence != in.Confidence {
		return false
	}
	switch in.Action {
	case store.Keep, store.Adopt:
		return d.Choice == in.Action
	case store.Confirm, store.Override:
		return (d.Action == in.Action || d.Action == store.Confirm) && (in.Verdict == "" || in.Verdict == d.Verdict)
	}
	return d.Action == in.Action
}

// signedNotice says what became of an item, and that it can be undone.
func (s *Server) signedNotice(r store.Review) views.Notice {
	n := views.Notice{Kind: views.NoticeInfo, Text: "Recorded."}
	if len(r.Decisions) > 0 {
		n.Text = decidedWords(r, r.Decisions[len(r.Decisions)-1])
	}
	if r.UndoUntil != nil {
		if left := r.UndoUntil.Sub(s.cfg.Now()); left > time.Second {
			n.Undo, n.UndoSeconds = reviewPath(r.ReviewID)+"/undo", int(left.Seconds())
		}
	}
	return n
}

// goOn claims the next item and goes there, with a notice about the last one; or
// to the queue, when nothing waits.
func (s *Server) goOn(c echo.Context, n views.Notice) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	next, err := s.cfg.Store.TakeNext(c.Request().Context(), user(c).Actor(), project, store.ClaimFilter{})
	path := "/queue"
	switch {
	case err == nil:
		path = reviewPath(next)
	case errors.Is(err, store.ErrNotFound):
		n.Text += " Nothing else waits that you could take."
	case errors.Is(err, store.ErrConflict):
		n.Text += " No other item was claimed for you: " + conflictDetail(err) + "."
	default:
		// What was signed is signed: the fault is the next item's.
		s.cfg.Logger.Error("claim the next item after a decision", "error", err.Error())
		n.Text += " The next item could not be claimed; try again."
	}
	s.setFlash(c, n)
	return s.leadTo(c, path)
}
