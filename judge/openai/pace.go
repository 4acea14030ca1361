package openai

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
)

const (
	// lotLasts is how long what was taken of the shared budget may be used. What
	// is left then is lost: another process may have been refused because of
	// it, and used late it would add to what was granted since.
	lotLasts = time.Second
	// shortestWait keeps waiting processes from asking all the time.
	shortestWait = 10 * time.Millisecond
	// takeLasts is how long a shared budget may take to answer. It is long: a
	// database that is busy is not away, and meanwhile nothing is sent.
	takeLasts = 10 * time.Second
	// retryShared is how long a shared budget that failed is left alone.
	retryShared = 5 * time.Second
)

// pace holds the calls of an engine to the limits of its endpoint: together
// with other processes where there is a shared allowance, else by itself.
type pace struct {
	endpoint  string // a hash of the address
	host      string // for people
	perMinute judge.Budget
	own       ownLimits
	now       func() time.Time
	sleep     func(context.Context, time.Duration) error
	log       *slog.Logger

	// turn is held by the one call that uses the lot, and asks for more and waits
	// when it does not suffice. The others stand behind it: one process asks for
	// all of its calls at once.
	turn     chan struct{}
	lot      judge.Budget
	lotUntil time.Time

	mu          sync.Mutex // of what follows
	shared      judge.Allowance
	waiting     judge.Budget // what the calls that wait now need together
	pausedUntil time.Time    // the endpoint asked this process to wait
	away        bool         // the shared budget failed when it was last asked
	awayUntil   time.Time
}

func newPace(endpoint, host string, perMinute judge.Budget) *pace {
	return &pace{
		endpoint: judge.HashText(endpoint), host: host, perMinute: perMinute,
		own: newOwnLimits(perMinute), turn: make(chan struct{}, 1),
	}
}

// wait returns when a call that needs so much may be made; an error is ctx's.
func (p *pace) wait(ctx context.Context, need judge.Budget) error {
	defer judge.Waiting(ctx)()
	// A call beyond the limit of a minute waits for all of it and is then tried:
	// the endpoint may see it otherwise.
	need.Requests, need.Tokens = min(need.Requests, max(p.perMinute.Requests, 0)), min(need.Tokens, max(p.perMinute.Tokens, 0))
	if shared := p.allowance(); shared != nil {
		if may, err := p.together(ctx, shared, need); may || err != nil {
			return err
		}
	}
	return p.alone(ctx, need)
}

// together waits for the shared budget. It reports false without an error when
// that is not to be had.
func (p *pace) together(ctx context.Context, shared judge.Allowance, need judge.Budget) (bool, error) {
	p.queue(need, 1)
	defer p.queue(need, -1)
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if p.allowance() == nil { // who had the turn before found it away
		return false, nil
	}
	for {
		wait := p.pause()
		if wait <= 0 {
			if p.spend(need) {
				return true, nil
			}
			var err error
			if wait, err = p.take(ctx, shared, need); ctx.Err() != nil {
				return false, context.Cause(ctx)
			} else if err != nil {
				p.lost(err)
				return false, nil
			}
			p.regained()
			if wait <= 0 {
				p.charge(need)
				return true, nil
			}
		}
		if err := p.sleep(ctx, max(wait, shortestWait)); err != nil {
			return false, err
		}
	}
}

// spend uses the lot, when it suffices. Where there is no limit, the shared
// allowance is still asked whether the endpoint is paused.
func (p *pace) spend(need judge.Budget) bool {
	if !p.now().Before(p.lotUntil) {
		p.lot = judge.Budget{}
	}
	if need == (judge.Budget{}) || p.lot.Requests < need.Requests || p.lot.Tokens < need.Tokens {
		return false
	}
	p.lot.Requests -= need.Requests
	p.lot.Tokens -= need.Tokens
	p.charge(need)
	return true
}

// take asks for what a call and those behind it need beyond the lot, and uses
// the call's part; or it says how long to wait.
func (p *pace) take(ctx context.Context, shared judge.Allowance, need judge.Budget) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, takeLasts)
	defer cancel()
	p.mu.Lock()
	all := p.waiting
	p.mu.Unlock()
	lacking := func(need, lot int) int { return max(0, need-lot) }
	request := judge.BudgetRequest{
		Endpoint: p.endpoint, PerMinute: p.perMinute,
		Least: judge.Budget{Requests: lacking(need.Requests, p.lot.Requests), Tokens: lacking(need.Tokens, p.lot.Tokens)},
		Most:  judge.Budget{Requests: lacking(all.Requests, p.lot.Requests), Tokens: lacking(all.Tokens, p.lot.Tokens)},
	}
	granted, wait, err := shared.TakeAllowance(ctx, request)
	if err != nil || wait > 0 {
		return wait, err
	}
	p.lot.Requests += granted.Requests - need.Requests
	p.lot.Tokens += granted.Tokens - need.Tokens
	p.lotUntil = p.now().Add(lotLasts)
	return 0, nil
}

// alone waits for this process's own limits.
func (p *pace) alone(ctx context.Context, need judge.Budget) error {
	if wait := p.pause(); wait > 0 {
		if err := p.sleep(ctx, wait); err != nil {
			return err
		}
	}
	delay, cancel := p.own.reserve(p.now(), need)
	if delay <= 0 {
		return nil
	}
	err := p.sleep(ctx, delay)
	if err != nil {
		cancel()
	}
	return err
}

// charge books what was used of the shared budget in this process's own limits,
// so that they begin where the shared ones end.
func (p *pace) charge(need judge.Budget) { p.own.reserve(p.now(), need) }

// obey makes this process wait as long as the endpoint asked it to, and the
// others that share its budget.
func (p *pace) obey(ctx context.Context, d time.Duration) {
	if d <= 0 || d > judge.MaxPause {
		return
	}
	until := p.now().Add(d)
	p.mu.Lock()
	if until.After(p.pausedUntil) {
		p.pausedUntil = until
	}
	p.mu.Unlock()
	shared := p.allowance()
	if shared == nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, takeLasts)
	defer cancel()
	if err := shared.PauseEndpoint(limited, p.endpoint, d); err != nil && ctx.Err() == nil {
		p.lost(err)
	}
}

// pause is what is left of it.
func (p *pace) pause() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pausedUntil.Sub(p.now())
}

// queue adds to what the waiting calls need, or takes it off.
func (p *pace) queue(need judge.Budget, sign int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting.Requests += sign * need.Requests
	p.waiting.Tokens += sign * need.Tokens
}

// allowance is the shared one; nil when there is none, or when it failed a
// moment ago.
func (p *pace) allowance() judge.Allowance {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away && p.now().Before(p.awayUntil) {
		return nil
	}
	return p.shared
}

// lost says once that the shared budget is away, and leaves it alone a while.
func (p *pace) lost(err error) {
	p.mu.Lock()
	first := !p.away
	p.away, p.awayUntil = true, p.now().Add(retryShared)
	p.mu.Unlock()
	if first {
		p.log.Warn("the limits of the model endpoint cannot be shared: until the database answers, each process keeps to them by itself",
			"endpoint", p.host, "error", err)
	}
}

func (p *pace) regained() {
	p.mu.Lock()
	was := p.away
	p.away = false
	p.mu.Unlock()
	if was {
		p.log.Info("the limits of the model endpoint are shared again", "endpoint", p.host)
	}
}
