package store_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// called is a judged trace whose call had this prompt and reply at that time.
func called(id, prompt, reply string, at time.Time) judged {
	return judged{id: id, report: func(e *judge.Evaluation) {
		e.Calls = []judge.Attempt{{Number: 1, Engine: judge.EngineRules, Prompt: prompt, Reply: reply, StartedAt: at}}
	}}
}

// callOf reads the one call of a trace's evaluation, as an auditor sees it.
func (d *desk) callOf(trace string) judge.Attempt {
	d.t.Helper()
	v, err := d.GetEvaluation(d.ctx, d.auditor, d.text(`SELECT e.id FROM evaluations e JOIN traces t ON t.id = e.trace_id WHERE t.external_id = ?`, trace))
	if err != nil {
		d.t.Fatal(err)
	}
	if len(v.Evaluation.Calls) != 1 {
		d.t.Fatalf("%s has %d calls", trace, len(v.Evaluation.Calls))
	}
	return v.Evaluation.Calls[0]
}

func TestRetention(t *testing.T) {
	d := openDesk(t)
	now := d.clock.Now()
	old, recent := now.Add(-91*24*time.Hour), now.Add(-89*24*time.Hour)
	source := strings.Repeat("What a judge once replied is a source of a trace now. ", 20)
	d.put(
		called("old", "old prompt", "old reply", old),
		called("recent", "recent prompt", "recent reply", recent),
		called("shared old", "p1", "a reply that came twice", old),
		called("shared recent", "p2", "a reply that came twice", recent),
		called("is prompt", "both prompt and reply", "r", old),
		called("is reply", "p3", "both prompt and reply", old),
		called("is source", "p4", source, old),
	)
	storetest.Import(t, d.Store, []store.ImportItem{{Trace: judge.Trace{ID: "cites", Output: "o", Domain: "general", Sources: []judge.Source{{ID: "1", Text: source}}}}})
	hashes := func() int { return d.number(`SELECT count(reply_hash) FROM attempts`) }
	before := hashes()

	for _, who := range []store.Actor{d.ann, d.auditor} {
		_, err := d.RemoveOldTexts(d.ctx, who, store.Retention{OlderThan: 90 * 24 * time.Hour})
		wantErr(t, "by "+who.Name, err, store.ErrForbidden)
	}
	_, err := d.RemoveOldTexts(d.ctx, d.lea, store.Retention{OlderThan: time.Hour})
	wantField(t, "an hour", err, "older_than")

	got, err := d.RemoveOldTexts(d.ctx, d.lea, store.Retention{OlderThan: 90 * 24 * time.Hour})
	if err != nil || got.Replies != 2 || got.Prompts != 0 || !got.Until.Equal(now.Add(-90*24*time.Hour)) {
		t.Fatalf("removed %+v, error %v; want 2 replies", got, err)
	}
	if hashes() != before {
		t.Errorf("%d hashes of replies, want %d", hashes(), before)
	}
	for trace, want := range map[string]string{
		"old": "", "is prompt": "", "recent": "recent reply", "shared old": "a reply that came twice", "shared recent": "a reply that came twice",
		"is reply": "both prompt and reply", "is source": source,
	} {
		c := d.callOf(trace)
		if c.Reply != want || c.Prompt == "" || (c.ReplyRemovedAt != nil) != (want == "") || c.PromptRemovedAt != nil {
			t.Errorf("%s: reply %.20q removed at %v, prompt %q removed at %v; want reply %.20q", trace, c.Reply, c.ReplyRemovedAt, c.Prompt, c.PromptRemovedAt, want)
		}
		if c.ReplyRemovedAt != nil && !c.ReplyRemovedAt.Equal(now) {
			t.Errorf("%s: removed at %v, want %v", trace, c.ReplyRemovedAt, now)
		}
	}
	if tr, err := d.GetTrace(d.ctx, d.auditor, "default", "cites", 0); err != nil || tr.Trace.Sources[0].Text != source {
		t.Errorf("the trace that cites a reply: %v", err)
	}
	events, _, err := d.ListAudit(d.ctx, d.lea, store.AuditFilter{Action: "replies.removed"})
	if err != nil || len(events) != 3 || !events[0].Allowed || !strings.Contains(string(events[0].Data), `"removed":2`) {
		t.Errorf("events %+v, error %v", events, err)
	}
	d.clock.add(24 * time.Hour)
	if again, err := d.RemoveOldTexts(d.ctx, d.lea, store.Retention{OlderThan: 90 * 24 * time.Hour, Prompts: true}); err != nil || again.Replies != 0 || again.Prompts != 4 {
		t.Errorf("a day later with prompts: %+v, error %v; want 4 prompts", again, err)
	}
	if c := d.callOf("old"); c.Prompt != "" || c.PromptRemovedAt == nil || !c.PromptRemovedAt.Equal(now.Add(24*time.Hour)) || !c.ReplyRemovedAt.Equal(now) {
		t.Errorf("the old call: %+v", c)
	}
	// Words that were removed may come again.
	d.put(called("again", "old prompt", "old reply", d.clock.Now()))
	for _, trace := range []string{"old", "again"} {
		if c := d.callOf(trace); c.Reply != "old reply" || c.ReplyRemovedAt != nil {
			t.Errorf("%s after the reply came again: %+v", trace, c)
		}
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("chain: %q, %v", v.Problem, err)
	}
	if n, err := d.DropOrphanTexts(d.ctx); err != nil || n != 0 {
		t.Errorf("%d orphans after retention, error %v", n, err)
	}
}

// Retention takes nothing that is stored beside it by others.
func TestRetentionBesideWriters(t *testing.T) {
	d := openDesk(t)
	old := d.clock.Now().Add(-100 * 24 * time.Hour)
	var items []judged
	for _, it := range numbered("old", 40) {
		items = append(items, called(it.id, "p", "the same reply", old))
	}
	d.put(items...)
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := d.RemoveOldTexts(d.ctx, d.lea, store.Retention{OlderThan: 90 * 24 * time.Hour, Prompts: true}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for i, it := range numbered("new", 40) {
		d.put(called(it.id, "p", "the same reply", d.clock.Now()))
		if i%10 == 9 {
			d.clock.add(time.Second)
		}
	}
	close(stop)
	group.Wait()
	for _, it := range numbered("new", 40) {
		if c := d.callOf(it.id); c.Reply != "the same reply" || c.Prompt != "p" {
			t.Errorf("%s lost its texts: %+v", it.id, c)
		}
	}
}

func TestDropLeftovers(t *testing.T) {
	d := openDesk(t)
	keep := func(name string) {
		t.Helper()
		if err := errors.Join(d.KeepReply(d.ctx, name, "c", judge.KeptReply{}),
			d.KeepAnswer(d.ctx, d.lea, name, "r", store.Answered{Status: 202})); err != nil {
			t.Fatal(err)
		}
	}
	keep("settled")
	d.clock.add(time.Hour)
	storetest.Import(t, d.Store, []store.ImportItem{{Trace: judge.Trace{ID: "waits", Output: "o", Domain: "general"},
		Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}}}})
	d.clock.add(time.Hour)
	keep("waits")
	d.clock.add(22*time.Hour + time.Minute)
	got, err := d.DropLeftovers(d.ctx)
	if err != nil || got != (store.Leftovers{Replies: 1, Answers: 1}) {
		t.Errorf("after a day: %+v, error %v", got, err)
	}
	d.clock.add(30 * 24 * time.Hour)
	if got, err = d.DropLeftovers(d.ctx); err != nil || got != (store.Leftovers{Answers: 1}) {
		t.Errorf("while an evaluation waits: %+v, error %v", got, err)
	}
	if _, ok, err := d.KeptReply(d.ctx, "waits", "c"); err != nil || !ok {
		t.Errorf("the reply of an evaluation that waits is gone: %v", err)
	}
	w, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	finish(t, d.Store, failedJudge(w[0]))
	if got, err = d.DropLeftovers(d.ctx); err != nil || got != (store.Leftovers{Replies: 1}) {
		t.Errorf("when it is settled: %+v, error %v", got, err)
	}
}

func TestDropOrphanTexts(t *testing.T) {
	d := fillDesk(t)
	storetest.Import(t, d.Store, []store.ImportItem{{Trace: storetest.Trace(1)}}) // with a long source
	before := d.number(`SELECT count(*) FROM texts`)
	if n, err := d.DropOrphanTexts(d.ctx); err != nil || n != 0 {
		t.Fatalf("%d texts dropped of a good database, error %v", n, err)
	}
	for _, hash := range [][]byte{[]byte(strings.Repeat("x", 32)), []byte(strings.Repeat("y", 32))} {
		if _, err := d.raw.Exec(`INSERT INTO texts (hash, codec, body) VALUES (?, 0, ?)`, hash, []byte("nobody's")); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := d.DropOrphanTexts(d.ctx); err != nil || n != 2 || d.number(`SELECT count(*) FROM texts`) != before {
		t.Errorf("%d texts dropped, error %v", n, err)
	}
}

func TestTakeUpkeep(t *testing.T) {
	d := openDesk(t)
	take := func() int {
		t.Helper()
		var group sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for range 6 {
			group.Go(func() {
				mine, err := d.TakeUpkeep(d.ctx)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				if mine {
					taken++
				}
			})
		}
		group.Wait()
		return taken
	}
	for _, step := range []struct {
		passes time.Duration
		want   int
	}{{0, 0}, {23 * time.Hour, 0}, {time.Hour, 1}, {0, 0}, {48 * time.Hour, 1}, {-72 * time.Hour, 1}, {0, 0}} {
		d.clock.add(step.passes)
		if got := take(); got != step.want {
			t.Errorf("after %s: %d of six got it, want %d", step.passes, got, step.want)
		}
	}
}

func TestOptimiseAndCompact(t *testing.T) {
	d := fillDesk(t)
	if err := d.Optimise(d.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := d.raw.Exec(`INSERT INTO kept_replies (evaluation, call, reply, kept_at) VALUES ('x', 'x', ?, ?)`, strings.Repeat("0123456789", 2_000_000), d.clock.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.raw.Exec(`DELETE FROM kept_replies`); err != nil {
		t.Fatal(err)
	}
	c, err := d.Compact(d.ctx)
	if err != nil || c.After == 0 || (!storetest.OnPostgres() && (c.Before < 20_000_000 || c.After > 10_000_000)) {
		t.Errorf("compacted %+v, error %v", c, err)
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("chain: %q, %v", v.Problem, err)
	}
}
