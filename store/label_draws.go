package store

import (
	"context"
	"database/sql"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement/sampling"
)

// A draw of labels changes by what chance the labels that were there before it count.
// No label is edited: a cell of the kept counts says which draws its labels' chance
// has in it already, and whoever reads it adds the later ones.

// labelDraw is a row of label_draws, as far as weights look at it.
type labelDraw struct {
	id                      string
	number                  int
	model, version, verdict string
	n, open                 int // that were drawn, and of these that wait for people
	earlier                 float64
}

// now is the share of the earlier labels' estimate as far as the drawn labels are in.
// That of the new ones grows with them: a draw nobody has answered changes no figure,
// and part of it, answered in whatever order, stands for its part of the frame.
func (d labelDraw) now() float64 {
	if d.n == 0 {
		return 1
	}
	return 1 - (1-d.earlier)*float64(d.n-d.open)/float64(d.n)
}

// labelDraws are those of one judge, in the order of their numbers.
type labelDraws []labelDraw

func drawsOf(ctx context.Context, q querier, projectID, judgeName string) (labelDraws, error) {
	draws, err := collect(ctx, q, func(r *sql.Rows, d *labelDraw) error {
		return r.Scan(&d.id, &d.number, &d.model, &d.version, &d.verdict, &d.n, &d.earlier)
	}, `
SELECT id, number, model, prompt_version, verdict, n, earlier FROM label_draws WHERE project_id = ? AND judge = ? ORDER BY number`, projectID, judgeName)
	if err != nil || len(draws) == 0 {
		return draws, err
	}
	open := map[string]int{}
	_, err = collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		id, n := "", 0
		err := r.Scan(&id, &n)
		open[id] = n
		return err
	}, `
SELECT x.draw_id, count(*) FROM reviews r JOIN drawn_labels x ON x.evaluation_id = r.evaluation_id
WHERE r.project_id = ? AND r.judge = ? AND r.state IN ('open', 'claimed', 'adjudication') GROUP BY x.draw_id`, projectID, judgeName)
	for i := range draws {
		draws[i].open = open[draws[i].id]
	}
	return draws, err
}

// waiting are the drawn labels that wait for people, by model and version.
func (all labelDraws) waiting() (counts []modelCount) {
	for _, d := range all {
		if d.open > 0 {
			counts = append(counts, modelCount{d.model, d.version, d.open})
		}
	}
	return counts
}

// apply brings the chance of labels up to the draws that were made from the same
// frame after them.
func (all labelDraws) apply(g *countedGroup) {
	if !g.labelled || !g.probability.Valid {
		return
	}
	if judge.KnownChance(g.probability.Float64) == 0 { // stored before such a chance was refused
		g.probability = sql.NullFloat64{}
		return
	}
	var later []float64
	for _, d := range all {
		if d.number > g.drawn && d.model == g.model && d.version == g.version && d.verdict == string(g.cell.Judge.Verdict) {
			later = append(later, d.now())
		}
	}
	g.probability.Float64 = sampling.LaterChance(g.probability.Float64, later...)
}

// drawnBefore is SQL for the number of the newest draw that the chance of a label on
// evaluation e has in it: the one that drew it, else the last before it was judged.
func drawnBefore(e string) string {
	return `COALESCE((SELECT max(own_d.number) FROM drawn_labels own_x JOIN label_draws own_d ON own_d.id = own_x.draw_id WHERE own_x.evaluation_id = ` + e + `.id),
    (SELECT max(had_d.number) FROM label_draws had_d WHERE had_d.project_id = ` + e + `.project_id AND had_d.judge = ` + e + `.judge AND had_d.frame_at <= ` + e + `.finished_at), 0)`
}
