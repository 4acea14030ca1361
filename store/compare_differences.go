package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// differencesShown bounds the list of what two judges differ on.
const differencesShown = 50

// weight orders differences by what they cost. With a label: one of the two passes
// what people fail, then fails what people pass, then anything else. Without: one
// passes what the other fails, then one step between.
func (c ComparedTrace) weight() int {
	first, second := c.Judges[0].Verdict, c.Judges[1].Verdict
	says := func(v judge.Verdict) bool { return first == v || second == v }
	answered := c.Labelled && !c.Human.Abstained
	switch {
	case answered && c.Human.Verdict == judge.Fail && says(judge.Pass):
		return 5
	case answered && c.Human.Verdict == judge.Pass && says(judge.Fail):
		return 4
	case answered:
		return 3
	case says(judge.Pass) && says(judge.Fail):
		return 2
	}
	return 1
}

// graver puts the gravest first, high stakes before others, the newest before older.
func graver(a, b ComparedTrace) int {
	high := func(c ComparedTrace) int { return oneIf(c.Stakes == judge.HighStakes) }
	return cmp.Or(cmp.Compare(b.weight(), a.weight()), cmp.Compare(high(b), high(a)))
}

// differences are the gravest traces on which the first two differ: of the labelled
// ones given, then of those that nobody labelled.
func (on sameTraces) differences(ctx context.Context, q querier, labelled []ComparedTrace) ([]ComparedTrace, error) {
	var found []ComparedTrace
	for _, t := range slices.Backward(labelled) {
		if t.Judges[0].Verdict != t.Judges[1].Verdict {
			found = append(found, t)
		}
	}
	slices.SortStableFunc(found, graver)
	if len(found) >= differencesShown {
		return found[:differencesShown], nil
	}
	from, args := on.from(``, ` JOIN traces t ON t.id = e0.trace_id`)
	more, err := collect(ctx, q, func(r *sql.Rows, t *ComparedTrace) error {
		t.Judges = make([]calibration.Answer, 2)
		return r.Scan(&t.TraceID, &t.Domain, &t.Stakes, &t.Judges[0].Label, &t.Judges[0].Verdict, &t.Judges[1].Label, &t.Judges[1].Verdict)
	}, `
SELECT t.external_id, t.domain, t.stakes, e0.label, e0.verdict, e1.label, e1.verdict `+from+` AND e0.verdict <> e1.verdict AND NOT `+on.waits()+`
  AND NOT EXISTS (SELECT 1 FROM consensus c WHERE c.project_id = e0.project_id AND c.judge = e0.judge AND c.trace_id = e0.trace_id)
ORDER BY CASE WHEN e0.verdict <> 'borderline' AND e1.verdict <> 'borderline' THEN 0 ELSE 1 END,
    CASE WHEN t.stakes = 'high' THEN 0 ELSE 1 END, e0.id DESC LIMIT ?`,
		slices.Concat(args, on.waiting.args, []any{differencesShown - len(found)})...)
	return append(found, more...), err
}
