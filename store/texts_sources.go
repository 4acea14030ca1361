package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"time"

	"github.com/oklog/ulid/v2"
)

// sourcesNamed are the long sources of traces: texts that no column names, but
// only the body of a trace. They are held as 8 bytes each; two that are alike
// keep a text that could have gone.
type sourcesNamed struct {
	seed  maphash.Seed
	known map[uint64]struct{}
	since string // traces from this id on may be new
}

// commitsWithin is how long after it got its time a transaction that imports
// traces may still commit.
const commitsWithin = 2 * time.Minute

// readSources reads the bodies of all traces.
func (s *Store) readSources(ctx context.Context) (*sourcesNamed, error) {
	n := &sourcesNamed{seed: maphash.MakeSeed(), known: map[uint64]struct{}{}}
	now, err := s.askClock(ctx, s.reader)
	if err != nil {
		return nil, err
	}
	if err := n.read(ctx, s.reader, "", time.Time{}); err != nil {
		return nil, err
	}
	n.since = lowestID(now.Add(-commitsWithin))
	return n, nil
}

// lowestID is below all ids that are made from that time on.
func lowestID(at time.Time) string {
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(at)); err != nil {
		return "" // before 1970: all are later
	}
	return id.String()
}

// again adds the traces that came since, as a transaction sees them that keeps
// everybody else from storing texts.
func (n *sourcesNamed) again(ctx context.Context, t *tx) error {
	since := n.since
	n.since = lowestID(t.now.Add(-commitsWithin))
	return n.read(ctx, t, since, t.now.Add(-24*time.Hour))
}

// read notes the sources of traces from an id and a time on.
func (n *sourcesNamed) read(ctx context.Context, q querier, since string, from time.Time) error {
	type place struct{ id, hash string }
	for after := ""; ; {
		page, err := collect(ctx, q, func(r *sql.Rows, p *place) error { return r.Scan(&p.id, (*digest)(&p.hash)) },
			`SELECT tr.id, tr.body_hash FROM traces tr WHERE tr.id > ? AND tr.id >= ? AND tr.created_at >= ? ORDER BY tr.id LIMIT 500`,
			after, since, from.UTC())
		if err != nil || len(page) == 0 {
			return err
		}
		hashes := make([]string, len(page))
		for i, p := range page {
			hashes[i] = p.hash
		}
		bodies, err := textsFrom(q).get(ctx, hashes)
		if err != nil {
			return err
		}
		for hash, body := range bodies {
			var b struct {
				SourceHashes []string `json:"source_hashes"`
			}
			if err := json.Unmarshal([]byte(body), &b); err != nil {
				return fmt.Errorf("the stored trace %s: %w", hash, err)
			}
			for _, h := range b.SourceHashes {
				if h != "" {
					n.known[maphash.String(n.seed, h)] = struct{}{}
				}
			}
		}
		after = page[len(page)-1].id
	}
}

// has says whether a text, by its hash as the database gives it, may be one.
func (n *sourcesNamed) has(hash []byte) bool {
	_, found := n.known[maphash.String(n.seed, hex.EncodeToString(hash))]
	return found
}

// spareSources takes from the retiring texts those that are sources.
func (t *tx) spareSources(ctx context.Context, n *sourcesNamed) error {
	if err := n.again(ctx, t); err != nil {
		return err
	}
	hashes, err := collect(ctx, t, func(r *sql.Rows, h *[]byte) error { return r.Scan(h) }, `SELECT hash FROM `+retiring)
	if err != nil {
		return err
	}
	var sources []any
	for _, h := range hashes {
		if n.has(h) {
			sources = append(sources, h)
		}
	}
	for len(sources) > 0 {
		some := sources[:min(len(sources), 500)]
		sources = sources[len(some):]
		if _, err := t.ExecContext(ctx, t.engine.sql(`DELETE FROM `+retiring+` WHERE hash IN (`+placeholders(len(some))+`)`), some...); err != nil {
			return fmt.Errorf("spare sources: %w", err)
		}
	}
	return nil
}
