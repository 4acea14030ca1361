package store_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestTamperingWithDecisionsIsFound: decisions are not in the chain whole, but
// it holds each of them.
func TestTamperingWithDecisionsIsFound(t *testing.T) {
	for _, test := range []struct{ name, sql, problem string }{
		{"nothing", ``, ""},
		{"verdict changed", `UPDATE decisions SET verdict = 'borderline'`, "was changed"},
		{"comment changed", `UPDATE decisions SET comment = 'another'`, "was changed"},
		{"given to somebody else", `UPDATE decisions SET user_id = (SELECT id FROM users WHERE id <> user_id LIMIT 1)`, "was changed"},
		{"first answer changed", `UPDATE first_answers SET verdict = 'fail'`, "the first answer on review"},
		{"first answer removed", `DELETE FROM first_answers`, "was removed"},
		{"label changed", `UPDATE labels SET verdict = 'borderline', first_verdict = 'borderline' WHERE source = 'decision'`, "than its decision"},
		{"result changed", `UPDATE evaluations SET result_verdict = 'borderline' WHERE status = 'final'`, "is not what was decided"},
		{"ruling changed", `UPDATE decisions SET rulings = '[{"part":"label","value":"pass"}]'`, "was changed"},
		{"ruling of the first answer changed", `UPDATE first_answers SET rulings = '[{"part":"label","value":"pass"}]'`, "the first answer on review"},
		{"severity changed", `UPDATE decisions SET severity = 'minor'`, "was changed"},
		{"signed as another", `UPDATE signatures SET role = 'lead'`, "the signature of decision"},
		{"signed something else", `UPDATE signatures SET affirmation = 'I looked.'`, "the signature of decision"},
		{"saw something else", `UPDATE signatures SET shown = '{"stated":true}'`, "the signature of decision"},
		{"signature removed", `DELETE FROM signatures`, "was removed"},
		{"undone by nobody", `INSERT INTO undone_decisions (decision_id, undone_at) SELECT id, decided_at FROM decisions`, "by no event of the chain"},
		{"label left out", `INSERT INTO withheld_labels (label_id, decision_id, why) SELECT id, decision_id, 'waits' FROM labels WHERE source = 'decision'`, "left out of the figures"},
		{"removed", `DELETE FROM decisions`, "was removed"},
		{"slipped in", `INSERT INTO decisions (id, review_id, evaluation_id, user_id, action, choice, verdict, label, findings, reason_code, comment,
    confidence, blind, verdict_visible, first_verdict, first_label, adjudication, seconds, supersedes, decided_at)
SELECT 'forged', review_id, evaluation_id, user_id, action, choice, verdict, label, findings, reason_code,
    comment, confidence, blind, verdict_visible, first_verdict, first_label, adjudication, seconds, supersedes, decided_at FROM decisions LIMIT 1`, "was slipped in"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := openDesk(t)
			reviews := d.put(judged{id: "one"})
			d.claim(d.ann, reviews["one"])
			d.first(d.ann, reviews["one"], judge.Pass)
			d.decide(d.ann, reviews["one"], store.DecisionInput{Action: store.Adopt, Comment: "as it says", Confidence: "high"})
			if test.sql != "" {
				if _, err := storetest.Forger(t, d.address).Exec(test.sql); err != nil {
					t.Fatal(err)
				}
			}
			v, err := d.VerifyAudit(d.ctx, store.Operator("test"))
			if err != nil {
				t.Fatal(err)
			}
			if (test.problem == "") != (v.Problem == "") || !strings.Contains(v.Problem, test.problem) {
				t.Errorf("problem %q, want one with %q", v.Problem, test.problem)
			}
		})
	}
}

// TestLabelAloneIsNoAgreement: a critical report fails although its score is in
// a class that passes; the same class without the fail is an override.
func TestLabelAloneIsNoAgreement(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "critical"})
	best := d.text(`SELECT label FROM judge_labels WHERE verdict = 'pass' ORDER BY position LIMIT 1`)
	if _, err := d.raw.Exec(`UPDATE evaluations SET verdict = 'fail', label = ?, critical = TRUE`, best); err != nil {
		t.Fatal(err)
	}
	d.claim(d.ann, reviews["critical"])
	if _, err := d.CommitFirstAnswer(d.ctx, d.ann, reviews["critical"], store.Answer{Label: best}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Decide(d.ctx, d.ann, reviews["critical"], store.DecisionInput{Action: store.Keep}); err == nil || !strings.Contains(err.Error(), "reason_code") {
		t.Fatalf("a fail became a pass without a reason: %v", err)
	}
	got, err := d.Decide(d.ctx, d.ann, reviews["critical"], store.DecisionInput{Action: store.Keep, ReasonCode: "too_strict", Comment: "not critical"})
	if err != nil || got.Action != store.Override || got.Verdict != judge.Pass {
		t.Errorf("decision %+v, error %v, want an override to pass", got, err)
	}
}
