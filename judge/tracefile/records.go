package tracefile

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// records reads CSV as package encoding/csv does, but cuts the file into
// records itself first: one record at most is in memory, and its line is known
// also when it is broken.
type records struct {
	reader *Reader
	header []string
	err    error // after a bad header nothing can be read
}

// next gives the cells of the next record as JSON members.
func (c *records) next() ([]member, error) {
	if c.err != nil {
		return nil, c.err
	}
	if c.header == nil {
		header, err := c.cells()
		if err == nil {
			err = checkHeader(header)
		}
		if err != nil {
			c.err = io.EOF
			return nil, err
		}
		c.header = header
	}
	cells, err := c.cells()
	if err != nil {
		return nil, err
	}
	if len(cells) != len(c.header) {
		return nil, faultf("csv", "has %d fields where the header has %d; check quotes and commas", len(cells), len(c.header))
	}
	members := c.reader.dec.members[:0]
	for i, cell := range cells {
		if strings.TrimSpace(cell) == "" {
			continue
		}
		if c.header[i] == "" {
			return nil, faultf("csv", "column %d has a value but its header is empty", i+1)
		}
		value, err := cellValue(c.header[i], cell)
		if err != nil {
			return nil, err
		}
		members = append(members, member{c.header[i], value})
	}
	c.reader.dec.members = members
	return members, nil
}

func checkHeader(header []string) error {
	seen := map[string]bool{}
	own := map[string]bool{}
	for i, name := range header {
		header[i] = strings.TrimSpace(name)
		if header[i] != "" && seen[header[i]] {
			return faultf("csv", "the header names column %s twice", header[i])
		}
		seen[header[i]], own[canonical(header[i])] = true, true
	}
	for _, need := range []string{"id", "output"} {
		if !own[need] {
			return faultf(need, "the header has no such column; the first line of a CSV file names the fields of a trace")
		}
	}
	return nil
}

// cells gives the fields of the next record that is not blank.
func (c *records) cells() ([]string, error) {
	for {
		c.reader.line = c.reader.in.at
		b, err := c.record()
		if err != nil {
			return nil, err
		}
		if len(bytes.Trim(b, "\r\n")) == 0 {
			continue
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return nil, faultf("csv", "has a NUL byte at column %d; remove it", column(b, i))
		}
		if !utf8.Valid(b) {
			return nil, faultf("csv", "is not valid UTF-8 at column %d", column(b, invalidUTF8(b)))
		}
		cr := csv.NewReader(bytes.NewReader(b))
		cells, err := cr.Read()
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			return nil, faultf("csv", "%s at line %d, column %d", csvFault(broken.Err),
				c.reader.line+broken.Line-1, broken.Column)
		}
		if err != nil {
			return nil, err
		}
		return cells, nil
	}
}

func csvFault(err error) string {
	switch {
	case errors.Is(err, csv.ErrBareQuote):
		return "has a quote inside a field that does not start with one"
	case errors.Is(err, csv.ErrQuote):
		return "has a quoted field that is not closed, or text after its closing quote"
	}
	return err.Error()
}

// record takes the bytes of one record: up to the first line end outside of
// quotes.
func (c *records) record() ([]byte, error) {
	in := c.reader.in
	in.begin()
	quoted, fresh := false, true // fresh: at the start of a field
	for n := 0; ; {
		b, err := in.peek()
		if errors.Is(err, io.EOF) && n > 0 {
			return in.whole()
		}
		if err != nil {
			return nil, err
		}
		end := -1
		for i, ch := range b {
			switch {
			case quoted:
				// A doubled quote closes and opens again: the state is the same.
				quoted = ch != '"'
				fresh = !quoted
			case ch == '"' && fresh:
				quoted = true
			case ch == '\n':
				end = i + 1
			default:
				fresh = ch == ','
			}
			if end >= 0 {
				in.take(b[:end])
				return in.whole()
			}
		}
		n += len(b)
		in.take(b)
	}
}

// cellValue turns a cell that is not blank into the JSON of its field. Fields
// that are more than a text hold JSON, or plain text where that can only mean
// one thing.
func cellValue(name, cell string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(cell)
	switch canonical(name) {
	case "sources":
		if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(strings.ReplaceAll(trimmed, " ", ""), "[{") && trimmed != "[]" {
			return encode([]any{map[string]string{"id": "1", "text": cell}})
		}
		return cellJSON(name, trimmed)
	case "judgments", "labels", "metadata":
		return cellJSON(name, trimmed)
	case "premises", "constraints":
		if b := []byte(trimmed); b[0] == '[' && json.Valid(b) {
			return cellJSON(name, trimmed)
		}
	case "tags", "judges":
		if b := []byte(trimmed); b[0] == '[' && json.Valid(b) {
			return cellJSON(name, trimmed)
		}
		return encode(words(trimmed))
	}
	return encode(cell)
}

// cellJSON takes a cell as JSON.
func cellJSON(name, cell string) (json.RawMessage, error) {
	b := []byte(cell)
	if !json.Valid(b) {
		var f *fault
		if errors.As(brokenJSON(b), &f) {
			return nil, faultf(name, "must be JSON in the cell, which %s", f.msg)
		}
	}
	if at := badText(b); at.msg != "" {
		return nil, faultf(name, "%s at column %d of the cell", at.msg, column(b, at.offset))
	}
	return b, nil
}

// words cuts plain text at commas and semicolons.
func words(s string) []string {
	all := []string{}
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' }) {
		if w = strings.TrimSpace(w); w != "" {
			all = append(all, w)
		}
	}
	return all
}

func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
