package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/countersign/countersign/judge"
)

// QueueItem is one line of the queue: what a person needs to choose it, and
// nothing that is sealed for them.
type QueueItem struct {
	ReviewID     string
	EvaluationID string
	TraceID      string // the file's id
	Title        string
	Judge        string
	// PromptVersion of the judge, whole.
	PromptVersion string
	Domain        string
	Stakes        string
	Reasons       []judge.Reason // without those that are sealed for the actor
	Sealed        bool           // the judge's verdict is kept from the actor
	// State is open, claimed, adjudication, decided or closed. A claim of
	// somebody else whose lease ran out counts as none.
	State          string
	HolderID       string
	HolderName     string
	LeaseExpiresAt *time.Time // in the past when the actor's own claim ran out
	DueAt          time.Time
	OpenedAt       time.Time
	Blind          bool
	Adjudicating   bool   // somebody else has to settle it: a lead, or the addressee
	Priority       int    // 1..3 set by a lead; 0: by reason and stakes
	AssignedID     string // who it is meant for; empty: whoever takes it
	AssignedName   string
	// Addressee alone settles an adjudicating item: a user's id or a role; empty:
	// leads and admins. AddresseeName is the person's.
	Addressee     string
	AddresseeName string
	// OpinionsRequired people answer the item before it is settled; Opinions have.
	OpinionsRequired int
	Opinions         int
	Draw             judge.Draw // zero while sealed: only accepted evaluations are drawn
}

// queueColumns are read with the sealing condition in front of them.
const queueColumns = `r.id, r.evaluation_id, r.external_id, r.title, r.judge,
    (SELECT v.prompt_version FROM evaluations v WHERE v.id = r.evaluation_id), r.domain, r.stakes, r.state,
    COALESCE(r.holder_id, ''), COALESCE(h.name, ''), r.lease_expires_at, r.due_at, r.opened_at, r.blind, r.adjudicating,
    r.stratum, r.inclusion_probability, r.urgency, r.priority, COALESCE(r.assigned_to, ''),
    COALESCE((SELECT ua.name FROM users ua WHERE ua.id = r.assigned_to), ''), r.addressee,
    COALESCE((SELECT ad.name FROM users ad WHERE ad.id = r.addressee AND r.addressee <> ''), ''), r.opinions_required, r.opinions`

// waiting is the condition of the index reviews_queue.
const waiting = `r.state IN ('open', 'claimed', 'adjudication')`

// queueRow is an item with its place in the queue.
type queueRow struct {
	QueueItem
	urgency int
}

func (q *queueRow) fields(lease *sql.NullTime) []any {
	return []any{&q.Sealed, &q.ReviewID, &q.EvaluationID, &q.TraceID, &q.Title, &q.Judge, &q.PromptVersion, &q.Domain, &q.Stakes, &q.State,
		&q.HolderID, &q.HolderName, lease, &q.DueAt, &q.OpenedAt, &q.Blind, &q.Adjudicating,
		&q.Draw.Stratum, &q.Draw.InclusionProbability, &q.urgency, &q.Priority, &q.AssignedID, &q.AssignedName, &q.Addressee, &q.AddresseeName, &q.OpinionsRequired, &q.Opinions}
}

// settle makes a row that was read fit to be shown to an actor.
func (q *queueRow) settle(a Actor, now time.Time, lease sql.NullTime) {
	q.DueAt, q.OpenedAt, q.LeaseExpiresAt = q.DueAt.UTC(), q.OpenedAt.UTC(), optional(lease)
	if q.State == stateClaimed && q.HolderID != a.UserID && lapsed(q.LeaseExpiresAt, now) {
		q.State, q.HolderID, q.HolderName, q.LeaseExpiresAt = restingState(q.Adjudicating), "", "", nil
	}
	if q.Sealed {
		q.Draw = judge.Draw{}
	}
}

// longestLease is more than a claim can last by any policy. One that ends later
// was made while the clock was wrong; it must not last until then.
const longestLease = 24*time.Hour + time.Minute

// lapsed says that a claim does not hold its item any more.
func lapsed(lease *time.Time, now time.Time) bool {
	return lease == nil || !lease.After(now) || lease.After(now.Add(longestLease))
}

// leaseLapsed is lapsed in SQL, of a claimed review r. Its parameters are now
// and now plus longestLease.
const leaseLapsed = `(r.lease_expires_at <= ? OR r.lease_expires_at > ?)`

// ListQueue gives a page of the queue in its order (a lead's priority, else the
// most urgent reason and stakes; then the due time, then age) and the cursor of the next page, empty
// at the end. Roles: all.
func (s *Store) ListQueue(ctx context.Context, a Actor, f QueueFilter) (items []QueueItem, next string, err error) {
	defer wrap(&err, "list the queue")
	if err := s.authorise(ctx, a, everyone, "queue.listed", "queue"); err != nil {
		return nil, "", err
	}
	project, err := projectNamed(ctx, s.reader, orDefaultProject(f.Project))
	if err != nil {
		return nil, "", err
	}
	if f.Limit <= 0 || f.Limit > 500 {
		f.Limit = 50
	}
	now := s.clock()
	query, args, err := queueQuery(a, project.ID, f, now)
	if err != nil {
		return nil, "", err
	}
	rows, err := collect(ctx, s.reader, func(r *sql.Rows, q *queueRow) error {
		var lease sql.NullTime
		if err := r.Scan(q.fields(&lease)...); err != nil {
			return err
		}
		q.settle(a, now, lease)
		return nil
	}, query, args...)
	if err != nil {
		return nil, "", err
	}
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		// The last id and not its place: an item's rank is its reason's, which may
		// be sealed.
		next = rows[f.Limit-1].ReviewID
	}
	for _, r := range rows {
		items = append(items, r.QueueItem)
	}
	return items, next, fillReasons(ctx, s.reader, items)
}

// fillReasons reads the reasons of all items at once, and leaves out what is
// sealed.
func fillReasons(ctx context.Context, q querier, items []QueueItem) error {
	if len(items) == 0 {
		return nil
	}
	ids := make([]any, len(items))
	at := make(map[string]*QueueItem, len(items))
	for i := range items {
		ids[i], at[items[i].EvaluationID] = items[i].EvaluationID, &items[i]
		items[i].Reasons = []judge.Reason{}
	}
	type reason struct {
		evaluation string
		judge.Reason
	}
	reasons, err := collect(ctx, q, func(r *sql.Rows, v *reason) error { return r.Scan(&v.evaluation, &v.Code, &v.Detail) }, `
SELECT evaluation_id, code, detail FROM evaluation_reasons
WHERE evaluation_id IN (`+placeholders(len(ids))+`) ORDER BY evaluation_id, position`, ids...)
	if err != nil {
		return err
	}
	for _, r := range reasons {
		item := at[r.evaluation]
		item.Reasons = append(item.Reasons, withoutVerdict(r.Reason))
	}
	for i := range items {
		if items[i].Sealed {
			items[i].Reasons = sealReasons(items[i].Reasons)
		}
	}
	return nil
}

func orDefaultProject(name string) string {
	if name == "" {
		return DefaultProject
	}
	return name
}

// Review states.
const (
	stateOpen         = "open"
	stateClaimed      = "claimed"
	stateDecided      = "decided"
	stateAdjudication = "adjudication"
	stateClosed       = "closed"
)

// restingState is where an item goes when nobody holds it.
func restingState(adjudicating bool) string {
	if adjudicating {
		return stateAdjudication
	}
	return stateOpen
}

var errQueueEmpty = errors.New("nothing waits that this person may take")
