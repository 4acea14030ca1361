package store

import (
	"context"
	"database/sql"
	"slices"
)

// block is some days in a row of one judge's version, engine and model that are
// told together or not at all.
type block struct{ first, last string }

// blocks says in which block a judge's day by one version, engine and model is.
// A day that is in none is not told.
//
// All that an actor who may decide reads of a judge's health is made of whole
// blocks, and which days a block has depends on no filter. So what two views
// differ by is whole blocks too, and none is of fewer than ten evaluations. (What
// a block of today grows by while somebody looks on is a limit that is known.)
type blocks map[dayKey]block

// blocksOf puts days together, the oldest first, until they have ten evaluations.
// No block goes over the end of a year, so a year is all that has to be read. The
// days of each judge, version, engine and model come in order.
func blocksOf(days []dayCount) blocks {
	type open struct {
		days []dayKey
		n    int64
	}
	found, gathered := blocks{}, map[dayKey]*open{} // by all but the day, and the year
	for _, d := range days {
		group := d.dayKey
		group.day = yearOf(d.day)
		o := gathered[group]
		if o == nil {
			o = &open{}
			gathered[group] = o
		}
		o.days, o.n = append(o.days, d.dayKey), o.n+d.n
		if o.n < fewestTold {
			continue
		}
		b := block{o.days[0].day, d.day}
		for _, day := range o.days {
			found[day] = b
		}
		delete(gathered, group)
	}
	return found
}

// dayCount is how many evaluations a judge's day has.
type dayCount struct {
	dayKey
	n int64
}

// yearOf is the year of a day.
func yearOf(day string) string { return day[:len("2006")] }

// healthBlocks reads the blocks of a judge, or of all judges where its name is
// empty, that hold days from a day on. Nil: the actor decides nothing and is told
// everything.
func (s *Store) healthBlocks(ctx context.Context, a Actor, projectID, judgeName, from string) (blocks, error) {
	if !a.MayDecide() {
		return nil, nil
	}
	query, args := healthOf(`day, judge, prompt_version, engine, model, n`, projectID, judgeName, yearOf(from)+"-01-01")
	days, err := collect(ctx, s.reader, func(r *sql.Rows, d *dayCount) error {
		return r.Scan(&d.day, &d.judge, &d.version, &d.engine, &d.model, &d.n)
	}, query+` AND measure = ? ORDER BY day`, append(args, measureEvaluations)...)
	return blocksOf(days), err
}

// healthOf reads columns of judge_days.
func healthOf(columns, projectID, judgeName, from string) (query string, args []any) {
	query, args = `SELECT `+columns+` FROM judge_days WHERE project_id = ? AND day >= ?`, []any{projectID, from}
	if judgeName != "" {
		query, args = query+` AND judge = ?`, append(args, judgeName)
	}
	return query, slices.Clip(args)
}

// in says whether a day counts in a sum over the days from one on, and whether
// it is told alone.
func (b blocks) in(day dayKey, from string) (sum, alone bool) {
	if b == nil {
		return true, true
	}
	found, ok := b[day]
	return ok && found.first >= from, ok && found.first == found.last
}
