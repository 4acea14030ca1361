package ruling_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/ruling"
)

// merged writes a diff as [-only in the reference-]{+only in the candidate+}.
func merged(d ruling.Diff, reference, candidate string) string {
	var b strings.Builder
	for _, s := range d.Segments {
		ref, cand := reference[s.Reference.Start:s.Reference.End], candidate[s.Candidate.Start:s.Candidate.End]
		switch s.Kind {
		case ruling.Same:
			b.WriteString(ref)
			continue
		case ruling.Deleted, ruling.Replaced:
			fmt.Fprintf(&b, "[-%s-]", ref)
		}
		if cand != "" {
			fmt.Fprintf(&b, "{+%s+}", cand)
		}
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	tests := []struct {
		name, reference, candidate string
		want                       string
		marks                      string // of each difference
	}{
		{"the same but for white space", "a  b\nc", " a b c ", "a  b\nc", ""},
		{"nothing and something", "", "a b", "{+a b+}", "-"},
		{"something and nothing", "a b", "", "[-a b-]", "-"},
		{"case counts", "The end", "the end", "[-The-]{+the+} end", "-"},
		{"a word", "one red house", "one blue house", "one [-red-]{+blue+} house", "-"},
		{"words added at the end", "It is so.", "It is so, they say.", "It is so{+, they say+}.", "-"},
		{"a negation left out", "email is not sufficient", "email is sufficient", "email is [-not-] sufficient", "negation"},
		{"an amount and its unit", "take 5 mg now and 1,000 ml later", "take 5 g now and 1,500 ml later", "take 5 [-mg-]{+g+} now and [-1,000-]{+1,500+} ml later", "unit number"},
		{"a date", "due on 3 March 2024 in full", "due on 4 March 2024 in full", "due on [-3-]{+4+} March 2024 in full", "date"},
		{"grammar between two changes joins them", "the cat of the house sleeps", "the dog of the barn sleeps", "the [-cat of the house-]{+dog of the barn+} sleeps", "-"},
		{"a negation between them does not", "red not big", "blue not small", "[-red-]{+blue+} not [-big-]{+small+}", "- -"},
		{"scripts without spaces", "東京都", "東京市", "東京[-都-]{+市+}", "-"},
		{"signs", "a < b", "a > b", "a [-<-]{+>+} b", "-"},
		{"the nearest of several answers", "the red house | the blue house", "a blue house", "[-the-]{+a+} blue house", "-"},
		{"broken text", "a \xff b", "a \xfe b", "a [-\xff-]{+\xfe+} b", "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := ruling.Compare(tt.reference, tt.candidate)
			whole(t, d, tt.reference, tt.candidate)
			var kinds []string
			for _, f := range d.Differences {
				var marks []string
				for _, m := range f.Marks {
					marks = append(marks, string(m))
				}
				if marks == nil {
					marks = []string{"-"}
				}
				kinds = append(kinds, strings.Join(marks, "+"))
			}
			if diff := cmp.Diff([]string{tt.want, tt.marks}, []string{merged(d, tt.reference, tt.candidate), strings.Join(kinds, " ")}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// whole fails unless the segments are both texts, in order and without a gap, and
// every mark lies in a difference.
func whole(t *testing.T, d ruling.Diff, reference, candidate string) {
	t.Helper()
	r, k, n := d.Whole.Start, 0, 0
	for _, s := range d.Segments {
		if s.Reference.Start != r || s.Candidate.Start != k || s.Reference.End < r || s.Candidate.End < k {
			t.Fatalf("a segment starts at %d and %d, the one before it ends at %d and %d", s.Reference.Start, s.Candidate.Start, r, k)
		}
		r, k = s.Reference.End, s.Candidate.End
		if s.Kind == ruling.Same {
			if strings.Join(strings.Fields(reference[s.Reference.Start:r]), "") != strings.Join(strings.Fields(candidate[s.Candidate.Start:k]), "") {
				t.Fatalf("said to be the same: %q and %q", reference[s.Reference.Start:r], candidate[s.Candidate.Start:k])
			}
			continue
		}
		if n++; s.Difference != n || d.Differences[n-1].Reference != s.Reference || d.Differences[n-1].Candidate != s.Candidate {
			t.Fatalf("difference %d is %+v in the segments and %+v in the list", n, s, d.Differences[n-1])
		}
	}
	if r != d.Whole.End || k != len(candidate) || n != len(d.Differences) || n > ruling.MostDifferences {
		t.Fatalf("segments end at %d of %d and %d of %d, with %d of %d differences", r, d.Whole.End, k, len(candidate), n, len(d.Differences))
	}
	for _, side := range []struct {
		marks []ruling.Mark
		text  string
	}{{d.Reference, reference}, {d.Candidate, candidate}} {
		end := 0
		for _, m := range side.marks {
			if m.Start < end || m.End <= m.Start || m.End > len(side.text) {
				t.Fatalf("mark %+v after one that ends at %d", m, end)
			}
			end = m.End
		}
	}
}

// Many changes far apart are still found one by one, and texts without a word in
// common end in one.
func TestCompareLongTexts(t *testing.T) {
	var a, b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&a, "word%d ", i)
		if i%150 == 7 {
			fmt.Fprintf(&b, "other%d ", i)
		} else {
			fmt.Fprintf(&b, "word%d ", i)
		}
	}
	d := ruling.Compare(a.String(), b.String())
	whole(t, d, a.String(), b.String())
	if len(d.Differences) != 134 {
		t.Errorf("%d differences, want 134", len(d.Differences))
	}
	c := strings.ReplaceAll(a.String(), "word", "thing")
	d = ruling.Compare(a.String(), c)
	whole(t, d, a.String(), c)
	if len(d.Differences) != 1 {
		t.Errorf("%d differences of texts without a word in common, want 1", len(d.Differences))
	}
	every := strings.ReplaceAll(a.String(), "7 ", "x ")
	d = ruling.Compare(a.String(), every)
	whole(t, d, a.String(), every)
	if len(d.Differences) != ruling.MostDifferences {
		t.Errorf("%d differences where every tenth word differs, want %d", len(d.Differences), ruling.MostDifferences)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("a b | c not 5 mg", "a c 3 March 2024 \xff 東京")
	f.Add("", " \n")
	f.Add("0 !", " 0!")
	f.Fuzz(func(t *testing.T, reference, candidate string) {
		whole(t, ruling.Compare(reference, candidate), reference, candidate)
	})
}

// TestCompareAll: what parts several right answers is a sign like others here.
func TestCompareAll(t *testing.T) {
	d := ruling.CompareAll("16 % | sixteen per cent", "19 % | sixteen per cent")
	if len(d.Differences) != 1 || d.Differences[0].ReferenceText != "16" || d.Differences[0].CandidateText != "19" || d.Whole.End != 23 {
		t.Errorf("differences %+v of %+v, want 16 and 19", d.Differences, d.Whole)
	}
	if d := ruling.CompareAll("16 % | sixteen per cent", "16 %"); len(d.Differences) != 1 {
		t.Errorf("differences %+v, want that an answer is gone", d.Differences)
	}
}
