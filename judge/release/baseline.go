package release

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
)

// pairKey stands for a trace and a judge; 16 bytes of a hash, so that a baseline of a
// million evaluations takes some 50 MB.
type pairKey [16]byte

func pairOf(traceID, judgeName string) pairKey {
	sum := sha256.Sum256([]byte(judgeName + "\x00" + traceID))
	return pairKey(sum[:16])
}

// state is what a trace and judge come to.
type state uint8

const (
	undecided state = iota
	notPassed
	passed
)

func decided(passes bool) state {
	if passes {
		return passed
	}
	return notPassed
}

// and is the state of several evaluations of one pair (models, or recorded reports):
// passed when all of them pass, undecided while one is.
func (s state) and(o state, there bool) state {
	if !there {
		return o
	}
	return min(s, o)
}

// Baseline is what an earlier run came to, by trace and judge.
type Baseline struct {
	// Name as people know it; Kind is run or file.
	Name, Kind string
	options    Options
	states     map[pairKey]state
	versions   map[string][]string // by judge
	models     map[string][]string
}

// NewBaseline is empty. Its evaluations pass by the candidate's own options.
func NewBaseline(name, kind string, o Options) *Baseline {
	return &Baseline{Name: name, Kind: kind, options: o, states: map[pairKey]state{}, versions: map[string][]string{}, models: map[string][]string{}}
}

// Add counts an evaluation. What people decided counts before the judge's score; a
// shadow counts nothing.
func (b *Baseline) Add(e judge.Evaluation) {
	if e.Shadow {
		return
	}
	if !slices.Contains(b.versions[e.Judge], e.PromptVersion) {
		b.versions[e.Judge] = append(b.versions[e.Judge], e.PromptVersion)
	}
	if m := rater(e.Model, e.Samples); !slices.Contains(b.models[e.Judge], m) {
		b.models[e.Judge] = append(b.models[e.Judge], m)
	}
	is := undecided
	switch {
	case e.Status != judge.Accepted && e.Status != judge.Final:
	case e.Result != nil && e.Result.Source != judge.ByJudge:
		if e.Result.Verdict != "" {
			is = decided(e.Result.Verdict == judge.Pass)
		}
	case e.Verdict == "" || b.options.PassThreshold != nil && e.Score == nil:
	default:
		is = decided(b.options.passes(e))
	}
	key := pairOf(e.TraceID, e.Judge)
	was, there := b.states[key]
	b.states[key] = was.and(is, there)
}

// Len is the number of traces and judges that it knows.
func (b *Baseline) Len() int { return len(b.states) }

func (b *Baseline) state(key pairKey) (s state, known bool) {
	if b == nil {
		return undecided, false
	}
	s, known = b.states[key]
	return s, known
}

// Comparison is a candidate beside its baseline, on what both have.
type Comparison struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // run or file
	// Known is the number of traces and judges that the baseline has, Paired of them those
	// that both have decided, Undecided those that both have and one has not decided.
	Known     int    `json:"known"`
	Paired    int    `json:"paired"`
	Undecided int    `json:"undecided"`
	Judges    []Pair `json:"judges"`
}

// Pair is the comparison by one judge.
type Pair struct {
	Judge  string `json:"judge"`
	Paired int    `json:"paired"`
	// OnlyBefore passed the baseline and not the candidate, OnlyNow the reverse.
	BothPassed    int `json:"both_passed"`
	OnlyBefore    int `json:"only_baseline_passed"`
	OnlyNow       int `json:"only_candidate_passed"`
	NeitherPassed int `json:"neither_passed"`
	// Difference of the pass rates, candidate less baseline.
	Difference agreement.Estimate `json:"difference"`
	// P of McNemar's test: exact under 25 traces that tell the two apart, mid-p else.
	P       *float64 `json:"p_value"`
	PMethod string   `json:"p_method"`
}

// add counts a trace that both have decided.
func (p *Pair) add(before, now state) {
	p.Paired++
	switch {
	case before == passed && now == passed:
		p.BothPassed++
	case before == passed:
		p.OnlyBefore++
	case now == passed:
		p.OnlyNow++
	default:
		p.NeitherPassed++
	}
}

func (p *Pair) compute() {
	p.Difference = agreement.PairedDifference(p.OnlyBefore, p.OnlyNow, p.Paired, Level)
	if p.Paired == 0 {
		return
	}
	test := agreement.McNemar(p.OnlyBefore, p.OnlyNow)
	if p.OnlyBefore+p.OnlyNow < 25 {
		p.P, p.PMethod = &test.Exact, "mcnemar_exact"
	} else {
		p.P, p.PMethod = &test.MidP, "mcnemar_mid_p"
	}
}

// rule is what the comparison by one judge comes to.
func (p Pair) rule(name string) Rule {
	r := Rule{Name: "baseline", Judge: p.Judge, Outcome: Passed}
	switch d := p.Difference; {
	case p.Paired == 0:
		r.Detail = fmt.Sprintf("no trace is decided both now and in %s", name)
		return r
	case d.HasInterval() && d.High < 0:
		r.Outcome = Failed
		r.Detail = "the pass rate is lower than in " + name
	case d.HasInterval() && d.Low > 0:
		r.Detail = "the pass rate is higher than in " + name
	default:
		r.Detail = "no difference to " + name + " is shown"
	}
	r.Detail += fmt.Sprintf(": %s points on %s that both have decided; %d passed only before, %d only now, p = %.3g (%s)",
		points(p.Difference), traces(p.Paired), p.OnlyBefore, p.OnlyNow, *p.P, p.PMethod)
	return r
}
