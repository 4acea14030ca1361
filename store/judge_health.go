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
	Evaluations int64
	// Untold evaluations are in none of the other numbers, not even in
	// Evaluations: so few that their sums would tell of single ones that the actor
	// may still have to answer blind.
	Untold           int64
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
}

// TooFew says that there is something, and that nothing of it is told.
func (h Health) TooFew() bool { return h.Evaluations == 0 && h.Untold > 0 }

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
	rows, err := s.readHealth(ctx, a, project, judgeName, f.Days)
	if err != nil {
		return h, err
	}
	days, total := map[string]sums{}, sums{}
	versions, engines, models := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, v := range rows {
		versions[v.version], engines[v.engine], models[v.model] = true, true, true
		if f.PromptVersion != "" && f.PromptVersion != v.version || f.Engine != "" && f.Engine != v.engine || f.Model != "" && f.Model != v.model {
			continue
		}
		if days[v.day] == nil {
			days[v.day] = sums{}
		}
		total.add(v, v.inSum)
		days[v.day].add(v, v.alone)
	}
	h.Total = total.health()
	for _, day := range slices.Sorted(maps.Keys(days)) {
		h.Days = append(h.Days, JudgeDay{day, days[day].health()})
	}
	h.Versions, h.Engines, h.Models = slices.Sorted(maps.Keys(versions)), slices.Sorted(maps.Keys(engines)), slices.Sorted(maps.Keys(models))
	return h, nil
}

// JudgesHealth reads how each judge of a project did over some days back from
// today, UTC: 1..366, 0 means 30. Judges that did nothing are left out. Roles:
// lead, auditor, admin.
func (s *Store) JudgesHealth(ctx context.Context, a Actor, project string, days int) (_ map[string]Health, err error) {
	defer wrap(&err, "read the health of the judges of project %q", project)
	rows, err := s.readHealth(ctx, a, project, "", days)
	if err != nil {
		return nil, err
	}
	totals := map[string]sums{}
	for _, v := range rows {
		if totals[v.judge] == nil {
			totals[v.judge] = sums{}
		}
		totals[v.judge].add(v, v.inSum)
	}
	all := make(map[string]Health, len(totals))
	for name, total := range totals {
		all[name] = total.health()
	}
	return all, nil
}

// healthRow is a number of a judge's day, and whether the actor may be told it
// in a sum over all days, and alone.
type healthRow struct {
	dayMeasure
	n            int64
	inSum, alone bool
}

// readHealth reads the numbers of a judge, or of all where its name is empty.
func (s *Store) readHealth(ctx context.Context, a Actor, project, judgeName string, days int) ([]healthRow, error) {
	subject := "project:" + project
	if judgeName != "" {
		subject = "judge:" + judgeName
	}
	if err := s.authorise(ctx, a, readers, "judge.read", subject); err != nil {
		return nil, err
	}
	if days == 0 {
		days = 30
	}
	if days < 1 || days > 366 {
		return nil, invalid("days", "is %d: it lies between 1 and 366", days)
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	from := dayOf(s.clock().AddDate(0, 0, 1-days))
	told, err := s.healthBlocks(ctx, a, p.ID, judgeName, from)
	if err != nil {
		return nil, err
	}
	query, args := healthOf(`judge, day, prompt_version, engine, model, measure, n`, p.ID, judgeName, from)
	return collect(ctx, s.reader, func(r *sql.Rows, v *healthRow) error {
		err := r.Scan(&v.judge, &v.day, &v.version, &v.engine, &v.model, &v.measure, &v.n)
		v.inSum, v.alone = told.in(v.dayKey, from)
		return err
	}, query, args...)
}

// measureUntold counts the evaluations whose numbers are left out.
const measureUntold = "untold"

// sums are numbers by measure.
type sums map[string]int64

// add counts a number, or how many evaluations are left out.
func (m sums) add(v healthRow, told bool) {
	switch {
	case told:
		m[v.measure] += v.n
	case v.measure == measureEvaluations:
		m[measureUntold] += v.n
	}
}

func (m sums) health() Health {
	h := Health{
		Evaluations: m[measureEvaluations], Untold: m[measureUntold], Calls: m[measureCalls], Reports: m[measureReports], Repaired: m[measureRepaired],
		Repairs: m[measureRepairs], Invalid: m[measureInvalid], Failed: m[measureFailed], Refused: m[measureRefused], Undecided: m[measureUndecided],
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
