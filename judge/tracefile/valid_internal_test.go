package tracefile

import (
	"encoding/json"
	"strings"
	"testing"
)

// What is taken for JSON is what encoding/json takes for it.
func FuzzValid(f *testing.F) {
	for _, doc := range []string{
		`{"a":1,"a":2}`, "\"\xff\"", `"\ud800"`, `{"a":1} {}`, `{"a":1}x`, "0\f", `01`, `[1,]`, `{"a":}`, `nul`, ``, ` `, "\"\n\"", ` {"a" : [ ] } `,
		strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001),
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got, want := valid(doc), json.Valid(doc); got != want {
			t.Errorf("%.100q is valid: %t, want %t", doc, got, want)
		}
	})
}
