package web

import (
	"context"
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

// shadowView is what the page of a judge tells of its shadow runs, and lets a lead
// start or stop.
func (s *Server) shadowView(ctx context.Context, a store.Actor, project, name string, versions []store.JudgeVersion) (views.ShadowSection, error) {
	v := views.ShadowSection{Href: judgePath(name) + "/shadow", Engines: s.targetChoices()}
	list, err := s.cfg.Store.Shadows(ctx, a, project, name)
	if err != nil {
		return v, err
	}
	for i, x := range list {
		row := views.ShadowRun{
			Version: x.Target.PromptVersion, Model: x.Target.Model, Share: percentWord(x.Share), Reason: x.Reason, Running: x.State == store.ShadowRunning,
			By: x.StartedBy, Since: x.StartedAt, StoppedBy: x.StoppedBy, StoppedAt: x.StoppedAt, StopReason: x.StopReason,
		}
		if i == 0 {
			row.Queued, row.Waiting, row.Counted = x.Queued, x.Waiting, true
		}
		v.Runs = append(v.Runs, row)
	}
	v.MayChange = isLead(a)
	if len(list) > 0 && list[0].State == store.ShadowRunning {
		v.Running = true
		return v, nil
	}
	for _, one := range versions {
		if s.shadowFault(ctx, project, one) != "" {
			continue
		}
		text := shortVersion(one.PromptVersion)
		if one.Current {
			text += ", in use"
		}
		v.Versions = append(v.Versions, views.Choice{Value: one.PromptVersion, Text: text})
	}
	return v, nil
}

// shadowFault says why this server can't judge by a version; empty: it can.
func (s *Server) shadowFault(ctx context.Context, project string, v store.JudgeVersion) string {
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return "can't be judged by now: " + err.Error()
	}
	if j, ok := h.Judge(v.Name); ok && j.VersionOf(v.PromptVersion) != nil {
		return ""
	}
	switch {
	case v.Builtin:
		return "is of another program, or of other worked examples: this one does not have its code"
	case !runnable(v):
		return "is not what its stored definition gives in this program"
	}
	return ""
}

// startShadow lets a version judge beside the one in use.
func (s *Server) startShadow(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	name := param(c, "name")
	sh, err := s.shadowAsked(c.Request().Context(), user(c).Actor(), project, name, form)
	if err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, fmt.Sprintf("Version %s now judges %s of the new traces in the shadow.", shortVersion(sh.Target.PromptVersion), percentWord(sh.Share)))
	return c.Redirect(http.StatusSeeOther, judgePath(name)+"#shadow")
}

func (s *Server) shadowAsked(ctx context.Context, a store.Actor, project, name string, form url.Values) (none store.Shadow, err error) {
	target, err := s.target(form.Get("engine"), strings.TrimSpace(form.Get("model")), "")
	if err != nil {
		return none, err
	}
	share, err := decimal(form.Get("share"))
	if err != nil {
		return none, &store.FieldError{Field: "share", Message: "is not a number like 0.25"}
	}
	version, err := s.cfg.Store.JudgeVersion(ctx, a, project, name, form.Get("version"))
	if err != nil {
		return none, err
	}
	if why := s.shadowFault(ctx, project, version); why != "" {
		return none, &store.FieldError{Field: "version", Message: why}
	}
	_, policy, err := s.judging(ctx, project)
	if err != nil {
		return none, err
	}
	planned := judge.Planned{Judge: name, PromptVersion: version.PromptVersion, Engine: target.Engine, Model: target.Model, Endpoint: target.Endpoint, Judgment: judge.NoJudgment}
	if target.Engine == judge.EngineOpenAI {
		if _, message := policy.For(name, "", judge.StandardStakes).Refusal(s.where(planned.EngineKey())); message != "" {
			return none, &store.FieldError{Field: "engine", Message: "is not allowed by the policy: " + message}
		}
	}
	return s.cfg.Store.StartShadow(ctx, a, project, planned, share, form.Get("reason"))
}

// stopShadow ends it; what is queued is still judged.
func (s *Server) stopShadow(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	name := param(c, "name")
	if err := s.cfg.Store.StopShadow(c.Request().Context(), user(c).Actor(), project, name, form.Get("reason")); err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "The shadow is stopped. What was queued for it is still judged.")
	return c.Redirect(http.StatusSeeOther, judgePath(name)+"#shadow")
}

// percentWord writes a share as people say it: 30%, 12.5%.
func percentWord(share float64) string {
	return strconv.FormatFloat(100*share, 'g', 4, 64) + "%"
}
