package tracefile

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// text is the text of a valid JSON string, quotes included in b. Outputs and
// sources are most of a file, and encoding/json would validate them again.
func text(b []byte) string {
	b = b[1 : len(b)-1]
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return string(b)
	}
	out := make([]byte, 0, len(b))
	for i >= 0 {
		out = append(out, b[:i]...)
		n := 2
		switch c := b[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := hex4(b[i+2:])
			n = 6
			if utf16.IsSurrogate(r) && i+12 <= len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
				if pair := utf16.DecodeRune(r, hex4(b[i+8:])); pair != utf8.RuneError {
					r, n = pair, 12
				}
			}
			out = utf8.AppendRune(out, r)
		default: // a quote, a backslash, a slash
			out = append(out, c)
		}
		b = b[i+n:]
		i = bytes.IndexByte(b, '\\')
	}
	return string(append(out, b...))
}
