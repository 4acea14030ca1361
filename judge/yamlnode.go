package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// DefinitionError is one fault of a judge's definition, at its place.
type DefinitionError struct {
	File string
	Line int // from 1; 0 when the fault is about the whole file
	Msg  string
}

func (e *DefinitionError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg)
}

// located is a YAML node with the file it was written in.
type located struct {
	*yaml.Node
	file string
}

// yamlLine finds the line that the YAML parser names in an error.
var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// parseYAML reads the one document of a file.
func parseYAML(file string, data []byte) (located, *DefinitionError) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return located{}, &DefinitionError{File: file, Msg: "the file is empty"}
		}
		if json.Valid(data) { // most of it is YAML too, but for some escapes and breaks of lines
			return located{}, &DefinitionError{File: file, Msg: `this is JSON, and written in a way that YAML does not take (an escape such as \/ or \ud83d, or a line break before a colon): ` +
				"definitions and policies are YAML files; a JSON Schema is named under schema_file of a judge's definition, with such escapes written out"}
		}
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			line, _ := strconv.Atoi(m[1]) // digits by the pattern
			return located{}, &DefinitionError{File: file, Line: line, Msg: "not valid YAML: " + m[2]}
		}
		return located{}, &DefinitionError{File: file, Msg: "not valid YAML: " + err.Error()}
	}
	var next yaml.Node
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		line := next.Line
		return located{}, &DefinitionError{File: file, Line: line, Msg: "more than one document; write one a file"}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return located{}, &DefinitionError{File: file, Msg: "the file is empty"}
	}
	root := located{doc.Content[0], file}
	if fault := refuseAliases(root); fault != nil {
		return located{}, fault
	}
	return root, nil
}

// refuseAliases keeps a small file from standing for a huge one.
func refuseAliases(n located) *DefinitionError {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return &DefinitionError{File: n.file, Line: n.Line, Msg: "anchors and aliases are not supported; write the value out"}
	}
	for _, c := range n.Content {
		if fault := refuseAliases(located{c, n.file}); fault != nil {
			return fault
		}
	}
	return nil
}

// get is the value of a key of a mapping.
func (n located) get(key string) (located, bool) {
	if n.Node == nil || n.Kind != yaml.MappingNode {
		return located{}, false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return located{n.Content[i+1], n.file}, true
		}
	}
	return located{}, false
}

// items of a sequence.
func (n located) items() []located {
	if n.Node == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	list := make([]located, len(n.Content))
	for i, c := range n.Content {
		list[i] = located{c, n.file}
	}
	return list
}

// appendJSON writes a node as JSON, keys in their order.
func (n located) appendJSON(b []byte) ([]byte, *DefinitionError) {
	fault := func(format string, args ...any) *DefinitionError {
		return &DefinitionError{File: n.file, Line: n.Line, Msg: fmt.Sprintf(format, args...)}
	}
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if seen[key] {
				return nil, &DefinitionError{File: n.file, Line: n.Content[i].Line, Msg: fmt.Sprintf("the key %q is given twice", key)}
			}
			seen[key] = true
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key), ':')
			var inner *DefinitionError
			if b, inner = (located{n.Content[i+1], n.file}).appendJSON(b); inner != nil {
				return nil, inner
			}
		}
		return append(b, '}'), nil
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, c := range n.Content {
			if i > 0 {
				b = append(b, ',')
			}
			var inner *DefinitionError
			if b, inner = (located{c, n.file}).appendJSON(b); inner != nil {
				return nil, inner
			}
		}
		return append(b, ']'), nil
	case yaml.ScalarNode:
		switch n.Tag {
		case "!!null":
			return append(b, "null"...), nil
		case "!!bool":
			var v bool
			if err := n.Decode(&v); err != nil {
				return nil, fault("%q is not true or false", n.Value)
			}
			return strconv.AppendBool(b, v), nil
		case "!!int":
			var v int64
			if err := n.Decode(&v); err != nil {
				return nil, fault("the number %q is too large", n.Value)
			}
			return strconv.AppendInt(b, v, 10), nil
		case "!!float":
			var v float64
			if err := n.Decode(&v); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fault("%q is not a number that JSON can write", n.Value)
			}
			return strconv.AppendFloat(b, v, 'g', -1, 64), nil
		}
		return appendString(b, n.Value), nil
	}
	return nil, fault("this YAML cannot be written as JSON")
}

func appendString(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // a string always encodes
		panic(err)
	}
	return append(b, text...)
}
