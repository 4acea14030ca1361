package scores

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
)

// MarshalJSON writes the estimate's fields and p_value, null without a test, with the
// reason in no_test.
func (c Correlation) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		agreement.Figure
		P      *float64 `json:"p_value"`
		NoTest string   `json:"no_test,omitempty"`
	}{c.Estimate.Figure(), agreement.Given(c.P, c.NoTest), c.NoTest})
}

// MarshalJSON writes bias, sd, loa_low, loa_high, mae, rmse and n; what is undefined
// is null, with the reason in undefined or no_limits.
func (e Errors) MarshalJSON() ([]byte, error) {
	limits := e.Undefined + e.NoLimits
	return json.Marshal(struct {
		Bias      *float64 `json:"bias"`
		SD        *float64 `json:"sd"`
		Low       *float64 `json:"loa_low"`
		High      *float64 `json:"loa_high"`
		MAE       *float64 `json:"mae"`
		RMSE      *float64 `json:"rmse"`
		N         int      `json:"n"`
		Undefined string   `json:"undefined,omitempty"`
		NoLimits  string   `json:"no_limits,omitempty"`
	}{
		agreement.Given(e.Bias, e.Undefined), agreement.Given(e.SD, limits), agreement.Given(e.Low, limits), agreement.Given(e.High, limits),
		agreement.Given(e.MAE, e.Undefined), agreement.Given(e.RMSE, e.Undefined), e.N, e.Undefined, e.NoLimits,
	})
}
