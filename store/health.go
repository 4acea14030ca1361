package store

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign/judge"
)

// Measures of judge_days: what rounds of judging gave, summed by day. A retry is
// a round of its own. Besides these there are latencyMeasure and failedMeasure.
const (
	measureEvaluations      = "evaluations" // rounds of judging
	measureCalls            = "calls"
	measureReports          = "reports"  // rounds with a report whose checks were run
	measureRepaired         = "repaired" // rounds that took a repair
	measureRepairs          = "repairs"
	measureInvalid          = "invalid" // sent to people as invalid_output
	measureFailed           = "failed"  // sent to people as judge_failed
	measureRefused          = "refused"
	measureUndecided        = "undecided"
	measureUncited          = "uncited" // steps that claim and cite nothing
	measureTransportRetries = "transport_retries"
	measureUnpriced         = "unpriced" // calls of models without a price
	measurePromptTokens     = "prompt_tokens"
	measureCompletionTokens = "completion_tokens"
	measureCostNano         = "cost_nano" // billionths of a dollar
	latencyMeasure          = "latency:"  // and the power of two of milliseconds that a call took at most
	failedMeasure           = "failed:"   // and the name of a check that failed
)

// round is what one round of judging is measured by. It goes into the packed
// detail, so that what is kept can be counted again.
type round struct {
	Day              string `json:"day"` // when it ended, 2006-01-02, UTC
	Engine           string `json:"engine"`
	Model            string `json:"model"`
	Outcome          string `json:"outcome,omitempty"` // invalid, failed, refused, or empty
	Repairs          int    `json:"repairs,omitempty"`
	TransportRetries int    `json:"transport_retries,omitempty"`
	Undecided        bool   `json:"undecided,omitempty"`
	Uncited          int    `json:"uncited,omitempty"`
}

func roundOf(e judge.Evaluation, at time.Time) *round {
	r := &round{Day: dayOf(at), Engine: e.Engine, Model: e.Model, Repairs: e.Repairs, TransportRetries: e.TransportRetries, Undecided: e.Undecided}
	if e.Uncited != nil {
		r.Uncited = *e.Uncited
	}
	switch {
	case e.Status == judge.Refused:
		r.Outcome = measureRefused
	case hasReason(e.Reasons, judge.ReasonJudgeFailed):
		r.Outcome = measureFailed
	case hasReason(e.Reasons, judge.ReasonInvalidOutput):
		r.Outcome = measureInvalid
	}
	return r
}

func hasReason(reasons []judge.Reason, code string) bool {
	return slices.ContainsFunc(reasons, func(r judge.Reason) bool { return r.Code == code })
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// dayKey is a judge's day.
type dayKey struct{ project, judge, day, version, engine, model string }

// dayMeasure is one number of it.
type dayMeasure struct {
	dayKey
	measure string
}

// countedCall is an attempt as far as it is counted.
type countedCall struct {
	tokens    judge.Tokens
	costUSD   float64
	latencyMS int64
	unpriced  bool
}

// measure counts a round of judging.
func (d *deltas) measure(project, judgeName, version string, r round, checks []judge.CheckResult, reported bool, calls []countedCall) {
	key := dayKey{project, judgeName, r.Day, version, r.Engine, r.Model}
	add := func(measure string, n int64) {
		if n != 0 {
			d.days[dayMeasure{key, measure}] += n
		}
	}
	add(measureEvaluations, 1)
	if r.Outcome != "" {
		add(r.Outcome, 1)
	}
	if r.Repairs > 0 {
		add(measureRepaired, 1)
		add(measureRepairs, int64(r.Repairs))
	}
	add(measureTransportRetries, int64(r.TransportRetries))
	add(measureUncited, int64(r.Uncited))
	if r.Undecided {
		add(measureUndecided, 1)
	}
	if reported {
		add(measureReports, 1)
	}
	for _, c := range checks {
		if !c.OK {
			add(failedMeasure+c.Name, 1)
		}
	}
	for _, c := range calls {
		add(measureCalls, 1)
		add(measurePromptTokens, int64(c.tokens.Prompt))
		add(measureCompletionTokens, int64(c.tokens.Completion))
		add(measureCostNano, nano(c.costUSD))
		add(latencyMeasure+strconv.Itoa(latencyPower(c.latencyMS)), 1)
		if c.unpriced {
			add(measureUnpriced, 1)
		}
	}
}

// measureRound counts a result that is being stored, and what it cost its run.
func (t *tx) measureRound(s stored, f finished) {
	calls := make([]countedCall, len(f.calls))
	for i, c := range f.calls {
		calls[i] = countedCall{c.Tokens, c.CostUSD, c.LatencyMS, c.Unpriced}
	}
	t.counts.measure(s.projectID, s.judge, f.Work.Planned.PromptVersion, *f.said.Round, f.said.Checks, reported(f.said), calls)
	if s.run != "" {
		t.counts.pay(costKey{s.run, s.judge, f.said.Round.Model}, calls)
	}
}

// latencyPower is the least power of two of milliseconds that a call fits in.
func latencyPower(ms int64) int {
	if ms <= 1 {
		return 0
	}
	return bits.Len64(uint64(ms - 1))
}

// nano is an amount in billionths of a dollar, whose sums are exact.
func nano(usd float64) int64 { return int64(math.Round(usd * 1e9)) }

func dollars(nano int64) float64 { return float64(nano) / 1e9 }

func (d *deltas) writeDays(ctx context.Context, t *tx) error {
	rows := newBulk("judge_days", ` ON CONFLICT (project_id, judge, day, prompt_version, engine, model, measure)
DO UPDATE SET n = judge_days.n + excluded.n`, "project_id", "judge", "day", "prompt_version", "engine", "model", "measure", "n")
	for _, k := range slices.SortedFunc(maps.Keys(d.days), compareMeasures) {
		rows.add(k.project, k.judge, k.day, k.version, k.engine, k.model, k.measure, d.days[k])
	}
	return rows.write(ctx, t)
}

func compareMeasures(a, b dayMeasure) int {
	return cmp.Or(cmp.Compare(a.project, b.project), cmp.Compare(a.judge, b.judge), cmp.Compare(a.day, b.day), cmp.Compare(a.version, b.version),
		cmp.Compare(a.engine, b.engine), cmp.Compare(a.model, b.model), cmp.Compare(a.measure, b.measure))
}
