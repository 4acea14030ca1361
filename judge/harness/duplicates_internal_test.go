package harness

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestDuplicateKey(t *testing.T) {
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, `"k%d":{"k%d":1},`, i, i)
	}
	for doc, want := range map[string]string{
		`{"a":1,"b":2}`:                            "",
		`{"a":1,"a":2}`:                            "a",
		`{"a":{"a":1},"b":[{"a":1},{"a":2}]}`:      "",
		`{"b":[{"a":1},{"a":1,"c":"a","a":2}]}`:    "a",
		`{"a":"b","b":"a"}`:                        "",
		`{"a":"\",\"a\":1","b":"}{\"b\":"}`:        "",
		`{"a":1,"\u0061":2}`:                       "a",
		`{"é":1,"\u00e9":2}`:                       "é",
		`{"a\"b":1,"a\"b":2}`:                      `a\"b`,
		`{"":1,"":2}`:                              "",
		`["a","a",{"a":["a",{"a":1}]}]`:            "",
		`{` + many.String() + `"k39":1}`:           "k39",
		`{` + many.String() + `"k2":1}`:            "k2",
		`{` + many.String() + `"k40":1}`:           "",
		`{ "a" : [ ] , "b" : { } , "a" : null }`:   "a",
		`{"a":[1,2,3],"b":[[],[{}]],"c":{"d":{}}}`: "",
	} {
		if !json.Valid([]byte(doc)) {
			t.Fatalf("%s is no JSON", doc)
		}
		err := duplicateKey(json.RawMessage(doc))
		twice := want != "" || doc == `{"":1,"":2}`
		if (err != nil) != twice || twice && !strings.Contains(err.Error(), fmt.Sprintf(`the key "%s" twice`, want)) {
			t.Errorf("%s: %v, want the key %q", doc, err, want)
		}
	}
}

// FuzzDuplicateKey holds it to what encoding/json reads.
func FuzzDuplicateKey(f *testing.F) {
	for _, doc := range []string{`{"a":1,"a":2}`, `{"a":{"b":[1,{"c":2}]}}`, `[]`, `"a"`, `{"\ud800":1,"\ufffd":2}`} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if !json.Valid([]byte(doc)) {
			return
		}
		if got, want := duplicateKey(json.RawMessage(doc)) != nil, twiceByTokens(doc); got != want {
			t.Errorf("%q: a key twice: %v, want %v", doc, got, want)
		}
	})
}

// twiceByTokens is the slow way.
func twiceByTokens(doc string) bool {
	d := json.NewDecoder(strings.NewReader(doc))
	var value func() bool
	value = func() (twice bool) {
		token, err := d.Token()
		if err != nil {
			return false
		}
		delim, ok := token.(json.Delim)
		if !ok {
			return false
		}
		seen := map[any]bool{}
		for d.More() {
			if delim == '{' {
				key, err := d.Token()
				if err != nil {
					return twice
				}
				twice = twice || seen[key]
				seen[key] = true
			}
			twice = value() || twice
		}
		_, _ = d.Token() // the end of it
		return twice
	}
	return value()
}
