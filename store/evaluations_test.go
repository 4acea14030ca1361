package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func TestPagesCoverEverythingOnce(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	for from := 0; from < 30; from += 10 {
		storetest.Import(t, s, storetest.Items(from, 10))
	}
	var got []string
	f := store.EvaluationFilter{Limit: 7}
	for {
		rows, next, err := s.ListEvaluations(ctx, storetest.Operator, f)
		if err != nil {
			t.Fatal(err)
		}
		full, fullNext, err := s.EvaluationsFull(ctx, storetest.Operator, f)
		if err != nil || len(full) != len(rows) || fullNext != next {
			t.Fatalf("in full: %d of %d rows, next %q and %q, error %v", len(full), len(rows), fullNext, next, err)
		}
		for _, r := range rows {
			got = append(got, r.TraceID)
		}
		if f.After = next; next == "" {
			break
		}
	}
	var want []string
	for n := 29; n >= 0; n-- {
		want = append(want, storetest.Trace(n).ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("newest first (-want +got):\n%s", diff)
	}
	f.After = "nonsense"
	var field *store.FieldError
	if _, _, err := s.ListEvaluations(ctx, storetest.Operator, f); !errors.As(err, &field) || field.Field != "after" {
		t.Errorf("bad cursor: error %v", err)
	}
}

func TestFilters(t *testing.T) {
	ctx := context.Background()
	clock := storetest.NewClock()
	s := storetest.Open(t, clock)
	items := storetest.Items(0, 4)
	items[3].Trace.Run = "weekly"
	items[2].Plan[0].Judge = "logic"
	storetest.Import(t, s, items)
	work := storetest.Claim(t, s, 4)
	finish(t, s, flagged(work[0]), storetest.Accepted(work[1]))
	clock.Advance(time.Hour)
	since := clock.Now()
	storetest.Import(t, s, storetest.Items(10, 1))
	for _, test := range []struct {
		name string
		f    store.EvaluationFilter
		want []string
	}{
		{"run", store.EvaluationFilter{Run: "weekly"}, []string{"trace-000003"}},
		{"judge", store.EvaluationFilter{Judge: "logic"}, []string{"trace-000002"}},
		{"trace", store.EvaluationFilter{TraceID: "trace-000001"}, []string{"trace-000001"}},
		{"no such trace", store.EvaluationFilter{TraceID: "none"}, nil},
		{"status", store.EvaluationFilter{Status: judge.Judging}, []string{"trace-000003", "trace-000002"}},
		{"verdict", store.EvaluationFilter{Verdict: judge.Pass}, []string{"trace-000001"}},
		{"reason", store.EvaluationFilter{Reason: judge.ReasonCriticalError}, []string{"trace-000000"}},
		{"since", store.EvaluationFilter{Since: since}, []string{"trace-000010"}},
		{"all together", store.EvaluationFilter{Run: "nightly", Judge: "citations", TraceID: "trace-000000", Status: judge.InReview,
			Verdict: judge.Fail, Reason: judge.ReasonCriticalError}, []string{"trace-000000"}},
	} {
		rows, _, err := s.ListEvaluations(ctx, storetest.Operator, test.f)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		var got []string
		for _, r := range rows {
			got = append(got, r.TraceID)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	for name, f := range map[string]store.EvaluationFilter{"run": {Run: "none"}, "project": {Project: "none"}} {
		if _, _, err := s.ListEvaluations(ctx, storetest.Operator, f); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("unknown %s: error %v, want ErrNotFound", name, err)
		}
	}
	if _, _, err := s.ListEvaluations(ctx, storetest.Operator, store.EvaluationFilter{Reason: "none"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("unknown reason: error %v, want ErrInvalid", err)
	}
}

func TestRuns(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	items := storetest.Items(0, 5)
	items[4].Plan[0].RefusedField = "output"
	storetest.Import(t, s, items)
	weekly := storetest.Items(10, 1)
	weekly[0].Trace.Run = "weekly"
	storetest.Import(t, s, weekly)
	again := storetest.Items(0, 1) // a trace may be in two runs
	again[0].Trace.Run = "weekly"
	storetest.Import(t, s, again)
	work := storetest.Claim(t, s, 3)
	finish(t, s, storetest.Accepted(work[0]), flagged(work[1]))
	got, err := s.Runs(ctx, storetest.Operator, "default", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.RunRow{
		{Name: "weekly", Traces: 2, Evaluations: 2, Pending: 1, Pass: 1},
		{Name: "nightly", Traces: 5, Evaluations: 5, Pending: 2, Refused: 1, Waiting: 1, Pass: 1},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(store.RunRow{}, "CreatedAt")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	one, err := s.Run(ctx, storetest.Operator, "default", "nightly")
	if diff := cmp.Diff(got[1], one); diff != "" || err != nil {
		t.Errorf("Run: %v (-want +got):\n%s", err, diff)
	}
	if _, err := s.Run(ctx, storetest.Operator, "default", "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown run: error %v, want ErrNotFound", err)
	}
	v, err := s.GetTrace(ctx, storetest.Operator, "default", "trace-000000", 0)
	if err != nil || v.Trace.Run != "weekly" {
		t.Errorf("run of a trace in two: %q, error %v, want the newer", v.Trace.Run, err)
	}
	full, _, err := s.EvaluationsFull(ctx, storetest.Operator, store.EvaluationFilter{Run: "nightly", TraceID: "trace-000000"})
	if err != nil || len(full) != 1 || full[0].Run != "nightly" {
		t.Errorf("asked for nightly: %+v, error %v", full, err)
	}
}

func TestSaveJudges(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil) // saves version 1
	before, err := s.VerifyAudit(ctx, storetest.Operator)
	if err != nil {
		t.Fatal(err)
	}
	first, second := storetest.Judge(), storetest.Judge()
	second.PromptVersion, second.Source, second.Labels = "v2", []byte("name: citations\nnew: true\n"), second.Labels[:2]
	current := func() (versions []string) {
		list, err := s.Judges(ctx, "default")
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range list {
			mark := ""
			if j.Current {
				mark = " current"
			}
			versions = append(versions, fmt.Sprintf("%.4s%s", j.PromptVersion, mark))
		}
		return versions
	}
	save := func(j judge.Judge) {
		t.Helper()
		if err := s.SaveJudges(ctx, storetest.Operator, "default", []judge.Judge{j}); err != nil {
			t.Fatal(err)
		}
	}
	save(first)
	if after, err := s.VerifyAudit(ctx, storetest.Operator); err != nil || after != before {
		t.Errorf("saving the same again wrote %+v, was %+v, error %v", after, before, err)
	}
	save(second)
	old := fmt.Sprintf("%.4s", first.PromptVersion)
	if diff := cmp.Diff([]string{"v2 current", old}, current()); diff != "" {
		t.Errorf("a new version (-want +got):\n%s", diff)
	}
	bad := storetest.Items(0, 1)
	bad[0].Trace.Labels = []judge.HumanLabel{{Judge: "citations", Label: "inaccurate"}}
	if _, err := s.ImportTraces(ctx, storetest.Operator, "default", bad); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a label of the old version: error %v, want ErrInvalid", err)
	}
	save(first)
	if diff := cmp.Diff([]string{"v2", old + " current"}, current()); diff != "" {
		t.Errorf("back to the old version (-want +got):\n%s", diff)
	}
	storetest.Import(t, s, bad)
	if err := s.SaveJudges(ctx, storetest.User(t, s, "Ana", store.Reviewer), "default", nil); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
}

func TestProjects(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	for _, name := range []string{"", "Upper", "with space", "../x", string(make([]byte, 65))} {
		if _, err := s.EnsureProject(ctx, storetest.Operator, name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("project %q: error %v, want ErrInvalid", name, err)
		}
	}
	one, err := s.EnsureProject(ctx, storetest.Operator, "other_1")
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.EnsureProject(ctx, storetest.User(t, s, "Ana", store.Reviewer), "other_1")
	if diff := cmp.Diff(one, two); diff != "" || err != nil {
		t.Errorf("a second time: %v (-want +got):\n%s", err, diff)
	}
	if _, err := s.EnsureProject(ctx, storetest.User(t, s, "Bo", store.Reviewer), "third"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
	list, err := s.Projects(ctx)
	if err != nil || len(list) != 2 || !cmp.Equal(list[1].Policy, judge.DefaultPolicy()) {
		t.Errorf("projects %+v, error %v", list, err)
	}
}

func TestSettingIsMadeOnce(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	made := 0
	for range 3 {
		v, err := s.Setting(ctx, "session key", func() (string, error) { made++; return fmt.Sprint("key ", made), nil })
		if err != nil || v != "key 1" {
			t.Errorf("value %q, error %v, want key 1", v, err)
		}
	}
	if made != 1 {
		t.Errorf("made %d times, want once", made)
	}
}

// Exports of more than one page hold everything once.
func TestExportsGoOnAfterAPage(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	const n = 1203
	items := storetest.Items(0, n)
	for i := range items {
		items[i].Trace.Sources = nil
		items[i].Trace.Labels = []judge.HumanLabel{{Judge: "citations", Label: "partial", Reviewer: "ana"}}
	}
	storetest.Import(t, s, items)
	audit := storetest.User(t, s, "Audit", store.Auditor)
	seen := map[string]map[string]bool{"evaluations": {}, "labels": {}, "traces": {}}
	note := func(kind, id string) error {
		if seen[kind][id] {
			t.Errorf("%s: %s twice", kind, id)
		}
		seen[kind][id] = true
		return nil
	}
	all := store.EvaluationFilter{}
	if err := errors.Join(
		s.EachEvaluation(ctx, audit, all, func(e judge.Evaluation) error { return note("evaluations", e.ID) }),
		s.EachLabel(ctx, audit, all, func(l store.LabelRow) error { return note("labels", l.ID) }),
		s.EachTrace(ctx, audit, all, func(tr judge.Trace) error {
			if len(tr.Labels) != 1 {
				t.Errorf("trace %s has %d labels, want 1", tr.ID, len(tr.Labels))
			}
			return note("traces", tr.ID)
		}),
	); err != nil {
		t.Fatal(err)
	}
	for kind, ids := range seen {
		if len(ids) != n {
			t.Errorf("%s: %d exported, want %d", kind, len(ids), n)
		}
	}
	stop := errors.New("enough")
	if err := s.EachTrace(ctx, audit, all, func(judge.Trace) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of the callback", err)
	}
	if err := s.EachTrace(ctx, storetest.User(t, s, "Ana", store.Reviewer), all, nil); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
}

func TestExportedDecisions(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	ana := storetest.User(t, s, "Ana", store.Reviewer)
	for n := range 3 {
		storetest.JudgeOne(t, s, n, flagged)
		r, err := s.ClaimNext(ctx, ana, "default", store.ClaimFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CommitFirstAnswer(ctx, ana, r.ReviewID, store.Answer{Label: "inaccurate"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Decide(ctx, ana, r.ReviewID, store.DecisionInput{Action: store.Keep}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	err := s.EachDecision(ctx, storetest.Operator, store.EvaluationFilter{Run: "nightly", Judge: "citations"}, func(d store.Decision) error {
		body, err := json.Marshal(d)
		if err != nil || d.Action != store.Confirm || d.UserName != "Ana" {
			t.Errorf("decision %s, error %v", body, err)
		}
		got = append(got, d.ID)
		return nil
	})
	if err != nil || len(got) != 3 {
		t.Errorf("%d decisions, error %v, want 3", len(got), err)
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	address := storetest.Unmigrated(t)
	storetest.OpenAt(t, address, nil)
	if _, err := storetest.Raw(t, address).Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE)`); err != nil {
		t.Fatal(err)
	}
	if s, err := store.Open(context.Background(), store.Options{URL: address}); err == nil {
		t.Errorf("opened a database of a newer program: %v", s.Close())
	}
}

// TestAttemptIsKeptWhole: every field of an attempt, also one that is added later,
// comes back as it was. Retention alone removes texts.
func TestAttemptIsKeptWhole(t *testing.T) {
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(0, 1))
	work := claim(t, s, "w", 1, time.Minute)
	done := storetest.Accepted(work[0])
	want := judge.Attempt{Number: 1, StartedAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Tokens: judge.Tokens{Prompt: 11, Completion: 13}}
	fields := reflect.ValueOf(&want).Elem()
	for i := range fields.NumField() {
		f, name := fields.Field(i), fields.Type().Field(i).Name
		switch {
		case !f.IsZero(), name == "PromptRemovedAt", name == "ReplyRemovedAt":
		case f.Kind() == reflect.String:
			f.SetString("what " + name + " holds")
		case f.Kind() == reflect.Int, f.Kind() == reflect.Int64:
			f.SetInt(int64(i))
		case f.Kind() == reflect.Float64:
			f.SetFloat(0.25)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		case f.Type() == reflect.TypeFor[json.RawMessage]():
			f.SetBytes([]byte(`{"of":"` + name + `"}`))
		case f.Type() == reflect.TypeFor[[]string]():
			f.Set(reflect.ValueOf([]string{"one", "two"}))
		default:
			t.Fatalf("the field %s is of a kind that this test does not fill", name)
		}
	}
	done.Evaluation.Calls = []judge.Attempt{want}
	finish(t, s, done)
	if diff := cmp.Diff([]judge.Attempt{want}, view(t, s, work[0].EvaluationID).Evaluation.Calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
