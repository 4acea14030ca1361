package views

import (
	"regexp"
	"strconv"
)

// ownNumeral is the number that a step of a text may begin with.
var ownNumeral = regexp.MustCompile(`^\s*(\d+)[.)]\s+`)

// ownNumber parts a step that is drawn as written from the number that it brings
// itself, if that is the number it is counted by; empty: it brings none.
func (s Step) ownNumber() (own string, rest []Segment) {
	if len(s.Blocks) > 0 || len(s.Segments) == 0 || s.Segments[0].Kind != Plain {
		return "", nil
	}
	first := s.Segments[0].Text
	m := ownNumeral.FindStringSubmatch(first)
	if m == nil || m[1] != strconv.Itoa(s.N) {
		return "", nil
	}
	rest = append([]Segment{{Text: first[len(m[0]):]}}, s.Segments[1:]...)
	return m[0], rest
}

// numbered says that the text shows the step's number itself, so that it need not
// stand beside it once more.
func (s Step) numbered() bool {
	if len(s.Blocks) > 0 {
		return ownNumeral.MatchString(s.Blocks[0].Marker+" ") && s.Blocks[0].Marker[:len(s.Blocks[0].Marker)-1] == strconv.Itoa(s.N)
	}
	own, _ := s.ownNumber()
	return own != ""
}
