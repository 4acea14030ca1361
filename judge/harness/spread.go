package harness

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// spreadOf is how far the usable answers of a model lie apart.
func spreadOf(j *judge.Judge, usable []outcome, unusable int, under judge.Effective) judge.Spread {
	s := judge.Spread{Verdicts: map[judge.Verdict]int{}, Unusable: unusable}
	if len(usable) == 0 {
		return s
	}
	scores := make([]float64, len(usable))
	for i, a := range usable {
		s.Verdicts[verdict(j, a.reading, a.undecided, under)]++
		scores[i] = clamped(a.reading.Score)
	}
	s.Min, s.Max = slices.Min(scores), slices.Max(scores)
	if n := float64(len(scores)); n > 1 {
		mean, squares := 0.0, 0.0
		for _, x := range scores {
			mean += x / n
		}
		for _, x := range scores {
			squares += (x - mean) * (x - mean)
		}
		s.SD = math.Sqrt(squares / (n - 1))
	}
	commonest := 0
	for _, n := range s.Verdicts {
		commonest = max(commonest, n)
	}
	s.Agreement = float64(commonest) / float64(len(usable))
	return s
}

func clamped(score float64) float64 { return min(1, max(0, score)) }

// verdictOrder is how verdicts are told: from good to bad.
var verdictOrder = []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail}

// majority is the verdict of most answers; empty when several have as many.
func majority(s judge.Spread) (most judge.Verdict) {
	best := 0
	for _, v := range verdictOrder {
		switch n := s.Verdicts[v]; {
		case n > best:
			best, most = n, v
		case n == best:
			most = ""
		}
	}
	return most
}

// tellSpread says who says what: "4 of 5 answers say pass, 1 says fail".
func tellSpread(s judge.Spread) string {
	total := 0
	for _, n := range s.Verdicts {
		total += n
	}
	order := slices.Clone(verdictOrder)
	slices.SortStableFunc(order, func(a, b judge.Verdict) int { return s.Verdicts[b] - s.Verdicts[a] })
	var parts []string
	for _, v := range order {
		n := s.Verdicts[v]
		if n == 0 {
			continue
		}
		says := "say"
		if n == 1 {
			says = "says"
		}
		of := ""
		if parts == nil {
			of = fmt.Sprintf(" of %d answers", total)
		}
		parts = append(parts, fmt.Sprintf("%d%s %s %s", n, of, says, v))
	}
	text := strings.Join(parts, ", ")
	if s.Unusable > 0 {
		text += fmt.Sprintf(", %d without a valid report", s.Unusable)
	}
	return text
}

// nearestMedian is the answer whose score lies nearest to the median of all; of
// two that lie as near, the earlier.
func nearestMedian(answers []outcome) outcome {
	scores := make([]float64, len(answers))
	for i, a := range answers {
		scores[i] = clamped(a.reading.Score)
	}
	slices.Sort(scores)
	middle := (scores[(len(scores)-1)/2] + scores[len(scores)/2]) / 2
	nearest := answers[0]
	for _, a := range answers[1:] {
		if math.Abs(clamped(a.reading.Score)-middle) < math.Abs(clamped(nearest.reading.Score)-middle)-1e-9 {
			nearest = a
		}
	}
	return nearest
}

// cast gives an evaluation the verdict that its answers have together. A nil vote
// changes nothing: the model was asked once.
func (v *vote) cast(e *judge.Evaluation, j *judge.Judge, under judge.Effective) {
	if v == nil {
		return
	}
	e.Spread = &v.spread
	if v.verdict == "" {
		return // there is no result
	}
	e.Verdict = v.verdict
	if v.detail != "" && under.On(j, judge.ReasonJudgeDisagreement) {
		e.Reasons = append(e.Reasons, judge.Reason{Code: judge.ReasonJudgeDisagreement, Detail: v.detail})
	}
}
