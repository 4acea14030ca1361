package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func referenceOf(t *testing.T, reference, output string) *views.ReferenceBench {
	t.Helper()
	for _, j := range builtin.Judges() {
		if j.Name != builtin.Reference {
			continue
		}
		trace := judge.Trace{Reference: reference, Output: output}
		sheet, err := ruling.New(&j, &trace, nil)
		if err != nil {
			t.Fatal(err)
		}
		return referenceBench(deskItem{review: store.Review{Trace: trace}, definition: &j, sheet: sheet}).(*views.ReferenceBench)
	}
	t.Fatal("no judge of equivalence")
	return nil
}

// written is the text of runs as a page shows it.
func written(runs []views.DiffRun) string {
	var b strings.Builder
	for _, r := range runs {
		for _, w := range r.Text {
			b.WriteString(w.Text)
		}
	}
	return b.String()
}

// TestComparedTextsAreWhole: both texts are on the page letter for letter, folded
// or not; of long ones the merged text repeats only what is near a difference.
func TestComparedTextsAreWhole(t *testing.T) {
	var long, other strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&long, "word%d and the rest of it,\n", i%97)
		if i%1000 == 500 {
			other.WriteString("but not this ")
		}
		fmt.Fprintf(&other, "word%d and the rest of it,\n", i%97)
	}
	endless := strings.Repeat("x", 1<<20)
	for _, tt := range []struct {
		name, reference, output string
		differences, merged     int // merged: at most so many bytes
	}{
		{"short", "Take 5 mg, not more.", "Take 5 g, more.", 2, 100},
		{"the same", "Take 5 mg.", "Take  5 mg.", 0, 100},
		{"nothing in common", "eins zwei drei", "四五六", 1, 100},
		{"empty", "", "a", 1, 10},
		{"long", long.String(), other.String(), 6, 6 * 1200},
		{"a line without end", endless + " 5 mg", endless + " 6 mg", 1, 1<<20 + 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := referenceOf(t, tt.reference, tt.output)
			if got := written(b.Reference); got != tt.reference {
				t.Errorf("the reference is drawn as %.200q", got)
			}
			if got := written(b.Candidate); got != tt.output {
				t.Errorf("the candidate is drawn as %.200q", got)
			}
			if len(b.Differences) != tt.differences {
				t.Errorf("%d differences, want %d", len(b.Differences), tt.differences)
			}
			if got := len(written(b.Merged)); got > tt.merged {
				t.Errorf("merged has %d bytes, want at most %d", got, tt.merged)
			}
		})
	}
}

// A difference of any length has a short row, cut between words and characters.
func TestLongDifferenceIsClipped(t *testing.T) {
	for _, word := range []string{"Wort ", "法", "é"} {
		b := referenceOf(t, "a b c", strings.Repeat(word, 3000))
		got := written([]views.DiffRun{{Text: b.Differences[0].Candidate}})
		if len(got) > mostOfSide+10 || !strings.HasSuffix(got, " …") || strings.ToValidUTF8(got, "?") != got {
			t.Errorf("%q: the row has %d bytes: %.60q", word, len(got), got)
		}
	}
}

// TestViolatedText: words that several violations quote are marked once for all of
// them, each has its number behind it, and the text stays whole.
func TestViolatedText(t *testing.T) {
	const text = "one two three four"
	at := func(n int, words string) *ruling.Violation {
		start := strings.Index(text, words)
		return &ruling.Violation{Number: n, Place: evidence.Match{Kind: evidence.Exact, Start: start, End: start + len(words)}}
	}
	for _, tt := range []struct {
		name  string
		found []*ruling.Violation
		want  string
	}{
		{"none", nil, "one two three four"},
		{"one", []*ruling.Violation{at(1, "two")}, "one <v1:two>#1 three four"},
		{"overlapping", []*ruling.Violation{at(2, "two three"), at(1, "three four")}, "one <v2:two ><v2 v1:three>#2<v1: four>#1"},
		{"one in another", []*ruling.Violation{at(1, "one two three"), at(2, "two")}, "<v1:one ><v1 v2:two>#2<v1: three>#1 four"},
		{"the same words", []*ruling.Violation{at(3, "four"), at(1, "four")}, "one two three <v1 v3:four>#1#3"},
		{"not there", []*ruling.Violation{{Number: 1, Place: evidence.Match{Kind: evidence.None}}}, "one two three four"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := violatedText(&judge.Trace{Output: text}, evidence.Steps(text), tt.found, false)
			var b strings.Builder
			for _, s := range doc.Steps[0].Segments {
				switch s.Kind {
				case views.Violation:
					fmt.Fprintf(&b, "<%s:%s>", s.Ref, s.Text)
				case views.Flag:
					b.WriteString("#" + s.Text)
				default:
					b.WriteString(s.Text)
				}
			}
			if diff := cmp.Diff(tt.want, b.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Markdown keeps the passages that findings point at, and each number once: where one
// would have no place the step stays as it was written.
func TestViolatedMarkdown(t *testing.T) {
	const text = "1. It is **very likely** so.\n2. Hence *surely* it is.\n3. | a | b |"
	at := func(n int, words string) *ruling.Violation {
		start := strings.Index(text, words)
		return &ruling.Violation{Number: n, Place: evidence.Match{Kind: evidence.Exact, Start: start, End: start + len(words)}}
	}
	doc := violatedText(&judge.Trace{Output: text}, evidence.Steps(text), []*ruling.Violation{at(1, "very likely"), at(2, "Hence *surely*")}, true)
	if b := doc.Steps[0].Blocks; len(b) != 1 || b[0].Marker != "1." || flags(b[0].Segments) != 1 {
		t.Errorf("step 1 is %+v", b)
	}
	for _, s := range doc.Steps[0].Blocks[0].Segments {
		if s.Text == "very likely" && (s.Kind != views.Violation || s.Style != views.Strong) {
			t.Errorf("the passage is %+v", s)
		}
	}
	if s := doc.Steps[1]; len(s.Blocks) != 0 || flags(s.Segments) != 1 {
		t.Errorf("the number of a passage that ends on a star has no place in Markdown, and step 2 is %+v", s)
	}
}

// TestAddedByForm: what is typed of a violation of one's own is kept, and signed
// only when it is whole.
func TestAddedByForm(t *testing.T) {
	whole := map[string][]string{"ruling.add/1": {"major"}, "added.1.explanation": {" x "}, "added.1.step": {"2"}}
	for _, tt := range []struct {
		name  string
		form  map[string][]string
		want  []judge.Ruling
		fault string
	}{
		{"nothing", map[string][]string{"ruling.add/1": {""}, "added.1.step": {""}, "added.1.quote": {"  "}}, nil, ""},
		{"whole", whole, []judge.Ruling{ruling.Added{Severity: "major", Step: 2, Explanation: "x"}.Ruling(1)}, ""},
		{"the second alone", map[string][]string{"ruling.add/2": {"minor"}, "added.2.explanation": {"y"}}, []judge.Ruling{ruling.Added{Severity: "minor", Explanation: "y"}.Ruling(2)}, ""},
		{"no severity", map[string][]string{"added.1.explanation": {"x"}}, []judge.Ruling{ruling.Added{Explanation: "x"}.Ruling(1)}, "violation 1 has no severity"},
		{"no explanation", map[string][]string{"ruling.add/1": {"major"}}, []judge.Ruling{ruling.Added{Severity: "major"}.Ruling(1)}, "violation 1 does not say what is wrong"},
		{"no number as step", map[string][]string{"ruling.add/1": {"major"}, "added.1.explanation": {"x"}, "added.1.step": {"two"}},
			[]judge.Ruling{ruling.Added{Severity: "major", Step: -1, Explanation: "x"}.Ruling(1)}, ""},
		{"as a note", map[string][]string{"ruling.add/1": {"major"}, "ruling-note.add/1": {"x"}}, []judge.Ruling{{Part: "add/1", Value: "major", Note: "x"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := formRulings(tt.form)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if err := wholeAdded(got); (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
				t.Errorf("fault %v, want %q", err, tt.fault)
			}
		})
	}
}
