package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
)

// Kinds of tallies. They are changed in the transaction that changes what they
// count, so they are never behind.
const (
	tallyStatus     = "status"      // name: evaluation status
	tallyQueue      = "queue"       // name: queueName; items that wait: open, claimed, adjudication
	tallyQueueState = "queue_state" // name: adjudication
	tallyUse        = "use"         // name: useName; evaluations of a version of a judge
)

// tallyAdjudication is the name of the one queue state that is counted: items
// in state adjudication.
const tallyAdjudication = "adjudication"

// queueName is the name under which a waiting item is counted. Blind items are
// counted apart, because their reason may not be told to those who decide.
func queueName(leadReason string, blind bool) string {
	if blind {
		return leadReason + ":blind"
	}
	return leadReason + ":visible"
}

type tallyKey struct{ project, kind, name string }

// tally changes a count by d. Changes add up and are written once, just before
// the commit.
func (t *tx) tally(projectID, kind, name string, d int) {
	t.tallies[tallyKey{projectID, kind, name}] += d
}

func (t *tx) writeTallies(ctx context.Context) error {
	// In order, so that two servers never lock the same rows crosswise.
	for _, k := range slices.SortedFunc(maps.Keys(t.tallies), func(a, b tallyKey) int {
		return cmp.Or(cmp.Compare(a.project, b.project), cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	}) {
		d := t.tallies[k]
		if d == 0 {
			continue
		}
		if _, err := t.exec(ctx, `
INSERT INTO tallies (project_id, kind, name, n) VALUES (?, ?, ?, ?)
ON CONFLICT (project_id, kind, name) DO UPDATE SET n = tallies.n + excluded.n`, k.project, k.kind, k.name, d); err != nil {
			return err
		}
	}
	return nil
}

// tallied reads the counts of one kind, by name.
func (s *Store) tallied(ctx context.Context, projectID, kind string) (map[string]int, error) {
	type count struct {
		name string
		n    int
	}
	counts, err := collect(ctx, s.reader, func(r *sql.Rows, c *count) error { return r.Scan(&c.name, &c.n) },
		`SELECT name, n FROM tallies WHERE project_id = ? AND kind = ?`, projectID, kind)
	if err != nil {
		return nil, err
	}
	named := make(map[string]int, len(counts))
	for _, c := range counts {
		named[c.name] = c.n
	}
	return named, nil
}
