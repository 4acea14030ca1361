package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// maxReply is the longest reply that is searched for a report.
const maxReply = 4 << 20

// thinking matches the preamble that reasoning models put before their answer;
// thinks, one that has begun.
var (
	thinking = regexp.MustCompile(`(?s)^\s*<(think|thinking|reasoning)>.*?</(think|thinking|reasoning)>`)
	thinks   = regexp.MustCompile(`^\s*<(think|thinking|reasoning)>`)
)

// ExtractReport finds the one JSON object in a reply: alone, inside a code
// fence, or after a reasoning preamble. No object, two objects, an object that is
// broken, an array, words after the object, and a key that is given twice in one
// object are errors, and so is a reply over 4 MiB. The time it takes grows with the length of the reply.
func ExtractReport(reply string) (json.RawMessage, error) {
	if len(reply) > maxReply {
		return nil, fmt.Errorf("the reply has %d bytes, more than a report can have (%d)", len(reply), maxReply)
	}
	text := strings.TrimSpace(reply)
	if strings.HasPrefix(text, "<") {
		text = strings.TrimSpace(thinking.ReplaceAllString(reply, ""))
	}
	if report := onlyObject(text); report != nil {
		return report, nil
	}
	switch {
	case text == "":
		return nil, errors.New("the reply is empty")
	case thinks.MatchString(text):
		return nil, errors.New("the reply begins to reason and never ends: there is no report after it")
	}
	found, err := objects(text)
	switch {
	case err != nil:
		return nil, err
	case found.n == 0:
		return nil, errors.New("the reply holds no JSON object")
	case found.n > 1:
		return nil, fmt.Errorf("the reply holds %d JSON objects; a report is exactly one", found.n)
	case inArray(text, found.from, found.to):
		return nil, errors.New("the reply is a JSON array; a report is one object")
	case strings.ContainsFunc(text[found.to:], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		// It may take the report back, or say whose words it is.
		return nil, errors.New("the reply goes on after its JSON object; a report stands last")
	}
	report := json.RawMessage(text[found.from:found.to])
	if err := duplicateKey(report); err != nil {
		return nil, err
	}
	return report, nil
}

// onlyObject is a text that is one JSON object, with no key twice, and nothing
// else; nil when it is not. Most replies are, and it takes a quarter of the time
// that finding out what is wrong does.
func onlyObject(text string) json.RawMessage {
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	if object := jsontext.Value(text); object.IsValid(jsontext.AllowInvalidUTF8(true)) {
		return json.RawMessage(object)
	}
	return nil
}

// search is what was found in a text.
type search struct {
	n        int // objects
	from, to int // bytes of the first one
	read     int // bytes that were decoded to find out
}

// objects finds the JSON objects of a text that stand in no other. What begins
// like one, with a brace and then a key, and is none is an error: it is a report
// that is broken, or the first of two. Other braces are prose, such as {1, 2}.
//
// Every byte is decoded once at most: where an object ends, the search goes on,
// and where one breaks, it ends.
func objects(text string) (s search, err error) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			return s, nil
		}
		at += i
		inside := strings.TrimLeft(text[at+1:], " \t\r\n")
		if inside != "" && inside[0] != '"' && inside[0] != '}' {
			at++
			continue
		}
		dec := json.NewDecoder(strings.NewReader(text[at:]))
		var object json.RawMessage
		if err := dec.Decode(&object); err != nil {
			return s, fmt.Errorf("the JSON that starts at byte %d is broken: %w", at, asTruncated(err))
		}
		n := int(dec.InputOffset())
		if s.n++; s.n == 1 {
			s.from, s.to = at, at+n
		}
		s.read += n
		at += n
	}
}

// inArray reports whether an object stands in a list of its own.
func inArray(text string, from, to int) bool {
	before := strings.TrimRight(text[:from], " \t\r\n")
	after := strings.TrimLeft(text[to:], " \t\r\n")
	return strings.HasSuffix(before, "[") && (strings.HasPrefix(after, "]") || strings.HasPrefix(after, ","))
}

func asTruncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errors.New("it ends before it is complete")
	}
	return err
}
