package rules

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a piece of a line that may be part of a calculation.
type token struct {
	kind       tokenKind
	op         byte    // of operators: + - * / ^
	value      float64 // of numbers
	decimals   int     // of numbers
	start, end int     // bytes
}

type tokenKind uint8

const (
	word     tokenKind = iota // ends every calculation
	number                    //
	operator                  //
	opening                   // (
	closing                   // )
	percent                   // %, after a number
	equals                    // =, alone
)

// scan cuts a line into tokens. White space and signs of currency are left
// out; whatever is neither number nor sign of arithmetic is a word. A number that
// touches a letter, as in 3rd, 2x and B12, is part of a word.
func scan(line string) []token {
	list := make([]token, 0, len(line)/4+4)
	for at := 0; at < len(line); {
		r, size := utf8.DecodeRuneInString(line[at:])
		t := token{kind: word, start: at, end: at + size}
		switch {
		case unicode.IsSpace(r) || strings.ContainsRune("$€£", r):
			at += size
			continue
		case r >= '0' && r <= '9' || r == '.' && at+1 < len(line) && digit(line[at+1]):
			t = scanNumber(line, at)
		case timesSign(line, at, r):
			t.kind, t.op = operator, '*'
		case r == '(':
			t.kind = opening
		case r == ')':
			t.kind = closing
		case r == '%':
			t.kind = percent
		case r == '=':
			t.kind = equals
			for t.end < len(line) && strings.IndexByte("=<>", line[t.end]) >= 0 {
				t.kind, t.end = word, t.end+1
			}
			if at > 0 && strings.IndexByte("<>!:~=", line[at-1]) >= 0 && !strings.HasSuffix(line[:at], ">>") {
				t.kind = word
			}
		case strings.HasPrefix(line[at:], "**"), strings.HasPrefix(line[at:], "//"):
			t.end = at + 2 // power, emphasis or a comment: not told apart
		case operatorOf[r] != 0:
			t.kind, t.op = operator, operatorOf[r]
		case unicode.IsLetter(r):
			t.end = at + wordEnd(line[at:])
		}
		list = append(list, t)
		at = t.end
	}
	return list
}

var operatorOf = map[rune]byte{'+': '+', '-': '-', '−': '-', '*': '*', '×': '*', '·': '*', '/': '/', '÷': '/', '^': '^'}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// timesSign: an x between two amounts, as in "12 x $5".
func timesSign(line string, at int, r rune) bool {
	if r != 'x' && r != 'X' {
		return false
	}
	before, after := strings.TrimRight(line[:at], " "), strings.TrimLeft(line[at+1:], " $€£")
	return before != "" && after != "" &&
		(digit(before[len(before)-1]) || strings.IndexByte(")%", before[len(before)-1]) >= 0) &&
		(digit(after[0]) || after[0] == '(' || after[0] == '.')
}

func wordEnd(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && !(r >= '0' && r <= '9') {
			return i
		}
	}
	return len(s)
}

// scanNumber reads a number with its thousands and decimals.
func scanNumber(line string, at int) token {
	end := at
	for end < len(line) && digit(line[end]) {
		end++
	}
	if end-at <= 3 {
		for end+3 < len(line) && line[end] == ',' && digits(line[end+1:end+4]) && (end+4 == len(line) || !digit(line[end+4])) {
			end += 4
		}
	}
	decimals := 0
	if end+1 < len(line) && line[end] == '.' && digit(line[end+1]) {
		end++
		for end < len(line) && digit(line[end]) {
			end, decimals = end+1, decimals+1
		}
	}
	t := token{kind: number, start: at, end: end, decimals: decimals}
	value, err := strconv.ParseFloat(strings.ReplaceAll(line[at:end], ",", ""), 64)
	next, size := utf8.DecodeRuneInString(line[end:])
	previous, _ := utf8.DecodeLastRuneInString(line[:at])
	switch {
	case err != nil, at > 0 && (unicode.IsLetter(previous) || strings.ContainsRune("_.:\\", previous)):
		t.kind = word
	case size > 0 && unicode.IsLetter(next) && !timesSign(line, end, next):
		t.kind, t.end = word, end+wordEnd(line[end:])
	case size > 0 && (next == '_' || next == ':' && end+1 < len(line) && digit(line[end+1])):
		t.kind = word // 3:4 and 12:30 are no single numbers
	}
	t.value = value
	return t
}

func digits(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return true
}

// expression is a calculation that was worked out.
type expression struct {
	value     float64
	operators int     // 0: a number alone
	numbers   []token // in order
	ops       []byte  // signs between them, in order
	percent   bool    // a number with % is in it
	start     int     // bytes of the line
	end       int
}

// maxNested bounds how deep brackets may nest.
const maxNested = 40

// evaluate works out a run of tokens, all of them. ok is false when they are
// no calculation, or one that people read in different ways: a power of a
// negative number, a number beside a bracket, a division by nothing.
func evaluate(run []token) (e expression, ok bool) {
	p := parser{run: run}
	if len(run) == 0 {
		return e, false
	}
	v, ok := p.sum(0)
	if !ok || p.at != len(run) || math.IsNaN(v) || math.Abs(v) > 1e15 {
		return e, false
	}
	p.e.value, p.e.start, p.e.end = v, run[0].start, run[len(run)-1].end
	return p.e, true
}

type parser struct {
	run []token
	at  int
	e   expression
}

func (p *parser) sign(ops string) (byte, bool) {
	if p.at < len(p.run) && p.run[p.at].kind == operator && strings.IndexByte(ops, p.run[p.at].op) >= 0 {
		p.at++
		return p.run[p.at-1].op, true
	}
	return 0, false
}

func (p *parser) sum(depth int) (float64, bool) {
	v, ok := p.product(depth)
	for ok {
		op, more := p.sign("+-")
		if !more {
			break
		}
		var w float64
		w, ok = p.product(depth)
		p.note(op)
		if op == '-' {
			w = -w
		}
		v += w
	}
	return v, ok
}

func (p *parser) product(depth int) (float64, bool) {
	v, ok := p.power(depth)
	for ok {
		op, more := p.sign("*/")
		if !more {
			break
		}
		var w float64
		w, ok = p.power(depth)
		p.note(op)
		if op == '/' {
			if w == 0 {
				return 0, false
			}
			v /= w
		} else {
			v *= w
		}
	}
	return v, ok
}

func (p *parser) power(depth int) (float64, bool) {
	_, negative := p.sign("-")
	v, ok := p.operand(depth)
	if _, more := p.sign("^"); ok && more {
		var w float64
		w, ok = p.operand(depth)
		p.note('^')
		if negative || p.at < len(p.run) && p.run[p.at].op == '^' {
			return 0, false
		}
		v = math.Pow(v, w)
	}
	if negative {
		v = -v
	}
	return v, ok
}

func (p *parser) operand(depth int) (float64, bool) {
	if p.at >= len(p.run) || depth > maxNested {
		return 0, false
	}
	switch t := p.run[p.at]; t.kind {
	case number:
		p.at++
		p.e.numbers = append(p.e.numbers, t)
		if p.at < len(p.run) && p.run[p.at].kind == percent {
			p.at++
			p.e.percent = true
		}
		return t.value, true
	case opening:
		p.at++
		v, ok := p.sum(depth + 1)
		if !ok || p.at >= len(p.run) || p.run[p.at].kind != closing {
			return 0, false
		}
		p.at++
		return v, true
	}
	return 0, false
}

func (p *parser) note(op byte) {
	p.e.operators++
	p.e.ops = append(p.e.ops, op)
}
