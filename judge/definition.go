package judge

import (
	"encoding/json"
	"regexp"
	"slices"
)

// Judge is a judge ready to run: prompt template, schema, checks and labels.
// Built-in judges come from package builtin, own judges from YAML files.
type Judge struct {
	Name        string
	Description string
	// PromptVersion is the hex SHA-256 of template, schema and rubric.
	PromptVersion string
	// Inputs the judge reads, in the order of its definition.
	Inputs []Input
	Prompt string          // the template, with [NAME] placeholders
	Schema json.RawMessage // JSON Schema of the report
	Labels []Label         // in order, best first
	// Ordinal says that the order of Labels means something to statistics.
	Ordinal    bool
	MaxRepairs int
	Band       Band
	Checks     []Check
	Routing    Routing
	// Builtin judges carry checks in Go; own judges none that are not general.
	Builtin bool
	// Source is the definition as it was written (YAML), stored with the
	// project when the judge is first used.
	Source []byte
	// File that the definition was read from, and the line of its name there.
	File string
	Line int
	// Notes are what a definition's author may want to know although it is no
	// fault, each with its line.
	Notes []string
	// Read turns a schema-valid report into the normalised result. It never
	// sees a report that failed the schema or a hard check.
	Read func(report json.RawMessage, t *Trace) (Reading, error)
	// Examine runs all Checks over one report and decodes it only once; read
	// gives what Read gives, from the same decoding. Nil means: run Checks one
	// by one and then Read, which gives the same results.
	Examine func(report json.RawMessage, t *Trace) (checks []CheckResult, read func() (Reading, error))
	// Refuse names the field of a trace that keeps this judge from running
	// although every required input is there, with a sentence for people
	// (citations without a marker, logic on a single step). Nil or an empty
	// field: nothing does.
	Refuse func(t *Trace) (field, message string)
	// ReferenceSteps: a reference that shows no steps is first cut into numbered
	// ones by a model call of its own.
	ReferenceSteps bool
	// Settle gives the report where no engine is needed to know it (identical
	// texts for reference). Nil, or a nil report: an engine must be asked.
	Settle func(t *Trace) json.RawMessage
	// Blocks are the values of placeholders that the judge itself brings: its
	// rubric, its worked examples. They are part of the prompt version.
	Blocks map[string]string
	// ExamplesIn is the placeholder among Blocks whose worked examples can be
	// replaced by drawn ones; empty: none can. Example makes one from a trace, its
	// report and how people settled it; ok is false where it gives none. It may be
	// nil where ExamplesIn is empty.
	ExamplesIn string
	Example    func(t *Trace, report json.RawMessage, by Settled) (e Example, ok bool)
	// Examples are drawn ones, and Plain the judge without them; see WithExamples.
	Examples []Example
	Plain    *Judge
	// Derive gives texts that the harness computes from a trace for the prompt,
	// by placeholder name (the list of citation markers). They are trace text
	// and are fenced like it. May be nil.
	Derive func(t *Trace) map[string]string
	// NearBoundary says whether a result is close enough to a decision
	// boundary for the boundary audit. Nil: within the policy's width of an end
	// of the band.
	NearBoundary func(r Reading) bool
	// Below is the judge's own line for below_threshold; nil: where the band
	// passes. A policy may set another.
	Below *Line
	// Markers finds the citation markers that the judge evaluates; nil: the default
	// form. Rubric is that of a judge of logic. Whoever shows a report to a person
	// needs them to find what it is about.
	Markers *regexp.Regexp
	Rubric  Rubric
}

// Input is one field of a trace that a judge reads, by its trace-file name:
// question, output, reference, premises, conclusion, sources, constraints.
type Input struct {
	Field    string
	Required bool
}

// Label is one of a judge's own classes.
type Label struct {
	Name    string
	Verdict Verdict
	Abstain bool // counted and shown, left out of agreement
}

// LabelNamed finds a label by its exact name.
func (j *Judge) LabelNamed(name string) (Label, bool) {
	for _, l := range j.Labels {
		if l.Name == name {
			return l, true
		}
	}
	return Label{}, false
}

// Check is a named test of a report. Run returns one line per fault and nil
// when the report holds; skipped is true when a field it needs is absent.
type Check struct {
	Name string
	Kind CheckKind
	// Coverage marks a hard check that finds parts of the trace which were not
	// evaluated; a report that fails it for good is an incomplete_report.
	Coverage bool
	Run      func(report json.RawMessage, t *Trace) (faults []string, skipped bool)
}

// Routing lists reasons that a judge turns on beyond those that every judge
// has, by stakes.
type Routing struct {
	High, Standard []string
}

// On reports whether the judge turns on a reason for these stakes.
func (r Routing) On(s Stakes, code string) bool {
	if s == HighStakes {
		return slices.Contains(r.High, code)
	}
	return slices.Contains(r.Standard, code)
}
