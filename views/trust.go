package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// TrustRow is how far one version of a judge is trusted, in a line of a table.
type TrustRow struct {
	State judge.TrustState // empty: this reader may not know, or nothing was judged
	// Why it may not decide alone, in a line; empty: it may.
	Why string
}

// Trust is the section on one version of a judge: its state and the rules behind it.
// Its forms post to /calibration/{judge}/trust.
type Trust struct {
	TrustRow
	Judge, Model, Version string
	Since                 time.Time // zero: nothing was decided yet
	By, Reason            string    // of who suspended or resumed it last; empty: the rules
	ByRules               judge.TrustState
	PolicyVersion         int
	Rules                 []TrustRule
	// EventsHref are all changes in the audit log.
	EventsHref string
	// MayChange shows the forms. Text is what was typed and Fault what is wrong with it.
	MayChange   bool
	Text, Fault string
}

// TrustRule is one rule as it came out.
type TrustRule struct {
	Met                 bool
	Asks, Shows, Detail string
}

func trustWord(s judge.TrustState) string {
	switch s {
	case judge.Trusted:
		return "Trusted for gating"
	case judge.Suspended:
		return "Suspended"
	}
	return "Advisory"
}

// trustSentence says what the state means.
func trustSentence(t Trust) string {
	switch t.State {
	case judge.Trusted:
		return "It may decide alone while all of these rules hold. They are looked at again after every label; when one fails, the judge is advisory at once and, where the policy asks for trust, its next verdicts go to people."
	case judge.Suspended:
		return "Everything it judges goes to people, whatever the rules say, until a lead resumes it. By the rules alone it would be " + string(t.ByRules) + "."
	}
	return "It advises and does not decide alone where the policy asks for trust: its verdicts go to people then. It becomes trusted by itself once all of these rules hold."
}

func (t Trust) id(part, of string) string { return "trust-" + of + "-" + part }
