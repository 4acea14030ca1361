package tracefile_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

func newReader(t testing.TB, name string, src io.Reader, o tracefile.Options) *tracefile.Reader {
	t.Helper()
	r, err := tracefile.NewReader(name, src, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// readAll gives everything a reader says: traces with their lines, bad lines,
// and warnings.
func readAll(t testing.TB, name, text string, o tracefile.Options) (traces []judge.Trace, lines []int, bad, warnings []string) {
	t.Helper()
	r := newReader(t, name, strings.NewReader(text), o)
	for {
		trace, pos, err := r.Next()
		var line *tracefile.LineError
		switch {
		case err == nil:
			traces = append(traces, trace)
			lines = append(lines, pos.Line)
			continue
		case errors.As(err, &line):
			bad = append(bad, line.Error())
			continue
		case !errors.Is(err, io.EOF):
			t.Fatalf("Next: %v", err)
		}
		for _, w := range r.Warnings() {
			warnings = append(warnings, w.String())
		}
		return traces, lines, bad, warnings
	}
}

func knownJudges(name string) (*judge.Judge, bool) {
	if name != "reference" {
		return nil, false
	}
	return &judge.Judge{Name: "reference", Labels: []judge.Label{
		{Name: "exact_match", Verdict: judge.Pass}, {Name: "substantive_difference", Verdict: judge.Fail},
	}}, true
}

func TestBadLines(t *testing.T) {
	whole := func(extra string) string { return `{"id":"a","output":"x",` + extra + `}` }
	tests := []struct {
		name, line, want string // want without FILE:LINE
	}{
		{"broken JSON", `{"id":"a","output":"x",}`, `json: is broken at column 24: invalid character '}' looking for beginning of object key string`},
		{"column counts characters", `{"id":"äö","output" "x"}`, `json: is broken at column 21: invalid character '"' after object key`},
		{"cut off", `{"id":"a","output":"x`, `json: is broken at column 22: it ends too early`},
		{"list", `["a"]x`, `json: is broken at column 6: invalid character 'x' after top-level value`},
		{"text", `"a"`, `json: is not an object but text; each trace is one object`},
		{"number", `12`, `json: is not an object but a number; each trace is one object`},
		{"id missing", `{"output":"x"}`, `id: is missing; every trace needs an id of its own`},
		{"id null", `{"id":null,"output":"x"}`, `id: is missing; every trace needs an id of its own`},
		{"id blank", `{"id":"  ","output":"x"}`, `id: is missing; every trace needs an id of its own`},
		{"id of the wrong type", `{"id":["a"],"output":"x"}`, `id: must be text or a number but is a list`},
		{"output missing", `{"id":"a"}`, `output: is missing or blank; there is nothing to judge`},
		{"output blank", `{"id":"a","output":" \n\t"}`, `output: is missing or blank; there is nothing to judge`},
		{"name in another case is another name", `{"ID":"a","output":"x"}`, `id: is missing; every trace needs an id of its own`},
		{"alias and name", whole(`"answer":"y"`), `answer: is the same field as output, and both are given; keep one`},
		{"two aliases", whole(`"input":"y","prompt":"z"`), `prompt: is the same field as input, and both are given; keep one`},
		{"name twice", whole(`"output":"y"`), `output: is given twice; keep one`},
		{"question a number", whole(`"question":5`), `question: must be text but is a number`},
		{"alias keeps its name in messages", whole(`"prompt":5`), `prompt: must be text but is a number`},
		{"output an object", `{"id":"a","output":{}}`, `output: must be text but is an object`},
		{"premises a number", whole(`"premises":1`), `premises: must be text or a list of text but is a number`},
		{"constraints with a number", whole(`"constraints":["a",2]`), `constraints[1]: must be text but is a number`},
		{"judges a text", whole(`"judges":"steps"`), `judges: must be a list of text but is text`},
		{"tags an object", whole(`"tags":{}`), `tags: must be a list of text but is an object`},
		{"metadata a list", whole(`"metadata":[]`), `metadata: must be an object but is a list`},
		{"sources a text", whole(`"context":"long"`), `context: must be a list of objects but is text`},
		{"source a text", whole(`"sources":["long"]`), `sources[0]: must be an object but is text`},
		{"source without id", whole(`"sources":[{"text":"x"}]`), `sources[0].id: is missing; citations name a source by its id`},
		{"source without text", whole(`"sources":[{"id":"1"},{"id":"2"}]`), `sources[0].text: is missing or blank`},
		{"source id twice", whole(`"documents":[{"id":1,"text":"x"},{"id":"2","text":"y"},{"id":"1","text":"z"}]`),
			`documents[2].id: "1" is already the id of documents[0]; each source needs its own`},
		{"source key twice", whole(`"sources":[{"id":"1","id":"2","text":"x"}]`), `sources[0].id: is given twice; keep one`},
		{"NUL byte", "{\"id\":\"a\",\"output\":\"x\x00\"}", `json: has a NUL byte at column 22; remove it`},
		{"NUL escape", `{"id":"a","output":"\\u0000 \u0000"}`, `output: has a NUL character (\u0000) at column 29`},
		{"half a surrogate pair", whole(`"question":"\ud83d!"`), `question: has half of a surrogate pair at column 36`},
		{"second half alone", whole(`"question":"\ude00"`), `question: has half of a surrogate pair at column 36`},
		{"invalid UTF-8", "{\"id\":\"ä\",\"output\":\"x\xff\"}", `output: is not valid UTF-8 at column 22`},
		{"invalid UTF-8 in a name", "{\"id\":\"a\",\"x\xff\":1,\"output\":\"x\"}", `json: is not valid UTF-8 at column 13`},
		{"invalid UTF-8 under a name for terminals", "{\"id\":\"a\",\"\\u001b[2J\":\"\xff\",\"output\":\"x\"}", `"\x1b[2J": is not valid UTF-8 at column 24`},
		{"stakes", whole(`"stakes":"medium"`), `stakes: must be high or standard but is "medium"`},
		{"judgments an object", whole(`"judgments":{}`), `judgments: must be a list of objects but is an object`},
		{"judgment without judge", whole(`"judgments":[{"raw":"x"}]`), `judgments[0].judge: is missing; say whose report it is`},
		{"judgment with both", whole(`"judgments":[{"judge":"reference","raw":"x","output":{}}]`), `judgments[0]: has both output and raw; keep one`},
		{"judgment with neither", whole(`"judgments":[{"judge":"reference"}]`), `judgments[0]: has neither output (an object) nor raw (text)`},
		{"judgment with text as output", whole(`"judgments":[{"judge":"reference","output":"x"}]`), `judgments[0].output: must be an object (text belongs in raw) but is text`},
		{"judgment of an unknown judge", whole(`"judgments":[{"judge":"r","raw":"x"}]`), `judgments[0].judge: no judge is called "r"; correct the name, or add its definition with --judges`},
		{"unknown judge asked for", whole(`"judges":["reference","r"]`), `judges[1]: no judge is called "r"; correct the name, or add its definition with --judges`},
		{"time", whole(`"judgments":[{"judge":"reference","raw":"x","at":"yesterday"}]`), `judgments[0].at: must be a time like 2026-05-01T09:30:00Z but is "yesterday"`},
		{"time a number", whole(`"labels":[{"judge":"reference","verdict":"pass","at":1}]`), `labels[0].at: must be text but is a number`},
		{"label without judge", whole(`"labels":[{"verdict":"pass"}]`), `labels[0].judge: is missing; say which judge's question it answers`},
		{"label of an unknown judge", whole(`"labels":[{"judge":"r","verdict":"pass"}]`), `labels[0].judge: no judge is called "r"; correct the name, or add its definition with --judges`},
		{"label without label or verdict", whole(`"labels":[{"judge":"reference"}]`), `labels[0]: has neither label nor verdict`},
		{"verdict", whole(`"labels":[{"judge":"reference","verdict":"passed"}]`), `labels[0].verdict: must be pass, borderline or fail but is "passed"`},
		{"label of another judge", whole(`"labels":[{"judge":"reference","label":"Yes"}]`), `labels[0].label: "Yes" is not a label of judge reference; its labels are exact_match, substantive_difference`},
		{"label against verdict", whole(`"labels":[{"judge":"reference","label":"exact_match","verdict":"fail"}]`), `labels[0].verdict: is fail, but the label exact_match of judge reference means pass; keep one`},
		{"probability 0", whole(`"labels":[{"judge":"reference","verdict":"pass","inclusion_probability":0}]`), `labels[0].inclusion_probability: must be at least 0.000001 and at most 1 but is 0`},
		{"probability whose weight is no number", whole(`"labels":[{"judge":"reference","verdict":"pass","inclusion_probability":5e-324}]`), `labels[0].inclusion_probability: must be at least 0.000001 and at most 1 but is 5e-324`},
		{"probability above 1", whole(`"labels":[{"judge":"reference","verdict":"pass","inclusion_probability":1.01}]`), `labels[0].inclusion_probability: must be at least 0.000001 and at most 1 but is 1.01`},
		{"two adjudicated labels", whole(`"labels":[{"judge":"reference","verdict":"pass","adjudicated":true},{"judge":"reference","verdict":"fail","adjudicated":true}]`),
			`labels[1]: is adjudicated and differs from the adjudicated label before it; one evaluation has one result`},
		{"id too long", `{"id":"` + strings.Repeat("é", 513) + `","output":"x"}`, `id: is 513 characters long; at most 512 fit an address`},
		{"run too long", whole(`"run":"` + strings.Repeat("r", 513) + `"`), `run: is 513 characters long; at most 512 fit an address`},
		{"blind", whole(`"labels":[{"judge":"reference","verdict":"pass","blind":"yes"}]`), `labels[0].blind: must be true or false but is text`},
		{"finding step", whole(`"labels":[{"judge":"reference","verdict":"pass","findings":[{"class":"x","step":-1}]}]`), `labels[0].findings[0].step: must be a whole number from 0 on but is -1`},
		{"finding severity", whole(`"labels":[{"judge":"reference","verdict":"pass","findings":[{"class":"x","severity":"bad"}]}]`), `labels[0].findings[0].severity: must be critical, major or minor but is "bad"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"id":"first","output":"x"}` + "\n\n" + tt.line + "\n" + `{"id":"last","output":"x"}`
			traces, lines, bad, _ := readAll(t, "t.jsonl", text, tracefile.Options{Judge: knownJudges})
			if diff := cmp.Diff([]string{"t.jsonl:3: " + tt.want}, bad); diff != "" {
				t.Errorf("bad lines (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]int{1, 4}, lines); diff != "" || traces[1].ID != "last" {
				t.Errorf("lines of good traces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWholeTrace(t *testing.T) {
	text := `{"id": 17, "domain":"Legal","question":"q \"1\" \u00e9\ud83d\ude00\/","output":"o","reference":"r","premises":"p",
"conclusion":"c","sources":[{"id":3,"text":"t","title":"T","url":"u"}],"constraints":["a","b"],"judges":["reference"],
"run":"nightly","tags":["x"],"metadata":{"n":1.5,"big":12345678901234567890,"l":[null,true]},"cluster":9,"extra":{"a":[]},
"judgments":[{"judge":"reference","model":"m","prompt_version":"v","at":"2026-05-01T09:30:00Z","output":{"b": 1, "a": 2}},{"judge":"reference","raw":"no"}],
"labels":[{"judge":"reference","label":"exact_match","verdict":"pass","reviewer":"ann","findings":[{"step":2,"class":"late","severity":"minor","quote":"q"}],
"comment":"fine","at":"2026-05-01T09:30:00+02:00","blind":false,"adjudicated":true,"stratum":"random","inclusion_probability":0.25}]}`
	got, _, bad, warnings := readAll(t, "t.jsonl", strings.ReplaceAll(text, "\n", " "), tracefile.Options{Judge: knownJudges})
	if len(bad) > 0 || len(got) != 1 {
		t.Fatalf("read %d traces, bad lines: %v", len(got), bad)
	}
	at := mustTime("2026-05-01T09:30:00Z")
	labelAt := mustTime("2026-05-01T07:30:00Z")
	blind, probability := false, 0.25
	want := judge.Trace{
		ID: "17", Domain: "legal", Stakes: judge.HighStakes, Question: `q "1" é😀/`, Output: "o", Reference: "r",
		Premises: []string{"p"}, Conclusion: "c",
		Sources:     []judge.Source{{ID: "3", Text: "t", Title: "T", URL: "u"}},
		Constraints: []string{"a", "b"}, Judges: []string{"reference"}, Run: "nightly", Tags: []string{"x"},
		Metadata: map[string]any{"n": 1.5, "big": "12345678901234567890", "l": []any{nil, true}, "extra": map[string]any{"a": []any{}}},
		Cluster:  "9",
		Judgments: []judge.Judgment{
			{Judge: "reference", Model: "m", PromptVersion: "v", At: &at, Output: []byte(`{"b": 1, "a": 2}`)},
			{Judge: "reference", Raw: "no"},
		},
		Labels: []judge.HumanLabel{{
			Judge: "reference", Label: "exact_match", Verdict: judge.Pass, Reviewer: "ann",
			Findings: []judge.Finding{{Step: 2, Class: "late", Severity: "minor", Quote: "q"}},
			Comment:  "fine", At: &labelAt, Blind: &blind, Adjudicated: true, Stratum: "random", InclusionProbability: &probability,
		}},
	}
	if diff := cmp.Diff(want, got[0], cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"t.jsonl:1: extra: is not a field of a trace; kept in its metadata"}, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestAliases(t *testing.T) {
	for alias, field := range map[string]string{
		"input": "question", "prompt": "question", "problem": "question",
		"candidate": "output", "trace": "output", "response": "output", "answer": "output",
		"expected_output": "reference", "expected": "reference", "reference_solution": "reference",
		"context": "sources", "documents": "sources",
	} {
		value, output := `"v"`, `"output":"x",`
		if field == "sources" {
			value = `[{"id":"1","text":"v"}]`
		}
		if field == "output" {
			output = ""
		}
		line := func(name string) string { return fmt.Sprintf(`{"id":"a",%s%q:%s}`, output, name, value) }
		got, _, bad, _ := readAll(t, "t.jsonl", line(alias), tracefile.Options{})
		want, _, _, _ := readAll(t, "t.jsonl", line(field), tracefile.Options{})
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 1 {
			t.Errorf("alias %s of %s: bad %v, traces (-want +got):\n%s", alias, field, bad, diff)
		}
	}
}

func TestUnknownFields(t *testing.T) {
	text := `{"id":"a","output":"x","score":1,"metadata":{"score":2,"score_2":3}}
{"id":"b","output":"x","score":1}
{"id":"c","output":"x","score":1,"sources":[{"id":"1","text":"t","page":3}]}`
	got, _, bad, warnings := readAll(t, "t.jsonl", text, tracefile.Options{})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	want := map[string]any{"score": 2.0, "score_2": 3.0, "score_3": 1.0}
	if diff := cmp.Diff(want, got[0].Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	wantWarnings := []string{
		"t.jsonl:1: score: is not a field of a trace; kept in its metadata as score_3, since the name is taken",
		"t.jsonl:2: score: is not a field of a trace; kept in its metadata (2 traces)",
		"t.jsonl:3: sources.page: is not known here and is left out",
	}
	if diff := cmp.Diff(wantWarnings, warnings, cmpopts.SortSlices(strings.Compare)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestWarningsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `{"id":"%d","output":"x","field%d":1}`+"\n", i, i)
	}
	_, _, _, warnings := readAll(t, "t.jsonl", b.String(), tracefile.Options{})
	if got, want := len(warnings), 101; got != want {
		t.Fatalf("%d warnings, want %d", got, want)
	}
	if got, want := warnings[100], "t.jsonl:1001: line: more fields than can be listed are not fields of a trace (900 traces)"; got != want {
		t.Errorf("last warning %q, want %q", got, want)
	}
}

func TestRepeatedID(t *testing.T) {
	text := `{"id":"a","output":"x"}
{"id":"b","output":"x"}
{"id":"a","output":"x","labels":[{"judge":"j","verdict":"pass"}]}
{"id":"a","output":"y"}
{"id":"b","output":"x","run":"r"}`
	_, lines, bad, _ := readAll(t, "t.jsonl", text, tracefile.Options{})
	if diff := cmp.Diff([]int{1, 2, 3, 5}, lines); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	want := []string{`t.jsonl:4: id: "a" is on line 1 with other content; one file can hold one trace of an id`}
	if diff := cmp.Diff(want, bad); diff != "" {
		t.Errorf("bad lines (-want +got):\n%s", diff)
	}
}

func TestLongLines(t *testing.T) {
	long := `{"id":"long","output":"` + strings.Repeat("x", 300_000) + `"}`
	fits := `{"id":"fits","output":"` + strings.Repeat("x", 1<<10-25) + `"}`
	tests := []struct{ name, file, text string }{
		{"lines", "t.jsonl", "{\"id\":\"a\",\"output\":\"x\"}\n" + long + "\n" + fits + "\n"},
		{"array", "t.json", "[{\"id\":\"a\",\"output\":\"x\"},\n" + long + ",\n" + fits + "]"},
		{"csv", "t.csv", "id,output\nlong,\"" + strings.Repeat("x\n", 1000) + "\"\nfits,x\n"},
		{"csv in the header", "t.csv", strings.Repeat("id", 1000) + "\n"},
		{"at the end of the file", "t.jsonl", "{\"id\":\"a\",\"output\":\"x\"}\n" + long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			traces, _, bad, _ := readAll(t, tt.file, tt.text, tracefile.Options{MaxLine: 1 << 10})
			if len(bad) != 1 || !strings.Contains(bad[0], ": line: is longer than the limit of 1 KiB; shorten it or raise the limit") {
				t.Errorf("bad lines: %v", bad)
			}
			if n := len(traces); strings.Contains(tt.text, "fits") && (n == 0 || traces[n-1].ID != "fits") {
				t.Errorf("the trace after the long one was not read: %d traces", n)
			}
		})
	}
}

// endless gives one line without an end; it fails the test when more is kept of
// it than the limit allows.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.left -= n
	return n, nil
}

func TestLongLineKeepsMemoryBounded(t *testing.T) {
	const limit = 1 << 20
	allocated := testing.AllocsPerRun(1, func() {
		r := newReader(t, "t.jsonl", &endless{left: 256 * limit}, tracefile.Options{MaxLine: limit, Form: tracefile.Lines})
		var line *tracefile.LineError
		if _, _, err := r.Next(); !errors.As(err, &line) {
			t.Fatalf("Next: %v", err)
		}
	})
	if allocated > 200 {
		t.Errorf("%v allocations for one line that is dropped", allocated)
	}
}

func TestReadFault(t *testing.T) {
	broken := errors.New("the disk is gone")
	src := io.MultiReader(strings.NewReader(`{"id":"a","output":"x"}`+"\n{"), &failing{broken})
	r := newReader(t, "t.jsonl", src, tracefile.Options{})
	if _, _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	_, _, err := r.Next()
	var line *tracefile.LineError
	if !errors.Is(err, broken) || errors.As(err, &line) {
		t.Fatalf("Next: %v, want a fault of the input", err)
	}
	if got, want := err.Error(), "read t.jsonl near line 2: the disk is gone"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestReadFaultAtOnce(t *testing.T) {
	broken := errors.New("the disk is gone")
	if _, err := tracefile.NewReader("t.jsonl", &failing{broken}, tracefile.Options{}); !errors.Is(err, broken) {
		t.Errorf("NewReader: %v, want %v", err, broken)
	}
}

func TestPosSize(t *testing.T) {
	const line = `{"id":"a","output":"x"}`
	for name, text := range map[string]string{"t.jsonl": line + "\n", "t.json": "[ " + line + " ]", "t.csv": "id,output\nä,123456789012345678\n"} {
		_, pos, err := newReader(t, name, strings.NewReader(text), tracefile.Options{}).Next()
		if err != nil || pos.Size < len(line)-1 || pos.Size > len(line)+1 {
			t.Errorf("%s: size %d of a trace of about %d bytes, error %v", name, pos.Size, len(line), err)
		}
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// A policy may say which domains have high stakes; a trace's own word counts more.
func TestStakesOfDomains(t *testing.T) {
	const file = `{"id":"a","output":"o","domain":"Aviation"}
{"id":"b","output":"o","domain":"medical"}
{"id":"c","output":"o","domain":"aviation","stakes":"standard"}
`
	p := judge.DefaultPolicy()
	p.HighStakesDomains = []string{"aviation"}
	for name, tt := range map[string]struct {
		stakes func(string) judge.Stakes
		want   []judge.Stakes
	}{
		"default": {nil, []judge.Stakes{judge.StandardStakes, judge.HighStakes, judge.StandardStakes}},
		"policy":  {p.StakesOf, []judge.Stakes{judge.HighStakes, judge.StandardStakes, judge.StandardStakes}},
	} {
		r, err := tracefile.NewReader("t.jsonl", strings.NewReader(file), tracefile.Options{Stakes: tt.stakes})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range tt.want {
			trace, _, err := r.Next()
			if err != nil || trace.Stakes != want {
				t.Errorf("%s: trace %d has %s stakes (%v), want %s", name, i, trace.Stakes, err, want)
			}
		}
	}
}
