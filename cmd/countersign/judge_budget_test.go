package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge/openai/fakeendpoint"
)

// TestJudgeBudget: a run stops before its budget is passed, keeps what it paid
// for, and goes on with a higher one, from which what was paid before is taken.
func TestJudgeBudget(t *testing.T) {
	text, asked := mixedLines(t, 40)
	model, server := fakeModel(t, fakeendpoint.Config{Faults: fakeendpoint.Faults{Malformed: 0.2}})
	env := endpointEnv(server)
	env["COUNTERSIGN_CONFIG"] = writeFile(t, "countersign.yaml", "prices: {grader: {prompt_usd: 100, completion_usd: 100}}\n")
	out := filepath.Join(t.TempDir(), "out.jsonl")
	run := func(want int, budget float64) *console {
		return mustRun(t, want, env, "judge", "--concurrency", "6", "--budget", fmt.Sprint(budget), "--out", out, writeFile(t, "t.jsonl", text))
	}
	const first, second = 12, 16 // the worst case of one call is about $0.7
	c := run(exitFailed, first)
	if got, want := c.messages.String(), "the budget of $12.00 is used up"; !strings.Contains(got, want) || !strings.Contains(got, "a higher --budget goes on") {
		t.Errorf("messages %q, want %q and what to do in them", got, want)
	}
	for i, budget := range []float64{first, second} {
		if i > 0 {
			run(exitFailed, budget)
		}
		j, err := openJournal(out+repliesSuffix, fenceKey(&c.state))
		if err != nil {
			t.Fatal(err)
		}
		paid := float64(j.paid()) / 1e9
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		if paid > budget || paid < budget-6 {
			t.Errorf("$%.2f is paid under a budget of $%.2f", paid, budget)
		}
	}
	run(exitOK, 1000)
	checkEnded(t, model, asked, evaluations(t, readFile(t, out)))
	nothingLeft(t, out)
}

func TestJudgeBudgetIsChecked(t *testing.T) {
	file := writeFile(t, "t.jsonl", lines(1))
	endpoint := map[string]string{"OPENAI_API_KEY": "sk-none", "COUNTERSIGN_MODEL": "m"}
	for want, env := range map[string]map[string]string{
		"needs to know what model m costs": endpoint,
		"the engine rules costs nothing":   {},
	} {
		for _, none := range []string{"0", "-1", "NaN", "Inf"} {
			c := mustRun(t, exitUsage, maps.Clone(env), "judge", "--budget="+none, file)
			if got := c.messages.String(); !strings.Contains(got, "above 0") {
				t.Errorf("--budget=%s: %s", none, got)
			}
		}
		c := mustRun(t, exitUsage, maps.Clone(env), "judge", "--budget", "5", file)
		if got := c.messages.String(); !strings.Contains(got, want) {
			t.Errorf("messages %q, want %q in them", got, want)
		}
	}
	c := mustRun(t, exitUsage, endpoint, "judge", "--budget=-1", file)
	if got, want := c.messages.String(), "give an amount in dollars above 0"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
}

// TestJudgeOutage: while the endpoint is down calls wait, and nothing is failed
// for it.
func TestJudgeOutage(t *testing.T) {
	text, asked := mixedLines(t, 60)
	model, server := fakeModel(t, fakeendpoint.Config{Latency: 5 * time.Millisecond})
	out := filepath.Join(t.TempDir(), "out.jsonl")
	p := startChild(t, endpointEnv(server), nil, "judge", "--concurrency", "16", "--out", out, writeFile(t, "t.jsonl", text))
	for model.Stats().Answered < 30 {
		time.Sleep(time.Millisecond)
	}
	model.SetDown(true)
	for model.Stats().ServerErrors < 10 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(2 * time.Second)
	tried := model.Stats().ServerErrors
	model.SetDown(false)
	if err := p.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, <-p.said)
	}
	checkEnded(t, model, asked, evaluations(t, readFile(t, out)))
	if said := <-p.said; !strings.Contains(said, "answers again") {
		t.Errorf("the outage is not told:\n%s", said)
	}
	if tried > 60 {
		t.Errorf("%d calls were made to an endpoint that is down", tried)
	}
}
