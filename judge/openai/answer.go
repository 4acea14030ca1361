package openai

import (
	stdjson "encoding/json"

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

// quickAnswer reads the usual form of an answer; ok is false for anything else,
// which the library reads or completionOf names. The library takes five times as
// long, as it keeps every field twice.
func quickAnswer(body []byte) (a answer, ok bool) {
	var c completion
	if json.Unmarshal(body, &c, jsontext.AllowInvalidUTF8(true)) != nil || c.Choices == nil {
		return answer{}, false
	}
	a = answer{model: c.Model, tokens: judge.Tokens{Prompt: c.Usage.Prompt, Completion: c.Usage.Completion}}
	if len(c.Choices) > 0 {
		m := c.Choices[0].Message
		a.text, a.refusal, a.finishReason = m.Content, m.Refusal, c.Choices[0].FinishReason
	}
	return a, true
}

// fullAnswer reads forms that are out of the ordinary, such as numbers in quotes.
func fullAnswer(body []byte) (answer, error) {
	var full openai.ChatCompletion
	if err := stdjson.Unmarshal(body, &full); err != nil {
		return answer{}, err
	}
	a := answer{model: full.Model, tokens: judge.Tokens{Prompt: int(full.Usage.PromptTokens), Completion: int(full.Usage.CompletionTokens)}}
	if len(full.Choices) > 0 {
		m := full.Choices[0].Message
		a.text, a.refusal, a.finishReason = m.Content, m.Refusal, string(full.Choices[0].FinishReason)
	}
	return a, nil
}
