package store

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
)

// DropOrphanTexts removes texts that nothing names. No change leaves any behind;
// they would come from a fault, and only cost space. It reads every hash and every
// trace once, and holds 8 bytes of memory for each hash; two that are alike in
// them keep a text that could have gone.
func (s *Store) DropOrphanTexts(ctx context.Context) (n int64, err error) {
	defer wrap(&err, "drop texts that nothing names")
	refs, err := references(ctx, s.engine, s.reader)
	if err != nil {
		return 0, err
	}
	sources, err := s.readSources(ctx)
	if err != nil {
		return 0, err
	}
	seed := maphash.MakeSeed()
	// What is stored or named meanwhile is looked at again before it goes.
	var needed []uint64
	var candidates []any
	for _, r := range refs {
		err := s.eachHash(ctx, `SELECT DISTINCT `+quote(r.column)+` FROM `+quote(r.table)+` WHERE `+quote(r.column)+` IS NOT NULL`, func(hash []byte) {
			needed = append(needed, maphash.Bytes(seed, hash))
		})
		if err != nil {
			return 0, err
		}
	}
	slices.Sort(needed)
	err = s.eachHash(ctx, `SELECT hash FROM texts`, func(hash []byte) {
		if _, found := slices.BinarySearch(needed, maphash.Bytes(seed, hash)); !found && !sources.has(hash) {
			candidates = append(candidates, hash)
		}
	})
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(candidates, 500) {
		removed, err := s.dropOrphans(ctx, refs, sources, batch)
		n += removed
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// dropOrphans looks again, where nothing can change, and removes.
func (s *Store) dropOrphans(ctx context.Context, refs []reference, sources *sourcesNamed, hashes []any) (n int64, err error) {
	err = s.writeAlone(ctx, func(t *tx) error {
		if err := t.retire(ctx); err != nil {
			return err
		}
		query := `INSERT INTO ` + retiring + ` SELECT hash FROM texts WHERE hash IN (` + placeholders(len(hashes)) + `)`
		if _, err := t.ExecContext(ctx, t.engine.sql(query), hashes...); err != nil {
			return fmt.Errorf("name the texts: %w", err)
		}
		for _, r := range refs {
			if err := t.spare(ctx, r, ""); err != nil {
				return err
			}
		}
		if err := t.spareSources(ctx, sources); err != nil {
			return err
		}
		n, err = t.removeRetired(ctx)
		return err
	})
	return n, err
}

// eachHash reads one column, of text or of bytes.
func (s *Store) eachHash(ctx context.Context, query string, fn func(hash []byte)) (err error) {
	rows, err := s.reader.QueryContext(ctx, query)
	if err != nil {
		return fmt.Errorf("%s: %w", query, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var hash []byte
		if err := rows.Scan(&hash); err != nil {
			return err
		}
		fn(hash)
	}
	return rows.Err()
}
