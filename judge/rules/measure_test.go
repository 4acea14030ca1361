package rules_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	return read(t, set, f)
}

// measured are the sets and the judges that they are judged by. Where a set has
// a judge of its own, "as" is the built-in judge whose question is the nearest.
var measured = []struct{ set, judge, as string }{
	{"expertqa", "citations", ""},
	{"legalbench_cuad", "citations", ""},
	{"sara_statutory", "citations", ""},
	{"evouna", "reference", ""},
	{"openqa_eval", "answer-equivalence", "reference"},
	{"kqa_physician_nli", "statement-entailment", "reference"},
	{"pubmedqa_test", "abstract-answer", ""},
	{"mr_gsm8k_grading", "rationale-grading", ""},
	{"roscoe", "steps", ""},
	{"roscoe", "steps", "steps-comparison"},
	{"roscoe", "logic", ""},
	{"roscoe", "logic", "logic-steps"},
	{"bigbench_mistake", "logic", ""},
	{"mr_ben_medicine", "logic", ""},
	{"inferential_strategies", "logic", ""},
}

// TestMeasure prints the table of docs/judges.md. It needs -sets.
func TestMeasure(t *testing.T) {
	for _, m := range measured {
		list := traces(t, m.set)
		own := definition(t, m.judge)
		list = slices.DeleteFunc(list, func(trace judge.Trace) bool { return !slices.Contains(trace.Judges, m.judge) })
		rows := []*judge.Judge{own}
		if m.as != "" {
			rows = []*judge.Judge{definition(t, m.as)}
			if !own.Builtin {
				rows = append(rows, own)
			}
		}
		for _, j := range rows {
			for i := range list {
				for k := range list[i].Labels {
					if l := &list[i].Labels[k]; l.Judge == m.judge && j.Builtin && own.Builtin {
						l.Judge = j.Name
					}
				}
			}
			o := decide(t, j, list)
			t.Log(o.row(m.set, j.Name))
			if o.pass.all > 0 && o.pass.share() < leastRight {
				t.Errorf("%s, judge %s: decided passes are right in %v only", m.set, j.Name, o.pass)
			}
			if !j.Builtin && o.people != o.traces {
				t.Errorf("%s, judge %s: %d of %d go to people; an own judge's question is not this engine's", m.set, j.Name, o.people, o.traces)
			}
		}
	}
}

// definition is a built-in judge, or an own one of the sets.
func definition(t *testing.T, name string) *judge.Judge {
	t.Helper()
	file := filepath.Join(*sets, "judges", name+".yaml")
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return named(t, name)
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := judge.ParseDefinition(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return &j
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
			verdicts[fmt.Sprintf("%s, human %s", verdict, verdictOf(trace, named(t, "citations")))]++
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
