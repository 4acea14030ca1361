package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// CheckKeptCounts counts anew, over every row, all that is kept as a count, and
// names each difference. No problem: the kept counts are the real ones. It
// reads the whole database at one moment, some seconds for a million
// evaluations, and changes nothing.
func (s *Store) CheckKeptCounts(ctx context.Context) (problems []string, err error) {
	defer wrap(&err, "check the kept counts")
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	for _, check := range []func(context.Context, querier) ([]string, error){checkAgreement, checkRuns, checkRunReasons, checkSealed, checkTallies, checkDriftDays} {
		found, err := check(ctx, read)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

// checkAgreement compares what calibration reads, as auditors see it and as
// somebody who may decide and has answered nothing.
func checkAgreement(ctx context.Context, q querier) (problems []string, err error) {
	type named struct{ projectID, judge string }
	judges, err := collect(ctx, q, func(r *sql.Rows, n *named) error { return r.Scan(&n.projectID, &n.judge) }, `
SELECT project_id, judge FROM evaluations WHERE verdict <> '' AND shadow_of = '' UNION SELECT project_id, judge FROM consensus
UNION SELECT project_id, judge FROM agreement_cells UNION SELECT project_id, judge FROM agreement_pairs`)
	if err != nil {
		return nil, err
	}
	nobody := Actor{UserID: "-", Role: Lead}
	for _, n := range judges {
		for _, a := range []Actor{Operator("check"), nobody} {
			kept, err := keptAgreement(ctx, q, a, n.projectID, n.judge)
			if err != nil {
				return nil, err
			}
			counted, err := recountAgreement(ctx, q, a, n.projectID, n.judge)
			if err != nil {
				return nil, err
			}
			scale := judgeScale{name: n.judge}
			if k, c := kept.counts(scale, nil), counted.counts(scale, nil); !reflect.DeepEqual(k, c) {
				problems = append(problems, fmt.Sprintf("calibration of judge %s in project %s: kept %+v, counted %+v", n.judge, n.projectID, k, c))
			}
		}
	}
	return problems, nil
}

// checkRuns compares the counts of every run.
func checkRuns(ctx context.Context, q querier) ([]string, error) {
	return compareCounts(ctx, q, "run", `
SELECT run_id || ' ' || judge || ' ' || standing, n FROM run_counts WHERE n <> 0`, `
SELECT rt.run_id || ' ' || e.judge || ' ' || CASE
        WHEN e.status IN ('queued', 'judging') THEN 'pending' WHEN e.status = 'refused' THEN 'refused'
        WHEN e.status = 'in_review' AND e.lead_reason = 'judge_failed' THEN 'failed' WHEN e.status = 'in_review' THEN 'in_review'
        WHEN e.result_source <> '' THEN 'result:' || e.result_verdict ELSE 'other' END, count(*)
FROM run_traces rt JOIN evaluations e ON e.trace_id = rt.trace_id WHERE e.shadow_of = '' GROUP BY 1
UNION ALL
SELECT run_id || '  traces', count(*) FROM run_traces GROUP BY 1
UNION ALL
SELECT run_id || '  planned', count(*) FROM run_traces rt
WHERE EXISTS (SELECT 1 FROM evaluations e WHERE e.trace_id = rt.trace_id AND e.shadow_of = '') GROUP BY 1`)
}

// checkRunReasons compares the reasons of every run.
func checkRunReasons(ctx context.Context, q querier) ([]string, error) {
	return compareCounts(ctx, q, "reason in run", `
SELECT run_id || ' ' || judge || ' ' || code || CASE WHEN sealed THEN ' sealed' ELSE '' END, n FROM run_reasons WHERE n <> 0`, `
SELECT rt.run_id || ' ' || e.judge || ' ' || x.code || CASE WHEN e.sealed THEN ' sealed' ELSE '' END, count(DISTINCT e.id)
FROM run_traces rt JOIN evaluations e ON e.trace_id = rt.trace_id JOIN evaluation_reasons x ON x.evaluation_id = e.id WHERE e.shadow_of = '' GROUP BY 1
UNION ALL
SELECT rt.run_id || ' ' || e.judge || '  sealed', count(*) FROM run_traces rt JOIN evaluations e ON e.trace_id = rt.trace_id
WHERE e.sealed AND e.shadow_of = '' GROUP BY 1`)
}

// checkSealed counts the evaluations whose row is wrong about waiting blind.
func checkSealed(ctx context.Context, q querier) ([]string, error) {
	return compareCounts(ctx, q, "waiting blind", `
SELECT id, 1 FROM evaluations WHERE sealed`, `
SELECT r.evaluation_id, 1 FROM reviews r WHERE `+blindly("r")+`
UNION ALL
SELECT e.id, 1 FROM evaluations e JOIN reviews r ON r.evaluation_id = e.shadow_of WHERE e.shadow_of <> '' AND `+blindly("r"))
}

// checkTallies compares the counts of statuses and of the queue.
func checkTallies(ctx context.Context, q querier) ([]string, error) {
	return compareCounts(ctx, q, "tally", `
SELECT project_id || ' ' || kind || ' ' || name, n FROM tallies WHERE n <> 0`, `
SELECT project_id || ' status ' || CASE WHEN shadow_of <> '' AND status = 'final' THEN 'shadow' ELSE status END, count(*) FROM evaluations GROUP BY 1
UNION ALL
SELECT project_id || ' use ' || judge || ' ' || prompt_version, count(*) FROM evaluations GROUP BY 1
UNION ALL
SELECT project_id || ' queue ' || lead_reason || CASE WHEN blind THEN ':blind' ELSE ':visible' END, count(*) FROM reviews
WHERE state IN ('open', 'claimed', 'adjudication') GROUP BY 1
UNION ALL
SELECT project_id || ' queue_state adjudication', count(*) FROM reviews WHERE state = 'adjudication' GROUP BY 1`)
}

// compareCounts compares two queries that give names and numbers.
func compareCounts(ctx context.Context, q querier, what, keptQuery, countQuery string) (problems []string, err error) {
	read := func(query string) (map[string]int, error) {
		counts := map[string]int{}
		_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
			var name string
			var n int
			err := r.Scan(&name, &n)
			counts[name] = n
			return err
		}, query)
		return counts, err
	}
	kept, err := read(keptQuery)
	if err != nil {
		return nil, err
	}
	counted, err := read(countQuery)
	if err != nil {
		return nil, err
	}
	return compareKept(what, kept, counted, strings.Compare), nil
}

// compareKept names each number that is not kept as it was counted.
func compareKept[K comparable, N int | int64](what string, kept, counted map[K]N, order func(a, b K) int) (problems []string) {
	names := maps.Clone(counted)
	maps.Copy(names, kept)
	for _, name := range slices.SortedFunc(maps.Keys(names), order) {
		if kept[name] != counted[name] {
			problems = append(problems, fmt.Sprintf("%s %v: kept %d, counted %d", what, name, kept[name], counted[name]))
		}
	}
	return problems
}
