package main

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
)

// deadProcess is the name of a process that has ended.
func deadProcess(t *testing.T) string {
	t.Helper()
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	name := processName(sleeper.Process.Pid)
	if processGone(name) {
		t.Errorf("process %s runs, and counts as gone", name)
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sleeper.Wait() // killed
	return name
}

// TestDeadWorkersWorkIsTakenOver: what a killed server of this machine held is
// judged by the next one at once, not when its lease runs out; everybody else
// keeps theirs.
func TestDeadWorkersWorkIsTakenOver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells processes apart for certain")
	}
	home := newHome(t)
	mustRun(t, exitOK, home.env, "import", writeFile(t, "t.jsonl", lines(7)))
	dead, machine := deadProcess(t), thisMachine()
	host, here, _ := strings.Cut(workerName(), "/")
	if want := machine + "/" + processName(os.Getpid()); here != want {
		t.Fatalf("this worker is %s, want %s", here, want)
	}
	_, start, _ := strings.Cut(processName(os.Getpid()), "-")
	later, err := strconv.Atoi(start)
	if err != nil {
		t.Fatal(err)
	}
	db := home.open(t)
	for _, worker := range []string{
		host + "/" + machine + "/" + dead,
		host + "/" + machine + "/" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(later-1), // our number, before us
		workerName(),
		host + "/another-boot-4026531836/" + dead, // the same host name elsewhere
		host + "/" + dead,
		host + "/1999999999", // as earlier versions named themselves
		host + "/" + machine + "/nonsense",
	} {
		work, err := db.ClaimWork(t.Context(), judge.Claim{Worker: worker, N: 1, Lease: time.Minute})
		if err != nil || len(work) != 1 {
			t.Fatalf("%s claimed %d: %v", worker, len(work), err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := mustRun(t, exitOK, home.env, "import", "--judge", writeFile(t, "none.jsonl", ""))
	if got, want := strings.Count(c.messages.String(), "1 evaluation of a server that ended without finishing: queued again"), 2; got != want {
		t.Errorf("%d were taken over, want %d:\n%s", got, want, c.messages)
	}
	if got := c.out.String(); !strings.Contains(got, "2 evaluations judged") {
		t.Errorf("output %q, want two judged", got)
	}
}
