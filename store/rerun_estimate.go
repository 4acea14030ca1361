package store

import (
	"context"
	"database/sql"
	"math"

	"github.com/countersign/countersign/judge"
)

// Price is what the target's model costs, in US dollars for a million tokens.
type Price struct {
	PromptUSD, CompletionUSD float64
	Known                    bool // false: no price is configured
}

// Range is an estimate and how far off it may be.
type Range struct {
	Low  float64 `json:"low"`
	Mid  float64 `json:"mid"`
	High float64 `json:"high"`
}

// RerunEstimate is what a re-run would make and cost.
type RerunEstimate struct {
	Evaluations      int    `json:"evaluations"`   // that would be queued
	AlreadyThere     int    `json:"already_there"` // traces that the target has judged
	Sampled          int    `json:"sampled"`       // evaluations or traces that the tokens were read from
	PromptTokens     Range  `json:"prompt_tokens"` // of all
	CompletionTokens Range  `json:"completion_tokens"`
	CostUSD          Range  `json:"cost_usd"`
	Priced           bool   `json:"priced"` // false: no price is known, and CostUSD says nothing
	Basis            string `json:"basis"`  // a constant below
}

// Bases of an estimate.
const (
	BasisJudge   = "this judge"        // tokens of its newest evaluations by a model
	BasisTraces  = "the traces' texts" // length of texts and prompt; replies are guessed
	BasisNothing = "nothing"           // there is nothing to judge, or no model is asked
)

const (
	estimateSample = 200
	bytesPerToken  = 4 // about, of English text
	// guessed tokens of a reply that no evaluation tells of
	guessedReplyLow, guessedReply, guessedReplyHigh = 300, 800, 2000
)

// EstimateRerun says what a re-run would make and cost. Tokens are the mean of
// the judge's newest 200 evaluations by a model, give or take two standard
// errors; where there are too few (or too few to be told to the actor), they come
// from the length of traces. Roles: lead, auditor, admin.
func (s *Store) EstimateRerun(ctx context.Context, a Actor, project string, ask RerunAsk, price Price) (e RerunEstimate, err error) {
	defer wrap(&err, "estimate a re-run of project %q", project)
	if err := s.authorise(ctx, a, readers, "rerun.listed", "project:"+project); err != nil {
		return e, err
	}
	if err := checkRerun(ask); err != nil {
		return e, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return e, err
	}
	run := ""
	if ask.Run != "" {
		if run, err = s.runID(ctx, project, ask.Run); err != nil {
			return e, err
		}
	}
	c := rerunConditions(p.ID, run, ask)
	if ask.Kind == RerunFailed {
		err = s.reader.QueryRowContext(ctx, `SELECT count(*) FROM evaluations e JOIN traces tr ON tr.id = e.trace_id `+c.where(), c.args...).Scan(&e.Evaluations)
	} else {
		t := ask.Target
		var traces int
		err = s.reader.QueryRowContext(ctx, `
SELECT count(*), count(*) FILTER (WHERE there) FROM (
    SELECT DISTINCT e.trace_id, EXISTS (SELECT 1 FROM evaluations o WHERE o.trace_id = e.trace_id AND o.identity = ?) AS there
    FROM evaluations e JOIN traces tr ON tr.id = e.trace_id `+c.where()+`) x`,
			append([]any{identity(t, "")}, c.args...)...).Scan(&traces, &e.AlreadyThere)
		e.Evaluations = traces - e.AlreadyThere
	}
	e.Basis = BasisNothing
	if err != nil || e.Evaluations == 0 || ask.Kind != RerunFailed && ask.Target.Engine != judge.EngineOpenAI {
		e.Priced = err == nil // nothing costs nothing
		return e, err
	}
	if err := s.estimateTokens(ctx, a, p.ID, ask, c, &e); err != nil {
		return e, err
	}
	e.Priced = price.Known
	if price.Known {
		cost := func(prompt, completion float64) float64 {
			return (prompt*price.PromptUSD + completion*price.CompletionUSD) / 1e6
		}
		e.CostUSD = Range{cost(e.PromptTokens.Low, e.CompletionTokens.Low), cost(e.PromptTokens.Mid, e.CompletionTokens.Mid),
			cost(e.PromptTokens.High, e.CompletionTokens.High)}
	}
	return e, nil
}

func (s *Store) estimateTokens(ctx context.Context, a Actor, projectID string, ask RerunAsk, c conditions, e *RerunEstimate) error {
	n := float64(e.Evaluations * samples(ask.Target))
	type used struct{ prompt, completion float64 }
	uses, err := collect(ctx, s.reader, func(r *sql.Rows, u *used) error { return r.Scan(&u.prompt, &u.completion) }, `
SELECT e.prompt_tokens / e.samples, e.completion_tokens / e.samples FROM evaluations e
WHERE e.project_id = ? AND e.judge = ? AND e.engine = 'openai' AND e.answered_engine = '' AND e.prompt_tokens > 0
ORDER BY e.id DESC LIMIT ?`, projectID, ask.Judge, estimateSample)
	if err != nil {
		return err
	}
	if len(uses) >= fewestTold {
		var prompts, completions []float64
		for _, u := range uses {
			prompts, completions = append(prompts, u.prompt), append(completions, u.completion)
		}
		e.Basis, e.Sampled = BasisJudge, len(uses)
		e.PromptTokens, e.CompletionTokens = times(n, prompts), times(n, completions)
		return nil
	}
	hashes, err := collect(ctx, s.reader, func(r *sql.Rows, h *string) error { return r.Scan((*digest)(h)) }, `
SELECT tr.body_hash FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
`+c.where()+`
ORDER BY e.id DESC LIMIT ?`, append(c.args, estimateSample)...)
	if err != nil {
		return err
	}
	bodies, err := textsFrom(s.reader).bodies(ctx, hashes)
	if err != nil {
		return err
	}
	prompt, err := s.promptLength(ctx, projectID, ask.Judge)
	if err != nil {
		return err
	}
	var prompts []float64
	for _, h := range hashes {
		prompts = append(prompts, float64(prompt+textLength(bodies[h].Trace))/bytesPerToken)
	}
	e.Basis, e.Sampled = BasisTraces, len(prompts)
	e.PromptTokens = times(n, prompts)
	e.CompletionTokens = Range{n * guessedReplyLow, n * guessedReply, n * guessedReplyHigh}
	return nil
}

// times is n times the mean, give or take two standard errors of it.
func times(n float64, values []float64) Range {
	k, sum, squares := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / k
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	off := 0.0
	if k > 1 {
		off = 2 * math.Sqrt(squares/(k-1)/k)
	}
	return Range{n * max(0, mean-off), n * mean, n * (mean + off)}
}

// promptLength is how long the prompt of the current version is without a trace.
func (s *Store) promptLength(ctx context.Context, projectID, judgeName string) (n int, err error) {
	err = s.reader.QueryRowContext(ctx, `SELECT COALESCE(max(length(snapshot)), 0) FROM judges WHERE project_id = ? AND name = ? AND current`,
		projectID, judgeName).Scan(&n)
	return n, err
}

// textLength is how long the texts of a trace are.
func textLength(t judge.Trace) int {
	n := len(t.Question) + len(t.Output) + len(t.Reference) + len(t.Conclusion)
	for _, list := range [][]string{t.Premises, t.Constraints} {
		for _, v := range list {
			n += len(v)
		}
	}
	for _, src := range t.Sources {
		n += len(src.Title) + len(src.Text)
	}
	return n
}
