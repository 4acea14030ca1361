package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/countersign/countersign/judge"
)

// Overview is what the first page shows: how the project stands and what to do
// next.
type Overview struct {
	// StatusCounts has every status in the order of an evaluation's life, also
	// those that count nothing.
	StatusCounts []StatusCount
	Queue        QueueCounts
	// Next is what ClaimNext would give the actor; nil when nothing is there
	// or the actor decides nothing.
	Next *QueueItem
	// Mine is what the actor decided since Monday, by the time zone of their profile.
	Mine Pace
	Runs []RunRow // the newest five
}

// Pace is what one person decided in some time.
type Pace struct {
	Decisions int
	Overrides int
	Blind     int // answered before the judge's verdict was seen
	// MedianSeconds from claim to decision; 0: none.
	MedianSeconds float64
}

// StatusCount says how many evaluations have a status.
type StatusCount struct {
	Status judge.Status
	N      int
}

var statusOrder = []judge.Status{judge.Queued, judge.Judging, judge.Refused, judge.InReview, judge.Accepted, judge.Final}

// overviewRuns is how many runs the overview lists.
const overviewRuns = 5

// Overview gathers the first page. Roles: all.
func (s *Store) Overview(ctx context.Context, a Actor, project string) (v Overview, err error) {
	defer wrap(&err, "read the overview")
	if err := s.authorise(ctx, a, everyone, "overview.read", "project:"+orDefaultProject(project)); err != nil {
		return v, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return v, err
	}
	statuses, err := s.tallied(ctx, p.ID, tallyStatus)
	if err != nil {
		return v, err
	}
	for _, status := range statusOrder {
		v.StatusCounts = append(v.StatusCounts, StatusCount{status, statuses[string(status)]})
	}
	if v.Queue, err = s.QueueCounts(ctx, a, p.Name); err != nil {
		return v, err
	}
	if v.Runs, err = s.Runs(ctx, a, p.Name, overviewRuns); err != nil {
		return v, err
	}
	if !a.MayDecide() {
		return v, nil
	}
	if v.Next, err = s.nextItem(ctx, a, p); err != nil {
		return v, err
	}
	profile, err := profileOf(ctx, s.reader, a.UserID)
	if err != nil {
		return v, err
	}
	today := dayEnd(s.clock(), profile.location()).In(profile.location()).AddDate(0, 0, -1)
	v.Mine, err = s.paceSince(ctx, a, p.ID, monday(today))
	return v, err
}

// nextItem is the item that ClaimNext would give, without claiming it.
func (s *Store) nextItem(ctx context.Context, a Actor, p Project) (*QueueItem, error) {
	now := s.clock()
	id, err := nextFor(ctx, s.reader, a, p, ClaimFilter{}, now, "")
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v, _, err := s.readReviewRow(ctx, s.reader, a, id)
	if err != nil {
		return nil, err
	}
	items := []QueueItem{v.QueueItem}
	return &items[0], fillReasons(ctx, s.reader, items)
}

// paceSince counts the actor's decisions since a moment and their median time.
func (s *Store) paceSince(ctx context.Context, a Actor, projectID string, since time.Time) (pace Pace, err error) {
	seconds, err := collect(ctx, s.reader, func(r *sql.Rows, v *float64) error {
		var override, visible bool
		err := r.Scan(v, &override, &visible)
		pace.Decisions++
		if override {
			pace.Overrides++
		}
		if !visible {
			pace.Blind++
		}
		return err
	}, `
SELECT d.seconds, d.action = 'override', d.verdict_visible FROM decisions d JOIN reviews r ON r.id = d.review_id
WHERE d.user_id = ? AND d.decided_at >= ? AND r.project_id = ? AND d.action IN ('confirm', 'override') AND `+standing, a.UserID, since.UTC(), projectID)
	if err != nil || len(seconds) == 0 {
		return Pace{}, err
	}
	pace.MedianSeconds = median(seconds)
	return pace, nil
}
