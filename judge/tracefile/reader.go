package tracefile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign/judge"
)

// DefaultMaxLine is the longest line, array element or CSV record that is read:
// 16 MiB.
const DefaultMaxLine = 16 << 20

// Form of a trace file.
type Form int

const (
	// Sniff takes the form from the file's name and its first bytes.
	Sniff Form = iota
	// Lines: one JSON object a line.
	Lines
	// JSON: an array of objects, or objects one after another, over as many
	// lines as they like.
	JSON
	// CSV: a header of field names, then one trace a record.
	CSV
)

// Options of a Reader. The zero value reads anything and checks no judge.
type Options struct {
	// MaxLine in bytes; DefaultMaxLine when it is not positive.
	MaxLine int
	Form    Form
	// Judge finds a judge by its name. When it is set, a judge it does not
	// know is a fault, and so is a human label that is not one of its judge's.
	Judge func(name string) (*judge.Judge, bool)
	// Stakes of a domain, for traces that do not say theirs; judge.DefaultStakes
	// when nil.
	Stakes func(domain string) judge.Stakes
}

// Reader reads the traces of one file. It is not safe for concurrent use.
type Reader struct {
	name  string
	in    *input
	form  Form
	judge func(string) (*judge.Judge, bool)
	// stakesOf a domain.
	stakesOf func(string) judge.Stakes
	// next gives the fields of the next trace, as JSON.
	next func() ([]member, error)

	line int // where the present trace starts
	seen seen
	dec  decoder

	warnings     []Warning
	warned       map[string]int
	moreWarnings int
}

// NewReader reads traces from src. The name goes into positions and messages;
// its extension helps to tell the form. It waits for the first bytes of src; the
// error is a fault in reading them.
func NewReader(name string, src io.Reader, o Options) (*Reader, error) {
	if o.MaxLine <= 0 {
		o.MaxLine = DefaultMaxLine
	}
	r := &Reader{
		name: name, form: o.Form, judge: o.Judge, stakesOf: o.Stakes,
		in:     &input{br: bufio.NewReaderSize(src, 64<<10), max: o.MaxLine, at: 1},
		warned: map[string]int{},
	}
	if r.stakesOf == nil {
		r.stakesOf = judge.DefaultStakes
	}
	if err := r.start(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return r, nil
}

// Next gives the next trace and where it starts. The error is io.EOF after the
// last one, a *LineError for a trace that is bad (call Next again to go on), or
// a fault of the input itself, after which there is nothing more to read.
func (r *Reader) Next() (judge.Trace, Pos, error) {
	members, err := r.next()
	pos := Pos{File: r.name, Line: r.line, Size: len(r.in.piece)}
	if err == nil {
		var t judge.Trace
		if t, err = r.read(members); err == nil {
			return t, pos, nil
		}
	}
	var f *fault
	switch {
	case errors.As(err, &f):
		return judge.Trace{}, pos, &LineError{File: r.name, Line: r.line, Field: shown(f.field), Msg: f.msg}
	case errors.Is(err, io.EOF):
		return judge.Trace{}, pos, io.EOF
	}
	return judge.Trace{}, pos, fmt.Errorf("read %s near line %d: %w", r.name, r.in.at, err)
}

// start skips a byte order mark, finds the form and makes r.next.
func (r *Reader) start() error {
	if mark, _ := r.in.br.Peek(3); bytes.Equal(mark, []byte("\uFEFF")) {
		r.in.skip(3)
	}
	if r.form == Sniff {
		form, err := sniff(r.name, r.in.br)
		if err != nil {
			return err
		}
		r.form = form
	}
	switch r.form {
	case CSV:
		r.next = (&records{reader: r}).next
	case JSON:
		r.next = (&values{reader: r}).next
	default:
		r.next = r.nextLine
	}
	return nil
}

// nextLine gives the fields of the next line that is not blank.
func (r *Reader) nextLine() ([]member, error) {
	for {
		r.line = r.in.at
		line, err := r.in.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return r.dec.object(line)
		}
	}
}

// checkRepeated refuses another trace under an id that this file has used.
// The same content again is fine: the importer merges it.
func (r *Reader) checkRepeated(t *judge.Trace) error {
	e, err := entryOf(t.ID, judge.TraceHashes(*t).Trace, r.line)
	if err != nil {
		return err
	}
	if old, known := r.seen.add(e); known && old.content != e.content {
		return faultf("id", "%q is on line %d with other content; one file can hold one trace of an id", t.ID, old.line)
	}
	return nil
}

// fault is a LineError without its place.
type fault struct{ field, msg string }

func (f *fault) Error() string { return f.field + ": " + f.msg }

func faultf(field, format string, args ...any) error {
	return &fault{field, fmt.Sprintf(format, args...)}
}
