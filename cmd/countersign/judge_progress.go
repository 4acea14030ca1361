package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

const (
	drawEvery = 200 * time.Millisecond // on a terminal
	tellEvery = 10 * time.Second       // a line of its own elsewhere, such as a log
	// rateOver is the time over which the rate is taken, so that it is that of now.
	rateOver = 10 * time.Second
)

// judgeProgress tells how far judging is. It is drawn by a clock of its
// own, so that a fast run does not spend its time on it.
type judgeProgress struct {
	w        io.Writer
	terminal bool
	size     int64 // of the file in bytes; below 0: unknown
	stop     chan struct{}
	over     sync.WaitGroup

	mu      sync.Mutex
	tally   judgeTally
	began   time.Time
	history []progressAt // the oldest first, of about rateOver
	drawn   bool         // something stands on the terminal's line
}

// judgeTally is what a run has done.
type judgeTally struct {
	made, kept, failed int
	plannedSo          int   // evaluations of the traces read
	bytes              int64 // of the traces read
	all                bool  // the file is read to its end
	costUSD            float64
	outage             harness.Outage // Down false: none
}

type progressAt struct {
	at   time.Time
	made int
}

// startJudgeProgress begins to tell; size is that of the file that is judged, below
// 0 when it is not known.
func (s *state) startJudgeProgress(size int64) *judgeProgress {
	now := time.Now()
	p := &judgeProgress{
		w: s.stderr, terminal: s.terminal, size: size, stop: make(chan struct{}),
		began: now, history: []progressAt{{now, 0}},
	}
	p.over.Go(p.run)
	return p
}

func (p *judgeProgress) run() {
	every := tellEvery
	if p.terminal {
		every = drawEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case at := <-tick.C:
			p.draw(at)
		}
	}
}

func (p *judgeProgress) draw(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history = append(p.history, progressAt{at, p.tally.made})
	for len(p.history) > 2 && at.Sub(p.history[1].at) >= rateOver {
		p.history = p.history[1:]
	}
	first := p.history[0]
	rate := 0.0
	if took := at.Sub(first.at).Seconds(); took > 0 {
		rate = float64(p.tally.made-first.made) / took
	}
	// The line is a courtesy: a terminal that can't be written on must not end a
	// run, so its errors are dropped.
	if p.terminal {
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K%s", p.tally.text(rate, p.size))
		p.drawn = true
		return
	}
	_, _ = fmt.Fprintln(p.w, p.tally.text(rate, p.size))
}

// text is such as "1,204 of 5,000 · 310/s · 12 s left · $0.84 · 3 failed".
func (n judgeTally) text(rate float64, size int64) string {
	done := n.made + n.kept
	parts := []string{thousands(done)}
	total, known := n.total(size)
	switch {
	case known:
		parts[0] += " of " + thousands(total)
	case total > 0:
		parts[0] += " of about " + thousands(total)
	}
	switch {
	case rate >= 10:
		parts = append(parts, thousands(int(math.Round(rate)))+"/s")
	case rate > 0:
		parts = append(parts, fmt.Sprintf("%.1f/s", rate))
	}
	if rate > 0 && total > done {
		parts = append(parts, left(time.Duration(float64(total-done)/rate*float64(time.Second)))+" left")
	}
	if n.costUSD > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", n.costUSD))
	}
	if n.failed > 0 {
		parts = append(parts, thousands(n.failed)+" failed")
	}
	if n.outage.Down {
		parts = append(parts, outageText(n.outage))
	}
	return strings.Join(parts, " · ")
}

// outageText says what an endpoint does that takes no calls, and when it is asked
// again.
func outageText(o harness.Outage) string {
	does := "does not answer"
	var failed *judge.TransportError
	if errors.As(o.Err, &failed) {
		switch {
		case failed.Status == http.StatusTooManyRequests && failed.RetryAfter > 0:
			does = fmt.Sprintf("asks to wait (429) for %s", left(failed.RetryAfter))
		case failed.Status == http.StatusTooManyRequests:
			does = "asks to wait (429)"
		case failed.Foreign:
			does = "answers what is no chat completion"
		case failed.Status != 0:
			does = fmt.Sprintf("answers %d", failed.Status)
		}
	}
	return fmt.Sprintf("%s %s, calls wait and are tried again %s", o.Endpoint, does, o.Next.Format(time.TimeOnly))
}

// total is how many evaluations there will be: known when the file is read, else
// estimated by its size; 0 when nothing can be said.
func (n judgeTally) total(size int64) (total int, known bool) {
	if n.all {
		return n.plannedSo, true
	}
	if size <= 0 || n.bytes <= 0 {
		return 0, false
	}
	return max(n.plannedSo, int(float64(n.plannedSo)*float64(size)/float64(min(n.bytes, size)))), false
}

// left is a time in the two largest units that it has.
func left(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(1, int(d/time.Second)))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d/time.Minute), int(d%time.Minute/time.Second))
	}
	return fmt.Sprintf("%d h %d min", int(d/time.Hour), int(d%time.Hour/time.Minute))
}

func (p *judgeProgress) change(fn func(*judgeTally)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn(&p.tally)
}

// planned counts a trace that was read, with the evaluations that it gets.
func (p *judgeProgress) planned(evaluations, bytes int) {
	p.change(func(n *judgeTally) { n.plannedSo += evaluations; n.bytes += int64(bytes) })
}

// pending counts evaluations that are to be made, where all are known.
func (p *judgeProgress) pending(evaluations int) {
	p.change(func(n *judgeTally) { n.plannedSo += evaluations; n.all = true })
}

func (p *judgeProgress) readAll() { p.change(func(n *judgeTally) { n.all = true }) }

func (p *judgeProgress) kept(evaluations int) {
	if evaluations > 0 {
		p.change(func(n *judgeTally) { n.kept += evaluations })
	}
}

func (p *judgeProgress) made(evaluations int, costUSD float64, failed int) {
	p.change(func(n *judgeTally) {
		n.made += evaluations
		n.costUSD += costUSD
		n.failed += failed
	})
}

// outage shows that calls wait for an endpoint that is down, and no longer.
func (p *judgeProgress) outage(o harness.Outage) {
	p.clear() // the log tells of it too
	begins := false
	p.change(func(n *judgeTally) {
		begins = o.Down && !n.outage.Down
		n.outage = o
	})
	if begins {
		p.draw(time.Now()) // a log's next line may be long off
	}
}

// clear makes room for a message.
func (p *judgeProgress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K") // as in draw
		p.drawn = false
	}
}

func (p *judgeProgress) end() {
	close(p.stop)
	p.over.Wait()
	p.clear()
}
