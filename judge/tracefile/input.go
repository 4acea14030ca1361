package tracefile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// input is the file as bytes, with the line it is at. It never holds more than
// one piece (line, element, record) of at most max bytes.
type input struct {
	br  *bufio.Reader
	max int
	at  int // line of the next byte, from 1

	piece []byte // reused
	long  bool   // the piece passed max, and what came after is dropped
}

// sniff tells the form: the extension csv, else the first byte that is not
// white space. An opening brace alone on its line starts an object over several
// lines.
func sniff(name string, br *bufio.Reader) (Form, error) {
	ext := strings.ToLower(filepath.Ext(name))
	if ext == ".csv" {
		return CSV, nil
	}
	// As little as possible is asked for: standard input may be slow.
	var head []byte
	for n := 1; len(head) < 2; n++ {
		b, err := br.Peek(max(n, br.Buffered()))
		n = len(b)
		head = bytes.TrimLeft(b, " \t\r\n")
		if err != nil || n == br.Size() {
			if len(b) == 0 && !errors.Is(err, io.EOF) {
				return Sniff, err
			}
			break
		}
	}
	switch {
	case len(head) == 0:
		return Lines, nil
	case head[0] == '[':
		return JSON, nil
	case head[0] == '{':
		if len(head) > 1 && (head[1] == '\n' || head[1] == '\r') {
			return JSON, nil
		}
		return Lines, nil
	case ext == ".jsonl" || ext == ".ndjson" || ext == ".json":
		return Lines, nil
	}
	return CSV, nil
}

// begin starts a new piece.
func (in *input) begin() { in.piece, in.long = in.piece[:0], false }

// peek shows the bytes that are at hand, at least one.
func (in *input) peek() ([]byte, error) {
	if in.br.Buffered() == 0 {
		if _, err := in.br.Peek(1); err != nil {
			return nil, err
		}
	}
	return in.br.Peek(in.br.Buffered())
}

// take moves n bytes that peek showed into the piece.
func (in *input) take(b []byte) {
	if !in.long {
		if len(in.piece)+len(b) > in.max {
			in.long, in.piece = true, in.piece[:0]
		} else {
			in.piece = append(in.piece, b...)
		}
	}
	in.at += bytes.Count(b, []byte("\n"))
	_, _ = in.br.Discard(len(b)) // they are in the buffer: peek showed them
}

// skip drops n bytes that peek showed; none of them ends a line.
func (in *input) skip(n int) { _, _ = in.br.Discard(n) }

// line gives the next line without its end. It is good until the next call.
func (in *input) line() ([]byte, error) {
	in.begin()
	for n := 0; ; {
		b, err := in.peek()
		if err != nil {
			if errors.Is(err, io.EOF) && n > 0 {
				return in.whole()
			}
			return nil, err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			in.take(b[:i])
			in.skip(1)
			in.at++
			return in.whole()
		}
		n += len(b)
		in.take(b)
	}
}

// whole is the finished piece, or the fault that it is too long.
func (in *input) whole() ([]byte, error) {
	if in.long {
		return nil, faultf("line", "is longer than the limit of %s; shorten it or raise the limit", size(in.max))
	}
	return in.piece, nil
}

// size writes a number of bytes for people.
func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + " KiB"
	}
	return strconv.Itoa(n) + " bytes"
}
