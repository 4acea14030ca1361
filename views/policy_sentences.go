package views

import "strings"

// policyLine says which policy a page shows.
func policyLine(p PolicyPage) string {
	line := "Version " + itoa(p.Version)
	if p.Author != "" {
		line += ", by " + p.Author
	}
	if !p.At.IsZero() {
		line += ", since " + moment(p.At)
	}
	return line + "."
}

func earlierPolicy(p PolicyPage) string {
	line := "Version " + itoa(p.Version) + " is shown; version " + itoa(p.Present) + " counts now."
	if p.MayChange {
		line += " Saving makes this one count again, as a new version."
	}
	return line
}

func conflictLine(c PolicyConflict) string {
	by := "Version " + itoa(c.Version) + " was saved"
	if c.Author != "" {
		by += " by " + c.Author
	}
	return by + " at " + moment(c.At) + ". Nothing of yours was stored; it is in the form still. Saving it again replaces theirs."
}

func saveWord(p PolicyPage) string {
	if p.Conflict != nil {
		return "Replace version " + itoa(p.Conflict.Version)
	}
	return "Save the policy"
}

// items says which items a rule is of.
func (r ReviewRule) items() string {
	stakes := string(r.Stakes)
	if stakes != "" {
		stakes += " stakes"
	}
	domain := r.Domain
	if domain != "" {
		domain = "domain " + domain
	}
	reason := ""
	if r.Reason != "" {
		reason = reasonWord(r.Reason)
	}
	if line := itemLine(reason, domain, stakes); line != "" {
		return line
	}
	return "all"
}

func anyWord(name string) string {
	if name == "" {
		return "any"
	}
	return name
}

// yamlRows keeps the text whole in sight, within bounds.
func yamlRows(text string) int { return min(40, max(12, strings.Count(text, "\n")+2)) }

func reasonList(codes []string) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = reasonWord(c)
	}
	return strings.Join(words, ", ")
}

// dryRunLine says what was looked at.
func dryRunLine(d DryRun) string {
	if d.Evaluations == 0 && d.Sealed+d.Unreadable == 0 {
		return "There is no judged evaluation to look at."
	}
	line := count(d.Evaluations, "evaluation", "evaluations") + " routed again"
	if !d.From.IsZero() {
		if line += ", judged on " + day(d.From); day(d.To) != day(d.From) {
			line += " to " + day(d.To)
		}
	}
	line += "."
	if d.Sealed > 0 {
		line += " " + count(d.Sealed, "is", "are") + " left out, because you may still review them blind."
	}
	if d.Unreadable > 0 {
		line += " " + count(d.Unreadable, "was", "were") + " made by a version of a judge that can’t be read again here."
	}
	if d.OtherVerdict > 0 {
		line += " " + count(d.OtherVerdict, "would have", "would have") + " another verdict."
	}
	if d.Refused > 0 {
		line += " " + count(d.Refused, "would not have", "would not have") + " been judged, because the policy does not name the endpoint."
	}
	return line
}

// warningLine is a warning as a sentence on a line of its own.
func warningLine(w string) string {
	if w == "" {
		return w
	}
	return strings.ToUpper(w[:1]) + w[1:] + "."
}

// aheadLine says whether what holds for nothing is in the way.
func aheadLine(p PolicyPage) string {
	if p.Unsaved && p.MayChange {
		return "It can be saved all the same: a policy may be ahead of its judges."
	}
	return "That may be meant so: a policy may be ahead of its judges."
}
