package views

import (
	"strconv"
	"strings"
)

// SignedDecision is one decision with all that was frozen when it was signed.
type SignedDecision struct {
	Signature
	// Anchor on the page, unique.
	Anchor       string
	Adjudication bool
	OverQuota    bool   // added when the item was settled: it changes no result
	Undone       string // when it was taken back, as people read it; empty: it stands
	Severity     string
	To           string // who an escalation went to
	// Rulings on the parts of the item, beside the judge's.
	Rulings []RulingRow
	// Qualification, Affirmation and its version are as they were then; an empty
	// Affirmation: the program kept none.
	Qualification string
	Affirmation   string
	Wording       int
	// Shown is what was on the screen.
	Shown []ShownFact
	// Stated says that the page told what it showed; else these are the versions
	// that were current when the decision was stored.
	Stated bool
}

// RulingRow is what a person and the judge say of one part.
type RulingRow struct {
	Part    string // "Citation 3, support"
	Judge   string // the judge's choice as people read it; empty: none
	Person  string
	Note    string
	Differs bool
}

// ShownFact is one version or hash of what was on the screen.
type ShownFact struct {
	Name, Value string
	Hash        bool // Value is a hash, whole
}

// heading of a decision: who, as what.
func (d SignedDecision) heading() string {
	what := "opinion"
	switch {
	case d.OverQuota:
		what = "second opinion, after the item was settled"
	case d.Adjudication:
		what = "adjudication"
	case d.Action == "escalate":
		what = "escalation"
	case d.Action == "cannot_judge":
		what = "abstention"
	}
	return d.Name + ", " + what
}

func differing(rows []RulingRow) string {
	n := 0
	for _, r := range rows {
		if r.Differs {
			n++
		}
	}
	return count(len(rows), "ruling", "rulings") + ", " + strconv.Itoa(n) + " other than the judge’s"
}

func shownFrom(d SignedDecision) string {
	if d.Stated {
		return "As the page told it when it was signed."
	}
	return "What was current when it was stored; the page did not tell what it showed."
}

// traceQuery is the part of a permalink that names the content.
func traceQuery(permalink string) string {
	_, query, found := strings.Cut(permalink, "?")
	if !found {
		return ""
	}
	return "?" + query
}
