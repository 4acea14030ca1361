package agreement

import "encoding/json"

// Given is a pointer to v, or nil where there is a reason why v means nothing: how a
// figure becomes null in JSON.
func Given[T any](v T, reason string) *T {
	if reason != "" {
		return nil
	}
	return &v
}

// MarshalJSON writes value, df and p_value, null with the reason in undefined.
func (c ChiSquare) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value     *float64 `json:"value"`
		DF        *int     `json:"df"`
		P         *float64 `json:"p_value"`
		Undefined string   `json:"undefined,omitempty"`
	}{Given(c.Value, c.Undefined), Given(c.DF, c.Undefined), Given(c.P, c.Undefined), c.Undefined})
}

// MarshalJSON writes agreement and kappa, null with the reason in undefined.
func (c Ceiling) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Agreement *float64 `json:"agreement"`
		Kappa     *float64 `json:"kappa"`
		Undefined string   `json:"undefined,omitempty"`
	}{Given(c.Agreement, c.Undefined), Given(c.Kappa, c.Undefined), c.Undefined})
}

// MarshalJSON writes prevalence, bias and pabak, null with the reason in undefined.
func (i Indices) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Prevalence *float64 `json:"prevalence"`
		Bias       *float64 `json:"bias"`
		PABAK      *float64 `json:"pabak"`
		Undefined  string   `json:"undefined,omitempty"`
	}{Given(i.Prevalence, i.Undefined), Given(i.Bias, i.Undefined), Given(i.PABAK, i.Undefined), i.Undefined})
}

// MarshalJSON writes value, ci_low, ci_high, z and p_value; without a test null, with
// the reason in no_test.
func (d Difference) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value  float64  `json:"value"`
		Low    float64  `json:"ci_low"`
		High   float64  `json:"ci_high"`
		Z      *float64 `json:"z"`
		P      *float64 `json:"p_value"`
		NoTest string   `json:"no_test,omitempty"`
	}{d.Value, d.Low, d.High, Given(d.Z, d.NoTest), Given(d.P, d.NoTest), d.NoTest})
}

// MarshalJSON writes p_exact, p_midp, and both chi-squares.
func (p Paired) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Exact     float64   `json:"p_exact"`
		MidP      float64   `json:"p_midp"`
		Plain     ChiSquare `json:"plain"`
		Corrected ChiSquare `json:"corrected"`
	}{p.Exact, p.MidP, p.Plain, p.Corrected})
}
