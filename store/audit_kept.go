package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Some records tell of verdicts that wait blind, so an event can't hold them, and a
// bare digest of a few numbers could be tried out. Their events hold a digest with a
// key of the installation, which is in no event.

// rowsKey names the setting with that key.
const rowsKey = "kept_rows_key"

// chainedTable is a table whose rows the chain holds so. Its columns are told apart
// by their kind, because engines give the same value as different types.
type chainedTable struct {
	what, table, id                  string // id is SQL for a row's name within its judge
	texts, wholes, reals, bits, days string
}

// Tables of records.
var (
	chainedBaselines = chainedTable{what: "drift baseline", table: "drift_baselines", id: "x.id", texts: "model prompt_version frozen_by",
		wholes: "labels agreed first_us last_us verdicts passed scores score_micro square_micro ruled kept_micro kept_square_micro", bits: "automatic", days: "frozen_at"}
	chainedAlarms = chainedTable{what: "drift alarm", table: "drift_alarms", id: "x.id", texts: "model prompt_version monitor baseline_id closed_by close_reason",
		wholes: "n", reals: "e_value found baseline", days: "opened_at closed_at"}
	chainedSets       = chainedTable{what: "sentinel set", table: "sentinel_sets", id: "x.id", texts: "run_id set_by", wholes: "every_days budget_nano", days: "set_at"}
	chainedSplits     = chainedTable{what: "test split", table: "judge_splits", id: "''", texts: "seed comment locked_by", reals: "share", days: "locked_at"}
	chainedLooks      = chainedTable{what: "look at the test split", table: "judge_test_looks", id: "CAST(x.number AS TEXT)", texts: "competitors figures looked_by", days: "looked_at"}
	chainedPromotions = chainedTable{what: "promotion", table: "judge_promotions", id: "x.id", texts: "from_version prompt_version comment evidence promoted_by", days: "promoted_at"}
)

var chainedTables = []chainedTable{chainedBaselines, chainedAlarms, chainedSets, chainedSplits, chainedLooks, chainedPromotions}

// chainedKey names a row as its event does.
type chainedKey struct{ table, project, judge, id string }

func (k chainedKey) String() string {
	return strings.TrimRight(k.id, " ") + " of judge " + k.judge + " in project " + k.project
}

// chainedRow is a row with the values of its columns, in their order.
type chainedRow struct {
	chainedKey
	values []any
}

// digest ties a row to its event.
func (r chainedRow) digest(key string) (string, error) {
	return digestOf([]any{key, r.table, r.project, r.judge, r.id, r.values})
}

// rows reads all, or those of one judge and id.
func (c chainedTable) rows(ctx context.Context, q querier, where string, args ...any) ([]chainedRow, error) {
	columns := strings.Fields(strings.Join([]string{c.texts, c.wholes, c.reals, c.bits, c.days}, " "))
	return collect(ctx, q, func(r *sql.Rows, v *chainedRow) error {
		v.table = c.table
		into := []any{&v.project, &v.judge, &v.id}
		for range strings.Fields(c.texts) {
			into = append(into, new(sql.NullString))
		}
		for range strings.Fields(c.wholes) {
			into = append(into, new(sql.NullInt64))
		}
		for range strings.Fields(c.reals) {
			into = append(into, new(sql.NullFloat64))
		}
		for range strings.Fields(c.bits) {
			into = append(into, new(sql.NullBool))
		}
		for range strings.Fields(c.days) {
			into = append(into, new(sql.NullTime))
		}
		if err := r.Scan(into...); err != nil {
			return err
		}
		for _, x := range into[3:] {
			if at, is := x.(*sql.NullTime); is {
				at.Time = at.Time.UTC()
			}
			v.values = append(v.values, x)
		}
		return nil
	}, `SELECT p.name, x.judge, `+c.id+`, x.`+strings.Join(columns, ", x.")+` FROM `+c.table+` x JOIN projects p ON p.id = x.project_id`+where, args...)
}

// rowDigest is what the event of a row that was just written holds of it.
func (t *tx) rowDigest(ctx context.Context, c chainedTable, projectID, judgeName, id string) (string, error) {
	key, err := t.rowsKey(ctx)
	if err != nil {
		return "", err
	}
	rows, err := c.rows(ctx, t, ` WHERE x.project_id = ? AND x.judge = ? AND `+c.id+` = ?`, projectID, judgeName, id)
	if err != nil {
		return "", err
	}
	if len(rows) != 1 {
		return "", fmt.Errorf("%s %s of judge %s is stored %d times: %w", c.what, id, judgeName, len(rows), ErrNotFound)
	}
	return rows[0].digest(key)
}

// rowsKey reads the key, and makes it where there is none.
func (t *tx) rowsKey(ctx context.Context) (key string, err error) {
	key, err = keptRowsKey(ctx, t)
	if err != nil || key != "" {
		return key, err
	}
	if _, err := t.exec(ctx, `INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, rowsKey, rand.Text()); err != nil {
		return "", err
	}
	return keptRowsKey(ctx, t)
}

func keptRowsKey(ctx context.Context, q querier) (key string, err error) {
	err = q.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = ?`, rowsKey).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return key, err
}

// noteRow takes what the event of such a row says. An event of an older program has
// no digest: then only that the row is there is held to it.
func (s sayings) noteRow(e AuditEvent) {
	var d struct {
		Baseline  string `json:"baseline"`
		Alarm     string `json:"alarm"`
		Set       string `json:"set"`
		Number    int    `json:"number"`
		Promotion string `json:"promotion"`
		Digest    string `json:"row_sha256"`
	}
	var c chainedTable
	var id string
	// A field may have another type in another event: what is not read stays empty.
	read := json.Unmarshal(e.Data, &d)
	switch e.Action {
	case FreezeBaselines.action:
		c, id = chainedBaselines, d.Baseline
	case driftOpened, driftClosed:
		// Of an alarm, baseline is a figure.
		var alarm struct {
			Alarm  string `json:"alarm"`
			Digest string `json:"row_sha256"`
		}
		read = json.Unmarshal(e.Data, &alarm)
		c, id, d.Digest = chainedAlarms, alarm.Alarm, alarm.Digest
	case SetSentinels.action:
		c, id = chainedSets, d.Set
	case LockTestSplits.action:
		c = chainedSplits
	case LookAtTestSplits.action:
		c, id = chainedLooks, fmt.Sprint(d.Number)
	case PromoteJudges.action:
		c, id = chainedPromotions, d.Promotion
		if id == "" {
			id = promotedAt(e.At)
		}
	default:
		return
	}
	if !e.Allowed || read != nil {
		return
	}
	s.rows[chainedKey{c.table, e.Project, strings.TrimPrefix(e.Subject, "judge:"), id}] = d.Digest
}

// promotedAt names a promotion whose event has no id.
func promotedAt(at time.Time) string { return "at " + at.UTC().Format(time.RFC3339Nano) }

// checkKept holds these tables to the chain.
func (s *Store) checkKept(ctx context.Context, said sayings) (string, error) {
	key, err := keptRowsKey(ctx, said.of)
	if err != nil {
		return "", err
	}
	for _, c := range chainedTables {
		rows, err := c.rows(ctx, said.of, ` ORDER BY 1, 2, 3`)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			named := r.chainedKey
			want, ok := said.rows[named]
			if c.table == chainedPromotions.table && !ok {
				if at, is := r.values[len(r.values)-1].(*sql.NullTime); is {
					named.id = promotedAt(at.Time)
					want, ok = said.rows[named]
				}
			}
			got, err := r.digest(key)
			switch {
			case err != nil:
				return "", err
			case !ok:
				return fmt.Sprintf("%s %s is in no event of the chain: it was slipped in", c.what, r), nil
			case want != "" && key == "":
				return fmt.Sprintf("%s %s can't be held to its event: the setting %s was removed", c.what, r, rowsKey), nil
			case want != "" && got != want:
				return fmt.Sprintf("%s %s was changed: its event says otherwise", c.what, r), nil
			}
			delete(said.rows, named)
		}
		for k := range said.rows {
			if k.table == c.table {
				return fmt.Sprintf("%s %s is in the chain and not in the database: it was removed", c.what, k), nil
			}
		}
	}
	return "", nil
}
