package invisible_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/views/invisible"
)

func TestShow(t *testing.T) {
	box := func(short, words, c string) string {
		return `<bdi class="control" role="img" data-name="` + short + `" aria-label="` + words + `" title="` + words + `">` + c + `</bdi>`
	}
	rlo := box("U+202E", "U+202E right-to-left override", "\u202e")
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to show", "<p>naïve “quotes” – 中文 עברית\tand\r\nlines</p>", "<p>naïve “quotes” – 中文 עברית\tand\r\nlines</p>"},
		{"override", "<p>a\u202eb</p>", "<p>a" + rlo + "b</p>"},
		{"zero width", "a\u200bb\ufeff", "a" + box("U+200B", "U+200B zero width space", "\u200b") + "b" + box("U+FEFF", "U+FEFF zero width no-break space", "\ufeff")},
		{"control", "\x01\x1b\u0085", box("U+0001", "U+0001 control character", "\x01") + box("U+001B", "U+001B control character", "\x1b") + box("U+0085", "U+0085 control character", "\u0085")},
		{"NUL is named and not written", "a\x00b", "a" + box("U+0000", "U+0000 control character", "") + "b"},
		{"tag characters", "x\U000e0041", "x" + box("U+E0041", "U+E0041 tag character", "\U000e0041")},
		{"attributes stay", "<a title=\"\u202e>\">\u202e</a>", "<a title=\"\u202e>\">" + rlo + "</a>"},
		{"a quote in an attribute", "<a title='\"\u202e'>x</a>", "<a title='\"\u202e'>x</a>"},
		{"fields stay", "<textarea>\u202e</textarea>\u202e", "<textarea>\u202e</textarea>" + rlo},
		{"titles hold no elements", "<title>a\u202e</title><option>b\u200b</option>", "<title>a⟦U+202E⟧</title><option>b⟦U+200B⟧</option>"},
		{"joiners at work", "می\u200cخواهم क्\u200dष 👩\u200d🔬", "می\u200cخواهم क्\u200dष 👩\u200d🔬"},
		{"joiners out of place", "pass\u200dword", "pass" + box("U+200D", "U+200D zero width joiner", "\u200d") + "word"},
		{"marks that a language has", "שָׁ֑לוֹם ệ", "שָׁ֑לוֹם ệ"},
		{"piled marks", "Z" + strings.Repeat("\u0335", 40) + "a", "Z" + strings.Repeat("\u0335", 6) + box("34 more combining marks", "34 more combining marks", strings.Repeat("\u0335", 34)) + "a"},
		{"comments", "<!-- \u202e > -->\u202e", "<!-- \u202e > -->" + rlo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(invisible.Show([]byte(tt.in))); got != tt.want {
				t.Errorf("Show(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

// What is left when all tags are taken away is the text as it was written.
func FuzzShowKeepsText(f *testing.F) {
	f.Add("a\u202eb\u200b\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301c")
	f.Add("\x01\x02")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "<>\x00") {
			return
		}
		shown := string(invisible.Show([]byte("<p>" + s + "</p>")))
		var plain strings.Builder
		inTag := false
		for _, b := range []byte(shown) {
			switch {
			case b == '<':
				inTag = true
			case b == '>':
				inTag = false
			case !inTag:
				plain.WriteByte(b)
			}
		}
		if plain.String() != s {
			t.Errorf("of %q is left %q", s, plain.String())
		}
	})
}

func BenchmarkShow(b *testing.B) {
	page := []byte("<p>" + strings.Repeat("The “dose” is 5 mg – twice daily; naïve. ", 5000) + "</p>")
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		invisible.Show(page)
	}
}
