package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestReviewersAtOnce lets many people decide at three servers over one
// database: every item is decided once, by who held it; no claim is held by
// two; every answer is one that is documented; the audit chain and the counts
// hold.
func TestReviewersAtOnce(t *testing.T) {
	people := sizeFrom(t, "COUNTERSIGN_TEST_REVIEWERS", reviewersAtOnce)
	items := sizeFrom(t, "COUNTERSIGN_TEST_ITEMS", itemsAtOnce)
	address := storetest.Address(t)
	c, members := newCrowd(t, address, people, items)
	began := time.Now()
	var wait sync.WaitGroup
	wait.Go(c.passTime)
	for _, m := range members {
		wait.Go(m.work)
	}
	wait.Wait()
	t.Logf("%d people, %d items, %s; answers by status: %v", people, items, time.Since(began).Round(time.Millisecond), c.answers)
	if t.Failed() {
		for i, s := range c.servers {
			t.Logf("log of server %d:\n%s", i, tail(s.log.String()))
		}
		return
	}
	db := storetest.Raw(t, address)
	c.checkSpans()
	c.checkDecisions(db)
	c.checkAudit(c.servers[1].store)
	c.checkCounts(db)
}

func tail(text string) string { return text[max(0, len(text)-4000):] }

// checkSpans: as far as answers tell, nobody held what another held.
func (c *crowd) checkSpans() {
	c.t.Helper()
	for review, spans := range c.spans {
		slices.SortFunc(spans, func(a, b span) int { return a.from.Compare(b.from) })
		for i, a := range spans {
			for _, b := range spans[i+1:] {
				if a.user != b.user && b.from.Before(a.to) {
					c.t.Errorf("review %s was held by %s until %s and by %s from %s on", review, a.user, a.to, b.user, b.from)
				}
			}
		}
	}
}

// checkDecisions: what is stored is what was answered, one that settles for
// each item, and for an escalated one first the escalation by another person.
func (c *crowd) checkDecisions(db *storetest.Database) {
	c.t.Helper()
	rows, err := db.QueryContext(c.t.Context(), `SELECT id, review_id, user_id, action, adjudication FROM decisions ORDER BY id`)
	if err != nil {
		c.t.Fatal(err)
	}
	defer rows.Close()
	stored, settling, escalated := 0, map[string]string{}, map[string]string{}
	for rows.Next() {
		var id, review, user, action string
		var adjudication bool
		if err := rows.Scan(&id, &review, &user, &action, &adjudication); err != nil {
			c.t.Fatal(err)
		}
		stored++
		if told, ok := c.stored[id]; !ok || told.ReviewID != review || told.UserID != user || told.Action != action {
			c.t.Errorf("decision %s on %s by %s, %s, was answered as %+v", id, review, user, action, told)
		}
		seen := settling
		if action == store.Escalate {
			seen = escalated
		}
		if seen[review] != "" {
			c.t.Errorf("review %s has two decisions of one kind: by %s and %s", review, seen[review], user)
		}
		seen[review] = user
		if by := escalated[review]; action != store.Escalate && (by != "") != adjudication || by == user && action != store.Escalate {
			c.t.Errorf("review %s: escalated by %q, settled by %s, as adjudication: %t", review, by, user, adjudication)
		}
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	if len(settling) != c.items || stored != len(c.stored) {
		c.t.Errorf("%d of %d items are decided; %d decisions are stored, %d were answered 200", len(settling), c.items, stored, len(c.stored))
	}
	if len(escalated) == 0 {
		c.t.Error("nobody escalated: the test did not test it")
	}
	firsts := 0
	for _, users := range c.first {
		firsts += len(users)
	}
	if got := numberIn(c.t, db, `SELECT count(*) FROM first_answers`); got != firsts {
		c.t.Errorf("%d first answers are stored, %d were answered 200", got, firsts)
	}
}

// checkAudit replays the chain: each claim on a free item or on one whose claim
// had run out by then, each decision and release by who held it.
func (c *crowd) checkAudit(s *store.Store) {
	c.t.Helper()
	if v, err := s.VerifyAudit(c.t.Context(), storetest.Operator); err != nil || v.Problem != "" {
		c.t.Errorf("audit chain: %q, %v", v.Problem, err)
	}
	type claim struct {
		by    string
		until time.Time // at least: renewals are no events
	}
	holders, lapses := map[string]claim{}, 0
	_, err := s.EachAuditEvent(c.t.Context(), storetest.Operator, func(e store.AuditEvent) error {
		var data struct {
			Until    time.Time
			ReviewID string `json:"review_id"`
			LapsedOf string `json:"lapsed_claim_of"`
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		review := strings.TrimPrefix(e.Subject, "review:")
		if data.ReviewID != "" {
			review = data.ReviewID
		}
		had := holders[review]
		switch e.Action {
		case "review.claimed":
			if had.by != data.LapsedOf || had.by != "" && e.At.Before(had.until) {
				c.t.Errorf("event %d: %s claims %s at %s from %q, which %q holds until %s", e.Seq, e.ActorID, review, e.At, data.LapsedOf, had.by, had.until)
			}
			if had.by != "" {
				lapses++
			}
			holders[review] = claim{e.ActorID, data.Until}
		case "review.released", "decision.made", "review.escalated", "review.first_answer":
			if had.by != e.ActorID {
				c.t.Errorf("event %d: %s of %s by %s, but %q holds it", e.Seq, e.Action, review, e.ActorID, had.by)
			}
			if e.Action != "review.first_answer" {
				delete(holders, review)
			}
		case "review.skipped":
			if had.by == e.ActorID {
				delete(holders, review)
			}
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	if len(holders) != 0 {
		c.t.Errorf("%d items are held after everything was decided", len(holders))
	}
	if lapses == 0 {
		c.t.Error("no claim lapsed: the test did not test it")
	}
}

// checkCounts: what is kept as a count is what there is.
func (c *crowd) checkCounts(db *storetest.Database) {
	c.t.Helper()
	kept, real := map[string]int{}, map[string]int{}
	for query, into := range map[string]map[string]int{
		`SELECT kind || ' ' || name, n FROM tallies WHERE n <> 0`: kept,
		`SELECT 'status ' || status, count(*) FROM evaluations GROUP BY 1 UNION ALL
SELECT 'queue ' || lead_reason || CASE WHEN blind THEN ':blind' ELSE ':visible' END, count(*) FROM reviews
WHERE state IN ('open', 'claimed', 'adjudication') GROUP BY 1 UNION ALL
SELECT 'queue_state ' || state, count(*) FROM reviews WHERE state = 'adjudication' GROUP BY 1 UNION ALL
SELECT 'use ' || judge || ' ' || prompt_version, count(*) FROM evaluations GROUP BY 1`: real,
	} {
		rows, err := db.QueryContext(c.t.Context(), query)
		if err != nil {
			c.t.Fatal(err)
		}
		for rows.Next() {
			var name string
			var n int
			if err := rows.Scan(&name, &n); err != nil {
				c.t.Fatal(err)
			}
			into[name] = n
		}
		if err := rows.Err(); err != nil {
			c.t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			c.t.Fatal(err)
		}
	}
	if diff := cmp.Diff(real, kept); diff != "" {
		c.t.Errorf("counts (-real +kept):\n%s", diff)
	}
	maps.DeleteFunc(real, func(name string, _ int) bool { return strings.HasPrefix(name, "use ") })
	if diff := cmp.Diff(map[string]int{"status final": c.items}, real); diff != "" {
		c.t.Errorf("at the end (-want +got):\n%s", diff)
	}
}

func numberIn(t *testing.T, db *storetest.Database, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
