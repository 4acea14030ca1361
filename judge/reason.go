package judge

// Reason codes: why an evaluation waits for a person (judges.md, Routing).
const (
	ReasonCriticalError         = "critical_error"
	ReasonJudgeFailed           = "judge_failed"
	ReasonInvalidOutput         = "invalid_output"
	ReasonMisattribution        = "misattribution"
	ReasonSubstantiveDifference = "substantive_difference"
	ReasonIncompleteReport      = "incomplete_report"
	ReasonInconsistentOutput    = "inconsistent_output"
	ReasonBelowThreshold        = "below_threshold"
	ReasonAmbiguousScore        = "ambiguous_score"
	ReasonUncitedClaims         = "uncited_claims"
	ReasonJudgeDisagreement     = "judge_disagreement"
	ReasonUntrustedJudge        = "untrusted_judge"
	ReasonRequested             = "requested"
	ReasonBoundaryAudit         = "boundary_audit"
	ReasonRandomAudit           = "random_audit"
)

// Reason is one cause for review, with the detail a person needs.
type Reason struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitempty"`
}

// reasonOrder is the queue's order: the most urgent first.
var reasonOrder = []string{
	ReasonCriticalError, ReasonJudgeFailed, ReasonInvalidOutput,
	ReasonMisattribution, ReasonSubstantiveDifference, ReasonIncompleteReport,
	ReasonInconsistentOutput, ReasonBelowThreshold, ReasonAmbiguousScore,
	ReasonUncitedClaims, ReasonJudgeDisagreement, ReasonUntrustedJudge,
	ReasonRequested, ReasonBoundaryAudit, ReasonRandomAudit,
}

// ReasonCodes lists every code in queue order.
func ReasonCodes() []string { return append([]string(nil), reasonOrder...) }

// ReasonRank is the place of a code in the queue, 0 the most urgent; unknown
// codes come last. The first three share a rank: they are served together.
func ReasonRank(code string) int {
	for i, c := range reasonOrder {
		if c == code {
			return max(0, i-2)
		}
	}
	return len(reasonOrder)
}

// Telling reports whether knowing that an evaluation carries this reason tells
// something about the judge's verdict. Telling reasons are sealed in blind
// review. An audit draw is telling too: only accepted evaluations are drawn.
func Telling(code string) bool {
	switch code {
	case ReasonJudgeFailed, ReasonInvalidOutput, ReasonUntrustedJudge,
		ReasonUncitedClaims, ReasonRequested:
		return false
	}
	return true
}
