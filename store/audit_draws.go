package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// noteDraw takes what the event of a draw says. Its fields are read for no other event,
// where the same names may mean something else.
func (s sayings) noteDraw(e AuditEvent) {
	var d struct {
		IDs    []string `json:"draw_ids"`
		Digest string   `json:"draws_sha256"`
	}
	if json.Unmarshal(e.Data, &d) == nil {
		s.draws[strings.Join(d.IDs, " ")] = d.Digest
	}
}

// drawsDigest is the hash of all parts of a draw, which its event holds. How many of
// which verdict were drawn can't be tried out against it without the nonce.
func drawsDigest(nonce string, parts []drawSaid) (string, error) {
	return digestOf([]any{nonce, parts})
}

// checkDraws holds draws of labels, and what each drew, to the chain: by what chance
// labels count follows from them.
func (s *Store) checkDraws(ctx context.Context, said sayings) (string, error) {
	type row struct {
		nonce string
		drawSaid
	}
	rows := map[string]row{}
	if _, err := collect(ctx, s.reader, func(r *sql.Rows, id *string) error {
		var d row
		err := r.Scan(id, &d.nonce, &d.Frame, &d.N, &d.Number, &d.Earlier, &d.Digest, &d.Model, &d.Version, &d.Verdict)
		rows[*id] = d
		return err
	}, `SELECT id, nonce, frame, n, number, earlier, ids_sha256, model, prompt_version, verdict FROM label_draws ORDER BY id`); err != nil {
		return "", err
	}
	type member struct{ draw, evaluation string }
	members, err := collect(ctx, s.reader, func(r *sql.Rows, m *member) error { return r.Scan(&m.draw, &m.evaluation) },
		`SELECT draw_id, evaluation_id FROM drawn_labels ORDER BY draw_id, evaluation_id`)
	if err != nil {
		return "", err
	}
	drawn := map[string][]frameItem{}
	for _, m := range members {
		drawn[m.draw] = append(drawn[m.draw], frameItem{id: m.evaluation})
	}
	for key, want := range said.draws {
		var parts []drawSaid
		nonce := ""
		for id := range strings.SplitSeq(key, " ") {
			d, ok := rows[id]
			if !ok {
				return fmt.Sprintf("draw %s of labels is in the chain and not in the database: it was removed", id), nil
			}
			if nonce = d.nonce; idsDigest(nonce, drawn[id]) != d.Digest {
				return fmt.Sprintf("draw %s of labels, or what it drew, was changed: its event says otherwise", id), nil
			}
			parts = append(parts, d.drawSaid)
			delete(rows, id)
		}
		if got, err := drawsDigest(nonce, parts); err != nil || got != want {
			return fmt.Sprintf("a draw of labels (%s), or what it drew, was changed: its event says otherwise", key), err
		}
	}
	for id := range rows {
		return fmt.Sprintf("draw %s of labels is in no event of the chain: it was slipped in", id), nil
	}
	return "", nil
}
