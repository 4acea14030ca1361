package tracefile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Pos is where a trace is in its file.
type Pos struct {
	File string
	Line int // where it starts, from 1
	Size int // in bytes, as the file has it
}

func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// LineError is one bad line, array element or CSV record. The reader goes on
// after it.
type LineError struct {
	File string
	Line int // where the line, element or record starts, from 1
	// Field is the field as the file names it, with a path inside it as jq
	// writes it (labels[0].verdict). What is wrong with the line as a whole has
	// the Field line, json or csv.
	Field string
	Msg   string // a plain sentence part: "is missing"
}

func (e *LineError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Field, e.Msg)
}

// Warning is something that was read but not as the file may have meant it.
// There is one for each field and message, however many lines have it.
type Warning struct {
	File  string
	Line  int // of the first line that has it
	Field string
	Msg   string
	Count int // how many traces have it
}

func (w Warning) String() string {
	s := fmt.Sprintf("%s:%d: %s: %s", w.File, w.Line, w.Field, w.Msg)
	if w.Count > 1 {
		s += fmt.Sprintf(" (%d traces)", w.Count)
	}
	return s
}

// maxWarnings bounds the different warnings that are kept: a file whose field
// names are data would otherwise fill the memory.
const maxWarnings = 100

// Warnings so far, in the order of their first line. After the first 100
// different ones, further ones are only counted, in a last entry.
func (r *Reader) Warnings() []Warning {
	all := append([]Warning(nil), r.warnings...)
	if r.moreWarnings > 0 {
		all = append(all, Warning{
			File: r.name, Line: r.line, Field: "line",
			Msg: "more fields than can be listed are not fields of a trace", Count: r.moreWarnings,
		})
	}
	return all
}

// shown is a field's name as messages write it: names come from the file, and
// one with a line break could pass for a message of its own.
func shown(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(name)
	}
	return name
}

func (r *Reader) warn(field, msg string) {
	field = shown(field)
	key := field + "\x00" + msg
	if i, ok := r.warned[key]; ok {
		r.warnings[i].Count++
		return
	}
	if len(r.warnings) == maxWarnings {
		r.moreWarnings++
		return
	}
	r.warned[key] = len(r.warnings)
	r.warnings = append(r.warnings, Warning{File: r.name, Line: r.line, Field: field, Msg: msg, Count: 1})
}
