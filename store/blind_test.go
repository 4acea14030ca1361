package store_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// telling are the words of the fixture that give the judge's verdict away.
var telling = []string{"SECRET", "other-thing", `"fail"`, "0.3141592", "271828", "161803", "577215",
	"critical_error", "random_audit", "score.too_high", "wrong_amount"}

func findTelling(t *testing.T, what string, v any) {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range telling {
		if strings.Contains(string(body), word) {
			t.Errorf("%s tells %q: %s", what, word, body)
		}
	}
}

// withoutScale drops the judge's scale, which has to name every label.
func withoutScale(r store.Review) store.Review { r.Labels = nil; return r }

func TestBlindReviewTellsNothingBeforeTheFirstAnswer(t *testing.T) {
	d := openDesk(t)
	said := judge.HumanLabel{Judge: "equivalence", Label: "other-thing", Reviewer: "someone", Comment: "SECRET label"}
	id := d.put(judged{id: "t1", labels: []judge.HumanLabel{said}, draw: &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05}})["t1"]
	for _, a := range []store.Actor{d.ann, d.lea} {
		seen, err := d.GetReview(d.ctx, a, id)
		if err != nil {
			t.Fatal(err)
		}
		if !seen.Sealed || seen.Evaluation != nil {
			t.Errorf("review for %s: sealed %v, evaluation %v", a.Name, seen.Sealed, seen.Evaluation)
		}
		findTelling(t, "GetReview", withoutScale(seen))
		items, _, err := d.ListQueue(d.ctx, a, store.QueueFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(items) != 1 {
			t.Fatalf("queue has %d items, want 1", len(items))
		}
		want := []judge.Reason{{Code: judge.ReasonUntrustedJudge}}
		if diff := cmp.Diff(want, items[0].Reasons); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
		findTelling(t, "ListQueue", items)
		items, _, err = d.ListQueue(d.ctx, a, store.QueueFilter{Reason: judge.ReasonCriticalError})
		if err != nil || len(items) != 0 {
			t.Errorf("the queue filtered by a sealed reason: %v, %v; want nothing", items, err)
		}
		counts, err := d.QueueCounts(d.ctx, a, "default")
		if err != nil {
			t.Fatal(err)
		}
		findTelling(t, "QueueCounts", counts)
		if diff := cmp.Diff([]store.ReasonCount{{Code: "", N: 1}}, counts.ByReason); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	}

	// Who decides nothing sees everything.
	seen, err := d.GetReview(d.ctx, d.auditor, id)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Sealed || seen.Evaluation == nil || seen.Evaluation.Verdict != judge.Fail || len(seen.Trace.Labels) != 1 {
		t.Errorf("the auditor's review: sealed %v, evaluation %+v", seen.Sealed, seen.Evaluation)
	}
	counts, err := d.QueueCounts(d.ctx, d.auditor, "default")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]store.ReasonCount{{Code: judge.ReasonCriticalError, N: 1}}, counts.ByReason); diff != "" {
		t.Errorf("the auditor's counts (-want +got):\n%s", diff)
	}

	findTelling(t, "ClaimReview", withoutScale(d.claim(d.ann, id)))
	shown := d.first(d.ann, id, judge.Pass)
	if shown.Sealed || shown.Evaluation == nil || shown.Evaluation.Verdict != judge.Fail || shown.Evaluation.Label != "other-thing" {
		t.Fatalf("after the first answer: sealed %v, evaluation %+v", shown.Sealed, shown.Evaluation)
	}
	if string(shown.Evaluation.Report) != `{"rationale":"SECRET report"}` || len(shown.Evaluation.Findings) != 1 || len(shown.Evaluation.Checks) != 1 {
		t.Errorf("the revealed evaluation is not whole: %+v", shown.Evaluation)
	}
	if shown.Evaluation.TraceID != "t1" || shown.Draw.Stratum != judge.StratumRandomAudit || len(shown.Reasons) != 2 {
		t.Errorf("the revealed review is not whole: %+v", shown.QueueItem)
	}
	// Nobody else learns anything by it, not even that an answer was given.
	other, err := d.GetReview(d.ctx, d.ben, id)
	if err != nil {
		t.Fatal(err)
	}
	findTelling(t, "GetReview of another", withoutScale(other))
	for _, e := range other.Events {
		if e.Action == "review.first_answer" {
			t.Error("another reviewer sees that a first answer was given")
		}
	}
}

func TestFirstAnswer(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	_, err := d.CommitFirstAnswer(d.ctx, d.ann, id, store.Answer{Verdict: judge.Pass})
	var free *store.ExpiredError
	if !asErr(err, &free) {
		t.Errorf("answer without a claim: %v, want ExpiredError", err)
	}
	d.claim(d.ann, id)
	for name, c := range map[string]struct {
		answer store.Answer
		field  string
	}{
		"nothing":             {store.Answer{}, "verdict"},
		"unknown verdict":     {store.Answer{Verdict: "good"}, "verdict"},
		"unknown label":       {store.Answer{Label: "good"}, "label"},
		"label and verdict":   {store.Answer{Label: "same-thing", Verdict: judge.Fail}, "verdict"},
		"too many findings":   {store.Answer{Verdict: judge.Pass, Findings: make([]judge.Finding, store.MaxFindings+1)}, "findings"},
		"verdict in capitals": {store.Answer{Verdict: "PASS"}, "verdict"},
	} {
		_, err := d.CommitFirstAnswer(d.ctx, d.ann, id, c.answer)
		wantField(t, name, err, c.field)
	}
	_, err = d.CommitFirstAnswer(d.ctx, d.ben, id, store.Answer{Verdict: judge.Pass})
	var held *store.HeldError
	if !asErr(err, &held) || held.HolderName != "ann" {
		t.Errorf("answer by another: %v, want HeldError of ann", err)
	}
	answer := store.Answer{Label: "same-thing", Findings: []judge.Finding{{Step: 2, Class: "fine"}}}
	first, err := d.CommitFirstAnswer(d.ctx, d.ann, id, answer)
	if err != nil {
		t.Fatal(err)
	}
	if first.First == nil || first.First.Verdict != judge.Pass || first.First.Label != "same-thing" {
		t.Errorf("first answer %+v, want the label and its verdict", first.First)
	}
	again, err := d.CommitFirstAnswer(d.ctx, d.ann, id, answer)
	if err != nil {
		t.Fatalf("the same answer again: %v", err)
	}
	if diff := cmp.Diff(first.First, again.First); diff != "" {
		t.Errorf("the same answer again (-first +second):\n%s", diff)
	}
	_, err = d.CommitFirstAnswer(d.ctx, d.ann, id, store.Answer{Label: "other-thing"})
	wantErr(t, "another answer", err, store.ErrConflict)
	if n := d.number(`SELECT count(*) FROM first_answers`); n != 1 {
		t.Errorf("%d first answers are stored, want 1", n)
	}
}

// ledger is the label row of a decision as far as the design needs it.
type ledger struct {
	FirstVerdict, FirstLabel, Verdict, Label string
	Abstained, Adjudicated, Visible          bool
	Stratum, Cluster, Reviewer               string
	Probability                              float64
}

func (d *desk) ledger(decision string) (l ledger) {
	d.t.Helper()
	err := d.raw.QueryRowContext(d.ctx, `
SELECT first_verdict, first_label, verdict, label, abstained, adjudicated, verdict_visible, stratum, cluster, reviewer, inclusion_probability
FROM labels WHERE decision_id = ?`, decision).Scan(&l.FirstVerdict, &l.FirstLabel, &l.Verdict, &l.Label, &l.Abstained, &l.Adjudicated,
		&l.Visible, &l.Stratum, &l.Cluster, &l.Reviewer, &l.Probability)
	if err != nil {
		d.t.Fatal(err)
	}
	return l
}

func TestKeepAndAdopt(t *testing.T) {
	why := store.DecisionInput{ReasonCode: "too_strict", Comment: "a paraphrase"}
	for name, c := range map[string]struct {
		first          store.Answer
		choice         string
		action         string
		verdict, label string
	}{
		"keep what equals by label":   {store.Answer{Label: "other-thing"}, store.Keep, store.Confirm, "fail", "other-thing"},
		"keep what equals by verdict": {store.Answer{Verdict: judge.Fail}, store.Keep, store.Confirm, "fail", "other-thing"},
		"keep what differs":           {store.Answer{Label: "same-thing"}, store.Keep, store.Override, "pass", "same-thing"},
		"adopt what differs":          {store.Answer{Verdict: judge.Pass}, store.Adopt, store.Confirm, "fail", "other-thing"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			id := d.put(judged{id: "t1", cluster: "talk 7", draw: &judge.Draw{Stratum: judge.StratumBoundaryAudit, InclusionProbability: 0.1}})["t1"]
			d.claim(d.ann, id)
			r, err := d.CommitFirstAnswer(d.ctx, d.ann, id, c.first)
			if err != nil {
				t.Fatal(err)
			}
			in := why
			in.Action = c.choice
			got := d.decide(d.ann, id, in)
			if got.Action != c.action || got.Choice != c.choice || string(got.Verdict) != c.verdict || got.Label != c.label || !got.Blind || got.VerdictVisible {
				t.Errorf("decision %+v", got)
			}
			want := ledger{FirstVerdict: string(r.First.Verdict), FirstLabel: c.first.Label, Verdict: c.verdict, Label: c.label,
				Stratum: judge.StratumBoundaryAudit, Probability: 0.1, Cluster: "talk 7", Reviewer: d.ann.UserID}
			if diff := cmp.Diff(want, d.ledger(got.ID)); diff != "" {
				t.Errorf("label (-want +got):\n%s", diff)
			}
			// The headline takes what was said before the reveal.
			if v := d.text(`SELECT verdict || '/' || basis || CASE WHEN visible THEN '/visible' ELSE '/blind' END FROM consensus`); v != string(r.First.Verdict)+"/decision/blind" {
				t.Errorf("consensus %q, want the first answer %s", v, r.First.Verdict)
			}
			after, err := d.GetReview(d.ctx, d.ben, id)
			if err != nil {
				t.Fatal(err)
			}
			if after.Settled == nil || after.Settled.ID != got.ID || after.Result == nil || after.Result.Source != judge.ByHuman || string(after.Result.Verdict) != c.verdict {
				t.Errorf("after the decision: settled %+v, result %+v", after.Settled, after.Result)
			}
		})
	}
}

func TestBlindItemsNeedAFirstAnswer(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	for _, action := range []string{store.Confirm, store.Override, store.Keep, store.Adopt} {
		_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: action, Verdict: judge.Fail, ReasonCode: "other", Comment: "c"})
		wantField(t, action+" before a first answer", err, "action")
	}
	d.first(d.ann, id, judge.Pass)
	for _, action := range []string{store.Confirm, store.CannotJudge, "", "approve"} {
		_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: action, ReasonCode: "other", Comment: "c"})
		wantField(t, action+" after a first answer", err, "action")
	}
	_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Override, ReasonCode: "other", Comment: "c"})
	wantField(t, "another answer after the reveal, without one", err, "verdict")
	_, err = d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Keep, Comment: "c"})
	wantField(t, "keep a difference without a reason", err, "reason_code")
	_, err = d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Keep, ReasonCode: "other"})
	wantField(t, "keep a difference without a comment", err, "comment")
	_, err = d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Keep, Verdict: judge.Fail, ReasonCode: "other", Comment: "c"})
	wantField(t, "keep something else", err, "verdict")
	if n := d.number(`SELECT count(*) FROM decisions`); n != 0 {
		t.Errorf("%d decisions are stored, want none", n)
	}
}
