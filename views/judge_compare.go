package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// ComparePage puts versions and models of a judge beside each other on the same
// traces. The form (GET) chooses them, so a comparison has an address.
type ComparePage struct {
	JudgeHead
	Form  CompareForm
	Fault string      // of what was chosen
	Shown *Comparison // nil before two were chosen
	Split TestSplit
	Look  TestLook
	// Promote is what can be done with the second; nil: not for this reader.
	Promote *PromoteForm
}

// CompareForm is what is chosen, and what there is to choose from.
type CompareForm struct {
	Action   string
	A, B     string
	Also     string // a third
	Choices  []Choice
	CanThree bool
}

// Comparison is two or more competitors beside each other. The first two are A and B.
type Comparison struct {
	Sentence string
	Names    []string // short, as the sentence calls them
	Shared   int      // traces that all judged
	Sealed   int      // left out, because the reader may still review them blind
	JSONHref string
	Pairs    [][]int // A's verdict by row, B's by column; pass, borderline, fail
	Rows     []CompareRow
	Main     Paired
	Visible  *Paired // labels given with a verdict on the screen
	All      *CompareAll
	// Differences are the gravest traces on which A and B differ.
	Differences []DifferingRow
}

// Paired is how often each of two is right on the same labelled traces.
type Paired struct {
	N, Clusters                            int
	Scale                                  string // labels or verdicts
	BothRight, OnlyA, OnlyB, BothWrong     int
	Abstained, Tied, Incomparable          int
	Level                                  string // of the intervals: 95%
	Difference, KappaDifference, Resampled Estimate
	P                                      *float64
	Method                                 string // of the test
	TooFew                                 string // why no coefficient is fit for a headline
	Seed                                   uint64
	Replicates, Undefined                  int
}

// leftOut are labelled traces of which no figure can be made.
func (d Paired) leftOut() int { return d.Abstained + d.Incomparable }

func (d Paired) leftOutWhy() string {
	var why []string
	if d.Abstained > 0 {
		why = append(why, "on "+number(int64(d.Abstained))+" somebody abstained")
	}
	if d.Incomparable > 0 {
		why = append(why, "on "+number(int64(d.Incomparable))+" there is no answer on a common scale")
	}
	return strings.Join(why, ", ")
}

// CompareRow is one competitor by itself.
type CompareRow struct {
	Letter, Name     string // A, B, C; version and model
	Current, Shadow  bool   // it is the version in use; it only runs beside it
	Right, N         int
	Agreement, Kappa Estimate
	Misses, Bad      int
	Alarms           int
	Cost             string // of an evaluation, or why it is not known
	Median, P95      string // times
	Timed            int
	Repairs, Retries int
}

// CompareAll is the test of three or more, and their pairs.
type CompareAll struct {
	Q         *float64
	DF        int
	P         *float64
	Undefined string
	Pairs     []PairRow
}

// PairRow is one pair of them.
type PairRow struct {
	Names      string
	OnlyFirst  int
	OnlySecond int
	Difference Estimate
	P, Holm    *float64
}

// DifferingRow is a trace on which A and B differ.
type DifferingRow struct {
	TraceID, Href, Domain string
	Stakes                judge.Stakes
	A, B, People          Mark
	Labelled              bool
}

// TestSplit is what is known of a judge's locked labels.
type TestSplit struct {
	Locked   bool
	Share    string
	By       string
	At       time.Time
	N        int // labelled traces in it that all compared judged
	Looks    int
	Seen     []SeenLook // newest first
	LockHref string     // where a lead locks it; empty: not for this reader
}

// TestLook lets a lead look at what was kept.
type TestLook struct {
	Href string // empty: not for this reader, or nothing to look at
	A, B string
}

// SeenLook is one look as it was shown.
type SeenLook struct {
	Number   int
	By       string
	At       time.Time
	Names    string
	Same     bool // of the two that are compared on this page
	Sentence string
	Paired   Paired
	// Now is the difference with the interval that all looks until now allow.
	Now Estimate
}

// PromoteForm makes B the version that new work is planned with.
type PromoteForm struct {
	Href string
	Name string // of B's version
	B    string // as the form of the comparison sends it
	A    string
	// Why it can't be, in a sentence with what to do; empty: it can.
	Why string
	// Model says what to set where B's model is not that of A; empty: nothing.
	Model string
}

// pointsOf writes a difference of shares in points of a hundred, with its sign.
func pointsOf(v *float64) string {
	if v == nil {
		return ""
	}
	s := strconv.FormatFloat(100**v, 'f', 1, 64)
	if *v >= 0 {
		s = "+" + s
	}
	return s
}

// differenceLine is a difference of shares with its interval.
func differenceLine(e Estimate) string {
	switch {
	case e.Value == nil:
		return "undefined: " + e.Why
	case e.Low == nil:
		return pointsOf(e.Value) + " points of 100"
	}
	return pointsOf(e.Value) + " points of 100 (" + pointsOf(e.Low) + " to " + pointsOf(e.High) + ")"
}

// kappaDifferenceLine is a difference of coefficients with its interval.
func kappaDifferenceLine(e Estimate) string {
	signed := func(v *float64) string {
		s := decimal(*v)
		if s[0] != '-' {
			s = "+" + s
		}
		return s
	}
	switch {
	case e.Value == nil:
		return "undefined: " + e.Why
	case e.Low == nil:
		return signed(e.Value) + ", no interval: " + e.Why
	}
	return signed(e.Value) + " (" + signed(e.Low) + " to " + signed(e.High) + ")"
}

// pLine writes a p-value as far as it means something.
func pLine(p *float64) string {
	switch {
	case p == nil:
		return "undefined"
	case *p < 0.001:
		return "under 0.001"
	}
	return strconv.FormatFloat(*p, 'f', 3, 64)
}

// missLine says what one lets through.
func missLine(r CompareRow) string {
	if r.Bad == 0 {
		return "people failed none"
	}
	return number(int64(r.Misses)) + " of " + number(int64(r.Bad))
}
