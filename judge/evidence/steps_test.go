package evidence_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/evidence"
)

func texts(steps []evidence.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.Text)
	}
	return out
}

func TestSteps(t *testing.T) {
	tests := []struct {
		name, output string
		want         []string
	}{
		{"nothing", " \n\n\t", nil},
		{"one paragraph", "A is B. B is C.", []string{"A is B. B is C."}},
		{"lines are steps", "A is B [1].\nB is C [2].\n\nSo A is C.\n", []string{"A is B [1].", "B is C [2].", "So A is C."}},
		{"carriage returns", "A is B.\r\nB is C.\r\n", []string{"A is B.", "B is C."}},
		{
			// expertqa-0001: a claim that leads into a list whose first number was kept.
			"lead-in", "Potential recourses could include:\n\n1[2].\nTermination of employment [3].",
			[]string{"Potential recourses could include:\n\n1[2].", "Termination of employment [3]."},
		},
		{
			"numbered", "1. Janet eats 3 eggs.\n2. She sells 9 eggs.\n3. A: 18",
			[]string{"1. Janet eats 3 eggs.", "2. She sells 9 eggs.", "3. A: 18"},
		},
		{
			// bigbench_mistake: what follows the last number belongs to it.
			"answer under a list", "1. Alice and Bob swap.\n2. So the answer is (A)\nAnswer: (A)",
			[]string{"1. Alice and Bob swap.", "2. So the answer is (A)\nAnswer: (A)"},
		},
		{
			"paragraph after a list", "1. A.\n   More of A.\n2. B.\n\nSo C.",
			[]string{"1. A.\n   More of A.", "2. B.", "So C."},
		},
		{
			"list after an introduction", "Let us think.\n1. A.\n2. B.",
			[]string{"Let us think.\n1. A.", "2. B."},
		},
		{
			// mr_ben_medicine: the two kinds of label count through.
			"step words and numbers", "Step 1: Analyze Choice A\n2. It is possible.\nStep 2: Analyze Choice B\n4. It is not.",
			[]string{"Step 1: Analyze Choice A", "2. It is possible.", "Step 2: Analyze Choice B", "4. It is not."},
		},
		{
			"a list inside a step", "Step 1: Look at the cases:\n1. one\n2. two\nStep 2: Conclude.",
			[]string{"Step 1: Look at the cases:\n1. one\n2. two", "Step 2: Conclude."},
		},
		{
			"headings", "## Step 1 - Premises\n\nAll men are mortal.\n\n## Step 2 - Conclusion\n\nSocrates is mortal.",
			[]string{"## Step 1 - Premises\n\nAll men are mortal.", "## Step 2 - Conclusion\n\nSocrates is mortal."},
		},
		{
			"bullets", "- first\n  - under it\n- second\n• third",
			[]string{"- first\n  - under it", "- second", "• third"},
		},
		{"wrapped line", "The court held that\nthe clause is void.\nIt did so twice.", []string{"The court held that\nthe clause is void.", "It did so twice."}},
		{"markers below", "A is B.\n[1] [2].\nB is C.", []string{"A is B.\n[1] [2].", "B is C."}},
		{"a year is no label", "1990. A good year.\n1991. A bad one.", []string{"1990. A good year.", "1991. A bad one."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := evidence.Steps(tt.output)
			if diff := cmp.Diff(tt.want, texts(got)); diff != "" {
				t.Errorf("Steps (-want +got):\n%s", diff)
			}
			for i, s := range got {
				if s.Number != i+1 || tt.output[s.Start:s.End] != s.Text {
					t.Errorf("step %d: number %d, range [%d,%d) holds %q", i+1, s.Number, s.Start, s.End, tt.output[s.Start:s.End])
				}
			}
		})
	}
}

func FuzzSteps(f *testing.F) {
	for _, s := range []string{"Step 1: a\n2. b\nStep 2: c", "1. a\n2. b\n\nc", "- a\n  - b\n\xff\n", "a:\n\nb\n[1]", "Step", "###", "(3) a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		steps := evidence.Steps(s)
		end := 0
		for i, st := range steps {
			if st.Number != i+1 {
				t.Fatalf("step %d has number %d", i+1, st.Number)
			}
			checkSpan(t, s, evidence.Span{Start: st.Start, End: st.End})
			if st.Start < end {
				t.Fatalf("step %d starts at %d, before %d", st.Number, st.Start, end)
			}
			if s[st.Start:st.End] != st.Text || strings.TrimSpace(st.Text) != st.Text || st.Text == "" {
				t.Fatalf("step %d is %q", st.Number, st.Text)
			}
			if strings.TrimSpace(s[end:st.Start]) != "" {
				t.Fatalf("%q is in no step", s[end:st.Start])
			}
			end = st.End
		}
		if strings.TrimSpace(s[end:]) != "" {
			t.Fatalf("%q is in no step", s[end:])
		}
	})
}
