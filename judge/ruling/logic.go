package ruling

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
)

func dimensionKey(name string) string { return "dimension/" + name }

// otherKey is the unit of violations that name no dimension of the rubric.
const otherKey = "violations"

var severityChoices = []Choice{
	{judge.SeverityCritical, "Critical", "", "the conclusion falls with it"},
	{judge.SeverityMajor, "Major", "", "a needed step fails"},
	{judge.SeverityMinor, "Minor", "", "a gap that can be closed"},
}

// fillLogic makes a unit of each dimension of the rubric with its violations, and
// one that takes what the person finds besides.
func (s *Sheet) fillLogic() error {
	var said builtin.LogicOpinions
	if s.Judged {
		var err error
		if said, err = builtin.ReadLogic(s.judge, s.report.evaluation.Report, s.trace); err != nil {
			return err
		}
		s.report.violations = said.Violations
	}
	s.rubric = s.judge.Rubric
	scores := make(map[string]float64, len(said.Scores))
	for _, d := range said.Scores {
		scores[d.Name] = d.Score
		if _, ok := s.rubric.Named(d.Name); !ok { // of a rubric that the project had before
			s.rubric = append(s.rubric[:len(s.rubric):len(s.rubric)], judge.Dimension{Name: d.Name})
		}
	}
	units := map[string]int{}
	for _, d := range s.rubric {
		p := dimensionPart(d)
		score, scored := scores[d.Name]
		if !scored && s.Judged {
			s.further[p.Key] = p // the report is by another rubric; a blind ruling stands
			continue
		}
		if scored {
			p.Judged = builtin.LogicLabel(score)
			if score != math.Trunc(score) {
				p.JudgeNote = "the judge gives " + strconv.FormatFloat(score, 'f', -1, 64)
			}
		}
		units[d.Name] = len(s.Units)
		s.Units = append(s.Units, Unit{Key: p.Key, Title: p.Title, Dimension: &Dimension{Dimension: d, Score: score}, Parts: []Part{p}})
	}
	s.addViolations(units, said.Places)
	s.Units = append(s.Units, Unit{Key: addKey, Title: "What the judge did not find", Parts: []Part{{
		Key: addKey, Title: "A violation of your own", Choices: severityChoices, Optional: true, Many: true,
	}}})
	return nil
}

func dimensionPart(d judge.Dimension) Part {
	p := Part{Key: dimensionKey(d.Name), Title: inWords(d.Name)}
	for i, anchor := range d.Anchors {
		score := strconv.Itoa(i + 1)
		p.Choices = append(p.Choices, Choice{Value: score, Text: score, Help: anchor})
	}
	return p
}

// addViolations puts the report's violations into the units of their dimensions.
func (s *Sheet) addViolations(units map[string]int, places []evidence.Match) {
	for i, f := range s.report.violations {
		v := &Violation{Finding: f, Number: i + 1, Place: places[i]}
		if v.Step == 0 && v.Place.Found() {
			v.Step = evidence.StepAt(s.Steps, v.Place.Start)
		}
		at, ok := units[f.Dimension]
		if !ok {
			if at, ok = units[""]; !ok {
				at = len(s.Units)
				units[""] = at
				s.Units = append(s.Units, Unit{Key: otherKey, Title: "Violations of no dimension"})
			}
		}
		s.Units[at].Parts = append(s.Units[at].Parts, Part{
			Key: violationKey(i + 1), Title: violationTitle(v), Shortcut: "u", Choices: upholdOrReject(), Judged: Uphold,
			JudgeNote: f.Explanation, Violation: v,
		})
	}
}

func violationKey(n int) string { return "violation/" + strconv.Itoa(n) }

func violationTitle(v *Violation) string {
	title := fmt.Sprintf("Finding %d", v.Number)
	if v.Severity != "" {
		title += ", " + v.Severity
	}
	return title
}

// scoreOf is a dimension's score when rulings and report are laid over each
// other: the report's own, unrounded, while the person's is the same.
func (s *Sheet) scoreOf(u *Unit, a answers) (score float64, ok bool) {
	if !a.changed(u.Key) && u.Dimension.Score != 0 {
		return u.Dimension.Score, true
	}
	n, err := strconv.Atoi(a.of(u.Key))
	return float64(n), err == nil
}

// logicOutcome: the mean of the dimension scores over 5, and that mean rounded
// half up as the label; critical while a critical violation stands (judges.md,
// section 3).
func (s *Sheet) logicOutcome(a answers, band judge.Band) (Outcome, bool) {
	var out Outcome
	sum, count, open := 0.0, 0, false
	for i := range s.Units {
		u := &s.Units[i]
		if u.Dimension == nil {
			continue
		}
		score, ok := s.scoreOf(u, a)
		if !ok {
			open = true
			continue
		}
		sum += score
		count++
		out.Parts = append(out.Parts, judge.PartLabel{Kind: judge.PartDimension, Key: u.Dimension.Name, Label: builtin.LogicLabel(score)})
	}
	for _, f := range s.logicFindings(a) {
		out.Critical = out.Critical || f.Severity == judge.SeverityCritical
	}
	if open || count == 0 {
		return out, false
	}
	mean := sum / float64(count)
	score := mean / judge.MaxScore
	out.Score, out.Label, out.Verdict = &score, builtin.LogicLabel(mean), band.Verdict(score, out.Critical, false)
	return out, true
}

// logicFindings are the violations that stand: the judge's but for rejected ones,
// and the person's own.
func (s *Sheet) logicFindings(a answers) []judge.Finding {
	var list []judge.Finding
	for i, f := range s.report.violations {
		if key := violationKey(i + 1); a.of(key) != Reject {
			list = append(list, withNote(f, a.said[key].Note))
		}
	}
	for n := 1; n <= MostAdded; n++ {
		r, ok := a.said[addKey+"/"+strconv.Itoa(n)]
		if !ok {
			continue
		}
		own, err := ParseAdded(r)
		if err != nil { // Check says so; it is no finding
			continue
		}
		class := own.Class
		if strings.TrimSpace(class) == "" {
			class = "violation"
		}
		list = append(list, judge.Finding{
			Step: max(0, own.Step), Dimension: own.Dimension, Class: class, Severity: own.Severity, Quote: own.Quote, Explanation: own.Explanation,
		})
	}
	return list
}
