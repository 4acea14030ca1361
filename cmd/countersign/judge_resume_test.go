package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/openai/fakeendpoint"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// nothingLeft: a whole run leaves its output and nothing beside it.
func nothingLeft(t *testing.T, out string) {
	t.Helper()
	if left, _ := filepath.Glob(out + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// attemptsIn reads an attempts file: how many each evaluation has.
func attemptsIn(t *testing.T, path string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	lines := map[string]bool{}
	for line := range strings.Lines(readFile(t, path)) {
		if lines[line] {
			t.Errorf("an attempt is written twice: %.200s", line)
		}
		lines[line] = true
		var a attemptLine
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if a.Prompt == "" || a.Reply == "" || a.Trace == "" || a.Hashes.Trace == "" || a.PromptVersion == "" {
			t.Errorf("an attempt lacks something: %.200s", line)
		}
		counts[a.Evaluation]++
	}
	return counts
}

// TestJudgeKilled kills the program again and again, and lets it go on: the file
// has everything once and in order at the end, and no reply that came was asked
// for again.
func TestJudgeKilled(t *testing.T) {
	kills := sizeFrom(t, "COUNTERSIGN_TEST_KILLS", 5)
	const concurrency = 8
	lines, asked := mixedLines(t, 60*kills)
	model, server := fakeModel(t, fakeendpoint.Config{Latency: 15 * time.Millisecond, Faults: fakeendpoint.Faults{Malformed: 0.2, RateLimited: 0.05, RetryAfter: time.Millisecond}})
	env := endpointEnv(server)
	delete(env, "COUNTERSIGN_SESSION_KEY") // the key of the fences is the journal's
	folder := t.TempDir()
	out, attempts := filepath.Join(folder, "out.jsonl"), filepath.Join(folder, "attempts.jsonl")
	args := []string{"judge", "--concurrency", fmt.Sprint(concurrency), "--out", out, "--attempts", attempts, writeFile(t, "t.jsonl", lines)}
	dice := rand.New(rand.NewPCG(uint64(sizeFrom(t, "COUNTERSIGN_TEST_SEED", int(time.Now().UnixNano()%1_000_000)+1)), 1))
	for range kills {
		before := model.Stats().Answered
		p := startChild(t, env, nil, args...)
		until := before + 20 + dice.IntN(60)
		for deadline := time.Now().Add(time.Minute); model.Stats().Answered < until; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the program asks nothing any more")
			}
		}
		p.kill()
	}
	if info, err := os.Stat(out + repliesSuffix); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the journal: %v, %v; want a file that nobody else may read", info, err)
	}
	code, said := ended(t, env, args...)
	if code != exitOK {
		t.Fatalf("exit code %d, want %d\n%s", code, exitOK, said)
	}
	var found [][2]string
	total := 0
	counts := attemptsIn(t, attempts)
	for _, e := range evaluations(t, readFile(t, out)) {
		found = append(found, [2]string{e.TraceID, e.Judge})
		total += e.Attempts
		if counts[e.ID] != e.Attempts {
			t.Errorf("trace %s, judge %s: %d attempts are written, want %d", e.TraceID, e.Judge, counts[e.ID], e.Attempts)
		}
	}
	if diff := cmp.Diff(asked, found); diff != "" {
		t.Errorf("evaluations (-asked +found):\n%s", diff)
	}
	// What was on its way at a kill is lost, and nothing else.
	s := model.Stats()
	if most := total + kills*concurrency; s.Answered < total || s.Answered > most || s.AnsweredTwice > kills*concurrency {
		t.Errorf("%d calls were answered, %d conversations twice; want %d to %d for these attempts", s.Answered, s.AnsweredTwice, total, most)
	}
	t.Logf("%d kills: %d attempts, %d calls answered", kills, total, s.Answered)
	nothingLeft(t, out)
}

// TestJudgeStopped: told to stop, calls under way bring their reply first, and the
// next run asks for none of them again.
func TestJudgeStopped(t *testing.T) {
	lines, asked := mixedLines(t, 100)
	model, server := fakeModel(t, fakeendpoint.Config{Latency: 100 * time.Millisecond, Faults: fakeendpoint.Faults{Malformed: 0.2}})
	env := endpointEnv(server)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	args := []string{"judge", "--concurrency", "10", "--out", out, writeFile(t, "t.jsonl", lines)}
	p := startChild(t, env, nil, args...)
	for model.Stats().Answered < 25 {
		time.Sleep(time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // the exit code says how it ended
	if got, said := p.cmd.ProcessState.ExitCode(), <-p.said; got != exitInterrupted || !strings.Contains(said, "stop again to end at once") {
		t.Fatalf("exit code %d, want %d and that it waits\n%s", got, exitInterrupted, said)
	}
	if s := model.Stats(); s.Gone != 0 {
		t.Errorf("%d calls were left unanswered", s.Gone)
	}
	if code, said := ended(t, env, args...); code != exitOK {
		t.Fatalf("exit code %d, want %d\n%s", code, exitOK, said)
	}
	checkEnded(t, model, asked, evaluations(t, readFile(t, out)))
	nothingLeft(t, out)
}

// TestJudgeStoppedInOutage: a run that has read its whole file and waits for an
// endpoint that is down ends at once when it is told to, as one that is not
// whole, and the same command makes what is left.
func TestJudgeStoppedInOutage(t *testing.T) {
	lines, asked := mixedLines(t, 12)
	model, server := fakeModel(t, fakeendpoint.Config{})
	model.SetDown(true)
	env := endpointEnv(server)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	args := []string{"judge", "--concurrency", "16", "--out", out, writeFile(t, "t.jsonl", lines)}
	p := startChild(t, env, nil, args...)
	for model.Stats().ServerErrors < 17 { // one for each call, and one that asks again
		time.Sleep(time.Millisecond)
	}
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait() // the exit code says how it ended
	if got, said := p.cmd.ProcessState.ExitCode(), <-p.said; got != exitInterrupted || strings.Contains(said, "may take up to") {
		t.Fatalf("exit code %d, want %d, without a wait\n%s", got, exitInterrupted, said)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the file of an interrupted run has the name of a whole one")
	}
	model.SetDown(false)
	if code, said := ended(t, env, args...); code != exitOK {
		t.Fatalf("exit code %d, want %d\n%s", code, exitOK, said)
	}
	checkEnded(t, model, asked, evaluations(t, readFile(t, out)))
	nothingLeft(t, out)
}

// TestJudgeGoesOnInOrder: whatever stands in the part of earlier runs, and
// whatever the file now holds, the output is in the order of the file, and only
// what is not there is asked for.
func TestJudgeGoesOnInOrder(t *testing.T) {
	trace := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"output":"it is so with %s","reference":"so it is with %s","judges":["reference"]}`+"\n", id, id, id)
	}
	file := func(ids string) string {
		var b strings.Builder
		for _, id := range strings.Fields(ids) {
			b.WriteString(trace(id))
		}
		return b.String()
	}
	model, server := fakeModel(t, fakeendpoint.Config{})
	env := endpointEnv(server)
	path := writeFile(t, "all.jsonl", file("a b c d e f"))
	line := map[string]string{}
	for _, l := range strings.SplitAfter(strings.TrimSpace(mustRun(t, exitOK, env, "judge", path).out.String()), "\n") {
		var e judge.Evaluation
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatal(err)
		}
		line[e.TraceID] = strings.TrimSpace(l) + "\n"
		failed := strings.Replace(line[e.TraceID], `"reasons":[]`, `"reasons":[{"code":"judge_failed","detail":"away"}]`, 1)
		line["!"+e.TraceID] = failed
	}
	part := func(ids string) string {
		var b strings.Builder
		for _, id := range strings.Fields(ids) {
			b.WriteString(line[id])
		}
		return b.String()
	}
	for _, c := range []struct {
		what                string
		part, earlier, file string
		calls               int
		unused              string
	}{
		{"nothing", "", "", "a b c", 3, ""},
		{"a beginning", "a b", "", "a b c d", 2, ""},
		{"everything", "a b c", "", "a b c", 0, ""},
		{"more than is asked for", "a b c d", "", "a b", 0, "c d"},
		{"one failed in the middle", "a !b c d", "", "a b c d e", 2, ""},
		{"the first failed", "!a b c", "", "a b c", 1, ""},
		{"one is new in the middle", "a c d", "", "a b c d", 1, ""},
		{"one was taken out", "a b c d", "", "a c d", 0, "b"},
		{"another order", "a b c d", "", "d c b a", 0, ""},
		{"a run before was cut while it went on", "a b", "!b c d", "a b c d", 0, ""},
		{"and nothing was copied yet", "", "a !b c", "a b c d", 2, ""},
		{"of two the newer", "a !c", "c d", "a b c d", 1, ""},
		{"the rest was set aside and not yet cut off", "a !b c d", "!b c d", "a b c d", 1, ""},
		{"of both more than is asked for", "a b !e", "c !d", "a", 0, "c b"},
	} {
		t.Run(c.what, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.jsonl")
			for suffix, text := range map[string]string{partSuffix: part(c.part) + `{"evaluation_id":"cut o`, earlierSuffix: part(c.earlier)} {
				if suffix == earlierSuffix && text == "" {
					continue
				}
				if err := os.WriteFile(out+suffix, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before := model.Stats().Calls
			mustRun(t, exitOK, env, "judge", "--out", out, writeFile(t, "t.jsonl", file(c.file)))
			if got := model.Stats().Calls - before; got != c.calls {
				t.Errorf("%d calls, want %d", got, c.calls)
			}
			var ids []string
			for _, e := range evaluations(t, readFile(t, out)) {
				ids = append(ids, e.TraceID)
				if judgeFailed(e) {
					t.Errorf("trace %s is still failed", e.TraceID)
				}
			}
			if diff := cmp.Diff(strings.Fields(c.file), ids); diff != "" {
				t.Errorf("evaluations (-want +got):\n%s", diff)
			}
			var unused []string
			if _, err := os.Stat(out + unusedSuffix); err == nil {
				for _, e := range evaluations(t, readFile(t, out+unusedSuffix)) {
					unused = append(unused, e.TraceID)
				}
				if err := os.Remove(out + unusedSuffix); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(unused, " "); got != c.unused {
				t.Errorf("set aside: %q, want %q", got, c.unused)
			}
			nothingLeft(t, out)
		})
	}
}

// TestJudgeGoesOnAnew: a file that is no part of a run is not written over.
func TestJudgeGoesOnAnew(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.jsonl")
	if err := os.WriteFile(out+partSuffix, []byte("a letter to my aunt\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mustRun(t, exitFailed, nil, "judge", "--out", out, writeFile(t, "t.jsonl", lines(2)))
	if got, want := c.messages.String(), "a line is no evaluation"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	if got, want := readFile(t, out+partSuffix), "a letter to my aunt\n"; got != want {
		t.Errorf("the file is now %q", got)
	}
}

// TestAttempts: every attempt is written, and a file of another run is left alone.
func TestAttempts(t *testing.T) {
	model, server := fakeModel(t, fakeendpoint.Config{Faults: fakeendpoint.Faults{Malformed: 0.4}})
	env := endpointEnv(server)
	text, _ := mixedLines(t, 20)
	path := filepath.Join(t.TempDir(), "attempts.jsonl")
	c := mustRun(t, exitOK, env, "judge", "--attempts", path, writeFile(t, "t.jsonl", text))
	counts := attemptsIn(t, path)
	total := 0
	for _, e := range evaluations(t, c.out.String()) {
		if counts[e.ID] != e.Attempts {
			t.Errorf("trace %s, judge %s: %d attempts are written, want %d", e.TraceID, e.Judge, counts[e.ID], e.Attempts)
		}
		total += e.Attempts
	}
	if got := model.Stats().Answered; got != total {
		t.Errorf("%d calls were answered, %d attempts are written", got, total)
	}
	before := readFile(t, path)
	c = mustRun(t, exitUsage, env, "judge", "--attempts", path, writeFile(t, "t.jsonl", text))
	if got, want := c.messages.String(), "is there already, of another run"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	if readFile(t, path) != before {
		t.Error("the file of another run was changed")
	}
}

// TestJournal keeps replies over its end and its shortening, and drops those of
// evaluations that are written.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.replies")
	j, err := openJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply := func(text string) judge.KeptReply {
		return judge.KeptReply{Reply: judge.Reply{Text: text, StartedAt: time.Date(2026, 5, 1, 9, 30, 0, 1000, time.UTC), Latency: time.Second,
			Tokens: judge.Tokens{Prompt: 3, Completion: 4}, Parameters: json.RawMessage(`{"seed":1}`)}, Retries: 2}
	}
	for i := range 10 {
		if err := j.KeepReply(t.Context(), fmt.Sprint("e", i), "first", reply(fmt.Sprint("text ", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.KeepReply(t.Context(), "e9", "second", reply("again")); err != nil {
		t.Fatal(err)
	}
	if err := j.done([]string{"e0", "e1", "e2"}); err != nil {
		t.Fatal(err)
	}
	before := j.size
	j.mu.Lock()
	err = j.shrink()
	j.mu.Unlock()
	if err != nil || j.size >= before {
		t.Fatalf("shortened from %d to %d bytes, error %v", before, j.size, err)
	}
	check := func(j *journal) {
		t.Helper()
		for _, c := range []struct {
			evaluation, call, text string
			ok                     bool
		}{{"e0", "first", "", false}, {"e3", "first", "text 3", true}, {"e9", "first", "text 9", true}, {"e9", "second", "again", true}, {"e9", "third", "", false}} {
			got, ok, err := j.KeptReply(t.Context(), c.evaluation, c.call)
			if err != nil || ok != c.ok {
				t.Fatalf("%s %s: %v, %v", c.evaluation, c.call, ok, err)
			}
			if !ok {
				continue
			}
			if diff := cmp.Diff(reply(c.text), got); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", c.evaluation, c.call, diff)
			}
		}
	}
	check(j)
	if err := j.KeepReply(t.Context(), "e10", "first", reply("after")); err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	// A last line that a kill cut off is no reply.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"evaluation":"e11","call":"fi`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := openJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(again)
	if !bytes.Equal(j.key, again.key) || len(again.key) == 0 {
		t.Error("the key of the fences is another one now")
	}
	if _, ok, err := again.KeptReply(t.Context(), "e11", "first"); ok || err != nil {
		t.Errorf("a reply that was cut off: %v, %v", ok, err)
	}
	if err := again.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the journal is still there")
	}
}

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		tally judgeTally
		rate  float64
		size  int64
		want  string
	}{
		{judgeTally{made: 1204, plannedSo: 5000, all: true, costUSD: 0.844, failed: 3}, 310.2, -1, "1,204 of 5,000 · 310/s · 12 s left · $0.84 · 3 failed"},
		{judgeTally{made: 100, plannedSo: 200, bytes: 1000}, 2.5, 10_000, "100 of about 2,000 · 2.5/s · 12 min 40 s left"},
		{judgeTally{made: 100, plannedSo: 200, bytes: 1000}, 20, -1, "100 · 20/s"},
		{judgeTally{}, 0, 100, "0"},
		{judgeTally{kept: 40, plannedSo: 50, all: true}, 0, 100, "40 of 50"},
		{judgeTally{made: 10, kept: 40, plannedSo: 50, all: true}, 100, 100, "50 of 50 · 100/s"},
		{judgeTally{plannedSo: 5, all: true, outage: outageOf(judge.TransportError{Message: "refused"})}, 0, 100, "0 of 5 · host does not answer, calls wait and are tried again 12:00:03"},
		{judgeTally{plannedSo: 5, all: true, outage: outageOf(judge.TransportError{Status: 429, RetryAfter: 20 * time.Second})}, 0, 100, "0 of 5 · host asks to wait (429) for 20 s, calls wait and are tried again 12:00:03"},
		{judgeTally{plannedSo: 5, all: true, outage: outageOf(judge.TransportError{Status: 429})}, 0, 100, "0 of 5 · host asks to wait (429), calls wait and are tried again 12:00:03"},
		{judgeTally{plannedSo: 5, all: true, outage: outageOf(judge.TransportError{Status: 503})}, 0, 100, "0 of 5 · host answers 503, calls wait and are tried again 12:00:03"},
		{judgeTally{made: 1, plannedSo: 10_000_000, all: true}, 100, 100, "1 of 10,000,000 · 100/s · 27 h 46 min left"},
	} {
		if got := c.tally.text(c.rate, c.size); got != c.want {
			t.Errorf("text %q, want %q", got, c.want)
		}
	}
}

// outageOf is that of an endpoint that fails so.
func outageOf(err judge.TransportError) harness.Outage {
	return harness.Outage{Endpoint: "host", Down: true, Next: time.Date(2026, 5, 1, 12, 0, 3, 0, time.UTC), Err: &err}
}

// writePart leaves what an earlier run has written.
func writePart(out, text string) error { return os.WriteFile(out+partSuffix, []byte(text), 0o600) }
