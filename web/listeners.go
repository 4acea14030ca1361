package web

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/store"
)

// A page that stays open hears what changed by asking the database once a
// second for everybody who listens at this server. Several servers over one
// database need nothing else to agree, and nobody asks while nobody listens.
const (
	beatEvery    = time.Second
	beatPatience = 3 * time.Second // after that the database counts as away
	// recountEvery is how old counts may be without an event: what is overdue
	// becomes so by time alone.
	recountEvery   = 30 * time.Second
	listenersAUser = 8 // one for each page in sight; hidden ones close theirs
	listenersAtAll = 2000
)

var (
	errManyListeners = errors.New("too many pages listen")
	errStopping      = errors.New("the server stops")
)

// queueNews are the counts of a project, the same for every role.
type queueNews struct {
	Open    int `json:"open"`    // all that waits, claimed or not
	Overdue int `json:"overdue"` // of these; at most store.OverdueAtMost
}

// news is how things stand for one listener. A newer one replaces it whole.
type news struct {
	pulse int64
	ended bool // the session is over
	away  bool // the database does not answer; nothing else is set
	queue queueNews
	claim store.Claim // zero when no item is watched
	now   time.Time
}

// listener is one open stream.
type listener struct {
	user    store.User // as of its sign-in
	project string
	review  string // empty: none
	latest  atomic.Pointer[news]
	ring    chan struct{} // holds one: there is news
}

// tell replaces what the listener has not taken yet. It never waits.
func (l *listener) tell(n news) {
	l.latest.Store(&n)
	select {
	case l.ring <- struct{}{}:
	default: // it was rung before and finds this when it looks
	}
}

// listeners are everybody who listens at this server, and the one loop that
// asks for them.
type listeners struct {
	store *store.Store
	now   func() time.Time
	fault func(error) // is told once each time the database goes away
	every time.Duration
	aUser int
	atAll int

	running context.Context // ends when the server stops
	end     context.CancelFunc
	wake    chan struct{} // holds one: somebody came

	mu     sync.Mutex
	all    map[*listener]struct{}
	of     map[string]int // by user
	asking bool
}

func newListeners(s *store.Store, now func() time.Time, fault func(error)) *listeners {
	running, end := context.WithCancel(context.Background())
	return &listeners{
		store: s, now: now, fault: fault, every: beatEvery, aUser: listenersAUser, atAll: listenersAtAll,
		running: running, end: end, wake: make(chan struct{}, 1),
		all: map[*listener]struct{}{}, of: map[string]int{},
	}
}

// join adds a listener, who is told at once how things stand. leave must be
// called when it goes.
func (g *listeners) join(u store.User, project, review string) (*listener, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.running.Err() != nil:
		return nil, errStopping
	case len(g.all) >= g.atAll || g.of[u.ID] >= g.aUser:
		return nil, errManyListeners
	}
	l := &listener{user: u, project: project, review: review, ring: make(chan struct{}, 1)}
	g.all[l] = struct{}{}
	g.of[u.ID]++
	if !g.asking {
		g.asking = true
		go g.ask()
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
	return l, nil
}

func (g *listeners) leave(l *listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, l)
	if g.of[l.user.ID]--; g.of[l.user.ID] <= 0 {
		delete(g.of, l.user.ID)
	}
}

// present is who listens now. When that is nobody the loop ends, and the next
// who joins begins another.
func (g *listeners) present() []*listener {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.all) == 0 {
		g.asking = false
	}
	return slices.Collect(maps.Keys(g.all))
}

func (g *listeners) ask() {
	tick := time.NewTicker(g.every)
	defer tick.Stop()
	var known facts
	away := false
	for {
		select {
		case <-g.running.Done():
			return
		case <-tick.C:
		case <-g.wake:
		}
		present := g.present()
		if len(present) == 0 {
			return
		}
		err := known.learn(g.running, g.store, present)
		if g.running.Err() != nil {
			return
		}
		if err != nil && !away {
			g.fault(err)
		}
		away = err != nil
		for _, l := range present {
			if away {
				l.tell(news{away: true})
				continue
			}
			l.tell(known.of(l, g.now()))
		}
	}
}

// facts are what one look at the database found, for all who listen.
type facts struct {
	pulse   int64
	counted time.Time // by the process's own clock
	counts  map[string]queueNews
	claims  map[string]store.Claim
	users   map[string]store.User
}

// learn looks at the database: the pulse, everybody's session and every watched
// claim each time, and the counts when they may have changed.
func (f *facts) learn(ctx context.Context, s *store.Store, present []*listener) error {
	ctx, cancel := context.WithTimeout(ctx, beatPatience)
	defer cancel()
	users, projects, reviews := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, l := range present {
		users[l.user.ID], projects[l.project] = true, true
		if l.review != "" {
			reviews[l.review] = true
		}
	}
	// The pulse is read before what it stands for: what happens in between is
	// told now and counted again at the next beat.
	pulse, err := s.Pulse(ctx)
	if err != nil {
		return err
	}
	if f.users, err = s.UsersByID(ctx, slices.Collect(maps.Keys(users))); err != nil {
		return err
	}
	// Who holds an item and how much waits is the same for every role.
	everybody := store.Operator("pages that listen")
	if f.claims, err = s.Claims(ctx, everybody, slices.Collect(maps.Keys(reviews))); err != nil {
		return err
	}
	if pulse != f.pulse || time.Since(f.counted) >= recountEvery {
		f.counts, f.counted = map[string]queueNews{}, time.Now()
	}
	for project := range projects {
		if _, ok := f.counts[project]; ok {
			continue
		}
		c, err := s.QueueCounts(ctx, everybody, project)
		if err != nil {
			return err
		}
		overdue, err := s.Overdue(ctx, project)
		if err != nil {
			return err
		}
		f.counts[project] = queueNews{Open: c.Total, Overdue: overdue}
	}
	f.pulse = pulse
	return nil
}

// of is what they mean for one listener.
func (f *facts) of(l *listener, now time.Time) news {
	u, ok := f.users[l.user.ID]
	return news{
		pulse: f.pulse, now: now, queue: f.counts[l.project], claim: f.claims[l.review],
		ended: !ok || u.DisabledAt != nil || u.SessionEpoch != l.user.SessionEpoch,
	}
}
