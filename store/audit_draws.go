package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// noteDraw takes what the event of a draw says. Its fields are read for no other event,
// where the same names may mean something else.
func (s sayings) noteDraw(e AuditEvent) {
	var d struct {
		ID string `json:"draw_id"`
		drawSaid
	}
	if json.Unmarshal(e.Data, &d) == nil {
		s.draws[d.ID] = d.drawSaid
	}
}

// checkDraws holds draws of labels, and what each drew, to the chain: by what chance
// labels count follows from them.
func (s *Store) checkDraws(ctx context.Context, said sayings) (string, error) {
	type row struct {
		id, nonce string
		drawSaid
	}
	draws, err := collect(ctx, s.reader, func(r *sql.Rows, d *row) error {
		return r.Scan(&d.id, &d.nonce, &d.Frame, &d.N, &d.Number, &d.Earlier, &d.Digest, &d.Model, &d.Version, &d.Verdict)
	}, `SELECT id, nonce, frame, n, number, earlier, ids_sha256, model, prompt_version, verdict FROM label_draws ORDER BY id`)
	if err != nil {
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
	for _, d := range draws {
		want, ok := said.draws[d.id]
		switch {
		case !ok:
			return fmt.Sprintf("draw %s of labels is in no event of the chain: it was slipped in", d.id), nil
		case d.drawSaid != want || idsDigest(d.nonce, drawn[d.id]) != want.Digest:
			return fmt.Sprintf("draw %s of labels, or what it drew, was changed: its event says otherwise", d.id), nil
		}
		delete(said.draws, d.id)
	}
	for id := range said.draws {
		return fmt.Sprintf("draw %s of labels is in the chain and not in the database: it was removed", id), nil
	}
	return "", nil
}
