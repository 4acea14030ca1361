package calibration

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/judge/agreement"
)

// ComposeAll makes a report of each Counts, in the order of judge, model and
// prompt version. It is never nil: no counts give an empty JSON array.
func ComposeAll(all []Counts) ([]Report, error) {
	reports := make([]Report, 0, len(all))
	for _, c := range all {
		r, err := Compose(c)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	slices.SortStableFunc(reports, func(a, b Report) int {
		return cmp.Or(cmp.Compare(a.Judge, b.Judge), cmp.Compare(a.Model, b.Model),
			cmp.Compare(a.PromptVersion, b.PromptVersion))
	})
	return reports, nil
}

// Compose makes the report. The error names counts that cannot be: a negative
// one, or a label declared twice; missing data are no error.
func Compose(c Counts) (Report, error) {
	r, err := compose(c)
	if err != nil {
		return Report{}, fmt.Errorf("calibration of %s by %q, prompt version %q: %w", c.Judge, c.Model, c.PromptVersion, err)
	}
	return r, nil
}

func compose(c Counts) (Report, error) {
	s := scaleOf(c.Labels, c.Ordinal)
	var headline, visible []pairing
	for _, cell := range c.Cells {
		p := pairing{s.read(cell.Human), s.read(cell.Judge), cell.N}
		if cell.Visible {
			visible = append(visible, p)
		} else {
			headline = append(headline, p)
		}
	}
	r := Report{
		Judge: c.Judge, Model: c.Model, PromptVersion: c.PromptVersion,
		ConfLevel: Level, Rates: ratesOf(headline),
		FirstAt: known(c.First), LastAt: known(c.Last),
	}
	main, err := s.compare(headline)
	if err != nil {
		return r, err
	}
	r.Block = main.block()
	if len(visible) > 0 {
		seen, err := s.compare(visible)
		if err != nil {
			return r, err
		}
		b := seen.block()
		r.Visible = &b
	}
	if r.HumanPairs, err = s.pairs(c.HumanPairs); err != nil {
		return r, err
	}
	if len(r.HumanPairs) > 0 && r.HumanPairs[0].N > 0 {
		best := r.HumanPairs[0]
		r.HumanHuman = &best
	}
	r.Sampling = samplingOf(c, r.N+r.NAbstained+r.NIncomparable)
	r.HeadlineReason = main.tooFew()
	r.Headline = r.HeadlineReason == ""
	if r.Classifier, err = classify(headline); err != nil {
		return r, err
	}
	if r.Visible != nil {
		d, err := s.seenMinusBlind(visible, headline)
		if err != nil {
			return r, err
		}
		r.SeenMinusBlind = &d
	}
	if r.Population, err = s.population(c, main); err != nil {
		return r, err
	}
	if r.Slices, err = s.slices(c.Slices, r.Scale); err != nil {
		return r, err
	}
	if r.OverTime, err = s.moments(c.Slices, r.Scale); err != nil {
		return r, err
	}
	if r.Reliability, err = s.bands(c.Slices); err != nil {
		return r, err
	}
	r.Options = options()
	r.Sentence = r.sentence()
	r.NSealed = c.Sealed
	r.Notes = r.notes()
	return r, nil
}

// block computes the figures of judge against people.
func (c comparison) block() Block {
	q := len(c.labels)
	b := Block{
		Scale: c.scale, N: c.n, NAbstained: c.abstained, NIncomparable: c.incomparable,
		Agreement:  c.share(),
		CohenKappa: c.judgeKappa(agreement.Identity(q)),
		GwetAC1:    agreement.GwetAC(c.matrix, agreement.Identity(q), Level),
		Confusion:  Confusion{Labels: append([]string{}, c.labels...), Matrix: c.matrix.Counts()},
		PerLabel:   make([]LabelAgreement, q),
	}
	if c.ordinal {
		linear, quadratic := c.judgeKappa(agreement.Linear(q)), c.judgeKappa(agreement.Quadratic(q))
		b.KappaLinear, b.KappaQuadratic = &linear, &quadratic
	}
	b.Indices = agreement.PrevalenceBias(c.matrix)
	if top := agreement.KappaMax(c.matrix); top.Undefined == "" {
		b.KappaMax = &top.Kappa
	}
	rows, columns := c.matrix.Rows(), c.matrix.Columns()
	for k, e := range agreement.Specific(c.matrix) {
		b.PerLabel[k] = LabelAgreement{Label: c.labels[k], Human: rows[k], Judge: columns[k]}
		if e.Defined() {
			b.PerLabel[k].Agreement = &e.Value
		}
	}
	return b
}

func (c comparison) judgeKappa(w agreement.Weights) agreement.Kappa {
	return c.kappa(w, "people", "the judge", "people and the judge")
}

// pairs are those who share most comparable items first, then by name.
func (s scale) pairs(all []PairCounts) ([]Pair, error) {
	out := make([]Pair, 0, len(all))
	for _, pc := range all {
		var answers []pairing
		for _, cell := range pc.Cells {
			if !cell.Visible {
				answers = append(answers, pairing{s.read(cell.A), s.read(cell.B), cell.N})
			}
		}
		c, err := s.compare(answers)
		if err != nil {
			return nil, fmt.Errorf("reviewers %q and %q: %w", pc.A, pc.B, err)
		}
		if c.n+c.abstained == 0 {
			continue
		}
		q := len(c.labels)
		kappa := func(w agreement.Weights) agreement.Kappa {
			return c.kappa(w, pc.A, pc.B, pc.A+" and "+pc.B)
		}
		p := Pair{
			Reviewers: [2]string{pc.A, pc.B}, Scale: c.scale, N: c.n, NAbstained: c.abstained,
			Agreement: c.share(), CohenKappa: kappa(agreement.Identity(q)),
		}
		if c.ordinal {
			linear, quadratic := kappa(agreement.Linear(q)), kappa(agreement.Quadratic(q))
			p.KappaLinear, p.KappaQuadratic = &linear, &quadratic
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Pair) int {
		return cmp.Or(-cmp.Compare(a.N, b.N), cmp.Compare(a.Reviewers[0], b.Reviewers[0]),
			cmp.Compare(a.Reviewers[1], b.Reviewers[1]))
	})
	return out, nil
}

// ratesOf counts by verdicts, whatever scale the coefficients use.
func ratesOf(pairs []pairing) Rates {
	var bad, good, caught, missed, alarms, passed int
	for _, p := range pairs {
		if p.first.abstained || p.second.abstained || p.second.verdict == "" {
			continue
		}
		fails := p.second.verdict == verdictScale[2]
		passes := p.second.verdict == verdictScale[0]
		if passes && p.first.verdict != "" {
			passed += p.n
		}
		switch p.first.verdict {
		case verdictScale[2]:
			bad += p.n
			if fails {
				caught += p.n
			}
			if passes {
				missed += p.n
			}
		case verdictScale[0]:
			good += p.n
			if fails {
				alarms += p.n
			}
		}
	}
	return Rates{
		Catches:     shareOf(caught, bad, "people failed no trace"),
		Misses:      shareOf(missed, bad, "people failed no trace"),
		FalseAlarms: shareOf(alarms, good, "people passed no trace"),
		FlagsRight:  shareOf(caught, caught+alarms, "the judge failed no trace that people passed or failed"),
		WrongPasses: shareOf(missed, passed, noPasses),
	}
}

const noPasses = "people judged nothing that the judge passed"

func shareOf(x, n int, none string) agreement.Estimate {
	if n == 0 {
		return agreement.Estimate{Undefined: none}
	}
	return agreement.Proportion(x, n, Level)
}

func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
