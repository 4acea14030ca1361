package evidence_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

func sources(ids ...string) []judge.Source {
	var out []judge.Source
	for _, id := range ids {
		out = append(out, judge.Source{ID: id, Text: "text"})
	}
	return out
}

// brief writes markers as "id@step" in order.
func brief(ms []evidence.Marker) string {
	var out []string
	for _, m := range ms {
		out = append(out, fmt.Sprintf("%s@%d", m.CitationID, m.Step))
	}
	return strings.Join(out, " ")
}

func TestMarkers(t *testing.T) {
	author := regexp.MustCompile(`\(([A-Z][a-z]+ \d{4})\)`)
	tests := []struct {
		name, output string
		sources      []judge.Source
		pattern      *regexp.Regexp
		want         string
	}{
		{name: "none", output: "No citation here.", want: ""},
		{name: "numbers", output: "A [1]. B[2].\nC [12].", want: "1@1 2@1 12@2"},
		{name: "expertqa", output: "include:\n\n1[2].\nTermination  [3].", want: "2@1 3@2"},
		{name: "list", output: "A [1, 2;5].", want: "1@1 2@1 5@1"},
		{name: "range", output: "A [1-3] and [7–8].", want: "1@1 2@1 3@1 7@1 8@1"},
		{name: "range of words", output: "A [doc_2-doc_4].", want: "doc_2@1 doc_3@1 doc_4@1"},
		{name: "range too long is text", output: "A [1-999999] [1-51] [1-50x].", want: "1-50x@1"},
		{name: "range backwards is an id", output: "A [3-1].", want: "3-1@1"},
		{name: "a range that is an id", output: "A [1-3].", sources: sources("1-3"), want: "1-3@1"},
		{name: "words with digits", output: "A [doc_3] [s1] [B12a].", want: "doc_3@1 s1@1 B12a@1"},
		{name: "words of sources", output: "A [statute] [facts] [sic].", sources: sources("statute", "facts"), want: "statute@1 facts@1"},
		{name: "id with spaces", output: "A [Smith 2020] [Jones 2021].", sources: sources("Smith 2020"), want: "Smith 2020@1"},
		{name: "plain text", output: "[emphasis added] [...] [] [ ] [a note with 3 words] [x]", want: ""},
		{name: "note after an id", output: "A [1, emphasis added].", want: "1@1"},
		{name: "footnote", output: "A[^4].", want: "4@1"},
		{name: "nested and open", output: "A [[5]] [6 B [7", want: "5@1"},
		{name: "over lines", output: "A [1,\n2].", want: ""},
		{name: "pattern", output: "A (Smith 2020) [1].", pattern: author, want: "Smith 2020@1"},
		{name: "pattern without group", output: "A #12.", pattern: regexp.MustCompile(`#\d+`), want: "#12@1"},
		{name: "pattern with a list", output: "A {1, 2-3}.", pattern: regexp.MustCompile(`\{([^}]*)\}`), want: "1@1 2@1 3@1"},
		{name: "pattern, one id with a comma", output: "A (Smith, 2020).", pattern: regexp.MustCompile(`\(([^)]*)\)`), want: "Smith, 2020@1"},
		{name: "pattern that matches nothing", output: "A.", pattern: regexp.MustCompile(`x*`), want: ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := evidence.Markers(tt.output, tt.sources, tt.pattern)
			if diff := cmp.Diff(tt.want, brief(got)); diff != "" {
				t.Errorf("Markers (-want +got):\n%s", diff)
			}
			for i, m := range got {
				if m.Number != i+1 {
					t.Errorf("marker %d has number %d", i+1, m.Number)
				}
			}
		})
	}
}

func TestMarkersAreBounded(t *testing.T) {
	got := evidence.Markers(strings.Repeat("[1-50]", 20_000), nil, nil)
	if len(got) != 50_000 {
		t.Errorf("markers = %d, want the bound of 50000", len(got))
	}
}

func TestMarkerRange(t *testing.T) {
	output := "Zoë says so [1, 2]."
	for _, m := range evidence.Markers(output, nil, nil) {
		if got := output[m.Start:m.End]; got != "[1, 2]" {
			t.Errorf("marker %d stands at %q, want the whole bracket", m.Number, got)
		}
	}
}

func TestClaims(t *testing.T) {
	tests := []struct {
		name, output string
		want         []string
	}{
		{"before the full stop", "A cat sat on a mat [1]. A dog ate it all up [2].", []string{"A cat sat on a mat.", "A dog ate it all up."}},
		{"after the full stop", "A cat sat on a mat. [1] A dog ate it all up. [2]", []string{"A cat sat on a mat.", "A dog ate it all up."}},
		{"markers first", "[1] A cat sat on a mat. [2] A dog ate it all up.", []string{"A cat sat on a mat.", "A dog ate it all up."}},
		{"side by side", "A cat sat on a mat [1][2], [3].", []string{"A cat sat on a mat.", "A cat sat on a mat.", "A cat sat on a mat."}},
		{"two in a sentence", "A cat sat on a mat [1], while a dog ate it all [2].", []string{"A cat sat on a mat", "while a dog ate it all."}},
		{"rest of the sentence", "It holds for all of them [1] in winter.", []string{"It holds for all of them in winter."}},
		{"introduced by the marker", "According to [1], all cats sleep by day.", []string{"According to, all cats sleep by day."}},
		{"another step", "A cat sat on a mat.\nA dog ate it all up [1].", []string{"A dog ate it all up."}},
		{"sentences in a quotation", `The court says "the clause is void. The rest stands." [1]`, []string{`The court says "the clause is void. The rest stands."`}},
		{"label left out", "2. **Note** that cats sleep by day [1].", []string{"**Note** that cats sleep by day."}},
		{"bold step left out", "**Step 3:** Cats sleep by day [1].\nStep 4: So.", []string{"Cats sleep by day."}},
		{"abbreviation", "Dr. Smith, e.g. in Fig. 3, shows it at 3.5 mg [1].", []string{"Dr. Smith, e.g. in Fig. 3, shows it at 3.5 mg."}},
		{"sentence before", "Nobody knows. The court, in the U.S. Supreme sense, held so [1].", []string{"The court, in the U.S. Supreme sense, held so."}},
		{"closing quotation mark", `He said "it is over." Then he left the room [1].`, []string{"Then he left the room."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			markers := evidence.Markers(tt.output, nil, nil)
			var got []string
			for _, c := range evidence.Claims(tt.output, markers) {
				got = append(got, c.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Claims (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzMarkers(f *testing.F) {
	f.Add("A [1, 2]. B [1-3]\nStep 1: [doc_3]", `\(([^)]*)\)`)
	f.Add("[1]\n\n[2].. [3] é. [x1]", "")
	f.Add("1[2].\xff[3", `\[(\d*)\]`)
	f.Fuzz(func(t *testing.T, s, expr string) {
		var pattern *regexp.Regexp
		if expr != "" {
			var err error
			if pattern, err = regexp.Compile(expr); err != nil {
				t.Skip()
			}
		}
		markers := evidence.Markers(s, sources("a", "1", "two words"), pattern)
		claims := evidence.Claims(s, markers)
		if len(claims) != len(markers) {
			t.Fatalf("%d claims for %d markers", len(claims), len(markers))
		}
		steps := evidence.Steps(s)
		for i, m := range markers {
			checkSpan(t, s, evidence.Span{Start: m.Start, End: m.End})
			checkSpan(t, s, evidence.Span{Start: claims[i].Start, End: claims[i].End})
			if m.Number != i+1 || m.Step > len(steps) || m.CitationID == "" {
				t.Fatalf("marker %d: %+v of %d steps", i+1, m, len(steps))
			}
		}
	})
}
