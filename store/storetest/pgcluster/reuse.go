package pgcluster

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// emptied are databases of this test process that a test has left empty, with
// their tables.
var emptied struct {
	sync.Mutex
	addresses []string
}

// Emptied is Database for tests that don't mind finding the tables of an
// earlier test there, emptied: making tables takes far longer than emptying
// them. seed fills in again what a new schema is not empty of. The databases
// go with the cluster; on a given server they are dropped by Run.
func Emptied(t testing.TB, seed string) string {
	t.Helper()
	emptied.Lock()
	defer emptied.Unlock()
	var address string
	if n := len(emptied.addresses); n > 0 {
		address, emptied.addresses = emptied.addresses[n-1], emptied.addresses[:n-1]
	} else {
		address = newDatabase(t)
		if os.Getenv(ServerVariable) != "" {
			atEnd(address)
		}
	}
	t.Cleanup(func() {
		if err := empty(address, seed); err != nil {
			t.Errorf("empty the test's database: %v", err)
			return
		}
		emptied.Lock()
		defer emptied.Unlock()
		emptied.addresses = append(emptied.addresses, address)
	})
	return address
}

// empty takes every row out of every table but the record of migrations. It
// ends the connections that a test left, which would hold locks.
//
// Truncating gives each table and index a new file, some two hundred for what
// mostly holds a few rows: making and removing those took longer than the test
// (0.3 s of the kernel's time on ext4). So rows are deleted, behind the back of
// triggers and foreign keys, until what they leave behind makes truncating worth it.
func empty(address, seed string) error {
	return onServer(address, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `
DO $$
DECLARE
    tables text[];
    one text;
    bytes bigint;
BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
    SELECT array_agg(format('%I', relname)), sum(pg_total_relation_size(oid)) INTO tables, bytes
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'goose_db_version';
    IF tables IS NULL THEN
        RETURN;
    END IF;
    IF bytes > 8 << 20 THEN
        EXECUTE 'TRUNCATE ' || array_to_string(tables, ', ');
        RETURN;
    END IF;
    SET LOCAL session_replication_role = replica;
    FOREACH one IN ARRAY tables LOOP
        EXECUTE 'DELETE FROM ' || one;
    END LOOP;
END $$`)
		if err != nil {
			return err
		}
		var made bool
		if err := conn.QueryRow(ctx, `SELECT to_regclass('goose_db_version') IS NOT NULL`).Scan(&made); err != nil || !made {
			return err
		}
		if _, err := conn.Exec(ctx, seed); err != nil {
			return fmt.Errorf("fill in what a new schema holds: %w", err)
		}
		return nil
	})
}

// doomed are databases on a given server that Run drops.
var doomed []string

func atEnd(address string) { doomed = append(doomed, address) }

func dropDoomed() (err error) {
	for _, address := range doomed {
		config, parsing := pgx.ParseConfig(address)
		if parsing != nil {
			return parsing
		}
		if failed := drop(os.Getenv(ServerVariable), config.Database); failed != nil {
			err = failed
		}
	}
	return err
}
