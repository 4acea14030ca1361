package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"

	"github.com/countersign/countersign/judge"
)

// recentAttempts is how much of an attempts file is looked at for what a run that
// was killed wrote of evaluations that it did not finish writing; more than it
// can have held back at once.
const recentAttempts = 32 << 20

// attemptsFile is where the attempts of all evaluations go, one a line. It only
// grows: what was tried stays, also when the evaluation was made again.
type attemptsFile struct {
	file *os.File
	w    *bufio.Writer
	// recent are the last lines of an earlier run. An evaluation that is made again
	// from replies that were kept gives the same lines again.
	recent map[uint64]bool
}

// attemptLine is an attempt with what it belongs to.
type attemptLine struct {
	Evaluation    string       `json:"evaluation_id"`
	Trace         string       `json:"trace_id"`
	Judge         string       `json:"judge"`
	PromptVersion string       `json:"prompt_version"`
	Hashes        judge.Hashes `json:"hashes"`
	judge.Attempt
}

// attemptLines are the attempts of an evaluation.
func attemptLines(e judge.Evaluation) ([]byte, error) {
	var all []byte
	for _, a := range e.Calls {
		line, err := jsonLine(attemptLine{e.ID, e.TraceID, e.Judge, e.PromptVersion, e.Hashes, a})
		if err != nil {
			return nil, err
		}
		all = append(all, line...)
	}
	return all, nil
}

// openAttempts opens an attempts file; one that is there already must be of the
// run that goes on.
func openAttempts(path string, goesOn bool) (*attemptsFile, error) {
	mode := os.O_RDWR | os.O_CREATE
	if !goesOn {
		mode |= os.O_EXCL
	}
	f, err := os.OpenFile(path, mode, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, usagef("--attempts %s is there already, of another run: name another file, or remove it", path)
	}
	if err != nil {
		return nil, usageError{err}
	}
	a := &attemptsFile{file: f, w: bufio.NewWriterSize(f, 64<<10), recent: map[uint64]bool{}}
	if err := a.readRecent(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

func (a *attemptsFile) readRecent() error {
	size, err := cutUnended(a.file)
	if err != nil {
		return err
	}
	from := max(0, size-recentAttempts)
	if _, err := a.file.Seek(from, 0); err != nil {
		return err
	}
	return eachLine(a.file, func(line []byte) error { // the first one may be half a line, which is none that is written again
		a.recent[hashID(string(line))] = true
		return nil
	})
}

// write adds the attempts of an evaluation that are not there yet.
func (a *attemptsFile) write(lines []byte) error {
	for len(lines) > 0 {
		end := bytes.IndexByte(lines, '\n') + 1
		line := lines[:end]
		lines = lines[end:]
		if len(a.recent) > 0 && a.recent[hashID(string(line))] {
			continue
		}
		if _, err := a.w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (a *attemptsFile) end() error {
	return errors.Join(a.w.Flush(), a.file.Sync(), a.file.Close())
}
