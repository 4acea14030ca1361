package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// counts reads name-to-number rows from the file itself.
func (d *desk) counts(query string) map[string]int {
	d.t.Helper()
	rows, err := d.raw.QueryContext(d.ctx, query)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	m := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			d.t.Fatal(err)
		}
		if n != 0 {
			m[name] = n
		}
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return m
}

func (d *desk) checkTallies(after string) {
	d.t.Helper()
	for kind, query := range map[string]string{
		"status": `SELECT status, count(*) FROM evaluations GROUP BY 1`,
		"queue": `SELECT lead_reason || CASE WHEN blind THEN ':blind' ELSE ':visible' END, count(*) FROM reviews
WHERE state IN ('open', 'claimed', 'adjudication') GROUP BY 1`,
		"queue_state": `SELECT state, count(*) FROM reviews WHERE state = 'adjudication' GROUP BY 1`,
	} {
		kept := d.counts(`SELECT name, n FROM tallies WHERE kind = '` + kind + `'`)
		if diff := cmp.Diff(d.counts(query), kept); diff != "" {
			d.t.Fatalf("after %s the counts of %s differ (-real +kept):\n%s", after, kind, diff)
		}
	}
	if n := d.number(`SELECT count(*) FROM reviews r JOIN evaluations e ON e.id = r.evaluation_id
WHERE r.state IN ('open', 'claimed', 'adjudication') AND (e.status <> 'in_review' OR e.result_source <> '')`); n != 0 {
		d.t.Fatalf("after %s %d evaluations have a result while a person is waited for", after, n)
	}
	if n := d.number(`SELECT count(*) FROM evaluations e WHERE e.status = 'in_review' AND NOT EXISTS
(SELECT 1 FROM reviews r WHERE r.evaluation_id = e.id AND r.state IN ('open', 'claimed', 'adjudication'))`); n != 0 {
		d.t.Fatalf("after %s %d evaluations wait for nobody", after, n)
	}
}

// Whatever people do in whatever order, the kept counts are the real ones and
// every step either happens or is refused for a stated cause.
func TestTalliesStayTrue(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 20260302))
			d := openDesk(t)
			people := []store.Actor{d.ann, d.ben, d.lea, d.luis}
			var reviews []string
			made, done := 0, map[string]int{}
			for step := range 250 {
				a := people[r.IntN(len(people))]
				id := "none"
				if len(reviews) > 0 {
					id = reviews[r.IntN(len(reviews))]
				}
				evaluation := func() string { return d.text(`SELECT evaluation_id FROM reviews WHERE id = ?`, id) }
				verdict := []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail}[r.IntN(3)]
				var what string
				var err error
				switch r.IntN(14) {
				case 0, 1:
					what = "put"
					d.blind([]string{"never", "always"}[r.IntN(2)])
					item := judged{id: fmt.Sprint("t", made), domain: []string{"legal", "math"}[r.IntN(2)]}
					made++
					if r.IntN(3) == 0 {
						item.report = func(e *judge.Evaluation) {
							*e = judge.Evaluation{Status: judge.InReview, Reasons: []judge.Reason{{Code: judge.ReasonInvalidOutput}}}
						}
					}
					reviews = append(reviews, d.put(item)[item.id])
				case 2, 3:
					what = "claim next"
					_, err = d.ClaimNext(d.ctx, a, "", store.ClaimFilter{})
				case 4:
					what = "claim"
					_, err = d.ClaimReview(d.ctx, a, id)
				case 5:
					what = "renew"
					_, err = d.RenewClaim(d.ctx, a, id)
				case 6:
					what = "release"
					err = d.ReleaseClaim(d.ctx, a, id)
				case 7:
					what = "skip"
					err = d.SkipReview(d.ctx, a, id, "")
				case 8:
					what = "first answer"
					_, err = d.CommitFirstAnswer(d.ctx, a, id, store.Answer{Verdict: verdict})
				case 9, 10, 11:
					actions := []string{store.Confirm, store.Override, store.CannotJudge, store.Escalate, store.Keep, store.Adopt}
					what = actions[r.IntN(len(actions))]
					if held, _, _ := d.ListQueue(d.ctx, a, store.QueueFilter{State: store.QueueMine}); len(held) > 0 {
						id = held[r.IntN(len(held))].ReviewID
						if r.IntN(2) == 0 {
							_, _ = d.CommitFirstAnswer(d.ctx, a, id, store.Answer{Verdict: verdict})
						}
					}
					_, err = d.Decide(d.ctx, a, id, store.DecisionInput{Action: what, Verdict: map[bool]judge.Verdict{true: verdict}[what == store.Override], ReasonCode: "other", Comment: "c"})
				case 12:
					what = "reopen"
					err = d.Reopen(d.ctx, a, id, "why")
				case 13:
					what = "retry"
					if id != "none" {
						if err = d.RetryEvaluation(d.ctx, d.lea, evaluation()); err == nil {
							work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 9, Lease: time.Minute})
							if err != nil || len(work) != 1 {
								t.Fatalf("claimed %d after a retry: %v", len(work), err)
							}
							e := failing()
							if err := d.FinishWork(d.ctx, []judge.Finished{{Work: work[0], Evaluation: e}}); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				if err == nil {
					done[what]++
				} else if !slices.ContainsFunc([]error{store.ErrNotFound, store.ErrConflict, store.ErrInvalid, store.ErrForbidden}, func(e error) bool { return errors.Is(err, e) }) {
					t.Fatalf("%s by %s: %v", what, a.Name, err)
				}
				d.clock.add(time.Duration(r.IntN(8)) * time.Minute)
				d.checkTallies(fmt.Sprintf("step %d, %s by %s (%v)", step, what, a.Name, err))
			}
			if len(done) < 10 {
				t.Errorf("only %v happened: the sequence tests too little", done)
			}
			if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
				t.Errorf("audit chain: %+v, %v", v, err)
			}
		})
	}
}
