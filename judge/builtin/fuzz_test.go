package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// Whatever stands in a report and a trace, no check panics, and checks one by one
// say what all of them over one decoding say.
func FuzzExamine(f *testing.F) {
	for i, j := range builtin.Judges() {
		f.Add(i, `{}`, "1. a [1]\n2. b", "a | b")
		f.Add(i, citationsReport, citationsTrace().Output, "no reference")
		if j.Name != builtin.Reference && j.Name != builtin.Citations {
			traces, reports := workedExamples(f, j.Name)
			f.Add(i, reports[0], traces[0].Output, traces[0].Reference)
		}
	}
	f.Add(3, `{"citation_evaluations":[{"citation_id":7,"reasoning_step_index":-5}]}`, "a [1]", "")
	f.Add(0, `{"candidate_step_count":1,"step_alignments":[{"candidate_step_indices":[-1]}]}`, "a", "")
	f.Add(5, `{"violations":[{"step_index":-1}]}`, "a", "")
	f.Add(1, `{"equivalence_class":"semantic_equivalent","similarity_score":1,"rationale":"\"\"a\" b\"","critical_error_count":-1}`, "not a, but: b\x00", "a | | not")
	f.Fuzz(func(t *testing.T, which int, report, output, reference string) {
		list := builtin.Judges()
		j := list[(which%len(list)+len(list))%len(list)]
		trace := &judge.Trace{Output: output, Reference: reference, Stakes: judge.HighStakes, Sources: []judge.Source{{ID: "1", Text: reference}}}
		together := map[string]string{}
		checks, read := j.Examine(json.RawMessage(report), trace)
		for _, c := range checks {
			if !c.OK {
				together[c.Name] = c.Detail
			}
		}
		reading, err := read()
		single, readable := map[string]string{}, true
		for _, c := range j.Checks {
			faults, skipped := c.Run(json.RawMessage(report), trace)
			if !skipped && len(faults) > 0 {
				single[c.Name] = strings.Join(faults, "; ")
				readable = readable && !strings.HasPrefix(faults[0], "the report cannot be read")
			}
		}
		if (err == nil) != readable {
			t.Fatalf("reading gives %v, and the checks read it: %v", err, readable)
		}
		if err != nil {
			return
		}
		for name, detail := range single {
			// Long lists are cut in the one and not in the other.
			if got := together[name]; got != detail && !strings.Contains(got, " more") {
				t.Fatalf("check %s: got %q together and %q alone", name, got, detail)
			}
		}
		if len(together) != len(single) {
			t.Fatalf("failing checks (-together +alone):\n%s", cmp.Diff(together, single))
		}
		for _, finding := range reading.Findings {
			if finding.Step < 0 || finding.Citation < 0 {
				t.Fatalf("a finding points at no place: %+v", finding)
			}
		}
	})
}
