package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// A version is shown as it was, and what it judged is decided on its own scale
// after the labels of the judge were renamed.
func TestVersionsKeepTheirScale(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	old := d.put(judged{id: "old"})["old"]
	renamed := deskJudge
	renamed.PromptVersion, renamed.Prompt, renamed.Schema = "v2-new-prompt", "Compare [CANDIDATE_OUTPUT].", json.RawMessage(`{"type":"object"}`)
	renamed.Blocks = map[string]string{"EXAMPLES": "one"}
	renamed.Checks = []judge.Check{{Name: "class.exact", Kind: judge.Hard}}
	renamed.Inputs = []judge.Input{{Field: "output", Required: true}}
	renamed.Labels = []judge.Label{{Name: "alike", Verdict: judge.Pass}, {Name: "unlike", Verdict: judge.Fail}}
	if err := d.SaveJudges(d.ctx, d.lea, "default", []judge.Judge{renamed}); err != nil {
		t.Fatal(err)
	}
	v, err := d.JudgeVersion(d.ctx, d.ann, "default", "equivalence", "v2-new-p")
	if err != nil {
		t.Fatal(err)
	}
	want := store.JudgeSnapshot{Prompt: renamed.Prompt, Schema: renamed.Schema, Blocks: renamed.Blocks,
		Inputs: []store.SnapshotInput{{"output", true}}, Checks: []store.SnapshotCheck{{"class.exact", judge.Hard}}}
	if diff := cmp.Diff(want, v.Snapshot); diff != "" || !v.Current || v.Evaluations != 0 || !cmp.Equal(v.Labels, renamed.Labels) {
		t.Errorf("version %+v, snapshot %s", v, diff)
	}
	versions, err := d.JudgeVersions(d.ctx, d.ann, "default", "equivalence")
	if err != nil || len(versions) != 2 || versions[1].PromptVersion != "v1" || versions[1].Current || versions[1].Evaluations != 1 ||
		!cmp.Equal(versions[1].Labels, deskJudge.Labels) {
		t.Errorf("versions %+v, error %v", versions, err)
	}
	r := d.claim(d.ann, old)
	if diff := cmp.Diff(deskJudge.Labels, r.Labels); diff != "" {
		t.Errorf("the scale of what v1 judged: %s", diff)
	}
	if _, err := d.Decide(d.ctx, d.ann, old, store.DecisionInput{Action: store.Override, Label: "alike", ReasonCode: "other", Comment: "c"}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a label of v2 on what v1 judged: %v", err)
	}
	d.decide(d.ann, old, store.DecisionInput{Action: store.Override, Label: "same-thing", ReasonCode: "other", Comment: "c"})
	for _, missing := range []string{"v3", "v", ""} {
		if _, err := d.JudgeVersion(d.ctx, d.ann, "default", "equivalence", missing); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("version %q: %v", missing, err)
		}
	}
	if _, err := d.JudgeVersions(d.ctx, d.ann, "default", "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such judge: %v", err)
	}
}

// An older database has the labels of the current version only: those of older
// own versions come from their definitions, and a version that stays without is
// decided on the present scale.
func TestLabelsOfAnOlderDatabase(t *testing.T) {
	d := openDesk(t)
	yaml, err := os.ReadFile("../docs/own-judge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	own, err := judge.ParseDefinition("own-judge.yaml", yaml)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		`INSERT INTO judges (id, project_id, name, prompt_version, builtin, definition, current, created_at) SELECT 'j1', id, 'own', 'w1', FALSE, '` + strings.ReplaceAll(string(yaml), "'", "''") + `', FALSE, created_at FROM projects`,
		`INSERT INTO judges (id, project_id, name, prompt_version, builtin, definition, current, created_at) SELECT 'j2', id, 'own', 'w2', FALSE, 'not a definition', FALSE, created_at FROM projects`,
		`INSERT INTO settings (name, value) VALUES ('version_labels_missing', 'yes')`,
	} {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	again, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	w1, err := again.JudgeVersion(d.ctx, d.ann, "default", "own", "w1")
	if err != nil || len(own.Labels) == 0 || !cmp.Equal(w1.Labels, own.Labels) || w1.Snapshot.Prompt != "" {
		t.Errorf("w1 %+v, error %v", w1, err)
	}
	if d.number(`SELECT count(*) FROM settings WHERE name = 'version_labels_missing'`) != 0 {
		t.Error("it would be done again at each start")
	}
	// An evaluation of a version without labels is decided on the current scale.
	if _, err := d.ImportTraces(d.ctx, d.lea, "default", []store.ImportItem{{Trace: judge.Trace{ID: "t", Output: "o"},
		Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v0", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}}}}); err != nil {
		t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
	if err != nil || len(work) != 1 {
		t.Fatal(len(work), err)
	}
	if err := d.FinishWork(d.ctx, []judge.Finished{{Work: work[0], Evaluation: failing()}}); err != nil {
		t.Fatal(err)
	}
	if r := d.claim(d.ann, d.text(`SELECT id FROM reviews`)); !cmp.Equal(r.Labels, deskJudge.Labels) {
		t.Errorf("labels %v, want those of the current version", r.Labels)
	}
}
