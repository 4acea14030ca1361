package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func (d *desk) ask(a store.Actor, review string, c store.NewComment) store.Comment {
	d.t.Helper()
	got, err := d.AddComment(d.ctx, a, review, c)
	if err != nil {
		d.t.Fatalf("%s asks: %v", a.Name, err)
	}
	return got
}

// read gives the texts that somebody sees, and how many are kept from them. The
// list and the desk must agree.
func (d *desk) read(a store.Actor, review string) (texts []string, sealed int, wouldTell bool) {
	d.t.Helper()
	v, err := d.ListComments(d.ctx, a, review)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := d.GetReview(d.ctx, a, review)
	if err != nil {
		d.t.Fatal(err)
	}
	if diff := cmp.Diff(v, r.Comments); diff != "" {
		d.t.Errorf("the list and the desk differ for %s: %s", a.Name, diff)
	}
	for _, c := range v.All {
		texts = append(texts, c.Text)
	}
	return texts, v.Sealed, v.WouldTell
}

// TestCommentsKeepTheSeal: who has not answered is told nothing by somebody who
// knew more than they may; questions among those who know nothing are open.
func TestCommentsKeepTheSeal(t *testing.T) {
	for _, c := range []struct {
		name  string
		blind string
		needs int
		write func(d *desk, id string) // before ben looks, who has not answered
		want  []string                 // what ben reads
		seals int
		tells bool // ben's own words would be kept from others
	}{
		{"blind, a question of somebody who knows nothing", "always", 1, func(d *desk, id string) {
			d.ask(d.ann, id, store.NewComment{Text: "which edition?"})
		}, []string{"which edition?"}, 0, false},
		{"blind, after the reveal", "always", 1, func(d *desk, id string) {
			d.claim(d.ann, id)
			d.first(d.ann, id, judge.Pass)
			d.ask(d.ann, id, store.NewComment{Text: "the judge says fail?"})
		}, nil, 1, false},
		{"blind, a lead who looked", "always", 1, func(d *desk, id string) {
			d.must(d.ExposeEvaluation(d.ctx, d.lea, d.evaluation(id)))
			d.ask(d.lea, id, store.NewComment{Text: "the judge is wrong here"})
		}, nil, 1, false},
		{"blind, a lead who did not look answers", "always", 1, func(d *desk, id string) {
			q := d.ask(d.ann, id, store.NewComment{Text: "which edition?"})
			d.ask(d.lea, id, store.NewComment{Text: "the third", ParentID: q.ID})
		}, []string{"which edition?", "the third"}, 0, false},
		{"an answer to a sealed question is sealed with it", "always", 1, func(d *desk, id string) {
			d.must(d.ExposeEvaluation(d.ctx, d.lea, d.evaluation(id)))
			d.must(d.ExposeEvaluation(d.ctx, d.luis, d.evaluation(id)))
			q := d.ask(d.lea, id, store.NewComment{Text: "why fail?"})
			d.ask(d.luis, id, store.NewComment{Text: "the third edition says so", ParentID: q.ID})
		}, nil, 2, false},
		{"visible, several opinions, before one's own", "never", 2, func(d *desk, id string) {
			d.claim(d.ann, id)
			d.ask(d.ann, id, store.NewComment{Text: "which edition?"})
		}, []string{"which edition?"}, 0, false},
		{"visible, several opinions, after one's own", "never", 2, func(d *desk, id string) {
			d.opine(d.ann, id, judge.Pass)
			d.ask(d.ann, id, store.NewComment{Text: "I say pass"})
		}, nil, 1, false},
		{"blind, several opinions, after one's own", "always", 2, func(d *desk, id string) {
			d.opine(d.ann, id, judge.Pass)
			d.ask(d.ann, id, store.NewComment{Text: "I say pass"})
		}, nil, 1, false},
		{"settled", "never", 1, func(d *desk, id string) {
			d.opine(d.ann, id, judge.Pass)
			d.ask(d.ann, id, store.NewComment{Text: "I say pass"})
		}, []string{"I say pass"}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDesk(t)
			d.blind(c.blind)
			d.opinions(c.needs)
			id := d.one()
			c.write(d, id)
			got, sealed, tells := d.read(d.ben, id)
			if !slices.Equal(got, c.want) || sealed != c.seals || tells != c.tells {
				t.Errorf("ben reads %q with %d sealed (tells: %v), want %q with %d", got, sealed, tells, c.want, c.seals)
			}
			v, err := d.GetReview(d.ctx, d.ben, id)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range v.Events {
				if strings.HasPrefix(e.Action, "comment.") && e.ActorID != d.ben.UserID && sealed > 0 {
					t.Errorf("ben is told of %s by %s", e.Action, e.Actor)
				}
			}
			if all, sealed, _ := d.read(d.auditor, id); sealed != 0 || len(all) == 0 {
				t.Errorf("the auditor reads %q with %d sealed", all, sealed)
			}
			if sealed > 0 { // and once ben has answered, everything
				d.clock.add(3600e9)
				d.opine(d.ben, id, judge.Pass)
				if got, left, _ := d.read(d.ben, id); left != 0 || len(got) != sealed {
					t.Errorf("after answering ben reads %q with %d sealed", got, left)
				}
			}
		})
	}
}

func (d *desk) evaluation(review string) string {
	d.t.Helper()
	return d.text(`SELECT evaluation_id FROM reviews WHERE id = ?`, review)
}

// TestWouldTell: who knows more than those who still answer is told beforehand.
func TestWouldTell(t *testing.T) {
	d := openDesk(t)
	d.blind("always")
	d.opinions(2)
	id := d.one()
	for _, step := range []struct {
		do   func()
		who  store.Actor
		want bool
	}{
		{func() {}, d.ann, false},
		{func() { d.claim(d.ann, id); d.first(d.ann, id, judge.Pass) }, d.ann, true},
		{func() { d.must(d.ExposeEvaluation(d.ctx, d.lea, d.evaluation(id))) }, d.lea, true},
		{func() {}, d.luis, false},
		{func() {}, d.auditor, false},
		{func() { d.decide(d.ann, id, store.DecisionInput{Action: store.Adopt}) }, d.ann, true},
		{func() { d.claim(d.ben, id); d.first(d.ben, id, judge.Fail) }, d.ben, true},
		{func() { d.decide(d.ben, id, store.DecisionInput{Action: store.Adopt}) }, d.ann, false}, // settled
	} {
		step.do()
		if _, _, got := d.read(step.who, id); got != step.want {
			t.Errorf("%s: would tell is %v, want %v", step.who.Name, got, step.want)
		}
	}
}

func TestThreads(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	ids := d.put(judged{id: "t1"}, judged{id: "t2"})
	id, other := ids["t1"], ids["t2"]
	add := func(a store.Actor, review string, in store.NewComment) error {
		_, err := d.AddComment(d.ctx, a, review, in)
		return err
	}
	wantErr(t, "an auditor", add(d.auditor, id, store.NewComment{Text: "x"}), store.ErrForbidden)
	wantErr(t, "on nothing", add(d.ann, "nothing", store.NewComment{Text: "x"}), store.ErrNotFound)
	wantField(t, "no text", add(d.ann, id, store.NewComment{Text: " \n"}), "text")
	wantField(t, "too long", add(d.ann, id, store.NewComment{Text: strings.Repeat("é", 4001)}), "text")
	wantField(t, "to nobody", add(d.ann, id, store.NewComment{Text: "x", To: "nobody"}), "to")
	wantField(t, "to an auditor", add(d.ann, id, store.NewComment{Text: "x", To: d.auditor.UserID}), "to")
	q := d.ask(d.ann, id, store.NewComment{Text: " which edition? ", To: d.ben.UserID})
	if q.ToName != "ben" || q.Text != "which edition?" {
		t.Errorf("asked %+v", q)
	}
	wantErr(t, "in another item's thread", add(d.ben, other, store.NewComment{Text: "x", ParentID: q.ID}), store.ErrNotFound)
	a := d.ask(d.ben, id, store.NewComment{Text: "the third", ParentID: q.ID})
	wantErr(t, "below an answer", add(d.ann, id, store.NewComment{Text: "x", ParentID: a.ID}), store.ErrNotFound)
	wantField(t, "an answer to somebody", add(d.ann, id, store.NewComment{Text: "x", ParentID: q.ID, To: "lead"}), "to")

	asked := func(who store.Actor, want ...string) {
		t.Helper()
		got, err := d.QuestionsFor(d.ctx, who, "default")
		var texts []string
		for _, x := range got {
			texts = append(texts, x.Text)
		}
		if err != nil || !slices.Equal(texts, want) {
			t.Errorf("%s is asked %q (%v), want %q", who.Name, texts, err, want)
		}
	}
	answered := func(who store.Actor, want ...string) {
		t.Helper()
		got, err := d.AnswersTo(d.ctx, who, "default")
		var texts []string
		for _, x := range got {
			texts = append(texts, x.UserName+": "+x.Text)
		}
		if err != nil || !slices.Equal(texts, want) {
			t.Errorf("%s is answered %q (%v), want %q", who.Name, texts, err, want)
		}
	}
	asked(d.ben, "which edition?")
	asked(d.lea)
	answered(d.ann, "ben: the third")
	answered(d.ben)
	toLeads := d.ask(d.ann, other, store.NewComment{Text: "which law?", To: "lead"})
	asked(d.lea, "which law?")
	asked(d.luis, "which law?")

	wantErr(t, "resolved by somebody", d.ResolveComment(d.ctx, d.ben, q.ID, true), store.ErrConflict)
	wantErr(t, "an answer resolved", d.ResolveComment(d.ctx, d.lea, a.ID, true), store.ErrConflict)
	d.must(d.ResolveComment(d.ctx, d.lea, toLeads.ID, true))
	d.must(d.ResolveComment(d.ctx, d.lea, toLeads.ID, true)) // it is already
	asked(d.lea)
	d.must(d.ResolveComment(d.ctx, d.ann, toLeads.ID, false))
	asked(d.lea, "which law?")
	wantErr(t, "somebody else's taken back", d.WithdrawComment(d.ctx, d.lea, q.ID), store.ErrConflict)
	d.must(d.WithdrawComment(d.ctx, d.ann, q.ID))
	asked(d.ben)
	answered(d.ann) // the question is gone
	if got, _, _ := d.read(d.ben, id); !slices.Equal(got, []string{"", "the third"}) {
		t.Errorf("after it was taken back: %q", got)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action LIKE 'comment.%' AND allowed`); n != 6 {
		t.Errorf("%d events tell of comments, want 6: three were added, one resolved, reopened, taken back", n)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE data LIKE '%edition%'`); n != 0 {
		t.Error("a text is in the audit log")
	}
	if v, err := d.VerifyAudit(d.ctx, store.Operator("test")); err != nil || v.Problem != "" {
		t.Errorf("verification: %q, %v", v.Problem, err)
	}
}

// TestCommentLeavesTheDraft: what was sent is not typed any more, the rest is.
func TestCommentLeavesTheDraft(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	body := whole()
	q := d.ask(d.lea, id, store.NewComment{Text: "read the note first"})
	body.Other = append(body.Other, store.DraftField{Name: store.ReplyField + q.ID, Value: "done"}, store.DraftField{Name: "question_to", Value: "lead"})
	d.save(d.ann, id, store.DraftBase{}, body)
	d.ask(d.ann, id, store.NewComment{Text: body.Question})
	want := body
	want.Question, want.Other = "", body.Other[:2]
	if diff := cmp.Diff(want, d.draft(d.ann, id).DraftBody); diff != "" {
		t.Errorf("after the question (-want +got):\n%s", diff)
	}
	d.ask(d.ann, id, store.NewComment{Text: "done", ParentID: q.ID})
	want.Other = body.Other[:1]
	if diff := cmp.Diff(want, d.draft(d.ann, id).DraftBody); diff != "" {
		t.Errorf("after the answer (-want +got):\n%s", diff)
	}
}

func TestTamperingWithCommentsIsFound(t *testing.T) {
	for _, c := range []struct{ name, sql, problem string }{
		{"changed", `UPDATE comments SET body = 'another'`, "was changed"},
		{"given to somebody else", `UPDATE comments SET user_id = (SELECT id FROM users WHERE id <> user_id LIMIT 1)`, "was changed"},
		{"removed", `DELETE FROM comments`, "was removed"},
		{"taken back behind its author's back", `UPDATE comments SET body = '', withdrawn_at = created_at`, "taken back"},
		{"slipped in", `INSERT INTO comments SELECT 'forged', review_id, parent_id, user_id, addressee, body, nonce, knew_verdict, knew_peers,
created_at, withdrawn_at, resolved_at, resolved_by FROM comments`, "slipped in"},
	} {
		d := openDesk(t)
		d.ask(d.ann, d.one(), store.NewComment{Text: "which edition?"})
		if _, err := storetest.Forger(t, d.address).Exec(c.sql); err != nil {
			t.Fatal(err)
		}
		v, err := d.VerifyAudit(d.ctx, store.Operator("test"))
		if err != nil || !strings.Contains(v.Problem, c.problem) {
			t.Errorf("%s: problem %q (%v), want one with %q", c.name, v.Problem, err, c.problem)
		}
	}
}
