package openai

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/countersign/countersign/judge"
)

// Price of a model in US dollars for a million tokens. A price of nothing is a
// price: a model that has none is another matter (see judge.Reply.Unpriced).
type Price struct {
	PromptUSD     float64 `json:"prompt_usd" yaml:"prompt_usd"`
	CompletionUSD float64 `json:"completion_usd" yaml:"completion_usd"`
}

func checkPrices(prices map[string]Price) error {
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		for kind, usd := range map[string]float64{"prompt_usd": prices[model].PromptUSD, "completion_usd": prices[model].CompletionUSD} {
			if usd < 0 || math.IsNaN(usd) || math.IsInf(usd, 0) {
				return fmt.Errorf("openai: the price %s of model %q is %v: give dollars for a million tokens, 0 or more", kind, model, usd)
			}
		}
	}
	return nil
}

// Price of a model, by the name it is asked for; ok is false when none is
// configured.
func (e *Engine) Price(model string) (price judge.Price, ok bool) {
	p, ok := e.prices[model]
	return judge.Price{PromptUSD: p.PromptUSD, CompletionUSD: p.CompletionUSD}, ok
}

// cost of a call in US dollars. known is false for a model without a price; where
// other models have one, that is logged once, since it may be a misspelt name.
func (e *Engine) cost(model string, t judge.Tokens) (usd float64, known bool) {
	p, known := e.prices[model]
	if !known {
		if _, told := e.unpriced.LoadOrStore(model, true); !told && len(e.prices) > 0 {
			e.pace.log.Warn("the model has no price, so what its calls cost is not known: add it under prices, with 0 if it costs nothing",
				"model", model, "endpoint", e.host)
		}
		return 0, false
	}
	return (float64(t.Prompt)*p.PromptUSD + float64(t.Completion)*p.CompletionUSD) / 1e6, true
}
