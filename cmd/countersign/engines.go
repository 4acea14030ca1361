package main

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/recorded"
	"github.com/countersign/countersign/judge/rules"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/web"
)

// engineFlags say what judges.
type engineFlags struct {
	Engine      string   `help:"What judges: openai (any OpenAI-compatible endpoint), rules (embedded, no network) or recorded (reports that came with the traces). Default: openai when there is a key or an endpoint is named, else rules." default:"" placeholder:"NAME" env:"COUNTERSIGN_ENGINE" config:"engine"`
	Model       []string `help:"Model that the endpoint is asked for; may be repeated: several judge each trace, and where they disagree a person decides. On the command line it counts before the models of a project's policy." sep:"none" placeholder:"NAME" env:"COUNTERSIGN_MODEL" config:"model"`
	Endpoint    string   `help:"Endpoint of the configuration that is asked, by its name under endpoints; the default one without." placeholder:"NAME" env:"COUNTERSIGN_ENDPOINT" config:"endpoint"`
	Samples     int      `help:"Answers that a model is asked for in each evaluation: the commonest verdict counts, and where they disagree a person decides. Without: as the policy says, else 1." placeholder:"N" config:"samples"`
	Concurrency int      `help:"Evaluations in the making at once." default:"8" env:"COUNTERSIGN_CONCURRENCY" config:"concurrency"`
	MaxTokens   int      `help:"Most tokens of one reply, at least 4096." default:"4096" config:"max_tokens"`
	KeyFile     string   `name:"openai-api-key-file" help:"File that holds the endpoint's key." placeholder:"FILE" env:"OPENAI_API_KEY_FILE" config:"openai_api_key_file"`
}

// engines that a command uses.
type engines struct {
	all     map[string]judge.Engine // by Planned.EngineKey
	engine  string                  // the engine that is planned
	targets []judge.Target          // that are planned; one without a model stands for a policy's
	choices []judge.ModelChoice     // of the policy that came with the command
	// The engine, the models were asked for on the command line.
	byName, modelsByName bool
	maxTokens            int
	retry                harness.Retry
}

// mostSamples bounds --samples, as policies do: each is a call.
const mostSamples = judge.MaxSamples

// engines makes the engines. baseURL is the default endpoint's, empty for
// OpenAI's own. Every endpoint of the configuration is made, also those that are
// not planned now: work for them may be queued already, and policies name them.
func (f engineFlags) engines(s *state, baseURL string) (engines, error) {
	return f.enginesUnder(s, baseURL, judge.Policy{})
}

// enginesUnder is engines where a policy that is given with the command names
// models; they count where the command line names none.
func (f engineFlags) enginesUnder(s *state, baseURL string, policy judge.Policy) (engines, error) {
	if err := f.check(s); err != nil {
		return engines{}, err
	}
	key, err := f.key(s)
	if err != nil {
		return engines{}, err
	}
	e := engines{
		all: map[string]judge.Engine{
			judge.EngineRules: rules.Engine{Markers: s.settings.markers}, judge.EngineRecorded: recorded.Engine{},
		},
		engine: f.Engine, byName: s.byName["engine"], modelsByName: s.byName["model"],
		maxTokens: f.MaxTokens, retry: s.settings.Retry.rules(),
	}
	if !e.modelsByName {
		e.choices = modelChoices(policy)
	}
	elsewhere := slices.ContainsFunc(e.choices, func(m judge.ModelChoice) bool { return m.Endpoint != "" })
	if e.engine == "" {
		e.engine = judge.EngineRules
		if key != "" || f.Endpoint != "" || elsewhere {
			e.engine = judge.EngineOpenAI
		}
	}
	if err := s.settings.addEndpoints(s, e.all, f.Concurrency, os.ReadFile); err != nil {
		return engines{}, err
	}
	if e.engine != judge.EngineOpenAI {
		f.unused(s, e.engine)
		if len(e.choices) > 0 {
			s.say("the engine is %s, which asks no model: the policy's models are not used; --engine openai asks them", e.engine)
		}
		e.targets = []judge.Target{{Engine: e.engine}}
		return e, nil
	}
	models := f.Model
	if len(models) == 0 && len(policy.Models) > 0 {
		models = []string{""} // the policy's stand in its place, whatever the judge
	}
	if err := f.needs(models, key, baseURL, elsewhere); err != nil {
		return engines{}, err
	}
	for _, m := range e.choices {
		if _, there := s.settings.Endpoints[m.Endpoint]; m.Endpoint != "" && !there {
			return engines{}, usagef("the policy's model %s is for the endpoint %s, which is not in the configuration: %s", m.Model, m.Endpoint, s.settings.endpointNames())
		}
		if m.Endpoint == "" && key == "" && baseURL == "" {
			return engines{}, usagef("the policy's model %s is for the default endpoint, which needs OPENAI_API_KEY, or OPENAI_BASE_URL for one of your own", m.Model)
		}
	}
	for _, model := range models {
		e.targets = append(e.targets, judge.Target{Engine: e.engine, Model: model, Endpoint: f.Endpoint, Samples: f.Samples})
	}
	if key == "" && baseURL == "" { // only endpoints with a name
		return e, nil
	}
	e.all[judge.EngineOpenAI], err = s.settings.defaultEndpoint(baseURL, key).engine(s, "", f.Concurrency)
	return e, err
}

// unused tells of flags that were given and mean nothing for an engine that asks
// no model.
func (f engineFlags) unused(s *state, engine string) {
	for _, name := range []string{"model", "endpoint", "samples"} {
		if s.byName[name] {
			s.say("the engine is %s, which asks no model: --%s is not used; --engine openai asks one", engine, name)
		}
	}
}

// check the flags by themselves.
func (f engineFlags) check(s *state) error {
	if f.Engine != "" && !slices.Contains([]string{judge.EngineOpenAI, judge.EngineRules, judge.EngineRecorded}, f.Engine) {
		return usagef("--engine is %q: choose openai, rules or recorded", f.Engine)
	}
	if f.Concurrency < 1 || f.Concurrency > 1024 {
		return usagef("--concurrency is %d: give a number from 1 to 1024", f.Concurrency)
	}
	if f.Samples < 0 || f.Samples > mostSamples || (f.Samples == 0 && s.byName["samples"]) {
		return usagef("--samples is %d: give a number from 1 to %d, or none, and the policy says", f.Samples, mostSamples)
	}
	for i, model := range f.Model {
		switch {
		case strings.TrimSpace(model) == "":
			return usagef("--model is empty: name a model, or leave it out")
		case slices.Contains(f.Model[:i], model):
			return usagef("--model %q is given twice: name each model once, and ask one model several times with --samples", model)
		}
	}
	if _, ok := s.settings.Endpoints[f.Endpoint]; f.Endpoint != "" && !ok {
		return usagef("--endpoint %q is not in the configuration: %s", f.Endpoint, s.settings.endpointNames())
	}
	return nil
}

// needs says what the engine openai still needs; nil: nothing.
func (f engineFlags) needs(models []string, key, baseURL string, elsewhere bool) error {
	switch {
	case len(models) == 0 && f.Engine == "" && f.Endpoint == "":
		return usagef("there is a key, so the engine is openai, and it needs a model: name one with --model or COUNTERSIGN_MODEL, or choose --engine rules")
	case len(models) == 0:
		return usagef("the engine openai needs a model: name one with --model or COUNTERSIGN_MODEL")
	case f.Endpoint == "" && key == "" && baseURL == "" && !elsewhere:
		return usagef("the engine openai needs OPENAI_API_KEY, or OPENAI_BASE_URL for an endpoint of your own, or --endpoint with one of the configuration")
	}
	return nil
}

// share makes the limits of endpoints hold for all processes of the database
// together.
func (e engines) share(a judge.Allowance) {
	for _, engine := range e.all {
		if limited, ok := engine.(interface{ Share(judge.Allowance) }); ok {
			limited.Share(a)
		}
	}
}

// configure is the part of a harness's configuration that the engines are.
func (e engines) configure(c harness.Config) harness.Config {
	c.Engines, c.Targets = e.all, e.targets
	c.EngineByName, c.ModelsByName = e.byName, e.modelsByName
	c.MaxTokens, c.Retry = e.maxTokens, e.retry
	return c
}

// priced refuses a budget for models of which nobody knows what they cost: it
// could not be kept.
func (e engines) priced() error {
	targets := slices.Clone(e.targets)
	for _, m := range e.choices {
		targets = append(targets, judge.Target{Engine: judge.EngineOpenAI, Model: m.Model, Endpoint: m.Endpoint})
	}
	for _, t := range targets {
		engine, paid := e.all[planned(t).EngineKey()].(judge.Priced)
		if !paid || t.Model == "" {
			continue
		}
		if _, ok := engine.Price(t.Model); !ok {
			return usagef("--budget needs to know what model %s costs: give its price under prices in countersign.yaml, for a named endpoint under its own", t.Model)
		}
	}
	return nil
}

// price of a target's model.
func (e engines) price(t judge.Target) store.Price {
	engine, paid := e.all[planned(t).EngineKey()].(judge.Priced)
	if !paid {
		return store.Price{}
	}
	p, ok := engine.Price(t.Model)
	return store.Price{PromptUSD: p.PromptUSD, CompletionUSD: p.CompletionUSD, Known: ok}
}

// priceAt is what a model costs at an endpoint, by its name; empty: the default
// one.
func (e engines) priceAt(endpoint, model string) store.Price {
	return e.price(judge.Target{Engine: judge.EngineOpenAI, Model: model, Endpoint: endpoint})
}

// endpoints that can be asked, the default one first, each with the model that is
// planned for it.
func (e engines) endpoints() []web.Endpoint {
	var list []web.Endpoint
	for _, key := range slices.Sorted(maps.Keys(e.all)) { // openai comes before openai/NAME
		engine, ok := e.all[key].(judge.Located)
		if !ok {
			continue
		}
		_, name, _ := strings.Cut(key, "/")
		found := web.Endpoint{Name: name, Host: engine.Endpoint().Host}
		for _, t := range e.targets {
			if t.Engine == judge.EngineOpenAI && t.Endpoint == name && found.Model == "" {
				found.Model = t.Model
			}
		}
		list = append(list, found)
	}
	return list
}

// planned is what every evaluation by a target has in common.
func planned(t judge.Target) judge.Planned {
	return judge.Planned{Engine: t.Engine, Model: t.Model, Endpoint: t.Endpoint, Samples: t.Samples}
}

// String says who judges, for people.
func (e engines) String() string {
	if e.engine != judge.EngineOpenAI {
		return e.engine
	}
	var who []string
	for _, t := range e.targets {
		where := judge.EndpointOf(e.all[planned(t).EngineKey()])
		text := t.Model + " at " + where.Host
		if where.Name != where.Host {
			text = t.Model + " at " + where.Name + " (" + where.Host + ")"
		}
		who = append(who, text)
	}
	return strings.Join(who, ", ")
}

// key of the default endpoint: the environment's, else the file's.
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
