package store

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// ReasonCount is how many items wait for one leading reason.
type ReasonCount struct {
	Code string // empty: blind items whose reason would tell the verdict
	N    int
}

// QueueCounts says how much waits.
type QueueCounts struct {
	Total        int // all that waits, claimed or not
	Mine         int // what the actor holds
	Adjudication int // of Total: what a lead has to settle and nobody holds
	Blind        int // of Total: answered before the verdict is shown
	ByReason     []ReasonCount
}

// QueueCounts reads the kept counts. To somebody who decides, blind items with
// a telling reason are one number without a name. Roles: all.
func (s *Store) QueueCounts(ctx context.Context, a Actor, project string) (c QueueCounts, err error) {
	defer wrap(&err, "count the queue")
	if err := s.authorise(ctx, a, everyone, "queue.listed", "queue"); err != nil {
		return c, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return c, err
	}
	named, err := s.tallied(ctx, p.ID, tallyQueue)
	if err != nil {
		return c, err
	}
	byCode := map[string]int{}
	for name, n := range named {
		code, sight, _ := strings.Cut(name, ":")
		if a.MayDecide() && sight == "blind" {
			code = sealLead(code)
		}
		if sight == "blind" {
			c.Blind += n
		}
		byCode[code] += n
		c.Total += n
	}
	for code, n := range byCode {
		if n > 0 {
			c.ByReason = append(c.ByReason, ReasonCount{code, n})
		}
	}
	slices.SortFunc(c.ByReason, func(x, y ReasonCount) int { return compareReasons(x.Code, y.Code) })
	states, err := s.tallied(ctx, p.ID, tallyQueueState)
	if err != nil {
		return c, err
	}
	c.Adjudication = states[tallyAdjudication]
	if a.UserID == "" {
		return c, nil
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM reviews r WHERE r.holder_id = ? AND r.state = 'claimed' AND r.project_id = ?`, a.UserID, p.ID).Scan(&c.Mine)
	return c, err
}

// compareReasons is the queue's order of reason codes, the sealed ones first.
func compareReasons(x, y string) int {
	order := func(code string) int { return slices.Index(judge.ReasonCodes(), code) }
	return order(x) - order(y)
}

// CountAtMost bounds what is counted row by row: beyond it the exact number
// helps nobody, and costs everybody.
const CountAtMost = 1000

// CountQueue counts the items that ListQueue gives for a filter, up to
// CountAtMost. Roles: all.
func (s *Store) CountQueue(ctx context.Context, a Actor, f QueueFilter) (n int, err error) {
	defer wrap(&err, "count what waits")
	if err := s.authorise(ctx, a, everyone, "queue.listed", "queue"); err != nil {
		return 0, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(f.Project))
	if err != nil {
		return 0, err
	}
	w, err := f.where(a, p.ID, s.clock())
	if err != nil {
		return 0, err
	}
	// In the list's order, so that it is found by the index that finds the list.
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM (SELECT 1 FROM reviews r WHERE `+w.b.String()+` ORDER BY r.urgency, r.due_at, r.id LIMIT ?) AS counted`,
		append(w.args, CountAtMost)...).Scan(&n)
	return n, err
}
