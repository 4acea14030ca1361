package main

import (
	"os"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
	"github.com/countersign/countersign/judge/recorded"
	"github.com/countersign/countersign/judge/rules"
)

// engineFlags say what judges.
type engineFlags struct {
	Engine      string `help:"What judges: openai (any OpenAI-compatible endpoint), rules (embedded, no network) or recorded (reports that came with the traces). Default: openai when there is a key, else rules." enum:"openai,rules,recorded," default:"" placeholder:"NAME" env:"COUNTERSIGN_ENGINE" config:"engine"`
	Model       string `help:"Model that the endpoint is asked for." env:"COUNTERSIGN_MODEL" config:"model"`
	Concurrency int    `help:"Evaluations in the making at once." default:"8" env:"COUNTERSIGN_CONCURRENCY" config:"concurrency"`
	MaxTokens   int    `help:"Most tokens of one reply, at least 4096." default:"4096" config:"max_tokens"`
	KeyFile     string `name:"openai-api-key-file" help:"File that holds the endpoint's key." placeholder:"FILE" env:"OPENAI_API_KEY_FILE" config:"openai_api_key_file"`
}

// engines that a command uses.
type engines struct {
	all    map[string]judge.Engine
	engine string // the one that is planned
	model  string
	byName bool // it was asked for on the command line
}

// engines makes the engines. baseURL is the endpoint's, empty for OpenAI's own.
func (f engineFlags) engines(s *state, baseURL string) (engines, error) {
	if f.Concurrency < 1 || f.Concurrency > 1024 {
		return engines{}, usagef("--concurrency is %d: give a number from 1 to 1024", f.Concurrency)
	}
	key, err := f.key(s)
	if err != nil {
		return engines{}, err
	}
	e := engines{
		all:    map[string]judge.Engine{judge.EngineRules: rules.Engine{}, judge.EngineRecorded: recorded.Engine{}},
		engine: f.Engine, model: f.Model, byName: s.byName["engine"],
	}
	if e.engine == "" {
		e.engine = judge.EngineRules
		if key != "" {
			e.engine = judge.EngineOpenAI
		}
	}
	if e.engine != judge.EngineOpenAI {
		return e, nil
	}
	if f.Model == "" && f.Engine == "" {
		return engines{}, usagef("there is a key, so the engine is openai, and it needs a model: name one with --model or COUNTERSIGN_MODEL, or choose --engine rules")
	}
	if f.Model == "" {
		return engines{}, usagef("the engine openai needs a model: name one with --model or COUNTERSIGN_MODEL")
	}
	if key == "" && baseURL == "" {
		return engines{}, usagef("the engine openai needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own")
	}
	set := s.settings
	endpoint, err := openai.New(openai.Config{
		BaseURL: baseURL, APIKey: key, Headers: set.OpenAIHeaders, InFlight: f.Concurrency,
		Timeout:           time.Duration(set.TimeoutSeconds) * time.Second,
		RequestsPerMinute: set.RequestsPerMinute, TokensPerMinute: set.TokensPerMinute, Prices: set.Prices,
		Log: s.log,
	})
	if err != nil {
		return engines{}, usageError{err}
	}
	e.all[judge.EngineOpenAI] = endpoint
	return e, nil
}

// share makes the limits of the endpoint hold for all processes of the database
// together.
func (e engines) share(a judge.Allowance) {
	if endpoint, ok := e.all[judge.EngineOpenAI].(*openai.Engine); ok {
		endpoint.Share(a)
	}
}

// key of the endpoint: the environment's, else the file's.
func (f engineFlags) key(s *state) (string, error) {
	if key := s.env("OPENAI_API_KEY"); key != "" || f.KeyFile == "" {
		return key, nil
	}
	data, err := os.ReadFile(f.KeyFile)
	if err != nil {
		return "", usagef("the key file of the endpoint: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
