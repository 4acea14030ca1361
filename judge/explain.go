package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Why says what a trace gets from one judge, and if nothing, why not.
type Why struct {
	Judge string   `json:"judge"`
	State WhyState `json:"state"`
	// Field of the trace that keeps it from being judged, where one does, and a
	// sentence for people; the sentence is empty when it is planned.
	Field   string `json:"field,omitempty"`
	Message string `json:"message,omitempty"`
	// Planned is the evaluation; nil where there is none to be made.
	Planned *Planned `json:"-"`
}

// WhyState says in a word what a trace gets from a judge.
type WhyState string

const (
	WhyPlanned  WhyState = "planned"   // it is judged
	WhyRefused  WhyState = "refused"   // it was asked for and cannot be judged: an evaluation says so
	WhyLacks    WhyState = "lacks"     // a default judge whose input the trace does not have
	WhyNotAsked WhyState = "not_asked" // nobody asks for this judge on this trace
	WhyRecorded WhyState = "recorded"  // the trace brings a report, which stands for the engine's
	WhyUnknown  WhyState = "unknown"   // it was asked for and is not known here
)

// Explain goes through every judge and says what a trace gets from it; none is
// skipped without a word. Plan is what of it is planned. The error is Plan's.
func (w Planning) Explain(t *Trace) ([]Why, error) {
	x := explaining{Planning: w, trace: t}
	if x.Policy == nil {
		p := DefaultPolicy()
		x.Policy = &p
	}
	x.recordedReports()
	x.wanted()
	x.others()
	return x.list, errors.Join(x.errs...)
}

// explaining is one walk over the judges for one trace.
type explaining struct {
	Planning
	trace    *Trace
	list     []Why
	errs     []error
	recorded []string // judges whose reports the trace brings
}

func (x *explaining) add(w Why) { x.list = append(x.list, w) }

func (x *explaining) said(name string) bool {
	return slices.ContainsFunc(x.list, func(w Why) bool { return w.Judge == name })
}

// find a judge; an unknown one is told once.
func (x *explaining) find(name string) *Judge {
	for i := range x.Judges {
		if x.Judges[i].Name == name {
			return &x.Judges[i]
		}
	}
	if !x.said(name) {
		err := &UnknownJudgeError{Name: name, Known: names(x.Judges)}
		x.errs = append(x.errs, err)
		x.add(Why{Judge: name, State: WhyUnknown, Message: err.Error()})
	}
	return nil
}

func (x *explaining) recordedReports() {
	for i, given := range x.trace.Judgments {
		if x.find(given.Judge) == nil {
			continue
		}
		x.recorded = append(x.recorded, given.Judge)
		if len(x.Only) > 0 && !slices.Contains(x.Only, given.Judge) {
			continue // told with the judges that nobody asks for
		}
		x.add(Why{Judge: given.Judge, State: WhyPlanned, Planned: &Planned{
			Judge: given.Judge, Engine: EngineRecorded, Judgment: i,
			Model: orUnknown(given.Model), PromptVersion: orUnknown(given.PromptVersion),
		}})
	}
}

// wanted are the judges that the command, the trace or the defaults ask for.
func (x *explaining) wanted() {
	wanted, asked := x.trace.Judges, true
	if len(x.Only) > 0 {
		wanted = x.Only
	}
	if len(wanted) == 0 {
		wanted, asked = x.Default, false
	}
	for i, name := range wanted {
		if slices.Contains(wanted[:i], name) {
			continue
		}
		j := x.find(name)
		if j == nil {
			continue
		}
		field, message := j.lacksInput(x.trace)
		if field == "" && j.Refuse != nil {
			field, message = j.Refuse(x.trace)
		} else if field != "" && !asked {
			if !slices.Contains(x.recorded, name) {
				x.add(Why{Judge: name, State: WhyLacks, Field: field, Message: message})
			}
			continue
		}
		x.byTargets(j, field, message)
	}
}

// byTargets plans a judge by each target; field and message refuse it for all.
func (x *explaining) byTargets(j *Judge, field, message string) {
	recorded := slices.Contains(x.recorded, j.Name)
	j = j.For(x.trace)
	policy := x.Policy.For(j.Name, x.trace.Domain, x.Policy.StakesOfTrace(x.trace))
	for _, target := range x.targets(policy) {
		if recorded && (!x.ByName || target.Engine == EngineRecorded) {
			if target.Engine != EngineRecorded {
				x.add(Why{Judge: j.Name, State: WhyRecorded, Field: "judgments", Message: fmt.Sprintf(
					"the trace brings a report of judge %s, which stands for that of the engine %s; ask for the engine by name to judge it as well", j.Name, target.Engine)})
			}
			continue
		}
		p := Planned{
			Judge: j.Name, PromptVersion: j.PromptVersion, Engine: target.Engine, Model: target.Model,
			Endpoint: target.Endpoint, Samples: target.Samples,
			Judgment: NoJudgment, RefusedField: field, Message: message,
		}
		if field == "" && p.Engine == EngineRecorded {
			p.RefusedField = "judgments"
			p.Message = fmt.Sprintf("judgments is missing: the trace brings no report for judge %s and the engine is recorded", j.Name)
		}
		if !p.Refused() && p.Engine == EngineOpenAI && x.Where != nil {
			p.RefusedField, p.Message = policy.Refusal(x.Where(p.EngineKey()))
		}
		why := Why{Judge: j.Name, State: WhyPlanned, Planned: &p}
		if p.Refused() {
			why.State, why.Field, why.Message = WhyRefused, p.RefusedField, p.Message
		}
		x.add(why)
	}
}

// targets are the ones asked for, each once, with the policy's models and
// samples where the command leaves them to it.
func (x *explaining) targets(policy Effective) []Target {
	var list []Target
	add := func(t Target) {
		switch {
		case t.Engine == EngineRules:
			t = Target{Engine: EngineRules, Model: EngineRules}
		case t.Engine == EngineRecorded:
			t.Samples = 0
		case t.Samples == 0:
			t.Samples = policy.Samples
		}
		if t.Samples == 1 {
			t.Samples = 0
		}
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	for _, t := range x.Targets {
		if t.Engine != EngineOpenAI || x.ModelsByName || len(policy.Models) == 0 {
			add(t)
			continue
		}
		for _, m := range policy.Models {
			add(Target{Engine: t.Engine, Model: m.Model, Endpoint: m.Endpoint, Samples: t.Samples})
		}
	}
	return list
}

// others are the judges that were not asked for.
func (x *explaining) others() {
	by := "it is none of the judges that a trace gets which asks for none; name it under judges of the trace, or ask for it by name"
	switch {
	case len(x.Only) > 0:
		by = "only " + strings.Join(x.Only, ", ") + " was asked for by name"
	case len(x.trace.Judges) > 0:
		by = "the trace asks for " + strings.Join(x.trace.Judges, ", ") + " only"
	}
	for _, j := range x.Judges {
		if !x.said(j.Name) {
			x.add(Why{Judge: j.Name, State: WhyNotAsked, Message: by})
		}
	}
}

// StakesOfTrace are the trace's own, else those of its domain.
func (p Policy) StakesOfTrace(t *Trace) Stakes {
	if t.Stakes != "" {
		return t.Stakes
	}
	return p.StakesOf(t.Domain)
}
