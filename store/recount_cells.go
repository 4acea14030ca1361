package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
)

// cellKey is all that evaluations of one cell have in common.
type cellKey struct {
	group                    agreementGroup
	judgeLabel, judgeVerdict string
	humanLabel, humanVerdict string
	flags                    int
	stratum                  string
	probability              sql.NullFloat64
	drawn                    int
	waiting, alone           bool
}

func (k cellKey) id() int64 {
	probability := ""
	if k.probability.Valid {
		probability = strconv.FormatFloat(k.probability.Float64, 'g', -1, 64)
	}
	parts := []string{k.group.projectID, k.group.judge, k.group.model, k.group.version, k.judgeLabel, k.judgeVerdict,
		k.humanLabel, k.humanVerdict, strconv.Itoa(k.flags), k.stratum, probability,
		strconv.FormatBool(k.waiting), strconv.FormatBool(k.alone)}
	if k.drawn > 0 { // as before there were draws
		parts = append(parts, strconv.Itoa(k.drawn))
	}
	return keyID(parts...)
}

// keyID is the number of a row that is found by many columns: 63 bits of
// SHA-256 over the columns, each with its length in front. Never 0.
func keyID(parts ...string) int64 {
	var buffer [512]byte
	text := buffer[:0]
	for _, p := range parts {
		text = binary.AppendUvarint(text, uint64(len(p)))
		text = append(text, p...)
	}
	sum := sha256.Sum256(text)
	return max(1, int64(binary.BigEndian.Uint64(sum[:8])>>1))
}

type cellDelta struct {
	key *cellKey // nil: the row is there
	n   int
}

func (d *deltas) cell(id int64) *cellDelta {
	c := d.cells[id]
	if c == nil {
		c = &cellDelta{}
		d.cells[id] = c
	}
	return c
}

// addCell moves an evaluation from the cell it was in to the one it is in.
func (d *deltas) addCell(e *countedEvaluation) {
	if e.was.cell == e.is.cell {
		return
	}
	if e.was.cell != 0 {
		d.cell(e.was.cell).n--
	}
	if e.is.cell != 0 {
		c := d.cell(e.is.cell)
		c.n++
		c.key = &e.key
	}
}

func (d *deltas) writeCells(ctx context.Context, t *tx) error {
	for _, id := range slices.Sorted(maps.Keys(d.cells)) {
		c := d.cells[id]
		if c.n == 0 {
			continue
		}
		if c.key == nil {
			if _, err := t.exec(ctx, `UPDATE agreement_cells SET n = n + ? WHERE id = ?`, c.n, id); err != nil {
				return err
			}
			continue
		}
		k := c.key
		if _, err := t.exec(ctx, `
INSERT INTO agreement_cells (id, project_id, judge, model, prompt_version, judge_label, judge_verdict, human_label, human_verdict,
    flags, stratum, inclusion_probability, drawn, waiting, alone, n)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET n = agreement_cells.n + excluded.n`,
			id, k.group.projectID, k.group.judge, k.group.model, k.group.version, k.judgeLabel, k.judgeVerdict, k.humanLabel, k.humanVerdict,
			k.flags, k.stratum, k.probability, k.drawn, k.waiting, k.alone, c.n); err != nil {
			return err
		}
	}
	return nil
}
