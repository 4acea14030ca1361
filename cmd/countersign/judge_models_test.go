package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai/fakeendpoint"
)

// TestJudgeByTwoModels: each model judges each trace, side by side in the output;
// where their verdicts differ, both wait for a person, whether or not one of them
// comes from an earlier run.
func TestJudgeByTwoModels(t *testing.T) {
	text, _ := mixedLines(t, 40)
	_, server := fakeModel(t, fakeendpoint.Config{Opinions: fakeendpoint.Opinions{Bad: 0.5, Dissent: 0.6}})
	env := endpointEnv(server)
	delete(env, "COUNTERSIGN_MODEL")
	file := writeFile(t, "t.jsonl", text)
	check := func(output string) {
		t.Helper()
		all := evaluations(t, output)
		if len(all) != 160 {
			t.Fatalf("%d evaluations, want 160", len(all))
		}
		differ := 0
		for pair := range slices.Chunk(all, 2) {
			a, b := pair[0], pair[1]
			if a.TraceID != b.TraceID || a.Judge != b.Judge || a.Model != "one" || b.Model != "two" {
				t.Fatalf("%s %s %s stands before %s %s %s", a.TraceID, a.Judge, a.Model, b.TraceID, b.Judge, b.Model)
			}
			for _, e := range pair {
				sent := slices.ContainsFunc(e.Reasons, func(r judge.Reason) bool { return r.Code == judge.ReasonJudgeDisagreement })
				if want := a.Verdict != b.Verdict; sent != want || sent && (e.Status != judge.InReview || e.Result != nil) {
					t.Errorf("%s %s: verdicts %s and %s, %s, reasons %v", e.TraceID, e.Judge, a.Verdict, b.Verdict, e.Status, e.Reasons)
				}
			}
			if a.Verdict != b.Verdict {
				differ++
			}
		}
		if differ < 10 || differ > 70 {
			t.Errorf("the models differ on %d of 80, want some", differ)
		}
	}
	whole := mustRun(t, exitOK, env, "judge", "--model", "one", "--model", "two", file)
	check(whole.out.String())

	// An earlier run with one model alone goes on with two.
	out := filepath.Join(t.TempDir(), "out.jsonl")
	one := mustRun(t, exitOK, env, "judge", "--model", "one", file)
	if err := writePart(out, one.out.String()); err != nil {
		t.Fatal(err)
	}
	c := mustRun(t, exitOK, env, "judge", "--model", "one", "--model", "two", "--out", out, file)
	if got, want := c.messages.String(), "160 evaluations: "; !strings.Contains(got, want) || !strings.Contains(got, "80 of them there from before") {
		t.Errorf("messages %q, want %q and what was kept in them", got, want)
	}
	check(readFile(t, out))
}

func TestJudgeModelsAreChecked(t *testing.T) {
	file := writeFile(t, "t.jsonl", lines(1))
	for want, args := range map[string][]string{
		`--model "m" is given twice`:            {"--model", "m", "--model", "m"},
		"--samples is 0":                        {"--model", "m", "--samples", "0"},
		"--samples is 101: give a number from ": {"--model", "m", "--samples", "101"},
	} {
		c := mustRun(t, exitUsage, map[string]string{"OPENAI_API_KEY": "sk-none"}, append(append([]string{"judge"}, args...), file)...)
		if got := c.messages.String(); !strings.Contains(got, want) {
			t.Errorf("%v: messages %q, want %q in them", args, got, want)
		}
	}
}
