package calibration

import (
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/classifier"
	"github.com/countersign/countersign/judge/agreement/resample"
)

// VersusSeed is the seed of the bootstrap in a Versus, so that the same labels always
// give the same interval.
const VersusSeed = 1

// exactBelow is the number of items that tell two judges apart below which
// McNemar's test is the exact one.
const exactBelow = 25

// Methods of McNemar's test, as they stand in JSON.
const (
	MethodMcNemarExact = "mcnemar_exact"
	MethodMcNemarMidP  = "mcnemar_mid_p"
)

// JudgedTwice is one trace that people labelled and that each compared judge judged.
type JudgedTwice struct {
	Cluster string // of the trace; empty: it stands alone
	Human   Answer
	Judges  []Answer // in the order of the judges compared
}

// Competitor is a version of a judge with the model that answered.
type Competitor struct {
	PromptVersion string `json:"prompt_version"`
	Model         string `json:"model"`
}

// Versus compares judges on the same labelled traces, the first with the second and,
// where there are more, all with each other. Answers are compared by labels where
// every answer has one on the scale, else by verdicts, as in a Report.
type Versus struct {
	Competitors []Competitor `json:"competitors"`
	Sentence    string       `json:"sentence"` // in counts; to be read first
	ConfLevel   float64      `json:"conf_level"`
	Scale       string       `json:"scale"`
	N           int          `json:"n"`
	// NAbstained labels are abstentions of people, or met one of a judge; of NTied
	// people's answers are tied; NIncomparable have nothing that is on one scale.
	NAbstained    int `json:"n_abstained"`
	NTied         int `json:"n_tied"`
	NIncomparable int `json:"n_incomparable"`
	// Clusters is the number of independent groups among the N.
	Clusters int `json:"clusters"`
	// Enough says that coefficients are fit to be read first; if not, TooFew says why.
	Enough bool   `json:"headline"`
	TooFew string `json:"headline_reason,omitempty"`

	Duel Duel `json:"paired"` // the second against the first

	Each []Competing `json:"each"` // in the order of Competitors

	// KappaDifference is that of the second less that of the first.
	KappaDifference Resampled `json:"kappa_difference"`
	// AgreementResampled is Duel.Difference with the interval of the same draws, which
	// takes traces of one cluster together; the test of Duel does not.
	AgreementResampled Resampled `json:"agreement_difference_by_clusters"`

	// All is the test of three or more; nil for two.
	All *All `json:"all,omitempty"`
}

// Duel is the paired table of two judges: how often each is right.
type Duel struct {
	First  int `json:"first"` // index in Competitors
	Second int `json:"second"`
	N      int `json:"n"`

	BothRight  int `json:"both_right"`
	OnlyFirst  int `json:"only_first_right"`
	OnlySecond int `json:"only_second_right"`
	BothWrong  int `json:"both_wrong"`

	// Difference of the agreement with people, second less first.
	Difference agreement.Estimate `json:"difference"`
	// P of McNemar's test by Method; nil where there is nothing to test. Holm is P
	// adjusted for all pairs that were compared, where there are several.
	P      *float64 `json:"p_value"`
	Method string   `json:"p_method,omitempty"`
	Holm   *float64 `json:"p_holm,omitempty"`
}

// Competing is one judge in a comparison, by itself.
type Competing struct {
	Right      int                `json:"right"`
	Agreement  agreement.Estimate `json:"agreement"`
	CohenKappa agreement.Kappa    `json:"cohen_kappa"`
	// Misses are traces that people fail and the judge does not, Alarms those that
	// people pass and the judge fails.
	Bad        int                `json:"bad"` // people failed
	Misses     int                `json:"misses"`
	Alarms     int                `json:"false_alarms"`
	Classifier classifier.Metrics `json:"classifier"`
}

// Resampled is a figure with a bootstrap interval, and what is needed to make it
// again.
type Resampled struct {
	agreement.Figure
	Seed       uint64 `json:"seed"`
	Replicates int    `json:"replicates"`
	Unusable   int    `json:"undefined_replicates"`
}

// All is Cochran's Q over three or more judges, and every pair of them.
type All struct {
	Q         *float64 `json:"cochran_q"`
	DF        int      `json:"df"`
	P         *float64 `json:"p_value"`
	Undefined string   `json:"undefined,omitempty"`
	Pairs     []Duel   `json:"pairs"`
}

// level of the intervals, for comparisons that look more than once.
func levelFor(looks int) float64 { return 1 - (1-Level)/float64(max(1, looks)) }

// CompareJudges compares two or more judges on the traces. looks is how often these
// labels have been looked at to choose a judge, at least 1: intervals are at
// 1-0.05/looks and p-values are multiplied by it (Bonferroni), so that all looks
// together keep the promise of one. labels is the scale that all judges share; nil
// compares verdicts. The error names an item that does not fit.
func CompareJudges(who []Competitor, labels []judge.Label, ordinal bool, items []JudgedTwice, looks int) (Versus, error) {
	v := Versus{Competitors: who, ConfLevel: levelFor(looks)}
	if len(who) < 2 {
		return v, fmt.Errorf("%d judges can't be compared: two or more are needed", len(who))
	}
	m, err := match(scaleOf(labels, ordinal), len(who), items)
	if err != nil {
		return v, err
	}
	v.Scale, v.N, v.NAbstained, v.NTied, v.NIncomparable = m.scale, len(m.items), m.abstained, m.tied, m.incomparable
	v.Clusters = m.clusters()
	for k := range who {
		one, err := m.alone(k, v.ConfLevel)
		if err != nil {
			return v, err
		}
		v.Each = append(v.Each, one)
	}
	v.TooFew = m.tooFew()
	v.Enough = v.TooFew == ""
	v.Duel = m.duel(0, 1, looks)
	if v.KappaDifference, v.AgreementResampled, err = m.differences(v.ConfLevel); err != nil {
		return v, err
	}
	if len(who) > 2 {
		if v.All, err = m.all(looks); err != nil {
			return v, err
		}
	}
	v.Sentence = v.sentence()
	return v, nil
}

// duel compares two of the judges.
func (m matched) duel(first, second, looks int) Duel {
	d := Duel{First: first, Second: second, N: len(m.items)}
	for _, it := range m.items {
		switch a, b := it.right(first), it.right(second); {
		case a && b:
			d.BothRight++
		case a:
			d.OnlyFirst++
		case b:
			d.OnlySecond++
		default:
			d.BothWrong++
		}
	}
	d.Difference = agreement.PairedDifference(d.OnlyFirst, d.OnlySecond, d.N, levelFor(looks))
	if d.N == 0 {
		return d
	}
	test := agreement.McNemar(d.OnlyFirst, d.OnlySecond)
	p := test.MidP
	d.Method = MethodMcNemarMidP
	if d.OnlyFirst+d.OnlySecond < exactBelow {
		p, d.Method = test.Exact, MethodMcNemarExact
	}
	p = min(1, p*float64(max(1, looks)))
	d.P = &p
	return d
}

// all is the test of whether any of the judges differs, and each pair.
func (m matched) all(looks int) (*All, error) {
	right := make([][]bool, len(m.items))
	for i, it := range m.items {
		for k := range it.judges {
			right[i] = append(right[i], it.right(k))
		}
	}
	q := agreement.CochranQ(right)
	out := &All{DF: q.DF, Undefined: q.Undefined}
	if q.Undefined == "" {
		p := min(1, q.P*float64(max(1, looks)))
		out.Q, out.P = &q.Value, &p
	}
	var ps []float64
	for a := range m.judges {
		for b := a + 1; b < m.judges; b++ {
			d := m.duel(a, b, looks)
			out.Pairs = append(out.Pairs, d)
			if d.P != nil {
				ps = append(ps, *d.P)
			}
		}
	}
	adjusted, err := agreement.Holm(ps)
	for i := range adjusted {
		out.Pairs[i].Holm = &adjusted[i]
	}
	return out, err
}

// resampled writes a bootstrap result.
func resampled(r resample.Result) Resampled {
	return Resampled{Figure: r.Figure(), Seed: r.Seed, Replicates: r.Replicates, Unusable: r.UndefinedReplicates}
}
