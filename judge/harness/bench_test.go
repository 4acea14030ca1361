package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/recorded"
	"github.com/countersign/countersign/judge/rules"
)

func benchmark(b *testing.B, c harness.Config, trace judge.Trace, p judge.Planned) {
	h, err := harness.New(c)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, _, err := h.Evaluate(context.Background(), &trace, p)
		if err != nil || e.Status == judge.Refused || strings.Contains(e.Error, "fault") {
			b.Fatalf("%v %s %s", err, e.Status, e.Error)
		}
	}
}

// BenchmarkCitationsByRules is the whole path of one trace of 4 KB with five
// markers and sources of 3 KB together: hashes, engine, encoding, schema, checks,
// reading and routing. The engine alone is measured in package rules.
func BenchmarkCitationsByRules(b *testing.B) {
	trace := judge.Trace{ID: "t", Domain: "medical", Question: "What did the trial find?"}
	var output, filler strings.Builder
	for i := range 40 {
		fmt.Fprintf(&filler, "Paragraph %d describes the design, the arms, the visits and the follow-up of the patients. ", i)
	}
	for i := 1; i <= 5; i++ {
		claim := fmt.Sprintf("In arm %d, %d of 400 patients recovered within ten days of the first dose", i, 100+i)
		fmt.Fprintf(&output, "%s [%d].\n%s\n", claim, i, filler.String()[:700])
		trace.Sources = append(trace.Sources, judge.Source{ID: fmt.Sprint(i), Text: filler.String()[:300] + claim + ". " + filler.String()[:300]})
	}
	trace.Output = output.String()
	benchmark(b, harness.Config{Judges: builtin.Judges(), Engines: map[string]judge.Engine{judge.EngineRules: rules.Engine{}}}, trace,
		judge.Planned{Judge: "citations", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment})
}

// BenchmarkRecorded is an imported verdict of an own judge.
func BenchmarkRecorded(b *testing.B) {
	j, err := judge.ParseDefinition("j.yaml", []byte(verdictJudge))
	if err != nil {
		b.Fatal(err)
	}
	trace := judge.Trace{ID: "t", Output: strings.Repeat("text ", 50), Reference: "text",
		Judgments: []judge.Judgment{{Judge: "v", Output: json.RawMessage(`{"verdict": "No", "rationale": "It says another thing."}`)}}}
	benchmark(b, harness.Config{Judges: []judge.Judge{j}, Engines: map[string]judge.Engine{judge.EngineRecorded: recorded.Engine{}}}, trace,
		judge.Planned{Judge: "v", Engine: judge.EngineRecorded, Model: "m", Judgment: 0})
}
