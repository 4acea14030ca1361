package web

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/views"
)

// TestMarkersOfAPattern: pages find the markers that the judge finds, in the form
// that the configuration gives them.
func TestMarkersOfAPattern(t *testing.T) {
	trace := judge.Trace{Output: "The dose was halved (Smith 2020).", Sources: []judge.Source{{ID: "Smith 2020", Text: "The dose was halved."}}}
	if got := (&Server{}).citationsOf(&trace); len(got) != 0 {
		t.Errorf("without a pattern: %d citations, want none", len(got))
	}
	s := &Server{cfg: Config{Markers: regexp.MustCompile(`\(([A-Z][a-z]+ \d{4})\)`)}}
	got := s.citationsOf(&trace)
	if len(got) != 1 || got[0].Marker.CitationID != "Smith 2020" || got[0].Source == nil {
		t.Errorf("with a pattern: %+v, want one citation of Smith 2020", got)
	}
}

// TestMarksBySteps: a step cut by its own marks is cut as by all of them, wherever they
// begin and end.
func TestMarksBySteps(t *testing.T) {
	text := strings.Repeat("0123456789", 40)
	random := rand.New(rand.NewPCG(1, 2))
	kinds := []views.SegmentKind{views.Claim, views.CiteExact, views.Cite, views.Marked}
	for round := range 200 {
		var steps []evidence.Step
		for at := random.IntN(5); at < len(text)-20; {
			end := at + 1 + random.IntN(40)
			steps = append(steps, evidence.Step{Number: len(steps) + 1, Start: at, End: min(end, len(text))})
			at = end + random.IntN(3)
		}
		var marks []mark
		for range random.IntN(40) {
			start := random.IntN(len(text))
			marks = append(marks, mark{evidence.Span{Start: start, End: min(len(text), start+random.IntN(60))}, kinds[random.IntN(len(kinds))], fmt.Sprint(len(marks))})
		}
		by := marksBySteps(steps, marks)
		for i, s := range steps {
			window := evidence.Span{Start: s.Start, End: s.End}
			if diff := cmp.Diff(cut(text, window, marks), cut(text, window, by[i])); diff != "" {
				t.Fatalf("round %d, step %d (-by all +by its own)\n%s", round, i, diff)
			}
		}
	}
}
