package ruling_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/rules"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/judge/tracefile"
)

// item is a trace with a judge's evaluation of it.
type item struct {
	name  string
	judge *judge.Judge
	trace judge.Trace
	eval  *judge.Evaluation
}

func named(t testing.TB, name string) *judge.Judge {
	t.Helper()
	list := builtin.Judges()
	i := slices.IndexFunc(list, func(j judge.Judge) bool { return j.Name == name })
	if i < 0 {
		t.Fatalf("no judge %s", name)
	}
	return &list[i]
}

// evaluated reads a report as the harness does.
func evaluated(t testing.TB, j *judge.Judge, trace *judge.Trace, report string) *judge.Evaluation {
	t.Helper()
	r, err := j.Read(json.RawMessage(report), trace)
	if err != nil {
		t.Fatalf("read a report of %s: %v", j.Name, err)
	}
	score := r.Score
	e := &judge.Evaluation{
		Judge: j.Name, Score: &score, Label: r.Label, Critical: r.Critical, Verdict: r.Verdict,
		Report: json.RawMessage(report), Findings: r.Findings, PartLabels: r.PartLabels,
	}
	if e.Verdict == "" {
		e.Verdict = j.Band.Verdict(score, r.Critical, false)
	}
	return e
}

// workedExamples are the traces and reports that the prompts show.
func workedExamples(t testing.TB) (list []item) {
	t.Helper()
	for _, name := range []string{builtin.Steps, builtin.StepsComparison, builtin.Logic, builtin.LogicSteps} {
		data, err := os.ReadFile(filepath.Join("..", "builtin", name, "examples.md"))
		if err != nil {
			t.Fatal(err)
		}
		var trace judge.Trace
		var report strings.Builder
		under := ""
		flush := func() {
			if report.Len() > 0 {
				j := named(t, name)
				one := trace
				list = append(list, item{name + " worked example", j, one, evaluated(t, j, &one, report.String())})
			}
			trace = judge.Trace{}
			report.Reset()
		}
		for line := range strings.Lines(string(data)) {
			if head, rest, ok := strings.Cut(line, ":"); ok && slices.Contains([]string{"Question", "Premises", "Reference", "Candidate", "Trace", "Report"}, head) {
				if head == "Question" && under == "Report" {
					flush()
				}
				under, line = head, rest
			}
			switch under {
			case "Question":
				trace.Question += line
			case "Reference":
				trace.Reference += line
			case "Candidate", "Trace":
				trace.Output += line
			case "Report":
				// A report ends where its braces do; what follows is prose.
				if report.Len() == 0 || !json.Valid([]byte(report.String())) {
					report.WriteString(line)
				}
			}
		}
		flush()
	}
	return list
}

// demoItems are the demo's traces, judged by the engine rules where it can.
func demoItems(t testing.TB, each int) (list []item) {
	t.Helper()
	files, err := filepath.Glob("../../cmd/countersign/demo/data/*.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no demo data: %v", err)
	}
	engine := rules.Engine{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		unzipped, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		r, err := tracefile.NewReader(filepath.Base(strings.TrimSuffix(file, ".gz")), unzipped, tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < each; n++ {
			trace, _, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{builtin.Citations, builtin.Steps, builtin.StepsComparison, builtin.Reference, builtin.Logic, builtin.LogicSteps} {
				j := named(t, name)
				if field, _ := j.Lacks(&trace); field != "" {
					continue
				}
				given, err := engine.Report(context.Background(), j, &trace, judge.Planned{})
				if err != nil {
					t.Fatal(err)
				}
				report := given.Report
				if given.NoReport {
					if name != builtin.Reference {
						continue
					}
					report = json.RawMessage(`{"similarity_score":0.4,"equivalence_class":"substantive_difference","partial_credit":0.7,"rationale":"` +
						`It says something else.","key_differences":["It says something else."],"critical_error_count":1}`)
				}
				list = append(list, item{name + " " + trace.ID, j, trace, evaluated(t, j, &trace, string(report))})
			}
		}
	}
	return list
}

func allItems(t testing.TB) []item { return append(workedExamples(t), demoItems(t, 60)...) }

func sheetOf(t testing.TB, it item, sealed bool) ruling.Sheet {
	t.Helper()
	e := it.eval
	if sealed {
		e = nil
	}
	s, err := ruling.New(it.judge, &it.trace, e)
	if err != nil {
		t.Fatalf("%s: %v", it.name, err)
	}
	return s
}

// agreeing are the judge's choices as a person's rulings.
func agreeing(s ruling.Sheet) (list []judge.Ruling) {
	for _, u := range s.Units {
		for _, p := range u.Parts {
			if p.Judged != "" {
				list = append(list, judge.Ruling{Part: p.Key, Value: p.Judged})
			}
		}
	}
	return list
}

// Whoever agrees with the judge everywhere differs nowhere, is done, and comes to
// the judge's own result and findings. So does whoever rules on nothing.
func TestAgreeing(t *testing.T) {
	kinds := map[ruling.Kind]int{}
	for _, it := range allItems(t) {
		s := sheetOf(t, it, false)
		kinds[s.Kind]++
		rulings := agreeing(s)
		if err := s.Check(rulings); err != nil {
			t.Errorf("%s: %v", it.name, err)
		}
		if changed := s.Changed(rulings); len(changed) > 0 {
			t.Errorf("%s: agreeing changes %q", it.name, changed)
		}
		if it.judge.Name == builtin.Citations || s.Kind == ruling.Logic || it.judge.Name == builtin.Steps {
			if done, of := s.Progress(rulings); done != of || of == 0 {
				t.Errorf("%s: %d of %d units are done", it.name, done, of)
			}
		}
		for _, given := range [][]judge.Ruling{rulings, nil} {
			out, ok := s.Outcome(given, it.judge.Band)
			if !ok {
				t.Errorf("%s: %d agreeing rulings determine nothing", it.name, len(given))
				continue
			}
			if out.Score == nil || math.Abs(*out.Score-*it.eval.Score) > 1e-9 || out.Verdict != it.eval.Verdict || out.Label != it.eval.Label || out.Critical != it.eval.Critical {
				t.Errorf("%s: got %+v (score %v), want score %v, %s, %s, critical %v", it.name, out, deref(out.Score), *it.eval.Score, it.eval.Verdict, it.eval.Label, it.eval.Critical)
			}
			if s.Kind != ruling.Reference {
				if diff := cmp.Diff(it.eval.PartLabels, out.Parts, anyOrder); diff != "" && it.judge.Name != builtin.StepsComparison {
					t.Errorf("%s: parts (-judge +person)\n%s", it.name, diff)
				}
			}
		}
		if got := s.Findings(nil); len(got)+len(it.eval.Findings) > 0 && len(it.eval.Findings) <= ruling.MostFindings {
			if diff := cmp.Diff(it.eval.Findings, got); diff != "" {
				t.Errorf("%s: findings of no ruling (-judge +person)\n%s", it.name, diff)
			}
		}
	}
	for _, k := range []ruling.Kind{ruling.Citations, ruling.Steps, ruling.Reference, ruling.Logic} {
		if kinds[k] < 2 {
			t.Errorf("only %d items of kind %s were looked at", kinds[k], k)
		}
	}
}

var anyOrder = cmp.Transformer("sorted", func(list []judge.PartLabel) []judge.PartLabel {
	return slices.SortedFunc(slices.Values(list), func(a, b judge.PartLabel) int { return strings.Compare(a.Kind+a.Key, b.Kind+b.Key) })
})

func deref(score *float64) any {
	if score == nil {
		return nil
	}
	return *score
}

// A sealed sheet holds no choice of the judge and is that of an evaluation without
// a report, whatever else that says; what was ruled on it blind fits the open one.
func TestSealed(t *testing.T) {
	for _, it := range allItems(t) {
		sealed := sheetOf(t, it, true)
		if sealed.Judged || sealed.Changed(agreeing(sealed)) != nil || len(agreeing(sealed)) > 0 {
			t.Errorf("%s: the sealed sheet holds a judge's choice", it.name)
		}
		shown, err := json.Marshal(sealed)
		if err != nil {
			t.Fatal(err)
		}
		if others := sheetWithoutReport(t, it); !bytes.Equal(shown, others) {
			t.Errorf("%s: a judge that gave no report has another sheet than a sealed one", it.name)
		}
		open := sheetOf(t, it, false)
		for pick := range 3 {
			var blind []judge.Ruling
			for _, u := range sealed.Units {
				for _, p := range u.Parts {
					if !p.Many && len(p.Choices) > 0 {
						blind = append(blind, judge.Ruling{Part: p.Key, Value: p.Choices[pick%len(p.Choices)].Value})
					}
				}
			}
			if err := sealed.Check(blind); err != nil {
				t.Errorf("%s: sealed: %v", it.name, err)
			}
			if done, of := sealed.Progress(blind); done != of {
				t.Errorf("%s: sealed: %d of %d units are done", it.name, done, of)
			}
			if err := open.Check(blind); err != nil {
				t.Errorf("%s: made blind, on the open sheet: %v", it.name, err)
			}
		}
	}
}

func sheetWithoutReport(t *testing.T, it item) []byte {
	t.Helper()
	score := 0.123456
	s, err := ruling.New(it.judge, &it.trace, &judge.Evaluation{Error: "the endpoint is away", Score: &score, Label: "secret label", Findings: it.eval.Findings})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return shown
}

// A ruling that differs from the judge's is told, whichever it is.
func TestEveryChangeIsTold(t *testing.T) {
	for _, it := range append(workedExamples(t), demoItems(t, 5)...) {
		s := sheetOf(t, it, false)
		for _, u := range s.Units {
			for _, p := range u.Parts {
				for _, c := range p.Choices {
					got := s.Changed([]judge.Ruling{{Part: p.Key, Value: c.Value}})
					if want := p.Judged != "" && c.Value != p.Judged || p.Judged == "" && u.Difference != nil && c.Value == "material"; (len(got) == 1 && got[0] == p.Key) != want {
						t.Errorf("%s: %s = %s, judged %q: changed %q", it.name, p.Key, c.Value, p.Judged, got)
					}
				}
			}
		}
	}
}
