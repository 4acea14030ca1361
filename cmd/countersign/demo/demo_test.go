package demo_test

import (
	"errors"
	"io"
	"testing"

	"github.com/countersign/countersign/cmd/countersign/demo"
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

// TestSets reads every embedded trace as an import does: nothing of a release
// may be refused or doubted.
func TestSets(t *testing.T) {
	judges, err := demo.Judges()
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]*judge.Judge{}
	for i := range judges {
		own[judges[i].Name] = &judges[i]
	}
	want := map[string]int{
		"expertqa": 94, "sara_statutory": 66, "legalbench_cuad": 128, "openqa_eval": 991, "mr_gsm8k_grading": 332,
		"workbenches": 7,
	}
	for _, set := range demo.Sets() {
		src, err := set.Open()
		if err != nil {
			t.Fatal(err)
		}
		find := func(name string) (*judge.Judge, bool) {
			switch name {
			case "citations", "steps", "steps-comparison", "reference", "logic", "logic-steps": // built-in judges: their labels are not checked here
				return &judge.Judge{Name: name}, true
			}
			j, ok := own[name]
			return j, ok
		}
		r, err := tracefile.NewReader(set.Name+".jsonl", src, tracefile.Options{Judge: find})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for {
			_, _, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != want[set.Name] {
			t.Errorf("%s has %d traces, want %d", set.Name, n, want[set.Name])
		}
		if w := r.Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", set.Name, w)
		}
	}
}
