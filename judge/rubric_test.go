package judge_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

func TestParseRubric(t *testing.T) {
	got, err := judge.ParseRubric("r.yaml", []byte(`
- name: causal_validity
  check: causes are
    shown.
  anchors: {1: one, 2: two, 3: three, 4: four, 5: five}
  fallacies: [post hoc, "reverse  causation"]
- name: sums
  check: sums are right
  anchors:
    5: all
    4: most
    3: some
    2: few
    1: none
`))
	if err != nil {
		t.Fatal(err)
	}
	want := judge.Rubric{
		{Name: "causal_validity", Check: "causes are shown", Anchors: [5]string{"one", "two", "three", "four", "five"}, Fallacies: []string{"post hoc", "reverse causation"}},
		{Name: "sums", Check: "sums are right", Anchors: [5]string{"none", "few", "some", "most", "all"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rubric (-want +got):\n%s", diff)
	}
	if _, ok := got.Named("sums"); !ok {
		t.Error("Named does not find sums")
	}
	if _, ok := got.Named("Sums"); ok {
		t.Error("Named finds what is not there")
	}
}

// Every fault of a file is told at once, each at its line.
func TestParseRubricFaults(t *testing.T) {
	const anchors = "\n  anchors: {1: a, 2: b, 3: c, 4: d, 5: e}"
	tests := []struct {
		name, rubric string
		want         []string
	}{
		{"empty", "", []string{"r.yaml: the file is empty"}},
		{"no list", "name: a", []string{"r.yaml:1: a rubric is a list of dimensions"}},
		{"empty list", "[]", []string{"r.yaml:1: a rubric is a list of dimensions"}},
		{"not a mapping", "- a\n- b", []string{"r.yaml:1: a dimension must be a mapping", "r.yaml:2: a dimension must be a mapping"}},
		{"unknown keys", "- name: a\n  weight: 3\n  check: c" + anchors + "\n  anchor: {}", []string{`r.yaml:2: unknown key "weight" in a dimension; known are anchors, check, fallacies, name`, `r.yaml:5: unknown key "anchor" in a dimension`}},
		{"a key twice", "- name: a\n  name: b\n  check: c" + anchors, []string{`r.yaml:2: the key "name" is given twice`}},
		{"nothing but a name", "- name: a", []string{"r.yaml:1: dimension a: check is missing", "r.yaml:1: dimension a: anchors are missing"}},
		{"no name", "- check: c" + anchors, []string{"r.yaml:1: a dimension has no name"}},
		{"a name that no pointer can hold", "- name: a/b\n  check: c" + anchors, []string{`r.yaml:1: the name "a/b" must be`}},
		{"a name twice", "- name: a\n  check: c" + anchors + "\n- name: a\n  check: c" + anchors, []string{"r.yaml:4: the dimension a is already given in line 1"}},
		{"an anchor too few", "- name: a\n  check: c\n  anchors:\n    1: a\n    2: b\n    3: c\n    5: e", []string{"r.yaml:4: dimension a has no anchor for 4"}},
		{"an anchor too many", "- name: a\n  check: c\n  anchors:\n    0: z\n    1: a\n    2: b\n    3: c\n    4: d\n    5: e", []string{`r.yaml:4: unknown key "0" in anchors; known are 1, 2, 3, 4, 5`}},
		{"an empty anchor", "- name: a\n  check: c\n  anchors: {1: , 2: b, 3: c, 4: d, 5: e}", []string{"r.yaml:3: anchor 1 must be text", "r.yaml:3: dimension a has no anchor for 1"}},
		{"fallacies", "- name: a\n  check: c" + anchors + "\n  fallacies: post hoc", []string{"r.yaml:4: fallacies must be a list"}},
		{"a fallacy twice", "- name: a\n  check: c" + anchors + "\n  fallacies:\n  - x\n  - x", []string{`r.yaml:6: the fallacy "x" is given twice`}},
		{"broken", "- name: [a", []string{"r.yaml:1: not valid YAML"}},
		{"an alias", "- &x {name: a}\n- *x", []string{"r.yaml:1: anchors and aliases are not supported"}},
		{"too many", strings.Repeat("- {name: a}\n", 25), []string{"r.yaml:1: a rubric has at most 24 dimensions; this has 25"}},
		{"two faults", "- name: a\n  x: 1\n  check: c" + anchors + "\n- name: b\n  check: d\n  anchors: 3", []string{`r.yaml:2: unknown key "x"`, "r.yaml:7: anchors must be a mapping"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := judge.ParseRubric("r.yaml", []byte(tt.rubric))
			if err == nil {
				t.Fatalf("no fault is found in %+v", r)
			}
			var fault *judge.DefinitionError
			if !errors.As(err, &fault) {
				t.Errorf("%v is no DefinitionError", err)
			}
			got := strings.Split(err.Error(), "\n")
			if len(got) != len(tt.want) {
				t.Fatalf("faults: got %q, want %q", got, tt.want)
			}
			for i, part := range tt.want {
				if !strings.HasPrefix(got[i], part) {
					t.Errorf("fault %d: got %q, want it to begin with %q", i+1, got[i], part)
				}
			}
		})
	}
}

func FuzzParseRubric(f *testing.F) {
	f.Add("- name: a\n  check: c\n  anchors: {1: a, 2: b, 3: c, 4: d, 5: e}\n  fallacies: [x]")
	f.Add("- {name: a, anchors: {1: }}")
	f.Add("[[]]")
	example, err := os.ReadFile("../docs/rubric.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := judge.ParseRubric("r.yaml", []byte(text))
		if (err == nil) != (len(r) > 0) {
			t.Fatalf("%d dimensions, %v", len(r), err)
		}
		seen := map[string]bool{}
		for _, d := range r {
			if seen[d.Name] || d.Name == "" || d.Check == "" || strings.Contains(fmt.Sprint(d.Anchors), "\n") {
				t.Fatalf("dimension %+v", d)
			}
			seen[d.Name] = true
			for _, a := range d.Anchors {
				if a == "" {
					t.Fatalf("dimension %+v lacks an anchor", d)
				}
			}
		}
	})
}
