package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/countersign/countersign/judge"
)

// nearBoundary says whether a result belongs to the boundary stratum: the judge's
// own, where no rule of the policy draws another, else what lies within the
// policy's width of an end of the band.
func nearBoundary(j *judge.Judge, r judge.Reading, under judge.Effective) bool {
	if j.NearBoundary != nil && !under.BoundarySet {
		return j.NearBoundary(r)
	}
	const epsilon = 1e-9
	band, width := under.BandOf(j), under.BoundaryWidth+epsilon
	return math.Abs(r.Score-band.Low) <= width || math.Abs(r.Score-band.Pass) <= width
}

// audit draws an accepted evaluation for audit: every one with the random share
// and, independently, one near a boundary with the boundary share too.
//
// The stratum follows from the evaluation alone and not from which draw took it,
// and the inclusion probability is that of either draw, 1-(1-random)(1-boundary)
// near a boundary. So a weight of one over it is right for every drawn item
// (Horvitz & Thompson 1952).
//
// A draw depends on the key, the policy's seed and the evaluation only. The shares
// and the seed are those of a version of the policy, which the draw keeps: with it
// and the key anybody can repeat the draw.
func audit(under judge.Effective, key []byte, evaluationID string, near bool) (*judge.Draw, []judge.Reason) {
	var drawn []judge.Reason
	draw := &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: under.RandomAudit, PolicyVersion: under.Version}
	if near {
		draw.Stratum = judge.StratumBoundaryAudit
		draw.InclusionProbability = 1 - (1-under.RandomAudit)*(1-under.BoundaryAudit)
		if chance(key, under.Seed, "boundary", evaluationID) < under.BoundaryAudit {
			drawn = append(drawn, judge.Reason{Code: judge.ReasonBoundaryAudit,
				Detail: fmt.Sprintf("drawn with probability %.3g near a decision boundary", under.BoundaryAudit)})
		}
	}
	if chance(key, under.Seed, "random", evaluationID) < under.RandomAudit {
		drawn = append(drawn, judge.Reason{Code: judge.ReasonRandomAudit,
			Detail: fmt.Sprintf("drawn with probability %.3g from the accepted", under.RandomAudit)})
	}
	return draw, drawn
}

// chance is a number in [0,1) that depends only on the installation's key, the
// policy's seed, the kind of draw and the evaluation: a draw can be repeated, and
// whoever made the trace can neither choose nor foresee it.
func chance(key []byte, seed, kind, evaluationID string) float64 {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("audit\x00" + seed + "\x00" + kind + "\x00" + evaluationID))
	return float64(binary.BigEndian.Uint64(mac.Sum(nil))>>11) / (1 << 53)
}
