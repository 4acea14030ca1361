package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// shownLabels are counts of audit labels that pages showed not long ago. Counting a
// million labels takes half a second, so what took long may be as old as staleTimes what
// it took; what a job decides by is counted anew.
type shownLabels struct {
	kept *lru.Cache[string, labelsShown]
}

type labelsShown struct {
	counts  []auditCount
	changed int64 // trust_checks.changed, which every change of a judge's labels moves
	at      time.Time
	took    time.Duration
}

const (
	mostShown  = 64
	longCount  = 50 * time.Millisecond
	staleTimes = 100
)

func newShownLabels() shownLabels {
	kept, err := lru.New[string, labelsShown](mostShown)
	if err != nil {
		panic("a size below one")
	}
	return shownLabels{kept}
}

// of is auditLabels, for a page.
func (l shownLabels) of(ctx context.Context, q querier, scale judgeScale, projectID string, spans []driftSpan) ([]auditCount, error) {
	var changed int64
	err := q.QueryRowContext(ctx, `SELECT changed FROM trust_checks WHERE project_id = ? AND judge = ?`, projectID, scale.name).Scan(&changed)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	key := fmt.Sprint(projectID, scale.name, spans)
	before := time.Now()
	if x, ok := l.kept.Get(key); ok && (x.changed == changed || x.took > longCount && before.Sub(x.at) < staleTimes*x.took) {
		return x.counts, nil
	}
	counts, err := auditLabels(ctx, q, scale, spans)
	if err == nil {
		l.kept.Add(key, labelsShown{counts, changed, before, time.Since(before)})
	}
	return counts, err
}
