package views

import (
	"fmt"
	"strconv"
	"strings"
)

// cell is a count of the matrix; cells that are missing count nothing.
func (s CalibrationSeries) cell(i, j int) int {
	if i < 0 || j < 0 || i >= len(s.Matrix) || j >= len(s.Matrix[i]) {
		return 0
	}
	return s.Matrix[i][j]
}

// row sums what people called label i.
func (s CalibrationSeries) row(i int) int {
	n := 0
	for j := range s.Labels {
		n += s.cell(i, j)
	}
	return n
}

// column sums what the judge called label j.
func (s CalibrationSeries) column(j int) int {
	n := 0
	for i := range s.Labels {
		n += s.cell(i, j)
	}
	return n
}

func (s CalibrationSeries) total() int {
	n := 0
	for i := range s.Labels {
		n += s.row(i)
	}
	return n
}

// worst is the cell where the judge gave the best label to what people gave
// the worst. Labels are in order, best first.
func (s CalibrationSeries) worst(i, j int) bool {
	return len(s.Labels) > 1 && i == len(s.Labels)-1 && j == 0
}

// seriesName names model and prompt version.
func seriesName(s CalibrationSeries) string {
	if line := modelLine(s.CalibrationRow); line != "" {
		return line
	}
	return s.Judge
}

// matrixSentence says the judge's record in counts.
func matrixSentence(s CalibrationSeries) string {
	n := s.total()
	if n == 0 || len(s.Labels) < 2 {
		return ""
	}
	same := 0
	for i := range s.Labels {
		same += s.cell(i, i)
	}
	best, last := s.Labels[0], len(s.Labels)-1
	line := fmt.Sprintf("It said what people said on %s of %s.", number(int64(same)), number(int64(n)))
	if s.column(0) > 0 {
		line += fmt.Sprintf(" It called %s “%s”; people called %s of them “%s”.",
			number(int64(s.column(0))), words(best), number(int64(s.cell(last, 0))), words(s.Labels[last]))
	} else {
		line += fmt.Sprintf(" It never said “%s”.", words(best))
	}
	if s.row(last) > 0 {
		line += fmt.Sprintf(" Of the %s that people called “%s” it found %s.",
			number(int64(s.row(last))), words(s.Labels[last]), number(int64(s.cell(last, last))))
	}
	return line
}

// tooFewLine gives the counts where a headline would mislead.
func tooFewLine(s CalibrationSeries) string {
	line := "Kappa is a headline from 50 labels with at least 10 in the rarer class. There are " + number(int64(s.N)) + "."
	if s.Kappa.Why != "" {
		line += " " + s.Kappa.Why
	}
	return line
}

// kappaLine is the headline's uncertainty in words.
func kappaLine(s CalibrationSeries) string {
	if s.Kappa.Value == nil {
		return why(s.Kappa)
	}
	var b strings.Builder
	if s.Kappa.Low != nil && s.Kappa.High != nil {
		b.WriteString("95% interval " + score2(s.Kappa.Low) + " to " + score2(s.Kappa.High) + ", ")
	}
	b.WriteString("from " + count(s.N, "label", "labels") + ".")
	if s.Agreement.Value != nil {
		b.WriteString(" Plain agreement is " + percentOf(*s.Agreement.Value) + ".")
	}
	if len(s.Pairs) > 0 && s.Pairs[0].Kappa.Value != nil {
		p := s.Pairs[0]
		b.WriteString(" " + p.First + " and " + p.Second + " agree with each other at " + score2(p.Kappa.Value) + " on " + count(p.N, "item", "items") + ".")
	}
	return b.String()
}

// estimateLine is a statistic with everything known about it, in a line.
func estimateLine(e Estimate) string {
	if e.Value == nil {
		return why(e)
	}
	line := score2(e.Value)
	if e.Low != nil && e.High != nil {
		line += ", 95% " + score2(e.Low) + " to " + score2(e.High)
	}
	if e.SE != nil {
		line += ", SE " + strconv.FormatFloat(*e.SE, 'f', 3, 64)
	}
	if e.Method != "" {
		line += " (" + e.Method + ")"
	}
	return line
}

// percentOf writes a share as a whole percentage.
func percentOf(share float64) string { return strconv.FormatFloat(100*share, 'f', 0, 64) + "%" }
