package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// consensus is a row as far as the rule makes it.
type consensus struct {
	Basis, Verdict, Label    string
	Abstained, Tied, Visible bool
	Labels                   int
}

func (d *desk) consensus(trace string) (c consensus) {
	d.t.Helper()
	err := d.raw.QueryRowContext(d.ctx, `
SELECT c.basis, c.verdict, c.label, c.abstained, c.tied, c.visible, c.labels
FROM consensus c JOIN traces t ON t.id = c.trace_id WHERE t.external_id = ?`, trace).Scan(
		&c.Basis, &c.Verdict, &c.Label, &c.Abstained, &c.Tied, &c.Visible, &c.Labels)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func TestConsensus(t *testing.T) {
	at := func(day int) *time.Time { v := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC); return &v }
	no := false
	label := func(reviewer, name string) judge.HumanLabel {
		return judge.HumanLabel{Judge: "equivalence", Reviewer: reviewer, Label: name, At: at(1)}
	}
	with := func(l judge.HumanLabel, change func(*judge.HumanLabel)) judge.HumanLabel { change(&l); return l }
	adjudicated := func(l *judge.HumanLabel) { l.Adjudicated = true }
	for name, c := range map[string]struct {
		labels []judge.HumanLabel
		want   consensus
	}{
		"one": {[]judge.HumanLabel{label("x", "same-thing")},
			consensus{Basis: "imported", Verdict: "pass", Label: "same-thing", Labels: 1}},
		"majority": {[]judge.HumanLabel{label("x", "same-thing"), label("y", "other-thing"), label("z", "other-thing")},
			consensus{Basis: "imported", Verdict: "fail", Label: "other-thing", Labels: 3}},
		"tie": {[]judge.HumanLabel{label("x", "same-thing"), label("y", "other-thing")},
			consensus{Basis: "imported", Tied: true, Labels: 2}},
		"adjudicated against the majority": {[]judge.HumanLabel{label("x", "same-thing"), label("y", "same-thing"), with(label("p", "other-thing"), adjudicated)},
			consensus{Basis: "adjudicated", Verdict: "fail", Label: "other-thing", Labels: 3}},
		"the newest of two adjudicated": {[]judge.HumanLabel{
			with(label("p", "other-thing"), func(l *judge.HumanLabel) { l.Adjudicated, l.At = true, at(9) }), with(label("q", "same-thing"), adjudicated)},
			consensus{Basis: "adjudicated", Verdict: "fail", Label: "other-thing", Labels: 2}},
		"a reviewer who changed their mind counts once": {[]judge.HumanLabel{label("x", "same-thing"),
			with(label("x", "other-thing"), func(l *judge.HumanLabel) { l.At = at(5) }), label("y", "same-thing"), label("z", "other-thing")},
			consensus{Basis: "imported", Verdict: "fail", Label: "other-thing", Labels: 4}},
		"labels without a reviewer count each": {[]judge.HumanLabel{with(label("", "other-thing"), func(l *judge.HumanLabel) { l.Comment = "first" }),
			with(label("", "other-thing"), func(l *judge.HumanLabel) { l.Comment = "second" }), label("x", "same-thing")},
			consensus{Basis: "imported", Verdict: "fail", Label: "other-thing", Labels: 3}},
		"abstentions give way": {[]judge.HumanLabel{label("x", "undetermined"), label("y", "undetermined"), label("z", "same-thing")},
			consensus{Basis: "imported", Verdict: "pass", Label: "same-thing", Labels: 3}},
		"only abstentions": {[]judge.HumanLabel{label("x", "undetermined"), label("y", "undetermined")},
			consensus{Basis: "imported", Verdict: "borderline", Label: "undetermined", Abstained: true, Labels: 2}},
		"label and verdict that agree": {[]judge.HumanLabel{label("x", "same-thing"), {Judge: "equivalence", Reviewer: "y", Verdict: judge.Pass}},
			consensus{Basis: "imported", Verdict: "pass", Label: "same-thing", Labels: 2}},
		"verdict alone": {[]judge.HumanLabel{{Judge: "equivalence", Reviewer: "y", Verdict: judge.Fail}},
			consensus{Basis: "imported", Verdict: "fail", Labels: 1}},
		"not blind": {[]judge.HumanLabel{label("x", "same-thing"), with(label("y", "same-thing"), func(l *judge.HumanLabel) { l.Blind = &no })},
			consensus{Basis: "imported", Verdict: "pass", Label: "same-thing", Visible: true, Labels: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.put(judged{id: "t1", labels: c.labels})
			if diff := cmp.Diff(c.want, d.consensus("t1")); diff != "" {
				t.Errorf("consensus (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecisionsOutrankImportedLabels(t *testing.T) {
	d := openDesk(t)
	said := func(who string) judge.HumanLabel {
		return judge.HumanLabel{Judge: "equivalence", Reviewer: who, Label: "same-thing"}
	}
	id := d.put(judged{id: "t1", labels: []judge.HumanLabel{said("x"), said("y")}})["t1"]
	d.claim(d.ann, id)
	d.first(d.ann, id, judge.Fail)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Keep})
	if diff := cmp.Diff(consensus{Basis: "decision", Verdict: "fail", Labels: 3}, d.consensus("t1")); diff != "" {
		t.Errorf("consensus after a decision (-want +got):\n%s", diff)
	}
}
