package web

import (
	"fmt"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// tryBand fills in a band of one judge that the address names (try_judge, try_low,
// try_pass), as the simulator of thresholds gives it. Nothing is saved by it: a dry
// run and a lead's change are the next steps.
func (s *Server) tryBand(c echo.Context, page *views.PolicyPage, present judge.Policy) error {
	name := c.QueryParam("try_judge")
	if name == "" {
		return nil
	}
	band := &judge.Band{}
	for field, into := range map[string]*float64{"try_low": &band.Low, "try_pass": &band.Pass} {
		v, err := decimal(c.QueryParam(field))
		if err != nil {
			return &store.FieldError{Field: field, Message: "is not a number from 0 to 1"}
		}
		*into = v
	}
	tried := withBand(present, name, band)
	if err := tried.Check(); err != nil {
		page.FaultsIn, page.Faults = "yaml", faultLines(err)
		return nil
	}
	s.fillForms(page, tried)
	page.Unsaved, page.Judge = true, name
	page.Note = fmt.Sprintf("Band of %s: %s, from the simulator of thresholds", name, bandText(*band))
	return nil
}

// withBand is a policy with a band for one judge in all domains.
func withBand(p judge.Policy, name string, band *judge.Band) judge.Policy {
	p.Rules = slices.Clone(p.Rules)
	i := slices.IndexFunc(p.Rules, func(r judge.PolicyRule) bool { return r.Judge == name && r.Domain == "" })
	if i < 0 {
		i = len(p.Rules)
		p.Rules = append(p.Rules, judge.PolicyRule{Judge: name})
	}
	p.Rules[i].Band = band
	return p
}
