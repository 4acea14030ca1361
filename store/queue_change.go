package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// What a lead can do to items that wait, all of a selection at once.
const (
	ChangeAssign   = "assign"   // to User; empty: to nobody
	ChangePriority = "priority" // to Priority; 0: by reason and stakes
	ChangeDue      = "due"      // to Due
	ChangeBlind    = "blind"    // to Blind
	ChangeOpinions = "opinions" // at least Opinions people answer them
	ChangeRelease  = "release"  // whoever holds them gives them back
	ChangeWithdraw = "withdraw" // out of the queue, for Reason
)

// MaxChanged is how many items one change may be of.
const MaxChanged = 500

// maxWithdrawal bounds the reason of a withdrawal, in characters.
const maxWithdrawal = 500

// WithdrawnField is the refused field of an evaluation whose item was withdrawn.
const WithdrawnField = "review"

// QueueChange is one change of items that wait.
type QueueChange struct {
	Action   string // a constant above
	User     string // an id
	Release  bool   // of assign: whoever else holds an item gives it back
	Priority int    // 0..3
	Due      time.Time
	Blind    bool
	Opinions int    // 2..judge.MaxOpinions
	Reason   string // of withdraw: 1 to 500 characters
}

// ChangeRefusedError names each item that a change can't be made of. None was
// changed. It is an ErrConflict.
type ChangeRefusedError struct{ Items []RefusedItem }

// RefusedItem is an item and why it can't be changed, as a sentence.
type RefusedItem struct{ ReviewID, TraceID, Title, Why string }

func (e *ChangeRefusedError) Error() string {
	var each []string
	for _, i := range e.Items {
		each = append(each, i.TraceID+": "+i.Why)
	}
	return "nothing was changed: " + strings.Join(each, "; ")
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ChangeRefusedError) Is(target error) bool { return target == ErrConflict }

// ChangeQueue makes one change of up to 500 items of a project, each with an
// event in the audit log; what is so already stays without one. It is made of all
// or of none: *ChangeRefusedError says which items are in the way. It gives the
// number of items that changed.
//
// Withdrawing closes the item. Its evaluation gets no result, as long as nobody
// asks for a review again: its status is refused, with who withdrew it and why.
// Blindness is changed only where nobody has answered yet; who held the item
// before, and the actor, count as having seen the verdict. Roles: lead, admin.
func (s *Store) ChangeQueue(ctx context.Context, a Actor, project string, ids []string, c QueueChange) (n int, err error) {
	defer wrap(&err, "change items of the queue")
	if err := s.authorise(ctx, a, leads, "queue.changed", "queue"); err != nil {
		return 0, err
	}
	ids = distinct(ids)
	slices.Sort(ids)
	switch {
	case len(ids) == 0:
		return 0, invalid("item", "is missing: select one or more")
	case len(ids) > MaxChanged:
		return 0, invalid("item", "are %d: at most %d are changed at once", len(ids), MaxChanged)
	}
	if err := c.check(s.clock()); err != nil {
		return 0, err
	}
	err = s.writeAlone(ctx, func(t *tx) error {
		n = 0
		p, err := projectNamed(ctx, t, orDefaultProject(project))
		if err != nil {
			return err
		}
		if err := t.lockTracesOfReviews(ctx, ids); err != nil {
			return err
		}
		to, err := t.assignee(ctx, c)
		if err != nil {
			return err
		}
		refused := &ChangeRefusedError{}
		for _, id := range ids {
			item, err := t.loadChangeable(ctx, id)
			if err != nil {
				return err
			}
			changed, why, err := t.change(ctx, a, p, item, c, to)
			if err != nil {
				return err
			}
			if why != "" {
				refused.Items = append(refused.Items, RefusedItem{id, item.externalID, item.title, why})
			}
			if changed {
				n++
			}
		}
		if len(refused.Items) > 0 {
			return refused
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (c QueueChange) check(now time.Time) error {
	switch c.Action {
	case ChangeAssign, ChangeBlind, ChangeRelease:
	case ChangePriority:
		if c.Priority < 0 || c.Priority > 3 {
			return invalid("priority", "is %d: it is 1, 2, 3, or 0 for the place by reason and stakes", c.Priority)
		}
	case ChangeDue:
		switch {
		case c.Due.IsZero():
			return invalid("due", "is missing: say when the items are due")
		case c.Due.Before(now):
			return invalid("due", "is past: choose a later time")
		case c.Due.After(now.AddDate(1, 0, 0)):
			return invalid("due", "is more than a year ahead")
		}
	case ChangeOpinions:
		if c.Opinions < 2 || c.Opinions > judge.MaxOpinions {
			return invalid("opinions", "is %d: it lies between 2 and %d", c.Opinions, judge.MaxOpinions)
		}
	case ChangeWithdraw:
		if strings.TrimSpace(c.Reason) == "" {
			return invalid("reason", "is missing: say why in a sentence")
		}
		if utf8.RuneCountInString(c.Reason) > maxWithdrawal {
			return invalid("reason", "is longer than %d characters", maxWithdrawal)
		}
	default:
		return invalid("action", "is %q: it is one of assign, priority, due, blind, opinions, release, withdraw", c.Action)
	}
	return nil
}

// lockTracesOfReviews is lockTraces for the traces that reviews are about.
func (t *tx) lockTracesOfReviews(ctx context.Context, ids []string) error {
	var traces []string
	if err := inBatches(ids, func(batch []string) error {
		found, err := collect(ctx, t, scanID, `SELECT trace_id FROM reviews WHERE id IN (`+placeholders(len(batch))+`)`, anys(batch)...)
		traces = append(traces, found...)
		return err
	}); err != nil {
		return err
	}
	return t.lockTraces(ctx, traces)
}

// changeable is an item as far as a change looks at it.
type changeable struct {
	reviewState
	title, assigned string
	priority        int
	stakes          judge.Stakes
	due             time.Time
	answered        bool
}

func (t *tx) loadChangeable(ctx context.Context, id string) (c changeable, err error) {
	if c.reviewState, err = loadReviewState(ctx, t, id); err != nil {
		return c, err
	}
	err = t.scan(ctx, `
SELECT r.title, r.stakes, COALESCE(r.assigned_to, ''), r.priority, r.due_at,
    EXISTS (SELECT 1 FROM first_answers f WHERE f.review_id = r.id) OR EXISTS (SELECT 1 FROM decisions d WHERE d.review_id = r.id)
FROM reviews r WHERE r.id = ?`, []any{id}, []any{&c.title, &c.stakes, &c.assigned, &c.priority, &c.due, &c.answered})
	return c, err
}

// assignee is who items are to be assigned to; the zero user is nobody.
func (t *tx) assignee(ctx context.Context, c QueueChange) (u User, err error) {
	if c.Action != ChangeAssign || c.User == "" {
		return User{}, nil
	}
	u, err = userByID(ctx, t, c.User)
	if err != nil {
		return User{}, invalid("user", "is nobody that is known here")
	}
	if !u.Actor().MayDecide() || u.DisabledAt != nil {
		return User{}, invalid("user", "is %s, who decides no items", u.Name)
	}
	return u, nil
}

// change makes a change of one item. why says what is in its way.
func (t *tx) change(ctx context.Context, a Actor, p Project, item changeable, c QueueChange, to User) (changed bool, why string, err error) {
	switch {
	case item.projectID != p.ID:
		return false, "It is of another project.", nil
	case item.state == stateDecided:
		return false, "It is decided.", nil
	case item.state == stateClosed:
		return false, "It is closed.", nil
	}
	switch c.Action {
	case ChangeAssign:
		return t.assign(ctx, a, item, c, to)
	case ChangePriority:
		if item.priority == c.Priority {
			return false, "", nil
		}
		t.auditChange(a, item, "review.prioritised", map[string]any{"from": item.priority, "to": c.Priority})
		_, err := t.exec(ctx, `UPDATE reviews SET priority = ?, urgency = ? WHERE id = ?`,
			c.Priority, item.place(c.Priority), item.id)
		return true, "", err
	case ChangeDue:
		if item.due.Equal(c.Due) {
			return false, "", nil
		}
		t.auditChange(a, item, "review.due_changed", map[string]any{"from": item.due.UTC(), "to": c.Due.UTC()})
		_, err := t.exec(ctx, `UPDATE reviews SET due_at = ? WHERE id = ?`, c.Due.UTC(), item.id)
		return true, "", err
	case ChangeBlind:
		return t.changeBlind(ctx, a, item, c.Blind)
	case ChangeOpinions:
		changed, err := t.raiseOpinions(ctx, a, item.reviewState, c.Opinions)
		if errors.Is(err, ErrConflict) {
			text := strings.TrimSuffix(err.Error(), ": "+ErrConflict.Error())
			return false, strings.ToUpper(text[:1]) + text[1:] + ".", nil
		}
		return changed, "", err
	case ChangeRelease:
		return t.endClaim(ctx, a, item, "released by a lead")
	}
	return true, "", t.withdrawItem(ctx, a, item, c.Reason)
}

func (t *tx) auditChange(a Actor, item changeable, action string, data map[string]any) {
	data["evaluation_id"] = item.evaluationID
	t.audit(event{project: item.project, actor: a, action: action, subject: item.subject(), data: data})
}

// queuePlace is an item's first key in the queue. A lead's priority puts it among the
// items that are as urgent by themselves (see PriorityOf): 1 before all, 2 and 3 with
// the first of theirs.
func queuePlace(priority int, lead string, stakes judge.Stakes) int {
	switch priority {
	case 1:
		return -1
	case 2:
		return 2 * secondPriority
	case 3:
		return 2 * thirdPriority
	}
	return urgency(lead, stakes)
}

// place is where an item stands with a priority, as its policy orders what is blind.
func (c changeable) place(priority int) int {
	return queuePlace(priority, c.policy.QueueReason(c.leadReason, c.blind), c.stakes)
}

// The ranks of reasons at which the second and the third priority begin.
var (
	secondPriority = judge.ReasonRank(judge.ReasonSubstantiveDifference)
	thirdPriority  = judge.ReasonRank(judge.ReasonUntrustedJudge)
)

// PriorityOf is 1, 2 or 3 for a leading reason: 1 for critical errors, judges
// that failed and misattributions, 3 for what was requested, drawn for audit or is
// of a judge that is not trusted yet, 2 for the rest.
func PriorityOf(lead string) int {
	switch rank := judge.ReasonRank(lead); {
	case rank < secondPriority:
		return 1
	case rank < thirdPriority:
		return 2
	}
	return 3
}

// assign says who an item is meant for: nobody else is given it. That person must
// be able to take it; their domains do not count.
func (t *tx) assign(ctx context.Context, a Actor, item changeable, c QueueChange, to User) (changed bool, why string, err error) {
	if to.ID != "" {
		if why, err := t.unfitFor(ctx, to, item); err != nil || why != "" {
			return false, why, err
		}
	}
	if c.Release && item.state == stateClaimed && item.holderID != to.ID {
		if changed, why, err = t.endClaim(ctx, a, item, "assigned to somebody else"); err != nil || why != "" {
			return false, why, err
		}
	}
	if item.assigned == to.ID {
		return changed, "", nil
	}
	t.auditChange(a, item, "review.assigned", map[string]any{"from": item.assigned, "to": to.ID, "name": to.Name})
	_, err = t.exec(ctx, `UPDATE reviews SET assigned_to = NULLIF(?, '') WHERE id = ?`, to.ID, item.id)
	return true, "", err
}

// unfitFor says why a person could not decide an item that is assigned to them.
func (t *tx) unfitFor(ctx context.Context, u User, item changeable) (why string, err error) {
	switch err := mayAnswer(ctx, t, u.Actor(), item.reviewState); {
	case errors.Is(err, errNotForThem) && !u.Actor().isAddressee(item.addressee):
		return "It waits for a lead or for somebody who is named, and " + u.Name + " is neither.", nil
	case errors.Is(err, errNotForThem), errors.Is(err, ErrConflict):
		return u.Name + " has given an answer on it, so it needs somebody else.", nil
	case err != nil:
		return "", err
	}
	return unfitByName(ctx, t, u.Actor(), item.policy, item.id, t.now)
}

// endClaim ends a claim, live or run out; what nobody holds stays as it is.
func (t *tx) endClaim(ctx context.Context, a Actor, item changeable, cause string) (changed bool, why string, err error) {
	if item.state != stateClaimed {
		return false, "", nil
	}
	t.auditChange(a, item, "review.released", map[string]any{"holder": item.holderID, "cause": cause})
	return true, "", t.release(ctx, item.reviewState)
}

// changeBlind says whether an item is answered before its verdict is shown. Who
// could decide it while it was visible may have read it: those who are known to
// have had it open are noted as exposed.
func (t *tx) changeBlind(ctx context.Context, a Actor, item changeable, blind bool) (changed bool, why string, err error) {
	switch {
	case item.blind == blind:
		return false, "", nil
	case item.answered:
		return false, "Somebody has answered it already.", nil
	}
	item.tallyWaiting(t, -1)
	item.blind = blind
	item.tallyWaiting(t, 1)
	if _, err := t.exec(ctx, `UPDATE reviews SET blind = ?, urgency = ? WHERE id = ?`, blind, item.place(item.priority), item.id); err != nil {
		return false, "", err
	}
	if blind {
		if _, err := t.exec(ctx, `
INSERT INTO exposures (evaluation_id, user_id, exposed_at)
SELECT DISTINCT r.evaluation_id, u.id, r.opened_at FROM reviews r CROSS JOIN users u
WHERE r.id = ? AND (u.id = ? OR u.id IN (SELECT x.actor_id FROM audit_events x WHERE x.subject = ? AND x.action = 'review.claimed' AND x.allowed))
ON CONFLICT (evaluation_id, user_id) DO NOTHING`, item.id, a.UserID, item.subject()); err != nil {
			return false, "", err
		}
	}
	t.recount(item.traceID)
	t.auditChange(a, item, "review.blind_changed", map[string]any{"blind": blind})
	return true, "", nil
}

// withdrawItem takes an item out of the queue undecided. The judge's verdict must not
// become the result by that, and nothing else is known: there is none.
func (t *tx) withdrawItem(ctx context.Context, a Actor, item changeable, reason string) error {
	reason = strings.TrimSpace(reason)
	if _, err := t.closeReview(ctx, item.projectID, item.evaluationID); err != nil {
		return err
	}
	if err := t.moveEvaluation(ctx, item.reviewState, judge.InReview, judge.Refused, judge.Result{}); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE evaluations SET refused_field = ?, error = ? WHERE id = ?`,
		WithdrawnField, fmt.Sprintf("%s withdrew it from review: %s", a.Name, reason), item.evaluationID); err != nil {
		return err
	}
	t.auditChange(a, item, "review.withdrawn", map[string]any{"reason": reason})
	return nil
}
