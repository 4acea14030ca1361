package ruling

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
)

// Added is a violation that a person finds and the judge did not. As a ruling its
// value is the severity (critical, major or minor) and its note a JSON object:
//
//	{"dimension":"premise_support","step":3,"quote":"…","class":"non sequitur","explanation":"…"}
//
// in which only explanation must be there. A note that is no JSON object is the
// explanation itself.
type Added struct {
	Severity    string `json:"-"`
	Dimension   string `json:"dimension,omitempty"`
	Step        int    `json:"step,omitempty"` // of the output, from 1; 0: none
	Quote       string `json:"quote,omitempty"`
	Class       string `json:"class,omitempty"` // the fallacy or rule; empty: none
	Explanation string `json:"explanation"`
}

// addKey is the part that takes a person's own violations.
const addKey = "add"

// Ruling is the violation as the n-th ruling of its kind, n from 1.
func (a Added) Ruling(n int) judge.Ruling {
	note, err := json.Marshal(a)
	if err != nil { // texts and a number always encode
		panic(err)
	}
	return judge.Ruling{Part: addKey + "/" + strconv.Itoa(n), Value: a.Severity, Note: string(note)}
}

// ParseAdded reads what Ruling writes. The error is a plain sentence part.
func ParseAdded(r judge.Ruling) (Added, error) {
	a := Added{Severity: r.Value}
	note := strings.TrimSpace(r.Note)
	if strings.HasPrefix(note, "{") {
		if err := json.Unmarshal([]byte(note), &a); err != nil {
			return a, errors.New("is not the JSON object of a violation: dimension, step, quote, class, explanation")
		}
	} else {
		a.Explanation = note
	}
	if strings.TrimSpace(a.Explanation) == "" {
		return a, errors.New("does not say what is wrong: an explanation is needed")
	}
	return a, nil
}

func (s Sheet) checkAdded(r judge.Ruling) error {
	a, err := ParseAdded(r)
	if err != nil {
		return err
	}
	if _, ok := s.rubric.Named(a.Dimension); a.Dimension != "" && !ok {
		return fmt.Errorf("names %q, which is no dimension of the rubric", clipped(a.Dimension))
	}
	if a.Step < 0 || a.Step > len(s.Steps) {
		return fmt.Errorf("names step %d; the output has %d", a.Step, len(s.Steps))
	}
	return nil
}
