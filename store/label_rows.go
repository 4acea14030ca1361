package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// LabelRow is a human label, imported or decided here, with the design it was
// drawn by. Labels are never edited.
type LabelRow struct {
	ID           string `json:"id"`
	TraceID      string `json:"trace_id"` // the file's id
	Revision     int    `json:"revision"`
	Judge        string `json:"judge"`
	Source       string `json:"source"`   // imported or decision
	Reviewer     string `json:"reviewer"` // imported: the file's word; decision: the user's id
	ReviewerName string `json:"reviewer_name,omitempty"`
	DecisionID   string `json:"decision_id,omitempty"`
	EvaluationID string `json:"evaluation_id,omitempty"`
	// PromptVersion of the evaluation decided on; empty for imported labels.
	PromptVersion string          `json:"prompt_version,omitempty"`
	FirstVerdict  judge.Verdict   `json:"first_verdict"`
	FirstLabel    string          `json:"first_label"`
	Verdict       judge.Verdict   `json:"verdict"` // final
	Label         string          `json:"label"`
	Abstained     bool            `json:"abstained"`
	Findings      []judge.Finding `json:"findings"`
	Comment       string          `json:"comment,omitempty"`
	Adjudicated   bool            `json:"adjudicated"`
	// VerdictVisible says that the judge's verdict was known before the first
	// answer.
	VerdictVisible       bool      `json:"verdict_visible"`
	Stratum              string    `json:"stratum"`
	InclusionProbability *float64  `json:"inclusion_probability"` // in (0,1]; null: not known
	Cluster              string    `json:"cluster,omitempty"`
	At                   time.Time `json:"at"`
	// Withheld says why no figure counts the label: waits (its item is not
	// settled), over_quota or undone. Empty: it counts.
	Withheld string `json:"withheld,omitempty"`
}

const labelColumns = `l.id, tr.external_id, tr.revision, l.judge, l.source, l.reviewer, coalesce(u.name, ''), coalesce(l.decision_id, ''),
    coalesce(l.evaluation_id, ''), l.prompt_version, l.first_verdict, l.first_label, l.verdict, l.label, l.abstained, l.findings,
    l.comment, l.adjudicated, l.verdict_visible, l.stratum, l.inclusion_probability, l.cluster, l.labelled_at, coalesce(w.why, '')`

const labelTables = `labels l JOIN traces tr ON tr.id = l.trace_id
LEFT JOIN users u ON l.source = 'decision' AND u.id = l.reviewer
LEFT JOIN withheld_labels w ON w.label_id = l.id`

func scanLabel(rows *sql.Rows, l *LabelRow) error {
	var findings string
	if err := rows.Scan(&l.ID, &l.TraceID, &l.Revision, &l.Judge, &l.Source, &l.Reviewer, &l.ReviewerName, &l.DecisionID,
		&l.EvaluationID, &l.PromptVersion, &l.FirstVerdict, &l.FirstLabel, &l.Verdict, &l.Label, &l.Abstained, &findings,
		&l.Comment, &l.Adjudicated, &l.VerdictVisible, &l.Stratum, &l.InclusionProbability, &l.Cluster, &l.At, &l.Withheld); err != nil {
		return err
	}
	l.At = l.At.UTC()
	if err := json.Unmarshal([]byte(findings), &l.Findings); err != nil {
		return fmt.Errorf("the stored findings of label %s: %w", l.ID, err)
	}
	return nil
}

// labelsOf lists the labels of a judge on a revision of a trace that the actor
// may know, oldest first.
func labelsOf(ctx context.Context, q querier, a Actor, traceID, judgeName string) ([]LabelRow, error) {
	known := labelsFor(a)
	return collect(ctx, q, scanLabel, `
SELECT `+labelColumns+` FROM `+labelTables+`
WHERE l.trace_id = ? AND l.judge = ? AND `+known.sql+` ORDER BY l.labelled_at, l.id`, append([]any{traceID, judgeName}, known.args...)...)
}
