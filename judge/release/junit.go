package release

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit report that its readers agree on.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	Failure *junitFault `xml:"failure"`
	Error   *junitFault `xml:"error"`
	Skipped *junitFault `xml:"skipped"`
	Out     string      `xml:"system-out,omitempty"`
}

type junitFault struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes the report as JUnit XML: a test case for each rule, then one for each
// trace that does not pass and for each that waits, MostExamples of both at most. A
// trace that does not pass is a failure only where the gate fails, and one that waits
// only where waiting is not allowed; else it is skipped, so that a report of a gate
// that passed is green.
func (r Report) JUnit(w io.Writer) error {
	rules := junitSuite{Name: "countersign gate: rules"}
	for _, rule := range r.Rules {
		c := junitCase{Name: plain(rule.Title()), Class: "gate." + rule.Name}
		switch rule.Outcome {
		case Passed:
			c.Out = rule.Detail
		case BadInput:
			c.Error = fault(rule)
		default:
			c.Failure = fault(rule)
		}
		rules.add(c)
	}
	suites := junitSuites{Name: "countersign gate", Suites: []junitSuite{rules}}
	if t := r.junitTraces(); t.Tests > 0 {
		suites.Suites = append(suites.Suites, t)
	}
	for _, s := range suites.Suites {
		suites.Tests += s.Tests
		suites.Failures += s.Failures
		suites.Errors += s.Errors
		suites.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func fault(rule Rule) *junitFault {
	return &junitFault{Message: rule.Detail, Type: string(rule.Outcome), Text: rule.Detail}
}

func (r Report) junitTraces() junitSuite {
	s := junitSuite{Name: "countersign gate: traces"}
	red := r.Outcome == Failed
	for _, x := range r.Failing {
		c := junitCase{Name: plain(x.TraceID), Class: "trace." + plain(x.Judge)}
		f := &junitFault{Message: x.said(), Type: "does_not_pass", Text: x.more()}
		if red {
			c.Failure = f
		} else {
			c.Skipped = &junitFault{Message: x.said() + "; the gate does not fail for it"}
		}
		s.add(c)
	}
	for _, x := range r.Waiting {
		c := junitCase{Name: plain(x.TraceID), Class: "trace." + plain(x.Judge)}
		if r.Options.AllowPending {
			c.Skipped = &junitFault{Message: "waits for people: " + plain(strings.Join(x.Reasons, ", "))}
		} else {
			c.Failure = &junitFault{Message: "waits for people: " + plain(strings.Join(x.Reasons, ", ")), Type: "pending", Text: x.more()}
		}
		s.add(c)
	}
	return s
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// said is what an evaluation came to, in a few words.
func (x Example) said() string {
	text := x.Verdict
	if text == "" {
		text = "no verdict"
	}
	if x.Label != "" && x.Label != x.Verdict {
		text += ", " + plain(x.Label)
	}
	if x.ByPeople {
		text += ", settled by people"
	}
	if x.Score != nil {
		text += fmt.Sprintf(", the judge's score %.2f", *x.Score)
	}
	if x.Regressed {
		text += "; it passed in the baseline"
	}
	return text
}

func (x Example) more() string {
	text := fmt.Sprintf("judge %s by %s: %s", plain(x.Judge), plain(x.Model), x.said())
	if len(x.Reasons) > 0 {
		text += "; reasons: " + plain(strings.Join(x.Reasons, ", "))
	}
	return text
}
