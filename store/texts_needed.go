package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// reference is a column that may hold the hash of a text.
type reference struct{ table, column string }

// chainTable holds hashes of events, which are no texts, and many of them.
const chainTable = "audit_events"

// references are all columns that may name a text, found in the schema by their
// kind and name: foreign keys to texts, and columns of the kind of texts.hash
// that are called something with hash, body or base. Too many only keeps more.
func references(ctx context.Context, e engine, q querier) ([]reference, error) {
	all, err := tables(ctx, e, q)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(t table) bool { return t.name == "texts" })
	if i < 0 {
		return nil, fmt.Errorf("the schema has no table texts")
	}
	own, ok := all[i].column("hash")
	if !ok {
		return nil, fmt.Errorf("the table texts has no column hash")
	}
	var found []reference
	for _, t := range all {
		for _, c := range t.columns {
			key := slices.ContainsFunc(t.parents, func(p parent) bool { return p.column == c.name && p.table == "texts" })
			if key || mayNameText(t.name, c, own.kind) {
				found = append(found, reference{t.name, c.name})
			}
		}
	}
	// What is cheap to look through comes first: it may leave nothing to look for.
	slices.SortStableFunc(found, func(a, b reference) int { return costOf(a) - costOf(b) })
	return found, nil
}

func mayNameText(table string, c column, k kind) bool {
	if c.kind != k || table == chainTable || (table == "texts" && (c.name == "hash" || c.name == "body")) {
		return false
	}
	return strings.Contains(c.name, "hash") || strings.Contains(c.name, "body") || strings.Contains(c.name, "base")
}

// costOf orders references: the indexed one, the others, and texts, whose rows
// are large.
func costOf(r reference) int {
	switch r.table {
	case "traces":
		return 0
	case "texts":
		return 2
	}
	return 1
}

// retiring is a table of one transaction: the hashes of texts that are to be
// removed unless something needs them.
const retiring = "retiring"

// retire makes the empty table. On PostgreSQL it also waits for everybody who
// has stored texts and not committed: those may have found a text in its place
// that is about to go, and nobody stores another before the commit.
func (t *tx) retire(ctx context.Context) error {
	statements := []string{`CREATE TEMP TABLE ` + retiring + ` AS SELECT hash FROM texts WHERE 1 = 0`}
	if _, server := t.engine.(postgresEngine); server {
		statements = []string{
			`LOCK TABLE texts IN SHARE ROW EXCLUSIVE MODE`,
			`CREATE TEMP TABLE ` + retiring + ` ON COMMIT DROP AS SELECT hash FROM texts WHERE 1 = 0`,
		}
	}
	for _, s := range statements {
		if _, err := t.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// spare takes from the table what a column still needs. when, which may be
// empty, limits the rows whose need counts.
func (t *tx) spare(ctx context.Context, r reference, when string, args ...any) error {
	column := quote(r.column)
	query := `DELETE FROM ` + retiring + ` WHERE hash IN (SELECT ` + column + ` FROM ` + quote(r.table) + `
WHERE ` + column + ` IN (SELECT hash FROM ` + retiring + `)` + when + `)`
	if _, err := t.ExecContext(ctx, t.engine.sql(query), args...); err != nil {
		return fmt.Errorf("look for texts in %s.%s: %w", r.table, r.column, err)
	}
	return nil
}

// removeRetired removes the texts that are left in the table, and the table.
func (t *tx) removeRetired(ctx context.Context) (n int64, err error) {
	res, err := t.ExecContext(ctx, `DELETE FROM texts WHERE hash IN (SELECT hash FROM `+retiring+`)`)
	if err != nil {
		return 0, fmt.Errorf("remove texts: %w", err)
	}
	if n, err = res.RowsAffected(); err != nil {
		return 0, err
	}
	if _, err := t.ExecContext(ctx, `DROP TABLE `+retiring); err != nil {
		return 0, err
	}
	return n, nil
}
