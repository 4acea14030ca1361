package web

import (
	"regexp"
	"testing"

	"github.com/countersign/countersign/judge"
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
