package web

import (
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// queueEntry is one item of the queue as the API shows it. Sealed says that
// reasons are kept back until this reviewer has answered.
type queueEntry struct {
	ID             string         `json:"id"` // the review's
	EvaluationID   string         `json:"evaluation_id"`
	TraceID        string         `json:"trace_id"`
	Title          string         `json:"title"`
	Judge          string         `json:"judge"`
	Domain         string         `json:"domain"`
	Stakes         string         `json:"stakes"`
	State          string         `json:"state"`
	Reasons        []judge.Reason `json:"reasons"`
	Sealed         bool           `json:"sealed"`
	Blind          bool           `json:"blind"`
	Holder         string         `json:"holder,omitempty"`
	AssignedTo     string         `json:"assigned_to,omitempty"` // a name
	Priority       int            `json:"priority,omitempty"`    // 1 to 3, set by a lead
	LeaseExpiresAt *time.Time     `json:"lease_expires_at,omitempty"`
	DueAt          time.Time      `json:"due_at"`
	OpenedAt       time.Time      `json:"opened_at"`
	// Opinions are given of OpinionsRequired; To is who alone settles it, a
	// person's id or a role.
	Opinions         int    `json:"opinions"`
	OpinionsRequired int    `json:"opinions_required"`
	To               string `json:"to,omitempty"`
}

func entryOf(q store.QueueItem) queueEntry {
	e := queueEntry{
		ID: q.ReviewID, EvaluationID: q.EvaluationID, TraceID: q.TraceID, Title: q.Title, Judge: q.Judge,
		Domain: q.Domain, Stakes: q.Stakes, State: q.State, Reasons: q.Reasons, Sealed: q.Sealed, Blind: q.Blind,
		Holder: q.HolderName, AssignedTo: q.AssignedName, Priority: q.Priority, LeaseExpiresAt: q.LeaseExpiresAt, DueAt: q.DueAt, OpenedAt: q.OpenedAt,
		Opinions: q.Opinions, OpinionsRequired: q.OpinionsRequired, To: q.Addressee,
	}
	if e.Reasons == nil {
		e.Reasons = []judge.Reason{}
	}
	return e
}

type queueList struct {
	Items []queueEntry `json:"items"`
	Next  string       `json:"next,omitempty"`
}

func (s *Server) apiListQueue(c echo.Context) error {
	filter, err := queueFilter(c, s.apiProject(c))
	if err != nil {
		return err
	}
	if filter.Limit, err = intParam(c, "limit", pageRows, 1, 500); err != nil {
		return err
	}
	items, next, err := s.cfg.Store.ListQueue(c.Request().Context(), user(c).Actor(), filter)
	if err != nil {
		return err
	}
	list := queueList{Items: make([]queueEntry, len(items)), Next: next}
	for i, q := range items {
		list.Items[i] = entryOf(q)
	}
	return c.JSON(http.StatusOK, list)
}

// claimed is what a reviewer's client gets with a claim: everything to decide
// by. Evaluation is absent while it is sealed.
type claimed struct {
	queueEntry
	Labels []judgeLabel `json:"labels"`
	// Shown is what the item holds, by versions and hashes: who sends it back with
	// a decision signs for it, and is told when it is not what is stored any more.
	Shown store.Shown `json:"shown"`
	// ReasonCodes are why the judge may be overridden here.
	ReasonCodes []judge.OverrideReason `json:"reason_codes"`
	Trace       judge.Trace            `json:"trace"`
	Evaluation  *judge.Evaluation      `json:"evaluation,omitempty"`
}

type judgeLabel struct {
	Name    string        `json:"name"`
	Verdict judge.Verdict `json:"verdict"`
	Abstain bool          `json:"abstain,omitempty"`
}

func claimedOf(r store.Review) claimed {
	out := claimed{queueEntry: entryOf(r.QueueItem), Trace: r.Trace, Evaluation: r.Evaluation, Labels: []judgeLabel{}, Shown: r.Screen, ReasonCodes: r.ReasonCodes}
	for _, l := range r.Labels {
		out.Labels = append(out.Labels, judgeLabel(l))
	}
	return out
}

func (s *Server) apiClaim(c echo.Context) error {
	var in struct {
		Judge  string `json:"judge"`
		Domain string `json:"domain"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	r, err := s.cfg.Store.ClaimNext(c.Request().Context(), user(c).Actor(), s.apiProject(c), store.ClaimFilter{Judge: in.Judge, Domain: in.Domain})
	if errors.Is(err, store.ErrNotFound) {
		return c.NoContent(http.StatusNoContent)
	}
	if err != nil {
		return err
	}
	s.cfg.Store.Look(user(c).Actor(), r.EvaluationID, store.SawByAPI, r.Sealed)
	return c.JSON(http.StatusOK, claimedOf(r))
}

// renewed tells how long the claim holds now.
type renewed struct {
	LeaseExpiresAt time.Time `json:"lease_expires_at"`
	LeaseSeconds   int       `json:"lease_seconds"`
}

func (s *Server) apiRenew(c echo.Context) error {
	until, err := s.cfg.Store.RenewClaim(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, renewed{LeaseExpiresAt: until, LeaseSeconds: int(until.Sub(s.cfg.Now()).Seconds())})
}

func (s *Server) apiRelease(c echo.Context) error {
	if err := s.cfg.Store.ReleaseClaim(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (s *Server) apiSkip(c echo.Context) error {
	var in struct {
		Comment string `json:"comment"`
	}
	if err := decodeJSON(c, &in); err != nil {
		return err
	}
	if err := s.cfg.Store.SkipReview(c.Request().Context(), user(c).Actor(), param(c, "id"), in.Comment); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
