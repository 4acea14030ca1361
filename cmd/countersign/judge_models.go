package main

import (
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// compare holds what several models say of one trace against each other, by the
// rule of projects; where they disagree, a person decides. What earlier runs made
// takes part.
func compare(all []made, under judge.Effective) error {
	evaluations := make([]*judge.Evaluation, len(all))
	fresh := false
	for i := range all {
		evaluations[i] = &all[i].evaluation
		if all[i].kept == nil {
			fresh = true
			continue
		}
		if err := json.Unmarshal(all[i].kept, evaluations[i]); err != nil {
			return fmt.Errorf("an evaluation of an earlier run: %w", err)
		}
	}
	if !fresh {
		return nil // compared already
	}
	for _, i := range harness.Compare(evaluations, under) {
		list := *evaluations[i]
		list.Calls = nil
		line, err := jsonLine(list)
		if err != nil {
			return err
		}
		if all[i].kept != nil {
			all[i].kept = line
		} else {
			all[i].lines.evaluation = line
		}
	}
	return nil
}
