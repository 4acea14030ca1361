// Package openai is the engine for any OpenAI-compatible chat-completions
// endpoint: OpenAI, Azure, vLLM, llama.cpp, Ollama, LiteLLM. It is the only
// package that knows the client library.
//
// It makes calls and nothing else: it never retries a failed one (the harness
// does), never parses a reply as a report, and never lets the key into an error,
// a log or a record.
package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/countersign/countersign/judge"
)

// Config of an endpoint.
type Config struct {
	// Name is what the configuration calls the endpoint; its host when empty.
	Name string
	// BaseURL up to and with the version; https://api.openai.com/v1 when empty.
	// A query is sent with every call, such as ?api-version= for Azure.
	BaseURL string
	// APIKey is sent as a bearer token; empty for endpoints that want none.
	APIKey  string
	Headers map[string]string // sent with every call, such as api-key for Azure
	// Timeout of one call; 2 minutes when 0.
	Timeout time.Duration
	// InFlight is the most calls under way at once; 16 when 0.
	InFlight int
	// RequestsPerMinute and TokensPerMinute are limits that the endpoint sets;
	// 0 means none. Tokens are estimated at four bytes each before a call. The
	// limits are this engine's own unless Share is called.
	RequestsPerMinute, TokensPerMinute int
	// Prices by model name as it is asked for. A model without one is called all
	// the same; its replies say that the cost is not known.
	Prices map[string]Price
	// Log gets what goes wrong beside a call; slog.Default() when nil.
	Log *slog.Logger
	// Now and Sleep are the clock of limits and accounts; the machine's when
	// nil. Sleep returns the cause of ctx when that ends first.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// defaultBaseURL is the endpoint of a configuration that names none.
const defaultBaseURL = "https://api.openai.com/v1"

// Engine is the engine judge.EngineOpenAI. It is safe for concurrent use.
type Engine struct {
	client   openai.Client
	name     string
	host     string
	path     string // of the base URL, without a slash at its end
	secrets  *strings.Replacer
	prices   map[string]Price
	unpriced sync.Map // models that were called without a price
	inFlight chan struct{}
	pace     *pace
	dialects dialects
	formats  formats
	written  written
	now      func() time.Time
}

var (
	_ judge.Located = (*Engine)(nil)
	_ judge.Priced  = (*Engine)(nil)
)

// New makes an engine. It makes no call.
func New(c Config) (*Engine, error) {
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("openai: the base URL must be http or https with a host, such as " + defaultBaseURL)
	}
	if base.User != nil {
		return nil, errors.New("openai: the base URL must not hold a user or password; give the key by itself")
	}
	if err := checkPrices(c.Prices); err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(base.RawQuery)
	if err != nil {
		return nil, errors.New("openai: the query of the base URL cannot be read; write it as name=value, joined by &")
	}
	if c.Timeout <= 0 {
		c.Timeout = 2 * time.Minute
	}
	if c.InFlight <= 0 {
		c.InFlight = 16
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = c.InFlight
	transport.MaxIdleConns = c.InFlight
	// A prompt with its trace goes out, and a report comes in, in one piece.
	transport.WriteBufferSize, transport.ReadBufferSize = 32<<10, 8<<10

	// The client is made without the library's defaults, which would read
	// keys, organisations and headers from the environment.
	options := []option.RequestOption{
		option.WithBaseURL(root(base)),
		option.WithHTTPClient(&http.Client{Transport: transport}),
		option.WithMaxRetries(0),
		option.WithRequestTimeout(c.Timeout),
	}
	secrets := []string{}
	hide := func(secret string) {
		if len(secret) >= 4 {
			secrets = append(secrets, secret, "[hidden]")
		}
	}
	if c.APIKey != "" {
		options = append(options, option.WithAPIKey(c.APIKey))
		hide(c.APIKey)
	}
	for name, value := range c.Headers {
		options = append(options, option.WithHeader(name, value))
		hide(strings.TrimPrefix(value, "Bearer "))
	}
	for name, values := range query {
		for _, value := range values {
			options = append(options, option.WithQueryAdd(name, value))
			if secretQuery.MatchString(name) {
				hide(value)
			}
		}
	}
	e := &Engine{
		client: openai.Client{Options: options}, name: cmp.Or(c.Name, base.Host), host: base.Host,
		path:    strings.TrimRight(base.Path, "/"),
		secrets: strings.NewReplacer(secrets...), prices: c.Prices,
		inFlight: make(chan struct{}, c.InFlight), now: c.Now,
	}
	if e.now == nil {
		e.now = time.Now
	}
	e.pace = newPace(address(base), base.Host, judge.Budget{Requests: c.RequestsPerMinute, Tokens: c.TokensPerMinute})
	e.pace.now, e.pace.sleep, e.pace.log = e.now, c.Sleep, cmp.Or(c.Log, slog.Default())
	if e.pace.sleep == nil {
		e.pace.sleep = sleep
	}
	return e, nil
}

// Share makes the engine keep to its limits together with every other process
// that uses the same allowance for the same endpoint, and pause with them when
// the endpoint asks one of them to. While the allowance fails, the engine keeps
// to its limits by itself.
func (e *Engine) Share(a judge.Allowance) {
	e.pace.mu.Lock()
	defer e.pace.mu.Unlock()
	e.pace.shared = a
}

// root is the address that paths are put behind: without query and fragment.
func root(base *url.URL) string {
	plain := *base
	plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = "", false, "", ""
	return strings.TrimRight(plain.String(), "/") + "/"
}

// secretQuery finds parameters that hold a secret. The values of others, such as
// a version's date, may well stand in a reply and are left there.
var secretQuery = regexp.MustCompile(`(?i)key|token|secret|sig|code|password|auth`)

// address tells endpoints apart. A query may hold a secret and is left out.
func address(base *url.URL) string {
	return strings.ToLower(base.Scheme+"://"+base.Host) + strings.TrimRight(base.Path, "/")
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Name is judge.EngineOpenAI.
func (*Engine) Name() string { return judge.EngineOpenAI }

// Host is the endpoint's host, for people.
func (e *Engine) Host() string { return e.host }

// Endpoint is where texts are sent to.
func (e *Engine) Endpoint() judge.Endpoint { return judge.Endpoint{Name: e.name, Host: e.host} }

// String keeps the key out of a printed engine.
func (e *Engine) String() string { return fmt.Sprintf("openai engine at %s", e.host) }

// GoString is String.
func (e *Engine) GoString() string { return e.String() }
