package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// chosen is who is compared, as an address names them.
type chosen struct {
	a, b string
	also []string
}

func (ch chosen) none() bool { return ch.a == "" && ch.b == "" }

// query is the same as an address has it.
func (ch chosen) query() string {
	q := url.Values{"a": {ch.a}, "b": {ch.b}}
	for _, more := range ch.also {
		q.Add("also", more)
	}
	return "?" + q.Encode()
}

func readChosen(q url.Values) chosen {
	return chosen{q.Get("a"), q.Get("b"), slices.DeleteFunc(slices.Clone(q["also"]), func(v string) bool { return v == "" })}
}

// competitorName is how an address names one.
func competitorName(c calibration.Competitor) string { return c.PromptVersion + "," + c.Model }

// find gives those that were chosen, of those that there are.
func (ch chosen) find(known []calibration.Competitor) (who []calibration.Competitor, err error) {
	for i, name := range append([]string{ch.a, ch.b}, ch.also...) {
		field := "also"
		if i < 2 {
			field = string(rune('a' + i))
		}
		one, err := store.FindCompetitor(known, field, name)
		if err != nil {
			return nil, err
		}
		who = append(who, one)
	}
	return who, nil
}

func (s *Server) comparisonOf(ctx context.Context, a store.Actor, project, name string, ch chosen) (store.Comparison, error) {
	known, err := s.cfg.Store.Competitors(ctx, a, project, name)
	if err != nil {
		return store.Comparison{}, err
	}
	who, err := ch.find(known)
	if err != nil {
		return store.Comparison{}, err
	}
	return s.cfg.Store.CompareJudges(ctx, a, project, name, who)
}

// apiCompareJudges is what `countersign judges compare --json` writes.
func (s *Server) apiCompareJudges(c echo.Context) error {
	q := c.QueryParams()
	for _, field := range []string{"a", "b"} {
		if q.Get(field) == "" {
			return &store.FieldError{Field: field, Message: "is missing: name a version, a comma and a model"}
		}
	}
	r, err := s.comparisonOf(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "name"), readChosen(q))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, r)
}

// comparisonJSON is the same as a file, for who reads the page.
func (s *Server) comparisonJSON(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	r, err := s.comparisonOf(c.Request().Context(), user(c).Actor(), project, param(c, "name"), readChosen(c.QueryParams()))
	if err != nil {
		return err
	}
	return c.JSONPretty(http.StatusOK, r, "  ")
}

func (s *Server) showCompare(c echo.Context) error {
	ctx, actor, name := c.Request().Context(), user(c).Actor(), param(c, "name")
	f, err := s.frame(c, "Compare: "+name, views.TabJudges)
	if err != nil {
		return err
	}
	known, err := s.cfg.Store.Competitors(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	versions, err := s.cfg.Store.JudgeVersions(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	current := currentOf(versions)
	ch := readChosen(c.QueryParams())
	p := views.ComparePage{JudgeHead: judgeHead(f, actor, name, current.Snapshot.Description, "compare"), Form: compareForm(name, known, current.PromptVersion, ch)}
	if ch.none() {
		return s.render(c, http.StatusOK, views.Compare(p))
	}
	who, err := ch.find(known)
	var r store.Comparison
	if err == nil {
		r, err = s.cfg.Store.CompareJudges(ctx, actor, f.Project, name, who)
	}
	var field *store.FieldError
	if errors.As(err, &field) {
		p.Fault = sentenceOf(field)
		return s.render(c, http.StatusUnprocessableEntity, views.Compare(p))
	}
	if err != nil {
		return err
	}
	shown := comparisonView(r, current.PromptVersion)
	shown.JSONHref = judgePath(name) + "/compare.json" + ch.query()
	p.Shown = &shown
	p.Split = splitView(r)
	p.Look = views.TestLook{A: competitorName(r.Competitors[0]), B: competitorName(r.Competitors[1])}
	if isLead(actor) {
		if r.Split == nil {
			p.Split.LockHref = judgePath(name) + "/test-split"
		} else if r.Split.N > 0 {
			p.Look.Href = judgePath(name) + "/test-split/look"
		}
		p.Promote = promoteForm(r, versions)
	}
	return s.render(c, http.StatusOK, views.Compare(p))
}

// currentOf is the version in use, or the newest.
func currentOf(versions []store.JudgeVersion) store.JudgeVersion {
	if at := slices.IndexFunc(versions, func(v store.JudgeVersion) bool { return v.Current }); at >= 0 {
		return versions[at]
	}
	return versions[0]
}

// compareForm offers what there is. Without a choice, the version in use is A and
// another one B.
func compareForm(name string, known []calibration.Competitor, current string, ch chosen) views.CompareForm {
	f := views.CompareForm{Action: judgePath(name) + "/compare", A: ch.a, B: ch.b, CanThree: len(known) > 2}
	if len(ch.also) > 0 {
		f.Also = ch.also[0]
	}
	for _, one := range known {
		text := "version " + shortVersion(one.PromptVersion) + " by " + one.Model
		if one.PromptVersion == current {
			text += ", in use"
		}
		f.Choices = append(f.Choices, views.Choice{Value: competitorName(one), Text: text})
	}
	if ch.none() && len(known) > 1 {
		first := max(0, slices.IndexFunc(known, func(o calibration.Competitor) bool { return o.PromptVersion == current }))
		second := slices.IndexFunc(known, func(o calibration.Competitor) bool { return o != known[first] })
		f.A, f.B = competitorName(known[first]), competitorName(known[second])
	}
	// What was named by its first digits is chosen all the same.
	for _, value := range []*string{&f.A, &f.B, &f.Also} {
		if one, err := store.FindCompetitor(known, "", *value); err == nil {
			*value = competitorName(one)
		}
	}
	return f
}

// lockTestSplit keeps a share of the labels for the last comparison.
func (s *Server) lockTestSplit(c echo.Context) error {
	project, name, back, err := s.postedComparison(c)
	if err != nil {
		return err
	}
	share, err := decimal(c.FormValue("share"))
	if err != nil {
		return &store.FieldError{Field: "share", Message: "is not a number like 0.5"}
	}
	if err := s.cfg.Store.LockTestSplit(c.Request().Context(), user(c).Actor(), project, name, share, c.FormValue("comment")); err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "The test split is locked. Its labels are left out of this page from now on.")
	return c.Redirect(http.StatusSeeOther, back+"#test-split")
}

// lookAtTestSplit records a look.
func (s *Server) lookAtTestSplit(c echo.Context) error {
	project, name, back, err := s.postedComparison(c)
	if err != nil {
		return err
	}
	who, err := s.postedCompetitors(c, project, name)
	if err != nil {
		return err
	}
	look, err := s.cfg.Store.LookAtTestSplit(c.Request().Context(), user(c).Actor(), project, name, who)
	if err != nil {
		return err
	}
	said := "Look " + strconv.Itoa(look.Number) + " at the test split is recorded."
	if look.Again {
		said = "No label of these two has changed since look " + strconv.Itoa(look.Number) + ": that one is shown, and none is spent."
	}
	s.flash(c, views.NoticeInfo, said)
	return c.Redirect(http.StatusSeeOther, back+"#test-split")
}

// postedComparison reads what every form of the page brings: what it goes back to.
func (s *Server) postedComparison(c echo.Context) (project, name, back string, err error) {
	form, err := c.FormParams()
	if err != nil {
		return "", "", "", unreadable(err)
	}
	project, err = s.project(c)
	name = param(c, "name")
	return project, name, judgePath(name) + "/compare" + readChosen(form).query(), err
}

func (s *Server) postedCompetitors(c echo.Context, project, name string) ([]calibration.Competitor, error) {
	known, err := s.cfg.Store.Competitors(c.Request().Context(), user(c).Actor(), project, name)
	if err != nil {
		return nil, err
	}
	return chosen{a: c.FormValue("a"), b: c.FormValue("b")}.find(known)
}
