package main

import (
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress draws how far a command is, on a terminal only. Its methods may be
// called from several goroutines, and on nil, where nothing is drawn.
type progress struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar
	// judging draws instead of the bar; nil but for `countersign judge`.
	judging *judgeProgress
}

// startProgress draws a bar up to total; an unknown total (below 0) is a
// spinner. bytes says that sizes are counted.
func (s *state) startProgress(what string, total int64, bytes bool) *progress {
	if !s.terminal {
		return nil
	}
	return &progress{bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(s.stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(bytes), progressbar.OptionShowCount(), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(true),
	)}
}

// The bar is a courtesy: a terminal that can't be drawn on must not end a run,
// so its errors are dropped.

func (p *progress) add(n int64) {
	if p == nil || p.bar == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.bar.Add64(n)
}

// describe changes the words before the bar.
func (p *progress) describe(format string, args ...any) {
	if p == nil || p.bar == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Describe(fmt.Sprintf(format, args...))
}

// pause clears the bar, so that a message can be written.
func (p *progress) pause() {
	if p == nil {
		return
	}
	if p.judging != nil {
		p.judging.clear()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.bar.Clear()
}

func (p *progress) end() {
	if p == nil || p.bar == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.bar.Finish()
}

// counted tells a progress how much was read of src.
func (p *progress) counted(src io.Reader) io.Reader {
	if p == nil {
		return src
	}
	return &countedReader{src, p}
}

type countedReader struct {
	io.Reader
	progress *progress
}

func (r *countedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.progress.add(int64(n))
	return n, err
}

// thousands writes 1234567 as 1,234,567. It takes any number, the lowest too.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	from := 0
	if n < 0 {
		from = 1
	}
	for at := len(digits) - 3; at > from; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// plural writes "1 trace", "2 traces".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}
