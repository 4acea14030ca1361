package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/evidence"
)

// Passages of cited sources in the expertqa set.
const (
	pathology = "Screening is done first. Abnormal specimens are typically referred to a pathologist for final interpretation or further medical diagnosis. Others are filed."
	luxor     = "The temple is found about 17 miles northwest of Luxor on the west bank of the river in western Thebes, the great capital of Egypt during Egypt’s New Kingdom."
	clause    = "The Supplier shall not be liable for any loss of profit. The Supplier shall repair or replace, at its own cost and within 30 days of notice, any Goods that are found to be faulty."
)

func TestLocate(t *testing.T) {
	tests := []struct {
		name, quote, source string
		kind                evidence.Kind
		spans               string // what is matched, parted by |
		omitted             string
		missing             string
		distance            int
	}{
		{name: "exact", quote: "referred to a pathologist", source: pathology, kind: evidence.Exact, spans: "referred to a pathologist"},
		{name: "exact but for form", quote: "EGYPT's  new kingdom.", source: luxor, kind: evidence.Exact, spans: "Egypt’s New Kingdom"},
		{name: "not inside a word", quote: "ear is one", source: "The year is ones.", kind: evidence.None},
		{name: "not inside a number", quote: "000 dollars a day", source: "It is 5,000 dollars a day.", kind: evidence.Near,
			spans: "dollars a day", missing: "000", distance: 1},
		{name: "punctuation only", quote: "repair or replace at its own cost", source: clause, kind: evidence.Near, spans: "repair or replace, at its own cost"},
		{name: "a word changed", quote: "Abnormal specimens are usually referred to a pathologist", source: pathology, kind: evidence.Near,
			spans: "Abnormal specimens are|referred to a pathologist", omitted: "typically", missing: "usually", distance: 1},
		{name: "a word left out", quote: "The Supplier shall be liable for any loss of profit", source: clause, kind: evidence.Near,
			spans: "The Supplier shall|be liable for any loss of profit", omitted: "not", distance: 1},
		{name: "the second word left out", quote: "Do take the daily dose twice", source: "Please: do not take the daily dose twice.", kind: evidence.Near,
			spans: "do|take the daily dose twice", omitted: "not", distance: 1},
		{name: "the last word but one left out", quote: "he says that hope is lost", source: "And he says that hope is not lost.", kind: evidence.Near,
			spans: "he says that hope is|lost", omitted: "not", distance: 1},
		{name: "words left out", quote: "The Supplier shall repair or replace any Goods that are found to be faulty", source: clause, kind: evidence.Near,
			spans:   "The Supplier shall repair or replace|any Goods that are found to be faulty",
			omitted: "at its own cost and within 30 days of notice", distance: 10},
		{name: "ellipsis", quote: "The Supplier shall repair or replace … any Goods that are found to be faulty", source: clause, kind: evidence.Near,
			spans:   "The Supplier shall repair or replace|any Goods that are found to be faulty",
			omitted: "at its own cost and within 30 days of notice"},
		{name: "ellipsis in brackets", quote: "shall not be liable [...] any Goods that are", source: clause, kind: evidence.Near,
			spans:   "shall not be liable|any Goods that are",
			omitted: "for any loss of profit. The Supplier shall repair or replace, at its own cost and within 30 days of notice"},
		{name: "brackets in a word", quote: "[t]he Supplier shall repair or replace", source: clause, kind: evidence.Near, spans: "The Supplier shall repair or replace"},
		{name: "another sentence", quote: "The buyer may cancel this order at any time before delivery", source: clause, kind: evidence.None},
		{name: "closest passage", quote: "The Supplier shall mend free of charge all Goods found to be faulty", source: clause, kind: evidence.None,
			spans: "The Supplier shall|of|Goods|found to be faulty"},
		{name: "words scattered", quote: "loss or cost of goods", source: clause, kind: evidence.None},
		{name: "empty quotation", quote: "", source: clause, kind: evidence.None},
		{name: "empty source", quote: "any words at all", source: "", kind: evidence.None},
		{name: "no spaces between words", quote: "契約は無効である", source: "裁判所は、この契約は無効であると述べた。", kind: evidence.Exact, spans: "契約は無効である"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := evidence.Locate(tt.quote, tt.source)
			of := func(spans []evidence.Span) string {
				var out []string
				for _, s := range spans {
					out = append(out, s.Of(tt.source))
				}
				return strings.Join(out, "|")
			}
			if m.Kind != tt.kind {
				t.Errorf("Kind = %s, want %s (%+v)", m.Kind, tt.kind, m)
			}
			if tt.spans == "" && tt.kind == evidence.None {
				return
			}
			if diff := cmp.Diff(tt.spans, of(m.Spans)); diff != "" {
				t.Errorf("Spans (-want +got):\n%s", diff)
			}
			if tt.kind == evidence.None {
				return
			}
			if diff := cmp.Diff(tt.omitted, of(m.Omitted)); diff != "" {
				t.Errorf("Omitted (-want +got):\n%s", diff)
			}
			if got := strings.Join(m.Missing, " "); got != tt.missing {
				t.Errorf("Missing = %q, want %q", got, tt.missing)
			}
			if m.Distance != tt.distance {
				t.Errorf("Distance = %d, want %d", m.Distance, tt.distance)
			}
		})
	}
}

func TestLocateNearAgrees(t *testing.T) {
	s := evidence.NewSource(clause)
	for _, q := range []string{"The Supplier shall be liable for any loss of profit", "repair or replace", "nothing of that kind here"} {
		if a, b := s.Locate(q).Kind, s.LocateNear(q).Kind; a != b {
			t.Errorf("%q: Locate says %s, LocateNear %s", q, a, b)
		}
	}
}

func TestAround(t *testing.T) {
	s := evidence.NewSource(clause)
	e := s.Around(s.Locate("The Supplier shall repair or replace any Goods that are found to be faulty"), 20)
	if want := "any loss of profit. The Supplier shall repair"; !strings.HasPrefix(e.Text, want) {
		t.Errorf("Text = %q, want it to begin with %q", e.Text, want)
	}
	if clause[e.Start:e.End] != e.Text {
		t.Errorf("range [%d,%d) does not hold Text", e.Start, e.End)
	}
	var marked []string
	for _, m := range e.Marks {
		marked = append(marked, m.Of(e.Text))
	}
	want := []string{"The Supplier shall repair or replace", "any Goods that are found to be faulty"}
	if diff := cmp.Diff(want, marked); diff != "" {
		t.Errorf("Marks (-want +got):\n%s", diff)
	}
	if len(e.Omitted) != 1 || e.Omitted[0].Of(e.Text) != "at its own cost and within 30 days of notice" {
		t.Errorf("Omitted = %v", e.Omitted)
	}
	if got := s.Around(evidence.Match{Kind: evidence.None}, 20); got.Text != "" {
		t.Errorf("Around no passage = %q, want nothing", got.Text)
	}
}

func TestBestFor(t *testing.T) {
	e := evidence.BestPassage("Faulty goods have to be replaced by the supplier within 30 days.", clause+" "+pathology, 160)
	if !strings.Contains(e.Text, "within 30 days of notice") || strings.Contains(e.Text, "pathologist") {
		t.Errorf("Text = %q", e.Text)
	}
	// Shared: faulty, goods, supplier, 30, days; "replaced" is not "replace".
	if e.Shared != 5 || e.Wanted != 6 {
		t.Errorf("shares %d of %d words, want 5 of 6", e.Shared, e.Wanted)
	}
	for _, m := range e.Marks {
		checkSpan(t, e.Text, m)
	}
	if e := evidence.BestPassage("zebra crossing", clause, 160); e.Text != "" || e.Wanted != 2 {
		t.Errorf("no shared word: %+v", e)
	}
}

func TestSentences(t *testing.T) {
	s := evidence.NewSource(clause)
	m := s.Locate("be liable for any loss")
	sp := s.Sentences(m.Start, m.End)
	if got := strings.TrimSpace(sp.Of(clause)); got != "The Supplier shall not be liable for any loss of profit." {
		t.Errorf("Sentences = %q", got)
	}
}

func FuzzLocate(f *testing.F) {
	f.Add("shall be … liable", clause, 10)
	f.Add("[t]he ﬁnal word", "the ﬁnal\u00adword", 0)
	f.Add("契約は", "契約は\xff無効", 3)
	f.Add("a b c d a b", "a b x c d\n\n. a b", 1)
	f.Fuzz(func(t *testing.T, quote, source string, context int) {
		s := evidence.NewSource(source)
		m := s.Locate(quote)
		last := 0
		for _, sp := range m.Spans {
			checkSpan(t, source, sp)
			if sp.Start < last || sp.Len() == 0 {
				t.Fatalf("span [%d,%d) after %d", sp.Start, sp.End, last)
			}
			last = sp.End
			if sp.Start < m.Start || sp.End > m.End {
				t.Fatalf("span [%d,%d) outside the passage [%d,%d)", sp.Start, sp.End, m.Start, m.End)
			}
		}
		for _, sp := range m.Omitted {
			checkSpan(t, source, sp)
		}
		checkSpan(t, source, evidence.Span{Start: m.Start, End: m.End})
		if m.Kind == evidence.Exact && m.Distance != 0 {
			t.Fatalf("exact at distance %d", m.Distance)
		}
		if len(m.Missing) > m.Words {
			t.Fatalf("%d of %d words missing", len(m.Missing), m.Words)
		}
		context = min(max(context, 0), 1000)
		for _, e := range []evidence.Excerpt{s.Around(m, context), s.BestFor(quote, context)} {
			checkSpan(t, source, evidence.Span{Start: e.Start, End: e.End})
			if source[e.Start:e.End] != e.Text {
				t.Fatalf("excerpt [%d,%d) is not %q", e.Start, e.End, e.Text)
			}
			for _, sp := range append(e.Marks, e.Omitted...) {
				checkSpan(t, e.Text, sp)
			}
		}
		sp := s.Sentences(m.Start, m.End)
		checkSpan(t, source, sp)
		if sp.Start > m.Start || sp.End < m.End {
			t.Fatalf("sentences [%d,%d) of passage [%d,%d)", sp.Start, sp.End, m.Start, m.End)
		}
	})
}

func BenchmarkLocate(b *testing.B) {
	var text strings.Builder
	for i := range 900 {
		fmt.Fprintf(&text, "Clause %d says that party %d of the contract pays %d dollars for each day of delay after notice. ", i, i%7, i*3)
	}
	source := text.String() // about 100 KB
	quote := "party 4 of the contract must pay 1500 dollars for each day of delay"
	b.Run("prepare", func(b *testing.B) {
		b.SetBytes(int64(len(source)))
		for b.Loop() {
			evidence.NewSource(source)
		}
	})
	s := evidence.NewSource(source)
	b.Run("near", func(b *testing.B) {
		for b.Loop() {
			s.Locate(quote)
		}
	})
}
