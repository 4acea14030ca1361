package views

import (
	"time"

	"github.com/countersign/countersign/views/chart"
)

// FigureRow is one number with its interval, as a row of a table with a whisker.
type FigureRow struct {
	Name string
	// Kind stands before the name in small letters: "Domain"; may be empty.
	Kind string
	// Note says in a sentence what the number means; may be empty.
	Note   string
	N      int
	Figure Estimate
	// Counted is false for what is shown and decides nothing.
	Counted bool
}

// SaidFigure is a number as one plain sentence, with how it was made.
type SaidFigure struct {
	Sentence, Method string
}

// CoverageRow is how far one verdict of the judge was looked at.
type CoverageRow struct {
	Verdict               string
	Evaluations, Labelled int
	Represents            string // what the labels stand for; empty when that is not known
}

// DifferenceRow is an evaluation about which judge and people differ.
type DifferenceRow struct {
	Href, Trace    string
	Domain, Stakes string
	Judge, Person  Mark
	At             time.Time
}

// VersionChange is a moment after which something may be different, by the letter of
// its drift marker.
type VersionChange struct {
	Letter string
	At     time.Time
}

// TrendPoint is kappa on the labels of the 13 weeks until a day.
type TrendPoint struct {
	Until time.Time
	N     int
	Kappa Estimate
}

// CalibrationFigures are the numbers of a series beside kappa and its matrix.
type CalibrationFigures struct {
	// Lead is the sentence to read first; Warning what must be read with it.
	Lead, Warning string
	Said          []SaidFigure
	Rates         []FigureRow // the judge as a detector
	Seen          []FigureRow // blind, visible, people with each other
	SeenLine      string
	PassRates     []FigureRow
	PassLine      string
	Coverage      []CoverageRow
	CoverageLine  string
	Slices        []FigureRow
	Trend         []TrendPoint
	Changes       []VersionChange
	Bands         []FigureRow
	Differences   []DifferenceRow
	// More says what more labels would tell, a sentence each. PlanHref leads to where they
	// are drawn, ThresholdsHref to what another band would cost.
	More                     []string
	PlanHref, ThresholdsHref string
	Drift                    *Drift // nil: nothing was judged
}

// scaleRow is a row that is only there for the numbers of the scale.
func scaleRow(id string) FigureRow {
	zero := 0.0
	return FigureRow{Name: id, Figure: Estimate{Value: &zero}}
}

// drawn says whether a row has a whisker.
func (r FigureRow) drawn() bool { return r.Figure.Value != nil }

func (r FigureRow) whisker(id string) chart.Whisker {
	name := r.Name
	if r.Kind != "" {
		name = r.Kind + " " + r.Name
	}
	return chart.Agreement(id, name, name, *r.Figure.Value, r.Figure.Low, r.Figure.High, r.Counted)
}

// trend draws points by their place in time.
func (f CalibrationFigures) trend(id, name string) chart.Trend {
	t := chart.Trend{ID: id, Name: name}
	if len(f.Trend) == 0 {
		return t
	}
	first, last := f.Trend[0].Until, f.Trend[len(f.Trend)-1].Until
	place := func(at time.Time) float64 {
		if !last.After(first) {
			return 0
		}
		return at.Sub(first).Hours() / last.Sub(first).Hours()
	}
	for _, p := range f.Trend {
		t.Points = append(t.Points, chart.Moment{At: place(p.Until), When: day(p.Until), Value: p.Kappa.Value, Low: p.Kappa.Low, High: p.Kappa.High, N: p.N})
	}
	for _, c := range f.Changes {
		t.Changes = append(t.Changes, chart.Change{At: place(c.At), Letter: c.Letter})
	}
	return t
}
