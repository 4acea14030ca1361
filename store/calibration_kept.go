package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"
)

// keptCell is a row of agreement_cells.
type keptCell struct {
	id int64
	countedGroup
	flags int
	alone bool
}

// keptAgreement reads the kept counts of one judge as an actor may know them.
// Who may decide gets what does not wait blind, and what waits but was answered
// by them or shown to them; that is added item by item.
func keptAgreement(ctx context.Context, q querier, a Actor, projectID, judgeName string) (f agreement, err error) {
	cells, err := keptCells(ctx, q, projectID, judgeName)
	if err != nil {
		return f, err
	}
	clusters, err := keptClusterCounts(ctx, q, projectID, judgeName)
	if err != nil {
		return f, err
	}
	if f.pairs, err = keptPairs(ctx, q, projectID, judgeName, !a.MayDecide()); err != nil {
		return f, err
	}
	if f.slices, err = keptSlices(ctx, q, projectID, judgeName, !a.MayDecide()); err != nil {
		return f, err
	}
	independent, sealed, waiting := map[agreementGroup]int{}, map[agreementGroup]int{}, map[agreementGroup]int{}
	for _, c := range cells {
		g := agreementGroup{projectID, judgeName, c.model, c.version}
		if c.waiting && a.MayDecide() {
			waiting[g] += c.cell.N
			if c.labelled {
				sealed[g] += c.cell.N
			}
			continue
		}
		f.groups = append(f.groups, c.countedGroup)
		if c.alone {
			independent[g] += c.cell.N
		}
	}
	for g, n := range clusters {
		if a.MayDecide() {
			independent[g] += n.free
		} else {
			independent[g] += n.all
		}
	}
	if a.MayDecide() {
		if err := f.addUnsealed(ctx, q, a, projectID, judgeName, cells, independent, sealed, waiting); err != nil {
			return f, err
		}
	}
	f.clusters, f.sealed, f.waiting = modelCounts(independent), modelCounts(sealed), modelCounts(waiting)
	draws, err := drawsOf(ctx, q, projectID, judgeName)
	f.drawn = draws.waiting()
	return f, err
}

func modelCounts(counts map[agreementGroup]int) (all []modelCount) {
	for _, g := range slices.SortedFunc(maps.Keys(counts), compareGroups) {
		if counts[g] != 0 {
			all = append(all, modelCount{g.model, g.version, counts[g]})
		}
	}
	return all
}

// keptCells reads the cells of a judge. The first and last label of a cell are
// the ends of its part of an index.
func keptCells(ctx context.Context, q querier, projectID, judgeName string) ([]keptCell, error) {
	cells, err := collect(ctx, q, func(r *sql.Rows, c *keptCell) error {
		var first, last sql.NullInt64
		err := r.Scan(&c.id, &c.model, &c.version, &c.cell.Judge.Label, &c.cell.Judge.Verdict, &c.cell.Human.Label, &c.cell.Human.Verdict,
			&c.flags, &c.stratum, &c.probability, &c.drawn, &c.waiting, &c.alone, &c.cell.N, &first, &last)
		c.setFlags(c.flags)
		c.first, c.last = labelledAt(first), labelledAt(last)
		return err
	}, `
SELECT c.id, c.model, c.prompt_version, c.judge_label, c.judge_verdict, c.human_label, c.human_verdict,
    c.flags, c.stratum, c.inclusion_probability, c.drawn, c.waiting, c.alone, c.n,
    (SELECT e.labelled_us FROM evaluations e WHERE e.cell = c.id AND e.labelled_us IS NOT NULL ORDER BY e.labelled_us LIMIT 1),
    (SELECT e.labelled_us FROM evaluations e WHERE e.cell = c.id AND e.labelled_us IS NOT NULL ORDER BY e.labelled_us DESC LIMIT 1)
FROM agreement_cells c WHERE c.project_id = ? AND c.judge = ? AND c.n > 0`, projectID, judgeName)
	if err != nil {
		return nil, err
	}
	draws, err := drawsOf(ctx, q, projectID, judgeName)
	for i := range cells {
		draws.apply(&cells[i].countedGroup)
	}
	return cells, err
}

func labelledAt(us sql.NullInt64) time.Time {
	if !us.Valid {
		return time.Time{}
	}
	return time.UnixMicro(us.Int64).UTC()
}

func keptClusterCounts(ctx context.Context, q querier, projectID, judgeName string) (map[agreementGroup]clusterCounts, error) {
	counts := map[agreementGroup]clusterCounts{}
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		g, n := agreementGroup{projectID: projectID, judge: judgeName}, clusterCounts{}
		err := r.Scan(&g.model, &g.version, &n.all, &n.free)
		counts[g] = n
		return err
	}, `
SELECT model, prompt_version, clusters, free_clusters FROM agreement_cluster_counts WHERE project_id = ? AND judge = ?`, projectID, judgeName)
	return counts, err
}

// keptPairs reads the pairs of people; those on traces that wait only when
// waiting is set.
func keptPairs(ctx context.Context, q querier, projectID, judgeName string, waiting bool) ([]countedPair, error) {
	return collect(ctx, q, func(r *sql.Rows, p *countedPair) error {
		return r.Scan(&p.a, &p.b, &p.cell.A.Label, &p.cell.A.Verdict, &p.cell.B.Label, &p.cell.B.Verdict, &p.cell.Visible, &p.cell.N)
	}, `
SELECT a, b, a_label, a_verdict, b_label, b_verdict, visible, sum(n) FROM agreement_pairs
WHERE project_id = ? AND judge = ? AND (? OR NOT waiting)
GROUP BY a, b, a_label, a_verdict, b_label, b_verdict, visible HAVING sum(n) > 0`, projectID, judgeName, waiting)
}

// unsealedItem is an evaluation that waits blind, and not for the actor.
type unsealedItem struct {
	traceID, judge string
	cell           int64
	clusterKey     int64
	labelledUS     sql.NullInt64
	freeSibling    bool // another one that calibration counts with it does not wait
}

// unsealedFor finds what waits in a blind review to which the actor has given a
// first answer, or whose verdict they had shown.
func unsealedFor(ctx context.Context, q querier, a Actor, projectID string) ([]unsealedItem, error) {
	// CROSS JOIN: SQLite, which has no statistics, begins with the few on the left.
	waitsBlind := `r.project_id = ? AND ` + blindly("r")
	return collect(ctx, q, func(r *sql.Rows, u *unsealedItem) error {
		return r.Scan(&u.traceID, &u.judge, &u.cell, &u.clusterKey, &u.labelledUS, &u.freeSibling)
	}, `
SELECT e.trace_id, e.judge, e.cell, e.cluster_key, e.labelled_us, EXISTS (SELECT 1 FROM evaluations o
    WHERE o.trace_id = e.trace_id AND o.judge = e.judge AND o.prompt_version = e.prompt_version AND `+raterOf("o")+` = `+raterOf("e")+`
      AND o.verdict <> '' AND o.shadow_of = '' AND NOT o.sealed)
FROM evaluations e WHERE e.id IN (
    SELECT r.evaluation_id FROM first_answers f CROSS JOIN reviews r WHERE f.user_id = ? AND r.id = f.review_id AND `+waitsBlind+`
    UNION
    SELECT r.evaluation_id FROM exposures x CROSS JOIN reviews r WHERE x.user_id = ? AND r.evaluation_id = x.evaluation_id AND `+waitsBlind+`
)`, a.UserID, projectID, a.UserID, projectID)
}

// addUnsealed adds to what does not wait blind what the actor has answered or
// seen already.
func (f *agreement) addUnsealed(ctx context.Context, q querier, a Actor, projectID, judgeName string, cells []keptCell,
	independent, sealed, waiting map[agreementGroup]int) error {
	items, err := unsealedFor(ctx, q, a, projectID)
	if err != nil || len(items) == 0 {
		return err
	}
	byID := make(map[int64]keptCell, len(cells))
	for _, c := range cells {
		byID[c.id] = c
	}
	type single struct {
		group agreementGroup
		trace string
	}
	singles, clusters := map[single]bool{}, map[int64]agreementGroup{}
	var traces []string
	for _, u := range items {
		traces = append(traces, u.traceID)
		if u.judge != judgeName || u.cell == 0 {
			continue
		}
		c, ok := byID[u.cell]
		if !ok {
			return fmt.Errorf("cell %d of an evaluation is not among the kept counts of judge %s: count them anew", u.cell, judgeName)
		}
		c.cell.N, c.first, c.last = 1, labelledAt(u.labelledUS), labelledAt(u.labelledUS)
		f.groups = append(f.groups, c.countedGroup)
		g := agreementGroup{projectID, judgeName, c.model, c.version}
		waiting[g]--
		if c.labelled {
			sealed[g]--
		}
		switch {
		case u.clusterKey != 0:
			clusters[u.clusterKey] = g
		case c.labelled && !c.cell.Visible && !u.freeSibling:
			singles[single{g, u.traceID}] = true
		}
	}
	for s := range singles {
		independent[s.group]++
	}
	if err := addClusters(ctx, q, clusters, independent); err != nil {
		return err
	}
	return inBatches(distinct(traces), func(batch []string) error {
		pairs, err := countPairs(ctx, q, a, projectID, judgeName, batch)
		f.addPairs(pairs)
		return err
	})
}

// addClusters counts the clusters that have no evaluation but those that wait.
func addClusters(ctx context.Context, q querier, clusters map[int64]agreementGroup, independent map[agreementGroup]int) error {
	for batch := range slices.Chunk(slices.Sorted(maps.Keys(clusters)), batchSize) {
		args := make([]any, len(batch))
		for i, id := range batch {
			args[i] = id
		}
		alone, err := collect(ctx, q, func(r *sql.Rows, id *int64) error { return r.Scan(id) }, `
SELECT id FROM agreement_clusters WHERE id IN (`+placeholders(len(batch))+`) AND free = 0`, args...)
		if err != nil {
			return err
		}
		for _, id := range alone {
			independent[clusters[id]]++
		}
	}
	return nil
}

// addPairs adds counts to those that are the same but for their number.
func (f *agreement) addPairs(pairs []countedPair) {
	for _, p := range pairs {
		same := func(x countedPair) bool { n := p.cell.N; x.cell.N = n; return x == p }
		if i := slices.IndexFunc(f.pairs, same); i >= 0 {
			f.pairs[i].cell.N += p.cell.N
		} else {
			f.pairs = append(f.pairs, p)
		}
	}
}
