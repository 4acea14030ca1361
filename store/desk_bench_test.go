package store_test

import (
	"fmt"
	"testing"

	"github.com/countersign/countersign/store"
)

const (
	benchEvaluations = 100_000
	benchWaiting     = 20_000
)

// fill puts 100,000 evaluations, each with an imported label, and 20,000
// waiting reviews into the file, past the store's methods for speed.
func (d *desk) fill() {
	d.t.Helper()
	d.put(judged{id: "pattern"})
	tx, err := d.raw.Begin()
	if err != nil {
		d.t.Fatal(err)
	}
	numbers := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)`, benchEvaluations)
	const at = `'2026-03-01 00:00:00.' || printf('%06d', i) || '+00:00'`
	for _, query := range []string{
		// Another content hash each; the body is shared.
		numbers + ` INSERT INTO traces (id, project_id, external_id, revision, current, content_hash, candidate_hash, reference_hash, domain, stakes, title, cluster, body_hash, created_at)
SELECT printf('t%06d', i), t.project_id, printf('x%06d', i), 1, TRUE, printf('h%06d', i), 'c', '', CASE i % 10 WHEN 0 THEN 'medical' ELSE 'general' END,
  CASE i % 10 WHEN 0 THEN 'high' ELSE 'standard' END, 'an answer', printf('k%05d', i / 3), t.body_hash, ` + at + ` FROM n, traces t WHERE t.external_id = 'pattern'`,
		numbers + ` INSERT INTO evaluations (id, project_id, trace_id, judge, prompt_version, engine, model, status, score, verdict, label, lead_reason, created_at)
SELECT printf('e%06d', i), p.id, printf('t%06d', i), 'equivalence', 'v1', 'openai', CASE i % 2 WHEN 0 THEN 'small' ELSE 'large' END,
  CASE WHEN i % 5 = 0 THEN 'in_review' ELSE 'accepted' END, 0.5, CASE WHEN i % 3 = 0 THEN 'fail' ELSE 'pass' END,
  CASE WHEN i % 3 = 0 THEN 'other-thing' ELSE 'same-thing' END, 'below_threshold', ` + at + ` FROM n, projects p`,
		numbers + ` INSERT INTO evaluation_reasons (evaluation_id, position, code, detail)
SELECT printf('e%06d', i), 0, CASE i % 3 WHEN 0 THEN 'below_threshold' WHEN 1 THEN 'ambiguous_score' ELSE 'untrusted_judge' END, 'detail' FROM n WHERE i % 5 = 0`,
		numbers + ` INSERT INTO evaluation_reports (evaluation_id, report, findings, checks) SELECT printf('e%06d', i), '{}', '[]', '[]' FROM n`,
		numbers + ` INSERT INTO reviews (id, project_id, evaluation_id, trace_id, external_id, judge, domain, stakes, title, state, urgency, lead_reason, blind, stratum, inclusion_probability, due_at, opened_at)
SELECT printf('r%06d', i), t.project_id, printf('e%06d', i), t.id, t.external_id, 'equivalence', t.domain, t.stakes, t.title, 'open', 2 * (i % 3) + 10, 'below_threshold', i % 4 > 0, 'flagged', 1, ` + at + `, ` + at + `
FROM n JOIN traces t ON t.id = printf('t%06d', i) WHERE i % 5 = 0`,
		numbers + ` INSERT INTO labels (id, project_id, trace_id, judge, source, content_hash, reviewer, prompt_version, first_verdict, first_label, verdict, label, abstained, findings, comment, adjudicated, verdict_visible, stratum, inclusion_probability, cluster, labelled_at)
SELECT printf('l%06d', i), t.project_id, t.id, 'equivalence', 'imported', i, CASE i % 2 WHEN 0 THEN 'x' ELSE 'y' END, '', 'pass', 'same-thing', 'pass', 'same-thing', FALSE, '[]', '', FALSE, FALSE, 'imported', NULL, t.cluster, ` + at + `
FROM n JOIN traces t ON t.id = printf('t%06d', (i + 1) / 2)`,
		`INSERT INTO consensus (project_id, judge, trace_id, basis, verdict, label, abstained, tied, visible, stratum, cluster, labelled_at, labels)
SELECT t.project_id, 'equivalence', t.id, 'imported', 'pass', 'same-thing', FALSE, FALSE, FALSE, 'imported', t.cluster, t.created_at, 2 FROM traces t WHERE t.external_id <> 'pattern'`,
		`INSERT INTO tallies (project_id, kind, name, n) SELECT p.id, 'queue', 'below_threshold:visible', 5000 FROM projects p`,
	} {
		if _, err := tx.Exec(query); err != nil {
			d.t.Fatalf("%s: %v", query, err)
		}
	}
	if err := tx.Commit(); err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.raw.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		d.t.Fatal(err)
	}
	d.forgetKept()
	again, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		d.t.Fatal(err)
	}
	if n := d.number(`SELECT count(*) FROM reviews WHERE state = 'open'`); n != benchWaiting+1 {
		d.t.Fatalf("%d reviews wait, want %d", n, benchWaiting+1)
	}
}

func BenchmarkDesk(b *testing.B) {
	d := openDesk(b)
	d.fill()
	first, cursor, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{Limit: 200})
	if err != nil {
		b.Fatal(err)
	}
	list := func(f store.QueueFilter) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				if _, _, err := d.ListQueue(d.ctx, d.ann, f); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("ListQueue", list(store.QueueFilter{}))
	b.Run("ListQueueNextPage", list(store.QueueFilter{After: cursor}))
	b.Run("ListQueueDomain", list(store.QueueFilter{Domain: "medical"}))
	b.Run("ListQueueNoSuchJudge", list(store.QueueFilter{Judge: "none"}))
	b.Run("ListQueueSealedReason", list(store.QueueFilter{Reason: "below_threshold"}))
	b.Run("ListQueueMine", list(store.QueueFilter{State: store.QueueMine}))
	b.Run("ListQueueAdjudication", list(store.QueueFilter{State: store.QueueAdjudication}))
	b.Run("QueueCounts", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.QueueCounts(d.ctx, d.ann, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("GetReview", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.GetReview(d.ctx, d.auditor, first[7].ReviewID); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ClaimNextAndRelease", func(b *testing.B) {
		for b.Loop() {
			r, err := d.ClaimNext(d.ctx, d.ann, "", store.ClaimFilter{})
			if err != nil {
				b.Fatal(err)
			}
			if err := d.ReleaseClaim(d.ctx, d.ann, r.ReviewID); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ClaimNextNoSuchJudge", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.ClaimNext(d.ctx, d.ann, "", store.ClaimFilter{Judge: "none"}); err == nil {
				b.Fatal("claimed an item of no judge")
			}
		}
	})
	b.Run("CalibrationCounts", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.CalibrationCounts(d.ctx, d.auditor, "", "equivalence"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("CalibrationCountsOfALead", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.CalibrationCounts(d.ctx, d.lea, "", "equivalence"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Overview", func(b *testing.B) {
		for b.Loop() {
			if _, err := d.Overview(d.ctx, d.ann, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}
