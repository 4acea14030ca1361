package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// anyVersion is the newest a policy may have; a bound for the parameter.
const anyVersion = 1_000_000_000

// usualDryRun is how many evaluations a dry run looks at where nobody says.
const usualDryRun = 1000

func (s *Server) showPolicy(c echo.Context) error {
	p, present, err := s.policyPage(c)
	if err != nil {
		return err
	}
	shown := present
	version, err := intParam(c, "version", present.Version, 1, anyVersion)
	if err != nil {
		return err
	}
	if version != present.Version {
		if shown, err = s.cfg.Store.PolicyAt(c.Request().Context(), user(c).Actor(), p.Project, version); err != nil {
			return err
		}
	}
	s.fillPolicy(&p, shown)
	if version == present.Version {
		if p.Warnings, err = s.policyWarnings(c.Request().Context(), p.Project, shown.Policy); err != nil {
			return err
		}
		few, err := s.exampleWarnings(c.Request().Context(), p.Project)
		if err != nil {
			return err
		}
		p.Warnings = append(p.Warnings, few...)
		if err := s.tryBand(c, &p, shown.Policy); err != nil {
			return err
		}
	}
	return s.render(c, http.StatusOK, views.Policy(p))
}

// policyYAML is the file that "countersign policy set" takes.
func (s *Server) policyYAML(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	v, err := s.policyVersion(c, project)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", project+"-policy-"+strconv.Itoa(v.Version)+".yaml"))
	return c.Blob(http.StatusOK, "application/yaml", v.Policy.YAML())
}

// policyVersion is the policy that the parameter version names, else the present.
func (s *Server) policyVersion(c echo.Context, project string) (store.PolicyVersion, error) {
	version, err := intParam(c, "version", 0, 1, anyVersion)
	if err != nil {
		return store.PolicyVersion{}, err
	}
	if version == 0 {
		p, err := s.cfg.Store.ProjectNamed(c.Request().Context(), project)
		if err != nil {
			return store.PolicyVersion{}, err
		}
		version = p.Policy.Version
	}
	return s.cfg.Store.PolicyAt(c.Request().Context(), user(c).Actor(), project, version)
}

// policyPage has the frame, the history and the choices of every page of a
// policy, and the present one.
func (s *Server) policyPage(c echo.Context) (p views.PolicyPage, present store.PolicyVersion, err error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	f, err := s.frame(c, "Policy", views.TabPolicy)
	if err != nil {
		return p, present, err
	}
	all, err := s.cfg.Store.Policies(ctx, actor, f.Project)
	if err != nil {
		return p, present, err
	}
	if len(all) == 0 {
		return p, present, errors.New("the project has no policy")
	}
	present = all[0]
	p = views.PolicyPage{Frame: f, Present: present.Version, MayChange: isLead(actor), MayRequeue: isLead(actor), Last: strconv.Itoa(usualDryRun)}
	if p.Judges, err = s.judgeChoices(c, f.Project); err != nil {
		return p, present, err
	}
	for _, v := range all {
		p.History = append(p.History, views.PolicyVersion{
			Version: v.Version, Href: "/policy?version=" + strconv.Itoa(v.Version), Author: v.Author, Comment: v.Comment, At: v.At,
		})
	}
	return p, present, nil
}

// fillPolicy shows a stored policy.
func (s *Server) fillPolicy(p *views.PolicyPage, v store.PolicyVersion) {
	p.Version, p.Author, p.Comment, p.At = v.Version, v.Author, v.Comment, v.At
	for i := range p.History {
		p.History[i].Shown = p.History[i].Version == v.Version
	}
	s.fillForms(p, v.Policy)
}

// fillForms writes a policy into both forms and the table of rules. The text has
// no version: the form sends the one that it was made from.
func (s *Server) fillForms(p *views.PolicyPage, policy judge.Policy) {
	p.Fields = policyFields(policy, s.cfg.Endpoints)
	p.Rules = policyRules(policy)
	p.Reviewing = reviewRules(policy)
	policy.Version = 0
	p.YAML = string(policy.YAML())
}

// policyRules says rules in words.
func policyRules(p judge.Policy) []views.PolicyRule {
	var rules []views.PolicyRule
	for _, r := range p.Rules {
		rules = append(rules, views.PolicyRule{Judge: r.Judge, Domain: r.Domain, Says: ruleSays(r)})
	}
	return rules
}

func ruleSays(r judge.PolicyRule) (says []string) {
	say := func(format string, args ...any) { says = append(says, fmt.Sprintf(format, args...)) }
	if b := r.Band; b != nil {
		say("fail below %s, pass from %s", numberText(b.Low), numberText(b.Pass))
	}
	if r.Below != nil {
		say("a part below %s is too low", numberText(*r.Below))
	}
	for _, a := range []struct {
		what  string
		share *float64
	}{{"random audit", r.RandomAudit}, {"boundary audit", r.BoundaryAudit}} {
		if a.share != nil {
			say("%s %s%%", a.what, percentText(*a.share))
		}
	}
	if r.BoundaryWidth != nil {
		say("a boundary is within %s", numberText(*r.BoundaryWidth))
	}
	switch {
	case r.Endpoints == nil:
	case len(r.Endpoints) == 0:
		say("texts are sent nowhere")
	default:
		say("sent to %s only", strings.Join(r.Endpoints, ", "))
	}
	if len(r.Models) > 0 {
		var names []string
		for _, m := range r.Models {
			names = append(names, modelText(m))
		}
		say("judged by %s", strings.Join(names, ", "))
	}
	if r.Samples > 0 {
		say("%s", counted(r.Samples, "call"))
	}
	if e := r.Examples; e != nil {
		say("%d examples in the prompt are drawn from confirmed labels, seed %d", e.Count, e.Seed)
	}
	trustSays(r.Trust, say)
	for _, code := range judge.ReasonCodes() {
		if sw, set := r.Reasons[code]; set {
			say("%s: %s", strings.ToLower(words(code)), switchText(sw))
		}
	}
	return says
}

func switchText(s judge.Switch) string {
	switch {
	case s.High == s.Standard:
		return s.High
	case s.High == "":
		return s.Standard + " at standard stakes"
	case s.Standard == "":
		return s.High + " at high stakes"
	}
	return s.High + " at high, " + s.Standard + " at standard stakes"
}
