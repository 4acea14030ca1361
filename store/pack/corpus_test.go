package pack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/cmd/countersign/demo"
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/tracefile"
)

// texts are what one evaluation leaves to be stored.
type texts struct {
	body, prompt, reply, detail []byte
}

// traceSize is about how long a trace's JSON is in the corpus, in bytes.
const traceSize = 4000

// corpus gives, for each built-in judge, the texts of its evaluations of real
// traces: real long answers with their sources, the prompts that the harness
// really makes of them, and replies that fit the judge's schema and whose
// prose was written by real models and experts about other work.
var corpus = sync.OnceValues(func() (map[string][]texts, error) {
	answers, err := readSet("expertqa")
	if err != nil {
		return nil, err
	}
	prose, err := sentences("mr_gsm8k_grading")
	if err != nil {
		return nil, err
	}
	all := map[string][]texts{}
	for _, j := range builtin.Judges() {
		writer := &reportWriter{judge: j.Name, prose: prose}
		h, err := harness.New(harness.Config{
			Judges: builtin.Judges(), Engines: map[string]judge.Engine{judge.EngineOpenAI: writer}, Engine: judge.EngineOpenAI,
			Model: "gpt-4o-2024-08-06", Key: []byte("the installation's key"), Now: func() time.Time { return at(0) },
		})
		if err != nil {
			return nil, err
		}
		for i, t := range answers {
			t := sized(t, j.Name == builtin.Citations)
			writer.trace, writer.number = t, i
			e, _, err := h.EvaluateWith(context.Background(), &j, &t, judge.Planned{
				Judge: j.Name, PromptVersion: j.PromptVersion, Engine: judge.EngineOpenAI, Model: "gpt-4o-2024-08-06"})
			if err != nil {
				return nil, err
			}
			if len(e.Calls) == 0 { // settled without a call, or refused
				continue
			}
			got, err := textsOf(t, e)
			if err != nil {
				return nil, err
			}
			all[j.Name] = append(all[j.Name], got)
		}
	}
	return all, nil
})

// textsOf takes an evaluation apart as the store does.
func textsOf(t judge.Trace, e judge.Evaluation) (got texts, err error) {
	last := e.Calls[len(e.Calls)-1]
	got.prompt, got.reply = []byte(last.Prompt), []byte(last.Reply)
	last.Prompt, last.Reply = "", ""
	if got.body, err = json.Marshal(t); err != nil {
		return got, err
	}
	got.detail, err = json.Marshal(struct {
		Report   json.RawMessage     `json:"report"`
		Findings []judge.Finding     `json:"findings"`
		Checks   []judge.CheckResult `json:"checks"`
		Calls    []judge.Attempt     `json:"calls"`
	}{e.Report, e.Findings, e.Checks, []judge.Attempt{last}})
	return got, err
}

// corpusOf is one judge's part of the corpus: samples to learn from, and other
// evaluations to measure.
func corpusOf(tb testing.TB, judgeName string) (learn, measure []texts) {
	tb.Helper()
	all, err := corpus()
	if err != nil {
		tb.Fatal(err)
	}
	list := all[judgeName]
	if len(list) < 64 {
		tb.Fatalf("judge %s: the corpus has only %d evaluations", judgeName, len(list))
	}
	return list[:24], list[24:64]
}

func readSet(name string) ([]judge.Trace, error) {
	for _, set := range demo.Sets() {
		if set.Name != name {
			continue
		}
		file, err := set.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r, err := tracefile.NewReader(name+".jsonl", file, tracefile.Options{})
		if err != nil {
			return nil, err
		}
		var traces []judge.Trace
		for {
			t, _, err := r.Next()
			if errors.Is(err, io.EOF) {
				return traces, nil
			} else if err != nil {
				return nil, err
			}
			traces = append(traces, t)
		}
	}
	return nil, errors.New("the demo has no set " + name)
}

// sized brings a trace to about traceSize: it cuts its sources short, and its
// output after the fifth citation. Where the judge compares with a reference,
// the sources make one.
func sized(t judge.Trace, sources bool) judge.Trace {
	var kept []judge.Source
	size := len(t.Question) + len(t.Output)
	for _, s := range t.Sources {
		if size += len(s.Text); size > traceSize {
			s.Text = strings.ToValidUTF8(s.Text[:len(s.Text)-min(size-traceSize, len(s.Text)-1)], "")
		}
		kept = append(kept, s)
		if size >= traceSize {
			break
		}
	}
	t.Sources = kept
	if markers := evidence.Markers(t.Output, kept, nil); sources && len(markers) > 5 {
		t.Output = t.Output[:markers[4].End]
	}
	if !sources {
		for _, s := range kept {
			t.Reference += s.Text + "\n"
		}
		t.Sources = nil
	}
	t.Labels, t.Judgments = nil, nil
	return t
}

// sentences of the set's outputs and references, each once.
func sentences(set string) ([]string, error) {
	traces, err := readSet(set)
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[string]bool{}
	for _, t := range traces {
		for _, text := range []string{t.Output, t.Reference} {
			for _, s := range strings.Split(text, ". ") {
				if s = strings.TrimSpace(s); len(s) > 40 && !seen[s] {
					seen[s] = true
					list = append(list, s+".")
				}
			}
		}
	}
	return list, nil
}

// reportWriter is an engine that answers with a report of the judge's schema on
// the trace, at its first call for it.
type reportWriter struct {
	judge  string
	prose  []string
	used   int
	trace  judge.Trace
	number int
}

func (w *reportWriter) Name() string { return judge.EngineOpenAI }

func (w *reportWriter) Reply(_ context.Context, c judge.Conversation, p judge.Params) (judge.Reply, error) {
	report := w.report()
	if p.SchemaName != w.judge { // the reference is to be cut into steps
		report = map[string]any{"steps": w.cuts(w.trace.Reference, 5)}
	}
	text, err := json.Marshal(report)
	if err != nil {
		return judge.Reply{}, err
	}
	if w.number%2 == 1 { // about half of all models write on lines
		var lines bytes.Buffer
		if err := json.Indent(&lines, text, "", "  "); err != nil {
			return judge.Reply{}, err
		}
		text = lines.Bytes()
	}
	prompt := 0
	for _, m := range c {
		prompt += len(m.Content)
	}
	return judge.Reply{
		Text: string(text), FinishReason: judge.FinishStop, Model: p.Model, Endpoint: "api.openai.com",
		Parameters: json.RawMessage(`{"model":"gpt-4o-2024-08-06","temperature":0,"seed":1,"max_completion_tokens":4096,"response_format":"json_schema"}`),
		Tokens:     judge.Tokens{Prompt: prompt / 4, Completion: len(text) / 4}, CostUSD: float64(prompt/4)*2.5e-6 + float64(len(text)/4)*1e-5,
		Latency: time.Duration(1500+w.number*7919%4000) * time.Millisecond, StartedAt: at(w.number),
	}, nil
}

func at(n int) time.Time {
	return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(n) * 3917 * time.Millisecond)
}

// say gives the next sentence; none comes twice from one writer.
func (w *reportWriter) say() string {
	w.used++
	return w.prose[(w.used-1)%len(w.prose)]
}

// cuts gives the first words of n places spread over a text.
func (w *reportWriter) cuts(text string, n int) []string {
	var list []string
	words := strings.Fields(text)
	for i := range n {
		from := i * len(words) / n
		list = append(list, strings.Join(words[from:min(from+12, len(words))], " "))
	}
	return list
}
