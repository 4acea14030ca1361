package threshold

// Bases of the evaluations in a week: somebody said so, the last four weeks were counted,
// or there was nothing to count.
const (
	BasisGiven    = "given"
	BasisMeasured = "measured"
	BasisAssumed  = "assumed"
)

// Written is a report with what was asked, as it stands in JSON: anybody can make the
// numbers again from it and the labels.
type Written struct {
	Judge         string `json:"judge"`
	Model         string `json:"model"`
	PromptVersion string `json:"prompt_version"`
	// PerWeek evaluations and Minutes of a person for an item are what shares are
	// multiplied with to read them by the week.
	PerWeek float64 `json:"evaluations_per_week"`
	// PerWeekBasis says where PerWeek comes from: one of the bases.
	PerWeekBasis string  `json:"evaluations_per_week_basis"`
	Minutes      float64 `json:"minutes_per_item"`
	Costs        Costs   `json:"costs"`
	// MaxPeople and MaxMisses are shares of all evaluations; null: no limit.
	MaxPeople *float64 `json:"max_to_people"`
	MaxMisses *float64 `json:"max_wrong_passes"`
	// AllLabels there are; more than Labels where a random part was looked at. Unsure
	// ones, neither pass nor fail, are in neither; Waiting wait blind for the reader.
	AllLabels int `json:"all_labels"`
	Unsure    int `json:"unsure_labels"`
	Waiting   int `json:"n_waiting"`
	Report
}

// NoGain says that on the labels which did not choose it the recommended band costs no
// less than the policy's, where that keeps the limits too: there is no evidence for a
// change then. False without a recommendation.
func (w Written) NoGain() bool {
	if w.Refused != "" || w.Best == nil {
		return false
	}
	within := func(value float64, limit *float64) bool { return limit == nil || value <= *limit+slack }
	return within(w.Now.People.Value, w.MaxPeople) && within(w.Now.Misses.Value, w.MaxMisses) &&
		w.Now.Cost.Value <= w.Best.Cost.Value*(1+1e-9)
}

// NoGainText says it.
const NoGainText = "On the other half of the labels today’s band costs no more: there is no evidence for a change."
