package rules_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/rules"
)

// sets names a folder of labelled traces, NAME/traces.jsonl each. With it the
// tests below measure how often the engine is right; docs/rules-engine.md has
// the figures and says where the sets come from.
var sets = flag.String("sets", "", "folder of labelled trace sets to measure on")

func traces(t *testing.T, set string) []judge.Trace {
	t.Helper()
	if *sets == "" {
		t.Skip("measured only with -sets DIR")
	}
	f, err := os.Open(filepath.Join(*sets, set, "traces.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []judge.Trace
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var trace judge.Trace
		if err := json.Unmarshal(lines.Bytes(), &trace); err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		out = append(out, trace)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// tally counts answers that agree with a label.
type tally struct{ right, wrong int }

func (c *tally) add(right bool) {
	if right {
		c.right++
	} else {
		c.wrong++
	}
}

func (c tally) String() string {
	n := c.right + c.wrong
	if n == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.1f%%)", c.right, n, 100*float64(c.right)/float64(n))
}

func (c tally) share() float64 { return float64(c.right) / float64(max(1, c.right+c.wrong)) }

// verdictOf is a set's human verdict on a trace, or empty.
func verdictOf(trace judge.Trace) judge.Verdict {
	for _, l := range trace.Labels {
		switch {
		case l.Verdict != "":
			return l.Verdict
		case l.Adjudicated && l.Label == "Yes":
			return judge.Pass
		case l.Adjudicated && l.Label == "No":
			return judge.Fail
		}
	}
	return ""
}

func TestMeasureReference(t *testing.T) {
	for _, set := range []string{"evouna", "openqa_eval"} {
		byClass := map[string]*tally{}
		decided, asFail, undecided := tally{}, tally{}, map[judge.Verdict]int{}
		for _, trace := range traces(t, set) {
			human := verdictOf(trace)
			if human == "" {
				continue
			}
			r, open := rules.Reference(&trace)
			if open != "" {
				undecided[human]++
				asFail.add(human == judge.Fail)
				continue
			}
			verdict := judge.DefaultBand.Verdict(r.Similarity, false, false)
			if byClass[r.Class] == nil {
				byClass[r.Class] = &tally{}
			}
			byClass[r.Class].add(verdict == human)
			decided.add(verdict == human)
			asFail.add(verdict == human)
		}
		t.Logf("%s: decided %v; left to people: human pass %d, fail %d; all answers if these counted as fail: %v",
			set, decided, undecided[judge.Pass], undecided[judge.Fail], asFail)
		for class, c := range byClass {
			t.Logf("  %s: %v", class, c)
		}
		if decided.share() < 0.92 {
			t.Errorf("%s: decided answers are right in %v only", set, decided)
		}
	}
}

func TestMeasureCitations(t *testing.T) {
	for _, set := range []string{"expertqa", "legalbench_cuad", "sara_statutory"} {
		found := map[string]int{} // what was found, and the expert's label of the step
		verdicts := map[string]int{}
		for _, trace := range traces(t, set) {
			labels := map[int]string{}
			for _, l := range trace.Labels {
				for _, f := range l.Findings {
					labels[f.Step] = f.Class
				}
			}
			r, open := rules.Engine{}.Citations(&trace, judge.DefaultBand)
			grave := false
			for _, f := range r.Flags {
				grave = grave || f.Severity == "critical"
			}
			verdict := judge.DefaultBand.Verdict(r.Score, grave, open != "")
			verdicts[fmt.Sprintf("%s, human %s", verdict, verdictOf(trace))]++
			for _, c := range r.Evaluations {
				kind := "left to people"
				switch {
				case !c.Exists:
					kind = "source missing"
				case c.Flagged:
					kind = "quotation wrong"
				case c.Decided:
					kind = "fully supported"
				}
				found[kind+", expert "+labels[c.Step]]++
			}
		}
		t.Logf("%s: citations %v", set, found)
		t.Logf("%s: verdicts %v", set, verdicts)
	}
}

// TestMeasureAlterations makes claims and quotations of real sentences of the
// cited web pages, changes one thing in each, and counts what is noticed.
func TestMeasureAlterations(t *testing.T) {
	number := regexp.MustCompile(`\b\d+\b`)
	verb := regexp.MustCompile(` (is|are|can|will|should|must|was|were) `)
	negation := regexp.MustCompile(` not `)
	content := regexp.MustCompile(`\b[a-z]{6,}\b`)
	sentence := regexp.MustCompile(`(?:^|[.!?]\s+)([A-Z][^.!?"“”\[\]]{40,240}\.)(?:\s|$)`)

	type example struct {
		text   string
		source judge.Source
	}
	var examples []example
	seen := map[string]bool{}
	for _, trace := range traces(t, "expertqa") {
		for _, s := range trace.Sources {
			for _, m := range sentence.FindAllStringSubmatch(s.Text, -1) {
				if text := strings.Join(strings.Fields(m[1]), " "); !seen[text] && len(strings.Fields(text)) >= 8 {
					seen[text] = true
					examples = append(examples, example{text, judge.Source{ID: "1", Text: s.Text}})
				}
			}
		}
	}
	once := func(re *regexp.Regexp, text, with string) string {
		at := re.FindStringIndex(text)
		if at == nil {
			return ""
		}
		return text[:at[0]] + with + text[at[1]:]
	}
	changes := []struct {
		name   string
		change func(i int, text string) string // empty: does not apply
	}{
		{"unchanged", func(_ int, s string) string { return s }},
		{"number changed", func(_ int, s string) string {
			n := number.FindString(s)
			if n == "" {
				return ""
			}
			return once(number, s, n+"7")
		}},
		{"negation put in", func(_ int, s string) string {
			if v := verb.FindString(s); v != "" && !negation.MatchString(s) {
				return once(verb, s, v+"not ")
			}
			return ""
		}},
		{"negation taken out", func(_ int, s string) string { return once(negation, s, " ") }},
		{"one content word changed", func(i int, s string) string {
			return once(content, s, content.FindString(strings.ToLower(examples[(i+17)%len(examples)].text+" wherever")))
		}},
		{"three words left out", func(_ int, s string) string {
			w := strings.Fields(s)
			return strings.Join(append(append([]string{}, w[:4]...), w[7:]...), " ")
		}},
		{"another page's sentence", func(i int, _ string) string { return examples[(i+len(examples)/2)%len(examples)].text }},
	}
	for _, c := range changes {
		claims, quotes := map[string]int{}, map[string]int{}
		n := 0
		for i, e := range examples {
			changed := c.change(i, e.text)
			if changed == "" || changed == e.text && c.name != "unchanged" {
				continue
			}
			n++
			trace := judge.Trace{ID: "m", Output: strings.TrimSuffix(changed, ".") + " [1].", Sources: []judge.Source{e.source}}
			r, _ := rules.Engine{}.Citations(&trace, judge.DefaultBand)
			claims[r.Evaluations[0].Support]++
			trace.Output = fmt.Sprintf("The page says: \"%s\" [1]", changed)
			r, _ = rules.Engine{}.Citations(&trace, judge.DefaultBand)
			kind := "accurate"
			if len(r.Flags) > 0 {
				kind = r.Flags[0].Type + " " + r.Flags[0].Severity
			}
			quotes[kind]++
		}
		t.Logf("%s, n=%d: as a claim %v; as a quotation %v", c.name, n, claims, quotes)
		if c.name != "unchanged" && claims["fully_supported"] > n/100 {
			t.Errorf("%s: %d of %d claims are called fully supported", c.name, claims["fully_supported"], n)
		}
		if c.name == "unchanged" && quotes["accurate"] != n {
			t.Errorf("%d of %d quotations copied from their page are called wrong", n-quotes["accurate"], n)
		}
	}
}
