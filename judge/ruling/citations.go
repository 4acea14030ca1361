package ruling

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// Questions of a citation, as the last part of a key: "citation/3/support".
const (
	ruledExists   = "exists"
	ruledQuote    = "quote"
	ruledFidelity = "fidelity"
	ruledSupport  = "support"
)

func citationKey(n int) string { return "citation/" + strconv.Itoa(n) }

// Choices of a citation's four questions; shared, never changed.
var (
	existsChoices = []Choice{
		{"exists", "Exists", "✓", "the source is there and is the one that the marker names"},
		{"not_found", "Not found", "⌀", "there is no such source"},
		{"cannot_verify", "Cannot verify", "?", "it cannot be told from what is here"},
	}
	quoteChoices = []Choice{
		{"exact", "Exact", "=", "the quoted words are the source's words"},
		{"near", "Near", "≈", "nearly the source's words, and nothing that matters is changed"},
		{"not_found", "Not found", "⌀", "the source does not say these words, or a number, unit or negation in them is changed"},
		{"no_quote", "No quote", "–", "nothing is in quotation marks"},
	}
	fidelityChoices = []Choice{
		{"accurate", "Faithful", "=", "the source says it of the same thing, with its conditions"},
		{"partial_mismatch", "Stretched", "≈", "conditions or limits of the source are lost"},
		{"mismatch", "Misleading", "≠", "the source says it of something else, or says the contrary"},
	}
	supportChoices = []Choice{
		{"fully_supported", "Full", "●", "the source states everything in the claim"},
		{"partially_supported", "Partial", "◐", "a part of the claim is missing or weaker in the source"},
		{"unsupported", "None", "○", "the source does not support the claim"},
	}
)

// fillCitations makes a unit of each occurrence of a marker.
func (s *Sheet) fillCitations() error {
	said := map[int]builtin.CitationOpinion{}
	if s.Judged {
		list, err := builtin.CitationOpinions(s.judge, s.report.evaluation.Report, s.trace)
		if err != nil {
			return err
		}
		for _, o := range list {
			if _, twice := said[o.Occurrence]; !twice {
				said[o.Occurrence] = o
			}
		}
	}
	all := citationsIn(s.trace, s.Steps, s.judge.Markers)
	s.report.citations = said
	s.Units = make([]Unit, len(all))
	for i := range all {
		c := &all[i]
		key := citationKey(c.Marker.Number)
		parts := []Part{
			{Key: key + "/" + ruledExists, Title: "Existence", Shortcut: "e", Choices: existsChoices},
			{Key: key + "/" + ruledQuote, Title: "Quotation", Shortcut: "q", Choices: quoteChoices},
			{Key: key + "/" + ruledFidelity, Title: "Fidelity", Shortcut: "f", Choices: fidelityChoices},
			{Key: key + "/" + ruledSupport, Title: "Support", Shortcut: "s", Choices: supportChoices},
		}
		if o, ok := said[c.Marker.Number]; ok {
			parts[0].Judged = "exists"
			if !o.Exists {
				parts[0].Judged = "not_found"
			}
			parts[1].Judged = judgedQuote(o.Quote, c)
			parts[2].Judged, parts[3].Judged = o.Fidelity, o.Support
			parts[3].JudgeNote = o.Explanation
			for _, f := range o.Flags {
				if at, ok := partOfFlag[f.Type]; ok && parts[at].JudgeNote == "" {
					parts[at].JudgeNote = f.Severity + ": " + f.Detail
				}
			}
		}
		title := fmt.Sprintf("Citation %d, [%s]", c.Marker.Number, c.Marker.CitationID)
		s.Units[i] = Unit{Key: key, Title: title, Parts: parts, Citation: c}
	}
	return nil
}

// partOfFlag is which of the four questions a flag answers.
var partOfFlag = map[string]int{"citation_not_found": 0, "quote_mismatch": 1, "context_mismatch": 2, "unsupported": 3}

// judgedQuote turns the report's yes or no into a choice: yes is what the texts
// show, and exact where they show no match; no is not found, also where words are
// near, since a number or a condition in them is then not the source's.
func judgedQuote(accurate bool, c *Citation) string {
	switch {
	case !accurate:
		return "not_found"
	case c.Quote == "":
		return "no_quote"
	case c.Kind == MatchNear:
		return "near"
	}
	return "exact"
}

// ruledCitation is what holds of one citation when rulings and report are laid
// over each other.
type ruledCitation struct {
	*Citation
	exists, quote, fidelity, support string
	changed                          bool
	flags                            []builtin.Flag
	flagged                          bool
	note                             string
}

// defaultSeverity of a fault that a person finds: a source that is not there
// makes a reader act wrongly; whoever differs says so by the decision's severity.
var defaultSeverity = map[string]string{
	"citation_not_found": judge.SeverityCritical, "quote_mismatch": judge.SeverityMajor,
	"context_mismatch": judge.SeverityMajor, "unsupported": judge.SeverityMajor,
}

func (s *Sheet) ruledCitation(u *Unit, a answers) ruledCitation {
	key := u.Key + "/"
	r := ruledCitation{
		Citation: u.Citation, exists: a.of(key + ruledExists), quote: a.of(key + ruledQuote),
		fidelity: a.of(key + ruledFidelity), support: a.of(key + ruledSupport),
	}
	var notes []string
	for _, p := range u.Parts {
		said, ok := a.said[p.Key]
		if !ok {
			continue
		}
		r.changed = r.changed || a.changed(p.Key)
		if note := strings.TrimSpace(said.Note); note != "" {
			notes = append(notes, note)
		}
	}
	r.note = clippedTo(strings.Join(notes, " "), MostNote)
	o, judged := s.report.citations[u.Citation.Marker.Number]
	if judged && !r.changed {
		r.flags, r.flagged = o.Flags, o.Flagged
		return r
	}
	severity := func(flag string) string {
		for _, f := range o.Flags {
			if f.Type == flag {
				return f.Severity
			}
		}
		return defaultSeverity[flag]
	}
	add := func(flag string) { r.flags = append(r.flags, builtin.Flag{Type: flag, Severity: severity(flag)}) }
	if r.exists == "not_found" {
		add("citation_not_found")
	}
	if r.quote == "not_found" {
		add("quote_mismatch")
	}
	if r.fidelity == "mismatch" {
		add("context_mismatch")
	}
	if r.support == "unsupported" && r.exists != "not_found" {
		add("unsupported")
	}
	r.flagged = len(r.flags) > 0
	return r
}

// open tells that a citation's value hangs on something that nobody said, or that
// could not be verified.
func (r ruledCitation) open() bool {
	return r.exists == "cannot_verify" || r.exists == "" || r.quote == "" || r.fidelity == "" || r.support == ""
}

// citationOutcome: value 0 when flagged or unsupported, else 1 or 0.5; the score
// is their mean (judges.md, section 4).
func (s *Sheet) citationOutcome(a answers, band judge.Band) (Outcome, bool) {
	if len(s.Units) == 0 {
		return Outcome{}, false
	}
	out, open, flagged, sum := Outcome{}, false, false, 0.0
	for i := range s.Units {
		r := s.ruledCitation(&s.Units[i], a)
		if r.support != "" {
			out.Parts = append(out.Parts, judge.PartLabel{Kind: judge.PartCitation, Key: strconv.Itoa(r.Marker.Number), Label: r.support})
		}
		open = open || r.open()
		flagged = flagged || r.flagged
		for _, f := range r.flags {
			out.Critical = out.Critical || f.Severity == judge.SeverityCritical
		}
		sum += builtin.CitationValue(r.flagged, r.support)
	}
	if open {
		return Outcome{Parts: out.Parts, Critical: out.Critical}, false
	}
	score := sum / float64(len(s.Units))
	out.Score = &score
	out.Label = builtin.CitationLabel(score, flagged, out.Critical)
	out.Verdict = band.Verdict(score, out.Critical, false)
	return out, true
}

// citationFindings: the judge's where the person agrees or did not rule, else one
// for each fault and for support that is not full.
func (s *Sheet) citationFindings(a answers) []judge.Finding {
	judged := map[int][]judge.Finding{}
	if s.Judged {
		for _, f := range s.report.evaluation.Findings {
			judged[f.Citation] = append(judged[f.Citation], f)
		}
	}
	var list []judge.Finding
	for i := range s.Units {
		r := s.ruledCitation(&s.Units[i], a)
		if !r.changed {
			for _, f := range judged[r.Marker.Number] {
				list = append(list, withNote(f, r.note))
			}
			continue
		}
		add := func(class, severity string) {
			list = append(list, judge.Finding{
				Step: r.Marker.Step, Citation: r.Marker.Number, CitationID: r.Marker.CitationID, Class: class, Severity: severity,
				Quote: clippedTo(r.Claim.Text, 600), Explanation: r.note,
			})
		}
		for _, flag := range r.flags {
			add(flag.Type, flag.Severity)
		}
		switch {
		case r.exists == "cannot_verify":
			add(r.exists, "")
		case len(r.flags) > 0:
		case r.fidelity == "partial_mismatch":
			add(r.fidelity, "")
		case r.support == "partially_supported", r.support == "unsupported":
			add(r.support, "")
		}
	}
	return list
}
