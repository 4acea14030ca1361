package web

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/threshold"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/chart"
)

// thresholdForm writes what is asked into the fields; what somebody typed stays as it is.
func thresholdForm(ask thresholdAsk, typed url.Values) views.ThresholdForm {
	text := func(name string, v float64) string {
		if t := typed.Get(name); t != "" {
			return t
		}
		return numberText(v)
	}
	f := views.ThresholdForm{
		Low: text("low", ask.Chosen.Low), High: text("high", ask.Chosen.Pass), Cut: text("cut", ask.Cut),
		CostMiss: text("cost_miss", ask.Costs.Miss), CostAlarm: text("cost_alarm", ask.Costs.Alarm), CostMinute: text("cost_minute", ask.Costs.Minute),
		Minutes: text("minutes", ask.Minutes), PerWeek: text("per_week", ask.perWeek), MinutesNote: ask.minutesNote, PerWeekNote: ask.volumeNote,
		MaxHours: typed.Get("max_hours"), MaxMisses: typed.Get("max_misses"), Seed: strconv.FormatUint(ask.Seed, 10),
	}
	if ask.Now.Low == ask.Now.Pass {
		f.Policy = fmt.Sprintf("The policy has no band now: it cuts at %s.", numberText(ask.Now.Pass))
	} else {
		f.Policy = fmt.Sprintf("The policy’s band is %s now.", bandText(ask.Now))
	}
	return f
}

func bandText(b judge.Band) string {
	if b.Low == b.Pass {
		return "cut at " + numberText(b.Pass) + ", nobody asked"
	}
	return numberText(b.Low) + " to " + numberText(b.Pass)
}

// fillThresholds puts the answer on the page.
func (s *Server) fillThresholds(ctx context.Context, a store.Actor, p *views.ThresholdPage, ask thresholdAsk) error {
	w, err := s.thresholds(ctx, a, p.Project, p.Judge, ask)
	if err != nil {
		return err
	}
	p.Notes = thresholdNotes(w)
	if w.Refused != "" {
		p.Refused = strings.ToUpper(w.Refused[:1]) + w.Refused[1:] + "."
		p.Advice = "Draw blind labels at random in the label planner on the calibration page; then this can be answered."
		return nil
	}
	p.Method = thresholdMethod(w)
	p.TryHref = tryBandPath(p.Judge, ask.Chosen.Low, ask.Chosen.Pass)
	p.Lead = append(p.Lead, outcomeLine("With your band of "+bandText(ask.Chosen), w, w.Chosen))
	if ask.Now != ask.Chosen {
		p.Lead = append(p.Lead, outcomeLine("With the policy’s band of "+bandText(ask.Now)+", which counts now", w, w.Now))
	}
	p.Rows = []views.ThresholdRow{thresholdRow("Y", "Yours", w, w.Chosen), thresholdRow("P", "The policy’s now", w, w.Now)}
	alone := thresholdRow("", "The cut alone", w, w.Alone)
	if best := w.Best; best != nil {
		p.Hero = bandText(best.Band)
		p.Best = fmt.Sprintf("is the band of least expected cost on the half of the labels that it was looked for on. On the other half it costs %s a week (%s), today’s band %s. Its ends could be %s and %s on other labels of the same number.",
			moneyText(best.Cost.Value*w.PerWeek), rangeText(best.Cost, w.PerWeek, moneyText), moneyText(w.Now.Cost.Value*w.PerWeek), spanText(best.Low), spanText(best.Pass))
		p.BestHref = tryBandPath(p.Judge, best.Band.Low, best.Band.Pass)
		if w.NoGain() {
			p.NoGain = threshold.NoGainText
		}
		p.Rows = append(p.Rows, thresholdRow("R", "Recommended", w, best.Outcome))
	} else {
		p.Hero, p.Best = "No band", "can be recommended: "+w.NoBest+"."
	}
	p.Rows = append(p.Rows, alone)
	p.Chart = thresholdChart(w)
	return nil
}

// outcomeLine says what a band comes to, for who knows no statistics.
func outcomeLine(with string, w threshold.Written, o threshold.Outcome) string {
	return fmt.Sprintf("%s, of 1,000 evaluations about %s pass wrongly (%s) and %s fail wrongly (%s). %s items go to people in a week, %s of work.",
		with, amountText(1000*o.Misses.Value), rangeText(o.Misses, 1000, amountText), amountText(1000*o.Alarms.Value), rangeText(o.Alarms, 1000, amountText),
		moneyText(o.People.Value*w.PerWeek), hoursText(o.People.Value*w.PerWeek*w.Minutes/60))
}

func thresholdRow(letter, name string, w threshold.Written, o threshold.Outcome) views.ThresholdRow {
	hours := w.PerWeek * w.Minutes / 60
	at := func(e agreement.Estimate, times float64, text func(float64) string) views.Ranged {
		return views.Ranged{Value: text(e.Value * times), Range: rangeText(e, times, text)}
	}
	errors := func(e agreement.Estimate) views.Ranged {
		r := at(e, 1000, amountText)
		r.Range += " in 1,000"
		r.More = amountText(e.Value*w.PerWeek) + " a week"
		return r
	}
	return views.ThresholdRow{Letter: letter, Name: name, Band: bandText(o.Band),
		Misses: errors(o.Misses), Alarms: errors(o.Alarms),
		People: at(o.People, w.PerWeek, amountText), Hours: at(o.People, hours, amountText), Cost: at(o.Cost, w.PerWeek, moneyText)}
}

// rangeText writes an interval, or why there is none.
func rangeText(e agreement.Estimate, times float64, text func(float64) string) string {
	if !e.HasInterval() {
		return "no interval: " + e.NoInterval
	}
	return text(e.Low*times) + " to " + text(e.High*times)
}

func spanText(e agreement.Estimate) string {
	if !e.HasInterval() || e.Low == e.High {
		return scoreText(e.Value)
	}
	return scoreText(e.Low) + "–" + scoreText(e.High)
}

// amountText writes a number with as many digits as mean something.
func amountText(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100 || math.IsNaN(v) || math.IsInf(v, 0):
		return moneyText(v)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v > 0 && v < 0.05:
		return "under 0.1"
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// moneyText writes an amount of money or of evaluations without decimals.
func moneyText(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "not known"
	case math.Abs(v) >= 1e15: // more digits than a number has
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return thousands(int(math.Round(v)))
}

func hoursText(h float64) string { return amountText(h) + " hours" }

// thresholdChart has a week's cost of everything against people's hours.
func thresholdChart(w threshold.Written) chart.Curve {
	hours := w.PerWeek * w.Minutes / 60
	c := chart.Curve{ID: "thresholds", Name: "Cost of mistakes against people’s hours", Across: "Hours of people a week", Up: "Cost of mistakes a week",
		WriteX: func(v float64) string { return hoursShort(v) }, WriteY: moneyText}
	for _, p := range w.Curve {
		c.Points = append(c.Points, chart.CurvePoint{X: p.People * hours, Y: p.Errors * w.PerWeek, What: bandText(p.Band)})
	}
	mark := func(letter, what string, o threshold.Outcome) {
		c.Marks = append(c.Marks, chart.CurveMark{X: o.People.Value * hours, Y: (w.Costs.Miss*o.Misses.Value + w.Costs.Alarm*o.Alarms.Value) * w.PerWeek,
			Letter: letter, What: what + ", " + bandText(o.Band)})
	}
	mark("P", "the policy’s band now", w.Now)
	mark("Y", "your band", w.Chosen)
	if w.Best != nil {
		mark("R", "the recommended band", w.Best.Outcome)
	}
	return c
}

// hoursShort is for the scale of a drawing: three digits are enough.
func hoursShort(v float64) string {
	if math.Abs(v) >= 100 {
		return moneyText(v) + " h"
	}
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', digitsFor(v, 3), 64), "0"), ".") + " h"
}

// digitsFor is how many decimals show so many digits of a number.
func digitsFor(v float64, digits int) int {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 1
	}
	return max(1, digits-1-int(math.Floor(math.Log10(math.Abs(v)))))
}

// scoreText is an end that was reckoned, of which more than three decimals mean nothing.
func scoreText(v float64) string { return numberText(math.Round(1000*v) / 1000) }

// thresholdNotes say what must be read with the numbers.
func thresholdNotes(w threshold.Written) []string {
	notes := []string{"Only blind and imported labels count. People’s answer is taken as right, also for what the band sends to them. " +
		"Critical errors and what has no score go to people or fail under every band; audits and other reasons come on top, the same for each band. Where a judge’s labels fix its verdict, no band changes it."}
	if w.AllLabels > w.Labels {
		notes = append(notes, fmt.Sprintf("Of %s a random part of %s was looked at, always the same.", counted(w.AllLabels, "label"), thousands(w.Labels)))
	}
	if w.Unsure > 0 {
		notes = append(notes, fmt.Sprintf("Left out: %s where people said neither pass nor fail: they called it borderline, abstained, or their answers are tied.", counted(w.Unsure, "item")))
	}
	if w.Waiting > 0 {
		notes = append(notes, fmt.Sprintf("Left out for you: %s that you may still review blind.", counted(w.Waiting, "evaluation")))
	}
	return notes
}

func thresholdMethod(w threshold.Written) []string {
	return []string{
		fmt.Sprintf("The band was looked for on %s (%s, people passed %d and failed %d) and is reported on the other %s (%s, %d and %d), split %s. On the labels that chose it, it would have seemed to cost %s a week.",
			counted(w.Tuning.N, "label"), counted(w.Tuning.Clusters, "cluster"), w.Tuning.Good, w.Tuning.Bad, counted(w.Reporting.N, "label"),
			counted(w.Reporting.Clusters, "cluster"), w.Reporting.Good, w.Reporting.Bad, w.Split, tunedText(w)),
		"Each label counts one over its chance of being drawn, later draws included; within each verdict of the judge weights are brought up to the number of evaluations (Hájek’s ratio, post-stratified).",
		fmt.Sprintf("Intervals: bootstrap over clusters within strata, %s replicates, seed %d, percentiles of type 7 at %.0f%%. Where not one mistake was seen, the upper bound is Clopper and Pearson’s for the effective number of labels.",
			thousands(w.Replicates), w.Seed, 100*w.Level),
		fmt.Sprintf("Bands were looked for in steps of %s. Expected cost: wrong passes and wrong fails times their costs, and people’s minutes. A half needs %d labels, %d of each kind.", numberText(w.Step), calibration.MinLabels, calibration.MinRarerClass),
	}
}

func tunedText(w threshold.Written) string {
	if w.Best == nil {
		return "nothing: none was found"
	}
	return moneyText(w.Best.TunedCost * w.PerWeek)
}
