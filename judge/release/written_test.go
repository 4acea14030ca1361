package release_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
)

// hostile is a trace id that would be markup, a command or an escape in each form.
const hostile = "<script>x</script> | `a` **b** ]]>&amp; \x1b[31m\n::error::no https://evil.example @all"

// hostileReport has an evaluation of that id that fails and one that waits.
func hostileReport(t *testing.T) release.Report {
	t.Helper()
	tally := release.NewTally(release.Options{MinPassRate: ptr(0.5)}, nil)
	for _, status := range []judge.Status{judge.Accepted, judge.InReview} {
		e := judge.Evaluation{TraceID: hostile, Judge: "mood", Engine: "recorded", Model: hostile, Status: status, Verdict: judge.Fail, Label: hostile}
		tally.Add(&judge.Trace{ID: hostile}, mood, judge.Planned{Engine: "recorded"}, e)
	}
	r, err := tally.Decide(release.Input{File: hostile, Traces: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func written(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTextStaysText: nothing of a trace is markup in any form that a gate writes.
func TestTextStaysText(t *testing.T) {
	r := hostileReport(t)
	junit := written(t, r.JUnit)
	var suites struct {
		Tests  int `xml:"tests,attr"`
		Failed int `xml:"failures,attr"`
		Cases  []struct {
			Name string `xml:"name,attr"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal([]byte(junit), &suites); err != nil {
		t.Fatalf("JUnit: %v\n%s", err, junit)
	}
	if suites.Tests != 5 || suites.Failed != 4 || len(suites.Cases) != 5 || !strings.HasPrefix(suites.Cases[3].Name, "<script>x</script> | `a` **b**") {
		t.Errorf("JUnit: %+v\n%s", suites, junit)
	}
	markdown := written(t, r.Markdown)
	var html bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(markdown), &html); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<strong>", "<a ", "raw HTML"} {
		if strings.Contains(html.String(), bad) {
			t.Errorf("Markdown gives %s:\n%s", bad, html.String())
		}
	}
	if rows := strings.Count(html.String(), "<tr>"); rows != 1+3+1+1 { // two heads, three rules, one judge
		t.Errorf("Markdown has %d rows:\n%s", rows, html.String())
	}
	for name, text := range map[string]string{"annotations": written(t, r.Annotations), "text": written(t, r.Text)} {
		if strings.ContainsAny(text, "\x1b\r") || regexp.MustCompile(`(?m)^::error::no`).MatchString(text) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestAnnotations(t *testing.T) {
	r := release.Report{Outcome: release.Failed, Rules: []release.Rule{
		{Name: "pass_rate", Judge: "a:b,c", Outcome: release.Failed, Detail: "50% of\nall"}, {Name: "waiting", Outcome: release.Passed},
	}}
	if got, want := written(t, r.Annotations), "::error title=Gate%3A Pass rate%2C a%3Ab%2Cc::50%25 of all\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNumbersHaveReasons: in JSON there is no figure without an interval or the reason
// why there is none, and no list that is null.
func TestNumbersHaveReasons(t *testing.T) {
	for name, items := range map[string][]item{
		"nothing": nil, "waiting": {{3, judge.Fail, judge.InReview, 0, nil}}, "all alike": {{60, judge.Pass, judge.Accepted, 1, says("good")}},
	} {
		text, err := json.Marshal(decide(t, release.Options{}, nil, items))
		if err != nil {
			t.Fatal(err)
		}
		var r map[string]any
		if err := json.Unmarshal(text, &r); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"rules", "judges", "failing", "waiting", "notes"} {
			if _, ok := r[list].([]any); !ok {
				t.Errorf("%s: %s is %v", name, list, r[list])
			}
		}
		var walk func(path string, v any)
		walk = func(path string, v any) {
			switch v := v.(type) {
			case []any:
				for i, x := range v {
					walk(fmt.Sprintf("%s[%d]", path, i), x)
				}
			case map[string]any:
				if value, is := v["value"]; is && (value == nil && v["undefined"] == nil || value != nil && v["ci_low"] == nil && v["no_interval"] == nil) {
					t.Errorf("%s: %s gives no reason: %v", name, path, v)
				}
				for key, x := range v {
					walk(path+"."+key, x)
				}
			}
		}
		walk("", r)
	}
}

// TestListsAreBounded: a candidate that fails everywhere gives a report of one size.
func TestListsAreBounded(t *testing.T) {
	r := decide(t, release.Options{MinPassRate: ptr(0.5)}, nil, []item{{5000, judge.Fail, judge.Accepted, 0, nil}, {5000, judge.Fail, judge.InReview, 0, nil}})
	if len(r.Failing) != release.MostExamples || r.FailingTotal != 5000 || len(r.Waiting) != release.MostExamples || r.Overall.Waiting != 5000 {
		t.Errorf("%d of %d failing, %d of %d waiting", len(r.Failing), r.FailingTotal, len(r.Waiting), r.Overall.Waiting)
	}
	if n := len(written(t, r.JUnit)); n > 200_000 {
		t.Errorf("JUnit takes %d bytes", n)
	}
	if text := written(t, r.Markdown); !strings.Contains(text, "and 4980 more") {
		t.Errorf("Markdown does not say how many are left out:\n%s", text)
	}
}
