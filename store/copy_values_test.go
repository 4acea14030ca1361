package store_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/store/storetest"
	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// Values at the edges of their kinds come over bit for bit.
func TestCopyValues(t *testing.T) {
	d := fillDesk(t)
	for i, f := range []float64{math.Nextafter(1, 2), math.MaxFloat64, math.SmallestNonzeroFloat64, -1e-300, math.Pi, 1e15 + 0.3, 3} {
		if _, err := d.raw.Exec(`UPDATE evaluations SET score = ?, latency_ms = ?, created_at = ? WHERE id = (SELECT id FROM evaluations ORDER BY id LIMIT 1 OFFSET ?)`,
			f, int64(math.MaxInt64-i), time.Date(1970+i*31, 1, 1, 0, 0, 0, 999999000, time.UTC), i); err != nil {
			t.Fatal(err)
		}
	}
	body := make([]byte, 256)
	for i := range body {
		body[i] = byte(i)
	}
	if _, err := d.raw.Exec(`INSERT INTO kept_replies (evaluation, call, reply, kept_at) VALUES (?, '', ?, ?)`, "\\N\t\r\n'\"; --", strings.Repeat("ü\u0001", 3_000_000), time.Unix(0, 1000).UTC()); err != nil {
		t.Fatal(err)
	}
	if _, err := storetest.Forger(t, d.address).Exec(`UPDATE texts SET body = ? WHERE hash = (SELECT hash FROM texts WHERE hash NOT IN (SELECT body_hash FROM traces) ORDER BY hash LIMIT 1)`, body); err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID      string
		Score   uint64
		Latency int64
		At      time.Time
	}
	read := func(address string) (all []row, b []byte) {
		raw := storetest.Raw(t, address)
		rows, err := raw.Query(`SELECT id, score, latency_ms, created_at FROM evaluations ORDER BY id LIMIT 7`)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var r row
			var score float64
			if err := rows.Scan(&r.ID, &score, &r.Latency, &r.At); err != nil {
				t.Fatal(err)
			}
			r.Score, r.At = math.Float64bits(score), r.At.UTC()
			all = append(all, r)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		if err := raw.QueryRow(`SELECT body FROM texts WHERE hash = (SELECT hash FROM texts WHERE hash NOT IN (SELECT body_hash FROM traces) ORDER BY hash LIMIT 1)`).Scan(&b); err != nil {
			t.Fatal(err)
		}
		return all, b
	}
	want, wantBody := read(d.address)
	from := d.address
	for _, to := range []string{pgcluster.Database(t), newFile(t)} {
		mustCopy(t, from, to)
		got, gotBody := read(to)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("values (-want +got):\n%s", diff)
		}
		if !bytes.Equal(wantBody, gotBody) || !bytes.Equal(gotBody, body) {
			t.Errorf("bytes came over as %x", gotBody)
		}
		from = to
	}
}
