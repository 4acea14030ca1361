package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign/judge/harness"
)

const (
	drawEvery = 200 * time.Millisecond // on a terminal
	tellEvery = 10 * time.Second       // a line of its own elsewhere, such as a log
	// rateOver is the time over which the rate is taken, so that it is that of now.
	rateOver = 10 * time.Second
)

// judgeProgress tells how far `countersign judge` is. It is drawn by a clock of its
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
	away               string // the endpoint that is down; empty: none
	asked              time.Time
}

type progressAt struct {
	at   time.Time
	made int
}

func (s *state) startJudgeProgress(f *traceFile) *judgeProgress {
	now := time.Now()
	p := &judgeProgress{
		w: s.stderr, terminal: s.terminal, size: f.size, stop: make(chan struct{}),
		began: now, history: []progressAt{{now, 0}},
	}
	f.progress = &progress{judging: p}
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
	if n.away != "" {
		parts = append(parts, n.away+" does not answer, calls wait and are tried again "+n.asked.Format(time.TimeOnly))
	}
	return strings.Join(parts, " · ")
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

func (p *judgeProgress) readAll() { p.change(func(n *judgeTally) { n.all = true }) }

func (p *judgeProgress) kept(evaluations int) {
	if evaluations > 0 {
		p.change(func(n *judgeTally) { n.kept += evaluations })
	}
}

func (p *judgeProgress) made(costUSD float64, failed bool) {
	p.change(func(n *judgeTally) {
		n.made++
		n.costUSD += costUSD
		if failed {
			n.failed++
		}
	})
}

// outage shows that calls wait for an endpoint that is down, and no longer.
func (p *judgeProgress) outage(o harness.Outage) {
	p.clear() // the log tells of it too
	p.change(func(n *judgeTally) {
		n.away, n.asked = "", time.Time{}
		if o.Down {
			n.away, n.asked = o.Endpoint, o.Next
		}
	})
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
