package web

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// promoteForm says whether the second competitor can be made the version in use, and
// if not what to do. A version can be promoted that this program can run: an own one
// whose stored definition it understands as that version.
func promoteForm(r store.Comparison, versions []store.JudgeVersion) *views.PromoteForm {
	a, b := r.Competitors[0], r.Competitors[1]
	f := &views.PromoteForm{Href: judgePath(r.Judge) + "/promote", Name: shortVersion(b.PromptVersion), A: competitorName(a), B: competitorName(b)}
	if a.Model != b.Model {
		f.Model = fmt.Sprintf("B was judged by %s. Which model judges new traces is no part of a version: set it under models in the policy, for judge %s, or in the configuration of the server.", b.Model, r.Judge)
	}
	var version *store.JudgeVersion
	for i := range versions {
		if versions[i].PromptVersion == b.PromptVersion {
			version = &versions[i]
		}
	}
	switch {
	case version == nil:
		f.Why = "B came with recorded reports under a version that this project has no definition of, so it can’t judge here. Import with its definition (--judges) to have it."
	case version.Current:
		f.Why = "B’s version is the one in use already."
	case version.Builtin:
		f.Why = "This judge is built in: its versions come with the program, its rubric and the worked examples that the policy asks for. Start the program, or set the policy, with which B was made."
	case !runnable(*version):
		f.Why = "B’s definition gives another version here: its worked examples were drawn by a policy, or it was written for another program. Give the definition again with --judges, and run it in the shadow."
	}
	return f
}

// runnable says that this program makes that version of its stored definition.
func runnable(v store.JudgeVersion) bool {
	j, err := judge.ParseDefinition(v.Name, []byte(v.Definition))
	return err == nil && j.PromptVersion == v.PromptVersion
}

// promoteJudge makes the second competitor's version the one in use.
func (s *Server) promoteJudge(c echo.Context) error {
	project, name, back, err := s.postedComparison(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	who, err := s.postedCompetitors(c, project, name)
	if err != nil {
		return err
	}
	versions, err := s.cfg.Store.JudgeVersions(ctx, actor, project, name)
	if err != nil {
		return err
	}
	r, err := s.cfg.Store.CompareJudges(ctx, actor, project, name, who)
	if err != nil {
		return err
	}
	form := promoteForm(r, versions)
	if form.Why != "" {
		return &pageFault{status: http.StatusConflict, title: "B can’t be made the one in use", what: form.Why, next: "Go back to the comparison."}
	}
	if err := s.cfg.Store.Promote(ctx, actor, project, name, who[1].PromptVersion, c.FormValue("comment"), r.Evidence()); err != nil {
		return err
	}
	s.cfg.Wake()
	s.flash(c, views.NoticeInfo, "New traces are judged by version "+form.Name+" from now on.")
	return c.Redirect(http.StatusSeeOther, back+"#promote")
}
