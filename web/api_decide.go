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
	ReasonCode string          `json:"reason_code"`
	Comment    string          `json:"comment"`
	Confidence string          `json:"confidence"`
}

// revealed answers a first answer: now the judge's may be seen.
type revealed struct {
	State      string            `json:"state"` // revealed
	Evaluation *judge.Evaluation `json:"evaluation"`
}

// decided answers a decision that was stored.
type decided struct {
	State    string         `json:"state"` // decided, or adjudication when a lead has to settle it
	Decision store.Decision `json:"decision"`
	Result   *judge.Result  `json:"result"`
}

func (s *Server) apiDecide(c echo.Context) error {
	var in decisionRequest
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	if in.Action == "" {
		r, err := s.cfg.Store.CommitFirstAnswer(ctx, actor, id, store.Answer{
			Verdict: in.Verdict, Label: in.Label, Findings: in.Findings,
		})
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, revealed{State: "revealed", Evaluation: r.Evaluation})
	}
	d, err := s.cfg.Store.Decide(ctx, actor, id, store.DecisionInput{
		Action: in.Action, Verdict: in.Verdict, Label: in.Label, Findings: in.Findings,
		ReasonCode: in.ReasonCode, Comment: in.Comment, Confidence: in.Confidence,
	})
	if err != nil {
		return err
	}
	r, err := s.cfg.Store.GetReview(ctx, actor, id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, decided{State: r.State, Decision: d, Result: r.Result})
}
