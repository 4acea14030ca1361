package rate

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
)

// MarshalJSON writes value (clipped), raw and clipped, null with the reason in
// undefined.
func (c Corrected) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value     *float64 `json:"value"`
		Raw       *float64 `json:"raw"`
		Clipped   *bool    `json:"clipped"`
		Undefined string   `json:"undefined,omitempty"`
	}{agreement.Given(c.Value, c.Undefined), agreement.Given(c.Raw, c.Undefined), agreement.Given(c.Clipped, c.Undefined), c.Undefined})
}

// MarshalJSON writes the estimate's fields, clipped, adjusted and shift.
func (c CorrectedRate) MarshalJSON() ([]byte, error) {
	none := c.Undefined + c.NoInterval
	return json.Marshal(struct {
		agreement.Figure
		Clipped  *bool    `json:"clipped"`
		Adjusted *float64 `json:"adjusted"`
		Shift    *float64 `json:"shift"`
	}{c.Estimate.Figure(), agreement.Given(c.Clipped, c.Undefined), agreement.Given(c.Adjusted, none), agreement.Given(c.Shift, none)})
}

// MarshalJSON writes the estimate's fields, lambda, human (an estimate), judge and
// gain; what is undefined is null.
func (p Powered) MarshalJSON() ([]byte, error) {
	none := p.Undefined + p.NoInterval + p.Human.Undefined + p.Human.NoInterval
	return json.Marshal(struct {
		agreement.Figure
		Lambda *float64           `json:"lambda"`
		Human  agreement.Estimate `json:"human"`
		Judge  *float64           `json:"judge"`
		Gain   *float64           `json:"gain"`
	}{p.Estimate.Figure(), agreement.Given(p.Lambda, p.Undefined), p.Human, agreement.Given(p.Judge, p.Undefined), agreement.Given(p.Gain, none)})
}
