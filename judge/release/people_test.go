package release

import (
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
)

// TestPeople: the rule of a project for imported labels (store.settle).
func TestPeople(t *testing.T) {
	j := &judge.Judge{Name: "mood", Labels: []judge.Label{{Name: "good", Verdict: judge.Pass}, {Name: "bad", Verdict: judge.Fail}, {Name: "unclear", Abstain: true}}}
	at := func(day int) *time.Time {
		d := time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
		return &d
	}
	for _, tt := range []struct {
		name      string
		labels    []judge.HumanLabel
		verdict   judge.Verdict
		abstained bool
		there     bool
	}{
		{"none", nil, "", false, false},
		{"of another judge", []judge.HumanLabel{{Judge: "other", Label: "good"}}, "", false, false},
		{"a label means its verdict", []judge.HumanLabel{{Label: "bad"}}, judge.Fail, false, true},
		{"a verdict alone", []judge.HumanLabel{{Verdict: judge.Borderline}}, judge.Borderline, false, true},
		{"a majority", []judge.HumanLabel{{Label: "bad", Reviewer: "a"}, {Label: "good", Reviewer: "b"}, {Label: "good", Reviewer: "c"}}, judge.Pass, false, true},
		{"a tie is an abstention", []judge.HumanLabel{{Label: "bad", Reviewer: "a"}, {Label: "good", Reviewer: "b"}}, "", true, true},
		{"one voice each, the newest", []judge.HumanLabel{{Label: "good", Reviewer: "a", At: at(3)}, {Label: "bad", Reviewer: "a", At: at(1)}, {Label: "bad", Reviewer: "a", At: at(2)}}, judge.Pass, false, true},
		{"of one time the later in the file", []judge.HumanLabel{{Label: "good", Reviewer: "a"}, {Label: "bad", Reviewer: "a"}}, judge.Fail, false, true},
		{"an opinion counts before abstentions", []judge.HumanLabel{{Label: "unclear", Reviewer: "a"}, {Label: "unclear", Reviewer: "b"}, {Label: "good", Reviewer: "c"}}, judge.Pass, false, true},
		{"only abstentions", []judge.HumanLabel{{Label: "unclear", Reviewer: "a"}}, "", true, true},
		{"adjudicated before the majority", []judge.HumanLabel{{Label: "bad", Adjudicated: true}, {Label: "good", Reviewer: "b"}, {Label: "good", Reviewer: "c"}}, judge.Fail, false, true},
		{"the newest adjudicated", []judge.HumanLabel{{Label: "bad", Adjudicated: true, At: at(2)}, {Label: "good", Adjudicated: true, At: at(1)}}, judge.Fail, false, true},
	} {
		for i := range tt.labels {
			if tt.labels[i].Judge == "" {
				tt.labels[i].Judge = "mood"
			}
		}
		h, there := people(&judge.Trace{Labels: tt.labels}, j)
		if there != tt.there || h.answer.Verdict != tt.verdict || h.answer.Abstained != tt.abstained {
			t.Errorf("%s: got %+v %v, want %q, abstained %v, there %v", tt.name, h.answer, there, tt.verdict, tt.abstained, tt.there)
		}
	}
}
