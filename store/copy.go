package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// CopyReport is what a copy did. It was checked before it is given.
type CopyReport struct {
	From   string        `json:"from"`
	To     string        `json:"to"`
	Tables []CopiedTable `json:"tables"` // in the order they were copied
	Rows   int64         `json:"rows"`
	Events int64         `json:"events"` // of the audit chain
	Head   string        `json:"head"`   // its last hash, the same on both sides
}

// CopiedTable is one table of a copy.
type CopiedTable struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

// copyTarget is the database that is copied into. What it was given is not in
// use before publish.
type copyTarget interface {
	// begin refuses a target that holds anything, and gives its tables.
	begin(ctx context.Context) ([]table, error)
	// insert stores rows in canonical form.
	insert(ctx context.Context, t table, rows [][]any) error
	// sum reads a table back.
	sum(ctx context.Context, t table) (rowSum, error)
	// store ends the writing and opens the result for its verification.
	store(ctx context.Context) (*Store, error)
	// publish makes the result the database that others open.
	publish(ctx context.Context) error
	// close lets go. Without publish nothing usable is left behind.
	close(ctx context.Context) error
}

// A batch is as many rows as are held in memory at once.
const (
	copyRows  = 5_000
	copyBytes = 8 << 20
)

// Copy moves everything from one database into another one that is empty, on
// any engines. The source is read as it is at one moment: what is written to it
// meanwhile is not copied. Both sides are held against each other before the
// target can be used: the rows of each table, their content, and the audit
// chain with its head. An interrupted copy leaves a target that no server
// opens, and the same copy can be started again. tell, which may be nil, is
// called before each batch with the table and the rows of it so far.
//
// ErrInvalid: an address or a schema that does not fit. ErrConflict: the target
// is not empty, or in use.
func Copy(ctx context.Context, from, to Options, tell func(table string, rows int64)) (report CopyReport, err error) {
	source, err := openSource(ctx, from)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	e, err := engineFor(to)
	if err != nil {
		return report, err
	}
	report.From, report.To = source.Place(), e.place()
	defer wrap(&err, "copy %s to %s", report.From, report.To)
	defer plainly(e, &err)
	defer func() { // a driver that was stopped has words of its own for it
		if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}()
	if report.From == report.To {
		return report, fmt.Errorf("source and target are the same database: %w", ErrConflict)
	}
	if err := mustHold(ctx, source, "the source"); err != nil {
		return report, err
	}
	target, err := newTarget(ctx, e)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, target.close(context.WithoutCancel(ctx))) }()
	head, err := copyRowsOf(ctx, source, target, &report, tell)
	if err != nil {
		return report, err
	}
	if err := verifyCopy(ctx, target, head, &report); err != nil {
		return report, err
	}
	return report, target.publish(ctx)
}

func newTarget(ctx context.Context, e engine) (copyTarget, error) {
	if file, ok := e.(sqliteEngine); ok {
		return newFileTarget(ctx, file)
	}
	return newPostgresTarget(ctx, e.(postgresEngine))
}

// copyRowsOf streams every table and holds the two sides against each other. It
// gives the head of the source's chain at that moment.
func copyRowsOf(ctx context.Context, source *Store, target copyTarget, report *CopyReport, tell func(string, int64)) (head AuditHead, err error) {
	read, err := source.reader.snapshot(ctx)
	if err != nil {
		return head, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	if err := read.QueryRowContext(ctx, `SELECT seq, hash FROM audit_head WHERE id = 1`).Scan(&head.Seq, &head.Hash); err != nil {
		return head, fmt.Errorf("read the head of the audit chain: %w", err)
	}
	all, err := tables(ctx, source.engine, read)
	if err != nil {
		return head, err
	}
	theirs, err := target.begin(ctx)
	if err != nil {
		return head, err
	}
	if err := sameTables(all, theirs); err != nil {
		return head, fmt.Errorf("the schemas differ: %w: %w", err, ErrInvalid)
	}
	sums := make([]rowSum, len(all))
	for i, t := range all {
		if sums[i], err = copyTable(ctx, source, read, target, t, tell); err != nil {
			return head, err
		}
		report.Tables = append(report.Tables, CopiedTable{t.name, sums[i].rows})
		report.Rows += sums[i].rows
	}
	for i, t := range all {
		got, err := target.sum(ctx, t)
		if err != nil {
			return head, err
		}
		if got.rows != sums[i].rows {
			return head, fmt.Errorf("table %s has %d rows in the source and %d in the target", t.name, sums[i].rows, got.rows)
		}
		if got != sums[i] {
			return head, fmt.Errorf("the %d rows of table %s are not the same in the source and in the target", got.rows, t.name)
		}
	}
	return head, nil
}

func copyTable(ctx context.Context, source *Store, read querier, target copyTarget, t table, tell func(string, int64)) (rowSum, error) {
	sum := newSummer()
	var batch [][]any
	size := 0
	flush := func() error {
		if tell != nil {
			tell(t.name, sum.rows)
		}
		if len(batch) == 0 {
			return nil
		}
		err := target.insert(ctx, t, batch)
		batch, size = batch[:0], 0
		if err != nil {
			return fmt.Errorf("write table %s: %w", t.name, err)
		}
		return nil
	}
	err := eachRow(ctx, source.engine, read, t, func(row []any) error {
		if err := sum.add(row); err != nil {
			return err
		}
		batch = append(batch, row)
		for _, v := range row {
			size += sizeOf(v)
		}
		if len(batch) < copyRows && size < copyBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	return sum.rowSum, err
}

func sizeOf(v any) int {
	switch v := v.(type) {
	case string:
		return len(v) + 32
	case []byte:
		return len(v) + 40
	}
	return 32
}

// verifyCopy opens the finished target as a server would, and recomputes its
// chain.
func verifyCopy(ctx context.Context, target copyTarget, head AuditHead, report *CopyReport) (err error) {
	copied, err := target.store(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	v, err := copied.VerifyAudit(ctx, Operator("copy"))
	switch {
	case err != nil:
		return err
	case v.Problem != "":
		return fmt.Errorf("the audit chain of the target does not hold: %s", v.Problem)
	case v.Events != head.Seq || v.Head != head.Hash:
		return fmt.Errorf("the audit chain of the target ends at event %d (%s), and that of the source at %d (%s)", v.Events, v.Head, head.Seq, head.Hash)
	}
	report.Events, report.Head = v.Events, v.Head
	return nil
}

// unfinishedCopy is the setting that a target carries until it is verified. No
// store opens a database that has it.
const unfinishedCopy = "unfinished_copy"

// refuseUnfinished says that a database is what an interrupted copy left.
func refuseUnfinished(ctx context.Context, q querier) error {
	var n int
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM settings WHERE name = ?`, unfinishedCopy).Scan(&n); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	if n > 0 {
		return fmt.Errorf("the database is a copy that was not finished: start `countersign copy` again, it begins anew: %w", ErrConflict)
	}
	return nil
}

// copyStarted is what the setting holds.
func copyStarted(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// mustHold refuses a database whose audit chain is broken: a copy would carry
// the damage on as if it had been there from the beginning.
func mustHold(ctx context.Context, s *Store, what string) error {
	v, err := s.VerifyAudit(ctx, Operator("copy"))
	if err != nil {
		return err
	}
	if v.Problem != "" {
		return fmt.Errorf("the audit chain of %s does not hold after %d good events: %s", what, v.Events, v.Problem)
	}
	return nil
}
