package store

import (
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// States that a queue page may be narrowed to.
const (
	QueueWaiting      = "waiting"      // all that waits, claimed or not; the default
	QueueMine         = "mine"         // what the actor holds
	QueueFree         = "free"         // what nobody holds
	QueueAdjudication = "adjudication" // what a lead, or who is named, has to settle
	QueueForMe        = "for_me"       // of that, what was sent to the actor by name
	QueueAssigned     = "assigned"     // what is assigned to the actor
	QueueSkipped      = "skipped"      // what the actor skipped today
	QueueDrafts       = "drafts"       // what the actor has typed on and not signed, also where others settled it since
)

// queueStates are the states in the order in which an error names them.
var queueStates = []string{QueueWaiting, QueueFree, QueueMine, QueueAdjudication, QueueForMe, QueueAssigned, QueueSkipped, QueueDrafts}

// Values of QueueFilter.Held and Assigned besides a user's id.
const (
	HeldByNobody = "nobody"
	HeldByMe     = "me"
)

// LeadSealed is the Lead of blind items whose leading reason would tell.
const LeadSealed = "sealed"

// QueueFilter narrows a page of the queue. Zero values mean: all.
type QueueFilter struct {
	Project string // name; empty means DefaultProject
	Run     string
	Judge   string
	Domain  string
	Stakes  string
	// Reason is a code that the item carries. A telling one never matches an
	// item whose verdict is sealed for the actor.
	Reason string
	// Lead is the code of the leading reason, as QueueCounts.ByReason counts it:
	// to somebody who decides, a telling one is of items that are not blind, and
	// LeadSealed of those that are.
	Lead     string
	State    string        // a constant above
	Held     string        // a user's id, HeldByMe or HeldByNobody
	Assigned string        // the same
	Waiting  time.Duration // at least so long
	Overdue  bool          // past the due time
	Blind    string        // yes or no
	Priority int           // 1..3: set so by a lead
	After    string        // the cursor of the page before
	Limit    int           // 1..500, default 50
}

// queueWhere is a condition on reviews r, with the values of its placeholders.
type queueWhere struct {
	b    strings.Builder
	args []any
}

func (w *queueWhere) and(condition string, values ...any) {
	w.b.WriteString("\n  AND " + condition)
	w.args = append(w.args, values...)
}

// where is the filter as a condition. ListQueue and the counts both are made
// from it, so that a count is of the very rows that its list shows.
func (f QueueFilter) where(a Actor, projectID string, now time.Time) (*queueWhere, error) {
	w := &queueWhere{args: []any{projectID}}
	w.b.WriteString(`r.project_id = ?`)
	if err := f.whereState(w, a, now); err != nil {
		return nil, err
	}
	for _, equal := range []struct{ column, value string }{{"judge", f.Judge}, {"domain", f.Domain}, {"stakes", f.Stakes}} {
		if equal.value != "" {
			w.and(`r.`+equal.column+` = ?`, equal.value)
		}
	}
	if f.Reason != "" {
		w.and(`EXISTS (SELECT 1 FROM evaluation_reasons x WHERE x.evaluation_id = r.evaluation_id AND x.code = ?)`, f.Reason)
		if judge.Telling(f.Reason) {
			seal := sealedFor(a, "r.evaluation_id")
			w.and(`NOT `+seal.sql, seal.args...)
		}
	}
	f.whereLead(w, a)
	if f.Run != "" {
		w.and(`EXISTS (SELECT 1 FROM run_traces rt JOIN runs ru ON ru.id = rt.run_id
    WHERE rt.trace_id = r.trace_id AND ru.project_id = r.project_id AND ru.name = ?)`, f.Run)
	}
	f.whereHeld(w, a, now)
	switch f.Assigned {
	case "":
	case HeldByNobody:
		w.and(`r.assigned_to IS NULL`)
	case HeldByMe:
		w.and(`r.assigned_to = ?`, a.UserID)
	default:
		w.and(`r.assigned_to = ?`, f.Assigned)
	}
	if f.Waiting > 0 {
		w.and(`r.opened_at <= ?`, now.Add(-f.Waiting))
	}
	if f.Overdue {
		w.and(`r.due_at < ?`, now)
	}
	switch f.Blind {
	case "":
	case "yes":
		w.and(`r.blind`)
	case "no":
		w.and(`NOT r.blind`)
	default:
		return nil, invalid("blind", "is %q: it is yes or no", f.Blind)
	}
	if f.Priority != 0 {
		w.and(`r.priority = ?`, f.Priority)
	}
	return w, nil
}

func (f QueueFilter) whereState(w *queueWhere, a Actor, now time.Time) error {
	switch f.State {
	case "", QueueWaiting:
		w.and(waiting)
	case QueueFree:
		w.and(waiting+` AND (r.state <> 'claimed' OR `+leaseLapsed+`)`, now, now.Add(longestLease))
	case QueueMine:
		w.and(`r.holder_id = ? AND r.state = 'claimed'`, a.UserID)
	case QueueAdjudication:
		w.and(waiting + ` AND r.adjudicating`)
	case QueueForMe:
		w.and(waiting+` AND r.adjudicating AND r.addressee = ? AND r.addressee <> ''`, a.UserID)
	case QueueAssigned:
		w.and(waiting+` AND r.assigned_to = ?`, a.UserID)
	case QueueSkipped:
		// Said so, what waits is found by the skips and not in an index of all that does.
		w.and(`r.state NOT IN ('decided', 'closed') AND r.id IN (SELECT k.review_id FROM review_skips k WHERE k.user_id = ? AND k.hidden_until > ?)`, a.UserID, now)
	case QueueDrafts:
		w.and(`r.id IN (SELECT x.review_id FROM drafts x WHERE x.user_id = ? AND x.body <> '')`, a.UserID)
	default:
		return invalid("state", "is %q: it is one of %s", f.State, strings.Join(queueStates, ", "))
	}
	return nil
}

// whereLead is as the kept counts name items: see queueName.
func (f QueueFilter) whereLead(w *queueWhere, a Actor) {
	switch {
	case f.Lead == "":
	case f.Lead == LeadSealed:
		telling := slices.DeleteFunc(judge.ReasonCodes(), func(code string) bool { return !judge.Telling(code) })
		w.and(`r.blind AND r.lead_reason IN (`+placeholders(len(telling))+`)`, anys(telling)...)
	default:
		w.and(`r.lead_reason = ?`, f.Lead)
		if a.MayDecide() && judge.Telling(f.Lead) {
			w.and(`NOT r.blind`)
		}
	}
}

// whereHeld takes a claim that ran out for none, but for the actor's own.
func (f QueueFilter) whereHeld(w *queueWhere, a Actor, now time.Time) {
	switch f.Held {
	case "":
	case HeldByNobody:
		w.and(`(r.state <> 'claimed' OR `+leaseLapsed+` AND r.holder_id <> ?)`, now, now.Add(longestLease), a.UserID)
	case HeldByMe, a.UserID:
		w.and(`r.holder_id = ? AND r.state = 'claimed'`, a.UserID)
	default:
		w.and(`r.holder_id = ? AND r.state = 'claimed' AND NOT `+leaseLapsed, f.Held, now, now.Add(longestLease))
	}
}

func queueQuery(a Actor, projectID string, f QueueFilter, now time.Time) (string, []any, error) {
	w, err := f.where(a, projectID, now)
	if err != nil {
		return "", nil, err
	}
	if f.After != "" {
		if !isID(f.After) {
			return "", nil, invalid("after", "is not a cursor of this list: start again without it")
		}
		w.and(`(r.urgency, r.due_at, r.id) > (SELECT c.urgency, c.due_at, c.id FROM reviews c WHERE c.id = ?)`, f.After)
	}
	seal := sealedFor(a, "r.evaluation_id")
	args := append(append(slices.Clone(seal.args), w.args...), f.Limit+1)
	return `SELECT ` + seal.value + `, ` + queueColumns + `
FROM reviews r LEFT JOIN users h ON h.id = r.holder_id WHERE ` + w.b.String() + `
ORDER BY r.urgency, r.due_at, r.id LIMIT ?`, args, nil
}
