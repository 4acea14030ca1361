package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestSignature: a decision keeps who signed as what, the words, and what was on
// the screen; another name, role or report later changes nothing of it.
func TestSignature(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	r := d.first(d.ann, id, judge.Pass)
	shown := r.Screen
	shown.PageVersion, shown.DraftVersion = "v1.2.3", 7
	got := d.decide(d.ann, id, store.DecisionInput{Action: store.Keep, ReasonCode: "too_strict", Comment: "c", Shown: &shown})
	want := store.Signature{Name: "ann", Role: store.Reviewer, Affirmation: store.Affirmation(store.Override, false), Wording: store.AffirmationWording,
		Shown: shown, At: got.At}
	want.Shown.Stated = true
	if diff := cmp.Diff(&want, got.Signature); diff != "" {
		t.Errorf("signature (-want +got):\n%s", diff)
	}
	if want.Shown.TraceRevision != 1 || len(want.Shown.TraceSHA256) != 64 || len(want.Shown.ReportSHA256) != 64 || want.Shown.PolicyVersion != 1 {
		t.Errorf("what was shown: %+v", want.Shown)
	}
	after, err := d.GetReview(d.ctx, d.auditor, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, *after.Settled); diff != "" {
		t.Errorf("as read (-returned +read):\n%s", diff)
	}
	d.holds()
}

// TestUnstatedSignature: who says nothing of their screen signs what is current,
// and that they said nothing is kept.
func TestUnstatedSignature(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	got := d.decide(d.ann, id, store.DecisionInput{Action: store.Escalate, Comment: "c"})
	s := got.Signature.Shown
	if s.Stated || s.TraceRevision != 1 || s.EvaluationID != got.EvaluationID || s.ReportSHA256 != "" {
		t.Errorf("shown %+v: want what is current, and no report, which was sealed", s)
	}
	if !strings.Contains(got.Signature.Affirmation, "do not decide") {
		t.Errorf("affirmation %q", got.Signature.Affirmation)
	}
}

// TestStaleScreen: who signs what is not what is stored is told what changed, and
// nothing is stored.
func TestStaleScreen(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*store.Shown)
		what   string
	}{
		"another item":     {func(s *store.Shown) { s.EvaluationID = "other" }, "the item"},
		"another revision": {func(s *store.Shown) { s.TraceRevision++ }, "the trace"},
		"another text":     {func(s *store.Shown) { s.TraceSHA256 = strings.Repeat("0", 64) }, "the trace"},
		"another prompt":   {func(s *store.Shown) { s.PromptVersion = "v0" }, "the judge's version"},
		"another report":   {func(s *store.Shown) { s.ReportSHA256 = strings.Repeat("0", 64) }, "the judge's report"},
		"another policy":   {func(s *store.Shown) { s.PolicyVersion++ }, "the policy of this item"},
		"nothing stated":   {func(s *store.Shown) { *s = store.Shown{} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.blind("never")
			id := d.one()
			shown := d.claim(d.ann, id).Screen
			c.change(&shown)
			_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Confirm, Shown: &shown})
			if c.what == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var stale *store.StaleError
			if !errors.As(err, &stale) || stale.What != c.what || !errors.Is(err, store.ErrConflict) {
				t.Errorf("error %v, want one that %s has changed", err, c.what)
			}
			if n := d.number(`SELECT count(*) FROM decisions`); n != 0 {
				t.Errorf("%d decisions are stored", n)
			}
			if s := d.text(`SELECT state FROM reviews`); s != "claimed" {
				t.Errorf("the review is %s", s)
			}
		})
	}
}

// TestEveryActionIsAffirmed: no decision is signed without words, and who
// adjudicates affirms that they were no side.
func TestEveryActionIsAffirmed(t *testing.T) {
	said := map[string]bool{}
	for _, action := range []string{store.Confirm, store.Override, store.CannotJudge, store.Escalate} {
		text := store.Affirmation(action, false)
		if len(text) < 40 || said[text] {
			t.Errorf("%s affirms %q", action, text)
		}
		said[text] = true
	}
	for _, action := range []string{store.Confirm, store.Override} {
		if text := store.Affirmation(action, true); !strings.Contains(text, "I gave none of these answers") || said[text] {
			t.Errorf("%s in adjudication affirms %q", action, text)
		}
	}
}

func TestRulings(t *testing.T) {
	many := make([]judge.Ruling, store.MaxRulings+1)
	for i := range many {
		many[i].Part = fmt.Sprint("citation/", i)
	}
	one := []judge.Ruling{{Part: "citation/1/support", Value: "unsupported", Note: "it says three years"}}
	for name, c := range map[string]struct {
		in    store.DecisionInput
		field string
		kind  string // of the decision
	}{
		"kept":                         {in: store.DecisionInput{Action: store.Confirm, Rulings: one}, kind: store.Confirm},
		"changed and confirmed":        {in: store.DecisionInput{Action: store.Confirm, Rulings: one, Changed: 1}, field: "action"},
		"changed, the verdict stands":  {in: store.DecisionInput{Action: store.Override, Verdict: judge.Fail, Rulings: one, Changed: 1, ReasonCode: "missed_error", Comment: "c"}, kind: store.Override},
		"changed without a reason":     {in: store.DecisionInput{Action: store.Override, Verdict: judge.Fail, Rulings: one, Changed: 1, Comment: "c"}, field: "reason_code"},
		"not changed, the verdict too": {in: store.DecisionInput{Action: store.Override, Verdict: judge.Fail, Rulings: one}, kind: store.Confirm},
		"too many":                     {in: store.DecisionInput{Action: store.Confirm, Rulings: many}, field: "rulings"},
		"of no part":                   {in: store.DecisionInput{Action: store.Confirm, Rulings: []judge.Ruling{{Value: "x"}}}, field: "rulings"},
		"of a long part":               {in: store.DecisionInput{Action: store.Confirm, Rulings: []judge.Ruling{{Part: strings.Repeat("é", 101)}}}, field: "rulings"},
		"of a long value":              {in: store.DecisionInput{Action: store.Confirm, Rulings: []judge.Ruling{{Part: "p", Value: strings.Repeat("é", 101)}}}, field: "rulings"},
		"of a long note":               {in: store.DecisionInput{Action: store.Confirm, Rulings: []judge.Ruling{{Part: "p", Note: strings.Repeat("é", 4001)}}}, field: "rulings"},
		"twice on one part":            {in: store.DecisionInput{Action: store.Confirm, Rulings: append(one, one...)}, field: "rulings"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.blind("never")
			id := d.one()
			d.claim(d.ann, id)
			got, err := d.Decide(d.ctx, d.ann, id, c.in)
			if c.field != "" {
				wantField(t, name, err, c.field)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Action != c.kind {
				t.Errorf("action %s, want %s", got.Action, c.kind)
			}
			var exported []store.Decision
			if err := d.EachDecision(d.ctx, d.auditor, store.EvaluationFilter{}, func(x store.Decision) error {
				exported = append(exported, x)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]store.Decision{got}, exported); diff != "" || len(got.Rulings) != 1 {
				t.Errorf("as exported (-returned +exported):\n%s", diff)
			}
			d.holds()
		})
	}
}

// TestRulingsOfAFirstAnswer stay with it, and with what is kept of it.
func TestRulingsOfAFirstAnswer(t *testing.T) {
	one := []judge.Ruling{{Part: "difference/1", Value: "material"}, {Part: "class", Value: "substantive_difference"}}
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	r, err := d.CommitFirstAnswer(d.ctx, d.ann, id, store.Answer{Verdict: judge.Pass, Rulings: one})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, r.First.Rulings); diff != "" {
		t.Errorf("first answer (-want +got):\n%s", diff)
	}
	if _, err := d.CommitFirstAnswer(d.ctx, d.ann, id, store.Answer{Verdict: judge.Pass, Rulings: []judge.Ruling{one[1], one[0]}}); err != nil {
		t.Errorf("the same rulings in another order: %v", err)
	}
	_, err = d.CommitFirstAnswer(d.ctx, d.ann, id, store.Answer{Verdict: judge.Pass, Rulings: one[:1]})
	wantErr(t, "other rulings", err, store.ErrConflict)
	_, err = d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Adopt, Rulings: one, Changed: 2})
	wantField(t, "adopted with other rulings", err, "action")
	if !strings.Contains(err.Error(), "2 rulings") || !strings.Contains(err.Error(), "them back") {
		t.Errorf("it says %v", err)
	}
	got := d.decide(d.ann, id, store.DecisionInput{Action: store.Keep, Changed: 2, ReasonCode: "other", Comment: "c"})
	if diff := cmp.Diff(one, got.Rulings); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	d.holds()
}

// TestReasonCodes: only those that the policy offers for the domain and the judge
// are taken, each with its severity unless the person says another.
func TestReasonCodes(t *testing.T) {
	own := []judge.OverrideReason{
		{Code: "dose", Text: "Dose", Severity: "critical", Domains: []string{"medical"}},
		{Code: "any", Text: "Any", Severity: "minor"},
		{Code: "tone", Text: "Tone", Severity: "minor", Judges: []string{"tone"}},
	}
	for name, c := range map[string]struct {
		list               []judge.OverrideReason
		domain, code, says string
		want               string // severity; empty: refused
	}{
		"usual":                     {nil, "general", "missed_error", "", "major"},
		"usual, another severity":   {nil, "general", "missed_error", "critical", "critical"},
		"usual of its domain":       {nil, "medical", "dose_error", "", "critical"},
		"usual of another domain":   {nil, "legal", "dose_error", "", ""},
		"own":                       {own, "medical", "dose", "", "critical"},
		"own of another domain":     {own, "general", "dose", "", ""},
		"own of another judge":      {own, "general", "tone", "", ""},
		"usual where there are own": {own, "general", "missed_error", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.policy(func(p *judge.Policy) { p.Blind, p.OverrideReasons = judge.BlindNever, c.list })
			id := d.put(judged{id: "t1", domain: c.domain})["t1"]
			d.claim(d.ann, id)
			got, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: c.code, Severity: c.says, Comment: "c"})
			if c.want == "" {
				wantField(t, name, err, "reason_code")
				return
			}
			if err != nil || got.Severity != c.want || got.ReasonCode != c.code {
				t.Errorf("severity %q, code %q, %v; want %q", got.Severity, got.ReasonCode, err, c.want)
			}
			d.holds()
		})
	}
	d := openDesk(t)
	d.blind("never")
	id := d.one()
	d.claim(d.ann, id)
	_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "other", Severity: "grave", Comment: "c"})
	wantField(t, "an unknown severity", err, "severity")
}

// TestSecondOpinion: an answer that comes when the item is settled is kept and
// marked, and changes nothing else.
func TestSecondOpinion(t *testing.T) {
	for _, blind := range []string{"always", "never"} {
		t.Run("blind "+blind, func(t *testing.T) {
			d := openDesk(t)
			d.blind(blind)
			id := d.one()
			add := store.DecisionInput{Action: store.Override, Verdict: judge.Borderline, ReasonCode: "other", Comment: "mine"}
			_, err := d.AddSecondOpinion(d.ctx, d.ann, id, add)
			wantErr(t, "on an open item", err, store.ErrConflict)
			// ann looks at it, her claim runs out, ben decides.
			if r := d.claim(d.ann, id); r.Sealed {
				d.first(d.ann, id, judge.Borderline)
				add.Action, add.Verdict = store.Keep, ""
			}
			d.clock.add(time.Hour)
			d.opine(d.ben, id, judge.Pass)
			_, err = d.Decide(d.ctx, d.ann, id, add)
			var late *store.DecidedError
			if !errors.As(err, &late) || late.Decision.UserName != "ben" {
				t.Fatalf("who comes late is told %v", err)
			}
			state, before := d.state(), d.consensus("t1")
			_, err = d.AddSecondOpinion(d.ctx, d.auditor, id, add)
			wantErr(t, "by the auditor", err, store.ErrForbidden)
			_, err = d.AddSecondOpinion(d.ctx, d.ben, id, add)
			wantErr(t, "by who decided", err, store.ErrConflict)
			_, err = d.AddSecondOpinion(d.ctx, d.ann, id, store.DecisionInput{Action: store.Escalate, Comment: "c"})
			wantField(t, "an escalation", err, "action")
			got, err := d.AddSecondOpinion(d.ctx, d.ann, id, add)
			if err != nil {
				t.Fatal(err)
			}
			if !got.OverQuota || got.Verdict != judge.Borderline || got.VerdictVisible != (blind == "never") || got.Signature == nil || got.Supersedes != "" {
				t.Errorf("second opinion %+v", got)
			}
			_, err = d.AddSecondOpinion(d.ctx, d.ann, id, add)
			wantErr(t, "twice", err, store.ErrConflict)
			if diff := cmp.Diff(before, d.consensus("t1")); diff != "" || d.state() != state {
				t.Errorf("it changed the state to %q and the consensus (-before +after):\n%s", d.state(), diff)
			}
			if n := d.number(`SELECT count(*) FROM agreement_pairs WHERE n > 0`); n != 0 {
				t.Errorf("%d pairs count it", n)
			}
			r, err := d.GetReview(d.ctx, d.lea, id)
			if err != nil || len(r.Decisions) != 2 || r.Settled == nil || r.Settled.UserName != "ben" {
				t.Errorf("%d decisions, settled %+v, %v", len(r.Decisions), r.Settled, err)
			}
			d.holds()
			// A slip is taken back there too, and the result stays.
			if _, err := d.Undo(d.ctx, d.ann, id); err != nil {
				t.Error(err)
			}
			if d.state() != state {
				t.Errorf("after undo: %q, want %q", d.state(), state)
			}
			d.holds()
		})
	}
}
