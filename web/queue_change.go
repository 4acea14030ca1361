package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// changeQueue makes one change of the items that a lead has selected. The address
// carries the filters of the list, so that it is shown again as it was.
func (s *Server) changeQueue(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	change, err := queueChange(form.Get("action"), form.Get)
	selected := form["item"]
	n := 0
	if err == nil {
		n, err = s.cfg.Store.ChangeQueue(c.Request().Context(), user(c).Actor(), project, selected, change)
	}
	var refused *store.ChangeRefusedError
	var fault *store.FieldError
	switch {
	case errors.As(err, &refused):
		return s.renderQueue(c, http.StatusConflict, refusal(refused), selected)
	case errors.As(err, &fault):
		return s.renderQueue(c, http.StatusUnprocessableEntity,
			views.QueueFault{Title: "Nothing was changed", Text: sentenceOf(fault)}, selected)
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, changedWords(n, len(selected), change))
	return c.Redirect(http.StatusSeeOther, strings.TrimSuffix("/queue?"+queueAddress(c, c.QueryParam("after")), "?"))
}

// queueChange reads a change: what it needs besides its name is in fields of the
// same form.
func queueChange(action string, field func(string) string) (store.QueueChange, error) {
	change := store.QueueChange{Action: action, User: field("user"), Release: field("take") == "1", Reason: field("reason")}
	switch action {
	case "blind", "visible":
		change.Action, change.Blind = store.ChangeBlind, action == "blind"
	case store.ChangeAssign:
		if change.User == "" {
			return change, &store.FieldError{Field: "user", Message: "is missing: choose whom the items are assigned to"}
		}
		if change.User == store.HeldByNobody {
			change.User = ""
		}
	case store.ChangePriority:
		n, err := strconv.Atoi(field("priority"))
		if err != nil {
			return change, &store.FieldError{Field: "priority", Message: "is missing: choose one"}
		}
		change.Priority = n
	case store.ChangeOpinions:
		n, err := strconv.Atoi(field("opinions"))
		if err != nil {
			return change, &store.FieldError{Field: "opinions", Message: "is missing: say how many"}
		}
		change.Opinions = n
	case store.ChangeDue:
		at, err := dueTime(field("due_at"))
		if err != nil {
			return change, err
		}
		change.Due = at
	}
	return change, nil
}

// dueTime reads a time as browsers send it, which is UTC here as on all pages, or
// in RFC 3339.
func dueTime(value string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.Parse(layout, value); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, &store.FieldError{Field: "due", Message: "is no time: write it like 2026-01-31T12:00"}
}

func refusal(e *store.ChangeRefusedError) views.QueueFault {
	f := views.QueueFault{Title: "Nothing was changed", Text: counted(len(e.Items), "item stands", "items stand") + " in the way. Take the selection off them and try again."}
	for _, i := range e.Items {
		f.Items = append(f.Items, views.RefusedItem{Href: reviewPath(i.ReviewID), Title: i.Title, TraceID: i.TraceID, Why: i.Why})
	}
	return f
}

func changedWords(n, selected int, c store.QueueChange) string {
	items := counted(n, "item")
	var said string
	switch c.Action {
	case store.ChangeAssign:
		said = items + " assigned."
		if c.User == "" {
			said = items + " assigned to nobody now."
		}
	case store.ChangePriority:
		said = items + " moved in the queue."
	case store.ChangeDue:
		said = items + " due " + c.Due.Format("2 January, 15:04") + " UTC."
	case store.ChangeBlind:
		said = items + " answered with the verdict shown."
		if c.Blind {
			said = items + " answered blind."
		}
	case store.ChangeOpinions:
		said = items + " for " + strconv.Itoa(c.Opinions) + " people to answer."
	case store.ChangeRelease:
		said = counted(n, "claim") + " ended. What was typed is kept for who typed it."
	case store.ChangeWithdraw:
		said = items + " withdrawn. They have no result until a review is requested again."
	}
	if n < selected {
		said += " " + counted(selected-n, "was", "were") + " so already."
	}
	return said
}
