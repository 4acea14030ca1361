package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestDrawnLabelsKeepTheirDesign: labels are counted by both answers and by how they were
// drawn, a label means its verdict, and those in sight of the judge's verdict are left out.
func TestDrawnLabelsKeepTheirDesign(t *testing.T) {
	d := openDesk(t)
	d.record(yesNo, []kind{
		{n: 5, model: "m", says: "Yes", labels: map[string]string{"ann": "Yes"}},
		{n: 2, model: "m", says: "No", panel: "Yes"},
		{n: 3, model: "m", says: "No"},
	})
	seen := false
	tenth := 0.1
	var labelled []store.ImportItem
	for id, l := range map[string]judge.HumanLabel{
		"2-0": {Judge: yesNo.Name, Label: "No", Reviewer: "ann", Stratum: judge.StratumRandomAudit, InclusionProbability: &tenth},
		"2-1": {Judge: yesNo.Name, Label: "No", Reviewer: "ann", Blind: &seen},
	} {
		labelled = append(labelled, store.ImportItem{Trace: judge.Trace{ID: id, Output: "o", Domain: "general",
			Judgments: []judge.Judgment{{Judge: yesNo.Name, Model: "m", Raw: "No"}}, Labels: []judge.HumanLabel{l}},
			Plan: []judge.Planned{{Judge: yesNo.Name, PromptVersion: yesNo.PromptVersion, Engine: judge.EngineRecorded, Model: "m"}}})
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", labelled); err != nil {
		t.Fatal(err)
	}
	labels, err := d.DrawnLabels(d.ctx, d.auditor, "default", yesNo.Name)
	if err != nil {
		t.Fatal(err)
	}
	type sum struct {
		judge, people judge.Verdict
		stratum       string
		probability   float64
	}
	got := map[sum]int{}
	for _, l := range labels {
		if l.Model != "m" || l.PromptVersion != yesNo.PromptVersion {
			t.Errorf("a label of another rater: %+v", l)
		}
		got[sum{l.Judge.Verdict, l.Human.Verdict, l.Stratum, l.InclusionProbability}] += l.N
	}
	want := map[sum]int{
		{judge.Pass, judge.Pass, judge.StratumImported, 0}: 5, {judge.Fail, judge.Pass, judge.StratumImported, 0}: 2,
		{judge.Fail, judge.Fail, judge.StratumRandomAudit, 0.1}: 1,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(sum{})); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if _, err := d.DrawnLabels(d.ctx, d.auditor, "default", "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown judge: %v", err)
	}
}
