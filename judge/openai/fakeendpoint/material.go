package fakeendpoint

import (
	"encoding/json"
	"regexp"
	"strings"
)

// request is the part of a chat-completions request that matters here.
type request struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Seed   *int64 `json:"seed"`
	Format struct {
		Schema struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// material is what a judge's first prompt says: whose report is wanted, and the
// texts between its fences.
type material struct {
	judge   string // the report's form; empty: unknown
	schema  json.RawMessage
	user    string
	texts   map[string]string // by the name of the fence
	sources []source
	model   string
	seed    int64
}

type source struct{ id, text string }

// forms tell reports by a property that no other has, for endpoints that are
// given no schema by name.
var forms = []struct{ property, judge string }{
	{`"step_alignments"`, "steps"},
	{`"step_comparisons"`, "steps-comparison"},
	{`"equivalence_class"`, "reference"},
	{`"overall_validity_score"`, "logic"},
	{`"validity_score"`, "logic-steps"},
	{`"citation_evaluations"`, "citations"},
	{`"steps"`, "reference_steps"},
}

var (
	markInSystem = regexp.MustCompile(`<<<[A-Z_]+ ([0-9a-f]{16,64})>>>`)
	fenceLine    = regexp.MustCompile(`^<<<([A-Z_]+(?: [0-9]+)?) ([0-9a-f]{16,64})>>>$`)
	sourceID     = regexp.MustCompile(`^id: (".*")$`)
)

// read takes a request apart. What comes after the first prompt (a report with
// its faults) does not change what the prompt asks.
func (q *request) read() material {
	m := material{schema: q.Format.Schema.Schema, texts: map[string]string{}, model: q.Model}
	if q.Seed != nil {
		m.seed = *q.Seed
	}
	var system string
	for _, message := range q.Messages {
		switch message.Role {
		case "system":
			system += message.Content + "\n"
		case "user":
			if m.user == "" {
				m.user = message.Content
			}
		}
	}
	described := system
	if len(m.schema) > 0 {
		described = string(m.schema)
	}
	for _, f := range forms {
		if strings.Contains(described, f.property) {
			m.judge = f.judge
			break
		}
	}
	mark := ""
	if found := markInSystem.FindStringSubmatch(system); found != nil {
		mark = found[1]
	}
	m.fences(mark)
	return m
}

// fences reads what stands between fences that bear the mark. Fence-like lines
// of a trace bear another.
func (m *material) fences(mark string) {
	name, begin := "", 0
	at := 0
	for line := range strings.Lines(m.user) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case name == "":
			if f := fenceLine.FindStringSubmatch(text); f != nil && f[2] == mark {
				name, begin = f[1], at+len(line)
			}
		case text == "<<<END "+name+" "+mark+">>>":
			m.add(name, strings.TrimSuffix(m.user[begin:at], "\n"))
			name = ""
		}
		at += len(line)
	}
}

func (m *material) add(name, text string) {
	base, _, isSource := strings.Cut(name, " ")
	if !isSource {
		m.texts[base] = text
		return
	}
	head, body, _ := strings.Cut(text, "\ntext:\n")
	s := source{text: body}
	for line := range strings.Lines(head) {
		if f := sourceID.FindStringSubmatch(strings.TrimSuffix(line, "\n")); f != nil {
			if err := json.Unmarshal([]byte(f[1]), &s.id); err != nil {
				s.id = f[1] // written otherwise than a prompt writes it
			}
		}
	}
	m.sources = append(m.sources, s)
}

// first of the texts that the prompt has.
func (m *material) first(names ...string) string {
	for _, name := range names {
		if text := m.texts[name]; text != "" {
			return text
		}
	}
	return ""
}

func (m *material) output() string { return m.first("CANDIDATE_OUTPUT", "REASONING_TRACE") }

func (m *material) reference() string { return m.first("REFERENCE_SOLUTION", "REFERENCE_OUTPUT") }
