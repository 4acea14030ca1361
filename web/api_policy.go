package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// policyVersionView is a policy as the API gives it: policy has the keys of the
// policy's file, since there is one way to write one.
type policyVersionView struct {
	Version int             `json:"version"`
	Policy  json.RawMessage `json:"policy"`
	Author  string          `json:"author"`
	Comment string          `json:"comment"`
	At      time.Time       `json:"at"`
	// Warnings are what of a policy that was set holds for nothing here.
	Warnings []string `json:"warnings,omitempty"`
}

func policyView(v store.PolicyVersion) (policyVersionView, error) {
	body, err := policyJSON(v.Policy)
	return policyVersionView{Version: v.Version, Policy: body, Author: v.Author, Comment: v.Comment, At: v.At}, err
}

// policyJSON is a policy's file as JSON.
func policyJSON(p judge.Policy) (json.RawMessage, error) {
	var keys map[string]any
	if err := yaml.Unmarshal(p.YAML(), &keys); err != nil {
		return nil, fmt.Errorf("a policy as JSON: %w", err)
	}
	return json.Marshal(keys)
}

func (s *Server) apiGetPolicy(c echo.Context) error {
	v, err := s.policyVersion(c, s.apiProject(c))
	if err != nil {
		return err
	}
	view, err := policyView(v)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, view)
}

// apiSetPolicy replaces the policy. Its version is the one that was changed: 409
// when another stands by now.
func (s *Server) apiSetPolicy(c echo.Context) error {
	var body struct {
		Policy  json.RawMessage `json:"policy"`
		Comment string          `json:"comment"`
	}
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	ctx, actor, project := c.Request().Context(), user(c).Actor(), s.apiProject(c)
	p, err := policyOfJSON(body.Policy)
	if err != nil {
		return err
	}
	if p.Version == 0 {
		return &store.FieldError{Field: "policy.version", Message: "is missing: name the version that was changed, so that nobody is overwritten unseen"}
	}
	judges, err := s.examplesJudges(ctx, project, p)
	if err != nil {
		return err
	}
	saved, err := s.cfg.Store.SetPolicy(ctx, actor, project, p, body.Comment, judges...)
	if err != nil {
		return err
	}
	s.cfg.Wake()
	v, err := s.cfg.Store.PolicyAt(ctx, actor, project, saved.Policy.Version)
	if err != nil {
		return err
	}
	view, err := policyView(v)
	if err != nil {
		return err
	}
	if view.Warnings, err = s.policyWarnings(ctx, project, p); err != nil {
		return err
	}
	few, err := s.exampleWarnings(ctx, project)
	if err != nil {
		return err
	}
	view.Warnings = append(view.Warnings, few...)
	if saved.Policy.Version == p.Version {
		view.Warnings = append(view.Warnings, "the policy says this already: it keeps its version, and the comment was not kept")
	}
	return c.JSON(http.StatusOK, view)
}

// apiDryRunPolicy says what a policy, or without one the present, would have sent
// to people.
func (s *Server) apiDryRunPolicy(c echo.Context) error {
	body := struct {
		Policy json.RawMessage `json:"policy"`
		Last   int             `json:"last"`
		Judge  string          `json:"judge"`
		Domain string          `json:"domain"`
	}{Last: usualDryRun}
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	ctx, actor, project := c.Request().Context(), user(c).Actor(), s.apiProject(c)
	if body.Last < 1 || body.Last > mostDryRun {
		return &store.FieldError{Field: "last", Message: "is not a whole number from 1 to " + thousands(mostDryRun)}
	}
	var p judge.Policy
	var err error
	if len(body.Policy) > 0 {
		p, err = policyOfJSON(body.Policy)
	} else {
		var now store.Project
		now, err = s.cfg.Store.ProjectNamed(ctx, project)
		p = now.Policy
	}
	if err != nil {
		return err
	}
	result, _, err := s.dryRun(ctx, actor, project, p, dryRunAsk{last: body.Last, judge: body.Judge, domain: body.Domain})
	if err != nil {
		return err
	}
	answer := dryRunAnswer{DryRunResult: result}
	if answer.Warnings, err = s.policyWarnings(ctx, project, p); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, answer)
}

// dryRunAnswer is a dry run, with what of its policy holds for nothing here.
type dryRunAnswer struct {
	harness.DryRunResult
	Warnings []string `json:"warnings,omitempty"`
}

// policyOfJSON reads a policy and tells all that is wrong with it. JSON is YAML,
// so the file's reader reads it.
func policyOfJSON(raw json.RawMessage) (judge.Policy, error) {
	if len(raw) == 0 {
		return judge.Policy{}, &store.FieldError{Field: "policy", Message: "is missing"}
	}
	p, faults := judge.ParsePolicy("policy", raw)
	if faults == nil {
		return p, nil
	}
	var lines []string
	walkErrors(faults, func(e error) {
		var at *judge.DefinitionError
		if errors.As(e, &at) {
			lines = append(lines, at.Msg)
			return
		}
		lines = append(lines, e.Error())
	})
	return p, &store.FieldError{Field: "policy", Message: "is at fault: " + strings.Join(lines, "; ")}
}
