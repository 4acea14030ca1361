package main

import (
	"bytes"
	"encoding/json"
)

// writeJSON writes a value for programs and people: indented, HTML left alone.
func (s *state) writeJSON(v any) error {
	e := json.NewEncoder(s.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// jsonLine is a value as one line of JSONL, with its end.
func jsonLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
