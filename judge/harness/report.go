package harness

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// report asks an engine that gives its report at once. Nothing can be repaired:
// what is at fault goes to a person.
func (h *Harness) report(ctx context.Context, engine judge.Reporter, j *judge.Judge, t *judge.Trace, p judge.Planned, e *judge.Evaluation) outcome {
	start := h.config.Now()
	done := working(ctx)
	given, err := engine.Report(ctx, j, t, p)
	done()
	took := h.config.Now().Sub(start)
	if err != nil {
		return outcome{failure: judge.ReasonJudgeFailed, detail: err.Error()}
	}
	if given.NoReport {
		return outcome{noReport: true, undecided: true, explanation: given.Explanation}
	}
	attempt := judge.Attempt{
		Number: 1, Engine: engine.Name(), ModelAsked: p.Model, ModelAnswered: p.Model,
		Reply: given.Raw, LatencyMS: took.Milliseconds(), StartedAt: start,
	}
	report := given.Report
	var faults []string
	if report == nil {
		if report, err = ExtractReport(given.Raw); err != nil {
			faults = bounded([]string{err.Error()})
		}
	} else {
		attempt.Reply = string(report)
		if err := soundObject(report, engine); err != nil {
			report, faults = nil, []string{err.Error()}
		}
	}
	var v verified
	if faults == nil {
		v = h.verify(j, t, report)
		faults = v.faults
	}
	attempt.Report, attempt.Errors = report, faults
	h.attempted(e, attempt)
	if faults != nil {
		return outcome{
			failure: judge.ReasonInvalidOutput, checks: v.checks, incomplete: v.incomplete,
			detail: "the report came as it is and cannot be repaired: " + strings.Join(faults, "; "),
		}
	}
	return outcome{
		report: report, checks: v.checks, reading: &v.reading,
		undecided: given.Undecided, explanation: given.Explanation,
	}
}

// soundObject holds a report that is JSON already to the rules of a reply. The
// rules engine's own encoder gives nothing else.
func soundObject(report json.RawMessage, engine judge.Engine) error {
	if engine.Name() == judge.EngineRules {
		return nil
	}
	_, err := ExtractReport(string(report))
	return err
}

// settled concludes a report that is known without asking an engine.
func (h *Harness) settled(report json.RawMessage, j *judge.Judge, t *judge.Trace, e *judge.Evaluation) outcome {
	e.Engine, e.Model, e.Samples = judge.EngineRules, judge.EngineRules, 0
	v := h.verify(j, t, report)
	h.attempted(e, judge.Attempt{
		Number: 1, Engine: judge.EngineRules, ModelAsked: judge.EngineRules, ModelAnswered: judge.EngineRules,
		Reply: string(report), Report: report, Errors: v.faults, StartedAt: h.config.Now(),
	})
	if v.faults != nil {
		return outcome{failure: judge.ReasonInvalidOutput, checks: v.checks, detail: strings.Join(v.faults, "; ")}
	}
	return outcome{report: report, checks: v.checks, reading: &v.reading}
}

// attempted adds a call that brought a reply to its evaluation.
func (h *Harness) attempted(e *judge.Evaluation, a judge.Attempt) {
	a.StartedAt = a.StartedAt.UTC().Truncate(time.Microsecond)
	e.Calls = append(e.Calls, a)
	e.Attempts++
	e.TransportRetries += a.TransportRetries
	e.Tokens.Prompt += a.Tokens.Prompt
	e.Tokens.Completion += a.Tokens.Completion
	e.CostUSD += a.CostUSD
	if a.Unpriced {
		e.UnpricedCalls++
	}
	e.LatencyMS += a.LatencyMS
}
