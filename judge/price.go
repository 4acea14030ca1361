package judge

import "math"

// Price of a model in US dollars for a million tokens.
type Price struct {
	PromptUSD, CompletionUSD float64
}

// Priced is a Chat that knows what its models cost.
type Priced interface {
	Chat
	// Price of a model, by the name it is asked for; ok is false when none is
	// configured.
	Price(model string) (p Price, ok bool)
}

// UnknownCost is what Purse.Hold is asked for when the model has no price. Only a
// purse without a budget can hold it.
const UnknownCost NanoUSD = -1

// Nano is an amount in dollars, rounded to the nearest billionth.
func Nano(usd float64) NanoUSD { return NanoUSD(math.Round(usd * 1e9)) }

// turnTokens are counted for what surrounds each turn of a conversation.
const turnTokens = 64

// Worst is the most that one call can cost, rounded up: a token of the prompt has
// at least one byte, and a reply has at most maxTokens. What structured output
// adds to the prompt is the schema, which the first turn holds already; it is
// counted once more.
func (p Price) Worst(c Conversation, params Params) NanoUSD {
	tokens := len(params.Schema)
	for _, m := range c {
		tokens += len(m.Content) + turnTokens
	}
	return NanoUSD(math.Ceil((float64(tokens)*p.PromptUSD + float64(params.MaxTokens)*p.CompletionUSD) * 1e3))
}
