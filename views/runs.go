package views

import "time"

// RunsPage lists the runs, newest first.
type RunsPage struct {
	Frame
	Rows []RunRow
	Paging
}

// RunRow is one run in counts.
type RunRow struct {
	Href   string
	Name   string
	At     time.Time // when its first trace came
	Traces int
	// Evaluations in all; Evaluated have an answer; Waiting wait for a person.
	Evaluations, Evaluated, Waiting int
	// Passed of Settled evaluations: the pass rate is Passed/Settled.
	Passed, Settled int
}

// RunPage is one run.
type RunPage struct {
	Frame
	Run RunRow
	// Judges has the run's counts by judge.
	Judges []RunJudgeRow
	// EvaluationsHref and QueueHref are the lists, filtered to this run.
	EvaluationsHref, QueueHref string
}

// RunJudgeRow counts what one judge said in a run. What is sealed for the
// reader is in Waiting only.
type RunJudgeRow struct {
	Judge                    string
	Href                     string
	Pass, Borderline, Fail   int // final results
	Waiting, Refused, Failed int
}
