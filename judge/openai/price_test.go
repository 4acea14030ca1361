package openai_test

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
)

// A price of nothing is known; a model that has no price is not free.
func TestPrices(t *testing.T) {
	tests := []struct {
		name     string
		prices   map[string]openai.Price
		usd      float64
		unpriced bool
		warns    bool
	}{
		{"priced", map[string]openai.Price{"m": {PromptUSD: 2, CompletionUSD: 10}}, 0.004, false, false},
		{"free", map[string]openai.Price{"m": {}}, 0, false, false},
		{"another model's", map[string]openai.Price{"n": {PromptUSD: 2}}, 0, true, true},
		{"no prices at all", nil, 0, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			engine := newEndpoint(t, says("x"), says("y")).engine(t, func(c *openai.Config) {
				c.Prices, c.Log = tt.prices, slog.New(slog.NewTextHandler(&log, nil))
			})
			for range 2 {
				got, err := engine.Reply(context.Background(), conversation, params())
				if err != nil {
					t.Fatal(err)
				}
				if got.CostUSD != tt.usd || got.Unpriced != tt.unpriced {
					t.Errorf("cost %v, unpriced %v; want %v, %v", got.CostUSD, got.Unpriced, tt.usd, tt.unpriced)
				}
			}
			price, known := engine.Price("m")
			if want := tt.prices["m"]; known == tt.unpriced || price != (judge.Price{PromptUSD: want.PromptUSD, CompletionUSD: want.CompletionUSD}) {
				t.Errorf("price %+v, known %v", price, known)
			}
			if n := strings.Count(log.String(), "has no price"); n != map[bool]int{true: 1}[tt.warns] {
				t.Errorf("%d warnings, want one: %v\n%s", n, tt.warns, log.String())
			}
		})
	}
}

func TestPricesAreChecked(t *testing.T) {
	for name, price := range map[string]openai.Price{
		"negative":       {PromptUSD: -1},
		"not a number":   {CompletionUSD: math.NaN()},
		"without an end": {CompletionUSD: math.Inf(1)},
	} {
		_, err := openai.New(openai.Config{Prices: map[string]openai.Price{"good": {}, "bad": price}})
		if err == nil || !strings.Contains(err.Error(), `"bad"`) {
			t.Errorf("%s: error %v, want one that names the model", name, err)
		}
	}
}
