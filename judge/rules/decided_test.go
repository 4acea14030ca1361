package rules_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/rules"
)

// verdictOf is people's verdict on a trace for a judge: the adjudicated label,
// else the first. Labels of an own judge that stands in for another one count
// as Yes and No, Entailment and the rest.
func verdictOf(trace judge.Trace, j *judge.Judge) judge.Verdict {
	var first judge.Verdict
	for _, l := range trace.Labels {
		v := l.Verdict
		if known, ok := j.LabelNamed(l.Label); ok && v == "" && l.Judge == j.Name {
			v = known.Verdict
		}
		switch {
		case v != "":
		case l.Label == "Yes", l.Label == "Entailment":
			v = judge.Pass
		case l.Label == "No", l.Label == "Neutral", l.Label == "Contradiction":
			v = judge.Fail
		}
		if l.Judge != j.Name && l.Judge != "answer-equivalence" && l.Judge != "statement-entailment" || v == "" {
			continue
		}
		if l.Adjudicated {
			return v
		}
		if first == "" {
			first = v
		}
	}
	return first
}

// outcome counts what became of the traces of a set.
type outcome struct {
	traces, refused, decided, people int
	pass, fail                       tally // decided ones that people judged too
}

// tally counts answers that agree with a label.
type tally struct{ right, all int }

func (c *tally) add(right bool) {
	c.all++
	if right {
		c.right++
	}
}

func (c tally) share() float64 { return float64(c.right) / float64(max(1, c.all)) }

func (c tally) String() string {
	if c.all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%.1f%%)", c.right, c.all, 100*c.share())
}

// decide runs the engine through the harness, as `countersign judge` does.
// people counts the evaluations that a person gets to see, for whatever reason.
func decide(t *testing.T, j *judge.Judge, list []judge.Trace) outcome {
	t.Helper()
	h, err := harness.New(harness.Config{
		Judges: []judge.Judge{*j}, Engines: map[string]judge.Engine{judge.EngineRules: rules.Engine{}}, Engine: judge.EngineRules,
	})
	if err != nil {
		t.Fatal(err)
	}
	var o outcome
	for _, trace := range list {
		e, _, err := h.EvaluateWith(context.Background(), j, &trace, judge.Planned{Judge: j.Name, Engine: judge.EngineRules, Model: judge.EngineRules})
		if err != nil {
			t.Fatal(err)
		}
		o.traces++
		for _, r := range e.Reasons {
			switch r.Code {
			case judge.ReasonInvalidOutput, judge.ReasonInconsistentOutput, judge.ReasonIncompleteReport, judge.ReasonJudgeFailed:
				t.Errorf("%s, judge %s: %s: %s", trace.ID, j.Name, r.Code, r.Detail)
			}
		}
		switch e.Status {
		case judge.Refused:
			o.refused++
			continue
		case judge.InReview:
			o.people++
		}
		human := verdictOf(trace, j)
		switch e.Verdict {
		case judge.Pass:
			o.decided++
			if human != "" {
				o.pass.add(human == judge.Pass)
			}
		case judge.Fail:
			o.decided++
			if human != "" {
				o.fail.add(human == judge.Fail)
			}
		}
	}
	return o
}

func (o outcome) row(set, judge string) string {
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %v | %v |", set, judge, o.traces, o.refused, o.decided, o.people, o.pass, o.fail)
}

// leastRight is the share of decided passes that must be right.
const leastRight = 0.95

// embedded are the traces of a set that the program ships for its demo.
func embedded(t *testing.T, set string) []judge.Trace {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "cmd", "countersign", "demo", "data", set+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, set, r)
}

func read(t *testing.T, name string, r io.Reader) []judge.Trace {
	t.Helper()
	var out []judge.Trace
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var trace judge.Trace
		if err := json.Unmarshal(lines.Bytes(), &trace); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, trace)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatalf("%s: no traces", name)
	}
	return out
}
