package classifier

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
)

// MarshalJSON writes both areas, their difference, z and p_value; without a test null,
// with the reason in no_test.
func (c Comparison) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		First      agreement.Estimate `json:"first"`
		Second     agreement.Estimate `json:"second"`
		Difference agreement.Estimate `json:"difference"`
		Z          *float64           `json:"z"`
		P          *float64           `json:"p_value"`
		NoTest     string             `json:"no_test,omitempty"`
	}{c.First, c.Second, c.Difference, agreement.Given(c.Z, c.NoTest), agreement.Given(c.P, c.NoTest), c.NoTest})
}
