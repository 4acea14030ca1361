package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// drawLabels draws a whole plan at random: of each verdict of the judge what the form
// says.
func (s *Server) drawLabels(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	ask := store.DrawAsk{Judge: param(c, "judge"), Model: form.Get("model"), PromptVersion: form.Get("version"), Visible: form.Get("visible") == "1", Token: form.Get("token")}
	n := 0
	if ask.Take, n, err = taken(form); err != nil {
		return err
	}
	back := planPath(ask.Judge) + seriesQuery(ask.PromptVersion, ask.Model)
	d, err := s.cfg.Store.DrawLabels(c.Request().Context(), user(c).Actor(), project, ask)
	switch {
	case errors.Is(err, store.ErrConflict):
		s.flash(c, views.NoticeBad, "Nothing was drawn: either all of it is labelled or waits already, or so little is left that no blind draw can be made, or other work came between. Below is how it stands now.")
		return c.Redirect(http.StatusSeeOther, back)
	case err != nil:
		return err
	}
	kind := views.NoticeInfo
	if d.Again {
		kind = views.NoticeBad
	}
	s.flash(c, kind, drawnWords(d, n))
	return c.Redirect(http.StatusSeeOther, back)
}

// taken reads how many of each verdict a form asks for.
func taken(form url.Values) (take map[judge.Verdict]int, sum int, err error) {
	take = map[judge.Verdict]int{}
	for _, v := range []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail} {
		text := strings.ReplaceAll(strings.TrimSpace(form.Get(takeField(string(v)))), ",", "")
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > store.MostDrawn {
			return nil, 0, &store.FieldError{Field: "n", Message: fmt.Sprintf("is %q: it is a whole number from 0 to %s", text, thousands(store.MostDrawn))}
		}
		take[v], sum = n, sum+n
	}
	return take, sum, nil
}

func takeField(verdict string) string { return "take-" + verdict }

// drawnWords say what a draw did.
func drawnWords(d store.LabelDraw, asked int) string {
	wait := "They wait in the queue, blind, and their results wait with them."
	if d.Visible {
		wait = "They wait in the queue, and their results wait with them. Their labels count as given with the verdict in sight."
	}
	switch {
	case d.Again:
		return fmt.Sprintf("This form was used already: draw %d by %s drew %s with it. Nothing more was drawn. Plan anew below to draw more.", d.Number, d.By, counted(d.N, "evaluation"))
	case d.N < asked:
		return fmt.Sprintf("Only %s could be drawn. %s", counted(d.N, "evaluation"), wait)
	}
	return fmt.Sprintf("%s of %s drawn at random. %s", counted(d.N, "evaluation"), thousands(d.Frame)+" "+plural(d.N, "was", "were"), wait)
}

// offerDraw says what the plan would draw, and whether it can.
func offerDraw(p *views.PlanPage, free int) {
	with, sum := 0, 0
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Take = takeField(r.Verdict); r.N > 0 {
			with, sum = with+1, sum+r.N
		}
	}
	p.Drawable = sum > 0
	switch {
	case free == 0:
		p.Offer = "Nothing can be drawn: all is labelled or waits."
	case sum == 0:
	case sum > store.MostDrawn:
		p.Drawable, p.Offer = false, fmt.Sprintf("One draw takes at most %s: plan fewer.", thousands(store.MostDrawn))
	case sum < store.FewestBlind && sum < free:
		p.Drawable, p.Offer = false, fmt.Sprintf("One draw takes at least %d, or all there are: with fewer, counts that change would tell what the judge said of each. Plan more.", store.FewestBlind)
	case with == 1:
		p.Visible, p.Offer = true, "Only one verdict of the judge has anything left to draw, so whoever answers knows what the judge said. These labels will count as given with the verdict in sight: figures of blind labels leave them out, and what is said above of blind labels does not come about by them."
	case sum < store.FewestBlind:
		p.Visible, p.Offer = true, fmt.Sprintf("Fewer than %d are left, so counts that change tell what the judge said of them. These labels will count as given with the verdict in sight: figures of blind labels leave them out, and what is said above of blind labels does not come about by them.", store.FewestBlind)
	default:
		p.Offer = "The whole plan is one draw, over all that the judge said. A draw from one verdict alone would tell whoever answers what the judge said."
	}
}
