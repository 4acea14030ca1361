package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
)

// endpointSettings are one endpoint of countersign.yaml, under its name in
// endpoints. The flat keys are those of the default endpoint, which has no name
// but its host.
type endpointSettings struct {
	BaseURL    string            `yaml:"base_url"` // up to and with the version
	APIKeyFile string            `yaml:"api_key_file"`
	Headers    map[string]string `yaml:"headers"` // of every call
	Query      map[string]string `yaml:"query"`   // of every call, such as api-version for Azure
	// Limits, of all processes on one database together, but for InFlight; 0: none.
	RequestsPerMinute int                     `yaml:"requests_per_minute"`
	TokensPerMinute   int                     `yaml:"tokens_per_minute"`
	InFlight          int                     `yaml:"in_flight"`       // calls under way at once; 0: --concurrency
	TimeoutSeconds    int                     `yaml:"timeout_seconds"` // of one call; 0: 2 minutes
	Prices            map[string]openai.Price `yaml:"prices"`          // by model

	key string
}

// defaultEndpoint is the one of the flat keys.
func (s settings) defaultEndpoint(baseURL, key string) endpointSettings {
	return endpointSettings{
		BaseURL: baseURL, Headers: s.OpenAIHeaders, key: key,
		RequestsPerMinute: s.RequestsPerMinute, TokensPerMinute: s.TokensPerMinute,
		TimeoutSeconds: s.TimeoutSeconds, Prices: s.Prices,
	}
}

// addEndpoints makes the engines of all endpoints that have a name. readFile reads
// their keys; nil: they are not to be called and need none.
func (s settings) addEndpoints(st *state, all map[string]judge.Engine, concurrency int, readFile func(string) ([]byte, error)) error {
	for _, name := range slices.Sorted(maps.Keys(s.Endpoints)) {
		e := s.Endpoints[name]
		if e.APIKeyFile != "" && readFile != nil {
			data, err := readFile(e.APIKeyFile)
			if err != nil {
				return usagef("the key file of endpoint %s: %w", name, err)
			}
			e.key = strings.TrimSpace(string(data))
		}
		engine, err := e.engine(st, name, concurrency)
		if err != nil {
			return fmt.Errorf("endpoint %s: %w", name, err)
		}
		planned := judge.Planned{Engine: judge.EngineOpenAI, Endpoint: name}
		all[planned.EngineKey()] = engine
	}
	return nil
}

// engine that asks this endpoint. It makes no call.
func (e endpointSettings) engine(st *state, name string, concurrency int) (judge.Engine, error) {
	address := e.BaseURL
	if len(e.Query) > 0 {
		u, err := url.Parse(address)
		if err != nil {
			return nil, usagef("the address can't be read") // without it: it may hold a secret
		}
		query := u.Query()
		for k, v := range e.Query {
			query.Set(k, v)
		}
		u.RawQuery = query.Encode()
		address = u.String()
	}
	inFlight := e.InFlight
	if inFlight == 0 {
		inFlight = concurrency
	}
	made, err := openai.New(openai.Config{
		Name: name, BaseURL: address, APIKey: e.key, Headers: e.Headers, InFlight: inFlight,
		Timeout:           time.Duration(e.TimeoutSeconds) * time.Second,
		RequestsPerMinute: e.RequestsPerMinute, TokensPerMinute: e.TokensPerMinute, Prices: e.Prices,
		Log: st.log,
	})
	if err != nil {
		return nil, usageError{err}
	}
	return made, nil
}

// endpointNames says which endpoints there are, for the message about one that
// is not.
func (s settings) endpointNames() string {
	if len(s.Endpoints) == 0 {
		return "it has no endpoints; add it under endpoints"
	}
	return "its endpoints are " + strings.Join(slices.Sorted(maps.Keys(s.Endpoints)), ", ")
}
