package store

import (
	"context"
	"database/sql"
	"math"
	"strings"

	"github.com/countersign/countersign/judge/calibration"
)

// keepParts notes how many parts of the report a decision left as they were. Rulings
// that were made blind were held against nothing and are left out.
func (t *tx) keepParts(ctx context.Context, d Decision, in DecisionInput) error {
	if in.Compared == 0 || d.Action == Escalate || d.Action == CannotJudge {
		return nil
	}
	_, err := t.exec(ctx, `
INSERT INTO drift_parts (decision_id, project_id, judge, model, prompt_version, parts, changed, decided_us)
SELECT ?, e.project_id, e.judge, `+raterOf("e")+`, e.prompt_version, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS BIGINT) FROM evaluations e WHERE e.id = ?`,
		d.ID, in.Compared, min(in.Changed, in.Compared), d.At.UnixMicro(), d.EvaluationID)
	return err
}

// keptParts are decisions with rulings, each with the share that it left as it was.
type keptParts struct{ ruled, keptMicro, squareMicro int64 }

func (k keptParts) into(c *calibration.DriftCounts) {
	c.Ruled, c.KeptSum, c.KeptSquares = int(k.ruled), float64(k.keptMicro)/1e6, float64(k.squareMicro)/1e6
}

// readParts counts, for each span, decisions that count: those that were taken back,
// came too late or wait for others do not. The answers come in the order of the
// spans.
func readParts(ctx context.Context, q querier, spans []driftSpan) ([]keptParts, error) {
	counts := make([]keptParts, len(spans))
	if len(spans) == 0 {
		return counts, nil
	}
	var args []any
	for i, s := range spans {
		from := int64(math.MinInt64)
		if !s.from.IsZero() {
			from = s.from.UnixMicro()
		}
		args = append(args, i, s.group.projectID, s.group.judge, s.group.model, s.group.version, from)
	}
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		var i int
		var parts, changed float64
		var n int64
		if err := r.Scan(&i, &parts, &changed, &n); err != nil {
			return err
		}
		kept := (parts - changed) / parts
		counts[i].ruled += n
		counts[i].keptMicro += n * int64(math.Round(kept*1e6))
		counts[i].squareMicro += n * int64(math.Round(kept*kept*1e6))
		return nil
	}, `
WITH spans (i, project_id, judge, model, prompt_version, after) AS (VALUES `+
		strings.TrimSuffix(strings.Repeat("(CAST(? AS INTEGER), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT)), ", len(spans)), ", ")+`)
SELECT s.i, p.parts, p.changed, count(*)
FROM spans s
JOIN drift_parts p ON p.project_id = s.project_id AND p.judge = s.judge AND p.model = s.model AND p.prompt_version = s.prompt_version AND p.decided_us > s.after
WHERE NOT EXISTS (SELECT 1 FROM withheld_labels w WHERE w.decision_id = p.decision_id)
GROUP BY 1, 2, 3`, args...)
	return counts, err
}
