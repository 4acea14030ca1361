package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store"
)

// examplesDesk is a desk whose judge reference is the built-in one.
type examplesDesk struct {
	*desk
	reference judge.Judge
}

func openExamples(t *testing.T) *examplesDesk {
	d := &examplesDesk{desk: openDesk(t)}
	for _, j := range builtin.Judges() {
		if j.Name == builtin.Reference {
			d.reference = j
		}
	}
	if err := d.SaveJudges(d.ctx, store.Operator("test"), "default", []judge.Judge{d.reference}); err != nil {
		t.Fatal(err)
	}
	d.blind("never")
	return d
}

// compared is a trace on the desk, judged as a substantive difference; settled is
// the label that a person gives it, none when it is left open.
type compared struct {
	id, domain, cluster, output, settled string
}

// compare puts traces on the desk and settles them; it gives the review ids.
func (d *examplesDesk) compare(items ...compared) map[string]string {
	d.t.Helper()
	var imports []store.ImportItem
	byID := map[string]compared{}
	for _, it := range items {
		byID[it.id] = it
		if it.output == "" {
			it.output = "the output of " + it.id
		}
		imports = append(imports, store.ImportItem{
			Trace: judge.Trace{ID: it.id, Output: it.output, Reference: "the reference of " + it.id, Domain: it.domain, Cluster: it.cluster},
			Plan:  []judge.Planned{{Judge: "reference", PromptVersion: d.reference.PromptVersion, Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}},
		})
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", imports); err != nil {
		d.t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: len(items), Lease: time.Minute})
	if err != nil || len(work) != len(items) {
		d.t.Fatalf("claimed %d evaluations of %d, error %v", len(work), len(items), err)
	}
	var done []judge.Finished
	for _, w := range work {
		e := failing()
		e.Engine, e.Model, e.Judge, e.PromptVersion = judge.EngineOpenAI, "m", "reference", d.reference.PromptVersion
		e.Label = "substantive_difference"
		done = append(done, judge.Finished{Work: w, Evaluation: e})
	}
	if err := d.FinishWork(d.ctx, done); err != nil {
		d.t.Fatal(err)
	}
	reviews := map[string]string{}
	for _, w := range work {
		id := d.text(`SELECT id FROM reviews WHERE evaluation_id = '` + w.EvaluationID + `'`)
		reviews[w.Trace.ID] = id
		d.settle(d.ann, id, byID[w.Trace.ID].settled)
	}
	return reviews
}

func (d *examplesDesk) settle(by store.Actor, review, label string) {
	d.t.Helper()
	switch label {
	case "":
		return
	case "substantive_difference":
		d.claim(by, review)
		d.decide(by, review, store.DecisionInput{Action: store.Confirm})
	default:
		d.claim(by, review)
		d.decide(by, review, store.DecisionInput{Action: store.Override, Label: label, ReasonCode: "judge_wrong", Comment: "no"})
	}
}

// set stores a policy as a file says it.
func (d *examplesDesk) set(text string) (store.Project, error) {
	d.t.Helper()
	p, err := judge.ParsePolicy("p.yaml", []byte(text))
	if err != nil {
		d.t.Fatal(err)
	}
	now, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		d.t.Fatal(err)
	}
	p.Version = now.Policy.Version
	return d.SetPolicy(d.ctx, d.lea, "default", p, "", d.reference)
}

func (d *examplesDesk) mustSet(text string) {
	d.t.Helper()
	if _, err := d.set(text); err != nil {
		d.t.Fatal(err)
	}
}

// drawn are the traces of the present examples of reference.
func (d *examplesDesk) drawn() []string {
	d.t.Helper()
	return tracesOf(d.draw())
}

func tracesOf(draw store.ExampleDraw) []string {
	var ids []string
	for _, e := range draw.Examples {
		ids = append(ids, e.TraceID)
	}
	return ids
}

func (d *examplesDesk) draw() store.ExampleDraw {
	d.t.Helper()
	draws, err := d.ExampleDraws(d.ctx, "default")
	if err != nil || len(draws) != 1 {
		d.t.Fatalf("%d draws, error %v, want one", len(draws), err)
	}
	return draws[0]
}

func (d *examplesDesk) refresh() store.Project {
	d.t.Helper()
	p, err := d.RefreshExamples(d.ctx, d.lea, "default", "", d.reference)
	if err != nil {
		d.t.Fatal(err)
	}
	return p
}

func asking(seed int) string {
	return fmt.Sprintf("blind: {mode: never}\nrules:\n  - {judge: reference, examples: {from: confirmed, count: 3, seed: %d}}\n", seed)
}

const (
	same      = "semantic_equivalent"
	varies    = "acceptable_variation"
	different = "substantive_difference"
)

// Only what people settled, and nobody reviews any more, can be an example.
func TestExamplePool(t *testing.T) {
	d := openExamples(t)
	long := strings.Repeat("x", judge.MaxExampleText)
	d.compare(
		compared{id: "same", settled: same}, compared{id: "varies", settled: varies}, compared{id: "different", settled: different},
		compared{id: "open"}, compared{id: "open-in-cluster", cluster: "k"}, compared{id: "cluster-of-open", cluster: "k", settled: same},
		compared{id: "long", output: long, settled: same}, compared{id: "class-of-no-model", settled: "exact_match"},
	)
	// A newer revision makes the settled one a past one.
	d.compare(compared{id: "revised", settled: same})
	d.compare(compared{id: "revised", output: "another output"})
	d.mustSet(asking(1))
	draw := d.draw()
	got := tracesOf(draw)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"different", "same", "varies"}, got); diff != "" {
		t.Errorf("drawn (-want +got):\n%s", diff)
	}
	if draw.Settled != 5 || draw.Usable != 3 || draw.Warning() != "" {
		t.Errorf("of %d settled %d are usable, warning %q; want 5 and 3", draw.Settled, draw.Usable, draw.Warning())
	}
	// Seed by seed, what waits is never drawn: an open blind item least of all.
	d.mustSet("rules:\n  - {judge: reference, examples: {from: confirmed, count: 3, seed: 0}}\n") // blind again
	blind := d.compare(compared{id: "blind"}, compared{id: "blind-cluster", cluster: "b"})
	if n := d.number(`SELECT count(*) FROM reviews WHERE blind AND state = 'open' AND id IN ('` + blind["blind"] + `', '` + blind["blind-cluster"] + `')`); n != 2 {
		t.Fatalf("%d blind items wait, want 2", n)
	}
	for seed := range 12 {
		d.mustSet(strings.Replace(asking(seed+2), "never", "always", 1))
		for _, id := range d.drawn() {
			if !slices.Contains([]string{"same", "varies", "different"}, id) {
				t.Errorf("seed %d draws %s", seed+2, id)
			}
		}
	}
}

// The same labels and seed give the same draw; other labels another one, but only
// when it is asked for.
func TestExamplesAreDrawnOnce(t *testing.T) {
	d := openExamples(t)
	var items []compared
	for i := range 9 {
		items = append(items, compared{id: fmt.Sprint("t", i), settled: []string{same, varies, different}[i%3]})
	}
	reviews := d.compare(items...)
	d.mustSet(asking(1))
	first := d.draw()
	if len(first.Examples) != 3 {
		t.Fatalf("drawn %v", first)
	}
	version := d.reference.WithExamples(first.Examples).PromptVersion

	before := first.PolicyVersion
	if p := d.refresh(); p.Policy.Version != before {
		t.Errorf("a refresh with nothing new made version %d", p.Policy.Version)
	}
	// Other parts of the policy leave the draw alone, labels too.
	d.settle(d.lea, d.reopened(reviews[first.Examples[0].TraceID]), other(first.Examples[0].Label))
	d.mustSet(asking(1) + "samples: 2\n")
	if now := d.draw(); cmp.Diff(first, now) != "" {
		t.Errorf("another policy changed the draw: %s", cmp.Diff(first, now))
	}
	after := d.refresh()
	now := d.draw()
	if after.Policy.Version != before+2 || now.PolicyVersion != after.Policy.Version {
		t.Errorf("after a refresh the policy has version %d and its draw %d, want %d", after.Policy.Version, now.PolicyVersion, before+2)
	}
	if got := d.reference.WithExamples(now.Examples).PromptVersion; got == version {
		t.Error("other labels gave the same prompt version")
	}
	if d.reference.WithExamples(first.Examples).PromptVersion != version {
		t.Error("a draw read once more has another prompt version")
	}
	all, err := d.EarlierExamples(d.ctx, "default", "reference")
	if err != nil || len(all) != 2 || d.reference.VersionOf(version, all...) == nil {
		t.Errorf("%d draws on record, error %v; the first is not found again", len(all), err)
	}
	// Off and on again draws anew; off is off.
	d.mustSet("blind: {mode: never}\n")
	if draws, err := d.ExampleDraws(d.ctx, "default"); err != nil || len(draws) != 0 {
		t.Errorf("the policy asks for none: %v, error %v", draws, err)
	}
	if _, err := d.RefreshExamples(d.ctx, d.lea, "default", "", d.reference); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a refresh where none are asked for: %v", err)
	}
	d.mustSet(asking(1))
	if again := d.draw(); cmp.Diff(now.Examples, again.Examples) != "" {
		t.Errorf("the same labels and seed: %s", cmp.Diff(now.Examples, again.Examples))
	}
	d.mustSet(asking(2))
	if d.draw().PolicyVersion == after.Policy.Version {
		t.Error("another seed drew nothing")
	}
	for _, query := range []string{`UPDATE drawn_examples SET text = ''`, `DELETE FROM drawn_examples`, `UPDATE example_draws SET usable = 0`, `DELETE FROM example_draws`} {
		if _, err := d.raw.Exec(query); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v, want a refusal", query, err)
		}
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("the audit chain: %+v, error %v", v, err)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'examples.drawn'`); n != 4 {
		t.Errorf("%d draws are on record, want 4", n)
	}
}

func (d *examplesDesk) reopened(review string) string {
	d.t.Helper()
	if err := d.Reopen(d.ctx, d.lea, review, "look again"); err != nil {
		d.t.Fatal(err)
	}
	return review
}

func other(label string) string {
	if label == same {
		return varies
	}
	return same
}

// Too few: the judge keeps its own, and it is said.
func TestTooFewExamples(t *testing.T) {
	d := openExamples(t)
	d.compare(compared{id: "a", settled: same}, compared{id: "b", settled: same})
	d.mustSet(asking(1))
	draw := d.draw()
	if len(draw.Examples) != 0 || draw.Settled != 2 || draw.Usable != 2 || !strings.Contains(draw.Warning(), "judge reference keeps its own examples") {
		t.Errorf("drawn %+v, warning %q", draw, draw.Warning())
	}
	if j := d.reference.WithExamples(draw.Examples); j.PromptVersion != d.reference.PromptVersion {
		t.Error("a draw without examples made another version")
	}
	d.compare(compared{id: "c", settled: different})
	d.refresh()
	if got := d.drawn(); len(got) != 3 || d.draw().Warning() != "" {
		t.Errorf("after one more: %v, warning %q", got, d.draw().Warning())
	}
	// What can't be drawn here is refused, and nothing is changed.
	p, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	changed := p.Policy
	changed.Rules = []judge.PolicyRule{{Judge: "citations", Examples: &judge.ExampleRule{From: "confirmed", Count: 3}}}
	if _, err := d.SetPolicy(d.ctx, d.lea, "default", changed, "", d.reference); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a judge that is not here: %v", err)
	}
	if _, err := d.RefreshExamples(d.ctx, d.ann, "default", "", d.reference); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	if now, err := d.ProjectNamed(d.ctx, "default"); err != nil || cmp.Diff(p, now) != "" {
		t.Errorf("a refused change changed something: %s, error %v", cmp.Diff(p, now), err)
	}
}

// An example's domain must be allowed wherever the judge may be sent; a policy
// that sends less of it away draws anew.
func TestExamplesGoNowhereElse(t *testing.T) {
	d := openExamples(t)
	d.compare(compared{id: "ward-1", domain: "medical", settled: same}, compared{id: "ward-2", domain: "medical", settled: different},
		compared{id: "a", domain: "general", settled: same}, compared{id: "b", domain: "general", settled: varies})
	d.mustSet(asking(1))
	first := d.draw()
	if !slices.ContainsFunc(first.Examples, func(e judge.Example) bool { return e.Domain == "medical" }) {
		t.Fatalf("drawn %v: nothing medical to be left out", tracesOf(first))
	}
	d.mustSet(asking(1) + "  - {domain: medical, endpoints: [ward-7]}\n")
	now := d.draw()
	got := tracesOf(now)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" || now.Usable != 2 {
		t.Errorf("drawn with %d usable (-want +got):\n%s", now.Usable, diff)
	}
}

// A judge with drawn examples is the one in use; the one without stays on record
// with its labels, and saving both again writes nothing.
func TestSaveJudgeWithExamples(t *testing.T) {
	d := openExamples(t)
	drawn := d.reference.WithExamples([]judge.Example{{Evaluation: "1", Class: same}, {Evaluation: "2", Class: different}})
	save := func() string {
		t.Helper()
		if err := d.SaveJudges(d.ctx, store.Operator("test"), "default", []judge.Judge{drawn}); err != nil {
			t.Fatal(err)
		}
		return d.text(`SELECT count(*) FROM audit_events`)
	}
	if events := save(); save() != events {
		t.Error("saving the same again was an event")
	}
	all, err := d.JudgeVersions(d.ctx, d.lea, "default", "reference")
	if err != nil || len(all) != 2 {
		t.Fatalf("%d versions, error %v", len(all), err)
	}
	for _, v := range all {
		if v.Current != (v.PromptVersion == drawn.PromptVersion) || len(v.Labels) != len(drawn.Labels) {
			t.Errorf("version %.8s: current %v, %d labels", v.PromptVersion, v.Current, len(v.Labels))
		}
	}
}
