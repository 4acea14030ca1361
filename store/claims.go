package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// MaxLiveClaims is how many items one person may hold at a time.
const MaxLiveClaims = 20

// MaxComment is the length of the longest comment, in characters.
const MaxComment = maxComment

// ClaimFilter narrows what ClaimNext may give. Zero values mean: any.
type ClaimFilter struct {
	Judge  string
	Domain string
}

// reviewState is what the rules of claiming and deciding look at.
type reviewState struct {
	id, projectID, project, evaluationID, traceID, externalID, judge string
	policy                                                           judge.Policy
	state, leadReason                                                string
	blind, adjudicating                                              bool
	stratum                                                          string
	probability                                                      float64
	holderID, holderName                                             string
	claimedAt, lease                                                 *time.Time
	domain                                                           string
	policyVersion, round                                             int
	opinionsRequired, opinions, abstentions                          int
	addressee                                                        string // who alone settles it: a user's id or a role
	reopened                                                         bool   // it was decided before
	correctionID                                                     string // that it waits for, or was closed by
}

func (r reviewState) subject() string { return "review:" + r.id }

// tallyWaiting moves the count of waiting items by d.
func (r reviewState) tallyWaiting(t *tx, d int) {
	t.tally(r.projectID, tallyQueue, queueName(r.leadReason, r.blind), d)
}

// loadReviewState reads an item and holds it until the transaction ends.
func loadReviewState(ctx context.Context, t *tx, reviewID string) (r reviewState, err error) {
	var claimed, lease sql.NullTime
	var policy string
	err = t.QueryRowContext(ctx, `
SELECT r.id, r.project_id, r.evaluation_id, r.trace_id, r.external_id, r.judge, r.state, r.lead_reason, r.blind,
    r.adjudicating, r.stratum, r.inclusion_probability, COALESCE(r.holder_id, ''), COALESCE(h.name, ''),
    r.claimed_at, r.lease_expires_at, r.domain, r.policy_version, r.round,
    r.opinions_required, r.opinions, r.abstentions, r.addressee, r.reopened, r.correction_id, p.name, p.policy
FROM reviews r JOIN projects p ON p.id = r.project_id LEFT JOIN users h ON h.id = r.holder_id WHERE r.id = ?`+t.engine.forUpdate("r"), reviewID).Scan(
		&r.id, &r.projectID, &r.evaluationID, &r.traceID, &r.externalID, &r.judge, &r.state, &r.leadReason, &r.blind,
		&r.adjudicating, &r.stratum, &r.probability, &r.holderID, &r.holderName, &claimed, &lease, &r.domain, &r.policyVersion, &r.round,
		&r.opinionsRequired, &r.opinions, &r.abstentions, &r.addressee, &r.reopened, &r.correctionID, &r.project, &policy)
	if err != nil {
		return r, notFound(err, "review %q", reviewID)
	}
	r.claimedAt, r.lease = optional(claimed), optional(lease)
	r.policy, err = readPolicy(r.project, policy)
	return r, err
}

// settled gives the error for an item that waits for nobody any more, or nil.
func (r reviewState) settled(ctx context.Context, q querier) error {
	switch r.state {
	case stateDecided:
		d, _, err := lastSettling(ctx, q, r.id)
		if err != nil {
			return err
		}
		return &DecidedError{Decision: d}
	case stateClosed:
		if r.correctionID != "" {
			return refuse("this item was closed: its trace was corrected, and the new revision is judged again")
		}
		return fmt.Errorf("review %s was closed: a lead withdrew it, its evaluation is judged again, or an imported label settled it: %w", r.id, ErrConflict)
	}
	return nil
}

// heldBy gives the error for an actor who does not hold the item, or nil. A
// claim that ran out still counts as long as nobody else took the item.
func (r reviewState) heldBy(ctx context.Context, q querier, a Actor, now time.Time) error {
	switch err := r.settled(ctx, q); {
	case err != nil:
		return err
	case r.state == stateClaimed && r.holderID == a.UserID:
		return nil
	case r.state == stateClaimed && !lapsed(r.lease, now):
		return &HeldError{HolderName: r.holderName, Until: *r.lease}
	}
	return r.expired(ctx, q, a)
}

// expired is the error for an actor whose claim is gone, and who ended it if
// that was not the actor.
func (r reviewState) expired(ctx context.Context, q querier, a Actor) error {
	gone := &ExpiredError{}
	if a.UserID == "" {
		return gone
	}
	var action string
	err := q.QueryRowContext(ctx, `
SELECT action, actor, at FROM audit_events WHERE subject = ? AND allowed
  AND (action = 'review.claimed' AND actor_id = ? OR action = 'review.released' AND actor_id <> ? AND data LIKE ?
    OR action = 'review.reassigned' AND data LIKE ?)
ORDER BY seq DESC LIMIT 1`, r.subject(), a.UserID, a.UserID, `%"holder":"`+a.UserID+`"%`, `%"ended_claim_of":"`+a.UserID+`"%`).Scan(&action, &gone.EndedBy, &gone.EndedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && action == "review.claimed":
		return &ExpiredError{}
	case err != nil:
		return err
	}
	gone.EndedAt = gone.EndedAt.UTC()
	return gone
}

// authoriseDecider lets only people through who may decide: the operator has
// no name that a decision could carry.
func (s *Store) authoriseDecider(ctx context.Context, a Actor, action, subject string) error {
	if a.MayDecide() {
		return nil
	}
	return s.authorise(ctx, a, nil, action, subject)
}

// errNotForThem is turned into a recorded denial once its transaction is over.
var errNotForThem = errors.New("this item waits for somebody else to settle it: who it was sent to, or else a lead, and nobody who gave an answer on it")

// denyAdjudication records the refusal that errNotForThem stands for.
func (s *Store) denyAdjudication(ctx context.Context, a Actor, err error, action, reviewID string) error {
	if !errors.Is(err, errNotForThem) {
		return err
	}
	return fmt.Errorf("%w: %w", err, s.authorise(ctx, a, nil, action, "review:"+reviewID))
}

// ClaimNext claims the first item in queue order that the actor may take: open,
// or claimed by somebody whose lease ran out. What was sent to the actor by name
// comes first, then what is assigned to them; what is assigned to others, skipped
// by the actor today or not for them by assignment is not given. Nobody gets an
// item that they have an answer on; adjudication goes to leads and admins, or to
// whom an escalation names. ErrNotFound: nothing is there; ErrConflict: the actor already
// holds MaxLiveClaims.
func (s *Store) ClaimNext(ctx context.Context, a Actor, project string, f ClaimFilter) (Review, error) {
	claimed, err := s.TakeNext(ctx, a, project, f)
	if err != nil {
		return Review{}, err
	}
	return s.GetReview(ctx, a, claimed)
}

// TakeNext claims as ClaimNext does and gives the item's id alone, for who goes on to a
// page that reads it.
func (s *Store) TakeNext(ctx context.Context, a Actor, project string, f ClaimFilter) (claimed string, err error) {
	defer wrap(&err, "claim the next item")
	if err := s.authoriseDecider(ctx, a, "review.claimed", "queue"); err != nil {
		return "", err
	}
	err = s.write(ctx, func(t *tx) error {
		p, err := projectNamed(ctx, t, orDefaultProject(project))
		if err != nil {
			return err
		}
		if err := t.roomForClaim(ctx, a); err != nil {
			return err
		}
		if claimed, err = nextFor(ctx, t, a, p, f, t.now, t.engine.forUpdateFree("r")); err != nil {
			return err
		}
		r, err := loadReviewState(ctx, t, claimed)
		if err != nil {
			return err
		}
		return t.claim(ctx, a, r)
	})
	if err != nil {
		return "", err
	}
	return claimed, nil
}

// PeekNext is the item that TakeNext would claim now, left as it is: somebody else may
// take it first. ErrNotFound: nothing is there.
func (s *Store) PeekNext(ctx context.Context, a Actor, project string, f ClaimFilter) (_ string, err error) {
	defer wrap(&err, "look for the next item")
	if err := s.authoriseDecider(ctx, a, "queue.listed", "queue"); err != nil {
		return "", err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return "", err
	}
	return nextFor(ctx, s.reader, a, p, f, s.clock(), "")
}

// nextFor finds what ClaimNext would give: what was sent to the actor by name, what
// is assigned to them, what is assigned to nobody, each in queue order. lock ends
// the query: empty for who only looks.
func nextFor(ctx context.Context, q querier, a Actor, p Project, f ClaimFilter, now time.Time, lock string) (string, error) {
	obstacles, err := obstaclesFor(ctx, q, a, p.Policy, now)
	if err != nil {
		return "", err
	}
	id, err := firstSent(ctx, q, a, p.ID, f, now, obstacles, lock)
	if errors.Is(err, sql.ErrNoRows) {
		id, err = firstFree(ctx, q, a, p.ID, f, now, obstacles, true, lock)
	}
	if errors.Is(err, sql.ErrNoRows) {
		id, err = firstFree(ctx, q, a, p.ID, f, now, obstacles, false, lock)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("%w: %w", errQueueEmpty, ErrNotFound)
	}
	return id, err
}

// firstSent is the first item that waits for the actor by name and meets none of
// the obstacles.
func firstSent(ctx context.Context, q querier, a Actor, projectID string, f ClaimFilter, now time.Time, obstacles []obstacle, lock string) (id string, err error) {
	query := `
SELECT r.id FROM reviews r WHERE r.addressee = ? AND r.addressee <> '' AND r.project_id = ? AND ` + waiting + ` AND r.adjudicating AND r.correction_id = ''
  AND (r.state <> 'claimed' OR ` + leaseLapsed + `)`
	args := []any{a.UserID, projectID, now, now.Add(longestLease)}
	if f.Judge != "" {
		query, args = query+` AND r.judge = ?`, append(args, f.Judge)
	}
	if f.Domain != "" {
		query, args = query+` AND r.domain = ?`, append(args, f.Domain)
	}
	query, args = query+` AND NOT EXISTS (`+spoken+`)`, append(args, a.UserID)
	for _, o := range obstacles {
		query, args = query+"\n  AND NOT "+o.sql, append(args, o.args...)
	}
	err = q.QueryRowContext(ctx, query+"\nORDER BY r.urgency, r.due_at, r.id LIMIT 1"+lock, args...).Scan(&id)
	return id, err
}

// firstFree finds the first item that meets none of the obstacles, of those that
// are assigned to the actor or of those that are to nobody.
func firstFree(ctx context.Context, q querier, a Actor, projectID string, f ClaimFilter, now time.Time, obstacles []obstacle, own bool, lock string) (id string, err error) {
	var w strings.Builder
	which := `r.state IN ('open', 'claimed') AND NOT r.adjudicating` // as the index reviews_free has it
	switch {
	case a.mayAdjudicate():
		which = waiting
	case own:
		which = waiting + ` AND NOT r.adjudicating` // as the index reviews_assigned has it
	case f.Judge != "":
		which = waiting + ` AND NOT r.adjudicating` // as the index reviews_judge has it
	}
	w.WriteString(`
SELECT r.id FROM reviews r WHERE r.project_id = ? AND ` + which + ` AND r.correction_id = ''
  AND (r.state <> 'claimed' OR ` + leaseLapsed + `)`)
	args := []any{projectID, now, now.Add(longestLease)}
	if f.Judge != "" {
		w.WriteString(` AND r.judge = ?`)
		args = append(args, f.Judge)
	}
	if f.Domain != "" {
		w.WriteString(` AND r.domain = ?`)
		args = append(args, f.Domain)
	}
	if a.mayAdjudicate() {
		w.WriteString(` AND (NOT r.adjudicating OR r.addressee IN ('', ?, ?) AND NOT EXISTS (` + spoken + `))`)
		args = append(args, a.UserID, string(a.Role), a.UserID)
	}
	w.WriteString(` AND (r.opinions + r.abstentions = 0 OR r.reopened OR r.adjudicating OR NOT EXISTS (` + spoken + `))`)
	args = append(args, a.UserID)
	if own {
		w.WriteString(` AND r.assigned_to = ?`)
		args = append(args, a.UserID)
	} else {
		w.WriteString(` AND r.assigned_to IS NULL`)
	}
	for _, o := range obstacles {
		if o.cause != CauseAssigned {
			w.WriteString("\n  AND NOT " + o.sql)
			args = append(args, o.args...)
		}
	}
	w.WriteString("\nORDER BY r.urgency, r.due_at, r.id LIMIT 1" + lock)
	err = q.QueryRowContext(ctx, w.String(), args...).Scan(&id)
	return id, err
}

// spoken finds that a person has said something on a review r in this round,
// by an answer, an abstention or an escalation that stands, but not as
// who settled it.
const spoken = `SELECT 1 FROM decisions d WHERE d.review_id = r.id AND d.user_id = ? AND NOT d.adjudication
  AND d.round = r.round AND ` + standing

func (a Actor) mayAdjudicate() bool { return a.MayDecide() && (a.Role == Lead || a.Role == Admin) }

// ClaimReview claims one item. A claim that the actor has already is renewed.
// *HeldError: somebody else holds it; *DecidedError: it is settled;
// *UnfitError: it is not for the actor; ErrForbidden: it waits for a lead, for
// another one or for somebody who is named; ErrConflict: the actor has given an
// answer on it.
func (s *Store) ClaimReview(ctx context.Context, a Actor, reviewID string) (_ Review, err error) {
	defer wrap(&err, "claim review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "review.claimed", "review:"+reviewID); err != nil {
		return Review{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		err = r.heldBy(ctx, t, a, t.now)
		var free *ExpiredError
		switch {
		case err == nil && !lapsed(r.lease, t.now):
			_, err = t.renew(ctx, r)
			return err
		case err != nil && !errors.As(err, &free):
			return err
		}
		if err := mayAnswer(ctx, t, a, r); err != nil {
			return err
		}
		if err := mayTake(ctx, t, a, r.policy, r.id, t.now); err != nil {
			return err
		}
		if err := t.roomForClaim(ctx, a); err != nil {
			return err
		}
		return t.claim(ctx, a, r)
	})
	var unfit *UnfitError
	if errors.As(err, &unfit) {
		return Review{}, errors.Join(err, s.denyUnfit(ctx, a, err, "review.claimed", reviewID))
	}
	if err != nil {
		return Review{}, s.denyAdjudication(ctx, a, err, "review.claimed", reviewID)
	}
	return s.GetReview(ctx, a, reviewID)
}

// mayAnswer gives the error for an actor who may not take the item: because they
// have said something on it, or because it waits for somebody else to settle it.
func mayAnswer(ctx context.Context, q querier, a Actor, r reviewState) error {
	if r.correctionID != "" {
		return refuse("somebody has proposed a correction of this trace: the item waits until a lead accepts or declines it")
	}
	if r.adjudicating && !a.isAddressee(r.addressee) {
		return errNotForThem
	}
	if r.reopened && !r.adjudicating {
		return nil
	}
	var said bool
	if err := q.QueryRowContext(ctx, `SELECT EXISTS (`+spoken+`) FROM reviews r WHERE r.id = ?`, a.UserID, r.id).Scan(&said); err != nil {
		return err
	}
	switch {
	case said && r.adjudicating:
		return errNotForThem
	case said:
		return refuse("you have given your answer on this item: it waits for another person's")
	}
	return nil
}

// isAddressee says whether the actor is who may settle an item: the one person,
// everybody of the one role, or without either leads and admins.
func (a Actor) isAddressee(of string) bool {
	switch {
	case !a.MayDecide():
		return false
	case of == "":
		return a.mayAdjudicate()
	}
	return of == a.UserID || of == string(a.Role)
}

func (t *tx) roomForClaim(ctx context.Context, a Actor) error {
	// Two requests of one person must not both take the last place.
	if err := t.lockUser(ctx, a.UserID); err != nil {
		return err
	}
	var n int
	if err := t.QueryRowContext(ctx, `
SELECT count(*) FROM reviews r WHERE r.holder_id = ? AND NOT `+leaseLapsed, a.UserID, t.now, t.now.Add(longestLease)).Scan(&n); err != nil {
		return err
	}
	if n >= MaxLiveClaims {
		return fmt.Errorf("%s already holds %d items, which is the most: decide or release one first: %w", a.Name, n, ErrConflict)
	}
	return nil
}

// claim gives a free item to the actor. The condition repeats what was read:
// on a database with several writers the row may have changed since.
func (t *tx) claim(ctx context.Context, a Actor, r reviewState) error {
	until := t.now.Add(time.Duration(r.policy.LeaseMinutes) * time.Minute)
	n, err := t.changed(ctx, `
UPDATE reviews AS r SET state = 'claimed', holder_id = ?, claimed_at = ?, lease_expires_at = ?
WHERE r.id = ? AND (r.state IN ('open', 'adjudication') OR r.state = 'claimed' AND `+leaseLapsed+`)`,
		a.UserID, t.now, until, r.id, t.now, t.now.Add(longestLease))
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("review %s was taken meanwhile: %w", r.id, ErrConflict)
	}
	if r.state == stateAdjudication {
		t.tally(r.projectID, tallyQueueState, tallyAdjudication, -1)
	}
	data := map[string]any{"evaluation_id": r.evaluationID, "until": until}
	if r.state == stateClaimed {
		data["lapsed_claim_of"] = r.holderID
	}
	t.audit(event{project: r.project, actor: a, action: "review.claimed", subject: r.subject(), data: data})
	return nil
}

// RenewClaim lengthens the actor's claim by a whole lease from now, and gives
// its new end. A claim that ran out is renewed too unless somebody took the
// item: then *HeldError or *DecidedError. *ExpiredError: there is no claim.
func (s *Store) RenewClaim(ctx context.Context, a Actor, reviewID string) (until time.Time, err error) {
	defer wrap(&err, "renew the claim on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "review.renewed", "review:"+reviewID); err != nil {
		return time.Time{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.heldBy(ctx, t, a, t.now); err != nil {
			return err
		}
		until, err = t.renew(ctx, r)
		return err
	})
	return until, err
}

func (t *tx) renew(ctx context.Context, r reviewState) (time.Time, error) {
	until := t.now.Add(time.Duration(r.policy.LeaseMinutes) * time.Minute)
	_, err := t.exec(ctx, `UPDATE reviews SET lease_expires_at = ? WHERE id = ?`, until, r.id)
	return until, err
}

// ReleaseClaim gives an item back to the queue. Roles: its holder.
func (s *Store) ReleaseClaim(ctx context.Context, a Actor, reviewID string) (err error) {
	defer wrap(&err, "release review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "review.released", "review:"+reviewID); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.heldBy(ctx, t, a, t.now); err != nil {
			return err
		}
		t.audit(event{project: r.project, actor: a, action: "review.released", subject: r.subject(),
			data: map[string]any{"evaluation_id": r.evaluationID}})
		return t.release(ctx, r)
	})
}

func (t *tx) release(ctx context.Context, r reviewState) error {
	if r.adjudicating {
		t.tally(r.projectID, tallyQueueState, tallyAdjudication, 1)
	}
	_, err := t.exec(ctx, `
UPDATE reviews SET state = ?, holder_id = NULL, claimed_at = NULL, lease_expires_at = NULL WHERE id = ?`,
		restingState(r.adjudicating), r.id)
	return err
}

// SkipReview passes an item on: it is not given to the actor again until their
// day is over, by the time zone of their profile. A claim that the actor has on it is released; what others hold is left
// to them. The comment may be empty.
func (s *Store) SkipReview(ctx context.Context, a Actor, reviewID, comment string) (err error) {
	defer wrap(&err, "skip review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "review.skipped", "review:"+reviewID); err != nil {
		return err
	}
	if err := checkComment("comment", comment, false); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.settled(ctx, t); err != nil {
			return err
		}
		profile, err := profileOf(ctx, t, a.UserID)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `
INSERT INTO review_skips (review_id, user_id, comment, skipped_at, hidden_until) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (review_id, user_id) DO UPDATE SET comment = excluded.comment, skipped_at = excluded.skipped_at, hidden_until = excluded.hidden_until`,
			r.id, a.UserID, comment, t.now, dayEnd(t.now, profile.location())); err != nil {
			return err
		}
		t.audit(event{project: r.project, actor: a, action: "review.skipped", subject: r.subject(),
			data: map[string]any{"evaluation_id": r.evaluationID, "comment": comment}})
		if r.state == stateClaimed && r.holderID == a.UserID {
			return t.release(ctx, r)
		}
		return nil
	})
}

// dayEnd is when the day of a moment is over in a time zone, as UTC.
func dayEnd(now time.Time, at *time.Location) time.Time {
	y, m, d := now.In(at).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, at).UTC()
}
