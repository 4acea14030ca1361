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
