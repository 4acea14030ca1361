package ruling

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/rules"
)

// Keys of kind Steps that stand beside the pairs and extra steps.
const (
	answerKey     = "answer"
	firstWrongKey = "first_wrong"
	noneWrong     = "none"
)

var (
	pairChoices = []Choice{
		{"equivalent", "Equivalent", "=", "it holds and comes to the same, also by another valid way"},
		{"partial", "Partial", "≈", "a part of it is there, or it is weaker"},
		{"contradicts", "Contradicts", "≠", "it says otherwise, or is wrong"},
		{"missing", "Missing, material", "⌀", "no step does this and the solution needs it"},
		{"not_needed", "Missing, not needed", "–", "no step does this and none has to"},
	}
	orderChoice  = Choice{"order", "Out of order", "↕", "it is there, in another place than the reference has it"}
	extraChoices = []Choice{
		{"valid", "Holds", "=", "it is not in the reference and is right"},
		{"irrelevant", "Irrelevant", "–", "it is not in the reference and does nothing"},
		{"erroneous", "Wrong", "≠", "it is not in the reference and is wrong"},
	}
	extraChoice   = Choice{"extra", "Not in the reference", "+", "it is not in the reference; whether it holds is not said"}
	answerChoices = []Choice{
		{"yes", "Same answer", "=", "the final answer is that of the reference"},
		{"no", "Other answer", "≠", "it is not"},
	}
)

// choiceOf is the choice of each word that a report has for a pair or an extra
// step.
var choiceOf = map[string]string{
	"CORRECT": "equivalent", "EQUIVALENT": "equivalent", "PARTIALLY_CORRECT": "partial", "INCORRECT": "contradicts", "MISSING": "missing",
	"exact_match": "equivalent", "logical_equivalent": "equivalent", "contradiction": "contradicts", "missing_step": "missing", "order_mismatch": "order",
}

var choiceOfExtra = map[string]string{
	"EXTRA_VALID": "valid", "EXTRA_IRRELEVANT": "irrelevant", "EXTRA_ERRONEOUS": "erroneous",
	"extra_step": "extra", "contradiction": "erroneous",
}

// gravity orders choices of a pair, for several lines about one step.
var gravity = map[string]int{"equivalent": 1, "not_needed": 2, "order": 3, "partial": 4, "missing": 5, "contradicts": 6}

// fillSteps makes a unit of each step of the reference, then of each step of the
// output that stands for none, then of the answers and the first wrong step.
//
// The key of a pair or an extra step counts as we cut the texts, sealed or not.
// Where a report cut them otherwise, its steps have keys of their own, which end
// in how many it counts ("pair/2/5"): a ruling made blind on our second step is
// none on the second of five.
func (s *Sheet) fillSteps() error {
	s.ReferenceSteps = evidence.Steps(s.trace.Reference)
	same, compared := builtin.CompareAnswers(s.trace.Output, s.trace.Reference)
	s.Answers = &Answers{
		Candidate: evidence.FinalAnswer(s.trace.Output).Text, Reference: evidence.FinalAnswer(s.trace.Reference).Text, Compared: compared, Same: same,
	}
	var said builtin.StepOpinions
	if s.Judged {
		var err error
		if said, err = builtin.ReadSteps(s.judge, s.report.evaluation.Report, s.trace); err != nil {
			return err
		}
	}
	if s.Judged {
		s.Units = s.judgedSteps(said)
	} else {
		s.Units = s.lineUp()
	}
	s.keepFurther()
	s.Units = append(s.Units, s.answerUnit(said), s.firstWrongUnit(said))
	return nil
}

func pairKey(step int) string  { return "pair/" + strconv.Itoa(step) }
func extraKey(step int) string { return "extra/" + strconv.Itoa(step) }

// mostLinedUp is how many bytes of output and reference are lined up; of longer
// texts it is left to the person which step stands for which.
const mostLinedUp = 512 << 10

// lineUp are the units as the texts alone show them, without a judge's choice.
func (s *Sheet) lineUp() []Unit {
	var found [][]int
	if len(s.trace.Output)+len(s.trace.Reference) <= mostLinedUp {
		found = rules.LineUp(s.trace)
	}
	used := make([]bool, len(s.Steps)+1)
	var units []Unit
	for i, step := range s.ReferenceSteps {
		p := &Pair{Reference: i + 1, Of: len(s.ReferenceSteps), ReferenceText: step.Text}
		if i < len(found) {
			p.Candidate = found[i]
		}
		for _, c := range p.Candidate {
			used[c] = true
		}
		units = append(units, s.pairUnit(pairKey(i+1), p, "", ""))
	}
	for _, step := range s.Steps {
		if found != nil && !used[step.Number] {
			x := &Extra{Step: step.Number, Of: len(s.Steps), Text: step.Text}
			units = append(units, s.extraUnit(extraKey(step.Number), x, "", ""))
		}
	}
	return units
}

// comparison tells the contract that has words of its own.
func (s *Sheet) comparison() bool { return s.judge.Name == builtin.StepsComparison }

func (s *Sheet) pairUnit(key string, p *Pair, judged, note string) Unit {
	choices := pairChoices
	if s.comparison() {
		choices = append(choices[:len(choices):len(choices)], orderChoice)
	}
	return Unit{
		Key: key, Title: fmt.Sprintf("Reference step %d", p.Reference), Pair: p,
		Parts: []Part{{Key: key, Title: "Judgment", Choices: choices, Judged: judged, JudgeNote: note}},
	}
}

func (s *Sheet) extraUnit(key string, x *Extra, judged, note string) Unit {
	choices := extraChoices
	if s.comparison() {
		choices = append(choices[:len(choices):len(choices)], extraChoice)
	}
	title := "A step besides"
	if x.Step > 0 {
		title = fmt.Sprintf("Step %d", x.Step)
	}
	return Unit{
		Key: key, Title: title + ", not in the reference", Extra: x,
		Parts: []Part{{Key: key, Title: "Judgment", Choices: choices, Judged: judged, JudgeNote: note}},
	}
}

// judgedSteps are the units as the report has them.
func (s *Sheet) judgedSteps(said builtin.StepOpinions) []Unit {
	counted := s.comparison() || said.CandidateSteps == len(s.Steps)
	place, cut := s.referencePlaces(said), cutReference(s.report.evaluation)
	at := map[string]int{} // of a key, its unit
	var units []Unit
	for i, o := range said.Pairs {
		p := &Pair{Reference: o.Reference, Of: len(said.Pairs), ReferenceText: o.ReferenceText, JudgeWord: o.Judgment, Critical: o.Critical}
		key := fmt.Sprintf("pair/%d/%d", o.Reference, p.Of)
		if place != nil {
			p.Reference, p.Of = place[i], len(s.ReferenceSteps)
			key, p.ReferenceText = pairKey(p.Reference), s.ReferenceSteps[p.Reference-1].Text
		} else if len(cut) == said.ReferenceSteps && o.Reference >= 1 && o.Reference <= len(cut) {
			p.ReferenceText = cut[o.Reference-1]
		}
		switch {
		case counted:
			p.Candidate = inside(o.Candidate, len(s.Steps))
			if len(p.Candidate) == 0 {
				p.CandidateText = o.CandidateText
			}
		case len(o.Candidate) > 0:
			p.CandidateText = fmt.Sprintf("step %s of %d as the judge counts", numbers(o.Candidate), said.CandidateSteps)
		}
		judged := choiceOf[o.Judgment]
		if u, twice := at[key]; twice {
			merge(&units[u], p, judged, o.Explanation)
			continue
		}
		at[key] = len(units)
		units = append(units, s.pairUnit(key, p, judged, o.Explanation))
	}
	if place != nil {
		units = inOrder(units)
		at = map[string]int{}
	}
	for i, o := range said.Extras {
		x := &Extra{Step: o.Step, Of: len(s.Steps), Text: o.Text, JudgeWord: o.Judgment, Critical: o.Critical}
		var key string
		switch {
		case counted && o.Step >= 1 && o.Step <= len(s.Steps):
			key, x.Text = extraKey(o.Step), s.Steps[o.Step-1].Text
		case said.CandidateSteps > 0:
			x.Of = said.CandidateSteps
			key = fmt.Sprintf("extra/%d/%d", o.Step, x.Of)
		default: // a text that is none of our steps
			x.Step, x.Of = 0, len(said.Extras)
			key = fmt.Sprintf("extra/%d/%d", i+1, x.Of)
		}
		if _, twice := at[key]; twice {
			key = fmt.Sprintf("extra/%d/%d", i+1, len(said.Extras))
			if _, twice := at[key]; twice {
				continue
			}
		}
		at[key] = len(units)
		units = append(units, s.extraUnit(key, x, choiceOfExtra[o.Judgment], o.Explanation))
	}
	return units
}

// referencePlaces are the steps of our cut that the report's pairs are about; nil
// when it cut the reference otherwise.
func (s *Sheet) referencePlaces(said builtin.StepOpinions) []int {
	places := make([]int, len(said.Pairs))
	if !s.comparison() {
		if said.ReferenceSteps != len(s.ReferenceSteps) {
			return nil
		}
		for i, p := range said.Pairs {
			if p.Reference < 1 || p.Reference > len(s.ReferenceSteps) {
				return nil
			}
			places[i] = p.Reference
		}
		return places
	}
	texts := make([]string, len(said.Pairs))
	for i, p := range said.Pairs {
		texts[i] = p.ReferenceText
	}
	places = builtin.FindSteps(s.trace.Reference, s.ReferenceSteps, texts)
	covered := make([]bool, len(s.ReferenceSteps))
	for _, n := range places {
		if n == 0 {
			return nil
		}
		covered[n-1] = true
	}
	for _, ok := range covered {
		if !ok {
			return nil
		}
	}
	return places
}

// cutReference are the steps into which a call cut the reference for the judge,
// in the reference's own words; nil where there was none, or its reply is not here.
func cutReference(e *judge.Evaluation) []string {
	for _, c := range e.Calls {
		if c.Purpose != judge.PurposeDecomposition || len(c.Errors) > 0 || len(c.Report) == 0 {
			continue
		}
		var cut struct{ Steps []string }
		if json.Unmarshal(c.Report, &cut) == nil {
			return cut.Steps
		}
	}
	return nil
}

// merge adds a further line about the same step to a unit; the gravest counts.
func merge(u *Unit, p *Pair, judged, note string) {
	have, part := u.Pair, &u.Parts[0]
	have.Candidate = append(have.Candidate, p.Candidate...)
	have.CandidateText = joinedBy(have.CandidateText, p.CandidateText, "; ")
	have.Critical = have.Critical || p.Critical
	part.JudgeNote = joinedBy(part.JudgeNote, note, " ")
	if gravity[judged] > gravity[part.Judged] {
		part.Judged, have.JudgeWord = judged, p.JudgeWord
	}
}

func joinedBy(a, b, by string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + by + b
}

// inOrder puts the pairs in the order of the reference.
func inOrder(units []Unit) []Unit {
	ordered := make([]Unit, 0, len(units))
	byStep := make(map[int]Unit, len(units))
	last := 0
	for _, u := range units {
		byStep[u.Pair.Reference] = u
		last = max(last, u.Pair.Reference)
	}
	for n := 1; n <= last; n++ {
		if u, ok := byStep[n]; ok {
			ordered = append(ordered, u)
		}
	}
	return ordered
}

// inside are those numbers that count from 1 to last.
func inside(list []int, last int) []int {
	var kept []int
	for _, n := range list {
		if n >= 1 && n <= last {
			kept = append(kept, n)
		}
	}
	return kept
}

func numbers(list []int) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.Itoa(n)
	}
	return strings.Join(texts, ", ")
}

// keepFurther takes rulings on what no unit shows: any step of the output may be
// called one besides, whatever lines up with it, and rulings stand that were made
// on the sealed sheet about pairs which the open one has otherwise. A judge that
// lines a step up says nothing against it.
func (s *Sheet) keepFurther() {
	shown := map[string]bool{}
	for _, u := range s.Units {
		shown[u.Key] = true
	}
	for _, step := range s.ReferenceSteps {
		if key := pairKey(step.Number); !shown[key] {
			s.further[key] = s.pairUnit(key, &Pair{Reference: step.Number, Of: len(s.ReferenceSteps), ReferenceText: step.Text}, "", "").Parts[0]
		}
	}
	for _, step := range s.Steps {
		key := extraKey(step.Number)
		if shown[key] {
			continue
		}
		p := s.extraUnit(key, &Extra{Step: step.Number, Of: len(s.Steps), Text: step.Text}, "", "").Parts[0]
		if p.Optional = true; s.Judged {
			p.silent = "valid"
		}
		s.further[key] = p
	}
}

func (s *Sheet) answerUnit(said builtin.StepOpinions) Unit {
	p := Part{Key: answerKey, Title: "Final answer", Choices: answerChoices}
	if said.AnswerMatches != nil {
		p.Judged = "no"
		if *said.AnswerMatches {
			p.Judged = "yes"
		}
	}
	return Unit{Key: answerKey, Title: "Final answers", Parts: []Part{p}}
}

// firstWrongUnit asks for the first step of the output that is wrong. The
// judge's is the first that contradicts the reference or is wrong besides; where
// the report counts the output's steps otherwise, or a fault of it points at no
// step, it is not known.
func (s *Sheet) firstWrongUnit(said builtin.StepOpinions) Unit {
	p := Part{Key: firstWrongKey, Title: "First wrong step", Shortcut: "w", Optional: true}
	p.Choices = append(p.Choices, Choice{Value: noneWrong, Text: "None"})
	for _, step := range s.Steps {
		p.Choices = append(p.Choices, Choice{Value: strconv.Itoa(step.Number), Text: fmt.Sprintf("Step %d", step.Number)})
	}
	if s.Judged {
		p.Judged = firstWrong(s.Units, s.comparison() || said.CandidateSteps == len(s.Steps))
	}
	return Unit{Key: firstWrongKey, Title: "First wrong step", Parts: []Part{p}}
}

func firstWrong(units []Unit, counted bool) string {
	first := 0
	for _, u := range units {
		at := 0
		switch judged := u.Parts[0].Judged; {
		case u.Pair != nil && judged == "contradicts" && len(u.Pair.Candidate) > 0:
			at = u.Pair.Candidate[0]
			for _, c := range u.Pair.Candidate {
				at = min(at, c)
			}
		case u.Pair != nil && judged == "contradicts":
			return ""
		case u.Extra != nil && judged == "erroneous":
			if at = u.Extra.Step; at == 0 || !counted {
				return ""
			}
		default:
			continue
		}
		if first == 0 || at < first {
			first = at
		}
	}
	if first == 0 {
		return noneWrong
	}
	return strconv.Itoa(first)
}

// stepsOutcome: the score of this judge has no formula, so that only agreement
// with it determines a verdict. The steps' classes are known all the same.
func (s *Sheet) stepsOutcome(a answers) (Outcome, bool) {
	if o, ok := s.unchanged(a); ok {
		return o, true
	}
	var out Outcome
	for _, u := range s.Units {
		if u.Pair == nil {
			continue
		}
		if label := s.stepLabel(&u, a); label != "" {
			out.Parts = append(out.Parts, judge.PartLabel{Kind: judge.PartStep, Key: strconv.Itoa(u.Pair.Reference), Label: label})
		}
	}
	return out, false
}

// stepLabel is a pair's class in the judge's own words; empty where it has none.
func (s *Sheet) stepLabel(u *Unit, a answers) string {
	value := a.of(u.Key)
	if value == u.Parts[0].Judged && u.Pair.JudgeWord != "" {
		return u.Pair.JudgeWord
	}
	if s.comparison() {
		return map[string]string{
			"equivalent": "logical_equivalent", "contradicts": "contradiction", "missing": "missing_step", "order": "order_mismatch",
		}[value]
	}
	return map[string]string{
		"equivalent": "EQUIVALENT", "partial": "PARTIALLY_CORRECT", "contradicts": "INCORRECT", "missing": "MISSING",
	}[value]
}

// stepsFindings: the judge's while nothing differs from it, else what is below
// equivalent, extra steps that do not hold, a wrong answer and the first wrong
// step. The judge's critical errors that stand apart from the steps are then left
// out: the person was not asked about them.
func (s *Sheet) stepsFindings(a answers) []judge.Finding {
	if _, same := s.unchanged(a); same {
		return s.report.evaluation.Findings
	}
	var list []judge.Finding
	for i := range s.Units {
		u := &s.Units[i]
		value := a.of(u.Key)
		if value == "" {
			continue
		}
		f := judge.Finding{Explanation: strings.TrimSpace(a.said[u.Key].Note)}
		if f.Explanation == "" && !a.changed(u.Key) {
			f.Explanation = u.Parts[0].JudgeNote
		}
		switch {
		case u.Pair != nil && value != "equivalent" && value != "not_needed":
			if f.Class = s.stepLabel(u, a); f.Class == "" {
				f.Class = value
			}
			f.Explanation = strings.TrimSpace(fmt.Sprintf("reference step %d: %s", u.Pair.Reference, f.Explanation))
			if len(u.Pair.Candidate) > 0 {
				f.Step = u.Pair.Candidate[0]
			}
			f.Severity = severityOf(u.Pair.Critical && !a.changed(u.Key))
		case u.Extra != nil && value != "valid":
			f.Class = u.Extra.JudgeWord
			if a.changed(u.Key) || f.Class == "" {
				f.Class = extraClass[value]
			}
			if s.inOurCount(u.Extra) {
				f.Step = u.Extra.Step
			}
			f.Severity = severityOf(u.Extra.Critical && !a.changed(u.Key))
		case u.Key == answerKey && value == "no":
			f.Class = "final_answer"
		case u.Key == firstWrongKey && value != noneWrong:
			f.Class = "first_wrong_step"
			f.Step, _ = strconv.Atoi(value) // a choice of the sheet
		default:
			continue
		}
		list = append(list, f)
	}
	for _, step := range s.Steps {
		key := extraKey(step.Number)
		if _, further := s.further[key]; !further {
			continue
		}
		if r, ok := a.said[key]; ok && r.Value != "valid" {
			list = append(list, judge.Finding{Step: step.Number, Class: extraClass[r.Value], Explanation: strings.TrimSpace(r.Note)})
		}
	}
	return list
}

// extraClass is the judge's word of each choice.
var extraClass = map[string]string{"irrelevant": "EXTRA_IRRELEVANT", "erroneous": "EXTRA_ERRONEOUS", "extra": "extra_step"}

func severityOf(critical bool) string {
	if critical {
		return judge.SeverityCritical
	}
	return ""
}

// inOurCount tells an extra step whose number is that of the shown trace.
func (s *Sheet) inOurCount(x *Extra) bool { return x.Step >= 1 && x.Of == len(s.Steps) }
