package evidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/evidence"
)

func TestQuotations(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"none", "There are no quotation marks here.", nil},
		{"straight", `It says "the clause is void" there.`, []string{"the clause is void"}},
		{"curly", "It says “the clause is void” there.", []string{"the clause is void"}},
		{"guillemets", "Il dit « la clause est nulle » ici.", []string{"la clause est nulle"}},
		{"low and high", "Es heißt „die Klausel ist nichtig“ dort.", []string{"die Klausel ist nichtig"}},
		{"corner brackets", "「契約は無効」とある。", []string{"契約は無効"}},
		{"two", `"the one is here" and "the other is there"`, []string{"the one is here", "the other is there"}},
		{"too short", `the "lower" or "municipal" courts`, nil},
		{"apostrophes", "the employer's duty isn't 'a matter of taste' at all", nil},
		{"open only", `it says "the clause is void and so on`, nil},
		{"close only", `the clause is void" and so on`, nil},
		{"not over paragraphs", "it says \"the clause\n\nis void today\" there", nil},
		{"over lines", "it says \"the clause\nis void\" there", []string{"the clause\nis void"}},
		{"inches", `a 5" pipe and a 6" pipe are there`, nil},
		{"empty", `"" "  " "`, nil},
		{"title", `see "The Mindful Way Through Depression" by Williams`, nil},
		{"shouted", `it says "NO LIABILITY FOR ANY LOSS" there`, []string{"NO LIABILITY FOR ANY LOSS"}},
		{"speech", `you could say "come down from there" to the child`, nil},
		{"the court says", `the court says "come down from there" to the child`, []string{"come down from there"}},
		{"expertqa-0100", `comes from "the best qualified individual regardless of professional background" [1].`,
			[]string{"the best qualified individual regardless of professional background"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, q := range evidence.Quotations(tt.text) {
				got = append(got, q.Text)
				if tt.text[q.Start:q.End] != q.Text {
					t.Errorf("range [%d,%d) holds %q, want %q", q.Start, q.End, tt.text[q.Start:q.End], q.Text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Quotations (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzQuotations(f *testing.F) {
	for _, s := range []string{`"a b c"`, "“a b c” \" d", "« a b c »\n\n\"", "\xe2\x80", `say "a b c`, "\"\n\n\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, q := range evidence.Quotations(s) {
			checkSpan(t, s, evidence.Span{Start: q.Start, End: q.End})
			if q.Start < end || s[q.Start:q.End] != q.Text {
				t.Fatalf("quotation [%d,%d) %q after %d", q.Start, q.End, q.Text, end)
			}
			end = q.End
		}
	})
}
