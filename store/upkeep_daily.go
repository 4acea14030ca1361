package store

import (
	"context"
	"fmt"
	"time"
)

// lastUpkeep is the setting with the time of the last daily upkeep.
const lastUpkeep = "last_upkeep"

// TakeUpkeep says whether it is this process that does the daily upkeep now: at
// least a day went by since the last, and of several processes that ask at once
// one gets it. One that ends before it is done leaves it to the next day.
func (s *Store) TakeUpkeep(ctx context.Context) (mine bool, err error) {
	defer wrap(&err, "take the daily upkeep")
	now, err := s.askClock(ctx, s.reader)
	if err != nil {
		return false, err
	}
	// A new installation has nothing to keep up yet: its first time is tomorrow.
	before, err := s.Setting(ctx, lastUpkeep, func() (string, error) { return now.Format(time.RFC3339), nil })
	if err != nil {
		return false, err
	}
	last, err := time.Parse(time.RFC3339, before)
	if err != nil {
		return false, fmt.Errorf("the setting %s: %w", lastUpkeep, err)
	}
	// A clock that went back must not put upkeep off for good.
	if now.Sub(last) < 24*time.Hour && last.Before(now.Add(time.Hour)) {
		return false, nil
	}
	err = s.writeAlone(ctx, func(t *tx) error {
		n, err := t.changed(ctx, `UPDATE settings SET value = ? WHERE name = ? AND value = ?`, t.now.Format(time.RFC3339), lastUpkeep, before)
		mine = n == 1
		return err
	})
	return mine && err == nil, err
}
