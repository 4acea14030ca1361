package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"time"
)

// pairKey is all that traces of one cell of human pairs have in common.
type pairKey struct {
	projectID, judge string
	a, b             pairAnswer
	visible, waiting bool
}

type pairAnswer struct{ reviewer, label, verdict string }

func (k pairKey) id() int64 {
	return keyID(k.projectID, k.judge, k.a.reviewer, k.b.reviewer, k.a.label, k.a.verdict, k.b.label, k.b.verdict,
		strconv.FormatBool(k.visible), strconv.FormatBool(k.waiting))
}

// several is a trace with several labels by one judge's scale.
type several struct {
	projectID, judge, traceID string
	waiting                   bool // as what its pairs are counted
}

// pairLabel is a label as far as pairs look at it.
type pairLabel struct {
	id, judge, traceID     string
	answer                 pairAnswer
	adjudicated, abstained bool
	visible                bool
	at                     time.Time
	counts                 bool
}

// addPairs moves the pairs of people on the traces to where they count now:
// new labels make pairs and end others, and pairs wait as long as an evaluation
// of the trace does.
func (t *tx) addPairs(ctx context.Context, traces []string, evaluations []*countedEvaluation) error {
	traces = slices.DeleteFunc(slices.Clone(traces), func(id string) bool { return t.made[id] && t.given[id] < 2 })
	if len(traces) == 0 {
		return nil
	}
	found, err := collect(ctx, t, func(r *sql.Rows, v *several) error { return r.Scan(&v.projectID, &v.judge, &v.traceID, &v.waiting) }, `
SELECT project_id, judge, trace_id, pairs_waiting FROM consensus
WHERE trace_id IN (`+placeholders(len(traces))+`) AND labels > 1 ORDER BY project_id, judge, trace_id`, anys(traces)...)
	if err != nil {
		return err
	}
	if found = t.withThinned(found, traces); len(found) == 0 {
		return nil
	}
	waiting := map[string]bool{}
	for _, e := range evaluations {
		if e.shadowOf == "" && (e.is.sealed || e.pending()) {
			waiting[e.traceID] = true
		}
	}
	labels, err := t.labelsOfPairs(ctx, found)
	if err != nil {
		return err
	}
	for _, on := range found {
		all := labels[tracedJudge{on.traceID, on.judge}]
		before := slices.DeleteFunc(slices.Clone(all), func(l pairLabel) bool { return t.recounts.all || t.recounts.labels[l.id] })
		given := slices.DeleteFunc(all, func(l pairLabel) bool { return t.recounts.ended[l.id] })
		now := waiting[on.traceID]
		if slices.Equal(before, given) && now == on.waiting {
			continue
		}
		for _, k := range pairsOf(on, before, on.waiting) {
			t.counts.pairs[k]--
		}
		for _, k := range pairsOf(on, given, now) {
			t.counts.pairs[k]++
		}
		if now == on.waiting {
			continue
		}
		if _, err := t.exec(ctx, `UPDATE consensus SET pairs_waiting = ? WHERE project_id = ? AND judge = ? AND trace_id = ?`,
			now, on.projectID, on.judge, on.traceID); err != nil {
			return err
		}
	}
	return nil
}

// withThinned adds the traces on which labels ended: they may have fewer than two
// left, or none.
func (t *tx) withThinned(found []several, traces []string) []several {
	for _, on := range t.recounts.thinned {
		known := func(v several) bool {
			return v.traceID == on.traceID && v.judge == on.judge && v.projectID == on.projectID
		}
		if slices.Contains(traces, on.traceID) && !slices.ContainsFunc(found, known) {
			found = append(found, on)
		}
	}
	return found
}

func (t *tx) labelsOfPairs(ctx context.Context, on []several) (map[tracedJudge][]pairLabel, error) {
	var traces []string
	for _, v := range on {
		traces = append(traces, v.traceID)
	}
	traces = distinct(traces)
	labels, err := collect(ctx, t, func(r *sql.Rows, l *pairLabel) error {
		return r.Scan(&l.id, &l.judge, &l.traceID, &l.answer.reviewer, &l.answer.label, &l.answer.verdict,
			&l.adjudicated, &l.abstained, &l.visible, &l.at, &l.counts)
	}, `
SELECT l.id, l.judge, l.trace_id, l.reviewer, l.first_label, l.first_verdict, l.adjudicated, l.abstained, l.verdict_visible, l.labelled_at,
    `+counted+`
FROM labels l WHERE l.trace_id IN (`+placeholders(len(traces))+`) AND l.reviewer <> '' AND NOT l.adjudicated`, anys(traces)...)
	by := map[tracedJudge][]pairLabel{}
	for _, l := range labels {
		if !l.counts && !t.recounts.ended[l.id] {
			continue
		}
		k := tracedJudge{l.traceID, l.judge}
		by[k] = append(by[k], l)
	}
	return by, err
}

// pairsOf are the pairs among the labels of a trace: the newest of each
// reviewer, abstentions left out.
func pairsOf(on several, labels []pairLabel, waiting bool) (pairs []pairKey) {
	newest := map[string]pairLabel{}
	for _, l := range labels {
		n, ok := newest[l.answer.reviewer]
		if !ok || cmp.Or(l.at.Compare(n.at), cmp.Compare(l.id, n.id)) > 0 {
			newest[l.answer.reviewer] = l
		}
	}
	maps.DeleteFunc(newest, func(_ string, l pairLabel) bool { return l.abstained })
	people := slices.Sorted(maps.Keys(newest))
	for i, a := range people {
		for _, b := range people[i+1:] {
			x, y := newest[a], newest[b]
			pairs = append(pairs, pairKey{on.projectID, on.judge, x.answer, y.answer, x.visible || y.visible, waiting})
		}
	}
	return pairs
}

func (d *deltas) writePairs(ctx context.Context, t *tx) error {
	byID := make(map[int64]pairKey, len(d.pairs))
	for k, n := range d.pairs {
		if n != 0 {
			byID[k.id()] = k
		}
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		k := byID[id]
		if _, err := t.exec(ctx, `
INSERT INTO agreement_pairs (id, project_id, judge, a, b, a_label, a_verdict, b_label, b_verdict, visible, waiting, n)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET n = agreement_pairs.n + excluded.n`,
			id, k.projectID, k.judge, k.a.reviewer, k.b.reviewer, k.a.label, k.a.verdict, k.b.label, k.b.verdict, k.visible, k.waiting,
			d.pairs[k]); err != nil {
			return err
		}
	}
	return nil
}
