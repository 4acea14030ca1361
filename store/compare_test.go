package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

var (
	v1 = calibration.Competitor{PromptVersion: "v1-1234567890", Model: "m"}
	v2 = calibration.Competitor{PromptVersion: "v2-1234567890", Model: "m"}
	v3 = calibration.Competitor{PromptVersion: "v2-1234567890", Model: "other"}
)

// rated is a trace with what each version says of it.
type rated struct {
	id, cluster string
	human       judge.Verdict // of an imported label; empty: none
	visible     bool
	said        map[calibration.Competitor]judge.Verdict
	flagged     bool // the first version's item waits for a person
}

// rate imports traces and judges them by every version named.
func (d *desk) rate(traces ...rated) {
	d.t.Helper()
	byTrace := map[string]rated{}
	var items []store.ImportItem
	for _, r := range traces {
		byTrace[r.id] = r
		item := store.ImportItem{Trace: judge.Trace{ID: r.id, Output: "the output of " + r.id, Domain: "general", Run: "nightly", Cluster: r.cluster}}
		if r.human != "" {
			blind := !r.visible
			item.Trace.Labels = []judge.HumanLabel{{Judge: "equivalence", Verdict: r.human, Reviewer: "expert", Blind: &blind}}
		}
		for _, c := range []calibration.Competitor{v1, v2, v3} {
			if _, says := r.said[c]; says {
				item.Plan = append(item.Plan, judge.Planned{Judge: "equivalence", PromptVersion: c.PromptVersion, Engine: judge.EngineOpenAI, Model: c.Model, Judgment: judge.NoJudgment})
			}
		}
		items = append(items, item)
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", items); err != nil {
		d.t.Fatal(err)
	}
	d.judgeQueued(func(w judge.Work) judge.Evaluation {
		r := byTrace[w.Trace.ID]
		c := calibration.Competitor{PromptVersion: w.Planned.PromptVersion, Model: w.Planned.Model}
		e := judge.Evaluation{Status: judge.Accepted, Verdict: r.said[c], Attempts: 1, CostUSD: 0.25, LatencyMS: int64(100 * len(c.Model))}
		if r.flagged && c == v1 {
			e.Status, e.Reasons = judge.InReview, []judge.Reason{{Code: judge.ReasonBelowThreshold}}
		}
		return e
	})
}

// judgeQueued judges all that waits.
func (d *desk) judgeQueued(by func(judge.Work) judge.Evaluation) {
	d.t.Helper()
	for {
		work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 500, Lease: time.Minute})
		if err != nil {
			d.t.Fatal(err)
		}
		if len(work) == 0 {
			return
		}
		var done []judge.Finished
		for _, w := range work {
			e := by(w)
			e.Judge, e.PromptVersion, e.Engine, e.Model = w.Planned.Judge, w.Planned.PromptVersion, w.Planned.Engine, w.Planned.Model
			done = append(done, judge.Finished{Work: w, Evaluation: e})
		}
		if err := d.FinishWork(d.ctx, done); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *desk) compare(a store.Actor, who ...calibration.Competitor) store.Compared {
	d.t.Helper()
	c, err := d.Compare(d.ctx, a, "default", "equivalence", who)
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

func bothSay(first, second judge.Verdict) map[calibration.Competitor]judge.Verdict {
	return map[calibration.Competitor]judge.Verdict{v1: first, v2: second}
}

// Two versions are compared on the traces that both judged, and by the labels that
// count; what was labelled with the verdict on the screen stands apart.
func TestCompareVersions(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.rate(
		rated{id: "t1", human: judge.Fail, said: bothSay(judge.Pass, judge.Fail)},
		rated{id: "t2", human: judge.Pass, cluster: "q", said: bothSay(judge.Pass, judge.Pass)},
		rated{id: "t3", human: judge.Pass, visible: true, said: bothSay(judge.Pass, judge.Pass)},
		rated{id: "t4", said: bothSay(judge.Pass, judge.Fail)},
		rated{id: "t5", human: judge.Pass, said: map[calibration.Competitor]judge.Verdict{v1: judge.Pass}},
		rated{id: "t6", human: judge.Pass, said: map[calibration.Competitor]judge.Verdict{v1: judge.Pass, v2: judge.Fail, v3: judge.Pass}},
	)
	c := d.compare(d.auditor, v1, v2)
	if c.Shared != 5 || c.Withheld != 0 {
		t.Errorf("shared %d, withheld %d", c.Shared, c.Withheld)
	}
	want := []store.VerdictPair{{First: judge.Pass, Second: judge.Fail, N: 3}, {First: judge.Pass, Second: judge.Pass, N: 2}}
	if diff := cmp.Diff(want, c.Pairs); diff != "" {
		t.Errorf("pairs %s", diff)
	}
	effort := store.Effort{N: 5, Asked: 5, CostUSD: 1.25, MedianMS: 100, P95MS: 100, Timed: 5}
	if diff := cmp.Diff([]store.Effort{effort, effort}, c.Effort); diff != "" {
		t.Errorf("effort %s", diff)
	}
	ids := func(list []store.ComparedTrace) (ids []string) {
		for _, x := range list {
			ids = append(ids, x.TraceID)
		}
		return ids
	}
	if got := ids(c.Labelled); !slices.Equal(got, []string{"t1", "t2", "t6"}) || c.Labelled[1].Cluster != "q" {
		t.Errorf("labelled %v", got)
	}
	if got := ids(c.Visible); !slices.Equal(got, []string{"t3"}) {
		t.Errorf("visible %v", got)
	}
	if got := ids(c.Differences); !slices.Equal(got, []string{"t1", "t6", "t4"}) {
		t.Errorf("differences %v: what one passes and people fail comes first, then false alarms, then what nobody labelled", got)
	}
	if three := d.compare(d.auditor, v1, v2, v3); three.Shared != 1 || len(three.Labelled) != 1 || len(three.Labelled[0].Judges) != 3 || three.Effort[2].MedianMS != 500 {
		t.Errorf("three %+v", three)
	}
}

// Of several evaluations of a trace by one version and model the newest counts, once.
func TestCompareCountsATraceOnce(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.rate(rated{id: "t1", human: judge.Pass, said: bothSay(judge.Pass, judge.Pass)}, rated{id: "t2", human: judge.Pass, said: bothSay(judge.Pass, judge.Pass)})
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{{Trace: judge.Trace{ID: "t1", Output: "the output of t1", Domain: "general", Run: "nightly"},
		Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: v1.PromptVersion, Engine: judge.EngineOpenAI, Model: v1.Model, Endpoint: "second", Judgment: judge.NoJudgment}}}}); err != nil {
		t.Fatal(err)
	}
	d.judgeQueued(func(judge.Work) judge.Evaluation {
		return judge.Evaluation{Status: judge.Accepted, Verdict: judge.Fail, Attempts: 1}
	})
	c := d.compare(d.auditor, v1, v2)
	if c.Shared != 2 || len(c.Labelled) != 2 || c.Labelled[0].Judges[0].Verdict != judge.Fail || c.Effort[0].N != 2 {
		t.Errorf("%+v", c)
	}
}

// Two people who say the opposite are tied, and nobody abstained.
func TestCompareTellsTies(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.rate(rated{id: "t1", human: judge.Pass, said: bothSay(judge.Pass, judge.Pass)}, rated{id: "t2", human: judge.Pass, said: bothSay(judge.Pass, judge.Pass)})
	_, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{{Trace: judge.Trace{ID: "t1", Output: "the output of t1", Domain: "general",
		Labels: []judge.HumanLabel{{Judge: "equivalence", Verdict: judge.Fail, Reviewer: "somebody else"}}}}})
	d.must(err)
	for _, x := range d.compare(d.auditor, v1, v2).Labelled {
		if tied := x.TraceID == "t1"; x.Human.Tied != tied || x.Human.Abstained != tied {
			t.Errorf("%s: %+v", x.TraceID, x.Human)
		}
	}
}

// A trace on which the reader may still answer blind tells nothing, not even in a
// sum; who decides nothing sees it.
func TestCompareWithholdsWhatWaitsBlind(t *testing.T) {
	d := openDesk(t)
	d.blind("always")
	d.rate(rated{id: "t1", human: judge.Fail, said: bothSay(judge.Fail, judge.Fail), flagged: true},
		rated{id: "t2", human: judge.Pass, said: bothSay(judge.Pass, judge.Pass)})
	c := d.compare(d.lea, v1, v2)
	if c.Shared != 1 || c.Withheld != 1 || len(c.Labelled) != 1 || c.Labelled[0].TraceID != "t2" || c.Effort[0].N != 1 || c.Effort[0].Timed != 1 {
		t.Errorf("a lead who may answer: %+v", c)
	}
	if c := d.compare(d.auditor, v1, v2); c.Shared != 2 || c.Withheld != 0 || len(c.Labelled) != 2 {
		t.Errorf("an auditor: %+v", c)
	}
	review := d.text(`SELECT id FROM reviews`)
	d.claim(d.lea, review)
	d.first(d.lea, review, judge.Fail)
	if c := d.compare(d.lea, v1, v2); c.Shared != 2 || c.Withheld != 0 {
		t.Errorf("after her answer: %+v", c)
	}
}

func TestWhoCanBeCompared(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.rate(rated{id: "t1", said: map[calibration.Competitor]judge.Verdict{v1: judge.Pass, v2: judge.Pass, v3: judge.Pass}})
	known, err := d.Competitors(d.ctx, d.lea, "default", "equivalence")
	if err != nil || len(known) != 3 {
		t.Fatalf("%v, error %v", known, err)
	}
	for _, tt := range []struct {
		name string
		want calibration.Competitor
	}{
		{"v1-1234567890", v1}, {"v1-12345", v1}, {"v1-1234567890,m", v1}, {"v2-12345,other", v3}, {"v2-1234567890,m", v2},
	} {
		if got, err := store.FindCompetitor(known, "a", tt.name); err != nil || got != tt.want {
			t.Errorf("%s: %v, error %v", tt.name, got, err)
		}
	}
	for _, bad := range []string{"", "v1", "v2-1234567890", "v1-12345,other", "v9-99999"} {
		if got, err := store.FindCompetitor(known, "a", bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v, error %v", bad, got, err)
		}
	}
	for name, who := range map[string][]calibration.Competitor{"one": {v1}, "twice the same": {v1, v1}, "too many": slices.Repeat([]calibration.Competitor{v1}, 6)} {
		if _, err := d.Compare(d.ctx, d.lea, "default", "equivalence", who); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Compare(d.ctx, d.ann, "default", "equivalence", []calibration.Competitor{v1, v2}); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	if _, err := d.Compare(d.ctx, d.lea, "default", "none", []calibration.Competitor{v1, v2}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such judge: %v", err)
	}
}

// Goal: under a second at 100,000 traces that both judged, every tenth labelled.
func BenchmarkCompare(b *testing.B) {
	d := openDesk(b)
	d.blind("never")
	for from := 0; from < 100_000; from += 500 {
		var traces []rated
		for n := from; n < from+500; n++ {
			r := rated{id: fmt.Sprintf("t%06d", n), said: bothSay(judge.Pass, judge.Pass)}
			if n%7 == 0 {
				r.said[v2] = judge.Fail
			}
			if n%10 == 0 {
				r.human = judge.Pass
			}
			traces = append(traces, r)
		}
		d.rate(traces...)
	}
	for _, who := range []store.Actor{d.auditor, d.lea} {
		b.Run(string(who.Role), func(b *testing.B) {
			for b.Loop() {
				if c := d.compare(who, v1, v2); c.Shared != 100_000 || len(c.Labelled) != 10_000 {
					b.Fatalf("%d shared", c.Shared)
				}
			}
		})
	}
}
