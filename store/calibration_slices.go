package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/countersign/countersign/judge/calibration"
)

// countedSlice counts labels of a model and version that share a value of a
// dimension, and both answers.
type countedSlice struct {
	model, version, dimension, value string
	cell                             calibration.Cell
}

func scanSlice(r *sql.Rows, s *countedSlice) error {
	var flags int
	err := r.Scan(&s.model, &s.version, &s.dimension, &s.value, &s.cell.Judge.Label, &s.cell.Judge.Verdict,
		&s.cell.Human.Label, &s.cell.Human.Verdict, &flags, &s.cell.N)
	s.cell.Human.Abstained = flags&flagAbstained != 0
	s.cell.Adjudicated = flags&flagAdjudicated != 0
	return err
}

// keptSlices reads the slices of a judge; those of what waits blind only when
// waiting is set. Who may decide does without them, also where they have answered:
// a slice is often of a few items.
func keptSlices(ctx context.Context, q querier, projectID, judgeName string, waiting bool) ([]countedSlice, error) {
	return collect(ctx, q, scanSlice, `
SELECT c.model, c.prompt_version, s.dimension, s.value, c.judge_label, c.judge_verdict, c.human_label, c.human_verdict, c.flags, sum(s.n)
FROM agreement_cells c JOIN agreement_slices s ON s.cell = c.id
WHERE c.project_id = ? AND c.judge = ? AND c.n > 0 AND (? OR NOT c.waiting)
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9 HAVING sum(s.n) > 0`, projectID, judgeName, waiting)
}

// countSlices counts over every evaluation what keptSlices reads.
func countSlices(ctx context.Context, q querier, projectID, judgeName string, waiting bool) (all []countedSlice, err error) {
	for _, by := range []struct{ dimension, value, join, where string }{
		{calibration.ByDomain, "t.domain", "", ""},
		{calibration.ByStakes, "t.stakes", "", ""},
		{calibration.ByReason, "x.code", "JOIN (SELECT DISTINCT evaluation_id, code FROM evaluation_reasons) x ON x.evaluation_id = e.id", ""},
		{calibration.ByWeek, "COALESCE(CAST((e.labelled_us + 259200000000) / 604800000000 AS TEXT), '')", "", ""},
		{calibration.ByBand, `CASE WHEN e.score < 0.1 THEN '0' WHEN e.score < 0.2 THEN '1' WHEN e.score < 0.3 THEN '2' WHEN e.score < 0.4 THEN '3'
    WHEN e.score < 0.5 THEN '4' WHEN e.score < 0.6 THEN '5' WHEN e.score < 0.7 THEN '6' WHEN e.score < 0.8 THEN '7' WHEN e.score < 0.9 THEN '8' ELSE '9' END`,
			"", "AND e.score IS NOT NULL"},
	} {
		found, err := collect(ctx, q, scanSlice, `
SELECT `+raterOf("e")+`, e.prompt_version, '`+by.dimension+`', `+by.value+`, e.label, e.verdict, c.label, c.verdict,
    CASE WHEN c.abstained OR c.tied THEN 1 ELSE 0 END + CASE WHEN c.basis = 'adjudicated' THEN 4 ELSE 0 END, count(*)
FROM consensus c JOIN evaluations e ON e.trace_id = c.trace_id AND e.judge = c.judge JOIN traces t ON t.id = e.trace_id `+by.join+`
WHERE c.project_id = ? AND c.judge = ? AND NOT c.visible AND e.verdict <> '' AND e.shadow_of = '' `+by.where+`
  AND (? OR NOT EXISTS (SELECT 1 FROM reviews r WHERE r.evaluation_id = e.id AND `+blindly("r")+`))
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`, projectID, judgeName, waiting)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// slicesOf are those of one model and version, in order.
func (f agreement) slicesOf(model, version string) (counts []calibration.SliceCount) {
	for _, s := range f.slices {
		if s.model != model || s.version != version {
			continue
		}
		if n := len(counts); n == 0 || counts[n-1].Dimension != s.dimension || counts[n-1].Value != s.value {
			counts = append(counts, calibration.SliceCount{Dimension: s.dimension, Value: s.value})
		}
		last := &counts[len(counts)-1]
		last.Cells = append(last.Cells, s.cell)
	}
	return counts
}

func compareCountedSlices(a, b countedSlice) int {
	return cmp.Or(cmp.Compare(a.model, b.model), cmp.Compare(a.version, b.version), cmp.Compare(a.dimension, b.dimension), cmp.Compare(a.value, b.value),
		cmp.Compare(a.cell.Judge.Label, b.cell.Judge.Label), cmp.Compare(a.cell.Judge.Verdict, b.cell.Judge.Verdict),
		cmp.Compare(a.cell.Human.Label, b.cell.Human.Label), cmp.Compare(a.cell.Human.Verdict, b.cell.Human.Verdict),
		oneIf(a.cell.Human.Abstained)-oneIf(b.cell.Human.Abstained), oneIf(a.cell.Adjudicated)-oneIf(b.cell.Adjudicated))
}

func (f agreement) sortSlices() { slices.SortFunc(f.slices, compareCountedSlices) }
