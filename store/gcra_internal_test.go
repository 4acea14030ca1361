package store

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestBucket walks one bucket through a sequence of takes; times are seconds.
func TestBucket(t *testing.T) {
	type take struct {
		at          float64
		least, most int
		want        int
		wait        float64
	}
	tests := []struct {
		name      string
		perMinute int
		takes     []take
	}{
		{"a slice is a second's worth", 600, []take{
			{0, 1, 100, 10, 0}, {0, 1, 100, 0, 0.1}, {0.1, 1, 100, 1, 0}, {0.65, 1, 100, 5, 0},
		}},
		{"no more than asked for", 600, []take{{0, 1, 3, 3, 0}, {0, 1, 3, 3, 0}, {0, 1, 9, 4, 0}, {0, 2, 2, 0, 0.2}}},
		{"least is all or nothing", 600, []take{{0, 8, 8, 8, 0}, {0, 5, 9, 0, 0.3}, {0.3, 5, 9, 5, 0}}},
		{"what nobody used is not saved", 600, []take{{0, 1, 10, 10, 0}, {3600, 1, 100, 10, 0}, {3600, 1, 100, 0, 0.1}}},
		{"slower than one a second", 6, []take{{0, 1, 16, 1, 0}, {1, 1, 16, 0, 9}, {10, 1, 16, 1, 0}}},
		{"one call beyond a slice", 6000, []take{{0, 3000, 3000, 3000, 0}, {1, 1, 1, 0, 28.01}, {29.5, 3000, 3000, 0, 0.5}, {30, 3000, 3000, 3000, 0}}},
		{"one call beyond a minute", 60, []take{{0, 1000, 1000, 60, 0}, {59, 1, 1, 0, 1}, {60, 1, 1, 1, 0}}},
		{"most below least", 600, []take{{0, 4, 1, 4, 0}}},
		{"spare that nobody needs", 600, []take{{0, 10, 10, 10, 0}, {0, 0, 10, 0, 0}}},
		{"a limit that does not divide a minute", 7, []take{{0, 1, 1, 1, 0}, {0, 1, 1, 0, 8.571429}, {8.571429, 1, 1, 1, 0}}},
		{"no limit", 0, []take{{0, 5, 9, 0, 0}}},
		{"a clock that was set back", 600, []take{{7200, 1, 10, 10, 0}, {0, 1, 10, 10, 0}, {0, 1, 10, 0, 0.1}}},
		{"a limit beyond 64 bits of microseconds", 1 << 62, []take{{0, 1 << 61, 1 << 61, 1<<31 - 1, 0}, {60, 1, 1, 1, 0}}},
	}
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixMicro()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := bucket{perMinute: tt.perMinute}
			for i, take := range tt.takes {
				got, after, wait := b.grant(start+int64(take.at*1e6+0.5), take.least, take.most)
				if want := int64(take.wait*1e6 + 0.5); got != take.want || wait != want {
					t.Errorf("take %d: granted %d and wait %d µs, want %d and %d µs", i+1, got, wait, take.want, want)
				}
				b.due = after.due
			}
		})
	}
}

// TestBucketHoldsInEveryMinute: whatever is asked for and whenever, no minute
// has more than the limit and one slice or one call. And who waits as long as it
// was told is granted then, unless somebody else took.
func TestBucketHoldsInEveryMinute(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, perMinute := range []int{1, 7, 60, 599, 60_000, 90_000_000} {
		b := bucket{perMinute: perMinute}
		type given struct {
			at int64
			n  int
		}
		var all []given
		largest := max(1, perMinute/60)
		for now, n := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixMicro(), 0; n < 2000; n++ {
			least := 1 + random.IntN(max(1, perMinute/10))
			most := least + random.IntN(perMinute)
			largest = max(largest, least)
			got, after, wait := b.grant(now, least, most)
			if wait > 0 {
				if again, _, more := b.grant(now+wait, least, most); again < least || more != 0 {
					t.Fatalf("%d a minute: after the wait of %d µs: %d granted and wait %d, want %d", perMinute, wait, again, more, least)
				}
				now += random.Int64N(2 * wait)
				continue
			}
			if got < least || got > most {
				t.Fatalf("%d a minute: granted %d, want %d to %d", perMinute, got, least, most)
			}
			b.due = after.due
			all = append(all, given{now, got})
			now += random.Int64N(1 + int64(time.Second/time.Microsecond)/int64(1+random.IntN(100)))
		}
		if len(all) < 100 {
			t.Fatalf("%d a minute: only %d takes were granted", perMinute, len(all))
		}
		sum, from := 0, 0
		for _, g := range all {
			for sum += g.n; all[from].at <= g.at-60_000_000; from++ {
				sum -= all[from].n
			}
			if sum > perMinute+largest {
				t.Fatalf("%d a minute: %d in one minute, want at most %d more", perMinute, sum, largest)
			}
		}
	}
}
