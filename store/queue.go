package store

import (
	"context"
	"database/sql"
	"errors"
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
)

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
	State  string // QueueWaiting, QueueFree, QueueMine, QueueAdjudication or QueueForMe
	After  string // the cursor of the page before
	Limit  int    // 1..500, default 50
}

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
	Adjudicating   bool // somebody else has to settle it: a lead, or the addressee
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
    r.stratum, r.inclusion_probability, r.urgency, r.addressee,
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
		&q.Draw.Stratum, &q.Draw.InclusionProbability, &q.urgency, &q.Addressee, &q.AddresseeName, &q.OpinionsRequired, &q.Opinions}
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

// ListQueue gives a page of the queue in its order (the most urgent reason and
// stakes, then the due time, then age) and the cursor of the next page, empty
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

func queueQuery(a Actor, projectID string, f QueueFilter, now time.Time) (string, []any, error) {
	seal := sealedFor(a, "r.evaluation_id")
	var q strings.Builder
	q.WriteString(`SELECT ` + seal.value + `, ` + queueColumns + `
FROM reviews r LEFT JOIN users h ON h.id = r.holder_id WHERE r.project_id = ?`)
	args := append(slices.Clone(seal.args), projectID)
	and := func(condition string, values ...any) {
		q.WriteString("\n  AND " + condition)
		args = append(args, values...)
	}
	switch f.State {
	case "", QueueWaiting:
		and(waiting)
	case QueueFree:
		and(waiting+` AND (r.state <> 'claimed' OR `+leaseLapsed+`)`, now, now.Add(longestLease))
	case QueueMine:
		and(`r.holder_id = ? AND r.state = 'claimed'`, a.UserID)
	case QueueAdjudication:
		and(waiting + ` AND r.adjudicating`)
	case QueueForMe:
		and(waiting+` AND r.adjudicating AND r.addressee = ? AND r.addressee <> ''`, a.UserID)
	default:
		return "", nil, invalid("state", "is %q: it is one of waiting, free, mine, adjudication, for_me", f.State)
	}
	if f.Judge != "" {
		and(`r.judge = ?`, f.Judge)
	}
	if f.Domain != "" {
		and(`r.domain = ?`, f.Domain)
	}
	if f.Stakes != "" {
		and(`r.stakes = ?`, f.Stakes)
	}
	if f.Reason != "" {
		and(`EXISTS (SELECT 1 FROM evaluation_reasons x WHERE x.evaluation_id = r.evaluation_id AND x.code = ?)`, f.Reason)
		if judge.Telling(f.Reason) {
			and(`NOT `+seal.sql, seal.args...)
		}
	}
	if f.Run != "" {
		and(`EXISTS (SELECT 1 FROM run_traces rt JOIN runs ru ON ru.id = rt.run_id
    WHERE rt.trace_id = r.trace_id AND ru.project_id = r.project_id AND ru.name = ?)`, f.Run)
	}
	if f.After != "" {
		if !isID(f.After) {
			return "", nil, invalid("after", "is not a cursor of this list: start again without it")
		}
		and(`(r.urgency, r.due_at, r.id) > (SELECT c.urgency, c.due_at, c.id FROM reviews c WHERE c.id = ?)`, f.After)
	}
	q.WriteString("\nORDER BY r.urgency, r.due_at, r.id LIMIT ?")
	return q.String(), append(args, f.Limit+1), nil
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

// ReasonCount is how many items wait for one leading reason.
type ReasonCount struct {
	Code string // empty: blind items whose reason would tell the verdict
	N    int
}

// QueueCounts says how much waits.
type QueueCounts struct {
	Total        int // all that waits, claimed or not
	Mine         int // what the actor holds
	Adjudication int // of Total: what a lead has to settle and nobody holds
	ByReason     []ReasonCount
}

// QueueCounts reads the kept counts. To somebody who decides, blind items with
// a telling reason are one number without a name. Roles: all.
func (s *Store) QueueCounts(ctx context.Context, a Actor, project string) (c QueueCounts, err error) {
	defer wrap(&err, "count the queue")
	if err := s.authorise(ctx, a, everyone, "queue.listed", "queue"); err != nil {
		return c, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return c, err
	}
	named, err := s.tallied(ctx, p.ID, tallyQueue)
	if err != nil {
		return c, err
	}
	byCode := map[string]int{}
	for name, n := range named {
		code, sight, _ := strings.Cut(name, ":")
		if a.MayDecide() && sight == "blind" {
			code = sealLead(code)
		}
		byCode[code] += n
		c.Total += n
	}
	for code, n := range byCode {
		if n > 0 {
			c.ByReason = append(c.ByReason, ReasonCount{code, n})
		}
	}
	slices.SortFunc(c.ByReason, func(x, y ReasonCount) int { return compareReasons(x.Code, y.Code) })
	states, err := s.tallied(ctx, p.ID, tallyQueueState)
	if err != nil {
		return c, err
	}
	c.Adjudication = states[tallyAdjudication]
	if a.UserID == "" {
		return c, nil
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM reviews r WHERE r.holder_id = ? AND r.state = 'claimed' AND r.project_id = ?`, a.UserID, p.ID).Scan(&c.Mine)
	return c, err
}

// compareReasons is the queue's order of reason codes, the sealed ones first.
func compareReasons(x, y string) int {
	order := func(code string) int { return slices.Index(judge.ReasonCodes(), code) }
	return order(x) - order(y)
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
