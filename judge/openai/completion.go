package openai

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/countersign/countersign/judge"
)

// completionOf reads the body of an answer that says it is one (200). What is no
// chat completion is a *judge.TransportError that says what came and what may be
// wrong.
func (e *Engine) completionOf(response *http.Response, body []byte) (answer, error) {
	if a, ok := quickAnswer(body); ok {
		return a, nil
	}
	var parts struct {
		Choices json.RawMessage `json:"choices"`
		Error   json.RawMessage `json:"error"`
	}
	f := &judge.TransportError{Status: http.StatusOK, Endpoint: e.host, Temporary: true}
	kind := ""
	if response != nil {
		f.Status = response.StatusCode
		kind, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	}
	err := json.Unmarshal(body, &parts)
	switch {
	case err == nil && len(parts.Choices) > 0:
		var a answer
		if a, err = fullAnswer(body); err == nil {
			return a, nil
		}
		f.Message = "the chat completion can't be read: " + err.Error()
	case err == nil && len(parts.Error) > 0: // some gateways say so what is elsewhere a status
		f.Message = "an error in place of a chat completion: " + beginning(string(parts.Error), 1000)
	case err != nil && strings.HasPrefix(strings.TrimSpace(string(body)), "{"): // broken off on its way
		f.Message = "the chat completion can't be read: " + err.Error()
	default:
		f.Foreign = true
		f.Message = fmt.Sprintf("it answered %d with %s, %s, which is no chat completion; %s", f.Status, described(kind), quotedBeginning(body), e.addressHint())
	}
	f.Message = e.secrets.Replace(f.Message)
	return answer{}, f
}

func described(kind string) string {
	if kind == "" {
		return "a content of no named type"
	}
	return kind
}

// quotedBeginning is enough of a body to know it by.
func quotedBeginning(body []byte) string {
	text := strings.Join(strings.Fields(string(body[:min(len(body), 4096)])), " ")
	if text == "" {
		return "without a body"
	}
	return fmt.Sprintf("that begins with %q", beginning(text, 80))
}

func beginning(text string, most int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// versioned finds the version that addresses of endpoints end with.
var versioned = regexp.MustCompile(`/v\d+[a-z0-9]*$`)

// addressHint says what is probably wrong with the base URL.
func (e *Engine) addressHint() string {
	if versioned.MatchString(e.path) {
		return "look at the base URL: it probably leads to something else, such as a proxy or a page to sign in"
	}
	return "the base URL probably lacks /v1 at its end"
}
