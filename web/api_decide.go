package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// decisionRequest is the contract's; without an action it is the first answer
// on a blind item.
type decisionRequest struct {
	Action     string          `json:"action"`
	Verdict    judge.Verdict   `json:"verdict"`
	Label      string          `json:"label"`
	Findings   []judge.Finding `json:"findings"`
	Rulings    []judge.Ruling  `json:"rulings"`
	ReasonCode string          `json:"reason_code"`
	Severity   string          `json:"severity"`
	Comment    string          `json:"comment"`
	Confidence string          `json:"confidence"`
	To         string          `json:"to"`
	Shown      *store.Shown    `json:"shown"`
}

func (r decisionRequest) input() store.DecisionInput {
	return store.DecisionInput{
		Action: r.Action, Verdict: r.Verdict, Label: r.Label, Findings: r.Findings, Rulings: r.Rulings, ReasonCode: r.ReasonCode,
		Severity: r.Severity, Comment: r.Comment, Confidence: r.Confidence, To: r.To, Shown: r.Shown,
	}
}

// revealed answers a first answer: now the judge's may be seen.
type revealed struct {
	State      string            `json:"state"` // revealed
	Evaluation *judge.Evaluation `json:"evaluation"`
}

// decided answers a decision that was stored.
type decided struct {
	// State is decided; open when others still have to answer; adjudication when
	// somebody else has to settle it; claimed after undo.
	State            string         `json:"state"`
	Decision         store.Decision `json:"decision"`
	Result           *judge.Result  `json:"result"`
	Opinions         int            `json:"opinions"`
	OpinionsRequired int            `json:"opinions_required"`
}

func (s *Server) apiDecide(c echo.Context) error {
	var body decisionRequest
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	in := body.input()
	if err := s.holdToSheet(ctx, actor, id, &in); err != nil {
		return err
	}
	if in.Action == "" {
		if err := in.Check(); err != nil {
			return err
		}
		r, err := s.cfg.Store.CommitFirstAnswer(ctx, actor, id, store.Answer{
			Verdict: in.Verdict, Label: in.Label, Findings: in.Findings, Rulings: in.Rulings,
		})
		if err != nil {
			return err
		}
		// A first answer is a verdict and rulings. What was written with it waits as
		// the person's draft for the decision that follows.
		if in.Comment != "" || in.Confidence != "" {
			base := store.DraftBase{}
			if r.Draft != nil {
				base.Version = r.Draft.Version
			}
			if _, _, err := s.cfg.Store.SaveDraft(ctx, actor, id, base, store.DraftBody{Comment: in.Comment, Confidence: in.Confidence, Rulings: in.Rulings}); err != nil {
				return err
			}
		}
		return c.JSON(http.StatusOK, revealed{State: "revealed", Evaluation: r.Evaluation})
	}
	d, err := s.cfg.Store.Decide(ctx, actor, id, in)
	if err != nil {
		return err
	}
	return s.answerDecided(c, d)
}

// answerDecided tells a decision and how its item stands now.
func (s *Server) answerDecided(c echo.Context, d store.Decision) error {
	r, err := s.cfg.Store.GetReview(c.Request().Context(), user(c).Actor(), d.ReviewID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, decided{State: r.State, Decision: d, Result: r.Result, Opinions: r.Opinions, OpinionsRequired: r.OpinionsRequired})
}

// apiSecondOpinion keeps an answer that came when the item was settled.
func (s *Server) apiSecondOpinion(c echo.Context) error {
	var body decisionRequest
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	in := body.input()
	if err := s.holdToSheet(ctx, actor, id, &in); err != nil {
		return err
	}
	d, err := s.cfg.Store.AddSecondOpinion(ctx, actor, id, in)
	if err != nil {
		return err
	}
	return s.answerDecided(c, d)
}

func (s *Server) apiUndo(c echo.Context) error {
	d, err := s.cfg.Store.Undo(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	return s.answerDecided(c, d)
}

func (s *Server) apiRaiseOpinions(c echo.Context) error {
	var in struct {
		Opinions int `json:"opinions"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	if err := s.cfg.Store.RaiseOpinions(c.Request().Context(), user(c).Actor(), param(c, "id"), in.Opinions); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) apiReassign(c echo.Context) error {
	var in struct {
		To string `json:"to"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	if err := s.cfg.Store.Reassign(c.Request().Context(), user(c).Actor(), param(c, "id"), in.To); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
