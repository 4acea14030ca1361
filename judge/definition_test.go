package judge_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

// valid is a definition to which tests do harm, one line at a time.
const valid = `name: verdict-judge
description: one line
inputs: {output: required, reference: required, question: optional}
prompt: |
  [QUESTION]
  [REFERENCE_OUTPUT]
  [CANDIDATE_OUTPUT]
schema:
  type: object
  required: [verdict]
  properties:
    verdict:
      enum: ["Yes", "No"]
    rationale: {type: string}
    total: {type: number}
    critical_errors: {type: array, items: {type: string}}
    parts: {type: array, items: {type: object, properties: {points: {type: number}}}}
    dimensions: {type: object, additionalProperties: {type: object, properties: {score: {type: number}}}}
report:
  label: /verdict
  critical: /critical_errors
labels:
  - {name: "Yes", verdict: pass}
  - {name: "No", verdict: fail}
checks:
  - {name: rationale.cites, kind: soft, quote: /rationale, in: reference}
  - {name: total.sum, kind: hard, sum: /parts/*/points, equals: /total, within: 0.01}
  - {name: overall.mean, kind: hard, mean: /dimensions/*/score, equals: /total, within: 0.05}
  - {name: reason.given, kind: hard, when: {pointer: /verdict, equals: "No"}, requires: /rationale}
`

func parse(t *testing.T, text string) judge.Judge {
	t.Helper()
	j, err := judge.ParseDefinition("j.yaml", []byte(text))
	if err != nil {
		t.Fatalf("ParseDefinition: %v", err)
	}
	return j
}

func TestParseDefinition(t *testing.T) {
	j := parse(t, valid)
	if got, want := j.Name, "verdict-judge"; got != want {
		t.Errorf("name: got %q, want %q", got, want)
	}
	wantInputs := []judge.Input{{Field: "output", Required: true}, {Field: "reference", Required: true}, {Field: "question"}}
	if diff := cmp.Diff(wantInputs, j.Inputs); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	wantLabels := []judge.Label{{Name: "Yes", Verdict: judge.Pass}, {Name: "No", Verdict: judge.Fail}}
	if diff := cmp.Diff(wantLabels, j.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if j.Band != judge.DefaultBand {
		t.Errorf("band: got %v, want the default", j.Band)
	}
	if len(j.PromptVersion) != 64 {
		t.Errorf("prompt version %q is no hex SHA-256", j.PromptVersion)
	}
	if string(j.Source) != valid {
		t.Error("the source is not the definition as it was written")
	}
}

func TestDefinitionFaults(t *testing.T) {
	tests := []struct {
		name     string
		old, new string // the harm done to valid
		want     string // FILE:LINE: and a part of the message
	}{
		{"unknown key", "description: one line", "descripton: one line", `j.yaml:2: unknown key "descripton"`},
		{"key twice", "description: one line", "name: again", `j.yaml:2: the key "name" is given twice`},
		{"missing name", "name: verdict-judge\n", "", `j.yaml:1: name is missing`},
		{"bad name", "name: verdict-judge", "name: verdict judge", `j.yaml:1: name "verdict judge"`},
		{"unknown input", "question: optional", "questions: optional", `j.yaml:3: input "questions" is not a field`},
		{"bad input", "question: optional", "question: maybe", `j.yaml:3: input question must be required or optional`},
		{"placeholder without input", "  [CANDIDATE_OUTPUT]", "  [CANDIDATE_OUTPUT] [CONCLUSION]", `j.yaml:7: the placeholder [CONCLUSION] has no input`},
		{"unknown placeholder", "  [CANDIDATE_OUTPUT]", "  [CANDIDATE]", `j.yaml:7: [CANDIDATE] is no placeholder`},
		{"section not closed", "  [QUESTION]", "  [IF QUESTION]", `j.yaml:5: the section [IF QUESTION] is not closed`},
		{"section never opened", "  [QUESTION]", "  [END QUESTION]", `j.yaml:5: [END QUESTION] closes no section`},
		{"missing prompt", "prompt: |\n  [QUESTION]\n  [REFERENCE_OUTPUT]\n  [CANDIDATE_OUTPUT]\n", "", `prompt is missing`},
		{"prompt file without files", "prompt: |\n  [QUESTION]\n  [REFERENCE_OUTPUT]\n  [CANDIDATE_OUTPUT]\n", "prompt_file: prompt.md\n", `j.yaml:4: prompt_file needs`},
		{"bad schema", "rationale: {type: string}", "rationale: {type: words}", `j.yaml:9: the schema cannot be used`},
		{"schema of no object", "schema:\n  type: object", "schema:\n  type: array", `j.yaml:9: schema must have type: object`},
		{"schema that reads a file", "rationale: {type: string}", `rationale: {$ref: "file:///etc/passwd"}`, `it refers to file:///etc/passwd`},
		{"schema key twice", "    rationale: {type: string}", "    verdict: {type: string}", `j.yaml:14: the key "verdict" is given twice`},
		{"label outside labels", `enum: ["Yes", "No"]`, "enum:\n        - \"Yes\"\n        - \"No\"\n        - \"Perhaps\"", `j.yaml:16: the schema allows the label "Perhaps"`},
		{"label twice", `{name: "No", verdict: fail}`, `{name: "Yes", verdict: fail}`, `j.yaml:24: the label "Yes" is given twice`},
		{"label without verdict", `{name: "No", verdict: fail}`, `{name: "No"}`, `j.yaml:24: the label "No" has no verdict`},
		{"bad label verdict", `{name: "No", verdict: fail}`, `{name: "No", verdict: failed}`, `j.yaml:24: verdict "failed" is not one of`},
		{"unknown key of label", `{name: "No", verdict: fail}`, `{name: "No", verdict: fail, abstains: true}`, `j.yaml:24: unknown key "abstains" in a label`},
		{"pointer to nothing", "label: /verdict", "label: /verdicts", `j.yaml:20: report.label: the pointer /verdicts finds nothing in the schema`},
		{"pointer without slash", "label: /verdict", "label: verdict", `j.yaml:20: report.label: a JSON pointer starts with /`},
		{"critical pointer", "critical: /critical_errors", "critical: /critical", `j.yaml:21: report.critical: the pointer /critical finds nothing`},
		{"report says nothing", "  label: /verdict\n", "", `j.yaml:20: report must say where`},
		{"score scale", "label: /verdict", "score: {pointer: /total, min: 5, max: 1}", `min must be less than max`},
		{"check pointer like a declared one", "quote: /rationale", "quote: /rational", `j.yaml:26: quote: the pointer /rational finds nothing in the schema; did you mean rationale?`},
		{"check pointer into a text", "quote: /rationale", "quote: /rationale/0", `j.yaml:26: quote: the pointer /rationale/0 finds nothing in the schema`},
		{"check pointer in list", "sum: /parts/*/points", "sum: /parts/*/pints", `j.yaml:27: sum: the pointer /parts/*/pints finds nothing`},
		{"check pointer in open object", "mean: /dimensions/*/score", "mean: /dimensions/*/skore", `j.yaml:28: mean: the pointer`},
		{"check field", "in: reference", "in: golden", `j.yaml:26: in must be a field`},
		{"check kind", "kind: soft, quote", "kind: mild, quote", `j.yaml:26: a check's kind must be hard or soft`},
		{"check without kind", "kind: soft, quote", "quote", `j.yaml:26: the check "rationale.cites" has no kind`},
		{"check without half", ", in: reference", "", `j.yaml:26: a check with quote needs in`},
		{"check of two forms", "quote: /rationale, in: reference", "quote: /rationale, in: reference, sum: /parts/*/points", `j.yaml:26: a check has one of`},
		{"check of no form", "quote: /rationale, in: reference", "within: 0.1", `j.yaml:26: a check needs`},
		{"check name twice", "name: total.sum", "name: rationale.cites", `j.yaml:27: the check "rationale.cites" is given twice`},
		{"unknown key of check", "in: reference", "inside: reference", `j.yaml:26: unknown key "inside" in a check`},
		{"negative tolerance", "within: 0.01", "within: -1", `j.yaml:27: within must be 0 or more`},
		{"when without equals", `when: {pointer: /verdict, equals: "No"}`, `when: {pointer: /verdict}`, `j.yaml:29: when needs equals`},
		{"not YAML", "labels:", "labels: [", `j.yaml:`},
		{"an alias", "rationale: {type: string}", "rationale: &a {type: string}", `j.yaml:14: anchors and aliases`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(valid, tt.old) {
				t.Fatalf("the valid definition does not contain %q", tt.old)
			}
			_, err := judge.ParseDefinition("j.yaml", []byte(strings.Replace(valid, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error: got %v, want one with %q", err, tt.want)
			}
			var fault *judge.DefinitionError
			if !errors.As(err, &fault) {
				t.Errorf("error %v holds no *DefinitionError", err)
			}
		})
	}
}

func TestDefinitionSettingsFaults(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"repairs", "max_repairs: 99\n", "max_repairs must be from 0 to 10"},
		{"repairs no number", "max_repairs: many\n", "max_repairs must be a whole number"},
		{"band order", "thresholds: {band: [0.8, 0.6]}\n", "band must be two numbers from 0 to 1"},
		{"band key", "thresholds: {bands: [0.6, 0.8]}\n", `unknown key "bands" in thresholds`},
		{"ordinal", "ordinal: perhaps\n", "ordinal must be true or false"},
		{"routing reason", "routing: {high: [substantive_difference]}\n", `the reason "substantive_difference" cannot be turned on here`},
		{"second document", "---\nname: b\n", "more than one document"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := judge.ParseDefinition("j.yaml", []byte(valid+tt.line))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error: got %v, want one with %q", err, tt.want)
			}
		})
	}
}

// All faults are reported at once, in the order of their lines.
func TestDefinitionFaultsTogether(t *testing.T) {
	text := strings.NewReplacer("question: optional", "questions: optional", "label: /verdict", "label: /v", "in: reference", "in: gold").Replace(valid)
	_, err := judge.ParseDefinition("j.yaml", []byte(text))
	var got []string
	for _, line := range strings.Split(err.Error(), "\n") {
		got = append(got, line[:strings.Index(line, ": ")])
	}
	// The placeholder [QUESTION] lost its input as well.
	want := []string{"j.yaml:3", "j.yaml:5", "j.yaml:20", "j.yaml:26"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places of the faults (-want +got):\n%s", diff)
	}
}

func TestPromptVersion(t *testing.T) {
	base := parse(t, valid).PromptVersion
	if got := parse(t, "# a comment\n"+valid).PromptVersion; got != base {
		t.Error("a comment changed the prompt version")
	}
	for _, change := range [][2]string{
		{"  [QUESTION]", "  Asked: [QUESTION]"}, {"rationale: {type: string}", "rationale: {type: string, maxLength: 900}"},
		{`{name: "No", verdict: fail}`, `{name: "No", verdict: borderline}`}, {"within: 0.01", "within: 0.02"},
	} {
		if got := parse(t, strings.Replace(valid, change[0], change[1], 1)).PromptVersion; got == base {
			t.Errorf("%q to %q did not change the prompt version", change[0], change[1])
		}
	}
}

func TestLoadDefinitions(t *testing.T) {
	judges, err := judge.LoadDefinitions("testdata/judges")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range judges {
		got = append(got, j.Name)
	}
	want := []string{"abstract-answer", "answer-equivalence", "rationale-grading", "statement-entailment"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("judges (-want +got):\n%s", diff)
	}
	if l, ok := judges[1].LabelNamed("undetermined"); !ok || !l.Abstain || l.Verdict != judge.Borderline {
		t.Errorf("label undetermined: got %+v", l)
	}
}

// The source of a judge with files beside it holds those files, and reading it
// again gives the same version.
func TestLoadFolderWithFiles(t *testing.T) {
	judges, err := judge.LoadDefinitions("testdata/folder")
	if err != nil {
		t.Fatal(err)
	}
	if len(judges) != 1 {
		t.Fatalf("got %d judges, want 1", len(judges))
	}
	j := judges[0]
	again, err := judge.ParseDefinition("stored", j.Source)
	if err != nil {
		t.Fatalf("the stored source: %v\n%s", err, j.Source)
	}
	if again.PromptVersion != j.PromptVersion || again.Prompt != j.Prompt || string(again.Schema) != string(j.Schema) {
		t.Errorf("the stored source reads as another judge:\n%s", j.Source)
	}
	r, err := j.Read(json.RawMessage(`{"tone": "blunt", "rating": 4, "insults": []}`), &judge.Trace{})
	if err != nil {
		t.Fatal(err)
	}
	want := judge.Reading{Score: 0.75, Label: "blunt", Verdict: judge.Borderline}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("reading (-want +got):\n%s", diff)
	}
}

func TestLoadDefinitionsFaults(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := judge.LoadDefinitions(dir); err == nil || !strings.Contains(err.Error(), "holds no") {
		t.Errorf("empty folder: got %v", err)
	}
	write("a.yaml", valid)
	write("b.yml", valid)
	write("c/judge.yaml", strings.Replace(valid, "prompt: |\n  [QUESTION]\n  [REFERENCE_OUTPUT]\n  [CANDIDATE_OUTPUT]\n", "prompt_file: ../a.yaml\n", 1))
	write("d/judge.yaml", strings.Replace(strings.Replace(valid, "verdict-judge", "d", 1), "prompt: |\n  [QUESTION]\n  [REFERENCE_OUTPUT]\n  [CANDIDATE_OUTPUT]\n", "prompt_file: p.md\n", 1))
	write("d/p.md", "one\n[CONCLUSION]\n")
	write("notes.txt", "not a judge")
	judges, err := judge.LoadDefinitions(dir)
	if len(judges) != 1 {
		t.Errorf("got %d judges without a fault, want 1", len(judges))
	}
	for _, want := range []string{"b.yml: the judge \"verdict-judge\" is already defined in", "prompt_file: ", "p.md:2: the placeholder [CONCLUSION] has no input"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error: got %v, want one with %q", err, want)
		}
	}
}

func TestReadOwnJudge(t *testing.T) {
	tests := []struct {
		name, report string
		want         judge.Reading
		wantErr      string
	}{
		{"pass", `{"verdict":"Yes"}`, judge.Reading{Score: 1, Label: "Yes", Verdict: judge.Pass}, ""},
		{"fail", `{"verdict":"No","rationale":null}`, judge.Reading{Label: "No", Verdict: judge.Fail}, ""},
		{"extra fields", `{"verdict":"Yes","more":1}`, judge.Reading{Score: 1, Label: "Yes", Verdict: judge.Pass}, ""},
		{"critical", `{"verdict":"Yes","critical_errors":["wrong dose"]}`, judge.Reading{Score: 1, Label: "Yes", Verdict: judge.Pass, Critical: true,
			Findings: []judge.Finding{{Class: "critical_error", Severity: "critical", Explanation: `["wrong dose"]`}}}, ""},
		{"no critical", `{"verdict":"Yes","critical_errors":[]}`, judge.Reading{Score: 1, Label: "Yes", Verdict: judge.Pass}, ""},
		{"unknown label", `{"verdict":"yes"}`, judge.Reading{}, `/verdict: the label "yes" is not one of Yes, No`},
		{"no label", `{}`, judge.Reading{}, "gives no label"},
	}
	j := parse(t, valid)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := j.Read(json.RawMessage(tt.report), &judge.Trace{})
			if tt.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wantErr) {
					t.Fatalf("error: got %v, want %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reading (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGeneralChecks(t *testing.T) {
	trace := &judge.Trace{Reference: "The fee is “10 euros” – payable\nin May.", Output: "x"}
	tests := []struct {
		check, report string
		want          string // part of the one fault; empty: it holds
		skipped       bool
	}{
		{"rationale.cites", `{"rationale":"the fee IS \"10 euros\" - payable in may."}`, "", false},
		{"rationale.cites", `{"rationale":"It says \"payable in May\", so yes."}`, "", false},
		{"rationale.cites", `{"rationale":"It says \"payable in June\"."}`, `/rationale: "payable in June" does not occur in the reference`, false},
		{"rationale.cites", `{"rationale":"It is fine."}`, "/rationale: it quotes nothing from the reference", false},
		{"rationale.cites", `{"rationale":null}`, "", true},
		{"total.sum", `{"parts":[{"points":1.5},{"points":2}],"total":3.5}`, "", false},
		{"total.sum", `{"parts":[{"points":1.5},{"points":2}],"total":3.51}`, "", false},
		{"total.sum", `{"parts":[{"points":1.5},{"points":2}],"total":3.6}`, "/total: it is 3.6, but the sum of /parts/*/points is 3.5", false},
		{"total.sum", `{"parts":[],"total":0}`, "", false},
		{"total.sum", `{"parts":[{"points":1}]}`, "", true},
		{"overall.mean", `{"dimensions":{"a":{"score":4},"b":{"score":5}},"total":4.5}`, "", false},
		{"overall.mean", `{"dimensions":{"a":{"score":4},"b":{"score":5}},"total":4}`, "the mean of", false},
		{"overall.mean", `{"dimensions":{},"total":4}`, "", true},
		{"reason.given", `{"verdict":"Yes"}`, "", false},
		{"reason.given", `{"verdict":"No","rationale":"it differs"}`, "", false},
		{"reason.given", `{"verdict":"No","rationale":" "}`, "/rationale: it is missing or empty although /verdict is No", false},
	}
	j := parse(t, valid)
	for _, tt := range tests {
		t.Run(tt.check+" "+tt.report, func(t *testing.T) {
			for _, c := range j.Checks {
				if c.Name != tt.check {
					continue
				}
				faults, skipped := c.Run(json.RawMessage(tt.report), trace)
				if skipped != tt.skipped {
					t.Errorf("skipped: got %v, want %v", skipped, tt.skipped)
				}
				got := strings.Join(faults, "; ")
				if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
					t.Errorf("fault: got %q, want %q", got, tt.want)
				}
				return
			}
			t.Fatalf("no check %q", tt.check)
		})
	}
}

func FuzzParseDefinition(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("schema: {type: object, properties: {a: {$ref: '#/properties/a'}}}\nreport: {label: /a/b}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := judge.ParseDefinition("f.yaml", data)
		if err != nil {
			return
		}
		again, err := judge.ParseDefinition("g.yaml", j.Source)
		if err != nil || again.PromptVersion != j.PromptVersion {
			t.Errorf("the source reads differently: %v", err)
		}
		if _, err := judge.CompileSchema(j.Schema); err != nil {
			t.Errorf("accepted a schema that does not compile: %v", err)
		}
	})
}
