package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

const (
	// comfortEvery is how often a silent stream sends a comment, so that proxies
	// keep it open and a reader that has gone is found out.
	comfortEvery = 15 * time.Second
	// streamLife ends a stream now and then; the browser comes back by itself,
	// and its cookie is looked at again.
	streamLife = 30 * time.Minute
	// writePatience is how long a reader may leave its buffers full.
	writePatience = 10 * time.Second
	// comeBack is when the browser tries again, in milliseconds.
	comeBack = 3000
)

// claimNews is who holds the watched item, in words for the desk.
type claimNews struct {
	State   store.ClaimState `json:"state"`
	Holder  string           `json:"holder,omitempty"` // only when taken
	Until   *time.Time       `json:"until,omitempty"`
	Seconds int              `json:"seconds,omitempty"` // left until then, by the server's clock
	Text    string           `json:"text"`
}

// EndStreams ends every open stream of events at once and lets none begin: for
// a server that is told to stop, which would wait for them otherwise.
func (s *Server) EndStreams() { s.listeners.end() }

// streamEvents answers GET /events: a stream of server-sent events for one page
// of a signed-in person, whichever server a change happens at.
//
//	queue    {open, overdue}: the counts of the project (?project=; else the person's)
//	claim    {state, holder, until, seconds, text}: the item named by ?review=
//	trouble  {message}: the database is away; queue follows when it is back
//	end      {message}: the session is over, and coming back is no use
//
// An event's id is the store's pulse. Who comes back with the present one as
// Last-Event-ID is told the counts again only when they change.
func (s *Server) streamEvents(c echo.Context) error {
	u, err := s.signedIn(c)
	if errors.Is(err, store.ErrForbidden) {
		// No way to the sign-in page: a script asks, and would follow it.
		return c.String(http.StatusUnauthorized, "Sign in first.\n")
	}
	if err != nil {
		return err
	}
	project, review, err := s.subjects(c, u)
	if err != nil {
		return err
	}
	l, err := s.listeners.join(u, project, review)
	if err != nil {
		c.Response().Header().Set("Retry-After", "30")
		return c.String(http.StatusServiceUnavailable, "No live news now: "+err.Error()+". The pages work without.\n")
	}
	defer s.listeners.leave(l)
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	st := stream{response: c.Response(), control: http.NewResponseController(c.Response().Writer), actor: u.Actor()}
	st.seen, st.resumes = lastEventID(c.Request())
	st.begin()
	comfort, life := time.NewTicker(s.comfortEvery), time.NewTimer(streamLife)
	defer comfort.Stop()
	defer life.Stop()
	defer st.close()
	for st.flush() == nil && !st.over {
		select {
		case <-c.Request().Context().Done():
			return nil
		case <-s.listeners.running.Done():
			return nil
		case <-life.C:
			return nil
		case <-comfort.C:
			st.out.WriteString(": \n\n")
		case <-l.ring:
			st.hear(*l.latest.Load())
		}
	}
	return nil
}

// subjects are the project and the item that a page wants to hear of. An item
// that is not there is ErrNotFound.
func (s *Server) subjects(c echo.Context, u store.User) (project, review string, err error) {
	names, err := s.projectNames(c)
	if err != nil {
		return "", "", err
	}
	project = s.projectOf(c, names)
	if asked := c.QueryParam("project"); asked != "" {
		if !slices.Contains(names, asked) {
			return "", "", fmt.Errorf("project %q: %w", asked, store.ErrNotFound)
		}
		project = asked
	}
	if review = c.QueryParam("review"); review == "" {
		return project, "", nil
	}
	claims, err := s.cfg.Store.Claims(c.Request().Context(), u.Actor(), []string{review})
	if err != nil {
		return "", "", err
	}
	if _, ok := claims[review]; !ok {
		return "", "", fmt.Errorf("review %q: %w", review, store.ErrNotFound)
	}
	return project, review, nil
}

func lastEventID(r *http.Request) (pulse int64, ok bool) {
	pulse, err := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)
	return pulse, err == nil
}

// stream writes what is new to one reader.
type stream struct {
	response *echo.Response
	control  *http.ResponseController
	actor    store.Actor
	out      bytes.Buffer // what is not sent yet

	seen    int64 // the pulse that the reader has heard already
	resumes bool  // seen is one
	heard   *news // what was sent last; nil: nothing
	over    bool
}

func (st *stream) begin() {
	st.response.WriteHeader(http.StatusOK)
	fmt.Fprintf(&st.out, "retry: %d\n\n", comeBack)
}

// hear writes the events that take the reader from what it heard to n.
func (st *stream) hear(n news) {
	switch before := st.heard; {
	case n.ended:
		st.over = true
		st.event("end", 0, message{"You are signed out. Load the page again to sign in."})
		return
	case n.away:
		if before == nil || !before.away {
			st.event("trouble", 0, message{"The database does not answer. What was confirmed to you is stored."})
		}
	case before == nil || before.away:
		if before != nil || !st.resumes || st.seen != n.pulse {
			st.event("queue", n.pulse, n.queue)
		}
		st.claim(n)
	default:
		if before.queue != n.queue {
			st.event("queue", n.pulse, n.queue)
		}
		if before.claim != n.claim || before.claim.For(st.actor) != n.claim.For(st.actor) {
			st.claim(n)
		}
	}
	st.heard = &n
}

type message struct {
	Message string `json:"message"`
}

// claim tells of the watched item, if there is one.
func (st *stream) claim(n news) {
	state := n.claim.For(st.actor)
	if state == "" {
		return
	}
	told := claimNews{State: state}
	switch state {
	case store.ClaimTaken:
		told.Holder = n.claim.HolderName
		fallthrough
	case store.ClaimYours:
		told.Until, told.Seconds = &n.claim.Until, max(0, int(n.claim.Until.Sub(n.now).Seconds()))
	}
	told.Text = claimWords(told, st.actor)
	st.event("claim", n.pulse, told)
}

// claimWords say what became of the item since the desk was opened.
func claimWords(c claimNews, a store.Actor) string {
	switch c.State {
	case store.ClaimYours:
		return "You hold this item now, and can decide it."
	case store.ClaimLapsed:
		return "Your claim has ended, and nobody has taken the item. You can claim it again."
	case store.ClaimTaken:
		return c.Holder + " holds this item now. You can read it; you can’t sign it."
	case store.ClaimAdjudication:
		return "Nobody holds this item now; a lead has to settle it."
	case store.ClaimDecided:
		return "This item was decided meanwhile."
	case store.ClaimClosed:
		return "This item was closed meanwhile: its evaluation is judged again, or an imported label settled it."
	}
	if !a.MayDecide() {
		return "Nobody holds this item now."
	}
	return "Nobody holds this item now. You can claim it."
}

// event adds one event; a pulse of 0 leaves the id as it is.
func (st *stream) event(name string, pulse int64, data any) {
	body, err := json.Marshal(data)
	if err != nil {
		panic(err) // numbers, times and texts encode
	}
	fmt.Fprintf(&st.out, "event: %s\n", name)
	if pulse > 0 {
		fmt.Fprintf(&st.out, "id: %d\n", pulse)
	}
	fmt.Fprintf(&st.out, "data: %s\n\n", body)
}

// close leaves time to write the end of the answer: the last deadline may be
// long past, and the connection is good for the next request.
func (st *stream) close() {
	// A connection that takes no deadline is gone, and nobody waits for its end.
	_ = st.control.SetWriteDeadline(time.Now().Add(writePatience))
}

// flush sends what is waiting. An error means that the reader has gone, or is
// too slow to be worth a connection; it comes back if it wants to.
func (st *stream) flush() error {
	if st.out.Len() == 0 {
		return nil
	}
	// Each write has its own time, by the real clock: the server's limit is for
	// answers that end.
	if err := st.control.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return err
	}
	if _, err := st.response.Write(st.out.Bytes()); err != nil {
		return err
	}
	st.out.Reset()
	return st.control.Flush()
}
