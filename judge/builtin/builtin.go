// Package builtin is the judges that Countersign brings: steps, reference,
// logic and citations, and the second report forms of steps and logic. Each is
// a folder with its definition, prompt and schema, in the form that own judges
// have, plus checks in Go that recompute what a report claims.
//
// It never calls a model and never decides what a text means: it reads reports
// and compares them with the trace.
package builtin

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	jsonv1 "github.com/go-json-experiment/json/v1" // encoding/json's ways in half its time

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

//go:embed steps steps-comparison reference logic logic-steps citations
var files embed.FS

// Names of the built-in judges.
const (
	Steps           = "steps"
	StepsComparison = "steps-comparison"
	Reference       = "reference"
	Logic           = "logic"
	LogicSteps      = "logic-steps"
	Citations       = "citations"
)

// Default lists the judges that a trace gets which asks for none, where it has
// their inputs.
func Default() []string { return []string{Steps, Reference, Logic, Citations} }

// Judges are all built-in judges: the four of Default in its order, then the
// second forms. The slice is the caller's own; what its elements point to is
// shared and must not be changed.
func Judges() []judge.Judge { return slices.Clone(all()) }

// all reads the definitions once.
var all = sync.OnceValue(func() []judge.Judge {
	logic, logicSteps := LogicWith(DefaultRubric())
	return []judge.Judge{
		stepsJudge(), referenceJudge(), logic, citationsJudge(nil),
		stepsComparisonJudge(), logicSteps,
	}
})

// Setup is what a project can set of the built-in judges. What is set is part of
// the prompt version of the judges that it concerns; the names stay.
type Setup struct {
	// Markers finds a citation marker, its first group the id. Nil: the default
	// form. The engine rules needs the same pattern.
	Markers *regexp.Regexp
	// Rubric of logic and logic-steps. Nil: the default.
	Rubric judge.Rubric
}

// JudgesWith are Judges with a project's own settings.
func JudgesWith(s Setup) []judge.Judge {
	list := Judges()
	for i := range list {
		switch {
		case list[i].Name == Citations && s.Markers != nil:
			list[i] = citationsJudge(s.Markers)
		case list[i].Name == Logic && s.Rubric != nil:
			list[i], _ = LogicWith(s.Rubric)
		case list[i].Name == LogicSteps && s.Rubric != nil:
			_, list[i] = LogicWith(s.Rubric)
		}
	}
	return list
}

// JudgesWithMarkers are JudgesWith a pattern alone.
func JudgesWithMarkers(pattern *regexp.Regexp) []judge.Judge {
	return JudgesWith(Setup{Markers: pattern})
}

// load reads a judge's folder. The files are compiled in, so a fault in them is
// a fault of the program, which its tests find.
func load(name string, blocks map[string]string, derived ...string) judge.Judge {
	return loadWith(name, func(beside string) ([]byte, error) { return files.ReadFile(path.Join(name, beside)) }, blocks, derived...)
}

// loadWith is load for a judge whose files beside its definition are read by read.
func loadWith(name string, read func(beside string) ([]byte, error), blocks map[string]string, derived ...string) judge.Judge {
	file := path.Join(name, "judge.yaml")
	j, err := judge.ParseDefinitionWith(file, content(file), judge.DefinitionFiles{
		Read:    read,
		Blocks:  blocks,
		Derived: derived,
	})
	if err != nil {
		panic(fmt.Sprintf("builtin: %v", err))
	}
	j.Builtin = true
	return j
}

func content(file string) []byte {
	data, err := files.ReadFile(file)
	if err != nil {
		panic(fmt.Sprintf("builtin: %v", err))
	}
	return data
}

// check is a check over a report that is decoded already, as a V.
type check[V any] struct {
	name     string
	kind     judge.CheckKind
	coverage bool
	// run returns one line for each fault; skipped is true when a field that
	// it needs is absent.
	run func(V) (faults []string, skipped bool)
}

// equip gives a judge its Go checks and its reading: one by one, and all over
// one decoding.
func equip[V any](j *judge.Judge, open func(json.RawMessage, *judge.Trace) (V, error), checks []check[V], read func(V) judge.Reading) {
	j.Checks = nil
	for _, c := range checks {
		j.Checks = append(j.Checks, judge.Check{
			Name: c.name, Kind: c.kind, Coverage: c.coverage,
			Run: func(report json.RawMessage, t *judge.Trace) ([]string, bool) {
				v, err := open(report, t)
				if err != nil {
					return []string{err.Error()}, false
				}
				return c.run(v)
			},
		})
	}
	j.Read = func(report json.RawMessage, t *judge.Trace) (judge.Reading, error) {
		v, err := open(report, t)
		if err != nil {
			return judge.Reading{}, err
		}
		return read(v), nil
	}
	j.Examine = func(report json.RawMessage, t *judge.Trace) ([]judge.CheckResult, func() (judge.Reading, error)) {
		v, err := open(report, t)
		if err != nil {
			// The schema let through what the types cannot hold, such as a
			// number with an exponent in the thousands.
			return nil, func() (judge.Reading, error) { return judge.Reading{}, err }
		}
		results := make([]judge.CheckResult, 0, len(checks))
		for _, c := range checks {
			if faults, skipped := c.run(v); !skipped {
				results = append(results, judge.CheckResult{Name: c.name, Kind: c.kind, OK: len(faults) == 0, Detail: joined(faults)})
			}
		}
		return results, func() (judge.Reading, error) { return read(v), nil }
	}
}

// maxFaults shown for one check; a report that is wrong everywhere need not be
// told so a thousand times.
const maxFaults = 20

func joined(faults []string) string {
	if len(faults) > maxFaults {
		faults = append(faults[:maxFaults:maxFaults], fmt.Sprintf("and %d more", len(faults)-maxFaults))
	}
	return strings.Join(faults, "; ")
}

// epsilon is the slack of every "within" (judges.md, Hard and soft checks).
const epsilon = 1e-9

// decode reads a report. A schema takes 4.0 and 1e2 as the whole numbers that they
// are, and so does this.
func decode[T any](report json.RawMessage) (T, error) {
	var quick T
	if jsonv1.Unmarshal(report, &quick) == nil {
		return quick, nil
	}
	var v T // encoding/json itself says what is wrong
	err := json.Unmarshal(report, &v)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && strings.HasPrefix(kind.Value, "number") {
		var whole json.RawMessage
		if whole, err = wholeNumbers(report); err == nil {
			var again T // nothing of the first reading
			err = json.Unmarshal(whole, &again)
			v = again
		}
	}
	if errors.As(err, &kind) {
		// The schema is checked before and says so better; here it has no bounds.
		err = fmt.Errorf("%s is a %s, which is not what this judge's report has there", strings.ReplaceAll(kind.Field, ".", "/"), kind.Value)
	}
	if err != nil {
		return v, fmt.Errorf("the report cannot be read: %w", err)
	}
	return v, nil
}

// wholeNumbers writes the whole numbers of a report without fraction and exponent.
func wholeNumbers(report json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(report))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		return nil, err
	}
	var write func(value any) any
	write = func(value any) any {
		switch v := value.(type) {
		case map[string]any:
			for name, inner := range v {
				v[name] = write(inner)
			}
		case []any:
			for i, inner := range v {
				v[i] = write(inner)
			}
		case json.Number:
			if f, err := v.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<63 {
				return json.Number(strconv.FormatInt(int64(f), 10))
			}
		}
		return value
	}
	return json.Marshal(write(doc))
}

func high(t *judge.Trace) bool {
	if t.Stakes == "" {
		return judge.DefaultStakes(t.Domain) == judge.HighStakes
	}
	return t.Stakes == judge.HighStakes
}

// stepList names each step of an output by its number and first words, so that
// a model counts steps as the checks do.
func stepList(steps []evidence.Step) string {
	const firstWords = 60
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			b.WriteByte('\n')
		}
		text := strings.Join(strings.Fields(s.Text), " ")
		if runes := []rune(text); len(runes) > firstWords {
			text = string(runes[:firstWords]) + "…"
		}
		fmt.Fprintf(&b, "step %d: %s", s.Number, text)
	}
	return b.String()
}
