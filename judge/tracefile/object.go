package tracefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one name and value of a JSON object. The value is valid JSON
// without white space around it, and lives as long as the piece it was cut from.
type member struct {
	name  string
	value []byte
}

// decoder cuts JSON objects into members; its slice is reused.
type decoder struct{ members []member }

// object checks one piece of the file and cuts it into the members of its
// object. encoding/json alone would let pass what must not: names given twice,
// names in another case, invalid UTF-8 and unpaired surrogates.
func (d *decoder) object(b []byte) ([]member, error) {
	if !valid(b) {
		return nil, brokenJSON(b)
	}
	if b[0] != '{' {
		return nil, faultf("json", "is not an object but %s; each trace is one object", kind(b))
	}
	d.members = members(b, d.members[:0])
	if at := badText(b); at.msg != "" {
		field := "json"
		for _, m := range d.members {
			if start := offset(b, m.value); at.offset >= start && at.offset < start+len(m.value) {
				field = m.name
			}
		}
		return nil, faultf(field, "%s at column %d", at.msg, column(b, at.offset))
	}
	return d.members, nil
}

// valid is json.Valid, which has the last word, in a third of its time.
func valid(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) || json.Valid(b)
}

// brokenJSON says where b stops being JSON.
func brokenJSON(b []byte) error {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return faultf("json", "has a NUL byte at column %d; remove it", column(b, i))
	}
	var syntax *json.SyntaxError
	var v json.RawMessage
	if err := json.Unmarshal(b, &v); errors.As(err, &syntax) {
		at := int(syntax.Offset) - 1
		if at >= len(b)-1 && syntax.Error() == "unexpected end of JSON input" {
			return faultf("json", "is broken at column %d: it ends too early", column(b, len(b)))
		}
		return faultf("json", "is broken at column %d: %s", column(b, at), syntax.Error())
	}
	return faultf("json", "is broken")
}

// column counts characters from 1; bytes that are not UTF-8 count one each.
func column(b []byte, offset int) int {
	return utf8.RuneCount(b[:max(0, min(offset, len(b)))]) + 1
}

// offset of part in whole, of which it is a slice.
func offset(whole, part []byte) int { return cap(whole) - cap(part) }

// flaw is text that no trace may hold; msg is empty when there is none.
type flaw struct {
	offset int
	msg    string
}

// badText finds invalid UTF-8, NUL characters and unpaired surrogates in valid
// JSON. The last two can only be written as escapes.
func badText(b []byte) flaw {
	if !utf8.Valid(b) {
		return flaw{invalidUTF8(b), "is not valid UTF-8"}
	}
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\\')
		if n < 0 {
			return flaw{}
		}
		i += n
		if b[i+1] != 'u' {
			i += 2
			continue
		}
		switch c := hex4(b[i+2:]); {
		case c == 0:
			return flaw{i, `has a NUL character (\u0000)`}
		case c >= 0xD800 && c < 0xDC00:
			if i+12 > len(b) || b[i+6] != '\\' || b[i+7] != 'u' || hex4(b[i+8:])&0xFC00 != 0xDC00 {
				return flaw{i, "has half of a surrogate pair"}
			}
			i += 6
		case c >= 0xDC00 && c < 0xE000:
			return flaw{i, "has half of a surrogate pair"}
		}
		i += 6
	}
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// hex4 reads the four hexadecimal digits of an escape in valid JSON.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= 'a':
			c -= 'a' - 10
		case c >= 'A':
			c -= 'A' - 10
		default:
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	return r
}

// members cuts the object b, which must be valid JSON, into its members, in
// their order and with repeated names.
func members(b []byte, into []member) []member {
	for i := skipSpace(b, 1); b[i] != '}'; {
		end := valueEnd(b, i)
		name := text(b[i:end])
		i = skipSpace(b, skipSpace(b, end)+1) // over the colon
		end = valueEnd(b, i)
		into = append(into, member{name, b[i:end]})
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return into
}

// elements cuts the array b, which must be valid JSON, into its elements.
func elements(b []byte) [][]byte {
	var all [][]byte
	for i := skipSpace(b, 1); b[i] != ']'; {
		end := valueEnd(b, i)
		all = append(all, b[i:end])
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return all
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// valueEnd is where the JSON value that starts at i ends.
func valueEnd(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue // only inside brackets: a value ends before them
		default:
			for i < len(b) && !bytes.ContainsRune([]byte(",:]} \t\r\n"), rune(b[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// stringEnd is where the JSON string that starts at i ends.
func stringEnd(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		slashes := 0
		for j := i + n - 1; j >= i && b[j] == '\\'; j-- {
			slashes++
		}
		i += n + 1
		if slashes%2 == 0 {
			return i
		}
	}
}

// kind names the type of a JSON value as messages write it.
func kind(b []byte) string {
	switch b[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}
