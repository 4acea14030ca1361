package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresTarget is filled in one transaction, which ends with a setting that
// says that the copy is not verified yet; no store opens such a database.
type postgresTarget struct {
	engine   postgresEngine
	pool     *pool
	conn     *sql.Conn
	tx       *snapshot // of conn; it writes too
	all      []table
	triggers []string // tables whose triggers are off
}

func newPostgresTarget(ctx context.Context, e postgresEngine) (_ copyTarget, err error) {
	config := e.config.Copy()
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0" // the source may be slow
	p := &postgresTarget{engine: postgresEngine{config, e.written}}
	p.pool = p.engine.connect(4)
	if err := errors.Join(p.engine.check(ctx, p.pool)); err != nil {
		return nil, errors.Join(err, p.pool.Close())
	}
	if err := p.engine.migrate(ctx, p.pool); err != nil {
		return nil, errors.Join(err, p.pool.Close())
	}
	return p, nil
}

func (p *postgresTarget) begin(ctx context.Context) (_ []table, err error) {
	if p.conn, err = p.pool.Conn(ctx); err != nil {
		return nil, err
	}
	tx, err := p.conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	p.tx = &snapshot{Tx: tx, pool: p.pool}
	if p.all, err = tables(ctx, p.engine, p.tx); err != nil {
		return nil, err
	}
	var names []string
	for _, t := range p.all {
		names = append(names, quote(t.name))
	}
	if err := p.run(ctx, `LOCK TABLE `+strings.Join(names, ", ")+` IN ACCESS EXCLUSIVE MODE`); err != nil {
		return nil, err
	}
	// What an interrupted copy left is begun anew.
	if err := refuseUnfinished(ctx, p.tx); err == nil {
		if err := mustBeFresh(ctx, p.engine, p.tx); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, ErrConflict) {
		return nil, err
	}
	if err := p.run(ctx, `TRUNCATE `+strings.Join(names, ", ")); err != nil {
		return nil, err
	}
	return p.all, p.prepare(ctx)
}

// prepare switches off what would act on rows that are copied as they are:
// triggers; and lets the rows of a table that points to itself come in any
// order.
func (p *postgresTarget) prepare(ctx context.Context) (err error) {
	p.triggers, err = collect(ctx, p.tx, scanID, `
SELECT DISTINCT c.relname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return err
	}
	for _, name := range p.triggers {
		if err := p.run(ctx, `ALTER TABLE `+quote(name)+` DISABLE TRIGGER USER`); err != nil {
			return err
		}
	}
	return p.alterSelfish(ctx, `DEFERRABLE INITIALLY DEFERRED`)
}

func (p *postgresTarget) alterSelfish(ctx context.Context, how string) error {
	for _, t := range p.all {
		if !t.selfish() {
			continue
		}
		names, err := collect(ctx, p.tx, scanID, `
SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid = confrelid AND conrelid = ?::regclass`, quote(t.name))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := p.run(ctx, `ALTER TABLE `+quote(t.name)+` ALTER CONSTRAINT `+quote(name)+` `+how); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *postgresTarget) run(ctx context.Context, statement string, args ...any) error {
	if _, err := p.tx.ExecContext(ctx, p.engine.sql(statement), args...); err != nil {
		return fmt.Errorf("%s: %w", firstLine(statement), err)
	}
	return nil
}

func (p *postgresTarget) insert(ctx context.Context, t table, rows [][]any) error {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return p.conn.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{t.name}, names, pgx.CopyFromRows(rows))
		return err
	})
}

func (p *postgresTarget) sum(ctx context.Context, t table) (rowSum, error) {
	return sumOf(ctx, p.engine, p.tx, t)
}

func (p *postgresTarget) store(ctx context.Context) (*Store, error) {
	if err := p.run(ctx, `SET CONSTRAINTS ALL IMMEDIATE`); err != nil {
		return nil, err
	}
	if err := p.alterSelfish(ctx, `NOT DEFERRABLE`); err != nil {
		return nil, err
	}
	for _, name := range p.triggers {
		if err := p.run(ctx, `ALTER TABLE `+quote(name)+` ENABLE TRIGGER USER`); err != nil {
			return nil, err
		}
	}
	if err := p.sequences(ctx); err != nil {
		return nil, err
	}
	now, err := p.engine.now(ctx, p.tx)
	if err != nil {
		return nil, err
	}
	if err := p.run(ctx, `INSERT INTO settings (name, value) VALUES (?, ?)`, unfinishedCopy, copyStarted(now)); err != nil {
		return nil, err
	}
	if err := p.tx.Commit(); err != nil {
		return nil, err
	}
	if err := errors.Join(p.conn.Close(), p.analyze(ctx)); err != nil {
		return nil, err
	}
	return openAny(ctx, Options{}, p.engine)
}

// sequences go on behind the numbers that were copied.
func (p *postgresTarget) sequences(ctx context.Context) error {
	type owned struct{ table, column, sequence string }
	all, err := collect(ctx, p.tx, func(r *sql.Rows, o *owned) error { return r.Scan(&o.table, &o.column, &o.sequence) }, `
SELECT c.relname, a.attname, s.oid::regclass::text FROM pg_class s
JOIN pg_depend d ON d.objid = s.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
JOIN pg_class c ON c.oid = d.refobjid
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
WHERE s.relkind = 'S' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> '`+versionTable+`'`)
	if err != nil {
		return err
	}
	for _, o := range all {
		if err := p.run(ctx, `SELECT setval(?::regclass, coalesce(max(`+quote(o.column)+`), 0) + 1, false) FROM `+quote(o.table), o.sequence); err != nil {
			return err
		}
	}
	return nil
}

// analyze tells the server what it holds now: without that it would plan
// queries as for an empty database until it noticed by itself.
func (p *postgresTarget) analyze(ctx context.Context) error {
	if _, err := p.pool.ExecContext(ctx, `ANALYZE`); err != nil {
		return fmt.Errorf("analyze the tables: %w", err)
	}
	return nil
}

func (p *postgresTarget) publish(ctx context.Context) error {
	_, err := p.pool.ExecContext(ctx, p.engine.sql(`DELETE FROM settings WHERE name = ?`), unfinishedCopy)
	return err
}

func (p *postgresTarget) close(context.Context) error {
	var err error
	if p.tx != nil {
		err = ignoreDone(p.tx.Rollback())
	}
	return errors.Join(err, p.pool.Close())
}
