package evidence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/evidence"
)

func values(ns []evidence.Number) string {
	var out []string
	for _, n := range ns {
		v := n.Value
		if n.Unit != "" {
			v += " " + n.Unit
		}
		if n.Spelled {
			v += "*"
		}
		out = append(out, v)
	}
	return strings.Join(out, "; ")
}

func TestNumbers(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"no number", ""},
		{"1,000 and 1000.0 and 0.50 and .5 and 007", "1000; 1000; 0.5; 0.5; 7"},
		{"1, 2,3 and 1,2345", "1; 2; 3; 1; 2345"},
		{"12\u00a0345 and 1\u202f234\u202f567", "12345; 1234567"},
		{"25% or 25 percent or 25 per cent", "25 %; 25 %; 25 %"},
		{"$26362, US$5, €3.50, USD 7, 8 dollars", "26362 $; 5 $; 3.5 €; 7 $; 8 $"},
		{"17.9 million deaths, $3k, 2 billion", "17900000; 3000 $; 2000000000"},
		{"5 mg, 5mg, 5 milligrams, 10 mg/kg", "5 mg; 5 mg; 5 mg; 10 mg/kg"},
		{"50-55% and 5–10 days", "50; 55 %; 5; 10 day"},
		{"-5 and a -3.2 (−7) but 3-5", "-5; -3.2; -7; 3; 5"},
		{"12-year-old, the 1970s, the 20th", "12 year; 1970; 20"},
		{"37.5 °C and 90°", "37.5 °c; 90 °"},
		{"January 31, 2020; 31 January 2020; 2020-01-31", "2020-01-31 date; 2020-01-31 date; 2020-01-31 date"},
		{"Jan 24 and 1st of March and January 1492", "--01-24 date; --03-01 date; 1492-01 date"},
		{"it may 5 or 5 may come; in May 2017", "5; 5; 2017-05 date"},
		{"at 10:30, v1.2.3 and 1.2.3 and 12/5", "10:30; v1.2.3 id; 1.2.3; 12/5"},
		{"COVID-19, covid19, B12, lithium-7, 3a", "covid19 id; covid19 id; b12 id; lithium7 id; 3a id"},
		{"seven days and twenty-one of Ninety one", "7 day*; 21*; 91*"},
		{"section 3306(a)(1)(B)", "3306; 1"},
		{"Step 1. Then 2.", "1; 2"},
	}
	for _, tt := range tests {
		got := evidence.Numbers(tt.text)
		if diff := cmp.Diff(tt.want, values(got)); diff != "" {
			t.Errorf("Numbers(%q) (-want +got):\n%s", tt.text, diff)
		}
		for _, n := range got {
			if tt.text[n.Start:n.End] != n.Text {
				t.Errorf("%q: range [%d,%d) holds %q, want %q", tt.text, n.Start, n.End, tt.text[n.Start:n.End], n.Text)
			}
		}
	}
}

func TestMissingNumbers(t *testing.T) {
	tests := []struct{ want, have, missing string }{
		{"it is 5 mg", "a dose of 5 mg", ""},
		{"it is 5 mg", "a dose of 5 g", "5 mg"},
		{"it is 5", "a dose of 5 g", ""},
		{"7 days", "seven days", ""},
		{"seven days", "nothing", ""},
		{"in 1492", "in January 1492", ""},
		{"on 2 January 1492", "in January 1492", "1492-01-02 date"},
		{"in January 1492", "on 2 January 1492", ""},
		{"10 mg", "10 mg/kg", ""},
		{"31% of 17.9 million", "31 percent", "17900000"},
	}
	for _, tt := range tests {
		got := values(evidence.MissingNumbers(evidence.Numbers(tt.want), evidence.Numbers(tt.have)))
		if got != tt.missing {
			t.Errorf("MissingNumbers(%q, %q) = %q, want %q", tt.want, tt.have, got, tt.missing)
		}
	}
}

func TestChangedNumbers(t *testing.T) {
	tests := []struct{ quote, passage, want string }{
		{"within 30 days", "within 30 days", ""},
		{"within 60 days", "within 30 days", "60 day; 30 day"},
		{"within three days", "within two days", "3 day*; 2 day*"},
		{"5 mg", "5 g", "5 mg; 5 g"},
	}
	for _, tt := range tests {
		got := values(evidence.ChangedNumbers(evidence.Numbers(tt.quote), evidence.Numbers(tt.passage)))
		if got != tt.want {
			t.Errorf("ChangedNumbers(%q, %q) = %q, want %q", tt.quote, tt.passage, got, tt.want)
		}
	}
}

func TestNegations(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"The supplier shall not be liable.", "not"},
		{"It doesn't, can’t and cannot; DON'T", "not not not not"},
		{"No party, unless told, never without cause", "no unless never without"},
		{"a notable knot in Norway, note that", ""},
		{"it's Bert's coat", ""},
	}
	for _, tt := range tests {
		var got []string
		for _, n := range evidence.Negations(tt.text) {
			got = append(got, n.Word)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("Negations(%q) = %q, want %q", tt.text, s, tt.want)
		}
	}
	if !evidence.SameNegations("It is not so, never.", "Never was it; it isn't.") {
		t.Error("SameNegations: order must not matter")
	}
	if evidence.SameNegations("It is so.", "It is not so.") {
		t.Error("SameNegations: a negation put in must be seen")
	}
}

func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"1,000.5 mg/kg", "Jan. 5, 2020", "-$5", "12\u00a0345", "covid-19é", "1:2.3/4", "twenty-", "5 per cent", "\xff9\xfe", "May 5th of"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, n := range evidence.Numbers(s) {
			checkSpan(t, s, evidence.Span{Start: n.Start, End: n.End})
			if n.Value == "" || s[n.Start:n.End] != n.Text || n.End <= end {
				t.Fatalf("number %+v after %d", n, end)
			}
			end = n.End
		}
		for _, n := range evidence.Negations(s) {
			checkSpan(t, s, evidence.Span{Start: n.Start, End: n.End})
		}
	})
}
