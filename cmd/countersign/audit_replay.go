package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

type auditReplayCmd struct {
	ID string `arg:"" help:"The evaluation."`
	projectFlags
	judgesFlag
	JSON bool `help:"Write JSON."`
}

// replayed is the outcome as --json shows it.
type replayed struct {
	EvaluationID string        `json:"evaluation_id"`
	Judge        string        `json:"judge"`
	Verdict      judge.Verdict `json:"verdict"` // as it comes out now
	Score        *float64      `json:"score"`
	Calls        int           `json:"calls"`
	Same         bool          `json:"same"`
	Differences  []string      `json:"differences"`
}

// Run makes an evaluation again from what was kept of it. No model is called: each
// prompt must be the one that was sent, to the byte, and each reply is the kept one.
func (c auditReplayCmd) Run(ctx context.Context, s *state) error {
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	return c.with(ctx, s, c.openExisting, func(db *store.Store) error {
		judges, err := readingHarnesses(ctx, s, db, builtins, "")
		if err != nil {
			return err
		}
		v, err := db.GetEvaluation(ctx, s.operator(), c.ID)
		if err != nil {
			return err
		}
		r, err := judges.replay(ctx, c.Project, v)
		if err != nil {
			return fmt.Errorf("evaluation %s can't be replayed: %w", c.ID, err)
		}
		out := replayed{
			EvaluationID: c.ID, Judge: v.Evaluation.Judge, Verdict: r.Evaluation.Verdict, Score: r.Evaluation.Score,
			Calls: len(v.Evaluation.Calls), Same: len(r.Differences) == 0, Differences: append([]string{}, r.Differences...),
		}
		if c.JSON {
			err = s.writeJSON(out)
		} else {
			err = out.text(s)
		}
		if err == nil && !out.Same {
			return errFailed
		}
		return err
	})
}

func (r replayed) text(s *state) error {
	if !r.Same {
		for _, d := range r.Differences {
			if _, err := fmt.Fprintln(s.stdout, d); err != nil {
				return err
			}
		}
		s.say("evaluation %s comes out otherwise than it was kept", r.EvaluationID)
		return nil
	}
	score := "no score"
	if r.Score != nil {
		score = fmt.Sprintf("score %.4g", *r.Score)
	}
	verdict := string(r.Verdict)
	if verdict == "" {
		verdict = "no verdict"
	}
	_, err := fmt.Fprintf(s.stdout, "the same again: judge %s, %s, %s, from %s kept\n", r.Judge, verdict, score, plural(r.Calls, "call", "calls"))
	return err
}

// replay makes a stored evaluation again.
func (h *harnesses) replay(ctx context.Context, project string, v store.EvaluationView) (harness.Replayed, error) {
	e := &v.Evaluation
	switch e.Status {
	case judge.Queued, judge.Judging:
		return harness.Replayed{}, errors.New("it is not judged yet")
	case judge.Refused:
		return harness.Replayed{}, fmt.Errorf("it was refused and never judged (%s)", e.Error)
	}
	p := judge.Planned{
		Judge: e.Judge, PromptVersion: e.PromptVersion, Engine: e.Engine, Model: e.Model,
		Endpoint: e.Endpoint, Samples: e.Samples, Judgment: judge.NoJudgment,
	}
	live, err := h.of(ctx, project)
	if err != nil {
		return harness.Replayed{}, err
	}
	j, err := h.definition(ctx, project, p)
	if err != nil {
		return harness.Replayed{}, err
	}
	if j == nil {
		return harness.Replayed{}, fmt.Errorf("version %s of judge %s is not in this program or project %s: name its project with --project, or use the program that judged it",
			shortHash(e.PromptVersion), e.Judge, project)
	}
	if e.Engine != judge.EngineRecorded {
		return live.Replay(ctx, j, &v.Trace, p, e)
	}
	// Of several recorded reports that look alike from outside, one gives the result.
	r, err := harness.Replayed{}, errors.New("the trace no longer has the report")
	for i, given := range v.Trace.Judgments {
		if given.Judge != e.Judge {
			continue
		}
		p.Judgment = i
		if r, err = live.Replay(ctx, j, &v.Trace, p, e); err == nil && len(r.Differences) == 0 {
			break
		}
	}
	return r, err
}
