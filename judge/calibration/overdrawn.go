package calibration

import (
	"fmt"
	"math"
)

// overdrawnAt is how many standard deviations the labels of a verdict may stand for
// more than there is before that is no chance.
const overdrawnAt = 3

// overdrawn says that labels of a verdict stand for clearly more evaluations than it
// has. The sum of weights estimates their number N without bias (Horvitz & Thompson
// 1952), with the variance sum (1-p)/p² over the labels when each was drawn for
// itself; here scaled to N, so that a second set of labels does not excuse itself.
// Labels of two draws that each know only their own chance stand for the work twice
// (Hartley 1962): which of them belongs to which is not kept, so nothing is said.
func (p Population) overdrawn(drawn []drawnLabel) string {
	for _, share := range p.ByVerdict {
		sum, variance := 0.0, 0.0
		for _, l := range drawn {
			if l.second.verdict == string(share.Verdict) {
				sum += float64(l.n) / l.probability
				variance += float64(l.n) * (1 - l.probability) / (l.probability * l.probability)
			}
		}
		all := float64(share.Evaluations)
		if sum == 0 || sum <= all+1 || sum <= all+overdrawnAt*math.Sqrt(variance*all/sum) {
			continue
		}
		return fmt.Sprintf("labels of more than one draw, or wrong chances: those on what the judge %s stand for %.0f of %d. "+
			"Keep the draws apart: import labels of a draw of your own where the policy audits nothing at random, and draw more in the label plan, which reckons with those that are there",
			verdictDone[share.Verdict], sum, share.Evaluations)
	}
	return ""
}
