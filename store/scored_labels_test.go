package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration/threshold"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestScoredLabels: each label beside its score once, what waits blind left out for who
// may decide and for nobody else, and without chances there is no answer.
func TestScoredLabels(t *testing.T) {
	d := openDesk(t)
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	chance, certain := 0.25, 1.0
	storetest.Population(t, d.Store, plan, "p", 40, func(i int) storetest.Judged {
		j := storetest.Judged{Score: 0.9, Verdict: judge.Pass}
		says := judge.HumanLabel{Judge: deskJudge.Name, Reviewer: "panel", Verdict: judge.Pass, Stratum: judge.StratumRandomAudit, InclusionProbability: &chance}
		switch {
		case i < 5: // failed, people agree, two traces of one conversation
			j.Score, j.Verdict, j.Cluster = 0.2, judge.Fail, []string{"talk", "talk", "", "", ""}[i]
			says.Verdict, says.Stratum, says.InclusionProbability = judge.Fail, judge.StratumFlagged, &certain
		case i == 5: // waits blind, and came with a label
			j.Draw = &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.25}
		case i == 6:
			says.Verdict = judge.Borderline
		case i > 15:
			return j
		}
		j.People = []judge.HumanLabel{says}
		return j
	})
	for _, c := range []struct {
		who       store.Actor
		all, pass int
	}{{d.lea, 14, 34}, {d.auditor, 15, 35}} {
		l, err := d.ScoredLabels(d.ctx, c.who, "default", deskJudge.Name, "m", deskJudge.PromptVersion)
		if err != nil || l.All != c.all || len(l.Labels) != c.all || l.Unsure != 1 || !slices.Equal(l.Judged, []int{c.pass, 0, 5}) {
			t.Fatalf("%s reads %d labels, all %d, unsure %d, judged %v, %v", c.who.Name, len(l.Labels), l.All, l.Unsure, l.Judged, err)
		}
		clusters := map[uint64]int{}
		for _, x := range l.Labels {
			clusters[x.Cluster]++
			if want := (threshold.Label{Score: 0.9, Pass: true, Probability: 0.25, Stratum: x.Stratum, Cluster: x.Cluster}); x.Verdict == 0 && x != want {
				t.Errorf("a label of what passed is %+v", x)
			}
			if x.Verdict == 2 && (x.Score != 0.2 || x.Pass || x.Probability != 1) {
				t.Errorf("a label of what failed is %+v", x)
			}
		}
		if len(clusters) != c.all-1 {
			t.Errorf("%d clusters of %d labels", len(clusters), c.all)
		}
		usable, refused, err := l.Usable()
		if err != nil || refused != "" || len(usable) != c.all {
			t.Errorf("usable are %d, %q, %v", len(usable), refused, err)
		}
	}
	_, err := d.ScoredLabels(d.ctx, d.ann, "default", deskJudge.Name, "m", deskJudge.PromptVersion)
	wantErr(t, "a reviewer", err, store.ErrForbidden)
	_, err = d.ScoredLabels(d.ctx, d.lea, "default", deskJudge.Name, "other", deskJudge.PromptVersion)
	wantErr(t, "another model", err, store.ErrNotFound)

	storetest.Population(t, d.Store, judge.Planned{Judge: plan.Judge, PromptVersion: plan.PromptVersion, Engine: plan.Engine, Model: "unknown", Judgment: plan.Judgment}, "q", 6, func(i int) storetest.Judged {
		j := storetest.Judged{Score: 0.9, Verdict: judge.Pass}
		if i < 3 {
			j.People = []judge.HumanLabel{{Judge: deskJudge.Name, Reviewer: "panel", Verdict: judge.Pass}}
		}
		return j
	})
	l, err := d.ScoredLabels(d.ctx, d.lea, "default", deskJudge.Name, "unknown", deskJudge.PromptVersion)
	if err != nil || l.UnknownChance != 3 {
		t.Errorf("labels of unknown chance are %d, %v", l.UnknownChance, err)
	}
	if _, refused, err := l.Usable(); err != nil || !strings.Contains(refused, "no known chance of being drawn") {
		t.Errorf("they are refused with %q, %v", refused, err)
	}
}

// TestStoredChanceTooSmall: a chance from before a least one was asked for counts as not
// known, so that no figure is a sum of infinities.
func TestStoredChanceTooSmall(t *testing.T) {
	d := openDesk(t)
	plan := judge.Planned{Judge: deskJudge.Name, PromptVersion: deskJudge.PromptVersion, Engine: judge.EngineRules, Model: "m", Judgment: judge.NoJudgment}
	chance := 0.25
	storetest.Population(t, d.Store, plan, "p", 6, func(i int) storetest.Judged {
		j := storetest.Judged{Score: 0.9, Verdict: judge.Pass}
		if i < 3 {
			j.People = []judge.HumanLabel{{Judge: deskJudge.Name, Reviewer: "panel", Verdict: judge.Pass, InclusionProbability: &chance}}
		}
		return j
	})
	if _, err := d.raw.Exec(`UPDATE agreement_cells SET inclusion_probability = 1e-300 WHERE inclusion_probability IS NOT NULL`); err != nil {
		t.Fatal(err)
	}
	l, err := d.ScoredLabels(d.ctx, d.lea, "default", deskJudge.Name, "m", deskJudge.PromptVersion)
	if err != nil || l.UnknownChance != 3 {
		t.Errorf("labels of unknown chance are %d, %v", l.UnknownChance, err)
	}
	if _, refused, err := l.Usable(); err != nil || !strings.Contains(refused, "at least 0.000001; less counts as not known") {
		t.Errorf("they are refused with %q, %v", refused, err)
	}
	drawn, err := d.DrawnLabels(d.ctx, d.lea, "default", deskJudge.Name)
	if err != nil || len(drawn) != 1 || drawn[0].InclusionProbability != 0 {
		t.Errorf("a release reads %+v, %v", drawn, err)
	}
}
