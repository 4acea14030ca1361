package ruling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
)

const (
	classKey = "class"
	material = "material"
	wording  = "wording"
)

var differenceChoices = []Choice{
	{wording, "Wording", "≈", "the same is said in other words"},
	{material, "Material", "≠", "a reader would act otherwise, or learn something else"},
}

var classHelp = map[string]string{
	"exact_match":            "the same words",
	"semantic_equivalent":    "other words, the same facts, intent and meaning",
	"acceptable_variation":   "minor detail is added or left out that contradicts nothing",
	"substantive_difference": "contradicts, invents, changes a decision or leaves out a condition",
}

// substantive is the class that counts the differences.
const substantive = "substantive_difference"

// fillReference makes a unit of each place where the texts differ, and one of the
// class.
func (s *Sheet) fillReference() error {
	d := Compare(s.trace.Reference, s.trace.Output)
	s.Diff = &d
	class := Part{Key: classKey, Title: "Equivalence class"}
	for _, l := range s.judge.Labels {
		class.Choices = append(class.Choices, Choice{Value: l.Name, Text: inWords(l.Name), Help: classHelp[l.Name]})
	}
	var listed [][]string // for each difference, what the report says of it
	if s.Judged {
		said, err := builtin.ReadReference(s.report.evaluation.Report, s.trace)
		if err != nil {
			return err
		}
		s.report.differs = said
		class.Judged, class.JudgeNote = said.Class, said.Rationale
		listed, d.Unplaced = assign(said.Differences, &d, s.trace.Reference, s.trace.Output)
	}
	for i := range d.Differences {
		f := &d.Differences[i]
		key := "difference/" + strconv.Itoa(f.Number)
		p := Part{Key: key, Title: "Effect", Choices: differenceChoices}
		switch {
		case !s.Judged:
		case len(listed[i]) > 0:
			p.Judged, p.JudgeNote = s.judgedEffect(), strings.Join(listed[i], " ")
		default:
			p.silent, p.JudgeNote = wording, "The judge does not list this."
		}
		s.Units = append(s.Units, Unit{Key: key, Title: fmt.Sprintf("Difference %d", f.Number), Difference: f, Parts: []Part{p}})
	}
	s.Units = append(s.Units, Unit{Key: classKey, Title: "Equivalence class", Parts: []Part{class}})
	return nil
}

// judgedEffect is what a difference that the report lists is by its class: in any
// but a substantive difference it is wording; in one it is material where all
// that are listed count. Where only some do, it is not known which.
func (s *Sheet) judgedEffect() string {
	said := s.report.differs
	switch {
	case said.Class != substantive:
		return wording
	case said.Errors >= len(said.Differences):
		return material
	}
	return ""
}

// assign finds what a report's list says of each difference. An entry speaks of a side
// when it has at least half of its telling words; of a side without such words, when it
// has its negation and half of the words around. It is about the differences of which it
// speaks of all that there is; where it does so of none, about those of which it speaks
// of one side. So "20 mg and not 20 mmol" is not about a 10 that became 20. What is
// about none is unplaced.
func assign(entries []string, d *Diff, reference, candidate string) (found [][]string, unplaced []string) {
	const most = 100 // entries that are looked at
	found = make([][]string, len(d.Differences))
	if len(entries) == 0 {
		return found, nil
	}
	sides := make([][2]spoken, len(d.Differences))
	for i, f := range d.Differences {
		sides[i] = [2]spoken{spokenOf(reference, f.Reference), spokenOf(candidate, f.Candidate)}
	}
	for _, entry := range entries[:min(most, len(entries))] {
		entry = clippedTo(entry, mostRead)
		has := map[string]bool{}
		for _, w := range tellingWords(entry) {
			has[w] = true
		}
		for _, n := range evidence.Negations(entry) {
			has[n.Word] = true
		}
		var whole, half []int
		for i := range sides {
			one, other := sides[i][0].in(has), sides[i][1].in(has)
			switch {
			case one && other, one && sides[i][1].silent(), other && sides[i][0].silent():
				whole = append(whole, i)
			case one || other:
				half = append(half, i)
			}
		}
		about := whole
		if len(about) == 0 {
			about = half
		}
		for _, i := range about {
			found[i] = append(found[i], entry)
		}
		if len(about) == 0 {
			unplaced = append(unplaced, entry)
		}
	}
	return found, unplaced
}

// mostRead of a text is looked at for its words.
const mostRead = 4000

// spoken is how an entry speaks of one side of a difference.
type spoken struct{ needs, words []string }

func spokenOf(text string, at evidence.Span) spoken {
	side := clippedTo(text[at.Start:at.End], mostRead)
	if words := tellingWords(side); len(words) > 0 {
		return spoken{words: words}
	}
	var s spoken
	for _, n := range evidence.Negations(side) {
		s.needs = append(s.needs, n.Word)
	}
	if s.needs != nil {
		const around = 40 // bytes: some six words
		s.words = tellingWords(strings.ToValidUTF8(text[max(0, at.Start-around):min(len(text), at.End+around)], ""))
	}
	return s
}

// silent is a side with nothing to speak of.
func (s spoken) silent() bool { return len(s.needs) == 0 && len(s.words) == 0 }

func (s spoken) in(has map[string]bool) bool {
	for _, w := range s.needs {
		if !has[w] {
			return false
		}
	}
	hits := 0
	for _, w := range s.words {
		if has[w] {
			hits++
		}
	}
	return hits > 0 && 2*hits >= len(s.words)
}

// tellingWords are the content words of a text, negations apart, and its numbers.
func tellingWords(text string) []string {
	negations := map[string]bool{}
	for _, n := range evidence.Negations(text) {
		negations[n.Word] = true
	}
	list := slices.DeleteFunc(evidence.ContentWords(text), func(w string) bool { return negations[w] })
	for _, n := range evidence.Numbers(text) {
		list = append(list, n.Value)
	}
	return list
}

// referenceOutcome: the class fixes label and verdict, and with the number of
// material differences the partial credit (judges.md, section 2). The score is a
// similarity, which has no formula: it is the report's while the class is.
func (s *Sheet) referenceOutcome(a answers, band judge.Band) (Outcome, bool) {
	class := a.of(classKey)
	label, ok := s.judge.LabelNamed(class)
	if !ok {
		return Outcome{}, false
	}
	credit, err := builtin.Credit(class, s.errors(a))
	if err != nil {
		return Outcome{}, false
	}
	out := Outcome{Label: class, Verdict: label.Verdict, Credit: &credit}
	if s.Judged && !a.changed(classKey) && s.report.evaluation.Score != nil {
		score := *s.report.evaluation.Score
		out.Score, out.Verdict = &score, band.Verdict(score, false, false)
	}
	return out, true
}

// errors counts the material differences; a substantive difference has at least
// one. Where the person ruled on none, the report's count stands.
func (s *Sheet) errors(a answers) int {
	count, ruled := 0, false
	for _, u := range s.Units {
		if u.Difference == nil {
			continue
		}
		if _, ok := a.said[u.Key]; ok {
			ruled = true
		}
		if a.of(u.Key) == material {
			count++
		}
	}
	if !ruled && s.Judged && s.report.differs.Class == substantive {
		return s.report.differs.Errors
	}
	return max(1, count)
}

// referenceFindings: the judge's while nothing differs from it, else each material
// difference.
func (s *Sheet) referenceFindings(a answers) []judge.Finding {
	if _, same := s.unchanged(a); same {
		return s.report.evaluation.Findings
	}
	var list []judge.Finding
	for _, u := range s.Units {
		if u.Difference == nil || a.of(u.Key) != material {
			continue
		}
		f := judge.Finding{Class: "difference", Explanation: clippedTo(strings.TrimSpace(a.said[u.Key].Note), MostNote)}
		f.Quote = clippedTo(u.Difference.CandidateText, 600)
		if f.Explanation == "" {
			f.Explanation = fmt.Sprintf("the reference has %s", quotedOrNothing(u.Difference.ReferenceText))
		}
		list = append(list, f)
	}
	return list
}

func quotedOrNothing(text string) string {
	if text == "" {
		return "nothing here"
	}
	return "“" + clippedTo(text, 600) + "”"
}
