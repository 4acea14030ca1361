package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// forgedAnd changes a table behind the program's back, checks what the verification
// says, and brings the table back.
func (d *desk) forgedAnd(table, change, problem string) {
	d.t.Helper()
	forger := storetest.Forger(d.t, d.address)
	run := func(statements ...string) {
		for _, x := range statements {
			if _, err := forger.Exec(x); err != nil {
				d.t.Fatalf("%s: %v", x, err)
			}
		}
	}
	run(`CREATE TABLE held AS SELECT * FROM `+table, change)
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || !strings.Contains(v.Problem, problem) {
		d.t.Errorf("%s: problem %q, error %v; want one with %q", change, v.Problem, err, problem)
	}
	run(`DELETE FROM `+table, `INSERT INTO `+table+` SELECT * FROM held`, `DROP TABLE held`)
	if err := forger.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// What tells of trust that was edited or removed is found by the events of it.
func TestTamperingWithTrustIsFound(t *testing.T) {
	d := openDesk(t)
	d.record(yesNo, agreeing(100, 1))
	d.wantTrust("201 labels", judge.Trusted, "judge.trusted")
	d.clock.add(time.Hour)
	if _, err := d.Suspend(d.ctx, d.lea, "default", gpt4, "its supplier\x00 replaced \xff\xfe the model"); err != nil {
		t.Fatal(err)
	}
	d.holds()
	many := 1000
	d.policy(func(p *judge.Policy) { p.Trust = &judge.TrustRules{MinLabels: &many} })
	d.wantTrust("suspended, and other rules", judge.Suspended, "judge.trusted", "judge.suspended")
	d.holds()
	for change, problem := range map[string]string{
		`DELETE FROM judge_trust`:                                                    "that was removed",
		`UPDATE judge_trust SET state = 'advisory'`:                                  "the chain has it as suspended",
		`UPDATE judge_trust SET reason = 'no reason'`:                                "for another reason",
		`UPDATE judge_trust SET actor = 'ann'`:                                       "by somebody else",
		`UPDATE judge_trust SET since = (SELECT min(created_at) FROM projects)`:      "since another time",
		`UPDATE judge_trust SET by_rules = 'trusted'`:                                "the chain has that as advisory",
		`UPDATE judge_trust SET rules = replace(rules, '"met":false', '"met":true')`: "not what its checklist comes to",
	} {
		d.forgedAnd("judge_trust", change, problem)
	}
	d.holds()
}

// Alarms, baselines, sentinel sets, test splits, looks and promotions are held to
// their events.
func TestTamperingWithKeptRecordsIsFound(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.audited("base", 60, 58)
	if _, err := d.FreezeBaseline(d.ctx, d.lea, "default", "equivalence", "rules", "v1"); err != nil {
		t.Fatal(err)
	}
	d.clock.add(24 * time.Hour)
	d.audited("worse", 60, 6)
	if n := d.look(); n != 1 {
		t.Fatalf("%d alarms, want one", n)
	}
	d.many(30)
	if _, err := d.SetSentinel(d.ctx, d.lea, "default", "equivalence", "nightly", 7, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.LockTestSplit(d.ctx, d.lea, "default", "equivalence", 0.5, "before the new prompt"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.LookAtTestSplit(d.ctx, d.lea, "default", "equivalence", []calibration.Competitor{v1, v2}); err != nil {
		t.Fatal(err)
	}
	next := deskJudge
	next.PromptVersion = "v2-of-the-judge"
	if err := d.SaveJudges(d.ctx, store.Operator("test"), "default", []judge.Judge{next}); err != nil {
		t.Fatal(err)
	}
	r := d.comparison(d.lea)
	if err := d.Promote(d.ctx, d.lea, "default", "equivalence", "v1", "it finds more", r.Evidence()); err != nil {
		t.Fatal(err)
	}
	d.holds()
	for _, x := range []struct{ table, change, problem string }{
		{"drift_alarms", `DELETE FROM drift_alarms`, "drift alarm"},
		{"drift_alarms", `UPDATE drift_alarms SET found = 0.9`, "was changed"},
		{"drift_alarms", `UPDATE drift_alarms SET closed_at = opened_at, closed_by = 'lea', close_reason = 'all is well'`, "was changed"},
		{"drift_alarms", `INSERT INTO drift_alarms SELECT 'forged', project_id, judge, model, prompt_version, 'score', baseline_id, opened_at, e_value, found, baseline, n, NULL, '', '' FROM drift_alarms`, "was slipped in"},
		{"drift_baselines", `DELETE FROM drift_baselines`, "was removed"},
		{"drift_baselines", `UPDATE drift_baselines SET agreed = 30`, "was changed"},
		{"drift_baselines", `UPDATE drift_baselines SET passed = 30`, "was changed"},
		{"sentinel_sets", `DELETE FROM sentinel_sets`, "was removed"},
		{"sentinel_sets", `UPDATE sentinel_sets SET every_days = 0`, "was changed"},
		{"judge_splits", `DELETE FROM judge_splits`, "test split"},
		{"judge_splits", `UPDATE judge_splits SET share = 0.6`, "was changed"},
		{"judge_splits", `UPDATE judge_splits SET seed = 'chosen'`, "was changed"},
		{"judge_test_looks", `DELETE FROM judge_test_looks`, "was removed"},
		{"judge_test_looks", `UPDATE judge_test_looks SET figures = replace(figures, '"n":', '"n":1')`, "was changed"},
		{"judge_test_looks", `UPDATE judge_test_looks SET number = 2`, "was slipped in"},
		{"judge_promotions", `DELETE FROM judge_promotions`, "was removed"},
		{"judge_promotions", `UPDATE judge_promotions SET evidence = ''`, "was changed"},
		{"settings", `DELETE FROM settings WHERE name = 'kept_rows_key'`, "kept_rows_key was removed"},
	} {
		d.forgedAnd(x.table, x.change, x.problem)
	}
	d.holds()
	// Nobody who reads the events can try out what they hold digests of.
	if key := d.text(`SELECT value FROM settings WHERE name = 'kept_rows_key'`); len(key) < 20 || d.number(`SELECT count(*) FROM audit_events WHERE data LIKE '%' || ? || '%'`, key) != 0 {
		t.Errorf("the key is %q", key)
	}
}
