package store

import (
	"context"
	"fmt"
	"slices"
)

// recomputeConsensus brings the human side of agreement of these traces and
// this judge in step with their labels. Call it in the transaction that added
// the labels. Traces may repeat; those without labels are left alone.
//
// The rule: the newest adjudicated label; else the newest decision; else the
// most frequent of the imported labels, the newest of each reviewer counting
// once and labels without a reviewer counting each. Abstentions only win when
// there is nothing else. Labels are counted where every voter has one, else
// verdicts; two front runners make a tie, which has no verdict. Of every label
// the first answer counts: what was said before the judge's verdict was known.
func recomputeConsensus(ctx context.Context, t *tx, projectID, judgeName string, traceIDs []string) error {
	return inBatches(distinct(traceIDs), func(batch []string) error {
		args := slices.Concat([]any{projectID, judgeName}, anys(batch), []any{projectID, judgeName})
		if _, err := t.exec(ctx, consensusSQL(len(batch)), args...); err != nil {
			return fmt.Errorf("recompute the consensus of judge %s on %d traces: %w", judgeName, len(batch), err)
		}
		return nil
	})
}

// consensusSQL settles n traces at once. Its steps: given = the labels with
// their tier; newest = which of them is the reviewer's last word, and which the
// last word at all; voters = those that count; ballots = how often each answer
// was given; ranked = the ballots of a trace in order.
func consensusSQL(n int) string {
	return `
WITH given AS (
    SELECT l.trace_id, l.id, l.reviewer, l.verdict_visible, l.stratum, l.inclusion_probability, l.cluster, l.labelled_at,
        CASE WHEN l.adjudicated THEN 1 WHEN l.source = 'decision' THEN 2 ELSE 3 END AS tier,
        CASE WHEN l.adjudicated AND l.verdict <> '' THEN l.verdict WHEN l.first_verdict <> '' THEN l.first_verdict
            ELSE COALESCE(s.verdict, '') END AS verdict,
        CASE WHEN l.adjudicated THEN l.label ELSE l.first_label END AS label,
        CASE WHEN l.abstained OR COALESCE(s.abstain, FALSE) THEN 1 ELSE 0 END AS abstained
    FROM labels l
    LEFT JOIN judge_labels s ON s.project_id = l.project_id AND s.judge = l.judge AND s.label = CASE WHEN l.adjudicated THEN l.label ELSE l.first_label END
    WHERE l.project_id = ? AND l.judge = ? AND l.trace_id IN (` + placeholders(n) + `)
), newest AS (
    SELECT given.*,
        min(tier) OVER (PARTITION BY trace_id) AS top,
        count(*) OVER (PARTITION BY trace_id) AS labels,
        row_number() OVER (PARTITION BY trace_id, tier ORDER BY labelled_at DESC, id DESC) AS last_word,
        row_number() OVER (PARTITION BY trace_id, tier, CASE WHEN reviewer = '' THEN id ELSE reviewer END
            ORDER BY labelled_at DESC, id DESC) AS own_last_word
    FROM given
), counted AS (
    SELECT newest.*, min(abstained) OVER (PARTITION BY trace_id) AS all_abstained
    FROM newest
    WHERE tier = top AND CASE WHEN tier = 3 THEN own_last_word = 1 ELSE last_word = 1 END
), voters AS (
    SELECT counted.*, min(CASE WHEN label = '' THEN 0 ELSE 1 END) OVER (PARTITION BY trace_id) AS all_labelled
    FROM counted
    WHERE abstained = all_abstained
), ballots AS (
    SELECT trace_id, CASE WHEN all_labelled = 1 THEN label ELSE verdict END AS answer, count(*) AS votes,
        max(tier) AS tier, max(verdict) AS verdict, max(abstained) AS abstained, max(labels) AS labels,
        CASE WHEN min(NULLIF(label, '')) = max(label) THEN max(label) ELSE '' END AS label
    FROM voters
    GROUP BY trace_id, CASE WHEN all_labelled = 1 THEN label ELSE verdict END
), ranked AS (
    SELECT ballots.*,
        row_number() OVER (PARTITION BY trace_id ORDER BY votes DESC, answer) AS place,
        lead(votes) OVER (PARTITION BY trace_id ORDER BY votes DESC, answer) AS next_votes
    FROM ballots
), about AS (
    SELECT trace_id, max(CASE WHEN verdict_visible THEN 1 ELSE 0 END) AS visible, max(stratum) AS stratum,
        max(inclusion_probability) AS inclusion_probability, max(cluster) AS cluster, max(labelled_at) AS labelled_at
    FROM voters
    GROUP BY trace_id
)
INSERT INTO consensus (project_id, judge, trace_id, basis, verdict, label, abstained, tied, visible, stratum,
    inclusion_probability, cluster, labelled_at, labels)
SELECT ?, ?, r.trace_id,
    CASE r.tier WHEN 1 THEN 'adjudicated' WHEN 2 THEN 'decision' ELSE 'imported' END,
    CASE WHEN r.next_votes = r.votes THEN '' ELSE r.verdict END,
    CASE WHEN r.next_votes = r.votes THEN '' ELSE r.label END,
    r.abstained = 1, COALESCE(r.next_votes = r.votes, FALSE), a.visible = 1, a.stratum,
    a.inclusion_probability, a.cluster, a.labelled_at, r.labels
FROM ranked r JOIN about a ON a.trace_id = r.trace_id
WHERE r.place = 1
ON CONFLICT (project_id, judge, trace_id) DO UPDATE SET basis = excluded.basis, verdict = excluded.verdict,
    label = excluded.label, abstained = excluded.abstained, tied = excluded.tied, visible = excluded.visible,
    stratum = excluded.stratum, inclusion_probability = excluded.inclusion_probability, cluster = excluded.cluster,
    labelled_at = excluded.labelled_at, labels = excluded.labels`
}
