package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// snapshot is everything about the one item that an undo has to bring back.
func (d *desk) snapshot() map[string]string {
	d.t.Helper()
	return map[string]string{
		"review": d.text(`SELECT state || ' ' || COALESCE(holder_id, 'nobody') || ' ' || opinions || ' ' || abstentions || ' ' || addressee
    || CASE WHEN adjudicating THEN ' adjudicating' ELSE '' END || CASE WHEN decided_at IS NULL THEN '' ELSE ' decided' END FROM reviews`),
		"result":    d.text(`SELECT status || result_verdict || result_label || result_source FROM evaluations`),
		"consensus": strings.Join(d.list(`SELECT basis || verdict || label || labels FROM consensus`), ";"),
		"pairs":     strings.Join(d.list(`SELECT a_verdict || b_verdict || n FROM agreement_pairs WHERE n > 0 ORDER BY 1`), ";"),
		"cells":     strings.Join(d.list(`SELECT human_verdict || ' ' || flags || ' ' || n FROM agreement_cells WHERE n > 0 ORDER BY 1`), ";"),
	}
}

// TestUndo: what is taken back leaves all as it was before, but for the record,
// and the item with who took it back.
func TestUndo(t *testing.T) {
	pass := func(d *desk, a store.Actor, id string) { d.opine(a, id, judge.Pass) }
	with := func(in store.DecisionInput) func(*desk, store.Actor, string) {
		return func(d *desk, a store.Actor, id string) {
			d.claim(a, id)
			in.Comment = "c"
			d.decide(a, id, in)
		}
	}
	for name, c := range map[string]struct {
		needs   int
		before  func(*desk, string)
		by      string
		do      func(*desk, store.Actor, string)
		becomes string // of the review, before it is undone
	}{
		"an answer that settled":        {needs: 1, by: "ann", do: pass, becomes: "decided"},
		"the first of two opinions":     {needs: 2, by: "ann", do: pass, becomes: "open"},
		"the second of two that agree":  {needs: 2, before: func(d *desk, id string) { d.opine(d.ben, id, judge.Pass) }, by: "ann", do: pass, becomes: "decided"},
		"the second of two that differ": {needs: 2, before: func(d *desk, id string) { d.opine(d.ben, id, judge.Fail) }, by: "ann", do: pass, becomes: "adjudication"},
		"an abstention":                 {needs: 1, by: "ann", do: with(store.DecisionInput{Action: store.CannotJudge}), becomes: "open"},
		"an escalation":                 {needs: 1, by: "ann", do: with(store.DecisionInput{Action: store.Escalate, To: "admin"}), becomes: "adjudication"},
		"an adjudication": {needs: 2, before: func(d *desk, id string) {
			d.opine(d.ben, id, judge.Fail)
			d.opine(d.luis, id, judge.Pass)
		}, by: "lea", do: pass, becomes: "decided"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.opinions(c.needs)
			id := d.put(judged{id: "t1", labels: []judge.HumanLabel{{Judge: "equivalence", Reviewer: "xia", Verdict: judge.Pass}}})["t1"]
			a := map[string]store.Actor{"ann": d.ann, "lea": d.lea}[c.by]
			if c.before != nil {
				c.before(d, id)
			}
			d.clock.add(time.Minute)
			d.claim(a, id)
			before := d.snapshot()
			if err := d.ReleaseClaim(d.ctx, a, id); err != nil {
				t.Fatal(err)
			}
			c.do(d, a, id)
			if s := d.text(`SELECT state FROM reviews`); s != c.becomes {
				t.Fatalf("the review is %s, want %s", s, c.becomes)
			}
			d.holds()
			r, err := d.GetReview(d.ctx, a, id)
			if err != nil {
				t.Fatal(err)
			}
			if last := r.Decisions; r.UndoUntil == nil && len(last) > 0 || len(last) > 0 && !r.UndoUntil.Equal(last[len(last)-1].At.Add(time.Minute)) {
				t.Errorf("undo is offered until %v", r.UndoUntil)
			}
			d.clock.add(59 * time.Second)
			_, err = d.Undo(d.ctx, d.auditor, id)
			wantErr(t, "undone by the auditor", err, store.ErrForbidden)
			_, err = d.Undo(d.ctx, d.person("eve", store.Lead), id)
			wantErr(t, "undone by another", err, store.ErrConflict)
			got, err := d.Undo(d.ctx, a, id)
			if err != nil {
				t.Fatal(err)
			}
			if got.UndoneAt == nil || got.UserID != a.UserID {
				t.Errorf("undone %+v", got)
			}
			// What was said is not lost: it is a draft again.
			draft, err := d.GetDraft(d.ctx, a, id)
			if err != nil || draft == nil || draft.Comment != got.Comment || draft.To != got.To || draft.ReasonCode != got.ReasonCode ||
				draft.Action != got.Action && draft.Action != got.Choice {
				t.Errorf("the draft after undo: %+v, %v", draft, err)
			}
			if diff := cmp.Diff(before, d.snapshot()); diff != "" {
				t.Errorf("after undo (-before +after):\n%s", diff)
			}
			_, err = d.Undo(d.ctx, a, id)
			wantErr(t, "undone twice", err, store.ErrConflict)
			if r, err := d.GetReview(d.ctx, a, id); err != nil || !r.Mine || r.Settled != nil || r.UndoUntil != nil {
				t.Errorf("the item after undo: mine %v, settled %v, undo until %v, %v", r.Mine, r.Settled, r.UndoUntil, err)
			}
			d.holds()
			// And it goes on as if nothing had been said, with all the time that was
			// spent.
			d.clock.add(10 * time.Second)
			in := store.DecisionInput{Action: store.Keep, ReasonCode: "other", Comment: "again"}
			if r, err := d.GetReview(d.ctx, a, id); err != nil || r.First == nil {
				if err != nil {
					t.Fatal(err)
				}
				d.first(a, id, judge.Pass)
			}
			again := d.decide(a, id, in)
			if again.Seconds < 69 || again.Supersedes != "" || again.VerdictVisible {
				t.Errorf("the answer after it: %+v", again)
			}
			d.holds()
		})
	}
}

// TestUndoIsShort: the time is the policy's, and it ends at once when somebody
// goes on from the decision.
func TestUndoIsShort(t *testing.T) {
	seconds := func(n int) *int { return &n }
	for name, c := range map[string]struct {
		within *int
		needs  int
		then   func(*desk, string)
		ok     bool
	}{
		"in time":            {nil, 1, func(d *desk, _ string) { d.clock.add(59 * time.Second) }, true},
		"too late":           {nil, 1, func(d *desk, _ string) { d.clock.add(time.Minute) }, false},
		"a longer time":      {seconds(600), 1, func(d *desk, _ string) { d.clock.add(9 * time.Minute) }, true},
		"never":              {seconds(0), 1, func(*desk, string) {}, false},
		"claimed by another": {nil, 2, func(d *desk, id string) { d.claim(d.ben, id) }, false},
		"claimed and given back": {nil, 2, func(d *desk, id string) {
			d.claim(d.ben, id)
			if err := d.ReleaseClaim(d.ctx, d.ben, id); err != nil {
				d.t.Fatal(err)
			}
		}, false},
		"answered by another": {nil, 2, func(d *desk, id string) { d.opine(d.ben, id, judge.Pass) }, false},
		"reopened": {nil, 1, func(d *desk, id string) {
			if err := d.Reopen(d.ctx, d.lea, id, "why"); err != nil {
				d.t.Fatal(err)
			}
		}, false},
		"a second opinion was added": {nil, 1, func(d *desk, id string) {
			if _, err := d.AddSecondOpinion(d.ctx, d.ben, id, store.DecisionInput{Action: store.Confirm}); err != nil {
				d.t.Fatal(err)
			}
		}, false},
		"looked at": {nil, 2, func(d *desk, id string) {
			if err := d.ExposeEvaluation(d.ctx, d.lea, d.text(`SELECT evaluation_id FROM reviews`)); err != nil {
				d.t.Fatal(err)
			}
		}, true},
		"skipped by another": {nil, 2, func(d *desk, id string) {
			if err := d.SkipReview(d.ctx, d.ben, id, ""); err != nil {
				d.t.Fatal(err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.policy(func(p *judge.Policy) { p.UndoSeconds, p.Opinions = c.within, &judge.Opinions{Default: c.needs} })
			id := d.one()
			d.opine(d.ann, id, judge.Pass)
			c.then(d, id)
			_, err := d.Undo(d.ctx, d.ann, id)
			if c.ok && err != nil {
				t.Errorf("undo: %v", err)
			}
			if !c.ok {
				wantErr(t, "undo", err, store.ErrConflict)
				if n := d.number(`SELECT count(*) FROM undone_decisions`); n != 0 {
					t.Errorf("%d decisions are undone", n)
				}
			}
			d.holds()
		})
	}
}

// TestUndoUnblinds: who could have read a settled verdict for a moment is not
// asked blind afterwards; what never settled stays sealed.
func TestUndoUnblinds(t *testing.T) {
	for needs, want := range map[int]int{1: 0, 2: 1} {
		d := openDesk(t)
		d.opinions(needs)
		id := d.one()
		d.opine(d.ann, id, judge.Pass)
		if _, err := d.Undo(d.ctx, d.ann, id); err != nil {
			t.Fatal(err)
		}
		if n := d.number(`SELECT count(*) FROM reviews WHERE blind`); n != want {
			t.Errorf("%d opinions: %d blind items after undo, want %d", needs, n, want)
		}
		if err := d.ReleaseClaim(d.ctx, d.ann, id); err != nil {
			t.Fatal(err)
		}
		// What was taken back is nobody's business who answers now.
		r := d.claim(d.ben, id)
		if len(r.Decisions) != 0 || !r.PeersSealed {
			t.Errorf("the next one sees %d decisions", len(r.Decisions))
		}
	}
}

// TestUndoneDecisionsAreMarked: it stays in the record, is exported as undone,
// and no pace or override counts it.
func TestUndoneDecisionsAreMarked(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	id := d.one()
	d.opine(d.ann, id, judge.Pass)
	if _, err := d.Undo(d.ctx, d.ann, id); err != nil {
		t.Fatal(err)
	}
	d.clock.add(time.Second)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Confirm})
	var undone, stands int
	if err := d.EachDecision(d.ctx, d.auditor, store.EvaluationFilter{}, func(x store.Decision) error {
		if x.UndoneAt != nil {
			undone++
		} else {
			stands++
		}
		return nil
	}); err != nil || undone != 1 || stands != 1 {
		t.Errorf("%d undone and %d standing decisions are exported (%v)", undone, stands, err)
	}
	var withheld []string
	if err := d.EachLabel(d.ctx, d.auditor, store.EvaluationFilter{}, func(x store.LabelRow) error {
		withheld = append(withheld, x.Withheld)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"undone", ""}, withheld); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	o, err := d.Overview(d.ctx, d.ann, "default")
	if err != nil {
		t.Fatal(err)
	}
	if o.Mine.Decisions != 1 || o.Mine.Overrides != 0 {
		t.Errorf("pace %+v", o.Mine)
	}
	for _, query := range []string{`DELETE FROM undone_decisions`, `UPDATE signatures SET name = 'x'`, `DELETE FROM signatures`, `UPDATE undone_decisions SET undone_at = undone_at`} {
		if _, err := d.raw.Exec(query); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v, want it refused as append-only", query, err)
		}
	}
}
