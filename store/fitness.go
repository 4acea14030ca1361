package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// Causes why a person is not given an item.
const (
	CauseAssigned      = "assigned"      // to somebody else
	CauseConflict      = "conflict"      // the person has a conflict of interest
	CauseDomain        = "domain"        // none of the person's
	CauseQualification = "qualification" // that the policy requires is missing
	CauseLanguage      = "language"      // of the trace, which the person does not read
	CauseSkipped       = "skipped"       // by the person, today
)

// UnfitError says why a person can't take an item. It is an ErrForbidden.
type UnfitError struct {
	Cause   string // a constant above
	Message string // a plain sentence
}

func (e *UnfitError) Error() string { return e.Message }

// Is makes errors.Is(err, ErrForbidden) true.
func (e *UnfitError) Is(target error) bool { return target == ErrForbidden }

// obstacle is a condition on reviews r under which a person is not given them.
type obstacle struct {
	cause  string
	detail string // what is missing
	sql    string // true or false, never null
	args   []any
	// soft: the person may take such an item on purpose.
	soft bool
}

func (o obstacle) sentence() string {
	switch o.cause {
	case CauseAssigned:
		return "It is assigned to somebody else: a lead can assign it to you."
	case CauseConflict:
		return "Your profile names a conflict of interest with it: somebody else has to decide it."
	case CauseDomain:
		return "Your domains are " + o.detail + ", and it is of another one: a lead can assign it to you."
	case CauseQualification:
		return "The policy requires " + o.detail + " for it, which your profile does not have: an admin keeps profiles."
	case CauseLanguage:
		return "Its trace is in a language that your profile does not have: an admin keeps profiles."
	}
	return "You skipped it today."
}

// obstaclesFor lists what keeps items of a project from a person, the first that
// counts first. Assignment by a lead, or an escalation to the person, goes before
// the person's own domains, and before nothing else. A lead may take what is assigned to somebody else.
func obstaclesFor(ctx context.Context, q querier, a Actor, policy judge.Policy, now time.Time) ([]obstacle, error) {
	profile, err := profileOf(ctx, q, a.UserID)
	if err != nil {
		return nil, err
	}
	// What was sent to the person by name is for nobody else.
	list := []obstacle{{cause: CauseAssigned, sql: `(r.assigned_to IS NOT NULL AND r.assigned_to <> ? AND NOT ` + sentToMe + `)`,
		args: []any{a.UserID, a.UserID}, soft: a.mayAdjudicate()}}
	if len(profile.Conflicts) > 0 {
		list = append(list, obstacle{cause: CauseConflict,
			sql: `EXISTS (SELECT 1 FROM review_conflicts k WHERE k.review_id = r.id AND k.user_id = ?)`, args: []any{a.UserID}})
	}
	if len(profile.Domains) > 0 {
		list = append(list, obstacle{cause: CauseDomain, detail: strings.Join(profile.Domains, ", "),
			sql:  `(r.domain NOT IN (` + placeholders(len(profile.Domains)) + `) AND (r.assigned_to IS NULL OR r.assigned_to <> ?) AND NOT ` + sentToMe + `)`,
			args: append(anys(profile.Domains), a.UserID, a.UserID)})
	}
	for _, rule := range policy.Assignment {
		list = append(list, unmet(rule, profile)...)
	}
	return append(list, obstacle{cause: CauseSkipped, soft: true,
		sql:  `EXISTS (SELECT 1 FROM review_skips k WHERE k.review_id = r.id AND k.user_id = ? AND k.hidden_until > ?)`,
		args: []any{a.UserID, now}}), nil
}

// sentToMe finds that a review r was sent to a person by name.
const sentToMe = `(r.adjudicating AND r.addressee = ? AND r.addressee <> '')`

// unmet are the obstacles of one rule of the policy.
func unmet(rule judge.AssignmentRule, profile Profile) (list []obstacle) {
	about, args := `1 = 1`, []any(nil)
	if rule.Domain != "" {
		about, args = about+` AND r.domain = ?`, append(args, rule.Domain)
	}
	if rule.Stakes != "" {
		about, args = about+` AND r.stakes = ?`, append(args, string(rule.Stakes))
	}
	if missing := rule.Lacks(profile.Qualifications); len(missing) > 0 {
		list = append(list, obstacle{cause: CauseQualification, detail: strings.Join(missing, ", "), sql: `(` + about + `)`, args: args})
	}
	if rule.Languages {
		reads := append([]any{""}, anys(profile.Languages)...)
		list = append(list, obstacle{cause: CauseLanguage, sql: `(` + about + ` AND r.language NOT IN (` + placeholders(len(reads)) + `))`,
			args: append(slices.Clone(args), reads...)})
	}
	return list
}

// mayTake gives the *UnfitError for a person who asks for one item, or nil.
func mayTake(ctx context.Context, q querier, a Actor, policy judge.Policy, reviewID string, now time.Time) error {
	obstacles, err := obstaclesFor(ctx, q, a, policy, now)
	if err != nil {
		return err
	}
	obstacles = slices.DeleteFunc(obstacles, func(o obstacle) bool { return o.soft })
	found, err := firstObstacle(ctx, q, obstacles, reviewID)
	if err != nil || found == nil {
		return err
	}
	return &UnfitError{Cause: found.cause, Message: found.sentence()}
}

// firstObstacle is the first of the obstacles that an item meets; nil: none.
func firstObstacle(ctx context.Context, q querier, obstacles []obstacle, reviewID string) (*obstacle, error) {
	if len(obstacles) == 0 {
		return nil, nil
	}
	first, args := caseOf(obstacles)
	var at int
	if err := q.QueryRowContext(ctx, `SELECT `+first+` FROM reviews r WHERE r.id = ?`, append(args, reviewID)...).Scan(&at); err != nil {
		return nil, err
	}
	if at < 0 {
		return nil, nil
	}
	return &obstacles[at], nil
}

// caseOf is the number of the first obstacle that a review r meets, -1 without one.
func caseOf(obstacles []obstacle) (sql string, args []any) {
	var b strings.Builder
	b.WriteString("CASE")
	for i, o := range obstacles {
		fmt.Fprintf(&b, " WHEN %s THEN %d", o.sql, i)
		args = append(args, o.args...)
	}
	b.WriteString(" ELSE -1 END")
	return b.String(), args
}

// denyUnfit records the refusal of an *UnfitError once its transaction is over.
func (s *Store) denyUnfit(ctx context.Context, a Actor, err error, action, reviewID string) error {
	return s.write(ctx, func(t *tx) error {
		t.audit(event{actor: a, action: action, subject: "review:" + reviewID, denied: true,
			data: map[string]any{"role": a.Role, "cause": err.Error()}})
		return nil
	})
}

// unfitByName says why an item can't be given to a person by name, as a sentence;
// empty: it can. Their domains do not count then.
func unfitByName(ctx context.Context, q querier, who Actor, policy judge.Policy, reviewID string, now time.Time) (why string, err error) {
	obstacles, err := obstaclesFor(ctx, q, who, policy, now)
	if err != nil {
		return "", err
	}
	obstacles = slices.DeleteFunc(obstacles, func(o obstacle) bool {
		return o.soft || o.cause == CauseAssigned || o.cause == CauseDomain
	})
	found, err := firstObstacle(ctx, q, obstacles, reviewID)
	if err != nil || found == nil {
		return "", err
	}
	switch found.cause {
	case CauseConflict:
		return who.Name + " has a conflict of interest with it.", nil
	case CauseQualification:
		return who.Name + " lacks " + found.detail + ", which the policy requires.", nil
	}
	return who.Name + " does not read its language.", nil
}
