package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign/countersign/judge"
)

// evaluationFile is where evaluations go, one object a line. With a name, they
// go to NAME.part first; it becomes NAME when the run is whole, and a later run
// goes on from it when it is not.
type evaluationFile struct {
	w     *bufio.Writer
	path  string // empty: standard output
	part  *os.File
	state *state
	// done are the evaluations of an earlier run that are in the part file;
	// wanted are those that this run asks for.
	done, wanted map[string]bool
}

func (s *state) openEvaluations(path string) (*evaluationFile, error) {
	f := &evaluationFile{state: s, path: path, done: map[string]bool{}, wanted: map[string]bool{}}
	if path == "" {
		f.w = bufio.NewWriter(s.stdout)
		return f, nil
	}
	part, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, usageError{err}
	}
	f.part, f.w = part, bufio.NewWriter(part)
	if err := f.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s.part: %w; remove it to start anew", path, err), part.Close())
	}
	if len(f.done) > 0 {
		s.say("%s.part has %s from an earlier run: going on from there", path, plural(len(f.done), "evaluation", "evaluations"))
	}
	return f, nil
}

// resume notes what the part file has, and cuts off a last line that was not
// finished. Evaluations that failed are made again.
func (f *evaluationFile) resume() error {
	var end int64
	err := eachLine(f.part, func(line []byte) error {
		var e judge.Evaluation
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		end += int64(len(line))
		if !judgeFailed(e) {
			f.done[e.ID] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := f.part.Truncate(end); err != nil {
		return err
	}
	_, err = f.part.Seek(end, io.SeekStart)
	return err
}

// eachLine calls fn for every line that is ended by a line break, which is part
// of it.
func eachLine(src io.Reader, fn func([]byte) error) error {
	r := bufio.NewReader(src)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(line)
		}
		if err != nil {
			return err
		}
	}
}

// has reports whether an earlier run made this evaluation.
func (f *evaluationFile) has(id string) bool {
	if f.path == "" {
		return false
	}
	f.wanted[id] = true
	return f.done[id]
}

// write adds one evaluation; the attempts stay out of the list form.
func (f *evaluationFile) write(e judge.Evaluation) error {
	e.Calls = nil
	line, err := jsonLine(e)
	if err != nil {
		return err
	}
	if _, err := f.w.Write(line); err != nil {
		return err
	}
	return f.w.Flush() // a model call was paid for each: none may be lost with the process
}

// end closes the file. After a whole run (err is nil) it gets its name; after
// an interrupted one it stays where the next run finds it.
func (f *evaluationFile) end(err error) error {
	err = errors.Join(err, f.w.Flush())
	if f.path == "" {
		return err
	}
	if err != nil {
		f.state.say("what is made is in %s.part", f.path)
		return errors.Join(err, f.part.Close())
	}
	if len(f.done) == 0 {
		if err := errors.Join(f.part.Sync(), f.part.Close()); err != nil {
			return err
		}
		return os.Rename(f.path+".part", f.path)
	}
	return f.settle()
}

// settle makes the file of a part that several runs wrote: only what this run
// asked for, and the newer of two evaluations.
func (f *evaluationFile) settle() (err error) {
	last := map[string]int{}
	number := 0
	scan := func(fn func(id string, line []byte) error) error {
		number = 0
		if _, err := f.part.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return eachLine(f.part, func(line []byte) error {
			var e struct {
				ID string `json:"evaluation_id"`
			}
			if err := json.Unmarshal(line, &e); err != nil {
				return err
			}
			number++
			return fn(e.ID, line)
		})
	}
	if err := scan(func(id string, _ []byte) error { last[id] = number; return nil }); err != nil {
		return err
	}
	whole, err := os.Create(f.path + ".whole")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(whole)
	err = scan(func(id string, line []byte) error {
		if !f.wanted[id] || last[id] != number {
			return nil
		}
		_, err := w.Write(line)
		return err
	})
	err = errors.Join(err, w.Flush(), whole.Sync(), whole.Close(), f.part.Close())
	if err != nil {
		return errors.Join(err, os.Remove(whole.Name()))
	}
	if err := os.Rename(whole.Name(), f.path); err != nil {
		return err
	}
	return os.Remove(f.path + ".part")
}
