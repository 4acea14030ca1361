package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// retryAfter is when a client may ask again while the database is away, in
// seconds: it is mostly a restart.
const retryAfter = "5"

// plainly adds in plain words what keeps the database from working, when err
// comes from that. What was wrong with a request stays as it is: a body that
// was cut off is an error of the network, too.
func (s *Server) plainly(err error) error {
	var own *pageFault
	var he *echo.HTTPError
	var field *store.FieldError
	if isAway(err) || errors.As(err, &own) || errors.As(err, &he) || errors.As(err, &field) {
		return err
	}
	if trouble := s.cfg.Store.Trouble(err); trouble != nil {
		return fmt.Errorf("%w: %w", trouble, err)
	}
	return err
}

func isAway(err error) bool {
	var away *store.TroubleError
	return errors.As(err, &away)
}

// awayFault is the database's trouble as people and clients read it.
func awayFault(away *store.TroubleError, err error) pageFault {
	what := strings.TrimSuffix(away.What, ", nothing was stored")
	return pageFault{
		status: http.StatusServiceUnavailable, err: err, title: "The data can't be reached now",
		what: strings.ToUpper(what[:1]) + what[1:] + ". Nothing of this request is confirmed as stored, and it may be sent again: nothing is recorded twice.",
		next: "Try again in a few seconds. If it goes on, give your operator the id below.",
	}
}

// awayPage needs no database, not even to know who asks. A form that could not
// be stored is on it, to be sent again as it was.
func (s *Server) awayPage(c echo.Context, fault pageFault, id string) error {
	p := views.ErrorPage{
		Frame: s.bareFrame(c, fault.title), Status: fault.status, Heading: fault.title, What: fault.what, Do: fault.next, ID: id,
		Safe: "Everything that was confirmed to you before is stored.",
	}
	r := c.Request()
	switch {
	case r.Method == http.MethodGet:
		p.LinkHref, p.LinkText = localPath(r.URL.RequestURI()), "Try again"
	case resendable(r):
		p.Again = &views.FormAgain{Path: localPath(r.URL.RequestURI()), Fields: fieldsOf(r)}
	default:
		p.Do = "Go back in your browser and send it again in a few seconds. If it goes on, give your operator the id below."
		p.LinkHref, p.LinkText = "/", "Go to the overview"
	}
	return s.render(c, fault.status, views.Error(p))
}

// resendable says that a request was a form that may stand on a page: no file,
// and no password.
func resendable(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Path != "/login" && r.MultipartForm == nil && len(r.PostForm) > 0
}

// fieldsOf are the form's fields by name, without its token, of which the page
// has a new one.
func fieldsOf(r *http.Request) []views.FieldAgain {
	var all []views.FieldAgain
	for name, values := range r.PostForm {
		if name == "_csrf" {
			continue
		}
		for _, value := range values {
			all = append(all, views.FieldAgain{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(all, func(a, b views.FieldAgain) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// lookupLimit bounds finding out who asks, which every page and call begins
// with. It takes a millisecond; a database that was cut off without a word would
// hold it for many minutes.
const lookupLimit = 5 * time.Second

// whoAsks finds a user, within lookupLimit.
func whoAsks(c echo.Context, find func(context.Context) (store.User, error)) (store.User, error) {
	ctx, cancel := context.WithTimeout(c.Request().Context(), lookupLimit)
	defer cancel()
	u, err := find(ctx)
	if err != nil && ctx.Err() != nil && c.Request().Context().Err() == nil {
		err = fmt.Errorf("%w: %w", &store.TroubleError{
			What: "the database did not answer in time", Do: "see that its server runs and can be reached",
		}, err)
	}
	return u, err
}

// unreadable is a request whose body can't be read to its end: the client's
// fault or the network's, never the database's.
func unreadable(err error) error {
	var he *echo.HTTPError
	if errors.As(err, &he) { // it is too large
		return err
	}
	return &pageFault{
		status: http.StatusBadRequest, err: err, title: "The request can't be read",
		what: "It was cut off, or is not of the form that it says. Nothing was recorded.", next: "Send it again.",
	}
}
