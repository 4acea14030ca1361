package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/countersign/countersign/judge"
)

// schemaCache holds compiled schemas by prompt version.
type schemaCache struct {
	mu       sync.Mutex
	compiled map[string]*schema
}

// schema is a judge's schema compiled, and as a value for finding what it
// requires.
type schema struct {
	compiled *jsonschema.Schema
	value    any
}

func (c *schemaCache) of(j *judge.Judge) (*schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := j.PromptVersion
	if key == "" {
		key = j.Name + "\x00" + string(j.Schema)
	}
	if s := c.compiled[key]; s != nil {
		return s, nil
	}
	s := &schema{}
	var err error
	if s.compiled, err = judge.CompileSchema(j.Schema); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(j.Schema, &s.value); err != nil {
		return nil, err
	}
	if c.compiled == nil {
		c.compiled = map[string]*schema{}
	}
	c.compiled[key] = s
	return s, nil
}

var english = message.NewPrinter(language.English)

// faults lists everything in a report that the schema does not allow, each with
// its JSON pointer and, where one was received, the value.
func (s *schema) faults(report json.RawMessage) []string {
	value, err := valueOf(report)
	if err != nil {
		return []string{"the report is not valid JSON: " + err.Error()}
	}
	if bytes.Contains(report, []byte("null")) {
		value = withoutNulls(value, s.value, []any{s.value})
	}
	var list []string
	told := map[string]bool{} // by place
	numbers := s.numberFaults(value)
	if !slices.ContainsFunc(numbers, func(f numberFault) bool { return f.endless }) {
		if err = s.compiled.Validate(value); err != nil {
			invalid, ok := err.(*jsonschema.ValidationError)
			if !ok {
				return []string{err.Error()}
			}
			leaves(invalid, func(leaf *jsonschema.ValidationError) {
				at := pointer(leaf.InstanceLocation)
				told[at] = true
				list = append(list, fmt.Sprintf("%s: %s%s", at, leaf.ErrorKind.LocalizedString(english), received(value, leaf.InstanceLocation)))
			})
		}
	}
	for _, f := range numbers {
		if at := pointer(f.at); !told[at] {
			list = append(list, fmt.Sprintf("%s: %s%s", at, f.what, received(value, f.at)))
		}
	}
	return list
}

func leaves(e *jsonschema.ValidationError, visit func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 {
		visit(e)
		return
	}
	for _, c := range e.Causes {
		leaves(c, visit)
	}
}

func pointer(tokens []string) string {
	if len(tokens) == 0 {
		return "(the whole report)"
	}
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(t))
	}
	return b.String()
}

// received shows a scalar value that was refused.
func received(value any, at []string) string {
	for _, token := range at {
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			var i int
			if _, err := fmt.Sscanf(token, "%d", &i); err != nil || i < 0 || i >= len(v) {
				return ""
			}
			value = v[i]
		}
	}
	switch value.(type) {
	case map[string]any, []any:
		return ""
	}
	b, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	if len(b) > 120 {
		b = append(bytes.ToValidUTF8(b[:120], nil), "…"...)
	}
	return fmt.Sprintf(" (received %s)", b)
}
