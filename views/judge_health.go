package views

import (
	"strconv"
	"time"

	"github.com/countersign/countersign/views/chart"
)

// HealthSum is what a judge did in a while.
type HealthSum struct {
	Evaluations, Calls, Repaired, Invalid, Failed, Refused, Undecided int64
	Unpriced, PromptTokens, CompletionTokens, TransportRetries        int64
	CostUSD                                                           float64
	P50MS, P95MS                                                      int64 // upper ends; 0: none
	// Reports are those whose checks were run; ChecksFailed sums over their checks.
	Reports, ChecksFailed int64
	// Untold evaluations are too few to tell this reader; no other number has them.
	Untold int64
}

// TooFew says that nothing of it is told.
func (h HealthSum) TooFew() bool { return h.Evaluations == 0 && h.Untold > 0 }

// HealthDay is one day of it.
type HealthDay struct {
	Day time.Time // UTC
	HealthSum
}

// HealthPage is how a judge has fared.
type HealthPage struct {
	JudgeHead
	// Versions, Engines, Models and Windows to choose from, and what is chosen.
	Versions, Engines, Models, Windows []Choice
	Version, Engine, Model, Window     string
	Total                              HealthSum
	Days                               []HealthDay // oldest first, only those with something
	Checks                             []JudgeCheck
}

// rate is a share in per cent, with a digit where it is small.
func rate(part, whole int64) string {
	if whole == 0 {
		return "none"
	}
	return perCent(float64(part) / float64(whole))
}

func perCent(share float64) string {
	digits := 0
	if share > 0 && share < 0.0995 {
		digits = 1
	}
	return strconv.FormatFloat(100*share, 'f', digits, 64) + "%"
}

// plainNumber writes a number with few digits.
func plainNumber(v float64) string { return strconv.FormatFloat(v, 'g', 2, 64) }

// perReport is how many checks failed in one report, on average.
func perReport(h HealthSum) string {
	if h.Reports == 0 {
		return "none"
	}
	return plainNumber(float64(h.ChecksFailed) / float64(h.Reports))
}

// milliseconds writes the upper end of a latency.
func milliseconds(ms int64) string {
	switch {
	case ms == 0:
		return "none"
	case ms < 10_000:
		return number(ms) + " ms"
	}
	return number(ms/1000) + " s"
}

// latencyScale writes a value of the scale, which may lie between two milliseconds.
func latencyScale(v float64) string {
	switch {
	case v == 0:
		return "0 ms"
	case v < 10:
		return plainNumber(v) + " ms"
	}
	return milliseconds(int64(v + 0.5))
}

// moneyScale writes a value of the scale: nothing is an amount there.
func moneyScale(usd float64) string {
	if usd == 0 {
		return "$0"
	}
	return money(usd)
}

// tokenCount shortens thousands and millions.
func tokenCount(v float64) string {
	switch {
	case v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', 1, 64) + "M"
	case v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'f', 0, 64) + "k"
	}
	return number(int64(v + 0.5))
}

// charts are the measures over time, one a drawing.
func (p HealthPage) charts() []chart.Line {
	base := chart.Line{}
	if n := len(p.Days); n > 0 {
		first, last := p.Days[0].Day, p.Days[n-1].Day
		base.First, base.Last = first.Format("2 Jan"), last.Format("2 Jan")
		for _, d := range p.Days {
			x := 0.0
			if span := last.Sub(first); span > 0 {
				x = float64(d.Day.Sub(first)) / float64(span)
			}
			base.X = append(base.X, x)
		}
	}
	series := func(name string, of func(HealthSum) (float64, bool)) chart.Series {
		s := chart.Series{Name: name}
		for _, d := range p.Days {
			v, ok := of(d.HealthSum)
			if !ok || d.TooFew() {
				s.Values = append(s.Values, nil)
				continue
			}
			s.Values = append(s.Values, &v)
		}
		return s
	}
	share := func(part func(HealthSum) (int64, int64)) func(HealthSum) (float64, bool) {
		return func(h HealthSum) (float64, bool) {
			a, b := part(h)
			return float64(a) / float64(max(1, b)), b > 0
		}
	}
	draw := func(id, name string, write func(float64) string, list ...chart.Series) chart.Line {
		l := base
		l.ID, l.Name, l.Write, l.Series = id, name, write, list
		return l
	}
	return []chart.Line{
		draw("invalid", "Invalid reports", perCent, series("", share(func(h HealthSum) (int64, int64) { return h.Invalid, h.Evaluations }))),
		draw("repaired", "Repaired reports", perCent, series("", share(func(h HealthSum) (int64, int64) { return h.Repaired, h.Evaluations }))),
		draw("checks", "Failed checks a report", plainNumber, series("", share(func(h HealthSum) (int64, int64) { return h.ChecksFailed, h.Reports }))),
		draw("latency", "Latency: the median solid, the slowest 5% dashed", latencyScale,
			series("median", func(h HealthSum) (float64, bool) { return float64(h.P50MS), h.P50MS > 0 }),
			series("slowest 5%", func(h HealthSum) (float64, bool) { return float64(h.P95MS), h.P95MS > 0 })),
		draw("tokens", "Tokens", tokenCount, series("", func(h HealthSum) (float64, bool) { return float64(h.PromptTokens + h.CompletionTokens), h.Calls > 0 })),
		draw("cost", "Cost", moneyScale, series("", func(h HealthSum) (float64, bool) { return h.CostUSD, h.Calls > h.Unpriced })),
	}
}
