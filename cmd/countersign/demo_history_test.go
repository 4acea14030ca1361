package main

import (
	"strings"
	"testing"
)

// checkDemoHistory: however often the demo was started, its project has one pilot
// by an earlier version, one re-run of it and one rule.
func checkDemoHistory(t *testing.T, data string) {
	t.Helper()
	reruns := mustRun(t, exitOK, nil, "rerun", "list", "--data", data).out.String()
	if strings.Count(reruns, "\n") != 2 || !strings.Contains(reruns, "queued") {
		t.Errorf("re-runs of the demo:\n%s", reruns)
	}
	policies := mustRun(t, exitOK, nil, "policy", "show", "--history", "--data", data).out.String()
	if strings.Count(policies, "\n") != 3 || !strings.Contains(policies, ruleComment) {
		t.Errorf("policies of the demo:\n%s", policies)
	}
	versions := map[string]int{}
	for _, e := range evaluations(t, mustRun(t, exitOK, nil, "export", "evaluations", "--run", pilotRun, "--data", data).out.String()) {
		if e.Error != "" || e.Verdict == "" {
			t.Errorf("%s by version %s: %q %s", e.TraceID, shortHash(e.PromptVersion), e.Verdict, e.Error)
		}
		versions[e.PromptVersion]++
	}
	if len(versions) != 2 {
		t.Fatalf("the pilot was judged by %d versions, want 2", len(versions))
	}
	for version, n := range versions {
		if n != pilotTraces {
			t.Errorf("version %s judged %d of the pilot, want %d", shortHash(version), n, pilotTraces)
		}
	}
}
