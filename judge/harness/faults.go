package harness

import (
	"fmt"
	"strings"
)

// Bounds of what is told of one report: a model can't repair a thousand faults
// at once, and a name that it made up may be as long as its reply.
const (
	maxFaults = 40
	maxFault  = 600 // bytes
)

// bounded shortens a list of faults. It says how many are left out.
func bounded(faults []string) []string {
	if faults == nil {
		return nil
	}
	list := make([]string, 0, min(len(faults), maxFaults+1))
	for i, f := range faults {
		if i == maxFaults {
			list = append(list, fmt.Sprintf("and %d faults more", len(faults)-maxFaults))
			break
		}
		if len(f) > maxFault {
			f = strings.ToValidUTF8(f[:maxFault], "") + "…"
		}
		list = append(list, f)
	}
	return list
}
