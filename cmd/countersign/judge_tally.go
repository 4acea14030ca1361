package main

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/countersign/countersign/judge"
)

// runTally counts what an output holds, whichever run made it.
type runTally struct {
	mu       sync.Mutex // what stands at its place is counted while reading, the rest while writing
	total    int
	earlier  int // of them those that were there from before
	failed   int // the judge failed for good
	statuses map[judge.Status]int
	verdicts map[judge.Verdict]int
	costUSD  float64
	unpriced int
}

func newRunTally() *runTally {
	return &runTally{statuses: map[judge.Status]int{}, verdicts: map[judge.Verdict]int{}}
}

// tallied is what is counted of an evaluation.
type tallied struct {
	Status        judge.Status   `json:"status"`
	Verdict       judge.Verdict  `json:"verdict"`
	CostUSD       float64        `json:"cost_usd"`
	UnpricedCalls int            `json:"unpriced_calls"`
	Reasons       []judge.Reason `json:"reasons"`
}

// add counts an evaluation of this run, or of one before that is copied.
func (n *runTally) add(e tallied, before bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.total++
	if before {
		n.earlier++
	}
	n.statuses[e.Status]++
	n.verdicts[e.Verdict]++
	n.costUSD += e.CostUSD
	n.unpriced += e.UnpricedCalls
	if judgeFailed(judge.Evaluation{Reasons: e.Reasons}) {
		n.failed++
	}
}

// before counts the line of an earlier run.
func (n *runTally) before(line []byte) error {
	var e tallied
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("an evaluation of an earlier run: %w", err)
	}
	n.add(e, true)
	return nil
}

// text is what a summary says of it.
func (n *runTally) text() string {
	return fmt.Sprintf("%s: %s accepted, %s for review, %s refused; %s pass, %s borderline, %s fail, %s without a verdict",
		plural(n.total, "evaluation", "evaluations"),
		thousands(n.statuses[judge.Accepted]), thousands(n.statuses[judge.InReview]), thousands(n.statuses[judge.Refused]),
		thousands(n.verdicts[judge.Pass]), thousands(n.verdicts[judge.Borderline]), thousands(n.verdicts[judge.Fail]),
		thousands(n.verdicts[""]))
}

// rest of a summary: what was there from before, the cost, and what failed.
func (n *runTally) rest() (text string) {
	if n.earlier > 0 {
		text += fmt.Sprintf("; %s of them there from before", thousands(n.earlier))
	}
	if n.costUSD > 0 {
		text += fmt.Sprintf("; $%.4f", n.costUSD)
	}
	if n.unpriced > 0 && n.costUSD > 0 {
		text += fmt.Sprintf(" and %s without a price", plural(n.unpriced, "call", "calls"))
	}
	if n.failed > 0 {
		text += fmt.Sprintf("\n%s could not be judged: the reasons say why (judge_failed)", plural(n.failed, "evaluation", "evaluations"))
	}
	return text
}
