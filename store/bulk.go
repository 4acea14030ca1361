package store

import (
	"context"
	"strings"
)

// bulk inserts many rows of one table by few statements: a statement for each
// row costs a journey to the server each, and on SQLite a third of the time.
type bulk struct {
	into string // INSERT INTO table (columns)
	tail string // ON CONFLICT …
	cols int
	args []any
}

// bulkRows is how many rows one statement inserts. It divides into full
// statements, which are prepared once, and a rest.
const bulkRows = 50

func newBulk(table, tail string, columns ...string) *bulk {
	return &bulk{into: "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES ", tail: tail, cols: len(columns)}
}

// add notes a row; its values are in the order of the columns.
func (b *bulk) add(values ...any) { b.args = append(b.args, values...) }

// write inserts what was noted.
func (b *bulk) write(ctx context.Context, t *tx) error {
	row := "(" + placeholders(b.cols) + ")"
	full := b.into + strings.TrimSuffix(strings.Repeat(row+", ", bulkRows), ", ") + b.tail
	for len(b.args) >= bulkRows*b.cols {
		if _, err := t.exec(ctx, full, b.args[:bulkRows*b.cols]...); err != nil {
			return err
		}
		b.args = b.args[bulkRows*b.cols:]
	}
	one := b.into + row + b.tail
	for len(b.args) > 0 {
		query, n := one, b.cols
		if rest := len(b.args) / b.cols; rest > 1 && !t.engine.prepares() {
			query = b.into + strings.TrimSuffix(strings.Repeat(row+", ", rest), ", ") + b.tail
			n = len(b.args)
		}
		if _, err := t.exec(ctx, query, b.args[:n]...); err != nil {
			return err
		}
		b.args = b.args[n:]
	}
	return nil
}
