package rules

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEquations(t *testing.T) {
	tests := []struct {
		text string
		read []string // equations found
		bad  []string // those that do not hold
	}{
		{text: "3 + 4 = 7", read: []string{"3 + 4 = 7"}},
		{text: "3+4=8", read: []string{"3+4=8"}, bad: []string{"3+4=8"}},
		{text: "So he has 3 + 4 = 8 apples.", read: []string{"3 + 4 = 8"}, bad: []string{"3 + 4 = 8"}},
		{text: "(3 + 4 = 8)", read: []string{"3 + 4 = 8"}, bad: []string{"3 + 4 = 8"}},
		{text: "9 * 2 = $<<9*2=18>>18 a day", read: []string{"9*2=18"}},
		{text: "that is $40,000 - $12,000 = $28,000.", read: []string{"40,000 - $12,000 = $28,000"}},
		{text: "12 x 25 = 300; 12 × 25 = 310", read: []string{"12 x 25 = 300", "12 × 25 = 310"}, bad: []string{"12 × 25 = 310"}},
		{text: "2 + 3 * 4 = 20", read: []string{"2 + 3 * 4 = 20"}, bad: []string{"2 + 3 * 4 = 20"}},
		{text: "B = (-9 - 9 * -4 + 9) = (-9 - (-36) + 9) = 36", read: []string{"(-9 - 9 * -4 + 9) = (-9 - (-36) + 9)", "(-9 - (-36) + 9) = 36"}},
		{text: "A = 6 - -5 = 6 - 5 = 11", read: []string{"6 - -5 = 6 - 5", "6 - 5 = 11"}, bad: []string{"6 - -5 = 6 - 5", "6 - 5 = 11"}},
		{text: "16 - 3 - 4 = 9 * 2 = 18", read: []string{"9 * 2 = 18"}}, // goes on with a result
		{text: "2^3 = 8; 2^3 = 9", read: []string{"2^3 = 8", "2^3 = 9"}, bad: []string{"2^3 = 9"}},
		{text: "9 are left, and 2*9=18", read: []string{"2*9=18"}},
		{text: "20% * 50 = 10", read: []string{"20% * 50 = 10"}},
		{text: "20 / 50 = 40%", read: []string{"20 / 50 = 40%"}},
		{text: "$50 + 10% = $55", read: []string{"50 + 10% = $55"}},
		{text: "100 / 3 = 33", read: []string{"100 / 3 = 33"}},
		{text: "100 / 3 = 34", read: []string{"100 / 3 = 34"}},
		{text: "100 / 3 = 33.3", read: []string{"100 / 3 = 33.3"}},
		{text: "100 / 3 = 36", read: []string{"100 / 3 = 36"}, bad: []string{"100 / 3 = 36"}},
		{text: "1.33 * 3 = 4", read: []string{"1.33 * 3 = 4"}},

		// Not read at all: something that is no number takes part.
		{text: "x + 3 = 5"},
		{text: "2x = 3 * 4"},
		{text: "3 apples + 4 apples = 8 apples"},
		{text: "50% of 20 = 11"},
		{text: "half of 3 + 4 = 5"},
		{text: "the sum of 2 and 3 * 4 = 14"},
		{text: "2 minus 3 + 4 = 5"},
		{text: "3:4 + 1 = 9"},
		{text: "at 12:30 + 2 = 14"},
		{text: "24 / 2 = 2 1/2"},
		{text: "2 * 3 = 5 + y"},
		{text: "2 * 3 = 5 million"},
		{text: "2(3) = 7"},
		{text: "-2^2 = 4"},
		{text: "1 / 0 = 5"},
		{text: "3 + 4 <= 6, 3 + 4 >= 8, 3 + 4 != 8, 3 + 4 == 8"},
		{text: `\frac{3}{4 + 1} = 2`},
		{text: "3 + 4\n= 8"},
		{text: "version 1.2.3 + 4 = 9"},

		// Read, but not stated as true.
		{text: "Suppose 3 + 4 = 8.", read: []string{"3 + 4 = 8"}},
		{text: "It is not true that 3 + 4 = 8.", read: []string{"3 + 4 = 8"}},
		{text: "Is 3 + 4 = 8?", read: []string{"3 + 4 = 8"}},
		{text: "In base 5, 3 + 4 = 12.", read: []string{"3 + 4 = 12"}},
		{text: "Roughly 3 + 4 = 8.", read: []string{"3 + 4 = 8"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var read, bad []string
			for _, e := range equations(tt.text) {
				read = append(read, e.text)
				if e.wrong() {
					bad = append(bad, e.text)
				}
			}
			if diff := cmp.Diff(tt.read, read); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.bad, bad); diff != "" {
				t.Errorf("wrong (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMadeGood(t *testing.T) {
	tests := []struct {
		text string
		want []bool
	}{
		{"6 - -5 = 6 - 5 = 11", []bool{true, true}},
		{"6 - -5 = 6 - 5 = 1", []bool{false, false}},
		{"6 - -5 = 6 - 5 = 11 = 12", []bool{true, true}},
		{"3 + 4 = 8. 8 + 1 = 7", []bool{false, false}},
	}
	for _, tt := range tests {
		var got []bool
		for _, e := range equations(tt.text) {
			got = append(got, e.madeGood)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.text, diff)
		}
	}
}

func TestSameCalculation(t *testing.T) {
	one := func(text string) equation {
		list := equations(text)
		if len(list) != 1 {
			t.Fatalf("%q: %d equations, want one", text, len(list))
		}
		return list[0]
	}
	tests := []struct {
		a, b string
		same bool
	}{
		{"9 * 2 = 18", "2*9=18.0", true},
		{"1 + 2 + 3 = 6", "3 + 2 + 1 = 6", true},
		{"9 - 2 = 7", "2 - 9 = 7", false},
		{"9 - 2 = 7", "9 + 2 = 7", false},
		{"2 * (3 + 4) = 14", "2 * 3 + 4 = 14", false},
		{"2 + 3 * 4 = 14", "3 + 2 * 4 = 14", false},
		{"9 * 2 = 18", "9 * 2 = 19", false},
	}
	for _, tt := range tests {
		if got := one(tt.a).calculation() == one(tt.b).calculation(); got != tt.same {
			t.Errorf("%q and %q: the same is %v, want %v", tt.a, tt.b, got, tt.same)
		}
	}
}

// However a text is written, reading it ends, and what is read is in the text.
func FuzzEquations(f *testing.F) {
	f.Add("3 + 4 = 8 = (2 * (3 = 4")
	f.Add("<<3+4=7>>7 = -(-(-2))^2 x 3% = .5")
	f.Add(strings.Repeat("(", 300) + "1=1" + strings.Repeat(")", 300))
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range equations(text) {
			if !strings.Contains(text, e.text) {
				t.Errorf("%q is not in the text", e.text)
			}
			e.wrong()
			e.calculation()
		}
	})
}
