package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestWorkflowOfTheManualWorks: the gate of docs/ci.md's workflow is run as it stands
// there, on a candidate that it passes and on one that it does not.
func TestWorkflowOfTheManualWorks(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	var workflow struct {
		Jobs map[string]struct{ Steps []struct{ Name, Run string } }
	}
	if err := yaml.Unmarshal([]byte(block), &workflow); err != nil {
		t.Fatal(err)
	}
	step := ""
	for _, s := range workflow.Jobs["gate"].Steps {
		if s.Name == "Gate" {
			step = s.Run
		}
	}
	if step == "" {
		t.Fatal("docs/ci.md has no step called Gate")
	}
	// 120 traces, each with a judgment and a label; the judge errs in four.
	candidate := func(bad int) string {
		var b strings.Builder
		for i := range 120 {
			is, people := "good", "good"
			if i < bad {
				is, people = "bad", "bad"
			}
			if i%30 == 0 {
				people = map[string]string{"good": "bad", "bad": "good"}[is]
			}
			fmt.Fprintf(&b, `{"id":"t%d","output":"o%d","judges":["mood"],"judgments":[{"judge":"mood","model":"m","output":{"mood":%q}}],"labels":[{"judge":"mood","label":%q}]}`+"\n", i, i, is, people)
		}
		return b.String()
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for bad, want := range map[int]int{11: 1, 30: 1, 10: 0} {
		dir := t.TempDir()
		for name, content := range map[string]string{"candidate.jsonl": candidate(bad), "before.jsonl": candidate(10), "judges/mood.yaml": moodYAML} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		// The test's own program is countersign under that name (TestMain).
		if err := os.Symlink(program, filepath.Join(dir, "countersign")); err != nil {
			t.Fatal(err)
		}
		script := exec.CommandContext(t.Context(), "sh", "-e", "-c", "countersign judge before.jsonl --judges judges --out baseline.jsonl\n"+step)
		script.Dir = dir
		script.Env = []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "COUNTERSIGN_DATA=" + dir + "/data"}
		out, _ := script.CombinedOutput()
		if got := script.ProcessState.ExitCode(); got != want {
			t.Errorf("%d bad of 120: exit code %d, want %d:\n%s", bad, got, want, out)
		}
		for _, report := range []string{"gate.xml", "gate.json", "evaluations.jsonl"} {
			if info, err := os.Stat(filepath.Join(dir, report)); err != nil || info.Size() == 0 {
				t.Errorf("%d bad of 120: %s is missing or empty", bad, report)
			}
		}
	}
}

const moodYAML = `name: mood
inputs: {output: required}
prompt: |
  [CANDIDATE_OUTPUT]
  Is it glad?
schema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}
report: {label: /mood}
labels:
  - {name: good, verdict: pass}
  - {name: bad, verdict: fail}
`
