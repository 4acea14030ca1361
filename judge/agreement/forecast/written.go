package forecast

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
)

// MarshalJSON writes brier, reliability, resolution, uncertainty and n, null with the
// reason in undefined.
func (s Split) MarshalJSON() ([]byte, error) {
	u := s.Undefined
	return json.Marshal(struct {
		Brier       *float64 `json:"brier"`
		Reliability *float64 `json:"reliability"`
		Resolution  *float64 `json:"resolution"`
		Uncertainty *float64 `json:"uncertainty"`
		N           int      `json:"n"`
		Undefined   string   `json:"undefined,omitempty"`
	}{agreement.Given(s.Brier, u), agreement.Given(s.Reliability, u), agreement.Given(s.Resolution, u), agreement.Given(s.Uncertainty, u), s.N, u})
}

// MarshalJSON writes the bins (low, high, count, stated, observed), empty, ece, mce and
// n; null with the reason in undefined.
func (c Curve) MarshalJSON() ([]byte, error) {
	type bin struct {
		Low      float64            `json:"low"`
		High     float64            `json:"high"`
		Count    int                `json:"count"`
		Stated   float64            `json:"stated"`
		Observed agreement.Estimate `json:"observed"`
	}
	bins := []bin{}
	for _, b := range c.Bins {
		bins = append(bins, bin(b))
	}
	return json.Marshal(struct {
		Bins      []bin    `json:"bins"`
		Empty     int      `json:"empty"`
		ECE       *float64 `json:"ece"`
		MCE       *float64 `json:"mce"`
		N         int      `json:"n"`
		Undefined string   `json:"undefined,omitempty"`
	}{bins, c.Empty, agreement.Given(c.ECE, c.Undefined), agreement.Given(c.MCE, c.Undefined), c.N, c.Undefined})
}
