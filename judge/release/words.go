package release

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/countersign/countersign/judge/agreement"
)

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func traces(n int) string   { return count(n, "trace", "traces") }
func labelled(n int) string { return count(n, "label", "labels") }

func decimal(v float64) string { return agreement.Decimals(v, 2) }

// percent has one digit, and more where it would claim certainty.
func percent(v float64) string {
	for digits := 1; digits < 6; digits++ {
		text := strconv.FormatFloat(100*v, 'f', digits, 64)
		if back, err := strconv.ParseFloat(text, 64); err != nil || v == 0 || v == 1 || back != 0 && back != 100 {
			return text + "%"
		}
	}
	return strconv.FormatFloat(100*v, 'g', 3, 64) + "%"
}

// share is a rate with its interval, or why there is none.
func share(e agreement.Estimate) string {
	switch {
	case !e.Defined():
		return "unknown"
	case !e.HasInterval():
		return percent(e.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", percent(e.Value), percent(e.Low), percent(e.High))
}

// figure is a coefficient with its interval.
func figure(e agreement.Estimate) string { return figureBeside(e, e.Value) }

// figureBeside is figure with decimals enough to tell it from its limit.
func figureBeside(e agreement.Estimate, limit float64) string {
	value := agreement.DecimalsBeside(e.Value, limit, 2)
	switch {
	case !e.Defined():
		return "unknown"
	case !e.HasInterval():
		return value
	}
	return fmt.Sprintf("%s (%s to %s)", value, decimal(e.Low), decimal(e.High))
}

// points is a difference of rates in percentage points, with its sign.
func points(e agreement.Estimate) string {
	one := func(v float64) string {
		if math.Abs(v) < 0.0005 {
			v = 0
		}
		return fmt.Sprintf("%+.1f", 100*v)
	}
	if !e.HasInterval() {
		return one(e.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", one(e.Value), one(e.Low), one(e.High))
}

// subject is whom a rule is about, as a beginning of its sentence.
func (r Rule) subject() string {
	switch {
	case r.Judge == "":
		return ""
	case r.Model == "":
		return plain(r.Judge) + ": "
	}
	who := plain(r.Judge) + " by " + plain(r.Model)
	if r.apart {
		who += fmt.Sprintf(", version %.8s", plain(r.PromptVersion))
	}
	return who + ": "
}

// tellApart marks rules that only the version tells from each other.
func tellApart(rules []Rule) {
	type name struct{ judge, model string }
	versions := map[name]string{}
	several := map[name]bool{}
	for _, r := range rules {
		who := name{r.Judge, r.Model}
		if r.PromptVersion == "" {
			continue
		}
		if v, seen := versions[who]; seen && v != r.PromptVersion {
			several[who] = true
		}
		versions[who] = r.PromptVersion
	}
	for i, r := range rules {
		rules[i].apart = r.PromptVersion != "" && several[name{r.Judge, r.Model}]
	}
}

// Title names a rule for people.
func (r Rule) Title() string {
	name := map[string]string{
		"input": "Input", "trust": "Trust in the judge", "pass_rate": "Pass rate", "baseline": "No worse than the baseline", "judging": "All is judged", "waiting": "Nothing waits",
	}[r.Name]
	if s := strings.TrimSuffix(r.subject(), ": "); s != "" {
		name += ", " + s
	}
	return name
}

// plain is a text of a trace or a judge on one line, without what steers a terminal.
func plain(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return ' '
		}
		if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
			return '\uFFFD'
		}
		return c
	}, text)
}
