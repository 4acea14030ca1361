package ratings

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	File  string
	Line  int    // from 1; 0 for the file as a whole
	Field string // column or JSON path; "" for the line as a whole
	Msg   string
}

func (f Fault) Error() string {
	at := f.File
	if f.Line > 0 {
		at += ":" + strconv.Itoa(f.Line)
	}
	if f.Field != "" {
		at += ": " + f.Field
	}
	return at + ": " + f.Msg
}

// Faults are all that was found, up to 20 of them.
type Faults struct {
	List []Fault
	More int // further ones that are only counted
}

func (f *Faults) Error() string {
	var b strings.Builder
	for i, one := range f.List {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(one.Error())
	}
	if f.More > 0 {
		fmt.Fprintf(&b, "\nand %d more of the kind", f.More)
	}
	return b.String()
}

// notes collects faults of one file.
type notes struct {
	file   string
	faults Faults
}

func (n *notes) add(line int, field, format string, args ...any) {
	if len(n.faults.List) == maxFaults {
		n.faults.More++
		return
	}
	n.faults.List = append(n.faults.List, Fault{n.file, line, field, fmt.Sprintf(format, args...)})
}

func (n *notes) err() error {
	if len(n.faults.List) == 0 {
		return nil
	}
	return &n.faults
}

// shown is a name from the file as messages write it: one with a line break could
// pass for a message of its own, and a long one would bury it.
func shown(name string) string {
	if runes := []rune(name); len(runes) > 60 {
		name = string(runes[:60]) + "…"
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// label checks a label or name; "" says that it is fine.
func tooLong(text string) string {
	if len(text) > maxText {
		return fmt.Sprintf("is %d bytes long, where %d are enough for a name or label", len(text), maxText)
	}
	return ""
}
