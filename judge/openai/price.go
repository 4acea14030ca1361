package openai

import "github.com/countersign/countersign/judge"

var _ judge.Priced = (*Engine)(nil)

// Price of a model by the name that it is asked for; ok is false when none is
// configured.
func (e *Engine) Price(model string) (judge.Price, bool) {
	p, ok := e.prices[model]
	return judge.Price{PromptUSD: p.PromptUSD, CompletionUSD: p.CompletionUSD}, ok
}
