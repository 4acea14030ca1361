package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// reports gives each trace its own.
type reports map[string]judge.Given

func (reports) Name() string { return judge.EngineRules }

func (r reports) Report(_ context.Context, _ *judge.Judge, t *judge.Trace, _ judge.Planned) (judge.Given, error) {
	given, ok := r[t.ID]
	if !ok {
		return judge.Given{}, errors.New("no report")
	}
	return given, nil
}

// history is some evaluations of every kind: sound, in the band, failed, critical,
// undecided, at fault, without a report, and of either stakes.
func history() (traces []judge.Trace, given reports) {
	given = reports{}
	for i := range 120 {
		t := judge.Trace{ID: fmt.Sprint("t", i), Question: "q", Reference: "1. r", Output: "1. o", Stakes: judge.StandardStakes, Domain: "tax"}
		if i%3 == 0 {
			t.Stakes, t.Domain = judge.HighStakes, "medical"
		}
		g := judge.Given{}
		switch i % 8 {
		case 0, 1, 2:
			g.Report = json.RawMessage(stepsReport(fmt.Sprintf("0.%d", 81+i%17), "[]", "CORRECT"))
		case 3:
			g.Report = json.RawMessage(stepsReport("0.7", "[]", "CORRECT"))
		case 4:
			g.Report = json.RawMessage(stepsReport("0.3", `["wrong"]`, "INCORRECT"))
		case 5:
			g.Report, g.Undecided, g.Explanation = json.RawMessage(stepsReport("0.9", "[]", "CORRECT")), true, "cannot tell"
		case 6:
			g.Raw = "no report at all"
		case 7:
			g.NoReport, g.Explanation = true, "cannot judge this"
		}
		if i%40 != 39 { // the others have none: the judge fails
			given[t.ID] = g
		}
		traces = append(traces, t)
	}
	return traces, given
}

// evaluated judges the history under a policy, as stored evaluations a minute apart.
func evaluated(t *testing.T, policy judge.Policy) (*harness.Harness, []harness.Sample) {
	t.Helper()
	traces, given := history()
	h := newHarness(t, func(c *harness.Config) { c.Policy, c.Audit = policy, true }, given)
	var samples []harness.Sample
	for i, trace := range traces {
		e := evaluate(t, h, trace, byRules("steps"))
		at := noon().Add(time.Duration(i) * time.Hour)
		e.ID, e.StartedAt = fmt.Sprint("row-", i), &at // ids of rows are others than those draws go by
		samples = append(samples, harness.Sample{Trace: trace, Planned: byRules("steps"), Evaluation: e})
	}
	return h, samples
}

func dryRun(t *testing.T, h *harness.Harness, policy judge.Policy, samples []harness.Sample) harness.DryRunResult {
	t.Helper()
	d := h.DryRun(policy, func(_ string, stakes judge.Stakes) time.Duration {
		if stakes == judge.HighStakes {
			return 10 * time.Minute
		}
		return 3 * time.Minute
	})
	for _, s := range samples {
		if err := d.Add(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	return d.Result()
}

// A dry run says what judging under the policy would really do: for every pair of
// policies, its numbers are those of judging the same reports under the other.
func TestDryRunIsWhatHappens(t *testing.T) {
	policies := map[string]judge.Policy{
		"default":     readPolicy(t, ""),
		"no audits":   readPolicy(t, "audit: {random: 0, boundary: 0}"),
		"other seed":  readPolicy(t, "audit: {random: 0.4, boundary: 0.5, seed: other}"),
		"wide band":   readPolicy(t, "rules: [{judge: steps, band: [0.2, 0.95]}]"),
		"below":       readPolicy(t, "rules: [{domain: tax, below: 0.9, reasons: {below_threshold: on}}]"),
		"nearly none": readPolicy(t, "audit: {random: 0}"+everythingOff),
	}
	for from, old := range policies {
		h, before := evaluated(t, old)
		for to, policy := range policies {
			_, after := evaluated(t, policy)
			got := dryRun(t, h, policy, before)
			newly, less := 0, 0
			for i := range before {
				was, is := len(before[i].Evaluation.Reasons) > 0, len(after[i].Evaluation.Reasons) > 0
				if is && !was {
					newly++
				}
				if was && !is {
					less++
				}
			}
			want := harness.DryRunResult{
				Evaluations: len(before), Before: load(before), After: load(after),
				ByReason: byReason(before, after), NewlySent: harness.Changes{Count: newly}, NoLongerSent: harness.Changes{Count: less},
				OtherVerdict: otherVerdicts(before, after), Oldest: noon(), Newest: noon().Add(119 * time.Hour),
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.IgnoreFields(harness.Changes{}, "First"),
				cmpopts.IgnoreFields(harness.DryRunResult{}, "ByJudge", "ByStakes", "PerWeek")); diff != "" {
				t.Errorf("from %s to %s (-judged +dry run):\n%s", from, to, diff)
			}
			if from == to && (newly != 0 || less != 0) {
				t.Errorf("%s: the policy itself changes %d and %d", from, newly, less)
			}
		}
	}
}

func load(samples []harness.Sample) (l harness.Load) {
	for _, s := range samples {
		if len(s.Evaluation.Reasons) == 0 {
			continue
		}
		l.Sent++
		l.Hours += 3.0 / 60
		if s.Trace.Stakes == judge.HighStakes {
			l.Hours += 7.0 / 60
		}
	}
	return l
}

func byReason(before, after []harness.Sample) []harness.Moved {
	list := []harness.Moved{}
	for _, code := range judge.ReasonCodes() {
		m := harness.Moved{Name: code, Before: countOf(before, code), After: countOf(after, code)}
		if m.Before+m.After > 0 {
			list = append(list, m)
		}
	}
	return list
}

func countOf(samples []harness.Sample, code string) (n int) {
	for _, s := range samples {
		for _, r := range s.Evaluation.Reasons {
			if r.Code == code {
				n++
				break
			}
		}
	}
	return n
}

func otherVerdicts(before, after []harness.Sample) (n int) {
	for i := range before {
		if before[i].Evaluation.Verdict != after[i].Evaluation.Verdict {
			n++
		}
	}
	return n
}

func TestDryRunResult(t *testing.T) {
	h, samples := evaluated(t, readPolicy(t, "audit: {random: 0, boundary: 0}"))
	got := dryRun(t, h, readPolicy(t, "audit: {random: 0, boundary: 0}\nreasons: {below_threshold: off, ambiguous_score: off}"), samples)
	if got.NoLongerSent.Count == 0 || len(got.NoLongerSent.First) != got.NoLongerSent.Count || got.NewlySent.Count != 0 {
		t.Fatalf("changes: %+v and %+v", got.NoLongerSent, got.NewlySent)
	}
	want := harness.Change{EvaluationID: "row-3", TraceID: "t3", Judge: "steps", Reasons: []string{"below_threshold", "ambiguous_score"}}
	if diff := cmp.Diff(want, got.NoLongerSent.First[0]); diff != "" {
		t.Errorf("first that is no longer sent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]harness.Moved{{Name: "steps", Before: got.Before.Sent, After: got.After.Sent}}, got.ByJudge); diff != "" {
		t.Errorf("by judge (-want +got):\n%s", diff)
	}
	sum := harness.Moved{}
	for _, m := range got.ByStakes {
		sum.Before, sum.After = sum.Before+m.Before, sum.After+m.After
	}
	if sum.Before != got.Before.Sent || sum.After != got.After.Sent {
		t.Errorf("by stakes: %+v sum to %+v, want %d and %d", got.ByStakes, sum, got.Before.Sent, got.After.Sent)
	}
	if got.PerWeek == nil {
		t.Fatal("no rate per week over five days")
	}
	if want, got := float64(got.After.Sent)*7*24/119, got.PerWeek.AfterSent; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("per week: got %v, want %v", got, want)
	}
}

// What cannot be routed again is counted apart, and what people and other models
// said is kept.
func TestDryRunLeavesApart(t *testing.T) {
	h, samples := evaluated(t, readPolicy(t, "audit: {random: 0, boundary: 0}"))
	quiet := readPolicy(t, "audit: {random: 0, boundary: 0}\nreasons: {judge_disagreement: off}")
	sound := samples[0]
	with := func(change func(*harness.Sample)) harness.Sample {
		s := sound
		change(&s)
		return s
	}
	reason := func(code string) harness.Sample {
		return with(func(s *harness.Sample) { s.Evaluation.Reasons = []judge.Reason{{Code: code, Detail: "d"}} })
	}
	for name, tt := range map[string]struct {
		sample harness.Sample
		policy judge.Policy
		want   harness.DryRunResult
	}{
		"queued":           {with(func(s *harness.Sample) { s.Evaluation.Status = judge.Queued }), quiet, harness.DryRunResult{NotJudged: 1}},
		"refused":          {with(func(s *harness.Sample) { s.Evaluation.Status = judge.Refused }), quiet, harness.DryRunResult{NotJudged: 1}},
		"another version":  {with(func(s *harness.Sample) { s.Evaluation.PromptVersion = "old" }), quiet, harness.DryRunResult{Unreadable: 1}},
		"another judge":    {with(func(s *harness.Sample) { s.Evaluation.Judge = "gone" }), quiet, harness.DryRunResult{Unreadable: 1}},
		"report at fault":  {with(func(s *harness.Sample) { s.Evaluation.Report = json.RawMessage(`{}`) }), quiet, harness.DryRunResult{Unreadable: 1}},
		"requested":        {reason(judge.ReasonRequested), quiet, harness.DryRunResult{Evaluations: 1, Before: harness.Load{Sent: 1}, After: harness.Load{Sent: 1}}},
		"disagreement":     {reason(judge.ReasonJudgeDisagreement), readPolicy(t, "audit: {random: 0, boundary: 0}"), harness.DryRunResult{Evaluations: 1, Before: harness.Load{Sent: 1}, After: harness.Load{Sent: 1}}},
		"disagreement off": {reason(judge.ReasonJudgeDisagreement), quiet, harness.DryRunResult{Evaluations: 1, Before: harness.Load{Sent: 1}, NoLongerSent: harness.Changes{Count: 1}}},
	} {
		d := h.DryRun(tt.policy, nil)
		if err := d.Add(context.Background(), tt.sample); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, d.Result(), cmpopts.IgnoreFields(harness.DryRunResult{}, "ByReason", "ByJudge", "ByStakes", "Oldest", "Newest"),
			cmpopts.IgnoreFields(harness.Changes{}, "First")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Evaluations from before undecided was kept are told by their verdict.
func TestDryRunInfersUndecided(t *testing.T) {
	h, samples := evaluated(t, readPolicy(t, "audit: {random: 0, boundary: 0}"))
	off := readPolicy(t, "audit: {random: 0, boundary: 0}\nreasons: {ambiguous_score: off, below_threshold: off}")
	for place, want := range map[int]int{3: 0, 5: 1, 7: 1} { // in the band, undecided, without a report
		s := samples[place]
		s.Evaluation.Undecided, s.Evaluation.Explanation, s.Evaluation.PolicyVersion = false, "", 0
		if got := dryRun(t, h, off, []harness.Sample{s}).After.Sent; got != want {
			t.Errorf("sample %d: %d sent, want %d", place, got, want)
		}
	}
}

// A trace that may not be sent to its endpoint under the policy is not judged.
func TestDryRunRefuses(t *testing.T) {
	chat := &located{script: script{replies: []any{stepsReport("0.7", "[]", "CORRECT")}}}
	h := newHarness(t, func(c *harness.Config) { c.Audit = true }, chat)
	trace := judge.Trace{ID: "t", Question: "q", Reference: "1. r\n2. s", Output: "1. o", Stakes: judge.StandardStakes}
	e := evaluate(t, h, trace, planned("steps"))
	for text, want := range map[string]harness.DryRunResult{
		"endpoints: [other]":  {Evaluations: 1, Refused: 1, Before: harness.Load{Sent: 1, Hours: 0.05}, NoLongerSent: harness.Changes{Count: 1}},
		"endpoints: [ward-7]": {Evaluations: 1, Before: harness.Load{Sent: 1, Hours: 0.05}, After: harness.Load{Sent: 1, Hours: 0.05}},
	} {
		got := dryRun(t, h, readPolicy(t, text), []harness.Sample{{Trace: trace, Planned: planned("steps"), Evaluation: e}})
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(harness.DryRunResult{}, "ByReason", "ByJudge", "ByStakes", "Oldest", "Newest"),
			cmpopts.IgnoreFields(harness.Changes{}, "First")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// located is a script that says where it sends what it is asked.
type located struct{ script }

func (*located) Endpoint() judge.Endpoint {
	return judge.Endpoint{Name: "ward-7", Host: "10.0.0.7"}
}
