package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// countedEvaluation is an evaluation with all by which it is counted.
type countedEvaluation struct {
	id, traceID string
	group       agreementGroup
	shadowOf    string // the evaluation beside which it was made; empty: it counts
	label       string
	verdict     string
	status      judge.Status
	lead        string
	result      judge.Result
	score       sql.NullFloat64
	domain      string // of its trace
	stakes      string
	human       humanSide
	stored      countedAs // what its row says
	was, is     countedAs // was differs from stored where nothing counts it yet
	key         cellKey   // of is.cell
}

// agreementGroup is what calibration reports on.
type agreementGroup struct{ projectID, judge, model, version string }

// humanSide is the consensus on an evaluation's trace and judge.
type humanSide struct {
	labelled                       bool
	label, verdict, basis, stratum string
	abstained, tied, visible       bool
	probability                    sql.NullFloat64
	drawn                          int // draws of labels that the probability has in it, by number
	cluster                        string
	at                             sql.NullTime
}

// countedAs is what an evaluation's row says it is counted as.
type countedAs struct {
	standing   string
	sealed     bool
	cell       int64
	clusterKey int64
	labelledUS sql.NullInt64
	reasons    int // bits of reasonBits
	sliced     int
}

func (e *countedEvaluation) pending() bool {
	return e.status == judge.Queued || e.status == judge.Judging
}

// readCounted reads every evaluation of the traces, and works out what it
// counts as now.
func (t *tx) readCounted(ctx context.Context, traces []string) ([]*countedEvaluation, error) {
	if len(traces) == 0 {
		return nil, nil
	}
	evaluations, err := collect(ctx, t, scanCounted, `
SELECT e.id, e.trace_id, e.shadow_of, e.project_id, e.judge, `+raterOf("e")+`, e.prompt_version, e.label, e.verdict, e.status, e.lead_reason,
    e.result_verdict, e.result_source, e.standing, e.sealed, e.cell, e.cluster_key, e.labelled_us,
    e.reasons, e.reasons_counted, e.sliced, e.score, t.domain, t.stakes
FROM evaluations e JOIN traces t ON t.id = e.trace_id WHERE e.trace_id IN (`+placeholders(len(traces))+`)`, anys(traces)...)
	if err != nil {
		return nil, err
	}
	if err := t.readSides(ctx, traces, evaluations); err != nil {
		return nil, err
	}
	first := map[string]*countedEvaluation{} // that counts for its trace, of those with the same judge, model and version
	for _, e := range evaluations {
		if e.was = e.stored; t.recounts.all || t.recounts.fresh[e.id] != nil {
			e.was = countedAs{}
		}
		if e.countsAlone() {
			name := strings.Join([]string{e.traceID, e.group.judge, e.group.model, e.group.version}, "\x00")
			if f := first[name]; f == nil || f.is.sealed && !e.is.sealed || f.is.sealed == e.is.sealed && e.id < f.id {
				first[name] = e
			}
		}
	}
	alone := make(map[*countedEvaluation]bool, len(first))
	for _, e := range first {
		alone[e] = true
	}
	for _, e := range evaluations {
		e.settle(alone[e])
	}
	return evaluations, nil
}

func scanCounted(r *sql.Rows, into **countedEvaluation) error {
	e := &countedEvaluation{}
	*into = e
	return r.Scan(&e.id, &e.traceID, &e.shadowOf, &e.group.projectID, &e.group.judge, &e.group.model, &e.group.version, &e.label, &e.verdict, &e.status,
		&e.lead, &e.result.Verdict, &e.result.Source, &e.stored.standing, &e.stored.sealed, &e.stored.cell, &e.stored.clusterKey,
		&e.stored.labelledUS, &e.is.reasons, &e.stored.reasons, &e.stored.sliced, &e.score, &e.domain, &e.stakes)
}

// readSides adds to evaluations whether they wait blind, and what people said.
func (t *tx) readSides(ctx context.Context, traces []string, evaluations []*countedEvaluation) error {
	byID := make(map[string]*countedEvaluation, len(evaluations))
	for _, e := range evaluations {
		byID[e.id] = e
	}
	sealed, err := collect(ctx, t, scanID, `
SELECT r.evaluation_id FROM reviews r
WHERE r.trace_id IN (`+placeholders(len(traces))+`) AND `+blindly("r"), anys(traces)...)
	if err != nil {
		return err
	}
	for _, id := range sealed {
		byID[id].is.sealed = true
	}
	for _, e := range evaluations {
		if live := byID[e.shadowOf]; live != nil {
			e.is.sealed = live.is.sealed
		}
	}
	type side struct {
		evaluation string
		humanSide
	}
	sides, err := collect(ctx, t, func(r *sql.Rows, s *side) error {
		s.labelled = true
		return r.Scan(&s.evaluation, &s.label, &s.verdict, &s.basis, &s.stratum, &s.abstained, &s.tied, &s.visible, &s.probability,
			&s.cluster, &s.at, &s.drawn)
	}, `
SELECT e.id, c.label, c.verdict, c.basis, c.stratum, c.abstained, c.tied, c.visible, c.inclusion_probability, c.cluster, c.labelled_at, `+drawnBefore("e")+`
FROM evaluations e CROSS JOIN consensus c
WHERE e.trace_id IN (`+placeholders(len(traces))+`) AND e.verdict <> ''
  AND c.project_id = e.project_id AND c.judge = e.judge AND c.trace_id = e.trace_id`, anys(traces)...)
	for _, s := range sides {
		byID[s.evaluation].human = s.humanSide
	}
	return err
}

// madeCounted are the evaluations of those of the traces that this transaction
// made, as they were written.
func (t *tx) madeCounted(traces []string) (evaluations []*countedEvaluation) {
	of := map[string]bool{}
	for _, id := range traces {
		of[id] = t.made[id]
	}
	for _, e := range t.fresh {
		if of[e.traceID] {
			e.is.standing = e.standing()
			evaluations = append(evaluations, e)
		}
	}
	return evaluations
}

// countsInClusters says whether an evaluation is one of the items whose
// independence calibration tells.
func (e *countedEvaluation) countsInClusters() bool {
	return e.shadowOf == "" && e.verdict != "" && e.human.labelled && !e.human.visible
}

func (e *countedEvaluation) countsAlone() bool { return e.countsInClusters() && e.human.cluster == "" }

// settle works out what the evaluation counts as. alone says that it is a
// cluster of its own.
func (e *countedEvaluation) settle(alone bool) {
	e.is.standing = e.standing()
	if e.verdict == "" || e.shadowOf != "" {
		return
	}
	e.key = cellKey{group: e.group, judgeLabel: e.label, judgeVerdict: e.verdict, humanLabel: e.human.label,
		humanVerdict: e.human.verdict, flags: e.human.flags(), stratum: e.human.stratum, probability: e.human.probability, drawn: e.human.drawn,
		waiting: e.is.sealed, alone: alone}
	e.is.cell = e.key.id()
	if e.human.labelled {
		e.is.labelledUS = sql.NullInt64{Int64: e.human.at.Time.UnixMicro(), Valid: true}
	}
	if e.countsInClusters() {
		e.is.sliced = slicedBy(e.score)
	}
	if e.countsInClusters() && e.human.cluster != "" {
		e.is.clusterKey = e.group.clusterID(e.human.cluster)
	}
}

// standing is as what the evaluation counts in its runs.
func (e *countedEvaluation) standing() string {
	switch {
	case e.pending():
		return standingPending
	case e.status == judge.Refused:
		return standingRefused
	case e.status == judge.InReview && e.lead == judge.ReasonJudgeFailed:
		return standingFailed
	case e.status == judge.InReview:
		return standingInReview
	case e.result.Source != "":
		return standingResult + string(e.result.Verdict)
	}
	return standingOther
}

// Bits of the flags of a cell.
const (
	flagAbstained = 1 << iota
	flagVisible
	flagAdjudicated
)

// unlabelled are the flags of a cell without a human answer.
const unlabelled = -1

func (h humanSide) flags() (flags int) {
	if !h.labelled {
		return unlabelled
	}
	if h.abstained || h.tied {
		flags |= flagAbstained
	}
	if h.visible {
		flags |= flagVisible
	}
	if h.basis == "adjudicated" {
		flags |= flagAdjudicated
	}
	return flags
}

// countedRows is how many rows one statement changes: a text for each number
// of rows is prepared and kept.
const countedRows = 50

// writeCounted writes into the rows what they count as now.
func (t *tx) writeCounted(ctx context.Context, evaluations []*countedEvaluation) error {
	changed := slices.DeleteFunc(slices.Clone(evaluations), func(e *countedEvaluation) bool { return e.is == e.stored })
	for rows := range slices.Chunk(changed, countedRows) {
		values := strings.TrimSuffix(strings.Repeat("(?, CAST(? AS TEXT), CAST(? AS BOOLEAN), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS INTEGER), CAST(? AS INTEGER)), ", len(rows)), ", ")
		var args []any
		for _, e := range rows {
			args = append(args, e.id, e.is.standing, e.is.sealed, e.is.cell, e.is.clusterKey, e.is.labelledUS, e.is.reasons, e.is.sliced)
		}
		if _, err := t.exec(ctx, `
WITH counted (id, standing, sealed, cell, cluster_key, labelled_us, reasons, sliced) AS (VALUES `+values+`)
UPDATE evaluations SET standing = counted.standing, sealed = counted.sealed, cell = counted.cell,
    cluster_key = counted.cluster_key, labelled_us = counted.labelled_us, reasons_counted = counted.reasons,
    sliced = counted.sliced
FROM counted WHERE evaluations.id = counted.id`, args...); err != nil {
			return err
		}
	}
	return nil
}
