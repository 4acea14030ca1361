package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestAuditReplay makes evaluations again when the model is no longer there: one
// that was repaired, one by the rules, one of a recorded report beside another.
func TestAuditReplay(t *testing.T) {
	home := newHome(t)
	server, _ := endpoint(t, func(call int64) (int, string) {
		if call == 1 {
			return http.StatusOK, `{"similarity_score":0.9}`
		}
		return http.StatusOK, equivalent
	})
	model := map[string]string{"OPENAI_API_KEY": "sk-of-this-test", "OPENAI_BASE_URL": server.URL + "/v1"}
	for k, v := range home.env {
		model[k] = v
	}
	mustRun(t, exitOK, model, "import", "--judge", "--model", "grader",
		writeFile(t, "a.jsonl", `{"id":"a","output":"it is four","reference":"four is what it is","judges":["reference"]}`))
	server.Close()
	mustRun(t, exitOK, home.env, "import", "--judge", writeFile(t, "b.jsonl",
		`{"id":"b","output":"it is five","reference":"it is five","judges":["reference"]}
{"id":"c","output":"it is six","reference":"six","judges":["reference"],"judgments":[{"judge":"reference","model":"m","output":`+equivalent+`},{"judge":"reference","model":"m","output":`+
			strings.Replace(equivalent, "the same", "as much", 1)+`}]}`))
	all := exported(t, home, store.DefaultProject)
	if len(all) != 4 {
		t.Fatalf("%d evaluations, want 4", len(all))
	}
	for _, e := range all {
		want := map[string]string{"a": "pass, score 0.9, from 2 calls kept", "b": "pass, score 1, from", "c": "pass, score 0.9, from"}[e.TraceID]
		if got := mustRun(t, exitOK, home.env, "audit", "replay", e.ID).out.String(); !strings.HasPrefix(got, "the same again: judge reference, "+want) {
			t.Errorf("%s by %s: %q, want %q in it", e.TraceID, e.Engine, got, want)
		}
		got := mustRun(t, exitOK, home.env, "audit", "replay", "--json", e.ID).out.String()
		if !strings.Contains(got, `"same": true`) || !strings.Contains(got, `"differences": []`) {
			t.Errorf("%s as JSON: %s", e.TraceID, got)
		}
	}
	mustRun(t, exitUsage, home.env, "audit", "replay", "01J00000000000000000000000")
}

// TestAuditReplayNeedsTheVersion: an evaluation of another version of a judge is
// not replayed by the present one.
func TestAuditReplayNeedsTheVersion(t *testing.T) {
	home := newHome(t)
	rubric := writeFile(t, "rubric.yaml", `- name: causal_validity
  check: each cause is shown to be one
  anchors: {5: shown, 4: nearly shown, 3: plausible, 2: only in time, 1: reversed}
- name: conclusion_alignment
  check: the conclusion is what the steps support
  anchors: {5: exactly, 4: nearly, 3: in part, 2: hardly, 1: not at all}
`)
	mustRun(t, exitOK, home.env, "import", "--judge", "--rubric", rubric, writeFile(t, "a.jsonl",
		`{"id":"a","output":"1. Rain came.\n2. So the street is wet.","judges":["logic"]}`))
	all := exported(t, home, store.DefaultProject)
	if len(all) != 1 || all[0].Status != judge.InReview {
		t.Fatalf("judged as %+v, want one evaluation in review", all)
	}
	mustRun(t, exitOK, home.env, "audit", "replay", "--rubric", rubric, all[0].ID)
	c := mustRun(t, exitFailed, home.env, "audit", "replay", all[0].ID)
	if got, want := c.messages.String(), "is not in this program"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
}
