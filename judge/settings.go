package judge

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (p *parser) labels(n located) {
	if n.Kind != yaml.SequenceNode {
		p.fault(n, "labels must be a list such as - {name: good, verdict: pass}")
		return
	}
	for _, item := range n.items() {
		var l Label
		if !p.keys(item, "a label", map[string]func(located){
			"name": func(n located) { l.Name = p.text(n, "a label's name") },
			"verdict": func(n located) {
				v, err := ParseVerdict(p.text(n, "a label's verdict"))
				if err != nil {
					p.fault(n, "%v", err)
				}
				l.Verdict = v
			},
			"abstain": func(n located) { p.decode(n, &l.Abstain, "abstain must be true or false") },
		}) {
			continue
		}
		switch _, twice := p.judge.LabelNamed(l.Name); {
		case l.Name == "":
			p.fault(item, "a label has no name")
		case twice:
			p.fault(item, "the label %q is given twice", l.Name)
		default:
			if _, given := item.get("verdict"); !given {
				p.fault(item, "the label %q has no verdict; write pass, borderline or fail", l.Name)
			}
			p.judge.Labels = append(p.judge.Labels, l)
		}
	}
}

func (p *parser) maxRepairs(n located) {
	if p.decode(n, &p.judge.MaxRepairs, "max_repairs must be a whole number") && (p.judge.MaxRepairs < 0 || p.judge.MaxRepairs > 10) {
		p.fault(n, "max_repairs must be from 0 to 10")
	}
}

func (p *parser) thresholds(n located) {
	p.keys(n, "thresholds", map[string]func(located){"band": func(n located) {
		var ends []float64
		if !p.decode(n, &ends, "band must be two numbers such as [0.6, 0.8]") {
			return
		}
		if len(ends) != 2 || !(0 <= ends[0] && ends[0] <= ends[1] && ends[1] <= 1) {
			p.fault(n, "band must be two numbers from 0 to 1, the lower first")
			return
		}
		p.judge.Band = Band{Low: ends[0], Pass: ends[1]}
	}})
}

// routable are the reasons a definition may list. All but below_threshold are
// on for every judge anyway.
var routable = []string{
	ReasonBelowThreshold, ReasonCriticalError, ReasonAmbiguousScore, ReasonInvalidOutput,
	ReasonInconsistentOutput, ReasonIncompleteReport, ReasonJudgeFailed,
}

func (p *parser) routing(n located) {
	list := func(to *[]string) func(located) {
		return func(n located) {
			if n.Kind != yaml.SequenceNode {
				p.fault(n, "routing must list reasons such as [below_threshold]")
				return
			}
			for _, item := range n.items() {
				if !slices.Contains(routable, item.Value) {
					p.fault(item, "the reason %q cannot be turned on here; possible are %s", item.Value, strings.Join(routable, ", "))
					continue
				}
				*to = append(*to, item.Value)
			}
		}
	}
	p.keys(n, "routing", map[string]func(located){"high": list(&p.judge.Routing.High), "standard": list(&p.judge.Routing.Standard)})
}
