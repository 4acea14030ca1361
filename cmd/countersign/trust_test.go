package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
	"github.com/countersign/countersign/store"
)

// TestUntrustedJudge: where the policy asks for it, a version of a judge decides
// alone only once people agree with it, and only in the project where they did.
func TestUntrustedJudge(t *testing.T) {
	home := newHome(t)
	db := home.open(t)
	for _, project := range []string{store.DefaultProject, "other"} {
		p, err := db.EnsureProject(t.Context(), store.Operator("test"), project)
		if err != nil {
			t.Fatal(err)
		}
		p.Policy.RandomAudit, p.Policy.BoundaryAudit = 0, 0
		enough := 60
		p.Policy.Trust = &judge.TrustRules{MinLabels: &enough}
		p.Policy.Reasons = map[string]judge.Switch{judge.ReasonUntrustedJudge: {High: judge.SwitchOn, Standard: judge.SwitchOn}}
		if _, err := db.SetPolicy(t.Context(), store.Operator("test"), project, p.Policy, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	// People agree with what the rules say of identical and of empty answers.
	var labelled strings.Builder
	for i := range 60 {
		output, label := fmt.Sprintf("answer %d", i), "exact_match"
		report := `{"similarity_score":1,"equivalence_class":"exact_match","partial_credit":1,"rationale":"identical","key_differences":[],"critical_error_count":0}`
		if i%2 == 1 {
			output, label = "no answer", "substantive_difference"
			report = `{"similarity_score":0,"equivalence_class":"substantive_difference","partial_credit":0.7,"rationale":"another","key_differences":["it is another"],"critical_error_count":1}`
		}
		fmt.Fprintf(&labelled, `{"id":"l%02d","output":%q,"reference":"answer %d","judges":["reference"],"judgments":[{"judge":"reference","model":"m","prompt_version":"v","output":%s}],`+
			`"labels":[{"judge":"reference","label":%q,"reviewer":"rita","adjudicated":true}]}`+"\n", i, output, i, report, label)
	}
	file := writeFile(t, "l.jsonl", labelled.String())
	fresh := func(id string) string {
		return writeFile(t, id+".jsonl", fmt.Sprintf(`{"id":%q,"output":"six","reference":"six","judges":["reference"],"judgments":[{"judge":"reference","model":"m","prompt_version":"v",`+
			`"output":{"similarity_score":1,"equivalence_class":"exact_match","partial_credit":1,"rationale":"identical","key_differences":[],"critical_error_count":0}}]}`, id))
	}
	reasons := func(project, id string) (list []judge.Reason) {
		for _, e := range exported(t, home, project) {
			if e.TraceID == id {
				list = append(list, e.Reasons...)
			}
		}
		return list
	}

	mustRun(t, exitOK, home.env, "import", "--judge", fresh("before"))
	if got := reasons(store.DefaultProject, "before"); len(got) != 1 || got[0].Code != judge.ReasonUntrustedJudge || !strings.Contains(got[0].Detail, "nobody has labelled") {
		t.Errorf("before anybody labelled: %v", got)
	}
	mustRun(t, exitOK, home.env, "import", "--judge", file)
	mustRun(t, exitOK, home.env, "import", "--judge", fresh("after"))
	if got := reasons(store.DefaultProject, "after"); len(got) != 0 {
		t.Errorf("after 60 labels that agree: %v", got)
	}
	// The gate asks for trust where the policy lets only trusted judges decide.
	gated := fresh("gated")
	if got := mustRun(t, exitOK, home.env, "gate", gated); !strings.Contains(got.out.String(), "trusted by the rules of the project's policy") {
		t.Errorf("the gate of a trusted judge: %s", got.out.String())
	}
	if got := mustRun(t, release.Untrusted.ExitCode(), home.env, "gate", "--project", "other", gated); !strings.Contains(got.out.String(), "advisory") {
		t.Errorf("the gate where nobody labelled: %s", got.out.String())
	}

	db = home.open(t)
	p, err := db.ProjectNamed(t.Context(), store.DefaultProject)
	if err != nil {
		t.Fatal(err)
	}
	p.Policy.Reasons = nil // nobody asks for trust any more
	if _, err := db.SetPolicy(t.Context(), store.Operator("test"), store.DefaultProject, p.Policy, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Suspend(t.Context(), store.Operator("test"), store.DefaultProject, store.RaterVersion{Judge: "reference", Model: "m", PromptVersion: "v"}, "its answers changed"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	mustRun(t, exitOK, home.env, "import", "--judge", fresh("suspended"))
	if got := reasons(store.DefaultProject, "suspended"); len(got) != 1 || got[0].Code != judge.ReasonUntrustedJudge || !strings.Contains(got[0].Detail, "suspended by test: its answers changed") {
		t.Errorf("by a suspended judge, where nobody asks for trust: %v", got)
	}
	var reports []store.TrustedReport
	if err := json.Unmarshal(mustRun(t, exitOK, home.env, "calibration", "--judge", "reference", "--json").out.Bytes(), &reports); err != nil {
		t.Fatal(err)
	}
	if len(reports) != 1 || reports[0].Trust.State != judge.Suspended || reports[0].Trust.ByRules != judge.Trusted || len(reports[0].Trust.Rules) != 5 {
		t.Errorf("calibration --json: %+v", reports)
	}
	if got := mustRun(t, exitOK, home.env, "calibration"); !strings.Contains(got.out.String(), "by test: its answers changed") {
		t.Errorf("calibration: %s", got.out)
	}
	if got := mustRun(t, release.Untrusted.ExitCode(), home.env, "gate", gated); !strings.Contains(got.out.String(), "suspended by test: its answers changed") {
		t.Errorf("the gate of a suspended judge: %s", got.out.String())
	}
	mustRun(t, exitOK, home.env, "import", "--project", "other", "--judge", fresh("elsewhere"))
	if got := reasons("other", "elsewhere"); len(got) != 1 || got[0].Code != judge.ReasonUntrustedJudge {
		t.Errorf("in a project where nobody labelled: %v", got)
	}
}
