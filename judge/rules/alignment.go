package rules

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// Judgments of a reference step.
const (
	correct    = "CORRECT"
	equal      = "EQUIVALENT"
	partly     = "PARTIALLY_CORRECT"
	incorrect  = "INCORRECT"
	missing    = "MISSING"
	extraValid = "EXTRA_VALID"
	extraWrong = "EXTRA_ERRONEOUS"
)

// maxSteps that the reports of the step judges may number.
const maxSteps = 10_000

// lookAhead is how many steps after the last aligned one are compared by their
// words: enough for a few steps put in between, and it keeps the work in
// proportion to the texts.
const lookAhead = 8

// wordsCompared of a step at most when shared words are counted.
const wordsCompared = 200

// solution is a text taken apart for comparing it with another.
type solution struct {
	steps  []evidence.Step
	forms  []form
	sums   [][]equation // of each step
	answer answer
}

func solutionOf(text string) solution {
	s := solution{steps: evidence.Steps(text)}
	s.forms, s.sums = make([]form, len(s.steps)), make([][]equation, len(s.steps))
	for i, step := range s.steps {
		s.forms[i] = formOf(body(step))
		s.sums[i] = equations(unlabelled(step))
	}
	s.answer = answerOf(text, s.steps)
	return s
}

// wrongSum is the first equation of a step that does not hold.
func (s solution) wrongSum(step int) (equation, bool) {
	for _, e := range s.sums[step] {
		if e.wrong() && !e.madeGood {
			return e, true
		}
	}
	return equation{}, false
}

// pair is what became of one step of the reference.
type pair struct {
	candidate   []int // indices from 0, in order
	judgment    string
	explanation string
	decided     bool
}

// alignment of a candidate's steps with those of a reference.
type alignment struct {
	candidate, reference solution
	pairs                []pair // one a reference step
	used                 []bool // candidate steps that a pair has
	identical            bool
	answers              int  // answersOpen, answersSame, answersDiffer
	match                bool // final_answer_match
}

// align compares step by step, in the order of what text shows most surely:
// the same words, the final answer, the same words with another number or
// negation, the same calculations. What is left is paired by shared words, or
// not at all, and is not decided.
//
// Nil with a reason: the texts have no steps, or more than a report can number.
func align(t *judge.Trace) (*alignment, string) {
	a := &alignment{candidate: solutionOf(t.Output), reference: solutionOf(t.Reference)}
	switch {
	case len(a.reference.steps) == 0:
		return nil, "the reference has no steps to compare with; a person decides"
	case max(len(a.candidate.steps), len(a.reference.steps)) > maxSteps:
		return nil, "the texts have more steps than a report can number; a person decides"
	}
	a.pairs = make([]pair, len(a.reference.steps))
	a.used = make([]bool, len(a.candidate.steps))
	a.answers, a.match = compareAnswers(a.candidate.answer, a.reference.answer)
	if a.identical = strings.TrimSpace(t.Output) == strings.TrimSpace(t.Reference); a.identical {
		a.answers, a.match = answersSame, true
	}
	a.sameWords()
	a.finalAnswers()
	a.changedWords()
	a.sameSums()
	a.sharedWords()
	a.wrongSums()
	return a, ""
}

func (a *alignment) give(ref int, judgment, explanation string, candidates ...int) {
	a.pairs[ref] = pair{candidate: candidates, judgment: judgment, explanation: explanation, decided: true}
	for _, c := range candidates {
		a.used[c] = true
	}
}

// queue hands out the candidate steps that have a key, each once.
type queue map[string][]int

func (a *alignment) queueBy(key func(form) string) queue {
	q := queue{}
	for i, f := range a.candidate.forms {
		if k := key(f); k != "" && !a.used[i] {
			q[k] = append(q[k], i)
		}
	}
	return q
}

func (q queue) next(key string) (int, bool) {
	list := q[key]
	if key == "" || len(list) == 0 {
		return 0, false
	}
	q[key] = list[1:]
	return list[0], true
}

func (a *alignment) sameWords() {
	key := func(f form) string { return strings.Join(f.words, " ") }
	q := a.queueBy(key)
	for i, f := range a.reference.forms {
		if list := q[key(f)]; len(list) > 0 && f.same(a.candidate.forms[list[0]]) {
			c, _ := q.next(key(f))
			a.give(i, correct, "The same words.", c)
		}
	}
}

// finalAnswers pairs the last steps where both are nothing but the answer, and
// holds a wrong answer against the last step of the reference in any case.
func (a *alignment) finalAnswers() {
	ref, cand := len(a.pairs)-1, len(a.used)-1
	if ref < 0 || cand < 0 || a.pairs[ref].decided || a.used[cand] {
		return
	}
	alone := a.candidate.answer.alone && a.reference.answer.alone
	switch {
	case a.answers == answersSame && alone:
		a.give(ref, correct, "The same final answer.", cand)
	case a.answers == answersDiffer:
		a.give(ref, incorrect, fmt.Sprintf("The final answer is %s; the reference has %s.",
			shortened(a.candidate.answer.Text), shortened(a.reference.answer.Text)), cand)
	}
}

func (a *alignment) changedWords() {
	key := func(f form) string {
		if bare := f.bare(); len(bare) >= minClaim {
			return strings.Join(bare, " ") + "\x00" + f.signs
		}
		return ""
	}
	q := a.queueBy(key)
	for i, f := range a.reference.forms {
		k := key(f)
		if list := q[k]; a.pairs[i].decided || k == "" || len(list) == 0 {
			continue
		} else if changed, sure := changes(a.candidate.forms[list[0]], f); sure && len(changed) > 0 {
			c, _ := q.next(k)
			a.give(i, incorrect, "The words are the reference's but for "+strings.Join(changed, ", ")+".", c)
		}
	}
}

// sameSums pairs a reference step whose calculations are all made in the
// output, with the same numbers and the same results.
func (a *alignment) sameSums() {
	made := map[string]int{} // the first step that makes it
	for i, list := range a.candidate.sums {
		for _, e := range list {
			if _, ok := made[e.calculation()]; !ok && !e.hedged {
				made[e.calculation()] = i
			}
		}
	}
	for i, list := range a.reference.sums {
		if a.pairs[i].decided || len(list) == 0 {
			continue
		}
		var steps []int
		all := true
		for _, e := range list {
			c, ok := made[e.calculation()]
			if all = all && ok; !all {
				break
			}
			if len(steps) == 0 || steps[len(steps)-1] != c {
				steps = append(steps, c)
			}
		}
		if all {
			a.give(i, equal, "The same calculations with the same results.", distinct(steps)...)
		}
	}
}

// sharedWords pairs what is left with the step near its place that shares most
// of its words; nothing of it is decided.
func (a *alignment) sharedWords() {
	after := 0 // the step behind the last one that was paired
	for i := range a.pairs {
		if p := a.pairs[i]; p.decided {
			if len(p.candidate) > 0 {
				after = p.candidate[len(p.candidate)-1] + 1
			}
			continue
		}
		want := a.reference.forms[i].telling()
		best, most := -1, 0
		for c, seen := after, 0; c < len(a.used) && seen < lookAhead; c++ {
			if a.used[c] {
				continue
			}
			seen++
			shared := 0
			for w := range a.candidate.forms[c].telling() {
				if want[w] {
					shared++
				}
			}
			if shared > most {
				best, most = c, shared
			}
		}
		if best < 0 || 4*most < len(want) {
			a.pairs[i] = pair{judgment: missing, explanation: "No step of the output near this place has its words or its calculations. Not decided: another way may lead to the same."}
			continue
		}
		a.give(i, partly, fmt.Sprintf("The output shares %d of %d words with this step. Comparing texts cannot tell whether it says the same. Not decided.", most, len(want)), best)
		a.pairs[i].decided = false
		after = best + 1
	}
}

// telling are the different words of a text that are longer than those of
// grammar, and its numbers.
func (f form) telling() map[string]bool {
	set := map[string]bool{}
	for _, w := range f.words[:min(wordsCompared, len(f.words))] {
		if len(w) > 3 || digit(w[0]) {
			set[w] = true
		}
	}
	return set
}

// wrongSums holds calculations that are wrong against the pairs they stand in,
// unless the words are the reference's own.
func (a *alignment) wrongSums() {
	for i := range a.pairs {
		p := &a.pairs[i]
		if p.judgment == correct || p.judgment == incorrect {
			continue
		}
		for _, c := range p.candidate {
			if e, ok := a.candidate.wrongSum(c); ok {
				p.judgment, p.explanation, p.decided = incorrect, e.says(), true
				break
			}
		}
	}
}

func distinct(list []int) []int {
	seen := map[int]bool{}
	out := list[:0]
	for _, n := range list {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// extra is a candidate step that no pair has.
type extra struct {
	candidate   int
	class       string
	explanation string
}

func (a *alignment) extras() []extra {
	list := []extra{}
	for c, used := range a.used {
		if used {
			continue
		}
		if e, ok := a.candidate.wrongSum(c); ok {
			list = append(list, extra{c, extraWrong, e.says()})
			continue
		}
		list = append(list, extra{c, extraValid, "No step of the reference has its words. Nothing was found against it. Not decided."})
	}
	return list
}

// conclude gives score and summary, and says what a person must decide, if
// anything. Different numbers as final answers fail: the reference's answer is
// right by definition. A pass needs every step of the reference, in its words
// or its calculations, and the same final answer; a reference that is an answer
// alone says nothing about the way to it. Nothing else is decided.
func (a *alignment) conclude(extras []extra) (score float64, summary, undecided string) {
	same, wrong, open := 0, 0, 0
	for _, p := range a.pairs {
		switch {
		case !p.decided:
			open++
		case p.judgment == incorrect:
			wrong++
		default:
			same++
		}
	}
	for _, x := range extras {
		if x.class == extraWrong {
			wrong++
		}
	}
	n := float64(max(1, len(a.pairs)))
	score = (float64(same) + float64(open)/2) / n
	if same < len(a.pairs) || wrong > 0 {
		score = min(score, 0.75)
	}
	answers := map[int]string{answersOpen: "not decided", answersSame: "the same", answersDiffer: "different numbers"}[a.answers]
	summary = fmt.Sprintf("By text comparison only. Reference steps: %d. The same in words or calculations: %d. Faults found: %d. Left to a person: %d. Final answers: %s.",
		len(a.pairs), same, wrong, open, answers)
	switch {
	case a.answers == answersDiffer:
		return min(score, 0.5), summary, ""
	case a.answers == answersSame && same == len(a.pairs) && wrong == 0 && (a.identical || same > 1):
		return 1, summary, ""
	}
	return score, summary, fmt.Sprintf("comparing texts found %d of %d reference steps in the output, %d faults, and final answers that are %s; a person decides whether the reasoning holds",
		same, len(a.pairs), wrong, answers)
}
