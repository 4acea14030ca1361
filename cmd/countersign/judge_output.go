package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign/countersign/judge"
)

// What stands beside an output file while its run is not whole.
const (
	partSuffix    = ".part"    // evaluations in the order of the traces
	earlierSuffix = ".earlier" // those of earlier runs that the part could not keep in place
	repliesSuffix = ".replies" // replies of models to evaluations that are not written yet
	unusedSuffix  = ".unused"  // after a whole run: evaluations of earlier runs that it was not asked for
)

// evaluationFile is where evaluations go, one object a line, in the order of the
// traces. With a name, they go to NAME.part first; it becomes NAME when the run
// is whole, and a later run goes on from it when it is not.
//
// A later run walks along the part while it reads the traces. What it asks for
// and what is there are in one order, so nothing of it has to be kept in memory.
// Where they part for the first time (the part ends, an evaluation failed, or the
// traces are others), the rest of the part goes to NAME.earlier, and what is
// still wanted of it is copied from there.
type evaluationFile struct {
	w        *bufio.Writer
	path     string // empty: what goes to a stream
	part     *os.File
	inPlace  *partCursor   // nil: the part ends where the next evaluation is written
	earlier  *earlierLines // nil: there are none
	replies  *journal      // may be nil
	attempts *attemptsFile // may be nil
	pending  []string      // evaluations that are written and not flushed
	state    *state
}

// openEvaluations opens an output; without a path it is plain. attempts is a file for all attempts; empty:
// none.
func (s *state) openEvaluations(path string, plain io.Writer, attempts string, replies *journal) (_ *evaluationFile, err error) {
	f := &evaluationFile{state: s, path: path, replies: replies}
	goesOn := false
	if path == "" {
		f.w = bufio.NewWriter(plain)
	} else if goesOn, err = f.openPart(); err != nil {
		return nil, err
	}
	if attempts != "" {
		if f.attempts, err = openAttempts(attempts, goesOn); err != nil {
			return nil, errors.Join(err, f.closePart())
		}
	}
	return f, nil
}

// openPart opens the part, and reports whether an earlier run left it.
func (f *evaluationFile) openPart() (goesOn bool, err error) {
	_, err = os.Stat(f.path + partSuffix)
	goesOn = err == nil
	if f.part, err = os.OpenFile(f.path+partSuffix, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return false, usageError{err}
	}
	f.w = bufio.NewWriterSize(f.part, 64<<10)
	size, err := cutUnended(f.part)
	if err == nil && size > 0 {
		f.inPlace, err = openCursor(f.part.Name())
	}
	if err == nil && size == 0 {
		f.earlier, err = openEarlier(f.path + earlierSuffix)
	}
	if err != nil {
		return false, errors.Join(fmt.Errorf("read %s: %w; remove it to start anew", f.part.Name(), err), f.closePart())
	}
	if size > 0 || f.earlier != nil {
		f.state.say("%s is of an earlier run: going on from there", f.part.Name())
	}
	return goesOn, nil
}

// before says what earlier runs have of evaluations that belong together: all of
// them at their place in the part, or copies of some; lines are nil where there is none.
// Evaluations that failed are made again.
func (f *evaluationFile) before(t *judge.Trace, planned []judge.Planned) (inPlace bool, lines [][]byte, err error) {
	lines = make([][]byte, len(planned))
	if f.inPlace == nil && f.earlier == nil {
		return false, lines, nil
	}
	hashes := judge.TraceHashes(*t)
	ids := make([]string, len(planned))
	for i, p := range planned {
		ids[i] = judge.EvaluationID(t, hashes, p)
	}
	if f.inPlace != nil {
		passed, err := f.inPlace.pass(ids)
		if passed != nil || err != nil {
			return passed != nil, passed, err
		}
		if err := f.leave(); err != nil {
			return false, nil, err
		}
	}
	if f.earlier == nil {
		return false, lines, nil
	}
	for i, id := range ids {
		if lines[i], err = f.earlier.find(id); err != nil {
			return false, nil, err
		}
	}
	return false, lines, nil
}

// leave ends the walk along the part: what follows in it is moved out of the way
// of what is written now.
func (f *evaluationFile) leave() error {
	at := f.inPlace.at
	if err := f.inPlace.file.Close(); err != nil {
		return err
	}
	f.inPlace = nil
	earlier, err := moveRest(f.part, at, f.path+earlierSuffix)
	if err != nil {
		return fmt.Errorf("set aside the rest of %s: %w", f.part.Name(), err)
	}
	f.earlier = earlier
	if err := f.part.Truncate(at); err != nil {
		return err
	}
	_, err = f.part.Seek(at, io.SeekStart)
	return err
}

// written is an evaluation and its attempts as lines.
type written struct{ evaluation, attempts []byte }

// linesOf encodes an evaluation; the attempts stay out of the list form.
func (f *evaluationFile) linesOf(e judge.Evaluation) (w written, err error) {
	if f.attempts != nil {
		if w.attempts, err = attemptLines(e); err != nil {
			return w, err
		}
	}
	e.Calls = nil
	w.evaluation, err = jsonLine(e)
	return w, err
}

// write adds one evaluation.
func (f *evaluationFile) write(id string, lines written) error {
	if f.attempts != nil {
		if err := f.attempts.write(lines.attempts); err != nil {
			return err
		}
	}
	f.pending = append(f.pending, id)
	return f.keep(lines.evaluation)
}

// keep adds a line as it is.
func (f *evaluationFile) keep(line []byte) error {
	if len(line) > f.w.Available() {
		// The buffer would write by itself, and an evaluation before its attempts.
		if err := f.flush(); err != nil {
			return err
		}
	}
	_, err := f.w.Write(line)
	return err
}

// flush writes out what is buffered: first the attempts, so that no evaluation
// is without them, and last it drops the replies that are not needed any more.
func (f *evaluationFile) flush() error {
	if f.attempts != nil {
		if err := f.attempts.w.Flush(); err != nil {
			return err
		}
	}
	if err := f.w.Flush(); err != nil {
		return err
	}
	err := f.replies.done(f.pending)
	f.pending = f.pending[:0]
	return err
}

// end closes the file. After a whole run (err is nil) it gets its name; after
// an interrupted one it stays where the next run finds it.
func (f *evaluationFile) end(err error) error {
	err = errors.Join(err, f.flush())
	if f.attempts != nil {
		err = errors.Join(err, f.attempts.end())
	}
	if f.path == "" {
		return err
	}
	if err != nil {
		err = errors.Join(err, f.closePart(), f.replies.close())
		if kept, keptErr := keepsAnything(f.path); kept || keptErr != nil {
			f.state.say("what is made is beside %s, in files that begin with its name", f.path)
		}
		return err
	}
	if f.inPlace != nil { // what follows was not asked for
		err = f.leave()
	}
	if err == nil {
		err = f.setAside()
	}
	if err = errors.Join(err, f.part.Sync(), f.closePart()); err != nil {
		return errors.Join(err, f.replies.close())
	}
	if err := os.Rename(f.path+partSuffix, f.path); err != nil {
		return errors.Join(err, f.replies.close())
	}
	return errors.Join(removeIfThere(f.path+earlierSuffix), f.replies.remove(), removeIfThere(f.path+argsSuffix))
}

// setAside keeps what earlier runs made and this one was not asked for.
func (f *evaluationFile) setAside() error {
	if f.earlier == nil {
		return nil
	}
	path := f.path + unusedSuffix
	n, err := f.earlier.unused(path)
	if n > 0 {
		f.state.say("not asked for any more, and set aside in %s: %s of earlier runs", path, plural(n, "evaluation", "evaluations"))
	}
	return err
}

// abandon closes everything before anything was written.
func (f *evaluationFile) abandon() error {
	var err error
	if f.attempts != nil {
		err = f.attempts.end()
	}
	return errors.Join(err, f.closePart(), f.replies.close())
}

func (f *evaluationFile) closePart() error {
	if f.part == nil {
		return nil
	}
	err := f.part.Close()
	if f.inPlace != nil {
		err = errors.Join(err, f.inPlace.file.Close())
	}
	if f.earlier != nil {
		err = errors.Join(err, f.earlier.file.Close())
	}
	return err
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
