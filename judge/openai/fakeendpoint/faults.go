package fakeendpoint

import (
	"context"
	"encoding/binary"
	"net/http"
	"strconv"
	"time"
)

// Faults are shares in [0,1] of calls; together at most 1.
type Faults struct {
	RateLimited float64       // 429
	RetryAfter  time.Duration // that a 429 asks for; none when 0
	ServerError float64       // 500
	Cut         float64       // the connection ends before or in the answer
	// Malformed replies hold no report that can be read, or one that does not fit
	// its schema; Inconsistent ones fit it and contradict themselves.
	Malformed, Inconsistent float64
	Refused                 float64 // the model refuses to answer
	CutShort                float64 // the reply ends at its length limit

	Slow    float64       // share of calls that take SlowFor more; beside the other faults
	SlowFor time.Duration // 0: none
}

type fault int

const (
	none fault = iota
	rateLimited
	serverError
	away
	cut
	malformed
	inconsistent
	refused
	cutShort
)

// die is what one call's luck depends on: the seed, the request, and how often
// it came before.
type die uint64

// part is the die's i-th independent number.
func (d die) part(i uint64) uint64 { return mix(uint64(d) + i*0x9e3779b97f4a7c15) }

// unit is the die's i-th independent number in [0,1).
func (d die) unit(i uint64) float64 { return unit(d.part(i)) }

func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// Uses of a die.
const (
	forFault uint64 = iota
	forSlow
	forKind
)

func (e *Endpoint) roll(request uint64) die {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.conversations[request]
	s.came++
	e.conversations[request] = s
	return die(mix(request + uint64(s.came)*0x9e3779b97f4a7c15))
}

func (e *Endpoint) faultOf(d die) fault {
	if e.down.Load() {
		return away
	}
	if e.storm.Load() > 0 && e.storm.Add(-1) >= 0 {
		return rateLimited
	}
	f, u := &e.config.Faults, d.unit(forFault)
	for _, c := range []struct {
		share float64
		fault fault
	}{
		{f.RateLimited, rateLimited}, {f.ServerError, serverError}, {f.Cut, cut},
		{f.Malformed, malformed}, {f.Inconsistent, inconsistent}, {f.Refused, refused}, {f.CutShort, cutShort},
	} {
		if u < c.share {
			return c.fault
		}
		u -= c.share
	}
	return none
}

// wait takes the call's time; false when its caller left.
func (e *Endpoint) wait(ctx context.Context, d die) bool {
	wait := e.config.Latency
	if d.unit(forSlow) < e.config.Faults.Slow {
		wait += e.config.Faults.SlowFor
	}
	if wait <= 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// askToWait sets Retry-After, in whole seconds as most endpoints do, and the
// header of some others where that is too coarse.
func (e *Endpoint) askToWait(w http.ResponseWriter) {
	wait := e.config.Faults.RetryAfter
	switch {
	case wait <= 0:
	case wait%time.Second == 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	default:
		w.Header().Set("Retry-After-Ms", strconv.FormatFloat(float64(wait)/float64(time.Millisecond), 'f', -1, 64))
	}
}

// cutConnection ends the connection without an answer, or in the middle of one.
func cutConnection(w http.ResponseWriter, completion []byte, d die) {
	if d.part(forKind)%2 == 0 {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(completion)))
		_, _ = w.Write(completion[:len(completion)/2])
		_ = http.NewResponseController(w).Flush() // the connection ends in any case
	}
	panic(http.ErrAbortHandler) // how net/http is told to end a connection
}

// hashBytes is FNV-1a over words of eight bytes, then mixed: not cryptographic,
// the same everywhere.
func hashBytes(seed uint64, b []byte) uint64 {
	const prime = 1099511628211
	h := seed ^ 14695981039346656037
	for len(b) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(b)) * prime
		h ^= h >> 32
		b = b[8:]
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * prime
	}
	return mix(h)
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
