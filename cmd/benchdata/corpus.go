package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/countersign/countersign/cmd/countersign/demo"
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

// corpus is what is said in each place of a trace and of a report, learnt from
// the real traces of the demo.
type corpus struct {
	questions *chain
	answers   *chain // of outputs and references
	passages  *chain // of sources
	critiques *chain // of reports
}

// aside is what a marker, a heading or a label leaves in a text: the chain says
// prose, and the trace puts markers of its own into it.
var aside = regexp.MustCompile(`\[[^\]]*\]|#+|\*+|"|(?m:^\s*(?:Step )?\d+[.:])`)

func learn() (*corpus, error) {
	c := &corpus{questions: newChain(), answers: newChain(), passages: newChain(), critiques: newChain()}
	for _, set := range demo.Sets() {
		if set.Name == "workbenches" { // written, and so no model of what real traces are like
			continue
		}
		traces, err := readSet(set)
		if err != nil {
			return nil, fmt.Errorf("the demo's set %s: %w", set.Name, err)
		}
		for _, t := range traces {
			prose := func(text string) string { return aside.ReplaceAllString(text, " ") }
			c.questions.learn(prose(t.Question))
			if set.Name == "mr_gsm8k_grading" {
				c.critiques.learn(prose(t.Output))
				c.critiques.learn(prose(t.Reference))
			} else {
				c.answers.learn(prose(t.Output))
				c.answers.learn(prose(t.Reference))
			}
			for _, s := range t.Sources {
				c.passages.learn(strings.ReplaceAll(s.Text, `"`, " "))
			}
		}
	}
	return c, nil
}

func readSet(set demo.Set) (traces []judge.Trace, err error) {
	file, err := set.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, err := tracefile.NewReader(set.Name+".jsonl", file, tracefile.Options{})
	if err != nil {
		return nil, err
	}
	for {
		t, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			return traces, nil
		}
		if err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
}
