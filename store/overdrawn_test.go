package store_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
	"github.com/countersign/countersign/store/storetest"
)

// TestLabelsOfTwoDrawsCorrectNoRelease: imported labels that say they were drawn with 60%
// and are of all the work stand for more than there is, and no release rests on them.
func TestLabelsOfTwoDrawsCorrectNoRelease(t *testing.T) {
	for _, chance := range []float64{1, 0.6} {
		d := openDesk(t)
		plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
		storetest.Population(t, d.Store, plan, "p", 100, func(i int) storetest.Judged {
			j := storetest.Judged{Score: 0.9, Verdict: judge.Pass}
			if i > 0 { // one is not labelled: it is no census
				said := judge.Pass
				if i%10 == 0 {
					said = judge.Fail
				}
				j.People = []judge.HumanLabel{{Judge: deskJudge.Name, Verdict: said, Reviewer: "panel", Stratum: judge.StratumRandomAudit, InclusionProbability: &chance}}
			}
			return j
		})
		in, err := d.ReleaseKnown(d.ctx, d.auditor, "default", []release.Rater{{Judge: deskJudge.Name, Model: "m", PromptVersion: deskJudge.PromptVersion}})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(in.Notes, " ")
		if refused := chance < 1; refused != (len(in.Labels) == 0) || refused != strings.Contains(said, "stand for 165 of 100") {
			t.Errorf("chance %v: %d labels, notes %q", chance, len(in.Labels), said)
		}
	}
}
