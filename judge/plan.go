package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// UnknownJudgeError says that a trace or a command asks for a judge that does
// not exist here.
type UnknownJudgeError struct {
	Name  string
	Known []string
}

func (e *UnknownJudgeError) Error() string {
	return fmt.Sprintf("unknown judge %q: known are %s; add a definition with --judges or correct the name",
		e.Name, strings.Join(e.Known, ", "))
}

// Plan says which evaluations a trace gets: the judges it asks for, else each
// default judge whose required inputs it has.
//
// Every recorded judgment gives one evaluation by the engine recorded, and for
// its judge no other engine is planned, unless the engine was asked for by name
// (byName). A judge that the trace asks for and that lacks an input is planned
// as refused, with the field; so is one whose inputs are there but hold nothing
// to judge (citations without a marker). The engine rules has no model and is
// always planned with its own name as the model.
// The error joins one *UnknownJudgeError for each name that is not in judges;
// the evaluations of the known judges are returned all the same.
func Plan(t *Trace, judges []Judge, defaults []string, engine, model string, byName bool) ([]Planned, error) {
	if engine == EngineRules {
		model = EngineRules
	}
	var planned []Planned
	var errs []error
	unknown := map[string]bool{}
	find := func(name string) *Judge {
		for i := range judges {
			if judges[i].Name == name {
				return &judges[i]
			}
		}
		if !unknown[name] {
			unknown[name] = true
			errs = append(errs, &UnknownJudgeError{Name: name, Known: names(judges)})
		}
		return nil
	}

	recorded := map[string]bool{}
	for i, given := range t.Judgments {
		if find(given.Judge) == nil {
			continue
		}
		recorded[given.Judge] = true
		planned = append(planned, Planned{
			Judge: given.Judge, Engine: EngineRecorded, Judgment: i,
			Model: orUnknown(given.Model), PromptVersion: orUnknown(given.PromptVersion),
		})
	}

	wanted, asked := t.Judges, true
	if len(wanted) == 0 {
		wanted, asked = defaults, false
	}
	for i, name := range wanted {
		if slices.Contains(wanted[:i], name) {
			continue
		}
		if recorded[name] && (!byName || engine == EngineRecorded) {
			continue
		}
		j := find(name)
		if j == nil {
			continue
		}
		field, message := j.lacksInput(t)
		if field != "" && !asked {
			continue
		}
		if field == "" && j.Refuse != nil {
			field, message = j.Refuse(t)
		}
		p := Planned{
			Judge: name, PromptVersion: j.PromptVersion, Engine: engine, Model: model,
			Judgment: NoJudgment, RefusedField: field, Message: message,
		}
		if field == "" && engine == EngineRecorded {
			p.RefusedField = "judgments"
			p.Message = fmt.Sprintf("judgments is missing: the trace brings no report for judge %s and the engine is recorded", name)
		}
		planned = append(planned, p)
	}
	return planned, errors.Join(errs...)
}

// Lacks names the first field of t that keeps the judge from running, with a
// sentence for people; both are empty when nothing does.
func (j *Judge) Lacks(t *Trace) (field, message string) {
	if field, message = j.lacksInput(t); field == "" && j.Refuse != nil {
		return j.Refuse(t)
	}
	return field, message
}

func (j *Judge) lacksInput(t *Trace) (field, message string) {
	for _, in := range j.Inputs {
		if in.Required && !HasField(t, in.Field) {
			return in.Field, fmt.Sprintf("%s is missing: judge %s needs it", in.Field, j.Name)
		}
	}
	return "", ""
}

// HasField reports whether a trace has something other than white space in the
// input field of this name.
func HasField(t *Trace, field string) bool {
	filled := func(s string) bool { return strings.TrimSpace(s) != "" }
	switch field {
	case "question":
		return filled(t.Question)
	case "output":
		return filled(t.Output)
	case "reference":
		return filled(t.Reference)
	case "conclusion":
		return filled(t.Conclusion)
	case "premises":
		return slices.ContainsFunc(t.Premises, filled)
	case "constraints":
		return slices.ContainsFunc(t.Constraints, filled)
	case "sources":
		return slices.ContainsFunc(t.Sources, func(s Source) bool { return filled(s.Text) })
	}
	return false
}

func names(judges []Judge) []string {
	list := make([]string, len(judges))
	for i, j := range judges {
		list[i] = j.Name
	}
	return list
}

func orUnknown(s string) string {
	if s == "" {
		return Unknown
	}
	return s
}
