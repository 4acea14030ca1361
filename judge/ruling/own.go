package ruling

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

// labelKey is the part that takes one of the judge's labels.
const labelKey = "label"

// Values of a ruling on a finding.
const (
	Uphold = "uphold"
	Reject = "reject"
)

func upholdOrReject() []Choice {
	return []Choice{
		{Value: Uphold, Text: "Uphold", Help: "it is a fault, and as grave as that"},
		{Value: Reject, Text: "Reject", Help: "it is none"},
	}
}

// fillOwn makes the sheet of a project's own judge: its labels, and the findings
// of its report.
func (s *Sheet) fillOwn() error {
	if p := labelPart(s.judge); p != nil {
		if s.Judged {
			p.Judged = s.report.evaluation.Label
		}
		s.Units = append(s.Units, Unit{Key: labelKey, Title: "Label", Parts: []Part{*p}})
	}
	if !s.Judged {
		return nil
	}
	for i := range s.report.evaluation.Findings {
		f := s.report.evaluation.Findings[i]
		key := fmt.Sprintf("finding/%d", i+1)
		s.Units = append(s.Units, Unit{
			Key: key, Title: fmt.Sprintf("Finding %d", i+1), Finding: &f,
			Parts: []Part{{Key: key, Title: "Finding", Shortcut: "u", Choices: upholdOrReject(), Judged: Uphold, JudgeNote: f.Explanation}},
		})
	}
	return nil
}

// labelPart asks for one of a judge's labels; nil when it has none.
func labelPart(j *judge.Judge) *Part {
	if len(j.Labels) == 0 {
		return nil
	}
	p := &Part{Key: labelKey, Title: "Label"}
	for _, l := range j.Labels {
		c := Choice{Value: l.Name, Text: inWords(l.Name), Help: "counts as " + string(l.Verdict)}
		if l.Abstain {
			c.Help = "says that it cannot be told; left out of agreement"
		}
		p.Choices = append(p.Choices, c)
	}
	return p
}

// inWords is a label as people read it.
func inWords(name string) string {
	text := strings.ReplaceAll(name, "_", " ")
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	return text
}

// ownFindings are the judge's that the person upheld.
func (s *Sheet) ownFindings(a answers) []judge.Finding {
	var list []judge.Finding
	for _, u := range s.Units {
		if u.Finding == nil || a.of(u.Key) != Uphold {
			continue
		}
		list = append(list, withNote(*u.Finding, a.said[u.Key].Note))
	}
	return list
}

// withNote is a finding in the person's words, where there are some.
func withNote(f judge.Finding, note string) judge.Finding {
	if note = strings.TrimSpace(note); note != "" {
		f.Explanation = note
	}
	return f
}

// ownOutcome: the label fixes the verdict. The score is the report's as long as
// nothing differs from it.
func (s *Sheet) ownOutcome(a answers) (Outcome, bool) {
	if o, ok := s.unchanged(a); ok {
		return o, true
	}
	label, ok := s.judge.LabelNamed(a.of(labelKey))
	if !ok {
		return Outcome{}, false
	}
	return Outcome{Label: label.Name, Verdict: label.Verdict}, true
}

// unchanged is the judge's own outcome, which holds while no ruling differs.
func (s *Sheet) unchanged(a answers) (Outcome, bool) {
	if !s.Judged {
		return Outcome{}, false
	}
	for key := range a.said {
		if a.changed(key) {
			return Outcome{}, false
		}
	}
	e := s.report.evaluation
	return Outcome{Score: e.Score, Verdict: e.Verdict, Label: e.Label, Critical: e.Critical, Parts: e.PartLabels}, e.Verdict != ""
}
