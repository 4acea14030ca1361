package release

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement/rate"
	"github.com/countersign/countersign/judge/calibration"
)

// Tally counts the evaluations of a candidate. Several goroutines may add to it.
type Tally struct {
	options  Options
	baseline *Baseline // nil: none

	mu       sync.Mutex
	groups   map[groupKey]*group
	now      map[string]map[pairKey]state // by judge, of pairs that the baseline has
	failing  examples
	regress  examples
	waiting  examples
	failed   int
	clusters int
}

// NewTally counts under these options; baseline may be nil.
func NewTally(o Options, baseline *Baseline) *Tally {
	t := &Tally{options: o, baseline: baseline, groups: map[groupKey]*group{}, now: map[string]map[pairKey]state{}}
	return t
}

type groupKey struct{ judge, version, model, engine string }

// group is one judge, version and model.
type group struct {
	counts  Counts
	unrated int // decided, and without a score although a threshold is set
	// judged have a verdict of the judge, and judgedPassed of them pass by it.
	judged, judgedPassed int
	// drawn are the labels by the judge's verdict: [1] passes.
	drawn   [2]labels
	cells   map[calibration.Cell]int // N is 0
	strata  map[calibration.StratumCount]int
	scale   []judge.Label
	ordinal bool
}

// labels are those on items of one verdict.
type labels struct {
	drawn   rate.Drawn
	unknown [2]int // without a probability, [1] that people pass
	none    int    // people looked and gave no verdict
}

// Add counts one evaluation of a trace by judge j; planned says who was asked. An
// evaluation that needed no model counts for the model that was to be asked, and not
// in that model's agreement with people.
func (y *Tally) Add(t *judge.Trace, j *judge.Judge, planned judge.Planned, e judge.Evaluation) {
	y.mu.Lock()
	defer y.mu.Unlock()
	asked := e.Engine == planned.Engine || planned.Engine == ""
	key := groupKey{e.Judge, e.PromptVersion, rater(e.Model, e.Samples), e.Engine}
	if !asked {
		key.model, key.engine = rater(planned.Model, planned.Samples), planned.Engine
	}
	g := y.groups[key]
	if g == nil {
		g = &group{cells: map[calibration.Cell]int{}, strata: map[calibration.StratumCount]int{}, scale: j.Labels, ordinal: j.Ordinal}
		y.groups[key] = g
	}
	h, labelled := people(t, j)
	passes := y.options.passes(e)
	if e.Verdict != "" && e.Status != judge.Refused {
		g.judged++
		if passes {
			g.judgedPassed++
		}
		if labelled && asked {
			g.compare(h, e)
		}
		if labelled && !h.visible {
			g.drawn[oneIf(passes)].label(h)
		}
	}
	if t.Cluster != "" {
		y.clusters++
	}
	y.settle(g, key, h, labelled, passes, e)
}

// rater names a model as a project's statistics tell raters apart.
func rater(model string, samples int) string {
	if samples > 1 {
		return fmt.Sprintf("%s ×%d", model, samples)
	}
	return model
}

// passes reports whether the judge passes an evaluation.
func (o Options) passes(e judge.Evaluation) bool {
	if o.PassThreshold == nil {
		return e.Verdict == judge.Pass
	}
	at := *o.PassThreshold
	return e.Score != nil && judge.Band{Low: at, Pass: at}.Verdict(*e.Score, e.Critical, e.Undecided) == judge.Pass
}

// compare counts the judge's answer beside people's.
func (g *group) compare(h humanSide, e judge.Evaluation) {
	g.cells[calibration.Cell{
		Human: h.answer, Judge: calibration.Answer{Label: e.Label, Verdict: e.Verdict},
		Visible: h.visible, Adjudicated: h.adjudicated,
	}]++
	if !h.visible {
		g.strata[calibration.StratumCount{Stratum: cmp.Or(h.stratum, judge.StratumImported), InclusionProbability: h.probability}]++
	}
}

// settle counts what an evaluation comes to.
func (y *Tally) settle(g *group, key groupKey, h humanSide, labelled, passes bool, e judge.Evaluation) {
	g.counts.Evaluations++
	verdict, label, is := e.Verdict, e.Label, undecided
	example := func() Example {
		x := Example{TraceID: e.TraceID, Judge: e.Judge, Model: key.model, Verdict: string(verdict), Label: label, Score: e.Score, Reasons: []string{}, ByPeople: labelled && h.adjudicated}
		for _, r := range e.Reasons {
			x.Reasons = append(x.Reasons, r.Code)
		}
		return x
	}
	switch {
	case e.Status == judge.Refused:
		g.counts.Refused++
	case labelled && h.adjudicated:
		verdict, label = h.answer.Verdict, h.answer.Label
		good, ok := h.passes()
		if !ok {
			g.counts.Abstained++
			break
		}
		g.counts.ByPeople++
		is = decided(good)
	case e.Status == judge.InReview:
		g.counts.Waiting++
		if slices.ContainsFunc(e.Reasons, func(r judge.Reason) bool { return r.Code == judge.ReasonJudgeFailed }) {
			g.counts.JudgeFailed++
		}
		y.waiting.add(example)
	case e.Verdict == "":
		g.counts.Abstained++
	case y.options.PassThreshold != nil && e.Score == nil:
		g.unrated++
		g.counts.Abstained++
	default:
		is = decided(passes)
	}
	pair := pairOf(e.TraceID, e.Judge)
	before, known := y.baseline.state(pair)
	if known {
		if y.now[e.Judge] == nil {
			y.now[e.Judge] = map[pairKey]state{}
		}
		was, there := y.now[e.Judge][pair]
		y.now[e.Judge][pair] = was.and(is, there)
	}
	switch is {
	case passed:
		g.counts.Decided++
		g.counts.Passed++
	case notPassed:
		g.counts.Decided++
		y.failed++
		if known && before == passed {
			y.regress.add(func() Example { x := example(); x.Regressed = true; return x })
		} else {
			y.failing.add(example)
		}
	}
}

// examples are the first MostExamples.
type examples []Example

func (x *examples) add(make func() Example) {
	if len(*x) < MostExamples {
		*x = append(*x, make())
	}
}

// calibration is what a report on a group is computed from.
func (g *group) calibration(key groupKey) calibration.Counts {
	c := calibration.Counts{Judge: key.judge, Model: key.model, PromptVersion: key.version, Labels: g.scale, Ordinal: g.ordinal}
	for cell, n := range g.cells {
		cell.N = n
		c.Cells = append(c.Cells, cell)
		if !cell.Visible {
			c.Items += n
		}
	}
	for stratum, n := range g.strata {
		stratum.N = n
		c.Strata = append(c.Strata, stratum)
	}
	slices.SortFunc(c.Strata, func(a, b calibration.StratumCount) int {
		return cmp.Or(cmp.Compare(a.Stratum, b.Stratum), cmp.Compare(a.InclusionProbability, b.InclusionProbability))
	})
	return c
}

func (y *Tally) keys() []groupKey {
	return slices.SortedFunc(maps.Keys(y.groups), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.judge, b.judge), cmp.Compare(a.model, b.model), cmp.Compare(a.version, b.version), cmp.Compare(a.engine, b.engine))
	})
}

// Rater names one judge, version and model: of whom a project may know more.
type Rater struct{ Judge, Model, PromptVersion string }

// Raters are those of the evaluations so far, in the order of the report.
func (y *Tally) Raters() (all []Rater) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, k := range y.keys() {
		if r := (Rater{k.judge, k.model, k.version}); !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return all
}

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}
