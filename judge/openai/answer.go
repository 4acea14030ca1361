package openai

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/openai/openai-go/v3"

	"github.com/countersign/countersign/judge"
)

// answer is what counts of an endpoint's answer. An answer without a choice has
// no text.
type answer struct {
	text, refusal, finishReason, model string
	tokens                             judge.Tokens
}

// completion is the part of a chat completion that is read, in its usual form.
type completion struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
}

// checkJSON refuses what says of itself that it is no JSON: a page of a proxy.
func checkJSON(r *http.Response) error {
	declared := r.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(declared)
	if strings.Contains(kind, "application/json") || strings.HasSuffix(kind, "+json") {
		return nil
	}
	return fmt.Errorf("expected an answer in JSON and not with content-type %q", declared)
}

// readAnswer reads the body of an answer. The library reads forms that are out of
// the ordinary, such as numbers in quotes; it takes five times as long, as it
// keeps every field twice.
func readAnswer(body []byte) (answer, error) {
	var c completion
	if json.Unmarshal(body, &c, jsontext.AllowInvalidUTF8(true)) == nil {
		a := answer{model: c.Model, tokens: judge.Tokens{Prompt: c.Usage.Prompt, Completion: c.Usage.Completion}}
		if len(c.Choices) > 0 {
			m := c.Choices[0].Message
			a.text, a.refusal, a.finishReason = m.Content, m.Refusal, c.Choices[0].FinishReason
		}
		return a, nil
	}
	var full openai.ChatCompletion
	if err := stdjson.NewDecoder(bytes.NewReader(body)).Decode(&full); err != nil {
		return answer{}, fmt.Errorf("error parsing response json: %w", err)
	}
	a := answer{model: full.Model, tokens: judge.Tokens{Prompt: int(full.Usage.PromptTokens), Completion: int(full.Usage.CompletionTokens)}}
	if len(full.Choices) > 0 {
		m := full.Choices[0].Message
		a.text, a.refusal, a.finishReason = m.Content, m.Refusal, string(full.Choices[0].FinishReason)
	}
	return a, nil
}
