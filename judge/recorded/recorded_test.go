package recorded_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/recorded"
)

func TestReport(t *testing.T) {
	trace := &judge.Trace{ID: "t1", Judgments: []judge.Judgment{
		{Judge: "a", Output: json.RawMessage(`{"x": 1}`)},
		{Judge: "a", Raw: "text {}"},
		{Judge: "b", Raw: "{}"},
	}}
	tests := []struct {
		index   int
		want    judge.Given
		wantErr string
	}{
		{0, judge.Given{Report: json.RawMessage(`{"x": 1}`)}, ""},
		{1, judge.Given{Raw: "text {}"}, ""},
		{2, judge.Given{}, "is for judge b, not a"},
		{3, judge.Given{}, "has no judgment 3; it brings 3"},
		{judge.NoJudgment, judge.Given{}, "has no judgment -1"},
	}
	for _, tt := range tests {
		got, err := recorded.Engine{}.Report(context.Background(), &judge.Judge{Name: "a"}, trace, judge.Planned{Judge: "a", Judgment: tt.index})
		if tt.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("judgment %d: error %v, want %q", tt.index, err, tt.wantErr)
			}
			continue
		}
		if err != nil {
			t.Errorf("judgment %d: %v", tt.index, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("judgment %d (-want +got):\n%s", tt.index, diff)
		}
	}
}
