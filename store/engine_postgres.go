package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// postgresEngine is a PostgreSQL database, version 13 or newer, that any number
// of processes share.
type postgresEngine struct {
	config  *pgx.ConnConfig
	written *sync.Map // queries as PostgreSQL writes them
}

// Connections of one process: writers wait for one another at the head of the
// audit chain, so few are enough, and several processes fit the server's limit.
const (
	postgresWriters = 12
	postgresReaders = 12
)

func newPostgres(address string) (engine, error) {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("the database address can't be read: %w: %w", err, ErrInvalid)
	}
	// What is left of a password with unescaped signs stands in the wrong part,
	// where messages and the log would show it.
	if strings.ContainsAny(c.Host, "@") || strings.Contains(c.Database, "@") || strings.Contains(c.Database, "/") || strings.Contains(c.User, "@") {
		return nil, fmt.Errorf("the database address can't be read: it has an @ or a / too many; write %%40 and %%2F for them in a name or password: %w", ErrInvalid)
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 5 * time.Second
	}
	set := func(name, value string) {
		if _, given := c.RuntimeParams[name]; !given {
			c.RuntimeParams[name] = value
		}
	}
	set("application_name", "countersign")
	set("synchronous_commit", "on") // what was answered 2xx survives a power cut
	set("lock_timeout", "10s")
	set("idle_in_transaction_session_timeout", "60s") // a process that hangs lets go of its locks
	return postgresEngine{config: c, written: &sync.Map{}}, nil
}

func (e postgresEngine) place() string {
	return fmt.Sprintf("%s%s@%s/%s", schemePostgres, e.config.User,
		net.JoinHostPort(e.config.Host, strconv.Itoa(int(e.config.Port))), e.config.Database)
}

func (e postgresEngine) open(ctx context.Context) (writer, reader *pool, err error) {
	writer = e.connect(postgresWriters)
	if err := e.check(ctx, writer); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	if err := e.migrate(ctx, writer); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	return writer, e.connect(postgresReaders), nil
}

func (e postgresEngine) connect(conns int) *pool {
	db := stdlib.OpenDB(*e.config)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return &pool{DB: db, engine: e, statements: statementsFor(e)}
}

// check refuses servers on which the store would not behave.
func (e postgresEngine) check(ctx context.Context, p *pool) error {
	var version int
	var encoding string
	err := p.QueryRowContext(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding')`).Scan(&version, &encoding)
	switch {
	case err != nil:
		return err
	case version < 130000:
		return fmt.Errorf("the server is PostgreSQL %d: version 13 or newer is needed: %w", version/10000, ErrInvalid)
	case encoding != "UTF8":
		return fmt.Errorf("the database is encoded in %s: make one with ENCODING 'UTF8': %w", encoding, ErrInvalid)
	}
	return nil
}

// migrationLock is the key of the advisory lock that migrations hold.
const migrationLock = 7_306_425_115

// migrate holds an advisory lock, so that of two programs that start at once
// one migrates and the other finds it done.
func (e postgresEngine) migrate(ctx context.Context, p *pool) (err error) {
	conn, err := p.Conn(ctx)
	if err != nil {
		return err
	}
	// A connection that ends lets go of its locks, so the unlocking may fail.
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `SET lock_timeout = '120s'`); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, migrationLock); err != nil {
		return fmt.Errorf("lock the database for its migration: %w", err)
	}
	defer func() {
		_, unlock := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, migrationLock)
		_, reset := conn.ExecContext(context.WithoutCancel(ctx), `RESET lock_timeout`)
		err = errors.Join(err, unlock, reset)
	}()
	if err := e.foreign(ctx, p); err != nil {
		return err
	}
	if err := migrate(ctx, goose.DialectPostgres, p.DB); err != nil {
		return err
	}
	if err := e.collate(ctx, p); err != nil {
		return err
	}
	return fillKeptCounts(ctx, e, p)
}

// foreign refuses a schema that has tables of something else in it.
func (e postgresEngine) foreign(ctx context.Context, p *pool) error {
	var tables, ours int
	err := p.QueryRowContext(ctx, `
SELECT count(*), count(*) FILTER (WHERE table_name = 'goose_db_version') FROM information_schema.tables
WHERE table_schema = current_schema()`).Scan(&tables, &ours)
	if err == nil && tables > 0 && ours == 0 {
		err = fmt.Errorf("the database has tables of something else: make one for Countersign alone: %w", ErrInvalid)
	}
	return err
}

// collate makes every text column sort by its bytes, as SQLite does and as
// ids, cursors and key-set paging need, unless the database's own order is that.
func (e postgresEngine) collate(ctx context.Context, p *pool) error {
	var order string
	if err := p.QueryRowContext(ctx, `SELECT datcollate FROM pg_database WHERE datname = current_database() AND datlocprovider = 'c'
UNION ALL SELECT '' LIMIT 1`).Scan(&order); err != nil {
		return fmt.Errorf("read the database's order of texts: %w", err)
	}
	switch strings.ToUpper(order) {
	case "C", "POSIX", "C.UTF-8", "C.UTF8":
		return nil
	}
	type column struct{ table, name string }
	columns, err := collect(ctx, p, func(r *sql.Rows, c *column) error { return r.Scan(&c.table, &c.name) }, `
SELECT c.table_name, c.column_name FROM information_schema.columns c
JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
WHERE c.table_schema = current_schema() AND c.data_type = 'text' AND c.collation_name IS DISTINCT FROM 'C'
ORDER BY c.table_name, c.ordinal_position`)
	if err != nil {
		return err
	}
	for i := 0; i < len(columns); {
		table := columns[i].table
		var changes []string
		for ; i < len(columns) && columns[i].table == table; i++ {
			changes = append(changes, `ALTER COLUMN `+pgx.Identifier{columns[i].name}.Sanitize()+` TYPE text COLLATE "C"`)
		}
		if _, err := p.ExecContext(ctx, `ALTER TABLE `+pgx.Identifier{table}.Sanitize()+` `+strings.Join(changes, ", ")); err != nil {
			return fmt.Errorf("set the order of texts in table %s: %w", table, err)
		}
	}
	return nil
}

// sql numbers the placeholders. No text of this package has a question mark
// inside quotes.
func (e postgresEngine) sql(query string) string {
	if known, ok := e.written.Load(query); ok {
		return known.(string)
	}
	var b strings.Builder
	for n, rest := 1, query; ; n++ {
		before, after, found := strings.Cut(rest, "?")
		b.WriteString(before)
		if !found {
			break
		}
		b.WriteString("$" + strconv.Itoa(n))
		rest = after
	}
	e.written.Store(query, b.String())
	return b.String()
}

func (e postgresEngine) snapshot() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

func (e postgresEngine) forUpdate(alias string) string {
	return " FOR NO KEY UPDATE OF " + alias
}

func (e postgresEngine) forUpdateFree(alias string) string {
	return " FOR NO KEY UPDATE OF " + alias + " SKIP LOCKED"
}

func (e postgresEngine) prepares() bool       { return false }
func (e postgresEngine) oneWriter() *together { return nil }

func (e postgresEngine) now(ctx context.Context, q querier) (now time.Time, err error) {
	if err := q.QueryRowContext(ctx, `SELECT clock_timestamp()`).Scan(&now); err != nil {
		return now, fmt.Errorf("read the database's clock: %w", err)
	}
	return now, nil
}

// again: serialisation failures and deadlocks, and a row that another
// transaction inserted first, which a second run then finds.
func (e postgresEngine) again(err error) bool {
	var fault *pgconn.PgError
	return errors.As(err, &fault) && (fault.Code == "40001" || fault.Code == "40P01" || fault.Code == "23505")
}

func (e postgresEngine) trouble(err error) error {
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		switch {
		case fault.Code == "53100":
			return &TroubleError{"the disk of the database server is full, nothing was stored", "free space on it"}
		case fault.Code == "53300":
			return &TroubleError{"the database server takes no more connections", "raise its max_connections, or run fewer servers"}
		case fault.Code == "25006":
			return &TroubleError{"the database server is read-only, nothing was stored", "connect to the primary server"}
		case fault.Code == "55P03", fault.Code == "57014", fault.Code == "25P03":
			return &TroubleError{"the database was kept busy for too long", "try again"}
		case strings.HasPrefix(fault.Code, "08"), strings.HasPrefix(fault.Code, "57P"), strings.HasPrefix(fault.Code, "58"),
			strings.HasPrefix(fault.Code, "53"), strings.HasPrefix(fault.Code, "40"):
			return &TroubleError{"the database server can't do its work now (" + fault.Message + ")", "see the server's log; work goes on as soon as it answers"}
		}
		return nil
	}
	var refused *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &refused), errors.Is(err, driver.ErrBadConn), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF),
		errors.Is(err, net.ErrClosed), errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded):
		return &TroubleError{"the database server does not answer", "see that it runs and can be reached; work goes on as soon as it answers"}
	}
	return nil
}
