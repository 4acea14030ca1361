package release

import (
	"cmp"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
)

// Trust is how far one judge, version and model agrees with people.
type Trust struct {
	// Source of the labels: file, or project; empty: there are none.
	Source string `json:"source"`
	// Scale is labels or verdicts, N the pairs compared on it.
	Scale      string             `json:"scale"`
	N          int                `json:"n"`
	Agreement  agreement.Estimate `json:"agreement"`
	CohenKappa agreement.Kappa    `json:"cohen_kappa"`
	// Enough: there are labels enough for kappa to mean something. If not, TooFew says
	// what is missing.
	Enough   bool   `json:"enough"`
	TooFew   string `json:"too_few,omitempty"`
	Sampling string `json:"sampling"`
	// State is what the project keeps of this judge, version and model; empty: there is
	// no project. Why says what is not met, or who suspended it.
	State judge.TrustState `json:"state"`
	Why   string           `json:"why,omitempty"`

	report calibration.Report
}

// ProjectTrust is what a project keeps of how far a judge is trusted.
type ProjectTrust struct {
	Rater
	State judge.TrustState
	Why   string
	// Required: the project lets only trusted judges decide.
	Required bool
}

// stateRule holds what the project keeps against what is asked. A suspended judge
// fails whatever is asked; there is no rule where nothing is asked and it is not.
func (t Trust) stateRule(key groupKey, required bool) (r Rule, asked bool) {
	r = Rule{Name: "trust", Judge: key.judge, Model: key.model, PromptVersion: key.version, Outcome: Untrusted}
	switch {
	case t.State == judge.Suspended:
		r.Detail = t.Why + "; a lead has to resume it"
	case !required:
		return r, false
	case t.State == judge.Trusted:
		r.Outcome, r.Detail = Passed, "trusted by the rules of the project's policy"
	default:
		r.Detail = "not trusted by the rules of the project's policy: " + cmp.Or(t.Why, "no project knows it")
	}
	return r, true
}

func trustOf(source string, r calibration.Report) Trust {
	return Trust{
		Source: source, Scale: r.Scale, N: r.N, Agreement: r.Agreement, CohenKappa: r.CohenKappa,
		Enough: r.Headline, TooFew: r.HeadlineReason, Sampling: r.Sampling.Text, report: r,
	}
}

// trust composes it from the file's labels; where those are too few, from the
// project's, if those are enough. They are never added up: the same people may have
// labelled the same traces in both.
func (g *group) trust(key groupKey, project []calibration.Report) (Trust, error) {
	r, err := calibration.Compose(g.calibration(key))
	if err != nil {
		return Trust{}, err
	}
	own := trustOf(FromFile, r)
	if own.N == 0 {
		own.Source = ""
	}
	if own.Enough {
		return own, nil
	}
	for _, p := range project {
		if p.Judge == key.judge && p.Model == key.model && p.PromptVersion == key.version && (p.Headline || own.N == 0 && p.N > 0) {
			return trustOf(FromProject, p), nil
		}
	}
	return own, nil
}

// rule holds kappa against its minimum.
func (t Trust) rule(key groupKey, minimum float64) Rule {
	r := Rule{Name: "trust", Judge: key.judge, Model: key.model, PromptVersion: key.version, Outcome: Passed}
	from := ""
	if t.Source != "" {
		from = " of the " + t.Source
	}
	ok, why := t.report.Trusted(minimum)
	if !ok {
		r.Outcome = Untrusted
		r.Detail = why
		if t.Enough && t.CohenKappa.Defined() {
			r.Detail = fmt.Sprintf("kappa %s of %s%s is under the minimum of %s", figureBeside(t.CohenKappa.Estimate, minimum), labelled(t.N), from, decimal(minimum))
		}
		return r
	}
	r.Detail = fmt.Sprintf("kappa %s of %s%s reaches the minimum of %s", figure(t.CohenKappa.Estimate), labelled(t.N), from, decimal(minimum))
	if t.CohenKappa.HasInterval() && t.CohenKappa.Low < minimum {
		r.Detail += "; its lower bound does not, so more labels would make it surer"
	}
	return r
}
