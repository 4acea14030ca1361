package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/countersign/countersign/judge"
)

// boundaryWidth is how near to an end of the band a score is near a boundary.
const boundaryWidth = 0.05

// nearBoundary says whether a result belongs to the boundary stratum.
func nearBoundary(j *judge.Judge, r judge.Reading) bool {
	if j.NearBoundary != nil {
		return j.NearBoundary(r)
	}
	const epsilon = 1e-9
	return math.Abs(r.Score-j.Band.Low) <= boundaryWidth+epsilon ||
		math.Abs(r.Score-j.Band.Pass) <= boundaryWidth+epsilon
}

// audit draws an accepted evaluation for audit: every one with the random share
// and, independently, one near a boundary with the boundary share too.
//
// The stratum follows from the evaluation alone and not from which draw took it,
// and the inclusion probability is that of either draw, 1-(1-random)(1-boundary)
// near a boundary. So a weight of one over it is right for every drawn item
// (Horvitz & Thompson 1952).
func audit(policy judge.Policy, key []byte, evaluationID string, near bool) (*judge.Draw, []judge.Reason) {
	var reasons []judge.Reason
	draw := &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: policy.RandomAudit}
	if near {
		draw.Stratum = judge.StratumBoundaryAudit
		draw.InclusionProbability = 1 - (1-policy.RandomAudit)*(1-policy.BoundaryAudit)
		if chance(key, policy.Seed, "boundary", evaluationID) < policy.BoundaryAudit {
			reasons = append(reasons, judge.Reason{Code: judge.ReasonBoundaryAudit,
				Detail: fmt.Sprintf("drawn with probability %.3g near a decision boundary", policy.BoundaryAudit)})
		}
	}
	if chance(key, policy.Seed, "random", evaluationID) < policy.RandomAudit {
		reasons = append(reasons, judge.Reason{Code: judge.ReasonRandomAudit,
			Detail: fmt.Sprintf("drawn with probability %.3g from the accepted", policy.RandomAudit)})
	}
	return draw, reasons
}

// chance is a number in [0,1) that depends only on the installation's key, the
// policy's seed, the kind of draw and the evaluation: a draw can be repeated, and
// whoever made the trace can neither choose nor foresee it.
func chance(key []byte, seed, kind, evaluationID string) float64 {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("audit\x00" + seed + "\x00" + kind + "\x00" + evaluationID))
	return float64(binary.BigEndian.Uint64(mac.Sum(nil))>>11) / (1 << 53)
}
