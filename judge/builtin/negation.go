package builtin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// flipped says in what two texts deny differently; empty: in nothing that their
// words show. Either a kind of negation stands in one text more often, or each
// text denies words that the other only affirms ("not A but B", "A, not B").
func flipped(c, r denial) string {
	switch {
	case c.total() != r.total():
		return times("the candidate denies", c.total()) + ", " + times("the reference", r.total())
	case c.conditions != r.conditions:
		return fmt.Sprintf("exceptions such as “unless”: %d in the candidate, %d in the reference", c.conditions, r.conditions)
	}
	denied, affirmed := onlyIn(r.denied, r.affirmed, c.affirmed, c.denied), onlyIn(c.denied, c.affirmed, r.affirmed, r.denied)
	if denied != "" && affirmed != "" {
		return "the reference denies “" + denied + "” and the candidate “" + affirmed + "”"
	}
	return ""
}

func times(who string, n int) string {
	switch n {
	case 0:
		return who + " never"
	case 1:
		return who + " once"
	case 2:
		return who + " twice"
	}
	return who + " " + strconv.Itoa(n) + " times"
}

// onlyIn is the first word that one text denies and does not affirm, and that the
// other affirms and does not deny.
func onlyIn(denied wordList, notIn wordList, affirmed, denies wordList) string {
	for _, w := range denied.order {
		if !notIn.set[w] && affirmed.set[w] && !denies.set[w] {
			return w
		}
	}
	return ""
}

type wordList struct {
	order []string
	set   map[string]bool
}

func (l *wordList) add(words []string) {
	for _, w := range words {
		if !l.set[w] {
			l.set[w] = true
			l.order = append(l.order, w)
		}
	}
}

// denial is what a text denies: the words of its clauses with a negation, and
// those of its other clauses.
type denial struct {
	plain, conditions int // negations; "unless" and "except" are conditions
	denied, affirmed  wordList
}

func (d denial) total() int { return d.plain + d.conditions }

// clauses part at punctuation and at words that oppose.
var clauseEnd = regexp.MustCompile(`(?i)[,;:.!?()\n—]+|\b(?:but|whereas|while|although|though|instead|rather)\b`)

func denialOf(text string) denial {
	d := denial{denied: wordList{set: map[string]bool{}}, affirmed: wordList{set: map[string]bool{}}}
	from := 0
	clause := func(s string) {
		negations := evidence.Negations(s)
		for _, n := range negations {
			if n.Word == "unless" || n.Word == "except" {
				d.conditions++
			} else {
				d.plain++
			}
		}
		if words := evidence.ContentWords(s); len(negations) > 0 {
			d.denied.add(words)
		} else {
			d.affirmed.add(words)
		}
	}
	for _, m := range clauseEnd.FindAllStringIndex(text, -1) {
		if point(text, m) {
			continue
		}
		clause(text[from:m[0]])
		from = m[1]
	}
	clause(text[from:])
	return d
}

// point tells a mark that stands inside a number or a word: 1,000 and 3.5.
func point(text string, m []int) bool {
	if m[1]-m[0] != 1 || m[0] == 0 || m[1] == len(text) {
		return false
	}
	return strings.IndexByte(",.:", text[m[0]]) >= 0 && text[m[1]] >= '0' && text[m[1]] <= '9'
}
