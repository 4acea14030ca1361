package rules

import (
	"iter"
	"regexp"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// sentences cuts a text at line ends and after full stops, question and
// exclamation marks that white space follows.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			from := 0
			for i := range len(line) {
				if strings.IndexByte(".!?", line[i]) < 0 || i+1 < len(line) && line[i+1] != ' ' && line[i+1] != '\t' {
					continue
				}
				if s := strings.TrimSpace(line[from : i+1]); s != "" && !yield(s) {
					return
				}
				from = i + 1
			}
			if s := strings.TrimSpace(line[from:]); s != "" && !yield(s) {
				return
			}
		}
	}
}

// stepLabel is what a step begins with that is not its own: a number, a bullet.
var stepLabel = regexp.MustCompile(`^(?:(?i:step)\s*\d+\s*[:.)\-]*|\(?\d{1,4}[.)]|[-*•])\s+`)

// annotation is a calculation marked for a calculator inside a solution:
// "48/2 = <<48/2=24>>24".
var annotation = regexp.MustCompile(`<<[^<>\n]*>>`)

// unlabelled is a step's text without its label.
func unlabelled(s evidence.Step) string {
	if at := stepLabel.FindStringIndex(s.Text); at != nil {
		return s.Text[at[1]:]
	}
	return s.Text
}

// body is a step's text without label and annotations.
func body(s evidence.Step) string {
	return strings.TrimSpace(annotation.ReplaceAllString(unlabelled(s), ""))
}
