package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// said is a sentence of a step, or of a premise, that states something.
type said struct {
	step int // from 1; 0 for a premise
	text string
	form form
}

// flip is a sentence that says another one with one negation more or less, or
// with another number.
type flip struct {
	now, before said
	what        string
	negation    bool
}

// longestStated is the longest sentence, in words, that is compared with
// others; longer ones are not repeated word for word.
const longestStated = 60

// tentative words make of a sentence something other than a statement.
var tentative = words(`if unless suppose supposing assume assuming assumed assumption let case cases option options choice
choices either or whether possible possibly may might could maybe perhaps would should hypothesis hypothetically imagine
question claim claims statement statements says said according incorrect wrong false true contradiction contradicts but
however although though previously before initially first then next after finally`)

// flips finds statements that a later sentence takes back: the same words in
// the same order, and one of the two with a bare negation; and premises that a
// step gives with another number. Sentences that suppose, ask or report are
// left out, and those whose words name a moment, since things may have changed.
func flips(premises []string, steps []evidence.Step) []flip {
	seen := map[string]said{}
	var found []flip
	look := func(s said) {
		if !states(s.text) {
			return
		}
		s.form = formOf(s.text)
		bare := s.form.bare()
		if len(bare) < minClaim-1 || len(bare) > longestStated {
			return
		}
		key := strings.Join(bare, " ") + "\x00" + s.form.signs
		before, ok := seen[key]
		if !ok {
			seen[key] = s
			return
		}
		if before.step == s.step {
			return
		}
		changed, sure := changes(s.form, before.form)
		negation := len(s.form.negations) != len(before.form.negations)
		switch {
		case !sure || len(changed) != 1:
		case negation:
			found = append(found, flip{now: s, before: before, what: changed[0], negation: true})
		case before.step == 0: // in a reasoning numbers move on; in what is given they do not
			found = append(found, flip{now: s, before: before, what: changed[0]})
		}
	}
	for _, p := range premises {
		for s := range sentences(p) {
			look(said{0, s, form{}})
		}
	}
	for _, step := range steps {
		for s := range sentences(unlabelled(step)) {
			look(said{step.Number, s, form{}})
		}
	}
	return found
}

// states tells whether a sentence is a plain statement.
func states(sentence string) bool {
	if strings.ContainsAny(sentence, "?=:“”\"") {
		return false
	}
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(sentence)), func(w string) bool {
		return tentative[strings.Trim(w, ".,;()'*_")]
	})
}

func (f flip) says() string {
	where := "a premise"
	if f.before.step > 0 {
		where = fmt.Sprintf("step %d", f.before.step)
	}
	if f.negation {
		return fmt.Sprintf("It takes back %s, “%s”, by a negation alone.", where, shortened(f.before.text))
	}
	return fmt.Sprintf("It gives %s, “%s”, with %s.", where, shortened(f.before.text), f.what)
}
