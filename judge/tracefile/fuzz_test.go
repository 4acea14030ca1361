package tracefile_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

// checkReader reads to the end and checks what holds for any input: it ends,
// each fault has a place, and each trace, written and read again, is the same.
func checkReader(t *testing.T, form tracefile.Form, data []byte) []judge.Trace {
	r := newReader(t, "f", bytes.NewReader(data), tracefile.Options{Form: form, MaxLine: 1 << 12})
	var all []judge.Trace
	for n := 0; ; n++ {
		if n > 3*len(data)+10 {
			t.Fatalf("no end after %d items of %d bytes", n, len(data))
		}
		trace, pos, err := r.Next()
		var bad *tracefile.LineError
		switch {
		case errors.Is(err, io.EOF):
			return all
		case errors.As(err, &bad):
			if bad.Line < 1 || bad.Field == "" || bad.Msg == "" {
				t.Fatalf("fault without a place: %+v", bad)
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		if pos.Line < 1 || pos.Line > 1+bytes.Count(data, []byte("\n")) {
			t.Fatalf("line %d of %d", pos.Line, 1+bytes.Count(data, []byte("\n")))
		}
		all = append(all, trace)
		written, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		if len(written) > 1<<12 {
			continue
		}
		again, _, err := newReader(t, "f", bytes.NewReader(written), tracefile.Options{Form: tracefile.Lines}).Next()
		if err != nil {
			t.Fatalf("reading %s again: %v", written, err)
		}
		if got, want := judge.TraceHashes(again), judge.TraceHashes(trace); got != want {
			t.Fatalf("read again, %s is another trace", written)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"id":"a","output":"x"}` + "\n" + `{"id":1,"answer":"\u00e9","labels":[{"judge":"j","label":5}],"x":{"y":[1e400]}}`))
	f.Add([]byte("{\"id\":\"a\",\"output\":\"\\ud83d\\ude00\",\"sources\":[{\"id\":\"1\",\"text\":\"t\"}]}\r\n[1]\n{"))
	f.Fuzz(func(t *testing.T, data []byte) { checkReader(t, tracefile.Lines, data) })
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`[{"id":"a","output":"x"}, {"id":"b","output":"}]"} ]`))
	f.Add([]byte("{\n\"id\":\"a\",\"output\":\"x\"}{\"id\""))
	f.Add([]byte("[}]{,,\"\n[{]"))
	f.Add([]byte("]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := checkReader(t, tracefile.JSON, data)
		// Valid JSON must give each object that is a trace: as many as the same
		// elements give as lines.
		var elements []json.RawMessage
		if json.Unmarshal(data, &elements) != nil || !utf8.Valid(data) {
			return
		}
		var lines bytes.Buffer
		for _, e := range elements {
			if len(e) > 1<<12 {
				return
			}
			var compact bytes.Buffer
			if err := json.Compact(&compact, e); err != nil {
				t.Fatal(err)
			}
			lines.Write(append(compact.Bytes(), '\n'))
		}
		if diff := cmp.Diff(checkReader(t, tracefile.Lines, lines.Bytes()), got); diff != "" {
			t.Fatalf("as lines and as an array (-lines +array):\n%s", diff)
		}
	})
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,output\n1,\"a\n\"\"b\"\"\"\n"), "x,\"y\"\n", "[1]")
	f.Add([]byte("id,output,labels\n1,x,\"[{}]\"\n2,\"\n"), "a", "{}")
	f.Fuzz(func(t *testing.T, data []byte, output, premise string) {
		checkReader(t, tracefile.CSV, data)
		// What encoding/csv writes is what is read.
		if strings.ContainsAny(output+premise, "\r\x00") || !utf8.ValidString(output) || !utf8.ValidString(premise) || strings.TrimSpace(output) == "" || len(output+premise) > 1<<10 {
			return
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		_ = w.WriteAll([][]string{{"id", "output", "question"}, {"1", output, premise}, {"2", "end", ""}})
		got := checkReader(t, tracefile.CSV, b.Bytes())
		if strings.TrimSpace(premise) == "" {
			premise = ""
		}
		want := []judge.Trace{
			{ID: "1", Stakes: judge.StandardStakes, Output: output, Question: premise},
			{ID: "2", Stakes: judge.StandardStakes, Output: "end"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("of %q (-want +got):\n%s", b.String(), diff)
		}
	})
}

// FuzzText compares the reading of strings with encoding/json.
func FuzzText(f *testing.F) {
	f.Add(`a\n\"\\\/\b\f\r\t\u00e9\ud83d\ude00`)
	f.Fuzz(func(t *testing.T, inside string) {
		quoted := `"` + inside + `"`
		var want string
		if json.Unmarshal([]byte(quoted), &want) != nil {
			return
		}
		line := fmt.Sprintf(`{"id":"a","output":"o","question":%s}`, quoted)
		traces, _, bad, _ := readAll(t, "f", line, tracefile.Options{Form: tracefile.Lines})
		refused := !utf8.ValidString(inside) || strings.Contains(want, "\x00") || strings.Contains(want, "\uFFFD")
		if len(traces) == 0 {
			if !refused {
				t.Fatalf("%s: %v", line, bad)
			}
			return
		}
		if got := traces[0].Question; got != want {
			t.Fatalf("%s is read as %q, want %q", quoted, got, want)
		}
	})
}
