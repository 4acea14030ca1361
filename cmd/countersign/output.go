package main

import (
	stdjson "encoding/json"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// writeJSON writes a value for programs and people: indented, HTML left alone.
func (s *state) writeJSON(v any) error { return indented(s.stdout, v) }

func indented(w io.Writer, v any) error {
	e := stdjson.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// lineOptions are encoding/json's own ways, with HTML left alone. What is JSON
// already, such as a report, is made compact in a fraction of its time.
var lineOptions = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))

// jsonLine is a value as one line of JSONL, with its end.
func jsonLine(v any) ([]byte, error) {
	b, err := json.Marshal(v, lineOptions)
	return append(b, '\n'), err
}
