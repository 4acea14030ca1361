package tracefile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

func mustTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

// TestForms reads the same two traces in every form.
func TestForms(t *testing.T) {
	const a, b = `{"id":"a","output":"x, \"y\"\nz"}`, `{"id":"b","output":"{["}`
	tests := []struct {
		name, file, text string
		lines            []int
		o                tracefile.Options
	}{
		{"lines", "t.jsonl", a + "\n" + b + "\n", []int{1, 2}, tracefile.Options{}},
		{"lines on standard input", "-", a + "\n" + b, []int{1, 2}, tracefile.Options{}},
		{"lines with CRLF and blanks", "t.jsonl", "\r\n" + a + "\r\n \r\n" + b + "\r\n", []int{2, 4}, tracefile.Options{}},
		{"lines with a byte order mark", "t.jsonl", "\uFEFF" + a + "\n" + b, []int{1, 2}, tracefile.Options{}},
		{"lines in a .json file", "t.json", a + "\n" + b, []int{1, 2}, tracefile.Options{}},
		{"array", "t.json", "[" + a + "," + b + "]", []int{1, 1}, tracefile.Options{}},
		{"array over lines", "-", "\uFEFF \n[\n" + a + "\n,\n\n" + b + "\n]\n", []int{3, 6}, tracefile.Options{}},
		{"array in a .jsonl file", "t.jsonl", "[" + a + ",\n" + b + "]", []int{1, 2}, tracefile.Options{}},
		{"objects over lines", "-", "{\n \"id\": \"a\", \"output\":\n\"x, \\\"y\\\"\\nz\"}\n" + b, []int{1, 4}, tracefile.Options{}},
		{"objects one after another", "body", a + b, []int{1, 1}, tracefile.Options{Form: tracefile.JSON}},
		{"csv", "t.csv", "id,output\na,\"x, \"\"y\"\"\nz\"\nb,{[\n", []int{2, 4}, tracefile.Options{}},
		{"csv on standard input", "-", "\uFEFFoutput,id\r\n\"x, \"\"y\"\"\nz\",a\r\n{[,b", []int{2, 4}, tracefile.Options{}},
		{"csv with an alias and an empty column", "t.csv", "id,answer,reference,\n\na,\"x, \"\"y\"\"\nz\",,\nb,{[,,\n", []int{3, 5}, tracefile.Options{}},
	}
	want := []judge.Trace{
		{ID: "a", Stakes: judge.StandardStakes, Output: "x, \"y\"\nz"},
		{ID: "b", Stakes: judge.StandardStakes, Output: "{["},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, lines, bad, warnings := readAll(t, tt.file, tt.text, tt.o)
			if len(bad)+len(warnings) > 0 {
				t.Errorf("bad lines %v, warnings %v", bad, warnings)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("traces (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.lines, lines); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEmpty(t *testing.T) {
	for _, text := range []string{"", "\n\n", "\uFEFF", "[]", " [ \n ] "} {
		if traces, _, bad, _ := readAll(t, "-", text, tracefile.Options{}); len(traces)+len(bad) > 0 {
			t.Errorf("%q: traces %v, bad lines %v", text, traces, bad)
		}
	}
}

func TestBrokenArrays(t *testing.T) {
	const a, b = `{"id":"a","output":"x"}`, `{"id":"b","output":"y"}`
	tests := []struct {
		name, text string
		ids        string
		bad        []string
	}{
		{"element is not an object", "[" + a + ",\n12,\n" + b + "]", "ab", []string{`2: json: is not an object but a number; each trace is one object`}},
		{"element is broken", "[" + a + ",\n{\"id\":,},\n" + b + "]", "ab", []string{`2: json: is broken at column 7: invalid character ',' looking for beginning of value`}},
		{"inner bracket left open", "[" + a + ",\n{\"id\":\"c\",\"tags\":[\"x\"},\n" + b + "]", "ab", []string{`2: json: is broken at column 22: invalid character '}' after array element`}},
		{"string left open", "[" + a + ",\n{\"id\":\"c\n},\n" + b + "]", "ab", []string{`2: json: is broken at column 9: invalid character '\n' in string literal`}},
		{"comma missing", "[" + a + "\n" + b + "]", "ab", []string{`2: json: a comma is missing before this trace; the trace itself is read`}},
		{"comma too many", "[" + a + ",\n," + b + "]", "ab", []string{`2: json: there is a comma without a trace before it; remove it`}},
		{"comma at the end", "[" + a + "," + b + ",\n]", "ab", []string{`2: json: there is a comma before the ] that ends the list; remove it`}},
		{"not closed", "[" + a + "," + b + "\n", "ab", []string{`2: json: the list is not closed: the file is cut off, or its last ] is missing`}},
		{"cut inside", "[" + a + ",\n" + `{"id":"b","out`, "a", []string{
			`2: json: is broken at column 15: it ends too early`,
			`2: json: the list is not closed: the file is cut off, or its last ] is missing`}},
		{"text behind", "[" + a + "]\n\n" + b + "\n" + b, "a", []string{`3: json: there is text after the end of the list, which is not read`}},
		{"object left open at the end", "[" + a + ",\n{\"id\":\"b\" ]", "a", []string{`2: json: is broken at column 10: it ends too early`}},
		{"stray bracket", "[" + a + ",\n}," + b + "]", "ab", []string{`2: json: is broken at column 1: invalid character '}' looking for beginning of value`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			traces, _, bad, _ := readAll(t, "t.json", tt.text, tracefile.Options{})
			var ids string
			for _, trace := range traces {
				ids += trace.ID
			}
			if ids != tt.ids {
				t.Errorf("read traces %q, want %q", ids, tt.ids)
			}
			for i := range bad {
				bad[i] = strings.TrimPrefix(bad[i], "t.json:")
			}
			if diff := cmp.Diff(tt.bad, bad); diff != "" {
				t.Errorf("bad (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCSVCells(t *testing.T) {
	text := `id,output,premises,constraints,tags,judges,sources,metadata,labels,judgments,extra
1,o,"[""p"",""q""]",[1] is a marker,"red; blue","steps, logic","[{""id"":""s1"",""text"":""t""}]","{""k"":1}","[{""judge"":""logic"",""label"":5}]","[{""judge"":""logic"",""raw"":""r""}]",{x}
2,o,p,"[""c""]","[""red""]","[""steps""]",A passage.,,,,
`
	got, _, bad, warnings := readAll(t, "t.csv", text, tracefile.Options{})
	want := []judge.Trace{
		{
			ID: "1", Stakes: judge.StandardStakes, Output: "o", Premises: []string{"p", "q"}, Constraints: []string{"[1] is a marker"},
			Tags: []string{"red", "blue"}, Judges: []string{"steps", "logic"}, Sources: []judge.Source{{ID: "s1", Text: "t"}},
			Metadata: map[string]any{"k": 1.0, "extra": "{x}"}, Labels: []judge.HumanLabel{{Judge: "logic", Label: "5"}},
			Judgments: []judge.Judgment{{Judge: "logic", Raw: "r"}},
		},
		{
			ID: "2", Stakes: judge.StandardStakes, Output: "o", Premises: []string{"p"}, Constraints: []string{"c"},
			Tags: []string{"red"}, Judges: []string{"steps"}, Sources: []judge.Source{{ID: "1", Text: "A passage."}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(bad) > 0 {
		t.Errorf("bad %v, traces (-want +got):\n%s", bad, diff)
	}
	if diff := cmp.Diff([]string{"t.csv:2: extra: is not a field of a trace; kept in its metadata"}, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestBadCSV(t *testing.T) {
	tests := []struct {
		name, text string
		ids        string
		bad        []string
	}{
		{"no id column", "output,question\nx,y\n", "", []string{`1: id: the header has no such column; the first line of a CSV file names the fields of a trace`}},
		{"column twice", "id,output,id\n1,x,2\n", "", []string{`1: csv: the header names column id twice`}},
		{"broken header", "id,out\"put\n1,x\n", "", []string{`1: csv: has a quote inside a field that does not start with one at line 1, column 7`}},
		{"too few fields", "id,output\n1\n2,x\n", "2", []string{`2: csv: has 1 fields where the header has 2; check quotes and commas`}},
		{"bare quote", "id,output\n1,\"a\nb\"\n2,a\"b\n3,x\n", "13", []string{`4: csv: has a quote inside a field that does not start with one at line 4, column 4`}},
		{"text after a quote", "id,output\n1,\"a\nb\"c\n3,x\n", "3", []string{`2: csv: has a quoted field that is not closed, or text after its closing quote at line 3, column 2`}},
		{"quote not closed", "id,output\n1,x\n2,\"a\nb\n", "1", []string{`3: csv: has a quoted field that is not closed, or text after its closing quote at line 4, column 3`}},
		{"NUL", "id,output\n1,a\x00\n2,x\n", "2", []string{`2: csv: has a NUL byte at column 4; remove it`}},
		{"NUL in the JSON of a cell", "id,output,metadata\n1,a,\"{\"\"k\"\":\"\"\\u0000\"\"}\"\n2,x,\n", "2", []string{`2: metadata: has a NUL character (\u0000) at column 7 of the cell`}},
		{"invalid UTF-8", "id,output\n1,\xe9t\xe9\n2,x\n", "2", []string{`2: csv: is not valid UTF-8 at column 3`}},
		{"broken JSON in a cell", "id,output,labels\n1,x,\"[{\"\"judge\"\"]\"\n", "", []string{`2: labels: must be JSON in the cell, which is broken at column 10: invalid character ']' after object key`}},
		{"plain text where JSON must be", "id,output,metadata\n1,x,red\n", "", []string{`2: metadata: must be JSON in the cell, which is broken at column 1: invalid character 'r' looking for beginning of value`}},
		{"name and alias", "id,output,answer\n1,x,y\n2,x,\n", "2", []string{`2: answer: is the same field as output, and both are given; keep one`}},
		{"value under an empty header", "id,output,\n1,x,y\n", "", []string{`2: csv: column 3 has a value but its header is empty`}},
		{"blank output", "id,output\n1,  \n", "", []string{`2: output: is missing or blank; there is nothing to judge`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			traces, _, bad, _ := readAll(t, "t.csv", tt.text, tracefile.Options{})
			var ids string
			for _, trace := range traces {
				ids += trace.ID
			}
			if ids != tt.ids {
				t.Errorf("read traces %q, want %q", ids, tt.ids)
			}
			for i := range bad {
				bad[i] = strings.TrimPrefix(bad[i], "t.csv:")
			}
			if diff := cmp.Diff(tt.bad, bad); diff != "" {
				t.Errorf("bad (-want +got):\n%s", diff)
			}
		})
	}
}
