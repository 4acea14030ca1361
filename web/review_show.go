package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showReview(c echo.Context) error {
	return s.renderReview(c, param(c, "id"), http.StatusOK, views.DeskForm{})
}

// renderReview shows the desk, with what was typed and its fault after a
// refused decision.
func (s *Server) renderReview(c echo.Context, id string, status int, form views.DeskForm) error {
	p, item, err := s.deskOf(c, id, form)
	if err != nil {
		return err
	}
	p.Bench = benchOf(item)
	p.Inputs = besideBench(p.Inputs, item.sheet.Kind)
	s.cfg.Store.Look(user(c).Actor(), item.review.EvaluationID, store.SawDesk, item.review.Sealed)
	return s.render(c, status, views.Desk(p))
}

// deskOf is an item's desk but for its workbench, and what that is made of.
func (s *Server) deskOf(c echo.Context, id string, form views.DeskForm) (views.DeskPage, deskItem, error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	r, err := s.cfg.Store.GetReview(ctx, actor, id)
	if err != nil {
		return views.DeskPage{}, deskItem{}, err
	}
	f, err := s.frame(c, "Review: "+r.Title, views.TabQueue)
	if err != nil {
		return views.DeskPage{}, deskItem{}, err
	}
	definition, err := s.definition(ctx, r.Project, r.Judge, r.PromptVersion)
	if err != nil {
		return views.DeskPage{}, deskItem{}, err
	}
	p := s.deskPage(f, actor, r, definition, form)
	r.Screen.PageVersion = s.cfg.Version
	if p.Shown, err = shownField(r.Screen); err != nil {
		return views.DeskPage{}, deskItem{}, err
	}
	sheet, err := ruling.New(definition, &r.Trace, r.Evaluation)
	if err != nil {
		return views.DeskPage{}, deskItem{}, err
	}
	at, _ := strconv.Atoi(c.QueryParam("at")) // no number asks for none
	return p, deskItem{review: r, definition: definition, sheet: sheet, at: at}, nil
}

// deskPage turns a review into its page. What is sealed is not in r; nothing
// is left out here.
func (s *Server) deskPage(f views.Frame, a store.Actor, r store.Review, definition *judge.Judge, form views.DeskForm) views.DeskPage {
	p := views.DeskPage{
		Frame: f, ID: r.ReviewID, State: deskState(f.Now, a, r), Sealed: r.Sealed,
		EvaluationID: r.EvaluationID, TraceID: r.TraceID, ItemTitle: r.Title, Judge: r.Judge,
		PromptVersion: r.PromptVersion, Run: r.Run, Domain: r.Domain, Stakes: judge.Stakes(r.Stakes),
		Due: r.DueAt, Reasons: r.Reasons, ReasonsSealed: r.Sealed, Inputs: inputsOf(&r.Trace, definition),
		Labels: labelChoices(r.Labels), ReasonCodes: reasonCodeChoices(r.ReasonCodes), Form: form, HistorySealed: r.Sealed,
	}
	p.Adjudicating = r.Adjudicating
	p.Claim = string(r.Claim(f.Now).For(a))
	if definition != nil {
		p.Task = definition.Description
	}
	p.MayReopen = r.State == "decided" && (isLead(a) || r.Settled != nil && r.Settled.UserID == a.UserID)
	if r.First != nil {
		p.Own = &views.Answer{Mark: views.Mark{Verdict: r.First.Verdict, Label: r.First.Label}, At: r.First.At}
	}
	p.Trace = traceText(&r.Trace, nil)
	if r.Mine && r.LeaseExpiresAt != nil {
		p.LeaseSeconds = max(0, int(r.LeaseExpiresAt.Sub(f.Now).Seconds()))
		p.LeaseTotal = max(p.LeaseSeconds, 60*judge.DefaultPolicy().LeaseMinutes)
	} else if r.LeaseExpiresAt != nil {
		p.Holder, p.HolderUntil = r.HolderName, *r.LeaseExpiresAt
	}
	if e := r.Evaluation; e != nil {
		p.Proposal, p.JudgeFault = proposalOf(e), e.Error
	}
	for _, d := range r.Decisions {
		if r.Settled == nil || d.ID != r.Settled.ID {
			p.Earlier = append(p.Earlier, signatureOf(d, false))
		}
	}
	if r.Settled != nil {
		signed := signatureOf(*r.Settled, r.Result != nil)
		p.Signed = &signed
	}
	p.History = history(r.Events)
	return p
}

// citationsJudge is the judge whose traces are read with a chip for each marker.
const citationsJudge = "citations"

func deskState(now time.Time, a store.Actor, r store.Review) views.DeskState {
	live := r.LeaseExpiresAt != nil && r.LeaseExpiresAt.After(now)
	switch {
	case r.State == "decided" || r.State == "closed":
		return views.DeskDecided
	case !a.MayDecide():
		return views.DeskReadOnly
	case r.Mine && !live:
		return views.DeskExpired
	case r.Mine && r.Sealed:
		return views.DeskBlind
	case r.Mine && r.First != nil && !isCorrection(r):
		return views.DeskRevealed
	case r.Mine && r.Adjudicating:
		return views.DeskAdjudication
	case r.Mine:
		return views.DeskVisible
	case r.HolderID != "" && live:
		return views.DeskLost
	case r.Adjudicating && a.Role == store.Reviewer:
		return views.DeskReadOnly
	}
	return views.DeskOpen
}

// isCorrection says that the item was decided before and reopened: any answer
// may be given now.
func isCorrection(r store.Review) bool {
	return slices.ContainsFunc(r.Decisions, func(d store.Decision) bool { return d.Action == store.Confirm || d.Action == store.Override })
}

// proposalOf is the judge's answer; nil when it gave none.
func proposalOf(e *judge.Evaluation) *views.Proposal {
	if e.Verdict == "" {
		return nil
	}
	return &views.Proposal{
		Mark:     views.Mark{Verdict: e.Verdict, Label: e.Label, Score: e.Score},
		Critical: e.Critical, Engine: e.Engine, Model: e.Model, Summary: summaryOf(e.Report),
		Findings: e.Findings, Checks: e.Checks, Report: indented(e.Report),
		Attempts: e.Attempts, Repairs: e.Repairs,
	}
}

// summaryOf finds what a report says about itself, whichever judge wrote it.
func summaryOf(report json.RawMessage) string {
	var r struct {
		Summary           string          `json:"summary"`
		Rationale         string          `json:"rationale"`
		OverallAssessment json.RawMessage `json:"overall_assessment"`
	}
	// Own judges name their fields as they like: no summary is no fault.
	if json.Unmarshal(report, &r) != nil {
		return ""
	}
	if r.Summary != "" {
		return r.Summary
	}
	if r.Rationale != "" {
		return r.Rationale
	}
	var text string
	if json.Unmarshal(r.OverallAssessment, &text) == nil {
		return text
	}
	var nested struct {
		Summary string `json:"summary"`
	}
	if json.Unmarshal(r.OverallAssessment, &nested) == nil {
		return nested.Summary
	}
	return ""
}

func signatureOf(d store.Decision, final bool) views.Signature {
	return views.Signature{
		Name: d.UserName, Action: d.Action, Mark: views.Mark{Verdict: d.Verdict, Label: d.Label},
		Choice: d.Choice, First: views.Mark{Verdict: d.FirstVerdict, Label: d.FirstLabel}, ReasonCode: d.ReasonCode, Comment: d.Comment, Confidence: d.Confidence, Blind: d.Blind,
		Seconds: int(d.Seconds), At: d.At, Final: final,
	}
}

// indented is JSON for reading; what does not parse is shown as it is.
func indented(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
