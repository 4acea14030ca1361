package store

import (
	"context"
	"time"
)

// MyWork is what one person has on their desk, and how they get on.
type MyWork struct {
	Held     []QueueItem // what they hold, also by claims that ran out
	Assigned []QueueItem // what is assigned to them and not held by them
	Next     *QueueItem  // what ClaimNext would give; nil: nothing, and WhyQueue says why
	// ForLead counts what waits for a lead, to leads and admins.
	ForLead int
	Skipped int  // today
	Drafts  int  // items that they typed on and did not sign
	ForMe   int  // what was sent to them by name
	Today   Pace // since midnight of their time zone
	Week    Pace // since Monday, by their time zone
}

// MyWork gathers what concerns the actor. Roles: who may decide.
func (s *Store) MyWork(ctx context.Context, a Actor, project string) (w MyWork, err error) {
	defer wrap(&err, "gather the work of %s", a.Name)
	if err := s.authoriseDecider(ctx, a, "queue.listed", "queue"); err != nil {
		return w, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return w, err
	}
	if w.Held, _, err = s.ListQueue(ctx, a, QueueFilter{Project: p.Name, State: QueueMine, Limit: mostOwn}); err != nil {
		return w, err
	}
	assigned, _, err := s.ListQueue(ctx, a, QueueFilter{Project: p.Name, State: QueueAssigned, Limit: mostOwn})
	if err != nil {
		return w, err
	}
	for _, item := range assigned {
		if item.State != stateClaimed || item.HolderID != a.UserID {
			w.Assigned = append(w.Assigned, item)
		}
	}
	if w.Next, err = s.nextItem(ctx, a, p); err != nil {
		return w, err
	}
	if a.mayAdjudicate() {
		if w.ForLead, err = s.CountQueue(ctx, a, QueueFilter{Project: p.Name, State: QueueAdjudication}); err != nil {
			return w, err
		}
	}
	if w.Skipped, err = s.CountQueue(ctx, a, QueueFilter{Project: p.Name, State: QueueSkipped}); err != nil {
		return w, err
	}
	if w.Drafts, err = s.CountQueue(ctx, a, QueueFilter{Project: p.Name, State: QueueDrafts}); err != nil {
		return w, err
	}
	if w.ForMe, err = s.CountQueue(ctx, a, QueueFilter{Project: p.Name, State: QueueForMe}); err != nil {
		return w, err
	}
	profile, err := profileOf(ctx, s.reader, a.UserID)
	if err != nil {
		return w, err
	}
	day := dayEnd(s.clock(), profile.location()).In(profile.location()).AddDate(0, 0, -1)
	if w.Today, err = s.paceSince(ctx, a, p.ID, day); err != nil {
		return w, err
	}
	w.Week, err = s.paceSince(ctx, a, p.ID, monday(day))
	return w, err
}

// monday is when the week of a day began.
func monday(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }

// mostOwn bounds the lists of MyWork.
const mostOwn = 500
