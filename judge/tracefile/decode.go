package tracefile

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// fields reads the values of one object. The first fault stays, and what is
// read after it does not count; so callers look at err once, at the end.
type fields struct{ err error }

func (f *fields) fault(path, format string, args ...any) {
	if f.err == nil {
		f.err = faultf(path, format, args...)
	}
}

func (f *fields) mistyped(path, want string, b []byte) {
	f.fault(path, "must be %s but is %s", want, kind(b))
}

func (f *fields) text(path string, b []byte) string {
	if b[0] != '"' {
		f.mistyped(path, "text", b)
		return ""
	}
	return text(b)
}

// name reads an id or a label: text, or a number, which is kept as it is
// written.
func (f *fields) name(path string, b []byte) string {
	if kind(b) == "a number" {
		return string(b)
	}
	if b[0] != '"' {
		f.mistyped(path, "text or a number", b)
		return ""
	}
	return text(b)
}

// names reads a list of words.
func (f *fields) names(path string, b []byte) []string {
	if b[0] != '[' {
		f.mistyped(path, "a list of text", b)
		return nil
	}
	return f.listed(path, b)
}

// texts reads one text, or a list of texts.
func (f *fields) texts(path string, b []byte) []string {
	switch b[0] {
	case '"':
		return []string{text(b)}
	case '[':
		return f.listed(path, b)
	}
	f.mistyped(path, "text or a list of text", b)
	return nil
}

func (f *fields) listed(path string, b []byte) []string {
	var all []string
	for i, e := range elements(b) {
		all = append(all, f.text(at(path, i), e))
	}
	return all
}

func (f *fields) boolean(path string, b []byte) bool {
	if kind(b) != "true or false" {
		f.mistyped(path, "true or false", b)
	}
	return b[0] == 't'
}

// count reads a place counted from 1; 0 means none.
func (f *fields) count(path string, b []byte) int {
	n, err := strconv.Atoi(string(b))
	if err != nil || n < 0 {
		f.fault(path, "must be a whole number from 0 on but is %s", short(b))
	}
	return n
}

// probability reads a number in [judge.LeastChance,1].
func (f *fields) probability(path string, b []byte) *float64 {
	if kind(b) != "a number" {
		f.mistyped(path, "a number", b)
		return nil
	}
	p, err := strconv.ParseFloat(string(b), 64)
	if err != nil || judge.KnownChance(p) == 0 {
		f.fault(path, "must be at least %s and at most 1 but is %s", judge.LeastChanceText, short(b))
	}
	return &p
}

func (f *fields) time(path string, b []byte) *time.Time {
	s := f.text(path, b)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil && f.err == nil {
		f.fault(path, "must be a time like 2026-05-01T09:30:00Z but is %s", short(b))
	}
	return &t
}

// metadata reads an object of anything.
func (f *fields) metadata(path string, b []byte) map[string]any {
	if b[0] != '{' {
		f.mistyped(path, "an object", b)
		return nil
	}
	return free(b).(map[string]any)
}

// objects hands each object of a list to read, with its path.
func (f *fields) objects(path string, b []byte, read func(path string, members []member)) {
	if b[0] != '[' {
		f.mistyped(path, "a list of objects", b)
		return
	}
	for i, e := range elements(b) {
		if e[0] != '{' {
			f.mistyped(at(path, i), "an object", e)
			return
		}
		read(at(path, i), f.object(at(path, i), e))
	}
}

// object cuts an object inside a trace; null values count as absent.
func (f *fields) object(path string, b []byte) []member {
	all := members(b, nil)
	kept := all[:0]
	for i, m := range all {
		for _, other := range all[:i] {
			if other.name == m.name {
				f.fault(path+"."+m.name, "is given twice; keep one")
			}
		}
		if m.value[0] != 'n' {
			kept = append(kept, m)
		}
	}
	return kept
}

// free reads any JSON value. A number that a float64 would change (an integer
// beyond 2^53, or one out of range) is kept as its text, so that no digit of a
// customer's number is lost.
func free(b []byte) any {
	switch b[0] {
	case '{':
		all := map[string]any{}
		for _, m := range members(b, nil) {
			all[m.name] = free(m.value)
		}
		return all
	case '[':
		all := []any{}
		for _, e := range elements(b) {
			all = append(all, free(e))
		}
		return all
	case '"':
		return text(b)
	case 't', 'f':
		return b[0] == 't'
	case 'n':
		return nil
	}
	s := string(b)
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(n) > 1<<53 && !strings.ContainsAny(s, ".eE") {
		return s
	}
	return n
}

// at is the path of an element, as jq writes it.
func at(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// short shows a value in a message without flooding it.
func short(b []byte) string {
	const most = 60
	if len(b) <= most {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:most]), "") + "…"
}

// raw copies a JSON value out of the piece it was cut from.
func raw(b []byte) json.RawMessage { return append(json.RawMessage(nil), b...) }
