package store

import (
	"strings"

	"github.com/countersign/countersign/judge"
)

// ReasonCodesFor are why a judge's verdict on items of a domain is overridden.
func ReasonCodesFor(p judge.Policy, domain, judgeName string) []judge.OverrideReason {
	return p.OverrideReasonsFor(domain, judgeName)
}

// overrideReason finds a reason code among those that are offered.
func (r reviewState) overrideReason(code string) (judge.OverrideReason, error) {
	offered := ReasonCodesFor(r.policy, r.domain, r.judge)
	var codes []string
	for _, o := range offered {
		if o.Code == code {
			return o, nil
		}
		codes = append(codes, o.Code)
	}
	return judge.OverrideReason{}, invalid("reason_code", "is %q: it is one of %s", code, strings.Join(codes, ", "))
}
