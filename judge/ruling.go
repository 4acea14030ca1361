package judge

// Ruling is what a person says about one part of an item: a citation's
// support, a pair of steps, a dimension, a finding. Which parts an item has, and
// which values each takes, is told by package judge/ruling.
type Ruling struct {
	// Part names what is ruled on: "citation/3/support", "pair/4", "dimension/premise_support".
	Part string `json:"part"`
	// Value is one of the part's choices.
	Value string `json:"value"`
	// Note is what the person adds in words; optional.
	Note string `json:"note,omitempty"`
}
