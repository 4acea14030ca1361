package openai

import (
	"strings"
	"sync"
)

// format of a structured reply, the strictest first.
type format int

const (
	jsonSchema format = iota
	jsonObject
	plainText
)

// dialect is what an endpoint takes for one model, as found out so far.
type dialect struct {
	format              format
	noTemperature       bool
	noSeed              bool
	maxCompletionTokens bool // instead of max_tokens
}

// dialects remembers what was found, so that it is found once.
type dialects struct {
	mu      sync.Mutex
	byModel map[string]dialect
	// refused holds schemas that an endpoint which takes schemas did not take.
	refused map[string]bool // model and schema name
}

func (d *dialects) of(model, schema string) dialect {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.byModel[model]
	if known.format == jsonSchema && d.refused[model+"\x00"+schema] {
		known.format = jsonObject
	}
	return known
}

// learn takes what a refusal says about an endpoint. It reports whether there is
// anything that a next call would do differently from the one that was made as
// used.
func (d *dialects) learn(model, schema string, used dialect, param, message string) bool {
	text := strings.ToLower(param + " " + message)
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byModel == nil {
		d.byModel, d.refused = map[string]dialect{}, map[string]bool{}
	}
	known := d.byModel[model]
	switch {
	case says("max_completion_tokens") && !used.maxCompletionTokens:
		known.maxCompletionTokens = true
	case used.maxCompletionTokens && says("max_completion_tokens") && says("unknown", "unrecognized", "unsupported", "not supported", "extra"):
		return false
	case says("temperature") && !used.noTemperature:
		known.noTemperature = true
	case says("seed") && !used.noSeed:
		known.noSeed = true
	case used.format == jsonSchema && says("invalid schema", "invalid_json_schema"):
		d.refused[model+"\x00"+schema] = true
	case used.format != plainText && says("response_format", "json_schema", "json_object", "structured output", "guided"):
		known.format = max(known.format, used.format+1)
	default:
		return false
	}
	d.byModel[model] = known
	return true
}
