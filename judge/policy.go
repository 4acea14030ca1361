package judge

// Policy is what a lead can change about routing, audits and blindness.
// DefaultPolicy has the values of judges.md and the contract.
type Policy struct {
	Version int `json:"version"`
	// RandomAudit and BoundaryAudit are shares in [0,1] of the accepted
	// evaluations (of those near a boundary) that are drawn for audit.
	RandomAudit   float64 `json:"random_audit"`
	BoundaryAudit float64 `json:"boundary_audit"`
	// Seed makes draws repeatable: a draw depends on it and the evaluation.
	Seed string `json:"seed"`
	// Blind is never, always, or share (BlindShare of the items at random).
	Blind      string  `json:"blind"`
	BlindShare float64 `json:"blind_share"`
	// DueHours until a review of these stakes is due.
	DueHoursHigh     int `json:"due_hours_high"`
	DueHoursStandard int `json:"due_hours_standard"`
	// LeaseMinutes that a claim lasts without renewal.
	LeaseMinutes int `json:"lease_minutes"`
	// UncitedClaims sends traces of high stakes to review that make claims
	// without any citation (reason uncited_claims). Off by default.
	UncitedClaims bool `json:"uncited_claims,omitempty"`
}

// DefaultPolicy: 5% random and 10% boundary audits, blind first for all.
func DefaultPolicy() Policy {
	return Policy{
		Version: 1, RandomAudit: 0.05, BoundaryAudit: 0.10, Seed: "countersign",
		Blind: "always", BlindShare: 1, DueHoursHigh: 24, DueHoursStandard: 72,
		LeaseMinutes: 30,
	}
}

// Draw is how an evaluation came to be reviewed: the sampling design that any
// later statistic needs (measurement.md, section 0).
type Draw struct {
	// Stratum: flagged, random_audit, boundary_audit, requested.
	Stratum string `json:"stratum"`
	// InclusionProbability in (0,1]: the chance that an evaluation like this
	// one is reviewed.
	InclusionProbability float64 `json:"inclusion_probability"`
}

// Strata.
const (
	StratumFlagged       = "flagged"
	StratumRandomAudit   = "random_audit"
	StratumBoundaryAudit = "boundary_audit"
	StratumRequested     = "requested"
	StratumImported      = "imported"
)
