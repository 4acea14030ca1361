package store

import (
	"context"
	"database/sql"
	"time"
)

// Causes why an item that waits is not given to a person by ClaimNext, besides
// those of an obstacle.
const (
	CauseMine       = "mine"       // the person holds it
	CauseHeld       = "held"       // somebody else holds it
	CauseLead       = "lead"       // a lead, or somebody who is named, has to settle it
	CauseSentAway   = "sent_away"  // the person gave an answer that did not settle it, so somebody else does
	CauseCorrection = "correction" // a correction of its trace waits for a lead
	CauseAnswered   = "answered"   // the person has answered it, and it waits for more opinions
)

// Withheld is how many items wait for one cause.
type Withheld struct {
	Cause  string
	Detail string // the qualification that is missing, or the person's domains
	N      int
}

// QueueAnswer says why a person is given what they are given: Free and the
// Withheld add up to all that waits.
type QueueAnswer struct {
	Free     int // what ClaimNext would give, one after another
	Withheld []Withheld
}

// Waiting is all that waits.
func (w QueueAnswer) Waiting() (n int) {
	n = w.Free
	for _, c := range w.Withheld {
		n += c.N
	}
	return n
}

// WhyQueue sorts everything that waits by what keeps it from the actor, by the
// very conditions that ClaimNext asks: each item counts once, for its first cause.
// It reads all that waits. Roles: who may decide.
func (s *Store) WhyQueue(ctx context.Context, a Actor, project string) (answer QueueAnswer, err error) {
	defer wrap(&err, "say why the queue is as it is")
	if err := s.authoriseDecider(ctx, a, "queue.listed", "queue"); err != nil {
		return answer, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return answer, err
	}
	causes, err := causesFor(ctx, s.reader, a, p, s.clock())
	if err != nil {
		return answer, err
	}
	first, args := caseOf(causes)
	type group struct{ at, n int }
	groups, err := collect(ctx, s.reader, func(r *sql.Rows, g *group) error { return r.Scan(&g.at, &g.n) },
		`SELECT w.cause, count(*) FROM (SELECT `+first+` AS cause FROM reviews r WHERE r.project_id = ? AND `+waiting+`) AS w
GROUP BY w.cause ORDER BY w.cause`, append(args, p.ID)...)
	for _, g := range groups {
		if g.at < 0 {
			answer.Free = g.n
			continue
		}
		answer.Withheld = append(answer.Withheld, Withheld{causes[g.at].cause, causes[g.at].detail, g.n})
	}
	return answer, err
}

// causesFor are all the obstacles between an item that waits and a person.
func causesFor(ctx context.Context, q querier, a Actor, p Project, now time.Time) ([]obstacle, error) {
	obstacles, err := obstaclesFor(ctx, q, a, p.Policy, now)
	if err != nil {
		return nil, err
	}
	held := `(r.state = 'claimed' AND r.lease_expires_at > ? AND r.lease_expires_at <= ?`
	causes := []obstacle{
		{cause: CauseMine, sql: held + ` AND r.holder_id = ?)`, args: []any{now, now.Add(longestLease), a.UserID}},
		{cause: CauseHeld, sql: held + `)`, args: []any{now, now.Add(longestLease)}},
	}
	causes = append(causes, obstacle{cause: CauseCorrection, sql: `(r.correction_id <> '')`})
	mine := []any{a.UserID}
	others := `(r.adjudicating AND r.addressee <> ?)`
	if a.mayAdjudicate() {
		others, mine = `(r.adjudicating AND r.addressee NOT IN ('', ?, ?))`, append(mine, string(a.Role))
	}
	causes = append(causes, obstacle{cause: CauseLead, sql: others, args: mine},
		obstacle{cause: CauseSentAway, sql: `(r.adjudicating AND EXISTS (` + spoken + `))`, args: []any{a.UserID}},
		obstacle{cause: CauseAnswered, sql: `(r.opinions + r.abstentions > 0 AND NOT r.reopened AND NOT r.adjudicating AND EXISTS (` + spoken + `))`,
			args: []any{a.UserID}})
	return append(causes, obstacles...), nil
}
