package ratings

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonFile walks the tokens of a file, so that a fault has a line and a path.
type jsonFile struct {
	*jsontext.Decoder
	body  []byte
	note  *notes
	at    int64 // where line was counted to
	line  int
	ended bool // by a fault after which nothing can be read
}

// readJSON reads {"ratings": items by raters} or {"confusion_matrix": ...}, both with
// "categories" and "raters" if wanted, or the array of ratings alone.
func readJSON(body []byte, n *notes) Table {
	f := &jsonFile{Decoder: jsontext.NewDecoder(bytes.NewReader(body)), body: body, note: n, line: 1}
	var t Table
	var cells [][]string
	var rows []place
	var clusters []string
	if f.PeekKind() == '[' {
		cells, rows = f.grid(true)
	} else {
		found := ""
		f.token()
		for !f.ended && f.PeekKind() != '}' {
			name := f.token().String()
			switch {
			case f.ended:
			case name == "ratings" || name == "confusion_matrix":
				if found != "" {
					f.fault("%s and %s cannot both be there", found, name)
					return Table{}
				}
				found = name
				if name == "ratings" {
					cells, rows = f.grid(true)
				} else {
					t.Matrix = f.matrix()
				}
			case name == "clusters":
				clusters = f.list(false)
			case name == "categories" || name == "raters":
				list := f.names()
				if name == "raters" {
					t.Raters = list
				} else {
					t.Labels, t.Declared = list, list != nil
				}
			default:
				f.skip()
			}
		}
		f.token()
		if found == "" && !f.ended {
			n.add(0, "", "has neither ratings nor confusion_matrix")
			return Table{}
		}
	}
	if !f.ended {
		if _, err := f.ReadToken(); !errors.Is(err, io.EOF) {
			f.fault("something follows the end")
		}
	}
	if n.err() != nil {
		return Table{}
	}
	if t.Matrix != nil {
		if clusters != nil {
			n.add(0, "clusters", "a confusion matrix has no items that could form clusters; give ratings")
		}
		return f.finishMatrix(t)
	}
	t = f.finishRatings(t, cells, rows)
	if clusters != nil {
		if len(clusters) != t.items {
			n.add(0, "clusters", "%d clusters for %d items", len(clusters), t.items)
		}
		seen := map[string]int{}
		for _, c := range clusters {
			t.Clusters = append(t.Clusters, numberOf(seen, c))
		}
	}
	return t
}

// place is where a row starts.
type place struct {
	line int
	path string
}

func (f *jsonFile) here() place {
	at := f.InputOffset()
	f.line += bytes.Count(f.body[f.at:at], []byte("\n"))
	f.at = at
	return place{f.line, path(f.StackPointer())}
}

// path writes a JSON pointer as people and jq do: ratings[3][1].
func path(p jsontext.Pointer) string {
	var b strings.Builder
	for part := range p.Tokens() {
		if _, err := strconv.Atoi(part); err == nil {
			b.WriteString("[" + part + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(shown(part))
	}
	return b.String()
}

func (f *jsonFile) fault(format string, args ...any) {
	p := f.here()
	f.note.add(p.line, p.path, format, args...)
}

// token is the next one; after a fault of the form itself, nothing is read any more.
func (f *jsonFile) token() jsontext.Token {
	if f.ended {
		return jsontext.Null
	}
	t, err := f.ReadToken()
	if err != nil {
		f.broken(err)
		return jsontext.Null
	}
	return t
}

func (f *jsonFile) broken(err error) {
	f.ended = true
	at, msg := f.InputOffset(), err.Error()
	if s := new(jsontext.SyntacticError); errors.As(err, &s) {
		at, msg = s.ByteOffset, s.Err.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, msg = int64(len(f.body)), "the file ends too early"
	}
	at = min(at, int64(len(f.body)))
	f.note.add(1+bytes.Count(f.body[:at], []byte("\n")), "json", "%s", msg)
}

func (f *jsonFile) skip() {
	if err := f.SkipValue(); err != nil {
		f.broken(err)
	}
}

// opens reads the start of an array; anything else is a fault.
func (f *jsonFile) opens(what string) bool {
	if f.ended {
		return false
	}
	if f.PeekKind() != '[' {
		f.skip()
		if !f.ended {
			f.fault("is not %s", what)
		}
		return false
	}
	f.token()
	return !f.ended
}

func (f *jsonFile) more() bool {
	if f.ended {
		return false
	}
	switch f.PeekKind() {
	case ']':
		f.token()
		return false
	case 0: // the next token is broken; reading it says how
		f.token()
		return false
	}
	return true
}

// grid is an array of arrays of labels; "" is null where that is allowed.
func (f *jsonFile) grid(null bool) (cells [][]string, rows []place) {
	if !f.opens("an array of items, each an array of ratings") {
		return nil, nil
	}
	n := 0
	for f.more() {
		if !f.opens("an array of ratings") {
			continue
		}
		rows = append(rows, f.here())
		row := []string{}
		for f.more() {
			label, ok := f.label(null)
			if !ok {
				continue
			}
			row = append(row, label)
			if n++; n > maxCells {
				f.fault("there are more than %d ratings", maxCells)
				f.ended = true
			}
		}
		cells = append(cells, row)
	}
	return cells, rows
}

// label is a label as text; a number as the file writes it, in its shortest form.
func (f *jsonFile) label(null bool) (string, bool) {
	kind := f.PeekKind()
	if kind == '{' || kind == '[' {
		f.skip()
		if !f.ended {
			f.fault("is not a label: text, a number, true, false or null")
		}
		return "", false
	}
	t := f.token()
	switch {
	case f.ended:
		return "", false
	case kind == '"':
		if t.String() == "" {
			f.fault("is an empty label; write null where a rating is missing")
			return "", false
		}
		return strings.Clone(t.String()), true
	case kind == '0':
		if text := t.String(); !strings.ContainsAny(text, ".eE") {
			return text, true // not through floating point, which would make large ones alike
		}
		return strconv.FormatFloat(t.Float(), 'g', -1, 64), true
	case kind == 't' || kind == 'f':
		return strconv.FormatBool(t.Bool()), true
	case kind == 'n' && null:
		return "", true
	}
	f.fault("null is not a label here")
	return "", false
}

// names is an array of different labels.
func (f *jsonFile) names() []string { return f.list(true) }

// list is an array of labels, different ones where that is asked.
func (f *jsonFile) list(different bool) []string {
	if !f.opens("an array of names") {
		return nil
	}
	list := []string{}
	seen := map[string]bool{}
	for f.more() {
		name, ok := f.label(false)
		if !ok {
			continue
		}
		switch bad := tooLong(name); {
		case bad != "":
			f.fault("%s", bad)
		case different && seen[name]:
			f.fault("%s is there twice", shown(name))
		case len(list) == maxCells || different && len(list) == maxLabels:
			f.fault("there are more names than a file may have")
			f.ended = true
		default:
			seen[name] = true
			list = append(list, name)
		}
	}
	return list
}

// matrix is an array of arrays of counts.
func (f *jsonFile) matrix() [][]int {
	cells, rows := f.grid(false)
	if f.note.err() != nil {
		return nil
	}
	if len(cells) == 0 {
		f.fault("has no rows")
		return nil
	}
	if len(cells) > 1_000 {
		f.fault("has %d rows, more than 1,000 labels", len(cells))
		return nil
	}
	out := make([][]int, len(cells))
	total := 0
	for i, row := range cells {
		if len(row) != len(cells) {
			f.note.add(rows[i].line, rows[i].path, "has %d cells in a matrix of %d rows", len(row), len(cells))
			continue
		}
		out[i] = make([]int, len(row))
		for j, text := range row {
			v, err := strconv.ParseFloat(text, 64)
			c := int(v)
			if err != nil || v < 0 || v > 1e15 || float64(c) != v {
				f.note.add(rows[i].line, rows[i].path+"["+strconv.Itoa(j)+"]", "%s is not a count", shown(text))
				continue
			}
			out[i][j] = c
			if total += c; total > 1e15 {
				f.note.add(rows[i].line, rows[i].path, "the counts sum to more than 10^15")
				return nil
			}
		}
	}
	return out
}

func (f *jsonFile) finishMatrix(t Table) Table {
	q := len(t.Matrix)
	switch {
	case t.Labels == nil:
		for k := range q {
			t.Labels = append(t.Labels, strconv.Itoa(k+1))
		}
	case len(t.Labels) != q:
		f.note.add(0, "categories", "%d categories for a matrix of %d rows", len(t.Labels), q)
	}
	switch {
	case t.Raters == nil:
		t.Raters = []string{"rows", "columns"}
	case len(t.Raters) != 2:
		f.note.add(0, "raters", "a confusion matrix has two raters, and %d are named", len(t.Raters))
	}
	return t
}

func (f *jsonFile) finishRatings(t Table, cells [][]string, rows []place) Table {
	if len(cells) == 0 {
		f.note.add(0, "ratings", "there are no items")
		return Table{}
	}
	width := len(cells[0])
	switch {
	case width == 0:
		f.note.add(rows[0].line, rows[0].path, "has no ratings")
		return Table{}
	case width > maxRaters:
		f.note.add(rows[0].line, rows[0].path, "there are more than %d raters", maxRaters)
		return Table{}
	case t.Raters == nil:
		for r := range width {
			t.Raters = append(t.Raters, "rater "+strconv.Itoa(r+1))
		}
	case len(t.Raters) != width:
		f.note.add(0, "raters", "%d raters are named and the first item has %d ratings", len(t.Raters), width)
		return Table{}
	}
	c := newCoder()
	for _, l := range t.Labels {
		c.code(l)
	}
	c.fixed = t.Declared
	t.Codes = make([]int32, 0, len(cells)*width)
	for i, row := range cells {
		if len(row) != width {
			f.note.add(rows[i].line, rows[i].path, "has %d ratings where the first item has %d; write null where one is missing", len(row), width)
			continue
		}
		for r, label := range row {
			if label == "" {
				t.Codes = append(t.Codes, Missing)
				continue
			}
			k, bad := c.code(label)
			if bad != "" {
				f.note.add(rows[i].line, rows[i].path+"["+strconv.Itoa(r)+"]", "%s", bad)
			}
			t.Codes = append(t.Codes, k)
		}
	}
	t.items = len(cells)
	if !t.Declared {
		t.Labels = c.labels
		t.sorted()
	}
	return t
}
