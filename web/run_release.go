package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/release"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showRelease(c echo.Context) error {
	p, err := s.releasePage(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Release(p))
}

// releasePage is what a release of the run would stand on now, and its sign-offs.
func (s *Server) releasePage(c echo.Context) (p views.ReleasePage, err error) {
	ctx, actor, name := c.Request().Context(), user(c).Actor(), param(c, "name")
	f, err := s.frame(c, "Release of "+name, views.TabRuns)
	if err != nil {
		return p, err
	}
	e, err := s.cfg.Store.ReleaseEvidence(ctx, actor, f.Project, name)
	if err != nil {
		return p, err
	}
	all, state, err := s.cfg.Store.Releases(ctx, actor, f.Project, name)
	if err != nil {
		return p, err
	}
	p = views.ReleasePage{
		Frame: f, Run: name, RunHref: runPath(name), Evidence: evidenceView(e), MaySign: isLead(actor),
		Affirmation: store.ReleaseAffirmation, State: releaseLine(state),
	}
	for _, r := range all {
		row, err := releaseRow(r)
		if err != nil {
			return p, err
		}
		row.Same = r.EvidenceSHA256 == e.SHA256
		p.Releases = append(p.Releases, row)
	}
	return p, nil
}

func evidenceView(e store.ReleaseEvidence) views.ReleaseEvidence {
	q := url.Values{"run": {e.Run}}
	v := views.ReleaseEvidence{
		Outcome: outcomeWord(e.Gate.Outcome), Passed: e.Gate.Outcome == release.Passed, Sentence: e.Gate.Sentence, PassRate: shareLine(e.Gate.Overall.PassRate),
		Traces: e.Traces, Unjudged: e.Unjudged, Evaluations: e.Evaluations, Decided: e.Gate.Overall.Decided, Pending: e.Pending,
		Waiting: e.Waiting, QueueHref: "/queue?" + q.Encode(), Overridden: e.Overridden, CountedUpTo: store.CountAtMost,
		PolicyVersion: e.PolicyVersion, SHA256: e.SHA256, ResultsSHA256: e.ResultsSHA256, Notes: e.Gate.Notes,
	}
	q.Set("overridden", "1")
	v.OverriddenHref = "/evaluations?" + q.Encode()
	if m := e.Limits.MinPassRate; m != nil {
		v.Minimum = shareText(*m)
	}
	for _, r := range e.Gate.Rules {
		v.Rules = append(v.Rules, views.ReleaseRule{Title: r.Title(), Outcome: outcomeWord(r.Outcome), Passed: r.Outcome == release.Passed, Detail: r.Detail})
	}
	for _, j := range e.Gate.Judges {
		v.Judges = append(v.Judges, views.ReleaseJudge{
			Href: calibrationPath(j.Judge), Judge: j.Judge, Model: j.Model, Version: j.PromptVersion, Decided: j.Decided, Evaluations: j.Evaluations,
			PassRate: shareLine(j.PassRate), Corrected: shareLine(j.Correction.Corrected), ByCorrected: j.DecidedBy == release.ByCorrected,
			Trust: views.TrustRow{State: j.Trust.State, Why: j.Trust.Why},
		})
	}
	return v
}

// outcomeWord says an outcome as a page does.
func outcomeWord(o release.Outcome) string {
	return map[release.Outcome]string{
		release.Passed: "Passed", release.Failed: "Failed", release.BadInput: "Can’t be decided", release.Untrusted: "Not trusted", release.Pending: "Not finished",
	}[o]
}

func shareText(v float64) string {
	return strconv.FormatFloat(math.Round(1000*v)/10, 'f', -1, 64) + "%"
}

// shareLine is a share with its interval, or why there is none.
func shareLine(e agreement.Estimate) views.ShareLine {
	if !e.Defined() {
		return views.ShareLine{Why: e.Undefined}
	}
	v := views.ShareLine{Value: shareText(e.Value), N: e.N}
	if e.HasInterval() {
		v.Interval, v.Method = shareText(e.Low)+" to "+shareText(e.High), methodWord(e.Method)
	}
	return v
}

func releaseRow(r store.RunRelease) (views.ReleaseRow, error) {
	var was struct {
		Gate struct {
			Outcome release.Outcome
			Overall struct {
				Decided  int
				PassRate struct{ Value float64 } `json:"pass_rate"`
			}
		}
		Waiting, Overridden int
		PolicyVersion       int `json:"policy_version"`
	}
	if err := json.Unmarshal(r.Evidence, &was); err != nil {
		return views.ReleaseRow{}, fmt.Errorf("the evidence of release %s: %w", r.ID, err)
	}
	row := views.ReleaseRow{
		ID: r.ID, Name: r.Name, Role: string(r.Role), Qualification: r.Qualification, Affirmation: r.Affirmation, Comment: r.Comment, Although: r.Although,
		At: r.At, SHA256: r.EvidenceSHA256, Outcome: outcomeWord(was.Gate.Outcome), PassedThen: was.Gate.Outcome == release.Passed,
		Decided: was.Gate.Overall.Decided, Waiting: was.Waiting, Overridden: was.Overridden, PolicyVersion: was.PolicyVersion, PassRate: shareText(was.Gate.Overall.PassRate.Value),
	}
	if w := r.Withdrawn; w != nil {
		row.Withdrawn, row.WithdrawnBy, row.WithdrawnAt = w.Reason, w.Name, w.At
	}
	return row, nil
}

// releaseLine says whether a run is released, and what changed since.
func releaseLine(s store.ReleaseState) views.ReleaseState {
	v := views.ReleaseState{State: s.State}
	if s.Newest == nil {
		return v
	}
	v.By, v.At = s.Newest.Name, s.Newest.At
	v.Since = sinceLine(s)
	if w := s.Newest.Withdrawn; w != nil {
		v.By, v.At = w.Name, w.At
	}
	return v
}

// sinceLine says what came after a release that stands; empty: nothing did.
func sinceLine(s store.ReleaseState) string {
	if s.State != store.StateReleased || s.Evaluations+s.Decisions == 0 {
		return ""
	}
	many := func(n int, one, several string) string {
		if n >= store.CountAtMost {
			return thousands(n) + " or more " + several
		}
		return counted(n, one, several)
	}
	return many(s.Evaluations, "evaluation", "evaluations") + " and " + many(s.Decisions, "decision", "decisions") + " are newer than the signature"
}

// signRelease signs a run off on the evidence that the form was shown with.
func (s *Server) signRelease(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	in := store.ReleaseInput{EvidenceSHA256: c.FormValue("evidence"), Comment: c.FormValue("comment"), Although: c.FormValue("although")}
	_, err = s.cfg.Store.ReleaseRun(c.Request().Context(), user(c).Actor(), project, param(c, "name"), in)
	var field *store.FieldError
	switch {
	case errors.As(err, &field) && (field.Field == "although" || field.Field == "comment"):
		return s.releaseFault(c, http.StatusUnprocessableEntity, func(p *views.ReleasePage) { p.Fault, p.FaultIn = sentenceOf(field), field.Field })
	case errors.Is(err, store.ErrConflict):
		return s.releaseFault(c, http.StatusConflict, func(p *views.ReleasePage) {
			p.Fault = "Nothing was signed: the run has changed since this page was opened. What is shown now is how it stands; what you wrote is kept here."
		})
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, "The run is released. The evidence is kept as it was shown.")
	return c.Redirect(http.StatusSeeOther, releasePath(param(c, "name")))
}

// withdrawRelease ends a release.
func (s *Server) withdrawRelease(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	id := c.FormValue("release")
	_, err = s.cfg.Store.WithdrawRelease(c.Request().Context(), user(c).Actor(), project, param(c, "name"), id, c.FormValue("reason"))
	var field *store.FieldError
	fault := func(status int, text string) error {
		return s.releaseFault(c, status, func(p *views.ReleasePage) {
			for i := range p.Releases {
				if p.Releases[i].ID == id {
					p.Releases[i].Fault, p.Releases[i].Text = text, c.FormValue("reason")
				}
			}
			if status == http.StatusConflict {
				p.Fault = text
			}
		})
	}
	switch {
	case errors.As(err, &field) && field.Field == "reason":
		return fault(http.StatusUnprocessableEntity, sentenceOf(field))
	case errors.Is(err, store.ErrConflict):
		return fault(http.StatusConflict, "Nothing was changed: "+conflictDetail(err)+".")
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, "The release is withdrawn. The sign-off stays on record with your reason.")
	return c.Redirect(http.StatusSeeOther, releasePath(param(c, "name")))
}

// releaseFault shows the page again with what was typed.
func (s *Server) releaseFault(c echo.Context, status int, say func(*views.ReleasePage)) error {
	p, err := s.releasePage(c)
	if err != nil {
		return err
	}
	p.Comment, p.Although = c.FormValue("comment"), c.FormValue("although")
	say(&p)
	return s.render(c, status, views.Release(p))
}
