package main

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// progress tells how far one part of the work is, at most every five seconds.
type progress struct {
	to    io.Writer
	what  string
	total int
	start time.Time

	mu   sync.Mutex
	done int
	told time.Time
}

func (b *build) begin(what string, total int) *progress {
	now := time.Now()
	return &progress{to: b.to, what: what, total: total, start: now, told: now}
}

func (p *progress) add(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += n
	if now := time.Now(); now.Sub(p.told) >= 5*time.Second {
		p.told = now
		p.tell()
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell()
}

func (p *progress) tell() {
	took := time.Since(p.start)
	fmt.Fprintf(p.to, "%s: %d of %d in %s, %.0f a second\n", p.what, p.done, p.total, took.Round(time.Second), float64(p.done)/took.Seconds())
}
