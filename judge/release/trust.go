package release

import (
	"fmt"

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

	report calibration.Report
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
			r.Detail = fmt.Sprintf("kappa %s of %s%s is under the minimum of %s", figure(t.CohenKappa.Estimate), labelled(t.N), from, decimal(minimum))
		}
		return r
	}
	r.Detail = fmt.Sprintf("kappa %s of %s%s reaches the minimum of %s", figure(t.CohenKappa.Estimate), labelled(t.N), from, decimal(minimum))
	if t.CohenKappa.HasInterval() && t.CohenKappa.Low < minimum {
		r.Detail += "; its lower bound does not, so more labels would make it surer"
	}
	return r
}
