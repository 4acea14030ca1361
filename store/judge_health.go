package store

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
)

// HealthFilter narrows the health of a judge. Zero values mean: all.
type HealthFilter struct {
	PromptVersion, Engine, Model string // that answered
	Days                         int    // back from today, UTC: 1..366, default 30
}

// Health is how a judge did. A retry counts as another evaluation.
type Health struct {
	Evaluations      int64
	Calls            int64
	Reports          int64 // evaluations with a report whose checks were run
	Repaired         int64 // evaluations that took a repair
	Repairs          int64
	Invalid          int64 // invalid_output
	Failed           int64 // judge_failed
	Refused          int64 // when they were to be judged; not those refused at import
	Undecided        int64
	UncitedSteps     int64
	TransportRetries int64
	Unpriced         int64 // calls of models without a price; CostUSD leaves them out
	PromptTokens     int64
	CompletionTokens int64
	CostUSD          float64
	// LatencyP50MS and LatencyP95MS of calls are the upper ends of powers of two;
	// 0: there was no call.
	LatencyP50MS, LatencyP95MS int64
	Checks                     []CheckCount // those that failed at least once, by name
	// TooFew: so few evaluations that the sums would tell of single ones that
	// the actor may still have to answer blind. All but Evaluations are 0.
	TooFew bool
}

// CheckCount is how often a check failed, of the reports there were.
type CheckCount struct {
	Name        string
	Run, Failed int64
}

// JudgeDay is a judge's day.
type JudgeDay struct {
	Day string // 2006-01-02, UTC
	Health
}

// JudgeHealth is how a judge did over some days.
type JudgeHealth struct {
	Total Health
	Days  []JudgeDay // the oldest first; days without anything are left out
	// Versions, Engines and Models that judged in these days, whatever the filter.
	Versions, Engines, Models []string
}

// JudgeHealth reads the kept counts of a judge by day. Roles: lead, auditor,
// admin.
func (s *Store) JudgeHealth(ctx context.Context, a Actor, project, judgeName string, f HealthFilter) (h JudgeHealth, err error) {
	defer wrap(&err, "read the health of judge %q of project %q", judgeName, project)
	if err := s.authorise(ctx, a, readers, "judge.read", "judge:"+judgeName); err != nil {
		return h, err
	}
	if f.Days == 0 {
		f.Days = 30
	}
	if f.Days < 1 || f.Days > 366 {
		return h, invalid("days", "is %d: it lies between 1 and 366", f.Days)
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return h, err
	}
	type row struct {
		dayMeasure
		n int64
	}
	rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error {
		return r.Scan(&v.day, &v.version, &v.engine, &v.model, &v.measure, &v.n)
	}, `
SELECT day, prompt_version, engine, model, measure, n FROM judge_days
WHERE project_id = ? AND judge = ? AND day >= ? ORDER BY day`, p.ID, judgeName, dayOf(s.clock().AddDate(0, 0, 1-f.Days)))
	if err != nil {
		return h, err
	}
	days, all := map[string]sums{}, map[string]int64{}
	total, whole := sums{}, int64(0)
	versions, engines, models := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, v := range rows {
		versions[v.version], engines[v.engine], models[v.model] = true, true, true
		if v.measure == measureEvaluations {
			all[v.day] += v.n
			whole += v.n
		}
		if f.PromptVersion != "" && f.PromptVersion != v.version || f.Engine != "" && f.Engine != v.engine || f.Model != "" && f.Model != v.model {
			continue
		}
		if days[v.day] == nil {
			days[v.day] = sums{}
		}
		days[v.day][v.measure] += v.n
		total[v.measure] += v.n
	}
	h.Total = total.health(a, whole)
	names := slices.Sorted(maps.Keys(days))
	parts := make([]int64, len(names))
	for i, day := range names {
		parts[i] = days[day][measureEvaluations]
	}
	for i, few := range tooFew(a, parts) {
		told := Health{Evaluations: parts[i], TooFew: true}
		if !few {
			told = days[names[i]].health(a, all[names[i]])
		}
		h.Days = append(h.Days, JudgeDay{names[i], told})
	}
	h.Versions, h.Engines, h.Models = slices.Sorted(maps.Keys(versions)), slices.Sorted(maps.Keys(engines)), slices.Sorted(maps.Keys(models))
	return h, nil
}

// sums are numbers by measure.
type sums map[string]int64

// health reads the sums as far as the actor may know them. of is how many
// evaluations there are in all that the sums are a part of: what is left of it
// must be too many to be told from the difference, or nothing.
func (m sums) health(a Actor, of int64) Health {
	n := m[measureEvaluations]
	if rest := of - n; a.MayDecide() && (n < fewestTold || rest > 0 && rest < fewestTold) {
		return Health{Evaluations: n, TooFew: true}
	}
	h := Health{
		Evaluations: n, Calls: m[measureCalls], Reports: m[measureReports], Repaired: m[measureRepaired], Repairs: m[measureRepairs],
		Invalid: m[measureInvalid], Failed: m[measureFailed], Refused: m[measureRefused], Undecided: m[measureUndecided],
		UncitedSteps: m[measureUncited], TransportRetries: m[measureTransportRetries], Unpriced: m[measureUnpriced],
		PromptTokens: m[measurePromptTokens], CompletionTokens: m[measureCompletionTokens], CostUSD: dollars(m[measureCostNano]),
		LatencyP50MS: m.latency(0.50), LatencyP95MS: m.latency(0.95),
	}
	for _, measure := range slices.Sorted(maps.Keys(m)) {
		if name, ok := strings.CutPrefix(measure, failedMeasure); ok {
			h.Checks = append(h.Checks, CheckCount{Name: name, Run: h.Reports, Failed: m[measure]})
		}
	}
	return h
}

// latency is the upper end of the power of two in which the quantile lies.
func (m sums) latency(quantile float64) int64 {
	var of [64]int64
	var calls int64
	for measure, n := range m {
		if power, ok := strings.CutPrefix(measure, latencyMeasure); ok {
			if i, err := strconv.Atoi(power); err == nil && i >= 0 && i < len(of) {
				of[i] += n
				calls += n
			}
		}
	}
	rank := int64(math.Ceil(quantile * float64(calls)))
	for i, n := range of {
		if rank -= n; n > 0 && rank <= 0 {
			return 1 << i
		}
	}
	return 0
}

// readUses reads how many evaluations the versions of judges have.
func readUses(counts map[string]int) (uses []JudgeUse) {
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		judgeName, version, _ := strings.Cut(name, " ") // a judge's name has no space
		if counts[name] > 0 {
			uses = append(uses, JudgeUse{Judge: judgeName, PromptVersion: version, Evaluations: counts[name]})
		}
	}
	return uses
}

func useName(p judge.Planned) string { return p.Judge + " " + p.PromptVersion }
