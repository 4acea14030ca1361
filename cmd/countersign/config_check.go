package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/openai"
)

// textList is one text or a list of them.
type textList []string

// UnmarshalYAML reads either form.
func (l *textList) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var one string
		if err := n.Decode(&one); err != nil {
			return err
		}
		*l = textList{one}
		return nil
	}
	return n.Decode((*[]string)(l))
}

func (l textList) values() []any {
	list := make([]any, len(l))
	for i, text := range l {
		list[i] = text
	}
	return list
}

// retrySettings say how calls that brought no reply are tried again. 0 is the
// default that the comment names.
type retrySettings struct {
	Tries               int     `yaml:"tries"`                 // of one call; 6
	FirstWaitSeconds    float64 `yaml:"first_wait_seconds"`    // doubles from here; 0.5
	LongestWaitSeconds  float64 `yaml:"longest_wait_seconds"`  // of our own; 30
	LongestAskedSeconds float64 `yaml:"longest_asked_seconds"` // that an endpoint may ask for; 300
}

func (r retrySettings) rules() harness.Retry {
	return harness.Retry{
		Tries: r.Tries, Initial: seconds(r.FirstWaitSeconds), Max: seconds(r.LongestWaitSeconds), MaxAsked: seconds(r.LongestAskedSeconds),
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// settingsFile tells where in a configuration something stands.
type settingsFile struct {
	name string
	root *yaml.Node
}

// fault names a place by its keys, with its line.
func (f settingsFile) fault(path []string, format string, args ...any) error {
	return usagef("configuration %s: line %d: %s %s", f.name, f.line(path), strings.Join(path, "."), fmt.Sprintf(format, args...))
}

// line of the value that the keys lead to, or of the last that is there.
func (f settingsFile) line(path []string) int {
	n := f.root
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	line := n.Line
	for _, key := range path {
		for n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		i := 0
		for i < len(n.Content) && (n.Kind != yaml.MappingNode || n.Content[i].Value != key) {
			i += 2
		}
		if i+1 >= len(n.Content) {
			break
		}
		line, n = n.Content[i].Line, n.Content[i+1]
	}
	return line
}

// Bounds of settings.
const (
	mostPerMinute = 1_000_000_000
	mostTimeout   = 24 * 3600 // seconds
	mostTries     = 100
	mostWait      = 24 * 3600 // seconds
	mostInFlight  = 1024
)

// check holds what can be read to what makes sense, and says every fault. It
// prepares what is made from texts.
func (s *settings) check(f settingsFile) error {
	type fault struct {
		line int
		err  error
	}
	var faults []fault
	bad := func(path []string, format string, args ...any) {
		faults = append(faults, fault{f.line(path), f.fault(path, format, args...)})
	}
	between := func(path []string, n, most float64) {
		if !(n >= 0 && n <= most) {
			bad(path, "is %v: give a number from 0 to %.0f", n, most)
		}
	}
	if s.KeepRawRepliesDays < 0 || s.KeepRawRepliesDays > maxDays {
		bad([]string{"keep_raw_replies_days"}, "is %d: give 1 to %d, or 0 to keep them for ever", s.KeepRawRepliesDays, maxDays)
	}
	between([]string{"samples"}, float64(s.Samples), mostSamples)
	between([]string{"requests_per_minute"}, float64(s.RequestsPerMinute), mostPerMinute)
	between([]string{"tokens_per_minute"}, float64(s.TokensPerMinute), mostPerMinute)
	between([]string{"timeout_seconds"}, float64(s.TimeoutSeconds), mostTimeout)
	between([]string{"retry", "tries"}, float64(s.Retry.Tries), mostTries)
	between([]string{"retry", "first_wait_seconds"}, s.Retry.FirstWaitSeconds, mostWait)
	between([]string{"retry", "longest_wait_seconds"}, s.Retry.LongestWaitSeconds, mostWait)
	between([]string{"retry", "longest_asked_seconds"}, s.Retry.LongestAskedSeconds, mostWait)
	s.checkPrices([]string{"prices"}, s.Prices, bad)
	for _, name := range slices.Sorted(maps.Keys(s.OpenAIHeaders)) {
		checkHeader([]string{"openai_headers", name}, name, s.OpenAIHeaders[name], bad)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Endpoints)) {
		e, path := s.Endpoints[name], []string{"endpoints", name}
		at := func(key ...string) []string { return append(slices.Clone(path), key...) }
		if !endpointName.MatchString(name) {
			bad(path, "is no name of an endpoint: give 1 to 64 of a-z, A-Z, 0-9, dot, - and _, a letter or digit first")
		}
		if fault := addressFault(e.BaseURL); fault != "" {
			bad(at("base_url"), "%s", fault)
		}
		between(at("requests_per_minute"), float64(e.RequestsPerMinute), mostPerMinute)
		between(at("tokens_per_minute"), float64(e.TokensPerMinute), mostPerMinute)
		between(at("timeout_seconds"), float64(e.TimeoutSeconds), mostTimeout)
		between(at("in_flight"), float64(e.InFlight), mostInFlight)
		s.checkPrices(at("prices"), e.Prices, bad)
		for _, header := range slices.Sorted(maps.Keys(e.Headers)) {
			checkHeader(at("headers", header), header, e.Headers[header], bad)
		}
	}
	if _, ok := s.Endpoints[s.Endpoint]; s.Endpoint != "" && !ok {
		bad([]string{"endpoint"}, "is %q, which is not in the configuration: %s", s.Endpoint, s.endpointNames())
	}
	if s.CitationPattern != "" {
		pattern, err := regexp.Compile(s.CitationPattern)
		switch {
		case err != nil:
			bad([]string{"citation_pattern"}, "can't be read as a regular expression (RE2): %v", err)
		case pattern.NumSubexp() == 0:
			bad([]string{"citation_pattern"}, "has no group: put what is the id of a source into round brackets")
		case pattern.MatchString(""):
			bad([]string{"citation_pattern"}, "fits where there is nothing: a marker has at least one character")
		default:
			s.markers = pattern
		}
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	errs := make([]error, len(faults))
	for i := range faults {
		errs[i] = faults[i].err
	}
	return errors.Join(errs...)
}

var endpointName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$`)

func (settings) checkPrices(path []string, prices map[string]openai.Price, bad func([]string, string, ...any)) {
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		p := prices[model]
		for _, part := range []struct {
			key string
			usd float64
		}{{"prompt_usd", p.PromptUSD}, {"completion_usd", p.CompletionUSD}} {
			if !(part.usd >= 0) || math.IsInf(part.usd, 0) {
				bad(append(slices.Clone(path), model, part.key), "is %v: give dollars for a million tokens, 0 or more", part.usd)
			}
		}
	}
}

func checkHeader(path []string, name, value string, bad func([]string, string, ...any)) {
	if name == "" || strings.ContainsAny(name, " \t\r\n:") {
		bad(path, "is no name of a header")
	}
	if strings.ContainsAny(value, "\r\n\x00") {
		bad(path, "has a line break, which no header can hold")
	}
}

// addressFault says what is wrong with an endpoint's address, without it: it may
// hold a secret.
func addressFault(address string) string {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return "is missing: give the endpoint's address, such as https://api.openai.com/v1"
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return "must be http or https with a host, such as https://api.openai.com/v1"
	case u.User != nil:
		return "must not hold a user or password: give the key with api_key_file"
	}
	return ""
}
