package main

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// thisMachine names the running of this machine (its boot), and the space in
// which its process numbers hold: two containers of one machine, which may have
// one host name, count their processes each for itself. Empty: it can't be told.
func thisMachine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "-" + strings.Trim(space, "pid:[]")
}

// processName is a process's number with the time it started at, since a number
// is given again. Empty: there is none, or it can't be told.
func processName(pid int) string {
	name, err := startedProcess(pid)
	if err != nil {
		return ""
	}
	return name
}

// processGone says for certain that there is no such process any more. A dead
// one whose parent has not noticed yet (a zombie) still counts as there.
func processGone(name string) bool {
	number, _, found := strings.Cut(name, "-")
	pid, err := strconv.Atoi(number)
	if !found || err != nil || pid <= 0 {
		return false
	}
	now, err := startedProcess(pid)
	if err != nil {
		// /proc itself must be there, or nothing is known.
		_, self := startedProcess(os.Getpid())
		return errors.Is(err, fs.ErrNotExist) && self == nil
	}
	return now != name
}

// startedProcess reads /proc/PID/stat (see proc(5)): the name of the program,
// which may hold anything, stands in parentheses; the start is field 22, in
// ticks since the boot.
func startedProcess(pid int) (string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	after := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const start = 22 - 3 // the first field after the name is the third
	if len(after) <= start {
		return "", errors.New("/proc/" + strconv.Itoa(pid) + "/stat is not of its form")
	}
	return strconv.Itoa(pid) + "-" + after[start], nil
}
