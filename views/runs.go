package views

import "time"

// RunsPage lists the runs, newest first.
type RunsPage struct {
	Frame
	Rows []RunRow
	Paging
}

// RunRow is one run in counts. Of its Evaluations each is counted once in
// Pending, Refused, Waiting, Failed, Pass, Borderline, Fail or NoVerdict.
type RunRow struct {
	Href   string
	Name   string
	At     time.Time // when its first trace came
	Traces int
	// Unjudged traces have no evaluation at all.
	Unjudged    int
	Evaluations int
	// Pending wait for a judge, Waiting for a person; a Failed one has no report
	// that could be used; NoVerdict have a result without a verdict.
	Pending, Refused, Waiting, Failed int
	Pass, Borderline, Fail, NoVerdict int
	// CostUSD leaves out the Unpriced calls. CostSealed: this reader may not know.
	CostUSD    float64
	Unpriced   int
	CostSealed bool
	// StoppedAt is when its budget stopped it; nil: it did not.
	StoppedAt *time.Time
	Release   ReleaseState
}

// Done evaluations have a result that counts, as status accepted or final: the
// pass rate is of these.
func (r RunRow) Done() int { return r.Pass + r.Borderline + r.Fail + r.NoVerdict }

// RunPage is one run.
type RunPage struct {
	Frame
	Run RunRow
	// Judges has the run's counts by judge.
	Judges []RunJudgeRow
	// Reasons why people were asked, by judge, the most urgent first.
	Reasons []RunReason
	// Elsewhere is queued work of the run that this server can't do.
	Elsewhere []Elsewhere
	// Money is what it cost; nil for roles that may not know.
	Money *RunMoney
	// ReleaseHref is the page of its release; empty: not for this reader.
	ReleaseHref string
	// EvaluationsHref and QueueHref are the lists, filtered to this run.
	EvaluationsHref, QueueHref string
	// MayChange shows the forms that post to /runs/{name}/retry and
	// /runs/{name}/budget. Failed is how many a retry would judge again:
	// those without a report, and those whose report no repair made valid.
	MayChange bool
	Failed    int
}

// RunJudgeRow counts what one judge said in a run. What is sealed for the
// reader is in Waiting only. Expected is the sum of all.
type RunJudgeRow struct {
	Judge                                       string
	Href, RerunHref                             string
	Pass, Borderline, Fail, NoVerdict           int // results
	Waiting, Pending, Refused, Failed, Expected int
}

// RunReason counts the evaluations of one judge that have one reason. An empty
// code: those that wait blind for this reader; their reasons are in no line.
type RunReason struct {
	Judge, Code, Href string
	N                 int
}

// RunMoney is what a run paid, and its budget.
type RunMoney struct {
	Rows []RunCost
	// TooFew evaluations were paid for to tell this reader a sum.
	TooFew            bool
	SpentUSD, HeldUSD float64
	Unpriced          int64
	BudgetUSD         *float64 // nil: no limit
	OnHold            int      // evaluations that the budget stopped
	// BudgetText is what stands in the form; Fault what is wrong with it.
	BudgetText, Fault string
}

// RunCost is the cost of one judge by one model.
type RunCost struct {
	Judge, Model                   string
	Evaluations, Calls, Unpriced   int64
	PromptTokens, CompletionTokens int64
	CostUSD                        float64
	TooFew                         bool // then only Judge and Model are set
}
