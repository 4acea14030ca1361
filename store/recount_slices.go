package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge/calibration"
)

// As what slices count an evaluation, in evaluations.sliced. A tenth of the score
// is its number, from 0, plus one.
const (
	notSliced     = 0
	slicedNoScore = 11
)

// scoreTenths are the ends of the tenths of a score, as the migration has them.
var scoreTenths = [...]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

func slicedBy(score sql.NullFloat64) int {
	if !score.Valid {
		return slicedNoScore
	}
	tenth := 0
	for tenth < len(scoreTenths) && score.Float64 >= scoreTenths[tenth] {
		tenth++
	}
	return tenth + 1
}

// weekOf numbers the week of a label: Monday to Sunday, UTC. Times before 1969 end
// in one week more than they should, in SQL and here alike.
func weekOf(us int64) int64 {
	const day = 24 * 60 * 60 * 1_000_000
	return (us + 3*day) / (7 * day)
}

// sliceKey is a row of agreement_slices.
type sliceKey struct {
	cell             int64
	dimension, value string
}

func compareSlices(a, b sliceKey) int {
	return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.dimension, b.dimension), cmp.Compare(a.value, b.value))
}

// addSlices moves an evaluation from the slices it was in to those it is in.
func (d *deltas) addSlices(e *countedEvaluation) {
	if e.was.cell == e.is.cell && e.was.sliced == e.is.sliced && e.was.reasons == e.is.reasons && e.was.labelledUS == e.is.labelledUS {
		return
	}
	d.slice(e, e.was, -1)
	d.slice(e, e.is, 1)
}

func (d *deltas) slice(e *countedEvaluation, as countedAs, n int) {
	if as.sliced == notSliced {
		return
	}
	add := func(dimension, value string) { d.slices[sliceKey{as.cell, dimension, value}] += n }
	add(calibration.ByDomain, e.domain)
	add(calibration.ByStakes, e.stakes)
	add(calibration.ByWeek, strconv.FormatInt(weekOf(as.labelledUS.Int64), 10))
	for _, code := range reasonCodes(as.reasons) {
		add(calibration.ByReason, code)
	}
	if as.sliced != slicedNoScore {
		add(calibration.ByBand, strconv.Itoa(as.sliced-1))
	}
}

func (d *deltas) writeSlices(ctx context.Context, t *tx) error {
	keys := slices.DeleteFunc(slices.SortedFunc(maps.Keys(d.slices), compareSlices), func(k sliceKey) bool { return d.slices[k] == 0 })
	for batch := range slices.Chunk(keys, countedRows) {
		var args []any
		for _, k := range batch {
			args = append(args, k.cell, k.dimension, k.value, d.slices[k])
		}
		if _, err := t.exec(ctx, `
INSERT INTO agreement_slices (cell, dimension, value, n) VALUES `+strings.TrimSuffix(strings.Repeat("(?, ?, ?, ?), ", len(batch)), ", ")+`
ON CONFLICT (cell, dimension, value) DO UPDATE SET n = agreement_slices.n + excluded.n`, args...); err != nil {
			return err
		}
	}
	return nil
}
