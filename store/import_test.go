package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func TestImportTwiceChangesNothing(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	items := storetest.Items(0, 3)
	items[1].Trace.Labels = []judge.HumanLabel{{Judge: "citations", Label: "partial", Reviewer: "ana"}}

	got := storetest.Import(t, s, items)
	want := []store.Imported{
		{Created: true, Revision: 1, Evaluations: 1},
		{Created: true, Revision: 1, Evaluations: 1, Labels: 1},
		{Created: true, Revision: 1, Evaluations: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("first import (-want +got):\n%s", diff)
	}
	before, err := s.VerifyAudit(ctx, storetest.Operator)
	if err != nil {
		t.Fatal(err)
	}
	got = storetest.Import(t, s, items)
	want = []store.Imported{{Unchanged: true, Revision: 1}, {Unchanged: true, Revision: 1}, {Unchanged: true, Revision: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("second import (-want +got):\n%s", diff)
	}
	after, err := s.VerifyAudit(ctx, storetest.Operator)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the second import wrote audit events (-before +after):\n%s", diff)
	}
	if n, err := s.PendingWork(ctx, "default"); err != nil || n != 3 {
		t.Errorf("PendingWork = %d, %v, want 3", n, err)
	}
}

func TestOtherContentIsANewRevision(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	item := storetest.Items(7, 1)[0]
	storetest.Import(t, s, []store.ImportItem{item})
	first := item.Trace
	item.Trace.Output += " And nothing else [1]."
	got := storetest.Import(t, s, []store.ImportItem{item})
	if diff := cmp.Diff([]store.Imported{{Revised: true, Revision: 2, Evaluations: 1}}, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		ask, revision int
		output        string
		current       bool
	}{{0, 2, item.Trace.Output, true}, {1, 1, first.Output, false}, {2, 2, item.Trace.Output, true}} {
		v, err := s.GetTrace(ctx, storetest.Operator, "default", first.ID, test.ask)
		if err != nil {
			t.Fatal(err)
		}
		if v.Trace.Output != test.output || v.Revision != test.revision || v.Current != test.current || len(v.Evaluations) != 1 {
			t.Errorf("revision %d asked: got revision %d, current %v, %d evaluations, output %q", test.ask, v.Revision, v.Current, len(v.Evaluations), v.Trace.Output)
		}
		var numbers []int
		for _, r := range v.Revisions {
			numbers = append(numbers, r.Number)
		}
		if diff := cmp.Diff([]int{1, 2}, numbers); diff != "" {
			t.Errorf("revisions (-want +got):\n%s", diff)
		}
		if v.Hashes != judge.TraceHashes(v.Trace) {
			t.Errorf("revision %d: stored hashes are not those of its content", test.revision)
		}
	}
	if _, err := s.GetTrace(ctx, storetest.Operator, "default", first.ID, 3); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("revision 3: error %v, want ErrNotFound", err)
	}
}

// A trace comes out as it went in.
func TestTraceRoundTrip(t *testing.T) {
	s := storetest.Open(t, nil)
	in := storetest.Trace(1)
	in.Premises, in.Tags, in.Metadata = []string{"p"}, []string{"x", "y"}, map[string]any{"deep": map[string]any{"n": 1.5}}
	in.Cluster = "conversation 4"
	in.Judgments = []judge.Judgment{
		{Judge: "citations", Model: "gpt", Output: json.RawMessage(`{"a":1}`)}, {Judge: "citations", Raw: "not json"},
	}
	blind := true
	at := storetest.NewClock().Now()
	p := 0.25
	in.Labels = []judge.HumanLabel{{Judge: "citations", Label: "partial", Verdict: judge.Borderline, Reviewer: "ana", At: &at, Blind: &blind,
		Findings: []judge.Finding{{Step: 1, Class: "c"}}, Comment: "why", Stratum: "s", InclusionProbability: &p}}
	item := store.ImportItem{Trace: in, Plan: []judge.Planned{
		{Judge: "citations", PromptVersion: judge.Unknown, Engine: judge.EngineRecorded, Model: "gpt", Judgment: 0},
		{Judge: "citations", PromptVersion: judge.Unknown, Engine: judge.EngineRecorded, Model: judge.Unknown, Judgment: 1},
	}}
	storetest.Import(t, s, []store.ImportItem{item})
	v, err := s.GetTrace(context.Background(), storetest.Operator, "default", in.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, v.Trace); diff != "" {
		t.Errorf("(-in +out):\n%s", diff)
	}
	work := storetest.Claim(t, s, 5)
	if len(work) != 2 {
		t.Fatalf("claimed %d, want 2", len(work))
	}
	for i, w := range work {
		if w.Planned.Judgment != 0 || len(w.Trace.Labels) != 0 {
			t.Errorf("work %d: judgment index %d, %d labels", i, w.Planned.Judgment, len(w.Trace.Labels))
		}
		if diff := cmp.Diff([]judge.Judgment{in.Judgments[i]}, w.Trace.Judgments); diff != "" {
			t.Errorf("work %d: judgment (-want +got):\n%s", i, diff)
		}
	}
}

func TestLaterImportAddsLabelsAndEvaluations(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	item := storetest.Items(0, 1)[0]
	storetest.Import(t, s, []store.ImportItem{item})
	item.Trace.Labels = []judge.HumanLabel{{Judge: "citations", Verdict: judge.Fail, Reviewer: "ana"}, {Judge: "citations", Verdict: judge.Pass, Reviewer: "bo"}}
	other := storetest.Planned()
	other.Model = "another"
	item.Plan = append(item.Plan, other)
	got := storetest.Import(t, s, []store.ImportItem{item})
	if diff := cmp.Diff([]store.Imported{{Unchanged: true, Revision: 1, Labels: 2, Evaluations: 1}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	events, _, err := s.ListAudit(ctx, storetest.Operator, store.AuditFilter{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if events[0].Action != "labels.imported" || events[1].Action != "evaluation.queued" {
		t.Errorf("newest events are %s and %s, want labels.imported and evaluation.queued", events[0].Action, events[1].Action)
	}
}

func TestBadItemIsNamedAndNothingIsStored(t *testing.T) {
	ctx := context.Background()
	over, least := 1.5, 1e-310
	for name, test := range map[string]struct {
		bad   func(*store.ImportItem)
		field string
	}{
		"no id":          {func(i *store.ImportItem) { i.Trace.ID = "" }, "id"},
		"stakes":         {func(i *store.ImportItem) { i.Trace.Stakes = "huge" }, "stakes"},
		"UTF-8":          {func(i *store.ImportItem) { i.Trace.Output = "\xff" }, "output"},
		"unknown label":  {label(judge.HumanLabel{Judge: "citations", Label: "good"}), "label"},
		"neither":        {label(judge.HumanLabel{Judge: "citations"}), "label"},
		"no judge":       {label(judge.HumanLabel{Label: "partial"}), "judge"},
		"contradiction":  {label(judge.HumanLabel{Judge: "citations", Label: "accurate", Verdict: judge.Fail}), "verdict"},
		"verdict":        {label(judge.HumanLabel{Judge: "citations", Verdict: "good"}), "verdict"},
		"probability":    {label(judge.HumanLabel{Judge: "citations", Verdict: judge.Pass, InclusionProbability: &over}), "inclusion_probability"},
		"tiny chance":    {label(judge.HumanLabel{Judge: "citations", Verdict: judge.Pass, InclusionProbability: &least}), "inclusion_probability"},
		"judgment index": {func(i *store.ImportItem) { i.Plan[0].Engine, i.Plan[0].Judgment = judge.EngineRecorded, 2 }, "judgments"},
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Open(t, nil)
			items := storetest.Items(0, 3)
			test.bad(&items[1])
			_, err := s.ImportTraces(ctx, storetest.Operator, "default", items)
			var item *store.ItemError
			var field *store.FieldError
			if !errors.As(err, &item) || item.Index != 1 || !errors.As(err, &field) || field.Field != test.field {
				t.Errorf("error %v, want item 1, field %s", err, test.field)
			}
			if rows, _, err := s.ListEvaluations(ctx, storetest.Operator, store.EvaluationFilter{}); err != nil || len(rows) != 0 {
				t.Errorf("%d evaluations stored, error %v", len(rows), err)
			}
		})
	}
}

func label(l judge.HumanLabel) func(*store.ImportItem) {
	return func(i *store.ImportItem) { i.Trace.Labels = []judge.HumanLabel{l} }
}

func TestAdjudicatedLabelSettles(t *testing.T) {
	ctx := context.Background()
	adjudicated := []judge.HumanLabel{{Judge: "citations", Label: "partial", Reviewer: "lead", Adjudicated: true}}
	want := &judge.Result{Verdict: judge.Borderline, Label: "partial", Source: judge.ByAdjudication}
	check := func(t *testing.T, s *store.Store, id string) {
		t.Helper()
		v, err := s.GetEvaluation(ctx, storetest.Operator, id)
		if err != nil {
			t.Fatal(err)
		}
		if v.Evaluation.Status != judge.Final {
			t.Errorf("status %s, want final", v.Evaluation.Status)
		}
		if diff := cmp.Diff(want, v.Evaluation.Result); diff != "" {
			t.Errorf("result (-want +got):\n%s", diff)
		}
		counts, err := s.QueueCounts(ctx, storetest.Operator, "default")
		if err != nil || counts.Total != 0 {
			t.Errorf("%d items wait, error %v, want none", counts.Total, err)
		}
	}
	t.Run("known when judged", func(t *testing.T) {
		s := storetest.Open(t, nil)
		items := storetest.Items(0, 1)
		items[0].Trace.Labels = adjudicated
		storetest.Import(t, s, items)
		w := storetest.Claim(t, s, 1)[0]
		if err := s.FinishWork(ctx, []judge.Finished{storetest.Flagged(w, judge.ReasonCriticalError)}); err != nil {
			t.Fatal(err)
		}
		check(t, s, w.EvaluationID)
	})
	for name, by := range map[string]func(judge.Work) judge.Finished{
		"brought later, in review": func(w judge.Work) judge.Finished { return storetest.Flagged(w, judge.ReasonCriticalError) },
		"brought later, accepted":  storetest.Accepted,
	} {
		t.Run(name, func(t *testing.T) {
			s := storetest.Open(t, nil)
			id := storetest.JudgeOne(t, s, 0, by)
			items := storetest.Items(0, 1)
			items[0].Trace.Labels = adjudicated
			storetest.Import(t, s, items)
			check(t, s, id)
		})
	}
}

func TestRefusedEvaluationIsStoredAsSuch(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	items := storetest.Items(0, 1)
	items[0].Plan[0].RefusedField, items[0].Plan[0].Message = "output", "output has no citation marker"
	storetest.Import(t, s, items)
	if work := storetest.Claim(t, s, 1); len(work) != 0 {
		t.Errorf("a refused evaluation was given to a worker")
	}
	full, _, err := s.EvaluationsFull(ctx, storetest.Operator, store.EvaluationFilter{Status: judge.Refused})
	if err != nil {
		t.Fatal(err)
	}
	if len(full) != 1 || full[0].RefusedField != "output" || full[0].Error != "output has no citation marker" || full[0].Run != "nightly" {
		t.Errorf("got %+v", full)
	}
}

func TestOnlyLeadsImportAndTheDenialIsRecorded(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	for _, role := range []store.Role{store.Reviewer, store.Auditor} {
		a := storetest.User(t, s, string(role), role)
		if _, err := s.ImportTraces(ctx, a, "default", storetest.Items(0, 1)); !errors.Is(err, store.ErrForbidden) {
			t.Errorf("%s: error %v, want ErrForbidden", role, err)
		}
		events, _, err := s.ListAudit(ctx, storetest.Operator, store.AuditFilter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if e := events[0]; e.Allowed || e.Action != "trace.imported" || e.ActorID != a.UserID {
			t.Errorf("%s: newest event is %s by %s, allowed %v", role, e.Action, e.Actor, e.Allowed)
		}
	}
	lead := storetest.User(t, s, "Lea", store.Lead)
	if _, err := s.ImportTraces(ctx, lead, "default", storetest.Items(0, 1)); err != nil {
		t.Errorf("lead: %v", err)
	}
}

// TestExportedLabelsComeBack: what was exported and is imported again adds
// nothing, although the export says more of each label than the file did.
func TestExportedLabelsComeBack(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	items := func(traces ...judge.Trace) (all []store.ImportItem) {
		for _, tr := range traces {
			all = append(all, store.ImportItem{Trace: tr})
		}
		return all
	}
	tr := storetest.Trace(0)
	tr.Labels = []judge.HumanLabel{
		{Judge: "citations", Verdict: judge.Pass, Reviewer: "one"}, {Judge: "citations", Verdict: judge.Fail, Reviewer: "two", Comment: "why"},
	}
	if _, err := s.ImportTraces(ctx, storetest.Operator, "default", items(tr)); err != nil {
		t.Fatal(err)
	}
	var exported []judge.Trace
	if err := s.EachTrace(ctx, storetest.Operator, store.EvaluationFilter{Project: "default"}, func(tr judge.Trace) error {
		exported = append(exported, tr)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(exported) != 1 || len(exported[0].Labels) != 2 {
		t.Fatalf("exported %+v", exported)
	}
	done, err := s.ImportTraces(ctx, storetest.Operator, "default", items(exported...))
	if err != nil {
		t.Fatal(err)
	}
	if done[0].Labels != 0 || !done[0].Unchanged {
		t.Errorf("imported again: %+v, want no new label and no revision", done[0])
	}
}

// What is known is not packed again; what only looked known, or comes with a
// report that is new, is stored all the same.
func TestImportOfWhatLooksKnown(t *testing.T) {
	s := storetest.Open(t, nil)
	first := storetest.Items(3, 1)[0]
	storetest.Import(t, s, []store.ImportItem{first})
	other := first
	other.Trace.Output += " And nothing else [1]."
	got := storetest.Import(t, s, []store.ImportItem{first, other, first})
	want := []store.Imported{{Unchanged: true, Revision: 1}, {Revised: true, Revision: 2, Evaluations: 1}, {Revised: true, Revision: 3, Evaluations: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the same trace three times (-want +got):\n%s", diff)
	}
	for revision, item := range map[int]store.ImportItem{1: first, 2: other, 3: first} {
		v, err := s.GetTrace(t.Context(), storetest.Operator, "default", first.Trace.ID, revision)
		if err != nil {
			t.Fatal(err)
		}
		if v.Trace.Output != item.Trace.Output || v.Trace.Sources[0].Text != item.Trace.Sources[0].Text {
			t.Errorf("revision %d reads %q", revision, v.Trace.Output)
		}
	}
	first.Trace.Judgments = []judge.Judgment{{Judge: "citations", Model: "other", Output: json.RawMessage(`{"label":"accurate"}`)}}
	first.Plan = []judge.Planned{{Judge: "citations", PromptVersion: storetest.Judge().PromptVersion, Engine: judge.EngineRecorded, Model: "other"}}
	if diff := cmp.Diff([]store.Imported{{Unchanged: true, Revision: 3, Evaluations: 1}}, storetest.Import(t, s, []store.ImportItem{first})); diff != "" {
		t.Errorf("with a report (-want +got):\n%s", diff)
	}
	work := storetest.Claim(t, s, 10)
	if n := len(work); n != 4 || string(work[n-1].Trace.Judgments[0].Output) != `{"label":"accurate"}` {
		t.Errorf("claimed %d evaluations, the last with %+v", n, work[n-1].Trace.Judgments)
	}
}
