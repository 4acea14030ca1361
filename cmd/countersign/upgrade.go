package main

import (
	"time"

	"github.com/countersign/countersign/store"
)

// upgradeEvery is how often it is said how far a change to an older database is.
const upgradeEvery = 10 * time.Second

// tellUpgrade says what is done to a database of an older program, and how far it
// is, so that nobody takes a start that lasts for one that hangs.
func (s *state) tellUpgrade() func(store.Upgrade) {
	what, last := "", time.Time{}
	return func(u store.Upgrade) {
		switch {
		case u.What != what:
			s.say("the database is of an older version; %s, once: %s. If it is stopped it goes on from where it was",
				u.What, plural(int(u.Total-u.Done), "evaluation", "evaluations"))
			what = u.What
		case u.Done < u.Total && time.Since(last) < upgradeEvery:
			return
		default:
			s.say("%s: %s of %s", u.What, thousands(int(u.Done)), thousands(int(u.Total)))
		}
		last = time.Now()
	}
}
