package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// moods are traces for the judge mood, with a label of people.
func moods(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"%s%02d","output":"it is %d","judges":["mood"],"labels":[{"judge":"mood","label":"good","reviewer":"expert"}]}`+"\n", prefix, i, i)
	}
	return b.String()
}

// TestShadowThenPromotion: a version that the project never had runs in the shadow of
// the one in use, both are compared, and what is promoted judges the traces that come
// then, even when the definition it replaced is given again.
func TestShadowThenPromotion(t *testing.T) {
	home := newHome(t)
	server, _ := endpoint(t, func(call int64) (int, string) {
		return http.StatusOK, []string{`{"mood":"good"}`, `{"mood":"bad"}`}[call%2]
	})
	home.env["OPENAI_API_KEY"], home.env["OPENAI_BASE_URL"], home.env["COUNTERSIGN_MODEL"] = "sk-of-this-test", server.URL+"/v1", "grader"
	first, second := writeFile(t, "mood.yaml", moodJudge("first")), writeFile(t, "mood.yaml", moodJudge("second"))
	mustRun(t, exitOK, home.env, "import", "--judge", "--judges", first, writeFile(t, "a.jsonl", moods("a", 2)))

	mustRun(t, exitUsage, home.env, "judges", "shadow", "start", "mood", "--model", "grader", "--share", "2", "--judges", second, "--reason", "r")
	mustRun(t, exitOK, home.env, "judges", "shadow", "start", "mood", "--model", "grader", "--judges", second, "--reason", "is it better?")
	mustRun(t, exitOK, home.env, "import", "--judge", "--judges", first, writeFile(t, "b.jsonl", moods("b", 6)))
	if out := mustRun(t, exitOK, home.env, "judges", "shadow", "list", "mood", "--json").out.String(); !strings.Contains(out, `"state": "running"`) {
		t.Errorf("shadows %s", out)
	}
	byVersion := map[string][]string{}
	for _, e := range exported(t, home, store.DefaultProject) {
		if e.Shadow {
			byVersion["shadow "+e.PromptVersion] = append(byVersion["shadow "+e.PromptVersion], e.TraceID)
		} else {
			byVersion[e.PromptVersion] = append(byVersion[e.PromptVersion], e.TraceID)
		}
	}
	var a, b string
	for version, traces := range byVersion {
		if of, shadow := strings.CutPrefix(version, "shadow "); shadow {
			if b = of; len(traces) != 6 || slices.ContainsFunc(traces, func(id string) bool { return id[0] != 'b' }) {
				t.Errorf("the shadow judged %v", traces)
			}
		} else if a = version; len(traces) != 8 {
			t.Errorf("the version in use judged %v", traces)
		}
	}
	if a == "" || b == "" || a == b {
		t.Fatalf("judged by %v", byVersion)
	}

	var r store.Comparison
	compare := []string{"judges", "compare", "mood", "--a", a[:8], "--b", b[:8] + ",grader"}
	if err := json.Unmarshal(mustRun(t, exitOK, home.env, append(compare, "--json")...).out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Shared != 6 || r.Labelled.N != 6 || r.Effort[1].Shadow != 6 || r.Competitors[1].PromptVersion != b {
		t.Errorf("compared %+v", r)
	}
	if out := mustRun(t, exitOK, home.env, compare...).out.String(); !strings.HasPrefix(out, "On the same 6 labelled traces version "+b[:8]) || !strings.Contains(out, "MISSES") {
		t.Errorf("the comparison for people: %s", out)
	}
	if said := mustRun(t, exitUsage, home.env, "judges", "compare", "mood", "--a", "00000000", "--b", b).messages.String(); !strings.Contains(said, a[:12]+",grader") {
		t.Errorf("an unknown version: %s", said)
	}

	db := home.open(t)
	if err := db.Promote(t.Context(), store.Operator("lea"), store.DefaultProject, "mood", b, "it finds more", r.Evidence()); err != nil {
		t.Fatal(err)
	}
	c := mustRun(t, exitOK, home.env, "import", "--judge", "--judges", first, writeFile(t, "c.jsonl", moods("c", 2)))
	if !strings.Contains(c.messages.String(), "a lead promoted another one") {
		t.Errorf("it is not said that the definition is not used: %s", c.messages)
	}
	n := 0
	for _, e := range exported(t, home, store.DefaultProject) {
		if e.TraceID[0] != 'c' {
			continue
		}
		if n++; e.PromptVersion != b || e.Shadow || e.Status == judge.Queued {
			t.Errorf("%s was planned with version %s, shadow %v, status %s", e.TraceID, e.PromptVersion, e.Shadow, e.Status)
		}
	}
	if n != 2 {
		t.Errorf("%d evaluations after the promotion", n)
	}
	mustRun(t, exitUsage, home.env, "judges", "shadow", "stop", "mood")
	mustRun(t, exitOK, home.env, "audit", "verify", "--deep")
}
