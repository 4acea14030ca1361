package judge

import (
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

// Target is who judges: an engine with the model and the endpoint it asks, and how
// often.
type Target struct {
	Engine string
	Model  string
	// Endpoint is a configured name; empty: the default one.
	Endpoint string
	// Samples of one evaluation; 0: as the policy says.
	Samples int
}

// Planning says which evaluations traces get.
type Planning struct {
	Judges  []Judge
	Default []string // judges of a trace that asks for none
	// Only, when not empty, are the judges that were asked for by name: they
	// replace the trace's own list, and other recorded reports are left alone.
	Only    []string
	Targets []Target // each judges; several models give several evaluations
	// ByName: the engine was asked for by name, so that it also judges traces that
	// bring a report. ModelsByName: so were the models, which the policy's do not
	// replace then.
	ByName, ModelsByName bool
	Policy               *Policy // nil: DefaultPolicy
	// Where an engine, named by its Planned.EngineKey, sends texts; nil: nothing
	// is known, and no trace is refused for it.
	Where func(engineKey string) Endpoint
}

// Plan says which evaluations a trace gets: the judges it asks for, else each
// default judge whose required inputs it has, by each target.
//
// Every recorded judgment gives one evaluation by the engine recorded, and for
// its judge no other engine is planned, unless the engine was asked for by name.
// A judge that the trace asks for and that lacks an input is planned
// as refused, with the field; so is one whose inputs are there but hold nothing
// to judge (citations without a marker), and one whose endpoint the policy does
// not name. The engine rules has no model and is always planned with its own name
// as the model.
// The error joins one *UnknownJudgeError for each name that is not in Judges;
// the evaluations of the known judges are returned all the same.
func (w Planning) Plan(t *Trace) ([]Planned, error) {
	list, err := w.Explain(t)
	var planned []Planned
	for _, why := range list {
		if why.Planned != nil {
			planned = append(planned, *why.Planned)
		}
	}
	return planned, err
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
