package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement/sampling"
)

// frameItem is an evaluation that can be drawn.
type frameItem struct {
	id, traceID string
	domain      string
	stakes      judge.Stakes
	policy      int // version that routed it; 0: not known
	had         int // number of the last draw before it was judged
	before      float64
	place       [sha256.Size]byte // in the order of the draw
	chance      float64
}

// labelFrame are the accepted evaluations of one judge, model, version and verdict that
// nobody has labelled, with the chance that each had before.
type labelFrame struct {
	items []frameItem
	at    time.Time
	draws []frameDraw
}

// drawFrom is what one part of a draw is drawn from.
type drawFrom struct {
	Judge, Model, PromptVersion string
	Verdict                     judge.Verdict
}

// frameDraw is an earlier draw, as far as chances look at it.
type frameDraw struct {
	number int
	share  float64 // of its frame
}

// readFrame reads what can be drawn. It looks at each evaluation of the verdict, so it
// takes a second for some hundred thousand; it is read outside of the transaction that
// draws, which looks at the drawn ones once more.
func (s *Store) readFrame(ctx context.Context, q querier, p Project, ask drawFrom) (f labelFrame, err error) {
	if f.at, err = s.askClock(ctx, q); err != nil {
		return f, err
	}
	cells, err := keptCells(ctx, q, p.ID, ask.Judge)
	if err != nil {
		return f, err
	}
	var free []any
	for _, c := range cells {
		if c.model == ask.Model && c.version == ask.PromptVersion && c.cell.Judge.Verdict == ask.Verdict && !c.labelled && !c.waiting {
			free = append(free, c.id)
		}
	}
	if len(free) == 0 {
		return f, nil
	}
	for batch := range slices.Chunk(free, batchSize) {
		items, err := collect(ctx, q, func(r *sql.Rows, i *frameItem) error {
			return r.Scan(&i.id, &i.traceID, &i.domain, &i.stakes, &i.policy, &i.had)
		}, `
SELECT e.id, e.trace_id, tr.domain, tr.stakes, e.policy_version,
    COALESCE((SELECT max(d.number) FROM label_draws d WHERE d.project_id = e.project_id AND d.judge = e.judge AND d.frame_at <= e.finished_at), 0)
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
WHERE e.project_id = ? AND e.verdict = ? AND e.verdict <> '' AND NOT e.sealed AND e.status = 'accepted'
  AND e.cell IN (`+placeholders(len(batch))+`)`, append([]any{p.ID, string(ask.Verdict)}, batch...)...)
		if err != nil {
			return f, err
		}
		f.items = append(f.items, items...)
	}
	if f.draws, err = collect(ctx, q, func(r *sql.Rows, d *frameDraw) error { return r.Scan(&d.number, &d.share) }, `
SELECT number, CAST(n AS DOUBLE PRECISION) / frame FROM label_draws
WHERE project_id = ? AND judge = ? AND model = ? AND prompt_version = ? AND verdict = ? ORDER BY number`,
		p.ID, ask.Judge, ask.Model, ask.PromptVersion, string(ask.Verdict)); err != nil {
		return f, err
	}
	return f, f.chances(ctx, q, p, ask, drawnByLot(cells, ask))
}

// drawnByLot is the chance that labels which were drawn by lot had on average (harmonic
// mean, later draws included); 0 where there are none.
func drawnByLot(cells []keptCell, ask drawFrom) float64 {
	n, weights := 0.0, 0.0
	for _, c := range cells {
		p := c.probability.Float64
		if c.model == ask.Model && c.version == ask.PromptVersion && c.cell.Judge.Verdict == ask.Verdict && c.labelled && !c.waiting && !c.cell.Visible && p > 0 && p < 1 {
			n, weights = n+float64(c.cell.N), weights+float64(c.cell.N)/p
		}
	}
	if n == 0 {
		return 0
	}
	return n / weights
}

// chances works out what chance each item had: by the share of the policy that routed
// it and by earlier draws, or, if that is more, as the labels have that were drawn by lot.
// An item that neither policy nor draw could take, and that no labels were imported
// beside, had none. What is near a boundary had more than is said; that may be left out
// (sampling.SecondDraw).
func (f *labelFrame) chances(ctx context.Context, q querier, p Project, ask drawFrom, byLot float64) error {
	var imported bool
	if err := q.QueryRowContext(ctx, `
SELECT EXISTS (SELECT 1 FROM evaluations e JOIN consensus c ON c.project_id = e.project_id AND c.judge = e.judge AND c.trace_id = e.trace_id
WHERE e.project_id = ? AND e.judge = ? AND e.verdict = ? AND e.prompt_version = ? AND `+raterOf("e")+` = ? AND NOT c.visible
  AND c.inclusion_probability < 1 AND NOT EXISTS (SELECT 1 FROM reviews r WHERE r.evaluation_id = e.id))`,
		p.ID, ask.Judge, string(ask.Verdict), ask.PromptVersion, ask.Model).Scan(&imported); err != nil {
		return err
	}
	policies, err := policiesByVersion(ctx, q, p.ID)
	if err != nil {
		return err
	}
	type routed struct {
		policy int
		domain string
		stakes judge.Stakes
	}
	shares := map[routed]float64{}
	for i := range f.items {
		it := &f.items[i]
		k := routed{it.policy, it.domain, it.stakes}
		share, known := shares[k]
		if policy, there := policies[it.policy]; !known && there {
			share = policy.For(ask.Judge, it.domain, it.stakes).RandomAudit
		}
		shares[k] = share
		if it.before = chanceBefore(share, it.had, f.draws); it.before > 0 || imported {
			it.before = min(max(it.before, byLot), 0.999999)
		}
	}
	return nil
}

// chanceBefore adds to a chance those of the draws that an item could have been in.
func chanceBefore(chance float64, had int, draws []frameDraw) float64 {
	missed := 1 - chance
	for _, d := range draws {
		if d.number > had {
			missed *= 1 - d.share
		}
	}
	return min(1-missed, 0.999999) // it was not drawn, so it was not certain
}

// policiesByVersion are the policies that a project has had.
func policiesByVersion(ctx context.Context, q querier, projectID string) (map[int]judge.Policy, error) {
	type row struct {
		version int
		text    string
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *row) error { return r.Scan(&v.version, &v.text) },
		`SELECT version, policy FROM policies WHERE project_id = ? ORDER BY version DESC LIMIT ?`, projectID, maxPolicies)
	all := make(map[int]judge.Policy, len(rows))
	for _, v := range rows {
		var p judge.Policy
		if err := json.Unmarshal([]byte(v.text), &p); err != nil {
			return nil, fmt.Errorf("policy version %d: %w", v.version, err)
		}
		all[v.version] = p
	}
	return all, err
}

// draw takes n items at random, those that had a chance before and those that had none
// each in their share: the ones whose hash with the seed comes first.
func (f *labelFrame) draw(n int, seed, nonce string) ([]frameItem, sampling.SecondDraw, error) {
	classes := map[float64]int{}
	for i := range f.items {
		it := &f.items[i]
		it.place = sha256.Sum256([]byte("draw\x00" + seed + "\x00" + nonce + "\x00" + it.id))
		classes[it.before]++
	}
	var frame []sampling.Class
	for before, size := range classes {
		frame = append(frame, sampling.Class{Size: size, Before: before})
	}
	slices.SortFunc(frame, func(a, b sampling.Class) int { return strings.Compare(fmt.Sprint(a.Before), fmt.Sprint(b.Before)) })
	plan, err := sampling.PlanSecondDraw(frame, n)
	if err != nil {
		return nil, plan, err
	}
	slices.SortFunc(f.items, func(a, b frameItem) int { return slices.Compare(a.place[:], b.place[:]) })
	var drawn []frameItem
	known, fresh := plan.Known.N, plan.New.N
	for _, it := range f.items {
		left, chance := &known, plan.Known.Chance
		if it.before == 0 {
			left, chance = &fresh, plan.New.Chance
		}
		if *left == 0 {
			continue
		}
		*left--
		it.chance = chance
		drawn = append(drawn, it)
	}
	slices.SortFunc(drawn, func(a, b frameItem) int { return strings.Compare(a.id, b.id) })
	return drawn, plan, nil
}

// idsDigest is the hash of what was drawn, which the event holds. Nobody can try ids
// out against it who does not know the nonce.
func idsDigest(nonce string, drawn []frameItem) string {
	h := sha256.New()
	h.Write([]byte(nonce))
	for _, it := range drawn {
		h.Write([]byte("\x00" + it.id))
	}
	return hex.EncodeToString(h.Sum(nil))
}
