package openai

import (
	"context"
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
	probing map[string]*probe // by model
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

// probe is a call that finds out what an endpoint takes for a model.
type probe struct {
	of    *dialects
	model string
	done  chan struct{}
}

// settled returns when no call finds out about a model; an error is ctx's.
func (d *dialects) settled(ctx context.Context, model string) error {
	for {
		d.mu.Lock()
		p := d.probing[model]
		d.mu.Unlock()
		if p == nil {
			return nil
		}
		select {
		case <-p.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// probe makes the caller the one that finds out, as soon as nobody else does. It
// must end the probe.
func (d *dialects) probe(ctx context.Context, model string) (*probe, error) {
	for {
		if err := d.settled(ctx, model); err != nil {
			return nil, err
		}
		d.mu.Lock()
		if d.probing[model] == nil {
			p := &probe{of: d, model: model, done: make(chan struct{})}
			if d.probing == nil {
				d.probing = map[string]*probe{}
			}
			d.probing[model] = p
			d.mu.Unlock()
			return p, nil
		}
		d.mu.Unlock()
	}
}

// end lets the others go on. A nil probe has nobody waiting.
func (p *probe) end() {
	if p == nil {
		return
	}
	p.of.mu.Lock()
	delete(p.of.probing, p.model)
	p.of.mu.Unlock()
	close(p.done)
}
