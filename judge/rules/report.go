package rules

// CitationsReport is the report of the citations judge (judges.md, section 4).
type CitationsReport struct {
	Score       float64    `json:"overall_citation_accuracy_score"`
	Total       int        `json:"total_citations_evaluated"`
	Evaluations []Citation `json:"citation_evaluations"`
	Flags       []Flag     `json:"misattribution_flags"`
	Summary     string     `json:"summary"`
}

// Citation is what was found about one occurrence of a marker.
type Citation struct {
	ID            string `json:"citation_id"`
	Step          int    `json:"reasoning_step_index"`
	StepText      string `json:"reasoning_step_text"`
	Exists        bool   `json:"citation_exists"`
	QuoteAccurate bool   `json:"quote_accurate"`
	Fidelity      string `json:"context_fidelity"`
	Support       string `json:"claim_support_strength"`
	Explanation   string `json:"explanation"`
	Flagged       bool   `json:"flagged"`

	// Decided says that comparing texts settled this occurrence. It is not
	// part of the judge's schema: the explanation says it in words.
	Decided bool `json:"-"`
}

// Values of Citation and Flag.
const (
	accurate = "accurate"
	mismatch = "mismatch"

	fully       = "fully_supported"
	partially   = "partially_supported"
	unsupported = "unsupported"

	notFound      = "citation_not_found"
	quoteMismatch = "quote_mismatch"

	critical = "critical"
	major    = "major"
	minor    = "minor"
)

// value of an occurrence: 0 when flagged or unsupported, else 1 or 0.5.
func (c Citation) value() float64 {
	switch {
	case c.Flagged || c.Support == unsupported:
		return 0
	case c.Support == fully:
		return 1
	}
	return 0.5
}

// Flag is a misattribution.
type Flag struct {
	ID       string `json:"citation_id"`
	Step     int    `json:"reasoning_step_index"`
	Type     string `json:"flag_type"`
	Severity string `json:"severity"`
	Detail   string `json:"detail"`
}

// ReferenceReport is the report of the reference judge (judges.md, section 2).
type ReferenceReport struct {
	Similarity  float64  `json:"similarity_score"`
	Class       string   `json:"equivalence_class"`
	Credit      float64  `json:"partial_credit"`
	Rationale   string   `json:"rationale"`
	Differences []string `json:"key_differences"`
	Critical    int      `json:"critical_error_count"`
}

// Equivalence classes.
const (
	exactMatch = "exact_match"
	equivalent = "semantic_equivalent"
	variation  = "acceptable_variation"
	difference = "substantive_difference"
)
