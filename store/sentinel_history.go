package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// sentinelHistory are the rounds of a sentinel set by one judge, model and version.
type sentinelHistory struct {
	set    string
	rounds []sentinelPast // the oldest first, those that are finished
	// first is the round that the others are held against: the first, or the first
	// after an alarm was closed.
	first   int // index in rounds; len(rounds): there is none
	begin   calibration.SentinelRepeat
	repeats []calibration.SentinelRepeat
	// again counts, in the last round, the items on which the judge says the same as in
	// its evaluation, of those that have one.
	same, again int
}

type sentinelPast struct {
	id                  string
	number              int
	startedAt, finished time.Time
}

// SentinelStand is how often a judge, model and version has judged its sentinel set.
type SentinelStand struct {
	Rounds int
	LastAt time.Time // when the last round ended
	// Same of Again items of the last round have the verdict that the judge's own
	// evaluation of the same trace has: test and retest.
	Same, Again int
}

func (h sentinelHistory) stand() *SentinelStand {
	return &SentinelStand{Rounds: len(h.rounds), LastAt: h.rounds[len(h.rounds)-1].finished.UTC(), Same: h.same, Again: h.again}
}

func (h sentinelHistory) monitor() (calibration.Monitor, error) {
	m, err := calibration.WatchSentinel(h.begin, h.repeats)
	if h.first < len(h.rounds) {
		m.Since = h.rounds[h.first].startedAt
	}
	return m, err
}

// sentinelHistories reads the newest set of each judge, or of one. Items that wait
// blind are left out, for everybody.
func sentinelHistories(ctx context.Context, q querier, projectID, judgeName string, alarms map[agreementGroup][]DriftAlarm) (map[agreementGroup]*sentinelHistory, error) {
	histories := map[agreementGroup]*sentinelHistory{}
	byRound := map[string]*sentinelHistory{}
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		g := agreementGroup{projectID: projectID}
		var set string
		var p sentinelPast
		if err := r.Scan(&set, &g.judge, &g.model, &g.version, &p.id, &p.number, &p.startedAt, &p.finished); err != nil {
			return err
		}
		h := histories[g]
		if h == nil {
			h = &sentinelHistory{set: set}
			histories[g] = h
		}
		h.rounds = append(h.rounds, p)
		byRound[p.id] = h
		return nil
	}, `
SELECT r.set_id, r.judge, r.model, r.prompt_version, r.id, r.number, r.started_at, r.finished_at
FROM sentinel_rounds r JOIN sentinel_sets s ON s.id = r.set_id
WHERE s.project_id = ? AND (? = '' OR s.judge = ?) AND r.finished_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM sentinel_sets n WHERE n.project_id = s.project_id AND n.judge = s.judge AND n.id > s.id)
ORDER BY r.number`, projectID, judgeName, judgeName)
	if err != nil || len(histories) == 0 {
		return histories, err
	}
	var firsts []any
	for g, h := range histories {
		from := since(DriftBaseline{ID: h.set}, alarms[g], calibration.MonitorSentinel)
		h.first = slices.IndexFunc(h.rounds, func(p sentinelPast) bool { return p.startedAt.After(from) })
		if h.first < 0 {
			h.first = len(h.rounds)
			continue
		}
		firsts = append(firsts, h.rounds[h.first].id)
	}
	if len(firsts) == 0 {
		return histories, nil
	}
	return histories, readRepeats(ctx, q, firsts, byRound)
}

// readRepeats counts how each round compares with the first of its series.
func readRepeats(ctx context.Context, q querier, firsts []any, byRound map[string]*sentinelHistory) error {
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		var round string
		var x calibration.SentinelRepeat
		var same, again int
		if err := r.Scan(&round, &x.N, &x.Right, &x.Worse, &x.Better, &same, &again); err != nil {
			return err
		}
		h := byRound[round]
		h.same, h.again = same, again
		if h.rounds[h.first].id == round {
			h.begin = x
		} else {
			h.repeats = append(h.repeats, x)
		}
		return nil
	}, `
WITH firsts (id) AS (VALUES `+strings.TrimSuffix(strings.Repeat("(CAST(? AS TEXT)), ", len(firsts)), ", ")+`)
SELECT x.id, count(*), sum(x.is_right), sum(x.was_right * (1 - x.is_right)), sum((1 - x.was_right) * x.is_right),
    sum(CASE WHEN x.evaluated = x.verdict THEN 1 ELSE 0 END), count(x.evaluated)
FROM (
    SELECT r.id, r.number, y.verdict, CASE WHEN y.verdict = c.verdict THEN 1 ELSE 0 END AS is_right, CASE WHEN b.verdict = c.verdict THEN 1 ELSE 0 END AS was_right,
        (SELECT e.verdict FROM evaluations e WHERE e.trace_id = y.trace_id AND e.judge = r.judge AND `+raterOf("e")+` = r.model
            AND e.prompt_version = r.prompt_version AND e.verdict <> '' ORDER BY e.id LIMIT 1) AS evaluated
    FROM firsts
    JOIN sentinel_rounds f ON f.id = firsts.id
    JOIN sentinel_sets s ON s.id = f.set_id
    JOIN sentinel_rounds r ON r.set_id = f.set_id AND r.model = f.model AND r.prompt_version = f.prompt_version AND r.number >= f.number AND r.finished_at IS NOT NULL
    JOIN sentinel_results y ON y.round_id = r.id AND y.verdict <> ''
    JOIN sentinel_results b ON b.round_id = f.id AND b.trace_id = y.trace_id AND b.verdict <> ''
    JOIN consensus c ON c.project_id = s.project_id AND c.judge = r.judge AND c.trace_id = y.trace_id AND NOT c.abstained AND NOT c.tied AND c.verdict <> ''
    WHERE NOT EXISTS (SELECT 1 FROM evaluations w WHERE w.trace_id = y.trace_id AND w.judge = r.judge AND w.sealed)
) AS x
GROUP BY x.id, x.number ORDER BY x.number`, firsts...)
	return err
}
