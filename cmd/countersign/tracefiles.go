package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

// lineFlag bounds what is held of a file at once.
type lineFlag struct {
	MaxLine int `help:"Longest line, array element or CSV record in bytes." default:"16777216" config:"max_line"`
}

// traceFile is an opened trace file.
type traceFile struct {
	name string
	*tracefile.Reader
	progress *progress
	size     int64      // in bytes; below 0: unknown
	mu       sync.Mutex // lines are refused while reading and while storing
	refused  int        // bad lines so far
	close    func() error
}

// inputFile is a file to read and the name that messages use for it; the path
// - is standard input.
type inputFile struct{ name, path string }

// openTraces opens a trace file; what says for the progress bar what is done.
func (s *state) openTraces(ctx context.Context, file inputFile, o tracefile.Options, what string) (*traceFile, error) {
	src, size, end, err := s.openInput(ctx, file)
	if err != nil {
		return nil, err
	}
	return s.readTraces(file.name, src, size, end, o, what)
}

// openCounted opens a trace file whose progress its reader tells.
func (s *state) openCounted(ctx context.Context, file inputFile, o tracefile.Options) (*traceFile, error) {
	src, size, end, err := s.openInput(ctx, file)
	if err != nil {
		return nil, err
	}
	r, err := tracefile.NewReader(file.name, src, o)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return &traceFile{name: file.name, Reader: r, size: size, close: end}, nil
}

// openInput opens a file or standard input. The size is below 0 when it is not
// known.
func (s *state) openInput(ctx context.Context, file inputFile) (src io.Reader, size int64, end func() error, err error) {
	if file.path == "-" {
		return interruptible(ctx, s.stdin), -1, func() error { return nil }, nil
	}
	f, err := os.Open(file.path)
	if err != nil {
		return nil, 0, nil, usageError{err}
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = usagef("%s is a folder: name the trace files in it", file.name)
	}
	if err != nil {
		return nil, 0, nil, errors.Join(err, f.Close())
	}
	size = -1
	if info.Mode().IsRegular() {
		size = info.Size()
	}
	return f, size, f.Close, nil
}

// interruptible is src until ctx ends: a read that waits for more, at a
// terminal or a pipe, then comes back.
func interruptible(ctx context.Context, src io.Reader) io.Reader {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { in.CloseWithError(errInterrupted) })
	go func() {
		defer stop()
		_, err := io.Copy(in, src)
		in.CloseWithError(err) // nil ends the reading
	}()
	return out
}

func (s *state) readTraces(name string, src io.Reader, size int64, end func() error, o tracefile.Options, what string) (*traceFile, error) {
	p := s.startProgress(what+" "+name, size, true)
	r, err := tracefile.NewReader(name, p.counted(src), o)
	if err != nil {
		p.end()
		return nil, errors.Join(err, end())
	}
	return &traceFile{name: name, Reader: r, progress: p, size: size, close: end}, nil
}

// next gives the next good trace and writes the bad lines before it to stderr.
// The error is io.EOF at the end.
func (f *traceFile) next(s *state) (judge.Trace, tracefile.Pos, error) {
	for {
		t, pos, err := f.Next()
		var bad *tracefile.LineError
		if !errors.As(err, &bad) {
			return t, pos, err
		}
		f.refuse(s, bad)
	}
}

func (f *traceFile) refuse(s *state, bad *tracefile.LineError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused++
	f.progress.pause()
	s.say("%v", bad)
}

// end closes the file and says what was doubtful in it.
func (f *traceFile) end(s *state) error {
	f.progress.end()
	for _, w := range f.Warnings() {
		s.say("warning: %v", w)
	}
	return f.close()
}
