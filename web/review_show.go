package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showReview(c echo.Context) error {
	return s.renderReview(c, param(c, "id"), http.StatusOK, nil)
}

// renderReview shows the desk; refused is what was sent and not taken, with its
// fault, nil otherwise.
func (s *Server) renderReview(c echo.Context, id string, status int, refused *typed) error {
	p, item, err := s.deskOf(c, id, refused)
	if err != nil {
		return err
	}
	p.Bench = benchOf(item)
	p.Inputs = besideBench(p.Inputs, item.sheet)
	if kind := item.sheet.Kind; p.Proposal != nil && kind != ruling.Own {
		// The workbench has them, each where it belongs; a critical error that the
		// report names apart from the steps belongs to none.
		p.Proposal.Findings = slices.DeleteFunc(slices.Clone(p.Proposal.Findings), func(f judge.Finding) bool { return f.Class != "critical_error" || f.Step > 0 })
	}
	s.cfg.Store.Look(user(c).Actor(), item.review.EvaluationID, store.SawDesk, item.review.Sealed)
	return s.render(c, status, views.Desk(p))
}

// deskOf is an item's desk but for its workbench, and what that is made of.
func (s *Server) deskOf(c echo.Context, id string, refused *typed) (p views.DeskPage, item deskItem, err error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	r, err := s.cfg.Store.GetReview(ctx, actor, id)
	if err != nil {
		return p, item, err
	}
	f, err := s.frame(c, "Review: "+r.Title, views.TabQueue)
	if err != nil {
		return p, item, err
	}
	if item, err = s.deskItem(ctx, r); err != nil {
		return p, item, err
	}
	item.at, _ = strconv.Atoi(c.QueryParam("at")) // no number asks for none
	item.markdown = f.Markdown
	p = s.deskPage(f, actor, &item, refused)
	r.Screen.PageVersion, r.Screen.DraftVersion = s.cfg.Version, p.Draft.Version
	if p.Shown, err = shownField(r.Screen); err != nil {
		return p, item, err
	}
	return p, item, s.addTalk(ctx, actor, f, r, &p)
}

// deskItem reads what can be ruled on in an item.
func (s *Server) deskItem(ctx context.Context, r store.Review) (deskItem, error) {
	definition, err := s.definition(ctx, r.Project, r.Judge, r.PromptVersion)
	if err != nil {
		return deskItem{}, err
	}
	sheet, err := s.sheets.of(definition, &r.Trace, r.Hashes.Trace, r.Evaluation)
	return deskItem{review: r, definition: definition, sheet: sheet}, err
}

// addressees are whom an item can be escalated to, beside any lead.
func (s *Server) addressees(ctx context.Context, a store.Actor) ([]views.Choice, error) {
	people, err := s.cfg.Store.Addressees(ctx, a)
	if err != nil {
		return nil, err
	}
	choices := []views.Choice{{Value: string(store.Admin), Text: "An administrator"}}
	for _, x := range people {
		choices = append(choices, views.Choice{Value: x.UserID, Text: x.Name + ", " + strings.ToLower(roleWords[x.Role])})
	}
	return choices, nil
}

// deskPage turns a review into its page. What is sealed is not in the review;
// nothing is left out here.
func (s *Server) deskPage(f views.Frame, a store.Actor, d *deskItem, refused *typed) views.DeskPage {
	r := d.review
	p := views.DeskPage{
		Frame: f, ID: r.ReviewID, State: deskState(f.Now, a, r), Sealed: r.Sealed,
		EvaluationID: r.EvaluationID, TraceID: r.TraceID, ItemTitle: r.Title, Judge: r.Judge,
		PromptVersion: r.PromptVersion, Run: r.Run, Domain: r.Domain, Stakes: judge.Stakes(r.Stakes),
		Due: r.DueAt, Reasons: r.Reasons, ReasonsSealed: r.Sealed, Inputs: inputsOf(&r.Trace, d.definition),
		Labels: labelChoices(r.Labels), ReasonCodes: reasonCodeChoices(r.ReasonCodes), HistorySealed: r.Sealed,
		OpinionLine: opinionLine(r),
	}
	p.Adjudicating, p.PersonID, p.Answered = r.Adjudicating, a.UserID, hasAnswered(a, r)
	p.Claim = string(r.Claim(f.Now).For(a))
	if d.definition != nil {
		p.Task = d.definition.Description
	}
	p.MayManage = isLead(a) && r.State != "decided" && r.State != "closed"
	p.MayReopen = r.State == "decided" && (isLead(a) || r.Settled != nil && r.Settled.UserID == a.UserID)
	for _, h := range r.HandedOn {
		p.HandedOn = append(p.HandedOn, views.HandedOn{Name: h.UserName, Comment: h.Comment, At: h.At, Withheld: h.Withheld})
	}
	if r.UndoUntil != nil {
		p.Undo = *r.UndoUntil
	}
	if r.First != nil {
		p.Own = &views.Answer{Mark: views.Mark{Verdict: r.First.Verdict, Label: r.First.Label}, At: r.First.At}
	}
	p.Trace = traceText(&r.Trace, nil)
	if f.Markdown {
		layOut(&p.Trace, &r.Trace, nil)
	}
	if r.Mine && r.LeaseExpiresAt != nil {
		p.LeaseSeconds = max(0, int(r.LeaseExpiresAt.Sub(f.Now).Seconds()))
		p.LeaseTotal = max(p.LeaseSeconds, 60*r.LeaseMinutes)
	} else if r.LeaseExpiresAt != nil {
		p.Holder, p.HolderUntil = r.HolderName, *r.LeaseExpiresAt
	}
	if e := r.Evaluation; e != nil {
		p.Proposal, p.JudgeFault = proposalOf(e), e.Error
	}
	for _, decision := range r.Decisions {
		if r.Settled == nil || decision.ID != r.Settled.ID {
			p.Earlier = append(p.Earlier, signatureOf(decision, false))
		}
	}
	if r.Settled != nil {
		signed := signatureOf(*r.Settled, r.Result != nil)
		p.Signed = &signed
	}
	p.History = history(r.Events)
	d.fillForm(&p, a, refused)
	p.Affirmations = affirmations(p, r)
	if r.Adjudicating && !r.Sealed {
		p.Sides = d.sides()
	}
	return p
}

// citationsJudge is the judge whose traces are read with a chip for each marker.
const citationsJudge = "citations"

func deskState(now time.Time, a store.Actor, r store.Review) views.DeskState {
	live := r.LeaseExpiresAt != nil && r.LeaseExpiresAt.After(now)
	switch {
	case r.State == "decided" && mayAddOpinion(a, r):
		return views.DeskLate
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

// mayAddOpinion says that the person worked on an item which others settled
// meanwhile, and has not answered it: what they have can be a second opinion.
func mayAddOpinion(a store.Actor, r store.Review) bool {
	return a.MayDecide() && (r.First != nil || r.Draft != nil) && !hasAnswered(a, r)
}

// hasAnswered says that a person has signed an answer that stands.
func hasAnswered(a store.Actor, r store.Review) bool {
	return slices.ContainsFunc(r.Decisions, func(d store.Decision) bool {
		return d.UserID == a.UserID && d.UndoneAt == nil && (d.Action == store.Confirm || d.Action == store.Override)
	})
}

// isCorrection says that the item was decided before and reopened: any answer
// may be given now. What was taken back decided nothing.
func isCorrection(r store.Review) bool {
	return slices.ContainsFunc(r.Decisions, func(d store.Decision) bool {
		return d.UndoneAt == nil && (d.Action == store.Confirm || d.Action == store.Override)
	})
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
	said := views.Signature{
		Name: d.UserName, Severity: d.Severity, OverQuota: d.OverQuota, Undone: d.UndoneAt != nil, Action: d.Action, Mark: views.Mark{Verdict: d.Verdict, Label: d.Label},
		Choice: d.Choice, ReasonCode: d.ReasonCode, Comment: d.Comment, Confidence: d.Confidence, Blind: d.Blind,
		Seconds: int(d.Seconds), At: d.At, Final: final,
	}
	if !d.VerdictVisible { // what was answered with the verdict in sight was no first answer
		said.First = views.Mark{Verdict: d.FirstVerdict, Label: d.FirstLabel}
	}
	if d.Signature != nil {
		said.Role, said.Qualification, said.Affirmation = roleWords[d.Signature.Role], d.Signature.Qualification, d.Signature.Affirmation
	}
	return said
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
