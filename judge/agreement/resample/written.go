package resample

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
)

// MarshalJSON writes the estimate's fields with what it takes to compute them again:
// replicates, undefined_replicates, clusters and seed. The replicates' values are left
// out.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		agreement.Figure
		Replicates int    `json:"replicates"`
		Undefined  int    `json:"undefined_replicates"`
		Clusters   int    `json:"clusters"`
		Seed       uint64 `json:"seed"`
	}{r.Estimate.Figure(), r.Replicates, r.UndefinedReplicates, r.Clusters, r.Seed})
}
