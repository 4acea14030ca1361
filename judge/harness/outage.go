package harness

import (
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// outage is a time in which a worker's list fails. It is told once when it
// begins and once when it ends, however many calls fail meanwhile.
type outage struct {
	log      *slog.Logger
	patience time.Duration // 0: endless
	over     chan struct{} // closed when patience is

	mu     sync.Mutex
	began  time.Time // zero: the list works
	faults int
	err    error // the newest
}

// Waits between calls to a list that fails: they double from the first one on.
const (
	firstWait   = 100 * time.Millisecond
	longestWait = 5 * time.Second
)

// failed notes a call that failed and says how long to wait before the next.
func (o *outage) failed(err error) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	if o.faults++; o.faults == 1 {
		o.began = time.Now()
		o.log.Error("the work list fails; judging waits until it works again", "error", err)
	}
	if o.patience > 0 && time.Since(o.began) >= o.patience {
		select {
		case <-o.over:
		default:
			close(o.over)
		}
	}
	return min(firstWait<<min(o.faults-1, 10), longestWait)
}

// ended notes a call that worked.
func (o *outage) ended() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.faults > 0 {
		o.log.Info("the work list works again; judging goes on",
			"after", time.Since(o.began).Round(time.Millisecond), "faults", o.faults)
	}
	o.faults, o.err = 0, nil
}

// fault is why the run ends, once over is closed.
func (o *outage) fault() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return fmt.Errorf("the work list failed for %s: %w", time.Since(o.began).Round(time.Millisecond), o.err)
}
