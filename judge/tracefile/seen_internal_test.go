package tracefile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"runtime"
	"testing"
	"unsafe"
)

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The table answers as a map would, at every size.
func TestSeen(t *testing.T) {
	var table seen
	type kept struct {
		content string
		line    int
	}
	want := map[string]kept{}
	for i := range 60_000 {
		id := fmt.Sprintf("t-%d", i*7919%40_000) // a third of them again
		content := fmt.Sprintf("c-%d", i%3)
		e, err := entryOf(id, hashOf(content), i+1)
		if err != nil {
			t.Fatal(err)
		}
		old, known := table.add(e)
		before, had := want[id]
		if known != had {
			t.Fatalf("%s on line %d: known %v, want %v", id, i+1, known, had)
		}
		if !had {
			want[id] = kept{content, i + 1}
			continue
		}
		if same := old.content == e.content; same != (before.content == content) || old.line != uint32(before.line) {
			t.Fatalf("%s on line %d: line %d, the same content %v; want line %d, %v", id, i+1, old.line, same, before.line, before.content == content)
		}
	}
}

// A million ids take 32 MB at most, at every size on the way.
func TestSeenIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(entry{}); size != 24 {
		t.Fatalf("an entry takes %d bytes, want 24", size)
	}
	var table seen
	content := hashOf("x")
	for i := 1; i <= 1_000_000; i++ {
		e, err := entryOf(fmt.Sprintf("trace-%d", i), content, i)
		if err != nil {
			t.Fatal(err)
		}
		table.add(e)
		if i%50_000 == 0 {
			if got := table.bytes(); got > 32*i {
				t.Errorf("%d ids take %d bytes, %.1f each", i, got, float64(got)/float64(i))
			}
		}
	}
}

func TestEntryOf(t *testing.T) {
	for name, hash := range map[string]string{"empty": "", "short": "abcd", "no hexadecimal": "zz" + hashOf("x")[2:]} {
		if _, err := entryOf("a", hash, 1); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	e, err := entryOf("a", hashOf("x"), math.MaxUint32+10)
	if err != nil {
		t.Fatal(err)
	}
	if e.line != math.MaxUint32 {
		t.Errorf("line %d, want the largest there is", e.line)
	}
}

// BenchmarkSeen adds a million ids and tells what they take: of the table, and
// of the heap after a collection.
func BenchmarkSeen(b *testing.B) {
	const n = 1_000_000
	entries := make([]entry, n)
	content := hashOf("x")
	for i := range entries {
		e, err := entryOf(fmt.Sprintf("trace-%d", i), content, i+1)
		if err != nil {
			b.Fatal(err)
		}
		entries[i] = e
	}
	var before, after runtime.MemStats
	var table *seen
	for b.Loop() {
		table = nil
		runtime.GC()
		runtime.ReadMemStats(&before)
		table = new(seen)
		for _, e := range entries {
			table.add(e)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(table.bytes())/1e6, "MB-table")
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-heap")
	runtime.KeepAlive(entries)
}
