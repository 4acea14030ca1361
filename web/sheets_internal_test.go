package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/ruling"
)

func builtinJudge(t *testing.T, name string) *judge.Judge {
	t.Helper()
	for _, j := range builtin.Judges() {
		if j.Name == name {
			return &j
		}
	}
	t.Fatalf("no judge %s", name)
	return nil
}

func comparedTrace(output string) *judge.Trace {
	return &judge.Trace{Question: "q", Output: output, Reference: "1. It is 5 mg.\n2. Twice a day."}
}

func comparedReport(class string) *judge.Evaluation {
	return &judge.Evaluation{
		Verdict: judge.Pass, Label: class,
		Report: json.RawMessage(`{"similarity_score": 0.9, "equivalence_class": "` + class + `", "partial_credit": 0.9, "rationale": "r", "key_differences": ["a dose"], "critical_error_count": 0}`),
	}
}

// TestSheetsAreTheirKeys: whatever a sheet is made of is asked for again, and what was
// made of a report is never found where there is none.
func TestSheetsAreTheirKeys(t *testing.T) {
	s, j := newSheets(), builtinJudge(t, builtin.Reference)
	later := *j
	later.PromptVersion = "later"
	own := *j
	own.Builtin = false
	finding := comparedReport("semantic_equivalent")
	finding.Findings = []judge.Finding{{Class: "dose", Explanation: "of its own"}}
	failed := comparedReport("semantic_equivalent")
	failed.Verdict = judge.Fail
	first := comparedTrace("1. It is 5 mg.")
	for _, tt := range []struct {
		name string
		j    *judge.Judge
		t    *judge.Trace
		e    *judge.Evaluation
	}{
		{"open", j, first, comparedReport("semantic_equivalent")},
		{"sealed", j, first, nil},
		{"no report", j, first, &judge.Evaluation{Error: "the judge failed"}},
		{"another report", j, first, comparedReport("substantive_difference")},
		{"another verdict of it", j, first, failed},
		{"with a finding", j, first, finding},
		{"another trace", j, comparedTrace("1. It is 50 mg."), comparedReport("semantic_equivalent")},
		{"another version", &later, first, comparedReport("semantic_equivalent")},
		{"an own judge of that name", &own, first, comparedReport("semantic_equivalent")},
		{"no judge", nil, first, nil},
	} {
		before := s.kept.Len()
		for range 2 {
			got, err := s.of(tt.j, tt.t, judge.TraceHashes(*tt.t).Trace, tt.e)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			want, err := ruling.New(tt.j, tt.t, tt.e)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != want.Kind || got.Judged != want.Judged || got.Judged != (tt.e != nil && tt.e.Report != nil) {
				t.Errorf("%s: kind %s, judged %v; want %s, %v", tt.name, got.Kind, got.Judged, want.Kind, want.Judged)
			}
			if diff := cmp.Diff(want.Units, got.Units, cmp.AllowUnexported(ruling.Part{})); diff != "" {
				t.Errorf("%s: units (-new +kept)\n%s", tt.name, diff)
			}
			if diff := cmp.Diff(want.Findings(nil), got.Findings(nil)); diff != "" {
				t.Errorf("%s: findings (-new +kept)\n%s", tt.name, diff)
			}
		}
		if got := s.kept.Len(); got != before+1 {
			t.Errorf("%s: %d sheets are kept, %d before", tt.name, got, before)
		}
	}
}

// TestSheetsKeepNothingOfAPerson: labels and judgments hang on a trace as one person may
// see it; a sheet that all share has none, and no call but what it reads.
func TestSheetsKeepNothingOfAPerson(t *testing.T) {
	trace := comparedTrace("5 mg")
	trace.Run, trace.Judges = "a run", []string{"reference"}
	trace.Labels = []judge.HumanLabel{{}}
	trace.Judgments = []judge.Judgment{{}}
	if diff := cmp.Diff(comparedTrace("5 mg"), contentOf(trace)); diff != "" {
		t.Errorf("content (-want +got)\n%s", diff)
	}
	e := comparedReport("semantic_equivalent")
	e.Calls = []judge.Attempt{{Purpose: judge.PurposeDecomposition, Prompt: "all of it"}, {Prompt: "the question"}}
	read, _, err := readBySheet(e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]judge.Attempt{{Purpose: judge.PurposeDecomposition}}, read.Calls); diff != "" {
		t.Errorf("calls (-want +got)\n%s", diff)
	}
}

// TestSheetsAreBounded: by number and by size, and the count of bytes is of what is kept.
func TestSheetsAreBounded(t *testing.T) {
	s, j := newSheets(), builtinJudge(t, builtin.Logic)
	ask := func(text string) {
		t.Helper()
		trace := &judge.Trace{Question: "q", Output: text}
		if _, err := s.of(j, trace, judge.TraceHashes(*trace).Trace, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * mostSheets {
		ask(fmt.Sprint(i))
	}
	if got := s.kept.Len(); got != mostSheets {
		t.Errorf("%d sheets are kept, want %d", got, mostSheets)
	}
	for i := range 12 {
		ask(fmt.Sprint(i) + strings.Repeat(" It follows.", 400_000))
	}
	sum := 0
	for _, k := range s.kept.Values() {
		sum += k.size
	}
	if s.size != sum || sum > mostSheetBytes {
		t.Errorf("%d bytes are counted, %d kept, at most %d wanted", s.size, sum, mostSheetBytes)
	}
	before := s.kept.Len()
	ask(strings.Repeat("too large ", mostSheetBytes/10+1))
	if s.kept.Len() != before {
		t.Error("a sheet larger than all that is kept pushed the others out")
	}
}

// TestSheetsAreShared: many at once read one sheet, rule on it, and leave it as it was.
func TestSheetsAreShared(t *testing.T) {
	s, j := newSheets(), builtinJudge(t, builtin.Reference)
	trace, e := comparedTrace("1. It is not 50 mg.\n2. Once a day."), comparedReport("substantive_difference")
	hash := judge.TraceHashes(*trace).Trace
	want, err := ruling.New(j, trace, e)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			sheet, err := s.of(j, trace, hash, e)
			if err != nil {
				t.Error(err)
				return
			}
			var rulings []judge.Ruling
			for _, u := range sheet.Units {
				for _, p := range u.Parts {
					if len(p.Choices) > 0 && !p.Many {
						rulings = append(rulings, judge.Ruling{Part: p.Key, Value: p.Choices[len(p.Choices)-1].Value})
					}
				}
			}
			if err := sheet.Check(rulings); err != nil {
				t.Error(err)
			}
			sheet.Changed(rulings)
			sheet.Progress(rulings)
			sheet.Findings(rulings)
			sheet.Outcome(rulings, j.Band)
		})
	}
	all.Wait()
	got, err := s.of(j, trace, hash, e)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Units, got.Units, cmp.AllowUnexported(ruling.Part{})); diff != "" {
		t.Errorf("units afterwards (-new +kept)\n%s", diff)
	}
}
