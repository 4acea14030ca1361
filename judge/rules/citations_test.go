package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/rules"
)

func named(t *testing.T, name string) *judge.Judge {
	t.Helper()
	for _, j := range builtin.Judges() {
		if j.Name == name {
			return &j
		}
	}
	t.Fatalf("no built-in judge %q", name)
	return nil
}

// report runs the engine and holds its report to the judge's schema and to
// every check of it, soft ones too: a report that a computation made must not
// be suspicious.
func report(t *testing.T, name string, trace judge.Trace) judge.Given {
	t.Helper()
	return reportBy(t, named(t, name), trace)
}

func reportBy(t *testing.T, j *judge.Judge, trace judge.Trace) judge.Given {
	t.Helper()
	got, err := rules.Engine{}.Report(context.Background(), j, &trace, judge.Planned{Judge: j.Name})
	if err != nil {
		t.Fatal(err)
	}
	if got.NoReport {
		return got
	}
	var doc any
	if err := json.Unmarshal(got.Report, &doc); err != nil {
		t.Fatal(err)
	}
	if err := schema(t, j).Validate(doc); err != nil {
		t.Errorf("schema: %v", err)
	}
	results, read := j.Examine(got.Report, &trace)
	for _, c := range results {
		if !c.OK && (builtinRubric(j) || c.Name != "dimensions.complete") {
			t.Errorf("check %s: %s", c.Name, c.Detail)
		}
	}
	if _, err := read(); err != nil {
		t.Error(err)
	}
	return got
}

// builtinRubric: a test may give a judge another rubric than its checks know.
func builtinRubric(j *judge.Judge) bool {
	return j.Blocks["RUBRIC_DIMENSIONS"] == "" || strings.Contains(j.Blocks["RUBRIC_DIMENSIONS"], "conclusion_alignment")
}

func schema(t *testing.T, j *judge.Judge) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(j.Schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	liability = "The Supplier shall not be liable for any loss of profit. The Supplier shall repair or replace, at its own cost, any Goods that are found to be faulty within 30 days of delivery."
	dosage    = "Adults take 400 mg of ibuprofen every six hours. The daily dose must never exceed 1,200 mg unless a doctor says so."
	hedge     = "It is a myth that the tax falls due on the first day of the year. If the buyer agrees, the price is paid in twelve equal parts."
)

func TestCitations(t *testing.T) {
	tests := []struct {
		name, output string
		want         []string // id support [flag severity], one a citation
		undecided    bool
		explains     string // a part of the first explanation
	}{
		{name: "word for word", output: "The Supplier shall not be liable for any loss of profit [1].",
			want: []string{"1 fully_supported"}, explains: "word for word"},
		{name: "but for articles", output: "However, Supplier shall not be liable for any loss of profit [1].",
			want: []string{"1 fully_supported"}, explains: "but for articles"},
		{name: "in other words", output: "Lost profits cannot be claimed from the seller [1].",
			want: []string{"1 partially_supported"}, undecided: true, explains: "Not decided"},
		{name: "negation left out", output: "The Supplier shall be liable for any loss of profit [1].",
			want: []string{"1 partially_supported"}, undecided: true, explains: "Not decided"},
		{name: "number changed", output: "Adults take 600 mg of ibuprofen every six hours [2].",
			want: []string{"2 partially_supported"}, undecided: true, explains: "600"},
		{name: "under a myth", output: "The tax falls due on the first day of the year [3].",
			want: []string{"3 partially_supported"}, undecided: true, explains: "myth"},
		{name: "under a condition", output: "The price is paid in twelve equal parts [3].",
			want: []string{"3 partially_supported"}, undecided: true, explains: "“if”"},
		{name: "no such source", output: "The Supplier shall not be liable for any loss of profit [9].",
			want: []string{"9 unsupported citation_not_found major unsupported major"}, explains: `id "9"`},
		{name: "half of them missing", output: "Lost profits cannot be claimed [1].\nNor can lost time be [9].",
			want: []string{"1 partially_supported", "9 unsupported citation_not_found major unsupported major"}, undecided: false},
		{name: "quotation exact", output: `It says the seller "shall repair or replace, at its own cost, any Goods" then [1].`,
			want: []string{"1 partially_supported"}, undecided: true},
		{name: "quotation near", output: `It says the seller "shall repair or replace, at his own cost, any Goods that are found to be faulty" [1].`,
			want: []string{"1 partially_supported"}, undecided: true, explains: "1 of 16 words different"},
		{name: "quotation with an ellipsis", output: `It says the seller "shall repair or replace … any Goods that are found" [1].`,
			want: []string{"1 partially_supported"}, undecided: true},
		{name: "number altered", output: `It covers "any Goods that are found to be faulty within 60 days of delivery" [1].`,
			want: []string{"1 partially_supported quote_mismatch critical"}, explains: "60 days"},
		{name: "unit altered", output: `It covers "any Goods that are found to be faulty within 30 months of delivery" [1].`,
			want: []string{"1 partially_supported quote_mismatch critical"}, explains: "30 months"},
		{name: "negation taken out", output: `It says "the Supplier shall be liable for any loss of profit" [1].`,
			want: []string{"1 partially_supported quote_mismatch critical"}, explains: "a negation"},
		{name: "negation put in", output: `It says "adults do not take 400 mg of ibuprofen every six hours" [2].`,
			want: []string{"2 partially_supported quote_mismatch critical"}, explains: "a negation"},
		{name: "quotation of nothing", output: `It says "the buyer may return the goods at any time" [1].`,
			want: []string{"1 partially_supported quote_mismatch major"}, explains: "not in the source"},
		{name: "quotation of another source", output: `It says "adults take 400 mg of ibuprofen" [1].`,
			want: []string{"1 partially_supported quote_mismatch major"}, explains: `source "2"`},
		{name: "quotation of the one beside", output: `It says "adults take 400 mg of ibuprofen" [1][2].`,
			want: []string{"1 partially_supported", "2 partially_supported"}, undecided: true, explains: "cited beside"},
		{name: "undecided but it cannot matter", output: "The Supplier shall not be liable for any loss of profit [1]. Adults take 400 mg of ibuprofen every six hours [2].\n" +
			"The Supplier shall not be liable for any loss of profit [1]. Adults take 400 mg of ibuprofen every six hours [2].\nIt is so [1].",
			want: []string{"1 fully_supported", "2 fully_supported", "1 fully_supported", "2 fully_supported", "1 partially_supported"}, undecided: false},
		{name: "several occurrences", output: "Lost profits cannot be claimed [1-2]. Time neither [9].",
			want: []string{"1 partially_supported", "2 partially_supported", "9 unsupported citation_not_found major unsupported major"}, undecided: true},
		{name: "source without text", output: "The Supplier shall pay for all of it [empty].",
			want: []string{"empty partially_supported"}, undecided: true, explains: "no text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{ID: "t", Stakes: judge.HighStakes, Output: tt.output, Sources: []judge.Source{
				{ID: "1", Text: liability}, {ID: "2", Text: dosage, Title: "Leaflet"}, {ID: "3", Text: hedge}, {ID: "empty"},
			}}
			given := report(t, "citations", trace)
			if given.Undecided != tt.undecided {
				t.Errorf("undecided = %v (%s), want %v", given.Undecided, given.Explanation, tt.undecided)
			}
			if given.Undecided != (given.Explanation != "") {
				t.Errorf("undecided is %v, but the explanation is %q", given.Undecided, given.Explanation)
			}
			var r rules.CitationsReport
			if err := json.Unmarshal(given.Report, &r); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range r.Evaluations {
				s := c.ID + " " + c.Support
				for _, f := range r.Flags {
					if f.ID == c.ID && f.Step == c.Step {
						s += fmt.Sprintf(" %s %s", f.Type, f.Severity)
					}
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("citations (-want +got):\n%s", diff)
			}
			if !strings.Contains(r.Evaluations[0].Explanation, tt.explains) {
				t.Errorf("explanation %q does not say %q", r.Evaluations[0].Explanation, tt.explains)
			}
		})
	}
}

// The verdict of a decided report follows from its score alone.
func TestDecidedVerdicts(t *testing.T) {
	verbatim := "The Supplier shall not be liable for any loss of profit [1]."
	open := "Lost profits cannot be claimed from the seller [1]."
	missing := "Nothing can be claimed from the seller [9]."
	tests := []struct {
		name  string
		lines []string
		want  judge.Verdict
	}{
		{"all verbatim", []string{verbatim, verbatim}, judge.Pass},
		{"four of five verbatim", []string{verbatim, verbatim, verbatim, verbatim, open}, judge.Pass},
		{"three of five verbatim", []string{verbatim, verbatim, verbatim, open, open}, judge.Borderline},
		{"all missing", []string{missing}, judge.Fail},
		{"three of five missing", []string{missing, missing, missing, open, open}, judge.Fail},
		{"two of five missing", []string{missing, missing, open, open, open}, judge.Borderline},
		{"one of five missing, rest verbatim", []string{missing, verbatim, verbatim, verbatim, verbatim}, judge.Pass},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{ID: "t", Output: strings.Join(tt.lines, "\n"), Sources: []judge.Source{{ID: "1", Text: liability}}}
			given := report(t, "citations", trace)
			j := named(t, "citations")
			reading, err := j.Read(given.Report, &trace)
			if err != nil {
				t.Fatal(err)
			}
			if got := j.Band.Verdict(reading.Score, reading.Critical, given.Undecided); got != tt.want {
				t.Errorf("verdict = %s (score %.2f, undecided %v), want %s", got, reading.Score, given.Undecided, tt.want)
			}
		})
	}
}

func TestOwnJudgesGetNoReport(t *testing.T) {
	j := named(t, "reference")
	own := *j
	own.Name, own.Builtin, own.Settle = "tone", false, nil
	trace := judge.Trace{ID: "t", Output: "A.", Reference: "A."}
	got, err := rules.Engine{}.Report(context.Background(), &own, &trace, judge.Planned{Judge: own.Name})
	if err != nil {
		t.Fatal(err)
	}
	if !got.NoReport || !strings.Contains(got.Explanation, own.Name) {
		t.Errorf("no report: %v (%s), want no report and the judge's name in the explanation", got.NoReport, got.Explanation)
	}
	// One that settles identical texts itself is not asked more than that.
	own.Settle = j.Settle
	for output, settled := range map[string]bool{"A.": true, "B.": false} {
		trace.Output = output
		got, err := rules.Engine{}.Report(context.Background(), &own, &trace, judge.Planned{Judge: own.Name})
		if err != nil || got.NoReport == settled || (got.Report != nil) != settled {
			t.Errorf("%s: report %s, %v; want one: %v", output, got.Report, err, settled)
		}
	}
}

// A report grows with its trace, not with markers times the step they stand in.
func TestCitationsReportIsBounded(t *testing.T) {
	for name, output := range map[string]string{
		"one paragraph":    strings.Repeat("Lost profits cannot be claimed from the seller [1], ", 4000),
		"one long claim":   strings.Repeat("lost profits and so on ", 10_000) + strings.Repeat("[1]", 4000),
		"ranges of a step": strings.Repeat("it is so and so ", 10_000) + strings.Repeat("[1-2]", 2000),
	} {
		trace := judge.Trace{ID: "t", Output: output, Sources: []judge.Source{{ID: "1", Text: liability}, {ID: "2", Text: dosage}}}
		r, _ := rules.Engine{}.Citations(&trace, judge.DefaultBand)
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if most := 1000 * r.Total; r.Total < 4000 || len(body) > most {
			t.Errorf("%s: a report of %d bytes for %d citations of an output of %d bytes, want %d at most", name, len(body), r.Total, len(output), most)
		}
	}
}

func TestReportStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	trace := judge.Trace{ID: "t", Output: "A [1]."}
	if _, err := (rules.Engine{}).Report(ctx, named(t, "citations"), &trace, judge.Planned{}); err == nil {
		t.Error("a cancelled context gives no error")
	}
}

// Whatever a trace holds, its report holds every check: seeds are the shapes
// that tripped earlier versions.
func FuzzCitations(f *testing.F) {
	f.Add("A [1, 2]. \"a b c\" [9]\n[1]", "a b c")
	f.Add("Step 1: “x y … z” [1-3]", "x y or z\n\nno")
	f.Add("[1]", "")
	checks := []judge.Check{}
	for _, j := range builtin.Judges() {
		if j.Name == "citations" {
			checks = j.Checks
		}
	}
	f.Fuzz(func(t *testing.T, output, source string) {
		if !utf8.ValidString(output) {
			t.Skip("a trace file with it is refused")
		}
		trace := judge.Trace{ID: "t", Output: output, Sources: []judge.Source{{ID: "1", Text: source}, {ID: "2", Text: output}}}
		r, _ := rules.Engine{}.Citations(&trace, judge.DefaultBand)
		if r.Total == 0 {
			return // refused before an engine is asked
		}
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range checks {
			if c.Kind != judge.Hard {
				continue
			}
			if faults, _ := c.Run(body, &trace); len(faults) > 0 {
				t.Fatalf("check %s: %s", c.Name, strings.Join(faults, "; "))
			}
		}
	})
}
