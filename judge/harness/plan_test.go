package harness_test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// A plan knows endpoints by what the engines say, and those that another process
// calls by their names.
func TestPlanUnderKnowsEndpoints(t *testing.T) {
	j := factual("a", judge.Reading{Score: 1})
	h := newHarness(t, func(c *harness.Config) {
		c.Judges, c.Default = []judge.Judge{j}, []string{"a"}
		c.Targets = []judge.Target{{Engine: judge.EngineOpenAI, Model: "m"}, {Engine: judge.EngineOpenAI, Model: "m", Endpoint: "elsewhere"}}
	}, &located{})
	for text, want := range map[string]string{
		"":                                 "[ ]",
		"endpoints: [ward-7]":              "[ endpoint]",
		"endpoints: [10.0.0.7, elsewhere]": "[ ]",
		"endpoints: [elsewhere]":           "[endpoint ]",
		"endpoints: []":                    "[endpoint endpoint]",
	} {
		policy := readPolicy(t, text)
		planned, err := h.PlanUnder(&judge.Trace{ID: "t", Output: "o"}, &policy)
		if err != nil {
			t.Fatal(err)
		}
		var refused []string
		for _, p := range planned {
			refused = append(refused, p.RefusedField)
		}
		if got := fmt.Sprint(refused); got != want {
			t.Errorf("%q: refused for %s, want %s", text, got, want)
		}
	}
	list, err := h.Explain(&judge.Trace{ID: "t"}, nil)
	if err != nil || len(list) != 1 || list[0].State != judge.WhyLacks || list[0].Field != "output" {
		t.Errorf("explanation of an empty trace: %+v, %v", list, err)
	}
}
