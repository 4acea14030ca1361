package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/judge/openai"
)

// settings is countersign.yaml. Most keys are an option of some command, under
// the name of its flag with underscores.
type settings struct {
	Addr           string   `yaml:"addr"`
	Data           string   `yaml:"data"`
	DatabaseURL    string   `yaml:"database_url"`
	DatabaseFile   string   `yaml:"database_url_file"`
	BaseURL        string   `yaml:"base_url"`
	Project        string   `yaml:"project"`
	Engine         string   `yaml:"engine"`
	Model          textList `yaml:"model"` // one or a list
	Endpoint       string   `yaml:"endpoint"`
	Samples        int      `yaml:"samples"`
	Rubric         string   `yaml:"rubric"`
	OpenAIBaseURL  string   `yaml:"openai_base_url"`
	OpenAIKeyFile  string   `yaml:"openai_api_key_file"`
	Concurrency    int      `yaml:"concurrency"`
	MaxLine        int      `yaml:"max_line"`
	Judges         []string `yaml:"judges"`
	SessionKeyFile string   `yaml:"session_key_file"`
	MaxTokens      int      `yaml:"max_tokens"`
	WebhookURL     string   `yaml:"webhook_url"`
	WebhookSecret  string   `yaml:"webhook_secret_file"`
	// What only the file can say about the endpoint: headers of every call, its
	// limits (of all processes on one database together), how long one call may take (2 minutes when 0), and the prices of
	// models by name, for the cost of evaluations.
	OpenAIHeaders     map[string]string `yaml:"openai_headers"`
	RequestsPerMinute int               `yaml:"requests_per_minute"`
	TokensPerMinute   int               `yaml:"tokens_per_minute"`
	TimeoutSeconds    int               `yaml:"timeout_seconds"`
	// KeepRawRepliesDays is how long servers keep the raw replies of models; 0:
	// for ever.
	KeepRawRepliesDays int                     `yaml:"keep_raw_replies_days"`
	Prices             map[string]openai.Price `yaml:"prices"`

	// Endpoints beside the default one, by name: policies, --endpoint and queued
	// work name them.
	Endpoints map[string]endpointSettings `yaml:"endpoints"`
	Retry     retrySettings               `yaml:"retry"`
	// CitationPattern finds a citation marker (RE2), its first group the source's
	// id. Empty: the default form.
	CitationPattern string `yaml:"citation_pattern"`

	markers *regexp.Regexp // CitationPattern; nil: the default form
}

const defaultConfig = "countersign.yaml"

// readSettings reads the configuration file. Without a path it is the default
// one, which may be absent.
func readSettings(path string) (settings, error) {
	var set settings
	name := path
	if name == "" {
		name = defaultConfig
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) && path == "" {
		return set, nil
	}
	if err != nil {
		return set, usagef("configuration: %w", err)
	}
	return parseSettings(name, data)
}

// parseSettings reads a configuration; every fault is told with its line.
func parseSettings(name string, data []byte) (set settings, err error) {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	err = d.Decode(&set)
	var faults *yaml.TypeError
	switch {
	case errors.Is(err, io.EOF): // an empty file sets nothing
		return settings{}, nil
	case errors.As(err, &faults):
		return set, usagef("configuration %s: %s", name, goType.ReplaceAllString(strings.Join(faults.Errors, "; "), ""))
	case err != nil:
		return set, usagef("configuration %s: %s", name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil { // it was read a moment ago
		return set, usagef("configuration %s: %w", name, err)
	}
	return set, set.check(settingsFile{name, &root})
}

// goType is how the YAML library names where a key does not belong, which says
// nothing to people.
var goType = regexp.MustCompile(` in type main\.\w+`)

// value of the setting of this name for a flag: its text, or a list; ok is false
// when the file does not set it.
func (s settings) value(name string) (value any, ok bool) {
	if name == "model" { // the name of a model may hold any character, so no text parts a list
		return s.Model.values(), len(s.Model) > 0
	}
	texts := map[string]string{
		"addr": s.Addr, "data": s.Data, "database_url": s.DatabaseURL, "database_url_file": s.DatabaseFile,
		"base_url": s.BaseURL, "project": s.Project, "engine": s.Engine,
		"endpoint": s.Endpoint, "rubric": s.Rubric, "openai_base_url": s.OpenAIBaseURL, "openai_api_key_file": s.OpenAIKeyFile,
		"judges": strings.Join(s.Judges, ","), "session_key_file": s.SessionKeyFile,
		"webhook_url": s.WebhookURL, "webhook_secret_file": s.WebhookSecret,
	}
	for name, n := range map[string]int{"concurrency": s.Concurrency, "max_line": s.MaxLine, "max_tokens": s.MaxTokens, "samples": s.Samples} {
		if n != 0 {
			texts[name] = strconv.Itoa(n)
		}
	}
	text := texts[name]
	return text, text != ""
}

// resolver gives a flag that the command line does not have its value: from the
// environment, else from the configuration. (kong by itself would let the
// configuration win over the environment.) A flag takes the setting that its
// tag config names.
type resolver struct{ state *state }

// Validate is part of kong's interface; values are checked when they are used.
func (r *resolver) Validate(*kong.Application) error { return nil }

// Resolve is part of kong's interface.
func (r *resolver) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if v, ok := r.state.lookupEnv(name); ok && v != "" {
			r.state.inEnv[flag.Name] = true
			return v, nil
		}
	}
	if name := flag.Tag.Get("config"); name != "" {
		if v, ok := r.state.settings.value(name); ok {
			r.state.inFile[flag.Name] = true
			return v, nil
		}
	}
	return nil, nil
}

// BeforeResolve is kong's hook between the command line and the resolver: it
// reads the configuration, and notes which flags the command line itself has.
func (*cli) BeforeResolve(ctx *kong.Context, s *state) (err error) {
	path := s.env("COUNTERSIGN_CONFIG")
	for _, p := range ctx.Path {
		if p.Flag == nil {
			continue
		}
		s.byName[p.Flag.Name] = true
		if p.Flag.Name == "config" {
			path = fmt.Sprint(ctx.FlagValue(p.Flag))
		}
	}
	s.settings, err = readSettings(path)
	return err
}
