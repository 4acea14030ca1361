package release

import (
	"fmt"
	"io"
	"strings"
)

// fewAnnotations of traces: a step may make ten of each kind, and rules come first.
const fewAnnotations = 5

// Annotations writes GitHub's workflow commands: an error for each rule that did not
// pass, a warning for the first traces that do not pass, those that the baseline passed first.
func (r Report) Annotations(w io.Writer) error {
	var b strings.Builder
	for _, rule := range r.Rules {
		if rule.Outcome != Passed {
			command(&b, "error", "Gate: "+rule.Title(), rule.Detail)
		}
	}
	if r.Outcome != Passed {
		for _, x := range r.Failing[:min(len(r.Failing), fewAnnotations)] {
			command(&b, "warning", "Trace "+x.TraceID, x.more())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var (
	commandData  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandValue = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func command(b *strings.Builder, kind, title, message string) {
	fmt.Fprintf(b, "::%s title=%s::%s\n", kind, commandValue.Replace(plain(title)), commandData.Replace(plain(message)))
}
