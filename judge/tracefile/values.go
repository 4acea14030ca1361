package tracefile

import (
	"bytes"
	"errors"
	"io"
)

// values cuts an array of JSON values, or values one after another, into its
// elements without holding more than one. It finds ends by brackets and quotes,
// not by parsing: an element that is not JSON is refused by itself, and reading
// goes on behind it.
type values struct {
	reader *Reader

	opened, array, closed bool
	count                 int
	wantComma             bool
}

// next gives the fields of the next element.
func (v *values) next() ([]member, error) {
	in := v.reader.in
	for {
		c, err := v.nextByte()
		if errors.Is(err, io.EOF) && v.array && !v.closed {
			v.closed = true
			return nil, faultf("json", "the list is not closed: the file is cut off, or its last ] is missing")
		}
		if err != nil {
			return nil, err
		}
		switch {
		case v.closed:
			if _, err := io.Copy(io.Discard, in.br); err != nil {
				return nil, err
			}
			return nil, faultf("json", "there is text after the end of the list, which is not read")
		case !v.opened:
			v.opened = true
			if v.array = c == '['; v.array {
				in.skip(1)
			}
		case v.array && c == ']':
			in.skip(1)
			v.closed = true
			if !v.wantComma && v.count > 0 {
				return nil, faultf("json", "there is a comma before the ] that ends the list; remove it")
			}
		case v.array && c == ',':
			in.skip(1)
			if !v.wantComma {
				return nil, faultf("json", "there is a comma without a trace before it; remove it")
			}
			v.wantComma = false
		case v.wantComma:
			v.wantComma = false
			return nil, faultf("json", "a comma is missing before this trace; the trace itself is read")
		default:
			v.count++
			v.wantComma = v.array
			b, err := v.element()
			if err != nil {
				return nil, err
			}
			return v.reader.dec.object(b)
		}
	}
}

// nextByte skips white space and shows the byte after it, noting its line.
func (v *values) nextByte() (byte, error) {
	in := v.reader.in
	for {
		b, err := in.peek()
		if err != nil {
			v.reader.line = in.at
			return 0, err
		}
		in.begin()
		rest := bytes.TrimLeft(b, " \t\r\n")
		in.take(b[:len(b)-len(rest)])
		if len(rest) > 0 {
			v.reader.line = in.at
			return rest[0], nil
		}
	}
}

// element takes the bytes of one element.
func (v *values) element() ([]byte, error) {
	in := v.reader.in
	in.begin()
	var s extent
	for {
		b, err := in.peek()
		if errors.Is(err, io.EOF) {
			return in.whole() // cut off: the element itself is refused
		}
		if err != nil {
			return nil, err
		}
		n, done := s.scan(b)
		in.take(b[:n])
		if done {
			piece, err := in.whole()
			return bytes.TrimSpace(piece), err
		}
	}
}

// extent finds where a JSON value ends.
type extent struct {
	open          []byte // the brackets that are open
	quoted, slash bool
	scalar        bool // inside a value without brackets
}

// deepest bounds the brackets that are remembered. encoding/json refuses to go
// deeper, so such an element is bad whatever its end.
const deepest = 10_000

// scan looks through the next bytes of a value. It says how many of them belong
// to the value and whether it ends there.
func (s *extent) scan(b []byte) (n int, done bool) {
	for i, c := range b {
		switch {
		case s.quoted:
			switch {
			case c == '\n': // no string goes over a line: this one was not closed
				s.quoted, s.slash = false, false
			case s.slash:
				s.slash = false
			case c == '\\':
				s.slash = true
			case c == '"':
				if s.quoted = false; len(s.open) == 0 {
					return i + 1, true
				}
			}
		case c == '"':
			s.quoted = true
			s.scalar = len(s.open) == 0
		case c == '{' || c == '[':
			if s.scalar {
				return i, true
			}
			if len(s.open) < deepest {
				s.open = append(s.open, c)
			}
		case c == '}' || c == ']':
			if s.scalar {
				return i, true
			}
			// A bracket closes the nearest one of its kind and with it what was
			// left open inside. A ] that closes nothing here ends the list around.
			k := bytes.LastIndexByte(s.open, c-2)
			if k < 0 {
				if c == '}' || len(s.open) == 0 {
					i++
				}
				return i, true
			}
			if s.open = s.open[:k]; k == 0 {
				return i + 1, true
			}
		case len(s.open) == 0:
			if c == ',' && !s.scalar { // outside of a list: refused by itself
				return i + 1, true
			}
			if c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r' {
				return i, true
			}
			s.scalar = true
		}
	}
	return len(b), false
}
