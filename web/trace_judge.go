package web

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// judgeTrace queues an evaluation of one trace more: by a judge, and whoever the
// form names. What is there already is not judged twice.
func (s *Server) judgeTrace(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	t, err := s.target(c.FormValue("engine"), strings.TrimSpace(c.FormValue("model")), strings.TrimSpace(c.FormValue("samples")))
	if err != nil {
		return err
	}
	id := param(c, "id")
	queued, plan, err := s.queueEvaluation(c.Request().Context(), user(c).Actor(), project, id, c.FormValue("judge"), t)
	switch {
	case err != nil:
		return err
	case len(queued) == 0:
		s.flash(c, views.NoticeInfo, "That evaluation is there already; it is on this page.")
	case plan.Refused():
		s.flash(c, views.NoticeBad, "It was refused: "+plan.Message+".")
	default:
		text := "It is in the list of work now."
		if unused := unusedByRules(c.FormValue("engine"), strings.TrimSpace(c.FormValue("model")), strings.TrimSpace(c.FormValue("samples"))); unused != nil {
			text += " Of what you filled in, " + strings.Join(unused, "; ") + "."
		}
		s.flash(c, views.NoticeInfo, text)
	}
	return c.Redirect(http.StatusSeeOther, tracePath(id)+"#judges")
}

// queueEvaluation plans a judge by a target on a trace as any plan is made, so
// that what it lacks and where it may not go is told, and queues it.
func (s *Server) queueEvaluation(ctx context.Context, a store.Actor, project, id, name string, target judge.Target) ([]string, judge.Planned, error) {
	var none judge.Planned
	v, err := s.cfg.Store.GetTrace(ctx, a, project, id, 0)
	if err != nil {
		return nil, none, err
	}
	h, policy, err := s.judging(ctx, project)
	if err != nil {
		return nil, none, err
	}
	j, ok := h.Judge(name)
	if !ok {
		return nil, none, &store.FieldError{Field: "judge", Message: "is none of this project's judges"}
	}
	planned, err := judge.Planning{
		Judges: []judge.Judge{*j}, Only: []string{name}, Targets: []judge.Target{target}, ByName: true, ModelsByName: true,
		Policy: policy, Where: s.where,
	}.Plan(&v.Trace)
	if err != nil && len(planned) == 0 { // a report of a judge that is unknown here is no fault of this one
		return nil, none, err
	}
	planned = slices.DeleteFunc(planned, func(p judge.Planned) bool { return p.Engine == judge.EngineRecorded })
	if len(planned) == 0 {
		return nil, none, &store.FieldError{Field: "judge", Message: "can't judge this trace by that engine"}
	}
	plan := planned[0]
	ids, err := s.cfg.Store.QueueEvaluations(ctx, a, project, id, []judge.Planned{plan})
	if err != nil {
		return nil, none, err
	}
	if len(ids) > 0 {
		s.cfg.Wake()
	}
	return ids, plan, nil
}

// where an engine of this server sends texts, for the policy.
func (s *Server) where(engineKey string) judge.Endpoint {
	_, name, _ := strings.Cut(engineKey, "/")
	for _, e := range s.cfg.Endpoints {
		if e.Name == name {
			return judge.Endpoint{Name: e.Name, Host: e.Host}
		}
	}
	return judge.Endpoint{Name: name}
}
