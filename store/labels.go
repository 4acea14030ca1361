package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// recomputeConsensus brings the human side of agreement of these traces and
// this judge in step with their labels. Call it in the transaction that added
// the labels. Traces may repeat; those without labels that count have none.
//
// The rule: the newest adjudicated label; else the newest decision; else the
// most frequent of the imported labels, the newest of each reviewer counting
// once and labels without a reviewer counting each. Abstentions only win when
// there is nothing else. Labels are counted where every voter has one, else
// verdicts; two front runners make a tie, which has no verdict. Of every label
// the first answer counts: what was said before the judge's verdict was known.
// Withheld labels (withheld.go) count for nothing: of several opinions that agree
// it is the newest once the item is settled.
func recomputeConsensus(ctx context.Context, t *tx, projectID, judgeName string, traceIDs []string) error {
	scale, err := labelScale(ctx, t, projectID, judgeName)
	if err != nil {
		return err
	}
	rows := newBulk("consensus", consensusTail, "project_id", "judge", "trace_id", "basis", "verdict", "label", "abstained", "tied",
		"visible", "stratum", "inclusion_probability", "cluster", "labelled_at", "labels")
	err = inBatches(distinct(traceIDs), func(batch []string) error {
		said, err := votesOn(ctx, t, projectID, judgeName, batch, scale)
		if err != nil {
			return err
		}
		for _, id := range batch {
			if len(said[id]) == 0 {
				// All of its labels were taken back, or it never had any.
				if _, err := t.exec(ctx, `DELETE FROM consensus WHERE project_id = ? AND judge = ? AND trace_id = ?`, projectID, judgeName, id); err != nil {
					return err
				}
				continue
			}
			c := settle(said[id])
			rows.add(projectID, judgeName, id, c.tier.basis(), c.verdict, c.label, c.abstained, c.tied, c.visible, c.stratum,
				c.probability, c.cluster, c.at, c.labels)
		}
		return nil
	})
	if err == nil {
		err = rows.write(ctx, t)
	}
	if err != nil {
		return fmt.Errorf("recompute the consensus of judge %s on %d traces: %w", judgeName, len(traceIDs), err)
	}
	return nil
}

const consensusTail = `
ON CONFLICT (project_id, judge, trace_id) DO UPDATE SET basis = excluded.basis, verdict = excluded.verdict,
    label = excluded.label, abstained = excluded.abstained, tied = excluded.tied, visible = excluded.visible,
    stratum = excluded.stratum, inclusion_probability = excluded.inclusion_probability, cluster = excluded.cluster,
    labelled_at = excluded.labelled_at, labels = excluded.labels`

// tier orders the kinds of labels: the lowest that is there decides.
type tier int

const (
	tierAdjudicated tier = iota + 1
	tierDecision
	tierImported
)

func (n tier) basis() string { return [...]string{"", "adjudicated", "decision", "imported"}[n] }

// vote is a label as the consensus reads it.
type vote struct {
	id, reviewer   string
	tier           tier
	verdict, label string
	abstained      bool
	visible        bool
	stratum        string
	probability    sql.NullFloat64
	cluster        string
	at             time.Time
}

// meaning is what a label of a judge stands for.
type meaning struct {
	verdict string
	abstain bool
}

// labelScale is what labels mean, of every version: people labelled under each.
// Where versions differ the current one counts, else the newest.
func labelScale(ctx context.Context, q querier, projectID, judgeName string) (map[string]meaning, error) {
	scale := map[string]meaning{}
	rows, err := q.QueryContext(ctx, `
SELECT l.label, l.verdict, l.abstain FROM judge_labels l JOIN judges j ON j.project_id = l.project_id AND j.name = l.judge AND j.prompt_version = l.prompt_version
WHERE l.project_id = ? AND l.judge = ? ORDER BY j.current, j.created_at, j.id`, projectID, judgeName)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var m meaning
		if err := rows.Scan(&name, &m.verdict, &m.abstain); err != nil {
			return nil, err
		}
		scale[name] = m
	}
	return scale, rows.Err()
}

// votesOn reads every label on these traces, by trace, the newest first.
func votesOn(ctx context.Context, q querier, projectID, judgeName string, traceIDs []string, scale map[string]meaning) (map[string][]vote, error) {
	rows, err := q.QueryContext(ctx, `
SELECT l.trace_id, l.id, l.reviewer, l.source, l.adjudicated, l.first_verdict, l.first_label, l.verdict, l.label, l.abstained,
    l.verdict_visible, l.stratum, l.inclusion_probability, l.cluster, l.labelled_at
FROM labels l WHERE l.project_id = ? AND l.judge = ? AND l.trace_id IN (`+placeholders(len(traceIDs))+`) AND `+counted,
		slices.Concat([]any{projectID, judgeName}, anys(traceIDs))...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	said := map[string][]vote{}
	for rows.Next() {
		var v vote
		var trace, source, firstVerdict, firstLabel string
		var adjudicated bool
		if err := rows.Scan(&trace, &v.id, &v.reviewer, &source, &adjudicated, &firstVerdict, &firstLabel, &v.verdict, &v.label,
			&v.abstained, &v.visible, &v.stratum, &v.probability, &v.cluster, &v.at); err != nil {
			return nil, err
		}
		switch {
		case adjudicated:
			v.tier = tierAdjudicated
		case source == "decision":
			v.tier = tierDecision
		default:
			v.tier = tierImported
		}
		if !adjudicated {
			v.label = firstLabel
		}
		meant := scale[v.label]
		if !adjudicated || v.verdict == "" {
			v.verdict = cmp.Or(firstVerdict, meant.verdict)
		}
		v.abstained = v.abstained || meant.abstain
		said[trace] = append(said[trace], v)
	}
	for _, votes := range said {
		slices.SortFunc(votes, func(a, b vote) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.id, a.id)) })
	}
	return said, rows.Err()
}

// agreed is what the labels of a trace come to.
type agreed struct {
	vote
	tied   bool
	labels int
}

// settle applies the rule of recomputeConsensus to the labels of one trace,
// the newest first; there is at least one.
func settle(all []vote) agreed {
	voters := voting(all)
	byLabel := !slices.ContainsFunc(voters, func(v vote) bool { return v.label == "" })
	ballots := map[string]int{}
	most, tied := "", false
	for _, v := range voters {
		answer := v.answer(byLabel)
		ballots[answer]++
	}
	for answer, n := range ballots {
		switch {
		case n > ballots[most]:
			most, tied = answer, false
		case n == ballots[most] && answer != most:
			tied = true
		}
	}
	// What the label was drawn by is told from all who count, not from the
	// winners alone.
	c := agreed{vote: voters[0], tied: tied, labels: len(all)}
	for _, v := range voters[1:] {
		c.visible = c.visible || v.visible
		c.stratum, c.cluster = max(c.stratum, v.stratum), max(c.cluster, v.cluster)
		if v.probability.Valid && (!c.probability.Valid || v.probability.Float64 > c.probability.Float64) {
			c.probability = v.probability
		}
	}
	c.verdict, c.label = "", ""
	if !tied {
		c.verdict, c.label = common(voters, most, byLabel)
	}
	return c
}

func (v vote) answer(byLabel bool) string {
	if byLabel {
		return v.label
	}
	return v.verdict
}

// voting picks the labels that count: those of the lowest tier, without the
// abstentions where anybody has an opinion.
func voting(all []vote) []vote {
	top := slices.MinFunc(all, func(a, b vote) int { return cmp.Compare(a.tier, b.tier) }).tier
	var counted []vote
	heard := map[string]bool{}
	for _, v := range all {
		if v.tier != top || top != tierImported && len(counted) > 0 || v.reviewer != "" && heard[v.reviewer] {
			continue
		}
		heard[v.reviewer] = true
		counted = append(counted, v)
	}
	if slices.ContainsFunc(counted, func(v vote) bool { return !v.abstained }) {
		counted = slices.DeleteFunc(counted, func(v vote) bool { return v.abstained })
	}
	return counted
}

// common is the verdict and label of those who gave this answer. The label is
// empty where they gave several; by label, all of an answer share a verdict
// unless the file contradicts the scale.
func common(voters []vote, answer string, byLabel bool) (verdict, label string) {
	several := false
	for _, v := range voters {
		if v.answer(byLabel) != answer {
			continue
		}
		verdict = max(verdict, v.verdict)
		if v.label != "" {
			several = several || label != "" && label != v.label
			label = v.label
		}
	}
	if several {
		label = ""
	}
	return verdict, label
}
