package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// proposed is what a person put into one of the two forms.
type proposed struct {
	form    string // fields or yaml
	yaml    string // as written
	base    int    // the version that the fields were made from
	version int    // the version that was present when the form was made
	comment string
	values  url.Values
}

func readProposed(c echo.Context) (p proposed, err error) {
	if p.values, err = c.FormParams(); err != nil {
		return p, unreadable(err)
	}
	p.form, p.yaml, p.comment = p.values.Get("form"), p.values.Get("yaml"), p.values.Get("comment")
	if p.form != "fields" && p.form != "yaml" {
		return p, &store.FieldError{Field: "form", Message: "is neither fields nor yaml"}
	}
	if p.version, err = strconv.Atoi(p.values.Get("version")); err != nil {
		return p, &store.FieldError{Field: "version", Message: "is not the number of a policy's version"}
	}
	if p.base = p.version; p.values.Get("base") != "" {
		if p.base, err = strconv.Atoi(p.values.Get("base")); err != nil {
			return p, &store.FieldError{Field: "base", Message: "is not the number of a policy's version"}
		}
	}
	return p, nil
}

// policy reads the proposal. The second result is what is wrong with it, the
// error a fault of another kind.
func (p proposed) policy(base judge.Policy) (policy judge.Policy, faults error) {
	if p.form == "yaml" {
		policy, faults = judge.ParsePolicy("policy", []byte(p.yaml))
	} else {
		policy, faults = policyOf(base, p.values)
	}
	policy.Version = p.version
	return policy, faults
}

// changePolicy stores what one of the forms says, unless somebody was faster.
func (s *Server) changePolicy(c echo.Context) error {
	asked, err := readProposed(c)
	if err != nil {
		return err
	}
	page, policy, bad, err := s.proposal(c, asked)
	switch {
	case err != nil:
		return err
	case bad:
		return s.render(c, http.StatusUnprocessableEntity, views.Policy(page))
	}
	judges, err := s.examplesJudges(c.Request().Context(), page.Project, policy)
	if err != nil {
		return err
	}
	saved, err := s.cfg.Store.SetPolicy(c.Request().Context(), user(c).Actor(), page.Project, policy, asked.comment, judges...)
	var field *store.FieldError
	switch {
	case errors.Is(err, store.ErrConflict):
		return s.policyConflict(c, page)
	case errors.As(err, &field):
		page.FaultsIn, page.Faults = asked.form, []views.PolicyFault{{Text: sentenceOf(field)}}
		return s.render(c, http.StatusUnprocessableEntity, views.Policy(page))
	case err != nil:
		return err
	}
	s.cfg.Wake()
	s.flash(c, views.NoticeInfo, savedWords(saved.Policy.Version, policy.Version))
	return c.Redirect(http.StatusSeeOther, "/policy")
}

// savedWords tell which version counts now. before is the one that was changed.
func savedWords(now, before int) string {
	if now == before {
		return fmt.Sprintf("This is what version %d of the policy says already. Nothing was changed.", now)
	}
	return fmt.Sprintf("Version %d of the policy counts from the next evaluation on. What was judged before stays as it is.", now)
}

// proposal makes the page with the proposal in its forms. bad: it can't be
// stored, and the page says why.
func (s *Server) proposal(c echo.Context, asked proposed) (page views.PolicyPage, policy judge.Policy, bad bool, err error) {
	ctx := c.Request().Context()
	page, present, err := s.policyPage(c)
	if err != nil {
		return page, policy, false, err
	}
	base := present
	if asked.form == "fields" && asked.base != present.Version {
		if base, err = s.cfg.Store.PolicyAt(ctx, user(c).Actor(), page.Project, asked.base); err != nil {
			return page, policy, false, err
		}
	}
	s.fillPolicy(&page, present)
	policy, faults := asked.policy(base.Policy)
	page.Unsaved, page.Note = true, asked.comment
	if faults == nil {
		s.fillForms(&page, policy)
		page.Warnings, err = s.policyWarnings(ctx, page.Project, policy)
	} else {
		page.FaultsIn, page.Faults = asked.form, faultLines(faults)
		if asked.form == "fields" {
			page.Fields = fieldsAsSent(page.Fields, asked.values)
		}
	}
	if asked.form == "yaml" {
		page.YAML = asked.yaml
	}
	return page, policy, faults != nil, err
}

// examplesJudges are the judges for which a policy asks for drawn examples.
func (s *Server) examplesJudges(ctx context.Context, project string, p judge.Policy) ([]judge.Judge, error) {
	asked := p.WithExamples()
	if len(asked) == 0 {
		return nil, nil
	}
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return nil, err
	}
	var judges []judge.Judge
	for name := range asked {
		if j, ok := h.Judge(name); ok {
			judges = append(judges, *j)
		}
	}
	return judges, nil
}

// exampleWarnings say of which judges too few examples could be drawn under the
// present policy.
func (s *Server) exampleWarnings(ctx context.Context, project string) ([]string, error) {
	draws, err := s.cfg.Store.ExampleDraws(ctx, project)
	var warnings []string
	for _, d := range draws {
		if w := d.Warning(); w != "" {
			warnings = append(warnings, w)
		}
	}
	return warnings, err
}

// policyWarnings say what of a policy holds for nothing as things are here. Judges
// are all that the project has had, and those that it would judge with now.
func (s *Server) policyWarnings(ctx context.Context, project string, p judge.Policy) ([]string, error) {
	stored, err := s.cfg.Store.Judges(ctx, project)
	if err != nil {
		return nil, err
	}
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, j := range stored {
		names = append(names, j.Name)
	}
	names = append(names, h.JudgeNames()...)
	slices.Sort(names)
	warnings := p.UnknownJudges(slices.Compact(names))
	if len(s.cfg.Endpoints) == 0 && p.AsksModels() {
		warnings = append(warnings, "this server has the engine rules only, which asks no model: models and samples change nothing here")
	}
	return warnings, nil
}

// policyConflict shows both: what was sent, and what somebody saved first. Sent
// again the form replaces the latter, knowingly.
func (s *Server) policyConflict(c echo.Context, page views.PolicyPage) error {
	all, err := s.cfg.Store.Policies(c.Request().Context(), user(c).Actor(), page.Project)
	if err != nil {
		return err
	}
	now := all[0]
	text := now.Policy
	text.Version = 0
	page.Present = now.Version
	page.Conflict = &views.PolicyConflict{Version: now.Version, Author: now.Author, At: now.At, YAML: string(text.YAML())}
	return s.render(c, http.StatusConflict, views.Policy(page))
}

// faultLines are the faults of a policy as a page lists them.
func faultLines(err error) []views.PolicyFault {
	var lines []views.PolicyFault
	walkErrors(err, func(e error) {
		var at *judge.DefinitionError
		var field *judge.PolicyFault
		switch {
		case errors.As(e, &at):
			lines = append(lines, views.PolicyFault{Line: at.Line, Text: at.Msg})
		case errors.As(e, &field) && field.Path == "":
			lines = append(lines, views.PolicyFault{Text: field.Msg})
		default:
			lines = append(lines, views.PolicyFault{Text: e.Error()})
		}
	})
	return lines
}

// fieldsAsSent keeps what a person typed beside what is wrong with it.
func fieldsAsSent(f views.PolicyFields, form url.Values) views.PolicyFields {
	for name, field := range map[string]*string{
		"random_audit": &f.RandomAudit, "boundary_audit": &f.BoundaryAudit, "boundary_width": &f.BoundaryWidth, "seed": &f.Seed,
		"blind": &f.Blind, "blind_share": &f.BlindShare, "due_high": &f.DueHigh, "due_standard": &f.DueStandard, "lease_minutes": &f.Lease,
		"opinions": &f.Opinions, "cannot_judge": &f.CannotJudge, "undo_seconds": &f.Undo,
		"domains": &f.Domains, "endpoints": &f.Endpoints, "models": &f.Models, "samples": &f.Samples, "temperature": &f.Temperature,
		"budget": &f.Budget, "between": &f.Between, "min_kappa": &f.MinKappa, "min_labels": &f.MinLabels, "max_miss_rate": &f.MaxMissRate,
		"slice_labels": &f.SliceLabels, "slice_kappa": &f.SliceKappa, "release_pass_rate": &f.ReleasePassRate,
	} {
		*field = form.Get(name)
	}
	f.EndpointsNamed, f.Recorded = form.Get("endpoints_named") == "on", form.Get("recorded") == "on"
	for i := range f.Reasons {
		r := &f.Reasons[i]
		r.High, r.Standard = form.Get("reason."+r.Code+".high"), form.Get("reason."+r.Code+".standard")
	}
	return f
}
