package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// Comparison is all that is told about versions beside each other. Its JSON is that
// of the API and of `countersign judges compare --json`.
type Comparison struct {
	Judge       string                   `json:"judge"`
	Competitors []calibration.Competitor `json:"competitors"`
	Shared      int                      `json:"shared"` // traces that all of them judged
	// NSealed more are left out, because the reader may still review them blind.
	NSealed  int           `json:"n_sealed"`
	Verdicts []VerdictPair `json:"verdicts"` // of the first two
	Effort   []Effort      `json:"effort"`
	// On says which labels Labelled is made of: all, or tune where a test split is locked.
	On       string              `json:"on"`
	Labelled calibration.Versus  `json:"labelled"`
	Visible  *calibration.Versus `json:"visible"` // labels given with a verdict on the screen; nil: none
	Split    *ComparedSplit      `json:"test_split"`
	// Differences are the gravest traces on which the first two differ, none of them
	// labelled in the test split.
	Differences []Differing `json:"differences"`
}

// Labels that a comparison is made on.
const (
	OnAll  = "all"
	OnTune = "tune"
)

// ComparedSplit is the locked test split beside a comparison. Nothing of what is in it
// is told but how many traces it holds and what was seen at each look.
type ComparedSplit struct {
	Share    float64   `json:"share"`
	LockedBy string    `json:"locked_by"`
	LockedAt time.Time `json:"locked_at"`
	N        int       `json:"n"` // labelled traces in it that all compared judged
	// Looks were there at the split; Seen are the newest, at most 50.
	Looks int    `json:"looks"`
	Seen  []Look `json:"seen"`
}

// Differing is a trace on which the first two judges differ.
type Differing struct {
	TraceID string       `json:"trace_id"`
	Domain  string       `json:"domain"`
	Stakes  judge.Stakes `json:"stakes"`
	First   Said         `json:"first"`
	Second  Said         `json:"second"`
	// People's answer; nil where nobody labelled it, or they came to none.
	People *Said `json:"people"`
}

// Said is an answer as it is listed.
type Said struct {
	Verdict judge.Verdict `json:"verdict"`
	Label   string        `json:"label,omitempty"`
}

// CompareJudges compares 2 to MostCompared versions and models of a judge as the
// actor may know them. Roles: those of CalibrationCounts.
func (s *Store) CompareJudges(ctx context.Context, a Actor, project, judgeName string, who []calibration.Competitor) (r Comparison, err error) {
	defer wrap(&err, "compare versions of judge %q", judgeName)
	if err := mayCompare(who); err != nil {
		return r, err
	}
	p, _, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return r, err
	}
	read, err := s.reader.snapshot(ctx) // one moment: the parts must be of the same traces
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	c, err := compared(ctx, read, a, p.ID, judgeName, who)
	if err != nil {
		return r, err
	}
	split, err := testSplit(ctx, read, p.ID, judgeName)
	if err != nil {
		return r, err
	}
	seen, err := looks(ctx, read, p.ID, judgeName)
	if err != nil {
		return r, err
	}
	return c.report(judgeName, split, seen)
}

func (c Compared) report(judgeName string, split *TestSplit, seen []Look) (r Comparison, err error) {
	r = Comparison{Judge: judgeName, Competitors: c.Who, Shared: c.Shared, NSealed: c.Withheld, Verdicts: list(c.Pairs), Effort: c.Effort, On: OnAll,
		Differences: []Differing{}}
	tune, visible := c.Labelled, c.Visible
	if split != nil {
		r.On = OnTune
		held := func(t ComparedTrace) bool { return split.Holds(t.TraceID, t.Cluster) }
		tune, visible = slices.DeleteFunc(slices.Clone(tune), held), slices.DeleteFunc(slices.Clone(visible), held)
		r.Split = &ComparedSplit{Share: split.Share, LockedBy: split.LockedBy, LockedAt: split.LockedAt, N: len(c.Labelled) - len(tune), Looks: split.Looks, Seen: list(seen)}
	}
	if r.Labelled, err = calibration.CompareJudges(c.Who, c.Labels, c.Ordinal, items(tune), 1); err != nil {
		return r, err
	}
	if len(visible) > 0 {
		v, err := calibration.CompareJudges(c.Who, c.Labels, c.Ordinal, items(visible), 1)
		if err != nil {
			return r, err
		}
		r.Visible = &v
	}
	for _, t := range c.Differences {
		if t.Labelled && split.Holds(t.TraceID, t.Cluster) {
			continue
		}
		said := func(a calibration.Answer) Said { return Said{a.Verdict, a.Label} }
		d := Differing{TraceID: t.TraceID, Domain: t.Domain, Stakes: t.Stakes, First: said(t.Judges[0]), Second: said(t.Judges[1])}
		if t.Labelled && !t.Human.Abstained {
			people := said(t.Human)
			d.People = &people
		}
		r.Differences = append(r.Differences, d)
	}
	return r, nil
}
