package harness

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// documents that are read in two ways.
var documents = []string{
	`{"a":1,"b":[true,false,null,"x",{}],"c":{"d":[]}}`, ` {"a" : 1e400 , "b":0.10, "c":-0, "d":12345678901234567890} `,
	`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `"text \u00e9 \ud83d\ude00 \ud800"`, "\"not \xff UTF-8\"", `null`, `[]`, `7`,
	`{"a":1} {}`, `{"a":1}x`, `{"a":`, `{"a":}`, `{a:1}`, `[1,]`, `{"a":1,}`, `01`, `tru`, `"`, "\"\n\"", ``, ` `, `{"":""}`, "0\f", "{}\u00a0", `{"a":1}` + "\n",
}

// The quick reading gives what jsonschema's own gives, and fails where it fails.
func FuzzValueOf(f *testing.F) {
	for _, doc := range documents {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		got, err := valueOf([]byte(doc))
		want, wantErr := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(doc)))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: error %v, want %v", doc, err, wantErr)
		}
		if err == nil && !cmp.Equal(got, want) {
			t.Errorf("%q: %s", doc, cmp.Diff(want, got))
		}
	})
}

// A text that is taken for one sound object at once is one by the long way too.
func FuzzOnlyObject(f *testing.F) {
	for _, doc := range documents {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, text string) {
		object := onlyObject(text)
		if object == nil {
			return
		}
		found, err := objects(text)
		if err != nil || found.n != 1 || found.from != 0 || text[found.to:] != "" && len(bytes.TrimSpace([]byte(text[found.to:]))) > 0 {
			t.Errorf("%q: %+v, error %v", text, found, err)
		}
		if err := duplicateKey(object); err != nil || !json.Valid(object) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
