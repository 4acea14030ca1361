package web

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/threshold"
	"github.com/countersign/countersign/store"
)

// Costs that a form begins with. They are there to be replaced.
const (
	usualMissCost   = 100.0
	usualAlarmCost  = 20.0
	usualMinuteCost = 1.0
)

// thresholdReplicates is how often the page draws labels again: few enough that it is
// there at once. Numbers as JSON have the full number.
const thresholdReplicates = 500

// thresholdSeed draws where nobody names a seed.
const thresholdSeed = 20260101

// thresholdAsk is what is asked of the simulator, as numbers.
type thresholdAsk struct {
	model, version string
	threshold.Ask
	perWeek                 float64
	perWeekBasis            string
	minutesNote, volumeNote string
}

// askThresholds reads what is asked. What is not said is the present policy's band,
// and what people and the judge did in the last weeks. A *store.FieldError names the
// field that is wrong.
func (s *Server) askThresholds(ctx context.Context, a store.Actor, project, name, model, version string, form url.Values) (thresholdAsk, error) {
	ask := thresholdAsk{model: model, version: version}
	ask.Level, ask.Replicates = calibration.Level, thresholdReplicates
	band, err := s.bandNow(ctx, project, name)
	if err != nil {
		return ask, err
	}
	pace, err := s.cfg.Store.ReviewPace(ctx, a, project)
	if err != nil {
		return ask, err
	}
	took := pace.Of(name, judge.StandardStakes)
	ask.minutesNote = fmt.Sprintf("An item took people %s, the median of %s (%s).", secondsText(took.Seconds), counted(took.N, "decision"), took.Basis)
	if took.N == 0 {
		ask.minutesNote = "Minutes are assumed: there are too few decisions to measure them."
	}
	weekly, measured, err := s.cfg.Store.WeeklyEvaluations(ctx, a, project, name, model, version)
	if err != nil {
		return ask, err
	}
	ask.perWeekBasis = threshold.BasisMeasured
	ask.volumeNote = fmt.Sprintf("The judge gave %s evaluations a week in the last four.", moneyText(weekly))
	if !measured {
		ask.perWeekBasis = threshold.BasisAssumed
		ask.volumeNote = fmt.Sprintf("The judge gave none in the last four weeks that may be told, so %s a week are taken.", thousands(store.AssumedWeekly))
	}
	if strings.TrimSpace(form.Get("per_week")) != "" {
		ask.perWeekBasis = threshold.BasisGiven
	}
	r := thresholdReader{form: form}
	ask.Now = band
	ask.Chosen.Low, ask.Chosen.Pass = r.share("low", "Fails below", band.Low), r.share("high", "Passes from", band.Pass)
	ask.Cut = r.share("cut", "The cut", ask.Chosen.Pass)
	ask.Costs = threshold.Costs{Miss: r.amount("cost_miss", "The cost of a wrong pass", usualMissCost),
		Alarm: r.amount("cost_alarm", "The cost of a wrong fail", usualAlarmCost), Minute: r.amount("cost_minute", "The cost of a minute", usualMinuteCost)}
	ask.Minutes = r.amount("minutes", "The minutes for an item", max(0.1, math.Round(took.Seconds/6)/10))
	ask.perWeek = r.amount("per_week", "The number of evaluations a week", weekly)
	hours, misses := r.limit("max_hours", "Hours a week"), r.limit("max_misses", "Wrong passes in 1,000")
	ask.Seed = r.seed()
	switch {
	case r.fault != nil:
		return ask, r.fault
	case ask.Chosen.Low > ask.Chosen.Pass:
		return ask, &store.FieldError{Field: "high", Message: fmt.Sprintf("is %s, below %s where failing ends: what passes lies above what fails", numberText(ask.Chosen.Pass), numberText(ask.Chosen.Low))}
	case ask.Minutes < threshold.LeastAmount:
		return ask, &store.FieldError{Field: "minutes", Message: "is nothing: an item takes a person some time"}
	case ask.perWeek < threshold.LeastAmount:
		return ask, &store.FieldError{Field: "per_week", Message: "is nothing: say how many evaluations there are in a week"}
	}
	ask.Limit(ask.perWeek, hours, misses)
	return ask, nil
}

// bandNow is the band that the present policy gives a judge at standard stakes.
func (s *Server) bandNow(ctx context.Context, project, name string) (judge.Band, error) {
	p, err := s.cfg.Store.ProjectNamed(ctx, project)
	if err != nil {
		return judge.Band{}, err
	}
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return judge.Band{}, err
	}
	under := p.Policy.For(name, "", judge.StandardStakes)
	if j, ok := h.Judge(name); ok {
		return under.BandOf(j), nil
	}
	return under.BandOf(&judge.Judge{Band: judge.DefaultBand}), nil
}

// thresholdReader reads numbers of the form and keeps the first fault.
type thresholdReader struct {
	form  url.Values
	fault error
}

func (r *thresholdReader) number(name, what string, usual, most float64) float64 {
	text := strings.TrimSpace(r.form.Get(name))
	if text == "" {
		return usual
	}
	v, err := decimal(text)
	must := "0 or more"
	switch {
	case r.fault != nil || err == nil && v >= 0 && v <= most:
		return v
	case err != nil:
		must = errDecimal.Error()
	case most == 1:
		must = "from 0 to 1"
	case v > most:
		must = fmt.Sprintf("at most %v", most)
	}
	r.fault = &store.FieldError{Field: name, Message: fmt.Sprintf("is %q: %s is a number, %s", text, strings.ToLower(what[:1])+what[1:], must)}
	return v
}

func (r *thresholdReader) share(name, what string, usual float64) float64 {
	return r.number(name, what, usual, 1)
}

func (r *thresholdReader) amount(name, what string, usual float64) float64 {
	return r.number(name, what, usual, threshold.MostAmount)
}

func (r *thresholdReader) limit(name, what string) *float64 {
	if strings.TrimSpace(r.form.Get(name)) == "" {
		return nil
	}
	v := r.amount(name, what, 0)
	return &v
}

func (r *thresholdReader) seed() uint64 {
	text := strings.TrimSpace(r.form.Get("seed"))
	if text == "" {
		return thresholdSeed
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil && r.fault == nil {
		r.fault = &store.FieldError{Field: "seed", Message: fmt.Sprintf("is %q: it is a whole number, 0 or more", text)}
	}
	return v
}
