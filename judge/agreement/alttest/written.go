package alttest

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
)

// MarshalJSON writes winning_rate, advantage_probability, passes and the humans, null
// with the reason in undefined.
func (r Result) MarshalJSON() ([]byte, error) {
	type human struct {
		Index     int     `json:"index"`
		Items     int     `json:"items"`
		JudgeWins float64 `json:"judge_wins"`
		HumanWins float64 `json:"human_wins"`
		P         float64 `json:"p_value"`
		Beaten    bool    `json:"beaten"`
	}
	humans := []human{}
	for _, h := range r.Humans {
		humans = append(humans, human(h))
	}
	return json.Marshal(struct {
		WinningRate *float64 `json:"winning_rate"`
		Advantage   *float64 `json:"advantage_probability"`
		Passes      *bool    `json:"passes"`
		Humans      []human  `json:"humans"`
		Undefined   string   `json:"undefined,omitempty"`
	}{
		agreement.Given(r.WinningRate, r.Undefined), agreement.Given(r.AdvantageProbability, r.Undefined),
		agreement.Given(r.Passes(), r.Undefined), humans, r.Undefined,
	})
}
