package rules

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// equation is two calculations with a sign of equality between them, as they
// stand in a text: "3 + 4 = 8".
type equation struct {
	left, right expression
	text        string
	hedged      bool // in a sentence that supposes, denies or rounds
	// madeGood: a sign of the same chain comes back to where an earlier one
	// stood: "8 - -2 = 8 - 2 = 10" slips in the writing, not in the result.
	madeGood bool
}

// equations finds what can be worked out on both sides of "=" in a text. It
// would rather find none than misread one: sides with letters, units between
// the amounts, ratios, times and mixed numbers are left out.
func equations(text string) []equation {
	if !strings.Contains(text, "=") {
		return nil
	}
	var list []equation
	for sentence := range sentences(text) {
		if !strings.Contains(sentence, "=") {
			continue
		}
		found := equationsIn(sentence)
		if len(found) == 0 {
			continue
		}
		hedged := hedging(sentence)
		for _, e := range found {
			e.hedged = hedged
			list = append(list, e)
		}
	}
	return list
}

func equationsIn(line string) []equation {
	var list []equation
	tokens := scan(line)
	for i, t := range tokens {
		if t.kind != equals {
			continue
		}
		left, ok := leftSide(line, tokens[:i])
		if !ok {
			continue
		}
		right, ok := rightSide(line, tokens[i+1:])
		if !ok || left.operators == 0 && right.operators == 0 {
			continue
		}
		// "3 + 4 = 7 * 2 = 14" goes on with a result: its second sign says "then".
		if right.operators > 0 && near(right.numbers[0].value, left.value) {
			continue
		}
		list = append(list, equation{left: left, right: right, text: line[left.start:right.end]})
	}
	for i := range list {
		list[i].madeGood = madeGood(list, i)
	}
	return list
}

// chainReach is how many signs to either side are looked at in a chain of
// equations.
const chainReach = 6

func madeGood(list []equation, k int) bool {
	from, to := k, k
	for from > 0 && k-from < chainReach && list[from-1].right.start == list[from].left.start {
		from--
	}
	for to+1 < len(list) && to-k < chainReach && list[to].right.start == list[to+1].left.start {
		to++
	}
	for i := from; i <= k; i++ {
		for j := k; j <= to; j++ {
			if i < j && near(list[i].left.value, list[j].right.value) {
				return true
			}
		}
	}
	return false
}

// leftSide is the calculation that ends at a sign of equality.
func leftSide(line string, before []token) (expression, bool) {
	from := len(before)
	for from > 0 && before[from-1].kind != word && before[from-1].kind != equals {
		from--
	}
	run := before[from:]
	open := 0
	for _, t := range run {
		switch t.kind {
		case opening:
			open++
		case closing:
			open--
		}
	}
	for open > 0 && len(run) > 0 && run[0].kind == opening {
		run, open = run[1:], open-1 // "(3 + 4 = 7)": the bracket is the sentence's
	}
	if open != 0 || len(run) == 0 {
		return expression{}, false
	}
	whole := from == 0 || before[from-1].kind == equals
	if run[0].kind == operator && (!whole || run[0].op != '-' || run[0].end != start(run, 1)) {
		return expression{}, false // something that is no number stands before the sign
	}
	e, ok := evaluate(run)
	if !ok {
		return e, false
	}
	if whole {
		return e, true
	}
	last := before[from-1]
	text := line[last.start:last.end]
	switch {
	case e.operators == 0, // a number after words is rarely all of one side
		joining[strings.ToLower(text)] && !(text == "and" && from > 1 && before[from-2].kind == word), // "2 and 3 * 4"
		last.end == run[0].start && strings.Contains(`\_{}[]/`, text):
		return e, false
	}
	return e, true
}

func start(run []token, i int) int {
	if i < len(run) {
		return run[i].start
	}
	return -1
}

// rightSide is the calculation that begins after a sign of equality.
func rightSide(line string, after []token) (expression, bool) {
	to, open := 0, 0
	for to < len(after) && after[to].kind != word && after[to].kind != equals {
		switch after[to].kind {
		case opening:
			open++
		case closing:
			open--
		}
		if open < 0 {
			break
		}
		to++
	}
	e, ok := evaluate(after[:to])
	if !ok || to == len(after) || after[to].kind != word {
		return e, ok
	}
	next := strings.ToLower(line[after[to].start:after[to].end])
	return e, !scales[next] && !strings.Contains(`^\_{`, next)
}

// joining words before a number make it a part of something else.
var joining = words(`of times plus minus by over less more than per to and from squared cubed root sqrt log ln sin cos tan
half twice double mod modulo`)

// scales multiply the number before them.
var scales = words(`hundred hundreds thousand thousands million millions billion billions trillion dozen dozens k m bn mod
r remainder or to and`)

// hedges say that an equation is not stated as true, or not exactly.
var hedges = words(`suppose supposing assume assuming assumed if unless let pretend imagine hypothetically wrong wrongly
incorrect incorrectly false mistake mistaken mistakenly error invalid instead mod modulo base binary hexadecimal hex octal
clock o'clock approximately approx about roughly around nearly almost estimate estimated remainder vector matrix`)

func hedging(sentence string) bool {
	if strings.ContainsAny(sentence, "≈~≠?") || len(evidence.Negations(sentence)) > 0 {
		return true
	}
	for w := range strings.FieldsSeq(strings.ToLower(sentence)) {
		if hedges[strings.Trim(w, ".,;:()'\"*_")] {
			return true
		}
	}
	return false
}

// wrong tells whether the two sides differ by more than a rounding that can be
// meant. A sum of percentages is never called wrong: what they are of is not
// in the text.
func (e equation) wrong() bool {
	l, r := e.left.value, e.right.value
	if e.hedged || near(l, r) {
		return false
	}
	if e.left.percent || e.right.percent {
		if slices.Contains(e.left.ops, '+') || slices.Contains(e.left.ops, '-') || e.right.operators > 0 {
			return false
		}
		for _, factor := range []float64{100, 0.01, 10000, 0.0001} {
			if close(l*factor, r, 0.02) {
				return false
			}
		}
	}
	if e.inexact() && close(l, r, 0.02) {
		return false
	}
	if e.right.operators == 0 {
		unit := math.Pow(10, -float64(e.right.numbers[0].decimals))
		scaled := l / unit
		if !near(scaled, math.Round(scaled)) && math.Abs(l-r) < unit {
			return false
		}
	}
	return true
}

// inexact: a number with decimals, or a division, may stand for a longer one.
func (e equation) inexact() bool {
	for _, side := range []expression{e.left, e.right} {
		if side.operators > 0 && slices.Contains(side.ops, '/') && e.right.operators > 0 {
			return true
		}
		for _, n := range side.numbers {
			if n.decimals > 0 {
				return true
			}
		}
	}
	return false
}

// says what is wrong, for people.
func (e equation) says() string {
	return fmt.Sprintf("“%s” does not hold: the left side is %s, the right side %s.", shortened(e.text), figure(e.left.value), figure(e.right.value))
}

// calculation is the same for equations that do the same with the same
// numbers in another order.
func (e equation) calculation() string {
	return e.question() + "=" + figure(e.right.value)
}

// question is an equation without its result.
func (e equation) question() string {
	var values []float64
	for _, n := range e.left.numbers {
		values = append(values, n.value)
	}
	ops := slices.Clone(e.left.ops)
	// Only sums and products may change their order.
	if !slices.ContainsFunc(ops, func(op byte) bool { return op != '+' }) || !slices.ContainsFunc(ops, func(op byte) bool { return op != '*' }) {
		slices.Sort(values)
	}
	var b strings.Builder
	for _, v := range values {
		b.WriteString(figure(v))
		b.WriteByte(' ')
	}
	b.Write(ops)
	b.WriteString(" " + figure(e.left.value))
	return b.String()
}

func figure(v float64) string {
	if r := math.Round(v); near(v, r) {
		v = r + 0 // no negative zero
	}
	return strconv.FormatFloat(v, 'g', 10, 64)
}

// near: equal but for the last places of a double.
func near(a, b float64) bool { return close(a, b, 1e-9) }

// close: equal within a share of the larger; of 1 when both are smaller.
func close(a, b, share float64) bool {
	scale := max(math.Abs(a), math.Abs(b))
	if share < 1e-6 {
		scale = max(1, scale)
	}
	return math.Abs(a-b) <= share*scale
}
