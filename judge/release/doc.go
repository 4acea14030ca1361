// Package release decides whether a release candidate passes its gate: what its
// judges passed, with intervals; whether they may be believed; whether it is worse
// than what went before; and what still waits for people.
//
// It counts evaluations one at a time and keeps no texts, so a file of any size
// fits. It reads nothing, judges nothing, and gives no figure without its interval,
// its n, and the reason where there is none.
package release

import (
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
)

// Level is the confidence level of every interval.
const Level = calibration.Level

// Bars of a correction: under them the corrected rate is shown and not decided by.
const (
	minLabels          = calibration.MinLabels
	minLabelsOfVerdict = calibration.MinRarerClass
)

// MostExamples is how many traces a report names of each kind.
const MostExamples = 100

// Outcome is what a gate, or one rule of it, comes to.
type Outcome string

const (
	Passed    Outcome = "passed"
	Failed    Outcome = "failed"
	BadInput  Outcome = "bad_input" // the file or the baseline can't be decided on
	Untrusted Outcome = "untrusted" // a judge agrees too little with people, or too few labels show it
	Pending   Outcome = "pending"   // evaluations wait for people
)

// ExitCode of an outcome, as scripts see it.
func (o Outcome) ExitCode() int {
	switch o {
	case Passed:
		return 0
	case Failed:
		return 1
	case BadInput:
		return 2
	case Untrusted:
		return 3
	}
	return 4
}

// severity puts outcomes in the order in which one hides another: a file that could
// not be read says nothing about judges, a judge that is not trusted says nothing
// about the candidate, and a candidate that fails does so whatever people still say.
var severity = []Outcome{BadInput, Untrusted, Failed, Pending}

// Options are the rules of a gate; nil and false: the rule is not asked for.
type Options struct {
	// PassThreshold in [0,1]: an evaluation passes from this score on, unless it has
	// a critical fault or its engine could not decide. nil: the judge's own verdict.
	PassThreshold *float64 `json:"pass_threshold"`
	// MinPassRate in [0,1] that every judge's pass rate must reach.
	MinPassRate *float64 `json:"min_pass_rate"`
	// MinKappa in [-1,1] that every judge's agreement with people must reach.
	MinKappa *float64 `json:"min_kappa"`
	// Baseline names what the candidate must not be worse than; empty: nothing.
	Baseline string `json:"baseline"`
	// AllowPending: evaluations that wait for people do not stop the release.
	AllowPending bool `json:"allow_pending"`
	// RequireTrusted: every judge must be trusted by the rules of its project.
	RequireTrusted bool `json:"require_trusted"`
}

// Counts of evaluations.
type Counts struct {
	Evaluations int `json:"evaluations"`
	// Decided have a verdict that stands: accepted, or settled by people.
	Decided int `json:"decided"`
	Passed  int `json:"passed"`
	// ByPeople are those of Decided that an adjudicated label settled.
	ByPeople int `json:"by_people"`
	// Waiting for people; JudgeFailed of them have no valid report.
	Waiting     int `json:"waiting"`
	JudgeFailed int `json:"judge_failed"`
	// Abstained are settled without a verdict: undetermined, or "cannot judge".
	Abstained int `json:"abstained"`
	// Refused lack what the judge needs.
	Refused int `json:"refused"`
}

func (c *Counts) add(o Counts) {
	c.Evaluations += o.Evaluations
	c.Decided += o.Decided
	c.Passed += o.Passed
	c.ByPeople += o.ByPeople
	c.Waiting += o.Waiting
	c.JudgeFailed += o.JudgeFailed
	c.Abstained += o.Abstained
	c.Refused += o.Refused
}

// passRate of what is decided, with Wilson's interval.
func (c Counts) passRate() agreement.Estimate {
	if c.Decided == 0 {
		return agreement.Estimate{Undefined: "no evaluation is decided"}
	}
	return agreement.Proportion(c.Passed, c.Decided, Level)
}

// Judged is one judge, version and model of a candidate.
type Judged struct {
	Judge         string `json:"judge"`
	Model         string `json:"model"`
	Engine        string `json:"engine"`
	PromptVersion string `json:"prompt_version"`
	Counts
	// PassRate is that of the decided evaluations.
	PassRate   agreement.Estimate `json:"pass_rate"`
	Correction Correction         `json:"correction"`
	Trust      Trust              `json:"trust"`
	// DecidedBy is corrected or decided: the rate that a minimum is held against.
	DecidedBy string `json:"decided_by"`
}

// Rates that a minimum can be held against.
const (
	ByCorrected = "corrected"
	ByDecided   = "decided"
)

// rate is the one that counts.
func (j Judged) rate() agreement.Estimate {
	if j.DecidedBy == ByCorrected {
		return j.Correction.Corrected
	}
	return j.PassRate
}

// Rule is one rule of a gate as it came out.
type Rule struct {
	// Name is input, trust, pass_rate, baseline, judging or waiting.
	Name string `json:"name"`
	// Judge, Model and PromptVersion say of whom; empty: of the whole candidate.
	Judge         string  `json:"judge,omitempty"`
	Model         string  `json:"model,omitempty"`
	PromptVersion string  `json:"prompt_version,omitempty"`
	Outcome       Outcome `json:"outcome"`
	// Detail is one sentence with the figures.
	Detail string `json:"detail"`
	// apart says that the title needs the version: there is another rule with the same
	// judge and model.
	apart bool
}

// Report is a gate as it came out. Its JSON is what --json writes.
type Report struct {
	Outcome  Outcome `json:"outcome"`
	ExitCode int     `json:"exit_code"`
	File     string  `json:"file"`
	// Sentence says the outcome and why, in words.
	Sentence  string  `json:"sentence"`
	ConfLevel float64 `json:"conf_level"`
	Options   Options `json:"options"`
	// Method says how each figure is made.
	Method   map[string]string `json:"method"`
	Rules    []Rule            `json:"rules"`
	Traces   int               `json:"traces"`
	BadLines int               `json:"bad_lines"`
	Overall  Overall           `json:"overall"`
	Judges   []Judged          `json:"judges"`
	Baseline *Comparison       `json:"baseline"`
	// Failing and Waiting name the first MostExamples of each, in the order in which they
	// were judged; FailingTotal counts all that are decided and do not pass.
	Failing      []Example `json:"failing"`
	FailingTotal int       `json:"failing_total"`
	Waiting      []Example `json:"waiting"`
	Notes        []string  `json:"notes"`
}

// Overall is all evaluations together: those of one trace by several judges count
// one each.
type Overall struct {
	Counts
	PassRate agreement.Estimate `json:"pass_rate"`
}

// Example names an evaluation and what it came to.
type Example struct {
	TraceID string `json:"trace_id"`
	Judge   string `json:"judge"`
	Model   string `json:"model"`
	Verdict string `json:"verdict"`
	Label   string `json:"label"`
	// Score in [0,1]; nil: there is none.
	Score   *float64 `json:"score"`
	Reasons []string `json:"reasons"`
	// ByPeople: an adjudicated label settled it, and verdict and label are its.
	ByPeople bool `json:"by_people"`
	// Regressed: the baseline passed it.
	Regressed bool `json:"regressed"`
}
