package builtin

import (
	"math"
	"strconv"

	"github.com/countersign/countersign/judge"
)

// reading: score = mean of the dimension scores / 5, unrounded; label = that
// mean rounded half up.
func (r *logicReport) reading() judge.Reading {
	mean := r.mean()
	reading := judge.Reading{Score: mean / judge.MaxScore, Label: rounded(mean)}
	for _, v := range r.violations {
		reading.Critical = reading.Critical || v.severity == judge.SeverityCritical
		class := v.class
		if class == "" {
			class = "violation"
		}
		reading.Findings = append(reading.Findings, judge.Finding{
			Step: max(0, v.step), Dimension: v.dimension, Class: class, Severity: v.severity,
			Quote: v.citation, Explanation: v.explanation,
		})
	}
	for _, s := range r.scores {
		reading.Parts = append(reading.Parts, judge.Part{Name: s.name, Value: s.score, Max: judge.MaxScore})
		reading.PartLabels = append(reading.PartLabels, judge.PartLabel{Kind: judge.PartDimension, Key: s.name, Label: rounded(s.score)})
	}
	return reading
}

// rounded is a score from 1 to 5 as a label: half up.
func rounded(score float64) string { return strconv.Itoa(int(math.Floor(score + 0.5 + epsilon))) }
