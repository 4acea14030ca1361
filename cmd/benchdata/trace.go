package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// Shape of a project: an evaluation set that several candidates answered. Every
// run is one candidate on one part of the set.
const (
	candidates     = 5  // answers to one question, each in a run of its own
	runs           = 50 // of all traces
	labelsOfTrace  = 4  // by people, of the judge citations
	judgesOfTrace  = 4
	traceSteps     = 5
	passageBytes   = 640
	answerBytes    = 170 // of one step
	referenceBytes = 110 // of one step
)

// firstDay is when the oldest imported label was given.
var firstDay = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// maker makes the traces of one project. The n-th trace depends on the seed, n
// and the settings alone. It may be used by several goroutines.
type maker struct {
	said   *corpus
	seed   uint64
	traces int
	unique bool // every trace has sources of its own
}

// random is a source of its own for each thing that is made.
func (m maker) random(kind, n uint64) *rand.Rand { return rand.New(rand.NewPCG(m.seed^kind<<56, n)) }

const (
	kindQuestion = iota + 1
	kindAnswer
	kindLabels
	kindReport
	kindPerson
)

// place is where a trace stands: which candidate, on which question, in which run.
func (m maker) place(n int) (run, question int) {
	perRun := max(1, m.traces/runs)
	run = n / perRun
	question = run/candidates*perRun + n%perRun
	if m.unique {
		question = n
	}
	return run, question
}

func (m maker) trace(n int) judge.Trace {
	run, question := m.place(n)
	t := judge.Trace{ID: fmt.Sprintf("bench-%07d", n), Run: fmt.Sprintf("run-%02d", run)}
	q := m.random(kindQuestion, uint64(question))
	t.Domain = domains[q.IntN(len(domains))]
	t.Stakes = judge.DefaultStakes(t.Domain)
	t.Question = strings.TrimRight(cut(m.said.questions.sentence(q), 160), ".!?,;:") + "?"
	t.Reference = steps(traceSteps-1, func() string { return plain(q, m.said.answers, referenceBytes) })
	for i := range 2 + q.IntN(3) {
		text := m.said.passages.text(q, passageBytes)
		t.Sources = append(t.Sources, judge.Source{ID: fmt.Sprint(i + 1), Title: cut(text, 60), Text: text})
	}
	t.Cluster = cluster(question)

	a := m.random(kindAnswer, uint64(n))
	t.Output = steps(traceSteps, func() string {
		said := strings.TrimRight(plain(a, m.said.answers, answerBytes), ".!?")
		s := t.Sources[a.IntN(len(t.Sources))]
		if quote := m.quotation(a, s.Text); quote != "" && a.IntN(2) == 0 {
			said += `, for "` + quote + `"`
		}
		return said + " [" + s.ID + "]."
	})
	m.label(&t, n)
	return t
}

// domains: a third of the traces are of high stakes.
var domains = []string{"general", "science", "history", "education", "legal", "medical"}

// cluster: a third of the questions stands alone, a third has its candidates
// together, a third belongs to conversations of four questions.
func cluster(question int) string {
	switch question % 3 {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("question-%d", question)
	}
	return fmt.Sprintf("conversation-%d", question/12)
}

func steps(n int, say func() string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "Step %d: %s", i+1, say())
	}
	return b.String()
}

// plain says prose without numbers: a number that is in no source would rightly
// send the trace to a person, and how many go there is to be chosen.
func plain(r *rand.Rand, c *chain, bytes int) string {
	var b strings.Builder
	for b.Len() < bytes {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(c.plain(r))
	}
	return cut(b.String(), bytes+bytes/4)
}

// quotation is a run of words of a passage, empty when it has a number in it.
func (m maker) quotation(r *rand.Rand, passage string) string {
	words := strings.Fields(passage)
	length := 6 + r.IntN(6)
	if len(words) <= length {
		return ""
	}
	from := r.IntN(len(words) - length)
	for _, word := range words[from : from+length] {
		if n, known := m.said.passages.number[word]; !known || m.said.passages.counts[n] || strings.ContainsAny(word, "[]") {
			return ""
		}
	}
	return strings.Trim(strings.Join(words[from:from+length], " "), ".,;:!?()'")
}

// label gives a trace the labels of four of eight people on its citations. They
// agree with each other about as experts do: eight times of ten.
func (m maker) label(t *judge.Trace, n int) {
	r := m.random(kindLabels, uint64(n))
	names := []string{"accurate", "partial", "inaccurate"}
	truth := 0
	if bad := m.flagged(n, builtin.Citations); bad || r.IntN(10) == 0 {
		truth = 1 + r.IntN(2)
	}
	design := designs[r.IntN(len(designs))]
	first := r.IntN(8)
	for i := range labelsOfTrace {
		says := truth
		if r.IntN(5) == 0 {
			says = r.IntN(len(names))
		}
		at := firstDay.Add(time.Duration(n)*17*time.Second + time.Duration(i)*time.Hour)
		blind := r.IntN(10) > 0
		t.Labels = append(t.Labels, judge.HumanLabel{
			Judge: builtin.Citations, Label: names[says], Reviewer: fmt.Sprintf("expert-%d", (first+i)%8+1), At: &at, Blind: &blind,
			Stratum: design.Stratum, InclusionProbability: &design.InclusionProbability,
		})
	}
}

// designs by which the labelled traces were drawn.
var designs = []judge.Draw{
	{Stratum: judge.StratumFlagged, InclusionProbability: 1},
	{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05},
	{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.1},
	{Stratum: judge.StratumBoundaryAudit, InclusionProbability: 0.145},
}
