package web

import (
	"fmt"
	"net/url"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// trustRow says a state in a line.
func trustRow(t store.TrustView) views.TrustRow {
	row := views.TrustRow{State: t.State}
	switch t.State {
	case judge.Suspended:
		row.Why = "by " + t.By
	case judge.Advisory:
		unmet := 0
		for _, r := range t.Rules {
			if !r.Met {
				unmet++
			}
		}
		if row.Why = "not labelled yet"; len(t.Rules) > 0 {
			row.Why = fmt.Sprintf("%d of %s not met", unmet, counted(len(t.Rules), "rule"))
		}
	}
	return row
}

func gatingView(r store.TrustedReport) views.Trust {
	t := r.Trust
	v := views.Trust{
		TrustRow: trustRow(t), Judge: r.Judge, Model: r.Model, Version: r.PromptVersion, By: t.By, Reason: t.Reason, ByRules: t.ByRules,
		PolicyVersion: t.PolicyVersion, EventsHref: "/audit?" + url.Values{"subject": {"judge:" + r.Judge}}.Encode(),
	}
	if t.Since != nil {
		v.Since = *t.Since
	}
	for _, rule := range t.Rules {
		v.Rules = append(v.Rules, views.TrustRule{Met: rule.Met, Asks: rule.Asks, Shows: rule.Shows, Detail: rule.Detail})
	}
	return v
}

// trustMarkers are the changes of this version's trust.
func trustMarkers(r calibration.Report, changes []store.TrustChange) (out []views.DriftMarker) {
	for _, c := range changes {
		if c.Model != r.Model || c.PromptVersion != r.PromptVersion {
			continue
		}
		m := views.DriftMarker{At: c.At, What: "This judge became " + string(c.After), Note: "By its rules."}
		if c.Reason != "" {
			m.Note = fmt.Sprintf("By %s: %s", c.By, c.Reason)
		}
		out = append(out, m)
	}
	return out
}

// leastTrusted is the state of a judge's version by the model that is trusted least; a
// suspended version stands before the newest one. What was judged and never labelled is
// advisory.
func leastTrusted(states []store.JudgeTrust, judgeName, version string, evaluations int) (row views.TrustRow) {
	rank := map[judge.TrustState]int{judge.Suspended: 3, judge.Advisory: 2, judge.Trusted: 1}
	for _, t := range states {
		this := t.PromptVersion == version || t.State == judge.Suspended
		if t.Judge != judgeName || !this || rank[t.State] <= rank[row.State] {
			continue
		}
		row = views.TrustRow{State: t.State}
		if t.Model != "" {
			row.Why = "by " + t.Model
		}
	}
	if row.State == "" && evaluations > 0 {
		return views.TrustRow{State: judge.Advisory, Why: "nobody has labelled this version"}
	}
	return row
}
