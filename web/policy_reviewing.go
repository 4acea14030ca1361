package web

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
)

// reviewRules says what a policy means for who reviews, in the order in which its rules
// are looked at; what holds where none fits stands last of each matter.
func reviewRules(p judge.Policy) []views.ReviewRule {
	var rules []views.ReviewRule
	add := func(about, reason, domain string, stakes judge.Stakes, says string) {
		rules = append(rules, views.ReviewRule{About: about, Reason: reason, Domain: domain, Stakes: stakes, Says: says})
	}
	for _, r := range p.DueRules {
		add("Due", r.Reason, r.Domain, r.Stakes, "within "+counted(r.Hours, "hour"))
	}
	add("Due", "", "", judge.HighStakes, "within "+counted(p.DueHoursHigh, "hour"))
	add("Due", "", "", judge.StandardStakes, "within "+counted(p.DueHoursStandard, "hour"))

	if p.Opinions != nil {
		for _, r := range p.Opinions.Rules {
			add("Opinions", r.Reason, r.Domain, r.Stakes, counted(r.N, "person answers", "people answer"))
		}
	}
	usual := judge.Policy{}
	if p.Opinions != nil {
		usual.Opinions = &judge.Opinions{Default: p.Opinions.Default}
	}
	add("Opinions", "", "", "", counted(usual.OpinionsFor("", "", ""), "person answers", "people answer"))
	add("Cannot judge", "", "", "", "a lead settles it when "+counted(p.AbstentionsToAdjudicate(), "person", "people")+" could not")

	for _, r := range p.BlindRules {
		add("Blind", r.Reason, "", r.Stakes, blindSays(r.Mode, r.Share))
	}
	add("Blind", "", "", "", blindSays(p.Blind, p.BlindShare))

	for _, r := range p.Assignment {
		var needs []string
		if len(r.Requires) > 0 {
			needs = append(needs, "who has "+strings.Join(r.Requires, " and "))
		}
		if r.Languages {
			needs = append(needs, "who reads the trace’s language")
		}
		if len(needs) > 0 {
			add("Given to", "", r.Domain, r.Stakes, strings.Join(needs, ", and "))
		}
	}
	add("Given to", "", "", "", "who decides in its domain, with no conflict of interest")
	add("Claim", "", "", "", "ends after "+counted(p.LeaseMinutes, "minute")+" without renewal")
	if d := p.UndoTime(); d > 0 {
		add("Undo", "", "", "", "within "+counted(int(d.Seconds()), "second"))
	} else {
		add("Undo", "", "", "", "never")
	}
	return rules
}

func blindSays(mode string, share float64) string {
	switch mode {
	case judge.BlindAlways:
		return "always: the verdict is sealed until they answer"
	case judge.BlindNever:
		return "never: the verdict is shown"
	}
	return fmt.Sprintf("%s%% of them, drawn at random", percentText(share))
}
