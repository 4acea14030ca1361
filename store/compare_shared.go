package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// timesRead bounds how many traces the quantiles of the time are taken over: the
// newest of those that were judged by all.
const timesRead = 10_000

// Effort is what judging took. Recorded reports cost this database nothing and took
// no time that it knows, so they are in N only.
type Effort struct {
	N        int     `json:"n"`              // evaluations
	Shadow   int     `json:"shadow"`         // of them, those that were made in the shadow of another one
	Asked    int     `json:"asked"`          // of them, those that an engine was asked for here
	CostUSD  float64 `json:"cost_usd"`       // of Asked, all rounds
	Unpriced int     `json:"unpriced_calls"` // of models whose price is not known; not in CostUSD
	Repairs  int     `json:"repairs"`        // reports sent back for a failed check
	Retries  int     `json:"retries"`        // calls that had to be made again
	// MedianMS and P95MS are of the Timed newest that were asked, in milliseconds;
	// 0 when Timed is 0.
	MedianMS int64 `json:"latency_median_ms"`
	P95MS    int64 `json:"latency_p95_ms"`
	Timed    int   `json:"timed"`
}

// readShared counts the traces that all judged by what the first two said, and what
// each took for them.
func (on sameTraces) readShared(ctx context.Context, q querier, c *Compared) error {
	from, args := on.from("", "")
	sums := ""
	for i := range on.who {
		e := fmt.Sprintf("e%d", i)
		sums += `,
    sum(CASE WHEN ` + e + `.shadow_of <> '' THEN 1 ELSE 0 END), sum(CASE WHEN ` + e + `.engine <> 'recorded' THEN 1 ELSE 0 END), sum(` + e + `.cost_usd), sum(` + e + `.unpriced), sum(` + e + `.repairs), sum(` + e + `.transport_retries)`
	}
	type counted struct {
		VerdictPair
		waits int
		took  []Effort
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *counted) error {
		v.took = make([]Effort, len(on.who))
		into := []any{&v.First, &v.Second, &v.waits, &v.N}
		for i := range v.took {
			t := &v.took[i]
			into = append(into, &t.Shadow, &t.Asked, &t.CostUSD, &t.Unpriced, &t.Repairs, &t.Retries)
		}
		return r.Scan(into...)
	}, `
SELECT e0.verdict, e1.verdict, CASE WHEN `+on.waits()+` THEN 1 ELSE 0 END, count(*)`+sums+from+`
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, slices.Concat(on.waiting.args, args)...)
	c.Effort = make([]Effort, len(on.who))
	for _, v := range rows {
		if v.waits == 1 {
			c.Withheld += v.N
			continue
		}
		c.Shared += v.N
		c.Pairs = append(c.Pairs, v.VerdictPair)
		for i, t := range v.took {
			all := &c.Effort[i]
			all.N += v.N
			all.Shadow += t.Shadow
			all.Asked += t.Asked
			all.CostUSD += t.CostUSD
			all.Unpriced += t.Unpriced
			all.Repairs += t.Repairs
			all.Retries += t.Retries
		}
	}
	return err
}

// readTimes takes the quantiles of how long each took.
func (on sameTraces) readTimes(ctx context.Context, q querier, c *Compared) error {
	from, args := on.from("", "")
	columns := ""
	for i := range on.who {
		if i > 0 {
			columns += ", "
		}
		columns += fmt.Sprintf("CASE WHEN e%d.engine <> 'recorded' THEN e%d.latency_ms ELSE -1 END", i, i)
	}
	times := make([][]int64, len(on.who))
	args = slices.Concat(args, on.waiting.args, []any{timesRead})
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		row, into := make([]int64, len(on.who)), make([]any, len(on.who))
		for i := range row {
			into[i] = &row[i]
		}
		err := r.Scan(into...)
		for i, ms := range row {
			if ms >= 0 {
				times[i] = append(times[i], ms)
			}
		}
		return err
	}, `SELECT `+columns+from+` AND NOT `+on.waits()+` ORDER BY e0.id DESC LIMIT ?`, args...)
	for i, of := range times {
		if len(of) == 0 {
			continue
		}
		slices.Sort(of)
		c.Effort[i].Timed = len(of)
		c.Effort[i].MedianMS, c.Effort[i].P95MS = nearestRank(of, 50), nearestRank(of, 95)
	}
	return err
}

// nearestRank is the least value that at least p of a hundred do not exceed.
func nearestRank(sorted []int64, p int) int64 {
	return sorted[max(0, (len(sorted)*p+99)/100-1)]
}

// commonScale is the labels of all the compared versions, where they are the same. A
// version that was stored without labels was judged on the scale in use.
func commonScale(ctx context.Context, q querier, projectID, judgeName string, who []calibration.Competitor) (labels []judge.Label, ordinal bool, err error) {
	type row struct {
		version string
		current bool
		label   judge.Label
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *row) error {
		return r.Scan(&v.version, &v.current, &v.label.Name, &v.label.Verdict, &v.label.Abstain)
	}, `
SELECT j.prompt_version, j.current, l.label, l.verdict, l.abstain FROM judges j
JOIN judge_labels l ON l.project_id = j.project_id AND l.judge = j.name AND l.prompt_version = j.prompt_version
WHERE j.project_id = ? AND j.name = ? ORDER BY j.prompt_version, l.position`, projectID, judgeName)
	if err != nil {
		return nil, false, err
	}
	of := map[string][]judge.Label{}
	present := ""
	for _, v := range rows {
		of[v.version] = append(of[v.version], v.label)
		if v.current {
			present = v.version
		}
	}
	for i, one := range who {
		scale := of[one.PromptVersion]
		if scale == nil {
			scale = of[present]
		}
		if i > 0 && !slices.Equal(scale, labels) {
			return nil, false, nil
		}
		labels = scale
	}
	err = q.QueryRowContext(ctx, `SELECT ordinal FROM judges WHERE project_id = ? AND name = ? AND current`, projectID, judgeName).Scan(&ordinal)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return labels, ordinal, err
}
