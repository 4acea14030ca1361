package web

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// pageFault is an error with its own words for people.
type pageFault struct {
	status            int
	title, what, next string
	err               error // what operators read; may be nil
}

func (f *pageFault) Error() string {
	if f.err == nil {
		return f.title
	}
	return f.title + ": " + f.err.Error()
}

func (f *pageFault) Unwrap() error { return f.err }

// faults is the one table from error to status and words. The first that fits
// is taken; what fits none is a fault of ours.
var faults = []struct {
	is                error
	status            int
	title, what, next string
}{
	{store.ErrNotFound, http.StatusNotFound, "Not found",
		"There is nothing at this address, or you may not see it.", "Check the address, or start from the overview."},
	{store.ErrForbidden, http.StatusForbidden, "Not allowed",
		"Your role does not include this. The attempt was recorded in the audit log.", "Ask a lead or an administrator if you need it."},
	{store.ErrConflict, http.StatusConflict, "This does not fit how things stand",
		"What you acted on is in another state than this needs. Nothing of yours was recorded.", "Reload the page to see how it stands now."},
	{store.ErrInvalid, http.StatusUnprocessableEntity, "That can't be taken",
		"A value is missing or not of its form. Nothing was recorded.", "Correct it and send it again."},
}

// faultOf finds status and words for an error, which went through plainly.
func faultOf(err error) pageFault {
	var away *store.TroubleError
	if errors.As(err, &away) {
		return awayFault(away, err)
	}
	var own *pageFault
	if errors.As(err, &own) {
		return *own
	}
	for _, f := range faults {
		if errors.Is(err, f.is) {
			fault := pageFault{status: f.status, title: f.title, what: f.what, next: f.next, err: err}
			var field *store.FieldError
			if errors.As(err, &field) {
				fault.what = sentenceOf(field) + " Nothing was recorded."
			}
			var unfit *store.UnfitError
			if errors.As(err, &unfit) {
				fault.what, fault.next = unfit.Message+" The attempt was recorded in the audit log.", "Take another item."
			}
			return fault
		}
	}
	var he *echo.HTTPError
	if errors.As(err, &he) {
		f := pageFault{status: he.Code, title: http.StatusText(he.Code), err: err,
			what: "The request was refused.", next: "Start from the overview."}
		switch he.Code {
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			f.what = "There is nothing at this address."
		case http.StatusRequestEntityTooLarge:
			f.what = "The request is larger than this server takes."
			f.next = "Send less at once. Large files of traces are for the import command."
		}
		return f
	}
	return pageFault{
		status: http.StatusInternalServerError, title: "Something failed on our side", err: err,
		what: "The request was not carried out. What was stored before is safe.",
		next: "Try again. If it goes on, give your operator the id below.",
	}
}

// answerError is Echo's error handler: a page for people, problem+json for
// systems, one log line for faults of ours.
func (s *Server) answerError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	err = s.plainly(err)
	f := faultOf(err)
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	switch {
	case isAway(err): // many requests meet one outage, which is no fault of theirs or ours
		c.Response().Header().Set(echo.HeaderRetryAfter, retryAfter)
		s.cfg.Logger.Warn("database away", "id", id, "method", c.Request().Method, "path", c.Path(), "error", err.Error())
	case f.status >= 500:
		s.cfg.Logger.Error("request failed", "id", id, "method", c.Request().Method, "path", c.Path(), "error", err.Error())
	}
	var answer error
	switch {
	case c.Request().Method == http.MethodHead:
		answer = c.NoContent(f.status)
	case isAPI(c), isScript(c):
		answer = writeProblem(c, problemOf(f, err, id))
	case isAway(err):
		answer = s.awayPage(c, f, id)
	default:
		answer = s.errorPage(c, f, id)
	}
	if answer != nil {
		s.cfg.Logger.Error("error page failed", "id", id, "error", answer.Error())
	}
}

func isAPI(c echo.Context) bool { return strings.HasPrefix(c.Request().URL.Path, "/api/") }

// problem is RFC 9457's body, with the field's name where one is at fault and
// the winner's decision where somebody was faster.
type problem struct {
	Type     string          `json:"type"`
	Title    string          `json:"title"`
	Status   int             `json:"status"`
	Detail   string          `json:"detail,omitempty"`
	Field    string          `json:"field,omitempty"`
	Instance string          `json:"instance,omitempty"`
	Decision *store.Decision `json:"decision,omitempty"`
	Holder   string          `json:"holder,omitempty"`
	Until    *time.Time      `json:"until,omitempty"`
}

func problemOf(f pageFault, err error, id string) problem {
	p := problem{Type: "about:blank", Title: f.title, Status: f.status, Detail: f.what, Instance: "urn:request:" + id}
	var field *store.FieldError
	switch {
	case errors.As(err, &field):
		p.Field, p.Detail = field.Field, field.Error()
	case errors.Is(err, store.ErrConflict):
		p.Detail = conflictDetail(err)
	}
	var decided *store.DecidedError
	if errors.As(err, &decided) {
		p.Detail, p.Decision = decided.Error(), &decided.Decision
	}
	var held *store.HeldError
	if errors.As(err, &held) {
		p.Detail, p.Holder, p.Until = held.Error(), held.HolderName, &held.Until
	}
	return p
}

// conflictDetail is the store's own sentence, without the names of the calls
// that it came up through.
func conflictDetail(err error) string {
	var expired *store.ExpiredError
	var stale *store.StaleError
	var refused *store.RefusedError
	switch {
	case errors.As(err, &refused):
		return refused.Why
	case errors.As(err, &expired):
		return expired.Error()
	case errors.As(err, &stale):
		return stale.Error()
	}
	text := strings.TrimSuffix(err.Error(), ": "+store.ErrConflict.Error())
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}

func writeProblem(c echo.Context, p problem) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return c.Blob(p.Status, "application/problem+json", body)
}
