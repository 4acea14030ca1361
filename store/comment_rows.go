package store

import (
	"context"
	"database/sql"
	"fmt"
)

// checkComments holds what people asked each other to the chain. Of a comment
// that was taken back only that is left.
func (s *Store) checkComments(ctx context.Context, said sayings) (string, error) {
	type row struct {
		Comment
		nonce string
	}
	comments, err := collect(ctx, s.reader, func(rows *sql.Rows, r *row) error { return scanCommentAnd(rows, &r.Comment, &r.nonce) },
		`SELECT `+commentColumns+`, c.nonce FROM `+commentTables+` ORDER BY c.created_at, c.id`)
	if err != nil {
		return "", err
	}
	for _, c := range comments {
		want, ok := said.comments[c.ID]
		if !ok {
			return fmt.Sprintf("comment %s is in no event of the chain: it was slipped in", c.ID), nil
		}
		delete(said.comments, c.ID)
		if said.withdrawn[c.ID] != (c.WithdrawnAt != nil) {
			return fmt.Sprintf("comment %s was taken back in the chain or in the database, and not in the other", c.ID), nil
		}
		if c.WithdrawnAt != nil {
			continue
		}
		got, err := c.digest(c.nonce)
		if err != nil {
			return "", err
		}
		if got != want {
			return fmt.Sprintf("comment %s was changed: its event says otherwise", c.ID), nil
		}
	}
	for id := range said.comments {
		return fmt.Sprintf("comment %s is in the chain and not in the database: it was removed", id), nil
	}
	return "", nil
}
