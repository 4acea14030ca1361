package web

import (
	"fmt"

	"github.com/countersign/countersign/judge"
)

// trust reads what is asked of judges and of a run before its release. What has its
// default and was not said before stays unsaid.
func (r *fieldReader) trust(base judge.Policy, p *judge.Policy) {
	usual := judge.DefaultTrust()
	said := judge.TrustRules{}
	if base.Trust != nil {
		said = *base.Trust
	}
	said.MinKappa = orDefault(r.number("min_kappa", "The lower bound of kappa"), usual.MinKappa, said.MinKappa)
	said.MinLabels = orUsual(r.whole("min_labels", "The number of blind labels"), usual.MinLabels, said.MinLabels)
	said.MaxMissRate = orDefault(r.percent("max_miss_rate", "The share of wrong passes"), usual.MaxMissRate, said.MaxMissRate)
	said.SliceLabels = orUsual(r.whole("slice_labels", "The labels of a domain or stakes"), usual.SliceLabels, said.SliceLabels)
	said.SliceKappa = orDefault(r.number("slice_kappa", "The floor of a domain or stakes"), usual.SliceKappa, said.SliceKappa)
	if p.Trust = &said; said == (judge.TrustRules{}) {
		p.Trust = nil
	}
	p.Release = nil
	if r.form.Get("release_pass_rate") != "" {
		v := r.percent("release_pass_rate", "The pass rate of a release")
		p.Release = &judge.ReleaseRules{MinPassRate: &v}
	}
}

// orUsual is orDefault for whole numbers.
func orUsual(v, usual int, said *int) *int {
	if said == nil && v == usual {
		return nil
	}
	return &v
}

// trustSays says a judge's own rules of trust in words.
func trustSays(t *judge.TrustRules, say func(format string, args ...any)) {
	if t == nil {
		return
	}
	if v := t.MinKappa; v != nil {
		say("trusted from a lower bound of kappa of %s", numberText(*v))
	}
	if v := t.MinLabels; v != nil {
		say("trusted from %s", counted(*v, "blind label"))
	}
	if v := t.MaxMissRate; v != nil {
		say("trusted up to %s%% of wrong passes", percentText(*v))
	}
	if t.SliceKappa != nil || t.SliceLabels != nil {
		text := "trusted with no domain or stakes"
		if t.SliceLabels != nil {
			text += fmt.Sprintf(" of %s or more", counted(*t.SliceLabels, "label"))
		}
		if t.SliceKappa != nil {
			text += " under " + numberText(*t.SliceKappa)
		} else {
			text += " under the floor"
		}
		say("%s", text)
	}
}
