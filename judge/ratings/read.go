package ratings

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// Read reads a file; name stands in its messages. What is wrong comes as *Faults,
// any other error is one of reading.
func Read(r io.Reader, name string) (Table, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return Table{}, fmt.Errorf("%s: %w", name, err)
	}
	n := &notes{file: name}
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	first := bytes.TrimLeft(body, " \t\r\n")
	switch at := bytes.IndexByte(body, 0); {
	case len(body) > maxBytes:
		n.add(0, "", "is larger than %d MiB; split it or count it into a confusion matrix", maxBytes>>20)
	case len(first) == 0:
		n.add(0, "", "is empty")
	case at >= 0:
		n.add(1+bytes.Count(body[:at], []byte("\n")), "", "holds a NUL byte: is this a text file?")
	case !utf8.Valid(body):
		n.add(badLine(body), "", "is not UTF-8 text; save it as UTF-8")
	}
	if err := n.err(); err != nil {
		return Table{}, err
	}
	var t Table
	if first[0] == '{' || first[0] == '[' {
		t = readJSON(body, n)
	} else {
		t = readCSV(body, n)
	}
	if err := n.err(); err != nil {
		return Table{}, err
	}
	return t, nil
}

// badLine is the line of the first byte that is no UTF-8.
func badLine(body []byte) int {
	line := 1
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		body = body[size:]
	}
	return line
}

// coder gives labels their codes.
type coder struct {
	labels []string
	at     map[string]int32
	fixed  bool // by the file's own scale
}

func newCoder() *coder { return &coder{at: map[string]int32{}} }

// code is the label's; the text says what is wrong with it, or is "".
func (c *coder) code(label string) (int32, string) {
	if k, ok := c.at[label]; ok {
		return k, ""
	}
	if bad := tooLong(label); bad != "" {
		return Missing, bad
	}
	if c.fixed {
		return Missing, fmt.Sprintf("label %s is not one of the categories", shown(label))
	}
	if len(c.labels) == maxLabels {
		return Missing, fmt.Sprintf("there are more than %d different labels", maxLabels)
	}
	k := int32(len(c.labels))
	c.labels = append(c.labels, label)
	c.at[label] = k
	return k, ""
}
