package web

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// drawn is a document in a short hand: [kind marker] and the segments, styled
// ones in braces, marks with their kind.
func drawn(doc views.TraceText) string {
	var b strings.Builder
	put := func(list []views.Segment) {
		for _, s := range list {
			if s.Style != 0 {
				b.WriteString("{" + string(rune('0'+s.Style)) + " ")
			}
			if s.Kind != views.Plain {
				b.WriteString("<" + string(s.Kind) + " ")
			}
			b.WriteString(s.Text)
			if s.Kind != views.Plain {
				b.WriteString(">")
			}
			if s.Style != 0 {
				b.WriteString("}")
			}
		}
	}
	for i, s := range doc.Steps {
		if i > 0 {
			b.WriteString(" || ")
		}
		if len(s.Blocks) == 0 {
			b.WriteString("as written: ")
			put(s.Segments)
		}
		for _, bl := range s.Blocks {
			b.WriteString("[" + string(bl.Kind) + strings.TrimSpace(" "+bl.Marker+" "+bl.Label) + "]")
			put(bl.Segments)
			for _, r := range bl.Rows {
				for _, c := range r.Cells {
					b.WriteString("|")
					put(c)
				}
				b.WriteString("/")
			}
		}
	}
	return b.String()
}

func TestLayOut(t *testing.T) {
	for _, tt := range []struct{ name, output, want string }{
		{"bold, italic, code", "So **the dose** is *low*, `5 mg`.", "[]So {1 the dose} is {2 low}, {4 5 mg}."},
		{"marks stand where they stood", "The **sky** is blue [1].", "[]<claim The >{1 <claim sky>}<claim  is blue ><cite-none 1><claim .>"},
		{"a bold marker", "The sky is blue **[1]**.", "[]<claim The sky is blue >{1 <cite-none 1>}<claim .>"},
		{"links, images and HTML are text", "See [a](javascript:x) ![b](http://h/i.png) <img src=x> <https://a.b> https://c.d.",
			"[]See [a](javascript:x) ![b](http://h/i.png) <img src=x> <https://a.b> https://c.d."},
		{"a block of HTML is text", "<script>alert(1)</script>", "[]<script>alert(1)</script>"},
		{"a definition is text", "[x]: http://a.b", "[][x]: http://a.b"},
		{"formulas are text", "So $a*b*c$ and \\(x_1 * y * z\\), for $5 and *then* $6.", "[]So $a*b*c$ and \\(x_1 * y * z\\), for $5 and {2 then} $6."},
		{"backslashes stay", `The cost is 5\*3\*2 and \alpha.`, `[]The cost is 5\*3\*2 and \alpha.`},
		{"heading and lists", "# Plan\n\n- First thing\n- Second thing", "[heading]Plan || [•]First thing || [•]Second thing"},
		{"numbers stay", "3. Third.\n4. Fourth.", "[3.]Third. || [4.]Fourth."},
		{"code over steps", "Look:\n```python\na = **b**\nc = 1\n```\nDone.", "[]Look:[codepython]a = **b**\nc = 1 || as written: ``` || []Done."},
		{"table over steps", "| Drug | Dose |\n|---|---|\n| A | **5** |", "[table]|Drug|Dose/ || as written: |---|---| || [table]|A|{1 5}/"},
		{"a cell too many is not lost", "| A | B |\n|---|---|\n| 1 | 2 | three |", "[table]|A|B/ || as written: |---|---| || as written: | 1 | 2 | three |"},
		{"quotation", "> He said *so*.", "[]He said {2 so}."},
		{"right to left", "**מינון** נמוך", "[]{1 מינון} נמוך"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := judge.Trace{Output: tt.output}
			all := ruling.CitationsOf(&tr, nil)
			doc := traceText(&tr, all)
			layOut(&doc, &tr, all)
			if got := drawn(doc); got != tt.want {
				t.Errorf("%q\n got %s\nwant %s", tt.output, got, tt.want)
			}
		})
	}
}

// Whatever the text, Markdown hides no letter and no digit of it, and draws every
// marker once.
func FuzzLayOutKeepsWords(f *testing.F) {
	for _, s := range []string{"# A\n\n1. b **c [1]** d\n2. e\n\n| a | b |\n|--|--|\n| 1 | 2 | 3 |", "```x y\nz\n```\n> - q\n>   1. r [2][3]", "a *b [1* c]", "- a\n\n      b\n- ```\n  c", "5\\\n6\n===\n***\n", "&amp; &#65; `` ` a ``"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tr := judge.Trace{Output: s}
		all := ruling.CitationsOf(&tr, nil)
		plain := traceText(&tr, all)
		doc := traceText(&tr, all)
		layOut(&doc, &tr, all)
		for i, step := range doc.Steps {
			if len(step.Blocks) == 0 {
				continue
			}
			var words, chips strings.Builder
			put := func(list []views.Segment) {
				for _, seg := range list {
					if (mark{kind: seg.Kind}).isChip() {
						chips.WriteString(seg.Ref + " ")
					}
					words.WriteString(seg.Text)
				}
			}
			for _, b := range step.Blocks {
				words.WriteString(b.Marker + b.Label)
				put(b.Segments)
				for _, r := range b.Rows {
					for _, c := range r.Cells {
						put(c)
					}
				}
			}
			var wantWords, wantChips strings.Builder
			for _, seg := range plain.Steps[i].Segments {
				if (mark{kind: seg.Kind}).isChip() {
					wantChips.WriteString(seg.Ref + " ")
				}
				wantWords.WriteString(seg.Text)
			}
			if got, want := letters(words.String()), letters(wantWords.String()); got != want {
				t.Errorf("%q, step %d: letters %q, want %q", s, i+1, got, want)
			}
			if chips.String() != wantChips.String() {
				t.Errorf("%q, step %d: chips %q, want %q", s, i+1, chips.String(), wantChips.String())
			}
		}
	})
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if isWord(r) {
			return r
		}
		return -1
	}, s)
}
