package fold_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/judge/fold"
)

func TestText(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"case and space", "The  Supplier\n\tSHALL", "the supplier shall"},
		{"quotation marks", "“a” ‘b’ «c»", `"a" 'b' "c"`},
		{"dashes", "a–b—c−d", "a-b-c-d"},
		{"compatibility", "ﬁnal ½ ｗｉｄｅ", "final 1⁄2 wide"},
		{"composed and not", "Zoë Zoe\u0308", "zoë zoë"},
		{"invisible", "soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"},
		{"no-break space", "5\u00a0mg", "5 mg"},
		{"ellipsis", "a…b", "a...b"},
		{"invalid", "a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := fold.Text(tt.text).Text; got != tt.want {
				t.Errorf("Text(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestSpan(t *testing.T) {
	text := "The “ﬁnal”  Zoe\u0308 — end"
	f := fold.Text(text)
	tests := []struct{ find, want string }{
		{"the", "The"},
		{"final", "ﬁnal"},
		{"nal", "nal"},
		{"fi", "ﬁ"},
		{"f", "ﬁ"}, // half a ligature is the whole of it
		{"zoë", "Zoe\u0308"},
		{`" z`, "”  Z"},
		{"- end", "— end"},
	}
	for _, tt := range tests {
		i := strings.Index(f.Text, tt.find)
		if i < 0 {
			t.Fatalf("%q is not in %q", tt.find, f.Text)
		}
		if got := f.Span(i, i+len(tt.find)).Of(text); got != tt.want {
			t.Errorf("Span of %q = %q, want %q", tt.find, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "ﬁ½…", "Zoe\u0308\u0301", "a\xff\xc3", "  \u00a0 x", "İstanbul ß ς", "\u0308a", "한국어"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		folded := fold.Text(s)
		if !utf8.ValidString(folded.Text) {
			t.Fatalf("Text(%q) is not valid UTF-8", s)
		}
		if whole := folded.Span(0, len(folded.Text)); len(folded.Text) > 0 && whole.End != len(s) {
			t.Fatalf("the whole maps to [%d,%d) of %d bytes", whole.Start, whole.End, len(s))
		}
		last := 0
		for i := range folded.Text {
			_, size := utf8.DecodeRuneInString(folded.Text[i:])
			sp := folded.Span(i, i+size)
			if sp.Start < 0 || sp.End > len(s) || utf8.ValidString(s) && !utf8.ValidString(sp.Of(s)) {
				t.Fatalf("[%d,%d) is no range of %q on boundaries of runes", sp.Start, sp.End, s)
			}
			if sp.Len() == 0 || sp.Start < last {
				t.Fatalf("byte %d of %q maps to [%d,%d) after %d", i, folded.Text, sp.Start, sp.End, last)
			}
			last = sp.Start
		}
		if again := fold.Text(folded.Text).Text; again != folded.Text && utf8.ValidString(s) {
			// Folding is stable but for runes whose lower case decomposes
			// anew; such a rune must not be ASCII.
			if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
				t.Fatalf("Text(%q) = %q, and again %q", s, folded.Text, again)
			}
		}
	})
}

func TestQuote(t *testing.T) {
	for quotation, want := range map[string]string{
		" “The Supplier, ”": "the supplier", "‘a’.": "a", "...": "", "5 mg?!": "5 mg", "end of it; ": "end of it",
	} {
		if got := fold.Quote(quotation); got != want {
			t.Errorf("Quote(%q) = %q, want %q", quotation, got, want)
		}
	}
}
