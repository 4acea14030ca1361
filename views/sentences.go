package views

import "strings"

// signLine says what a person signed, when, and in what time.
func signLine(s Signature) string {
	var b strings.Builder
	b.WriteString(actionWord(s.Action))
	if s.Verdict != "" {
		b.WriteString(": " + strings.ToLower(verdictWord(s.Verdict)))
	}
	if s.Label != "" {
		b.WriteString(" (" + words(s.Label) + ")")
	}
	switch {
	case s.Choice == "adopt" && s.First.Verdict != "" && s.First.Verdict != s.Verdict:
		b.WriteString(", adopted from the judge after answering " + strings.ToLower(verdictWord(s.First.Verdict)) + " blind")
	case s.Choice == "adopt":
		b.WriteString(", adopted from the judge after a blind answer")
	case s.First.Verdict != "" && s.Choice == "" && s.First.Verdict != s.Verdict:
		b.WriteString(", revised after answering " + strings.ToLower(verdictWord(s.First.Verdict)) + " blind")
	case s.Blind:
		b.WriteString(", blind")
	}
	if s.OverQuota {
		b.WriteString(", as a second opinion that changes no result")
	}
	if s.Undone {
		b.WriteString(", taken back")
	}
	b.WriteString(". Signed " + moment(s.At))
	if s.Seconds > 0 {
		b.WriteString(", in " + seconds(s.Seconds))
	}
	b.WriteString(".")
	if s.ReasonCode != "" {
		b.WriteString(" Reason: " + words(s.ReasonCode))
		if s.Severity != "" {
			b.WriteString(" (" + s.Severity + ")")
		}
		b.WriteString(".")
	}
	if s.Confidence != "" {
		b.WriteString(" Confidence: " + s.Confidence + ".")
	}
	return b.String()
}

// shareLine is a part with its share of the whole: "7, 16%".
func shareLine(part, whole int) string {
	if whole == 0 {
		return itoa(part)
	}
	return itoa(part) + ", " + percent(part, whole)
}

// runLine is a run in counts.
func runLine(r RunRow) string {
	s := count(r.Traces, "trace", "traces") + ", " + count(r.Evaluations, "evaluation", "evaluations")
	if !r.At.IsZero() {
		s += ", since " + moment(r.At)
	}
	return s
}

// itemLine names an item's trace, run and domain in a line.
func itemLine(parts ...string) string {
	var known []string
	for _, p := range parts {
		if p != "" {
			known = append(known, p)
		}
	}
	return strings.Join(known, " · ")
}

// matchWord is what comparing a quotation found, in a word.
func matchWord(m Match) string {
	switch m {
	case MatchExact:
		return "Exact"
	case MatchNear:
		return "Near"
	case MatchNotFound:
		return "Not found"
	case MatchNoSource:
		return "No such source"
	}
	return "No quotation"
}

// matchClass is the class of a match line.
func matchClass(m Match) string {
	switch m {
	case MatchNear:
		return "near"
	case MatchNotFound, MatchNoSource:
		return "none"
	}
	return ""
}

// matchSign is the class by which the stylesheet puts the sign of a match before it;
// empty when nothing was quoted.
func matchSign(m Match) string {
	if m == MatchExact {
		return "exact"
	}
	return matchClass(m)
}

// SignLine says what a person signed, when, and in what time.
func SignLine(s Signature) string { return signLine(s) }
