package trust

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
)

// Drift is what is known of drift: Open markers, none where nothing watches.
type Drift struct {
	Open    int
	Watched bool
}

// Decide holds a report against the rules that a policy has for its judge.
func Decide(r calibration.Report, want judge.TrustLimits, drift Drift) Standing {
	s := Standing{State: judge.Trusted, Rules: []Rule{
		kappa(r, want.MinKappa), labels(r, want.MinLabels), missRate(r, want.MaxMissRate),
		slices(r, want.SliceLabels, want.SliceKappa), markers(drift),
	}}
	for _, rule := range s.Rules {
		if !rule.Met {
			s.State = judge.Advisory
		}
	}
	return s
}

// flaggedOnly is why figures of labels that were all asked for show nothing of the
// rest, and what to do.
const flaggedOnly = "Every label was asked for because of what the judge said, or by somebody: they do not show what it passes wrongly. Switch on a random audit in the policy, and label what it draws."

// onlyFlagged reports whether nothing but flagged work could have been labelled.
func onlyFlagged(r calibration.Report) bool {
	return r.Sampling.FlaggedOnly && r.Population.Refused != ""
}

// lower bound of a kappa: where there is no interval, the value itself.
func lower(e agreement.Estimate) float64 {
	if e.HasInterval() {
		return e.Low
	}
	return e.Value
}

// kappa asks for the lower bound of its 95% interval. The weighted one counts where
// it has an interval; where people and the judge never differ, only the unweighted
// one has, by the bound of agreement (Clopper & Pearson 1934).
func kappa(r calibration.Report, least float64) Rule {
	out := Rule{Name: RuleKappa, Wanted: least, N: r.N, Basis: BlindLabels, Asks: "Lower bound of kappa at least " + decimals(least)}
	k := r.CohenKappa.Estimate
	if w := r.Population.Weighted.CohenKappa; r.Population.Refused == "" && w.HasInterval() {
		k, out.Basis = w, Weighted
	}
	switch {
	case onlyFlagged(r):
		out.Shows, out.Detail = "not known", flaggedOnly
	case r.Population.Overdrawn: // counted once each they describe no population either
		out.Shows, out.Detail = "not known", sentence(r.Population.Refused)
	case !r.Headline:
		out.Shows, out.Detail = "not known", sentence(r.HeadlineReason+", so kappa says nothing yet: label more, blind")
	case !k.Defined():
		out.Shows, out.Detail = "not known", sentence("kappa is undefined: "+k.Undefined)
	default:
		low := lower(k)
		out.Found, out.Shows, out.Met = &low, agreement.DecimalsBeside(low, least, 2), low >= least-1e-9
		out.Detail = fmt.Sprintf("Kappa is %s; %s.", decimals(k.Value), basisWords(out.Basis, r.N))
		if !k.HasInterval() {
			out.Detail = fmt.Sprintf("Kappa is %s and has no interval: %s.", decimals(k.Value), k.NoInterval)
		}
	}
	return out
}

func labels(r calibration.Report, least int) Rule {
	found := float64(r.N)
	return Rule{Name: RuleLabels, Wanted: float64(least), Found: &found, N: r.N, Met: r.N >= least,
		Asks:  "At least " + counted(least, "blind label", "blind labels"),
		Shows: strconv.Itoa(r.N), Detail: short(r, least)}
}

func short(r calibration.Report, least int) string {
	if r.N < least {
		return fmt.Sprintf("Needed more: %d. Answers given before the judge’s verdict was seen, and imported ones.", least-r.N)
	}
	return "Answers given before the judge’s verdict was seen, and imported ones."
}

// missRate asks of what the judge passed and people judged which share people fail.
func missRate(r calibration.Report, most float64) Rule {
	out := Rule{Name: RuleMissRate, Wanted: most, Basis: BlindLabels, Asks: "Passed by the judge, failed by people: at most " + percent(most)}
	raw := r.Rates.WrongPasses
	e := raw
	if w := r.Population.Weighted.WrongPasses; r.Population.Refused == "" && w.Defined() {
		e, out.Basis = w, Weighted
	}
	out.N = raw.N
	switch {
	case onlyFlagged(r):
		out.Shows, out.Detail = "not known", flaggedOnly
	case r.Population.Overdrawn:
		out.Shows, out.Detail = "not known", sentence(r.Population.Refused)
	case !e.Defined():
		out.Shows, out.Detail = "not known", sentence(e.Undefined+": draw some of what it passes at random (a random audit in the policy), and label them")
	default:
		out.Found, out.Shows, out.Met = &e.Value, percentBeside(e.Value, most), e.Value <= most+1e-9
		wrong := int(math.Round(raw.Value * float64(raw.N)))
		out.Detail = fmt.Sprintf("%d of %d that people judged.", wrong, raw.N)
		if out.Basis == Weighted {
			out.Detail = fmt.Sprintf("%d of %d that people judged, each counted for the work that it stands for.", wrong, raw.N)
		}
		if raw.HasInterval() {
			out.Detail += " With so many labels it may be up to " + percent(max(raw.High, highOf(e))) + "."
		}
	}
	return out
}

func highOf(e agreement.Estimate) float64 {
	if e.HasInterval() {
		return e.High
	}
	return e.Value
}

// slices holds each domain and stakes with labels enough to a floor. Reasons are no
// such slices: they follow from what the judge said, so within one its answers
// hardly vary, and kappa is near 0 whatever the judge is worth.
func slices(r calibration.Report, enough int, floor float64) Rule {
	out := Rule{Name: RuleSlices, Wanted: floor, Met: true, Basis: BlindLabels, Shows: "none to look at",
		Asks: fmt.Sprintf("No domain or stakes with %s or more under %s", counted(enough, "label", "labels"), decimals(floor))}
	few, without := 0, 0
	lowest, at := math.Inf(1), calibration.Slice{}
	for _, s := range r.Slices {
		switch {
		case s.Dimension != calibration.ByDomain && s.Dimension != calibration.ByStakes:
		case s.N < enough:
			few++
		case !s.Kappa.Defined():
			without++
		case lower(s.Kappa.Estimate) < lowest:
			lowest, at = lower(s.Kappa.Estimate), s
		}
	}
	if !math.IsInf(lowest, 1) {
		out.Found, out.N, out.Met, out.Shows = &lowest, at.N, lowest >= floor-1e-9, agreement.DecimalsBeside(lowest, floor, 2)
		out.Detail = fmt.Sprintf("Lowest lower bound: %s %s, %s.", at.Dimension, cmp.Or(at.Value, "unnamed"), counted(at.N, "label", "labels"))
	}
	if few > 0 {
		out.Detail += " " + counted(few, "domain or stakes has fewer labels and is", "domains or stakes have fewer labels and are") + " not counted yet."
	}
	if without > 0 {
		out.Detail += " " + counted(without, "has", "have") + " no kappa, because people and the judge gave one and the same answer to all."
	}
	if out.Detail == "" {
		out.Detail = "No label is in any domain yet."
	} else if out.Detail[0] == ' ' {
		out.Detail = out.Detail[1:]
	}
	return out
}

func markers(d Drift) Rule {
	found := float64(d.Open)
	r := Rule{Name: RuleDrift, Found: &found, Met: d.Open == 0, Asks: "No open drift marker", Shows: strconv.Itoa(d.Open)}
	switch {
	case !d.Watched:
		r.Detail = "No drift is watched for: nothing watches this judge yet."
	case d.Open > 0:
		r.Detail = "The judge or what it judges changed since its baseline: see the markers, and close each with what was done."
	default:
		r.Detail = "Nothing that is watched has left its baseline."
	}
	return r
}

func basisWords(basis string, n int) string {
	if basis == Weighted {
		return counted(n, "blind label", "blind labels") + ", each counted for the work that it stands for"
	}
	return counted(n, "blind label", "blind labels") + ", each counted once: it holds of what was labelled"
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return s + "."
}

func decimals(v float64) string { return agreement.Decimals(v, 2) }

// percent writes a share with one decimal where it has any.
func percent(v float64) string { return strconv.FormatFloat(math.Round(1000*v)/10, 'f', -1, 64) + "%" }

// percentBeside has more decimals where rounding would make the share look like its limit.
func percentBeside(v, limit float64) string {
	if text := percent(v); text != percent(limit) || math.Abs(v-limit) < 1e-9 {
		return text
	}
	return agreement.DecimalsBeside(100*v, 100*limit, 1) + "%"
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
