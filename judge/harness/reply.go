package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Bounds of the search for a report: a reply that is longer, or in which more
// places look like the start of an object, is not searched further.
const (
	maxReply  = 4 << 20
	maxStarts = 500
)

// thinking matches the preamble that reasoning models put before their answer.
var thinking = regexp.MustCompile(`(?s)^\s*<(think|thinking|reasoning)>.*?</(think|thinking|reasoning)>`)

// ExtractReport finds the one JSON object in a reply: alone, inside a code
// fence, or after a reasoning preamble. No object, two objects, and a key that is
// given twice in one object are errors, and so is a reply over 4 MiB.
func ExtractReport(reply string) (json.RawMessage, error) {
	if len(reply) > maxReply {
		return nil, fmt.Errorf("the reply has %d bytes, more than a report can have (%d)", len(reply), maxReply)
	}
	text := strings.TrimSpace(thinking.ReplaceAllString(reply, ""))
	if text == "" {
		return nil, errors.New("the reply is empty")
	}
	var found []json.RawMessage
	var foundAt int // where the first one starts
	var first error // why the first thing that looked like an object was none
	rest, starts := text, 0
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			break
		}
		if starts++; starts > maxStarts {
			return nil, errors.New("the reply holds too many opening braces to find a report in it")
		}
		rest = rest[i:]
		dec := json.NewDecoder(strings.NewReader(rest))
		var object json.RawMessage
		if err := dec.Decode(&object); err != nil {
			if first == nil {
				first = fmt.Errorf("the JSON that starts at byte %d is broken: %w", len(text)-len(rest), asTruncated(err))
			}
			rest = rest[1:]
			continue
		}
		if found == nil {
			foundAt = len(text) - len(rest)
		}
		found = append(found, object)
		rest = rest[dec.InputOffset():]
	}
	switch {
	case len(found) == 0 && first != nil:
		return nil, first
	case len(found) == 0:
		return nil, errors.New("the reply holds no JSON object")
	case first != nil && unclosed(text[:foundAt]):
		// The object stands inside one that is broken: a part of a report.
		return nil, first
	case len(found) > 1:
		return nil, fmt.Errorf("the reply holds %d JSON objects; a report is exactly one", len(found))
	}
	if strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
		return nil, errors.New("the reply is a JSON array; a report is one object")
	}
	if err := duplicateKey(found[0]); err != nil {
		return nil, err
	}
	return found[0], nil
}

// unclosed reports whether braces are still open at the end of a text.
func unclosed(text string) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"' && depth > 0:
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			depth = max(0, depth-1)
		}
	}
	return depth > 0
}

func asTruncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it ends before it is complete")
	}
	return err
}

// duplicateKey finds a key that an object gives twice. encoding/json would take
// the last one silently, and a report that says two things says nothing.
func duplicateKey(doc json.RawMessage) error {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	type level struct {
		keys    map[string]bool // nil in an array
		wantKey bool
	}
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // the end; doc is known to be valid JSON
		}
		top := len(open) - 1
		isKey := false
		if delim, ok := token.(json.Delim); ok {
			switch delim {
			case '{':
				open = append(open, level{keys: map[string]bool{}, wantKey: true})
				continue
			case '[':
				open = append(open, level{})
				continue
			default:
				open = open[:top]
				top--
			}
		} else if top >= 0 && open[top].wantKey {
			isKey = true
		}
		if top < 0 {
			continue
		}
		if isKey {
			key := token.(string)
			if open[top].keys[key] {
				return fmt.Errorf("the report gives the key %q twice in one object", key)
			}
			open[top].keys[key] = true
		}
		if open[top].keys != nil {
			open[top].wantKey = !isKey
		}
	}
}
