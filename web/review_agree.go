package web

import (
	"net/url"

	"github.com/labstack/echo/v4"
)

// agreeField names, by its key, the part of an item on which the person agrees with
// the judge in all.
const agreeField = "agree"

// agreeHere puts the judge's choices on one part of an item into a form, when its
// button "Agree with the judge here" was pressed on a page without script. It gives
// the address of the part to go on with; empty: the button was not pressed. On a
// sealed item there is nothing to agree with.
func (s *Server) agreeHere(c echo.Context, id string, form url.Values) (next string, err error) {
	key := form.Get(agreeField)
	if key == "" {
		return "", nil
	}
	r, err := s.cfg.Store.GetReview(c.Request().Context(), user(c).Actor(), id)
	if err != nil {
		return "", err
	}
	d, err := s.deskItem(c.Request().Context(), r)
	if err != nil {
		return "", err
	}
	next = "main"
	for i := range d.sheet.Units {
		u := &d.sheet.Units[i]
		if u.Key != key {
			continue
		}
		for _, p := range u.Parts {
			if p.Judged != "" {
				form.Set(rulingField+p.Key, p.Judged)
			}
		}
		next = anchorOf(u, i)
		if i+1 < len(d.sheet.Units) {
			next = anchorOf(&d.sheet.Units[i+1], i+1)
		}
	}
	return next, nil
}
