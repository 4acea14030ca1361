package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// table is one of the schema's, as the database itself describes it. What moves
// or sweeps whole databases works from this and never from a list of columns
// written down here, so that no later migration can be forgotten.
type table struct {
	name    string
	columns []column // by name
	parents []parent // its foreign keys
}

type column struct {
	name string
	kind kind
}

// parent is a foreign key of one column.
type parent struct{ column, table, to string }

// kind is what a column holds on either database.
type kind string

const (
	kindText    kind = "text"
	kindInteger kind = "integer"
	kindFloat   kind = "float"
	kindBool    kind = "boolean"
	kindBytes   kind = "bytes"
	kindTime    kind = "time" // UTC, microseconds
)

// kindOf reads a declared type, as either database gives it back.
func kindOf(declared string) (kind, error) {
	switch base, _, _ := strings.Cut(strings.ToUpper(declared), "("); strings.TrimSpace(base) {
	case "TEXT", "CHARACTER VARYING", "VARCHAR":
		return kindText, nil
	case "INTEGER", "BIGINT", "SMALLINT", "INT":
		return kindInteger, nil
	case "DOUBLE PRECISION", "REAL":
		return kindFloat, nil
	case "BOOLEAN":
		return kindBool, nil
	case "BYTEA", "BLOB":
		return kindBytes, nil
	case "TIMESTAMP", "TIMESTAMP WITHOUT TIME ZONE":
		return kindTime, nil
	}
	return "", fmt.Errorf("no text, number, boolean, time or bytes, but %q", declared)
}

// catalogue is what an engine tells about its own schema.
type catalogue interface {
	engine
	// columnsIn lists table, column and declared type of every table of this
	// program, without columns that the database computes.
	columnsIn(ctx context.Context, q querier) ([]declared, error)
	// parentsIn lists every foreign key.
	parentsIn(ctx context.Context, q querier) ([]foreignKey, error)
}

var (
	_ catalogue = sqliteEngine{}
	_ catalogue = postgresEngine{}
)

type declared struct{ table, column, declared string }

type foreignKey struct {
	table string
	parent
}

// tables reads the schema. A table stands behind those that its foreign keys
// point to; one that points to itself is said by selfish.
func tables(ctx context.Context, e engine, q querier) ([]table, error) {
	c := e.(catalogue)
	columns, err := c.columnsIn(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	keys, err := c.parentsIn(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("read the foreign keys: %w", err)
	}
	byName := map[string]*table{}
	for _, d := range columns {
		t := byName[d.table]
		if t == nil {
			t = &table{name: d.table}
			byName[d.table] = t
		}
		k, err := kindOf(d.declared)
		if err != nil {
			return nil, fmt.Errorf("table %s, column %s holds %w: use a newer countersign", d.table, d.column, err)
		}
		t.columns = append(t.columns, column{d.column, k})
	}
	for _, k := range keys {
		if t := byName[k.table]; t != nil {
			t.parents = append(t.parents, k.parent)
		}
	}
	all := make([]table, 0, len(byName))
	for _, t := range byName {
		slices.SortFunc(t.columns, func(a, b column) int { return cmp.Compare(a.name, b.name) })
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b table) int { return cmp.Compare(a.name, b.name) })
	return parentsFirst(all)
}

// parentsFirst puts every table behind its parents.
func parentsFirst(all []table) ([]table, error) {
	var sorted []table
	done := map[string]bool{}
	for len(sorted) < len(all) {
		before := len(sorted)
		for _, t := range all {
			ready := !slices.ContainsFunc(t.parents, func(p parent) bool { return p.table != t.name && !done[p.table] })
			if !done[t.name] && ready {
				sorted, done[t.name] = append(sorted, t), true
			}
		}
		if len(sorted) == before {
			return nil, fmt.Errorf("the foreign keys of the schema go round in a circle, so no table can be the first")
		}
	}
	return sorted, nil
}

// selfish are the foreign keys of a table to itself.
func (t table) selfish() bool {
	return slices.ContainsFunc(t.parents, func(p parent) bool { return p.table == t.name })
}

// names are the columns, quoted for both databases.
func (t table) names() string {
	quoted := make([]string, len(t.columns))
	for i, c := range t.columns {
		quoted[i] = quote(c.name)
	}
	return strings.Join(quoted, ", ")
}

func (t table) column(name string) (column, bool) {
	i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name })
	if i < 0 {
		return column{}, false
	}
	return t.columns[i], true
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// sameTables says in what two schemas differ; nil when rows of one fit the other.
func sameTables(from, to []table) error {
	named := map[string]table{}
	for _, t := range to {
		named[t.name] = t
	}
	for _, t := range from {
		other, ok := named[t.name]
		if !ok {
			return fmt.Errorf("the target has no table %s", t.name)
		}
		if !slices.Equal(t.columns, other.columns) {
			return fmt.Errorf("table %s has the columns %v there and %v here", t.name, t.columns, other.columns)
		}
		delete(named, t.name)
	}
	for name := range named {
		return fmt.Errorf("the source has no table %s", name)
	}
	return nil
}

// versionTable is goose's.
const versionTable = "goose_db_version"

// schemaVersion is that of the database; 0 when it has none.
func schemaVersion(ctx context.Context, q querier) (int64, error) {
	var v sql.NullInt64
	err := q.QueryRowContext(ctx, `SELECT max(version_id) FROM `+versionTable+` WHERE is_applied`).Scan(&v)
	return v.Int64, err
}

func scanDeclared(r *sql.Rows, d *declared) error { return r.Scan(&d.table, &d.column, &d.declared) }

func scanForeignKey(r *sql.Rows, k *foreignKey) error {
	return r.Scan(&k.table, &k.column, &k.parent.table, &k.to)
}

// SQLite's tables, without its own and goose's.
const sqliteTables = `
FROM sqlite_master m JOIN %s(m.name) x
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%%' ESCAPE '\' AND m.name <> '` + versionTable + `'`

func (e sqliteEngine) columnsIn(ctx context.Context, q querier) ([]declared, error) {
	return collect(ctx, q, scanDeclared, `SELECT m.name, x.name, x.type `+fmt.Sprintf(sqliteTables, "pragma_table_xinfo")+` AND x.hidden = 0`)
}

func (e sqliteEngine) parentsIn(ctx context.Context, q querier) ([]foreignKey, error) {
	return collect(ctx, q, scanForeignKey, `SELECT m.name, x."from", x."table", coalesce(x."to", '') `+fmt.Sprintf(sqliteTables, "pragma_foreign_key_list"))
}

func (e postgresEngine) columnsIn(ctx context.Context, q querier) ([]declared, error) {
	return collect(ctx, q, scanDeclared, `
SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
WHERE c.table_schema = current_schema() AND c.is_generated = 'NEVER' AND c.table_name <> '`+versionTable+`'`)
}

func (e postgresEngine) parentsIn(ctx context.Context, q querier) ([]foreignKey, error) {
	return collect(ctx, q, scanForeignKey, `
SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text, f.attname
FROM pg_constraint c
CROSS JOIN LATERAL unnest(c.conkey, c.confkey) AS k(own, other)
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own
JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = k.other
WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace`)
}
