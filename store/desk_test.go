package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// desk is a store with one project, one judge and four people.
type desk struct {
	*store.Store
	t                   testing.TB
	ctx                 context.Context
	clock               *deskClock
	address             string
	raw                 *storetest.Database // the same one, for looking behind the store's back
	ann, ben, lea, luis store.Actor
	auditor             store.Actor
}

type deskClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *deskClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *deskClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

var deskJudge = judge.Judge{
	Name: "equivalence", PromptVersion: "v1", Source: []byte("name: equivalence\n"),
	Labels: []judge.Label{
		{Name: "same-thing", Verdict: judge.Pass},
		{Name: "other-thing", Verdict: judge.Fail},
		{Name: "undetermined", Verdict: judge.Borderline, Abstain: true},
	},
}

func openDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{t: t, ctx: t.Context(), clock: &deskClock{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}
	d.address = storetest.Address(t)
	var err error
	if d.Store, err = store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	d.raw = storetest.Raw(t, d.address)
	op := store.Operator("test")
	if _, err := d.EnsureProject(d.ctx, op, "default"); err != nil {
		t.Fatal(err)
	}
	if err := d.SaveJudges(d.ctx, op, "default", []judge.Judge{deskJudge}); err != nil {
		t.Fatal(err)
	}
	d.ann = d.person("ann", store.Reviewer)
	d.ben = d.person("ben", store.Reviewer)
	d.lea = d.person("lea", store.Lead)
	d.luis = d.person("luis", store.Lead)
	d.auditor = d.person("audrey", store.Auditor)
	return d
}

func (d *desk) person(name string, role store.Role) store.Actor {
	d.t.Helper()
	u, err := d.CreateUser(d.ctx, store.Operator("test"), store.NewUser{Email: name + "@example.org", Name: name, Role: role})
	if err != nil {
		d.t.Fatal(err)
	}
	return u.Actor()
}

// blind sets the project's policy: never, always.
func (d *desk) blind(how string) {
	d.t.Helper()
	p, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		d.t.Fatal(err)
	}
	p.Policy.Blind = how
	if _, err := d.SetPolicy(d.ctx, store.Operator("test"), "default", p.Policy, ""); err != nil {
		d.t.Fatal(err)
	}
}

// policy changes the project's policy.
func (d *desk) policy(change func(*judge.Policy)) {
	d.t.Helper()
	p, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		d.t.Fatal(err)
	}
	change(&p.Policy)
	if _, err := d.SetPolicy(d.ctx, store.Operator("test"), "default", p.Policy, ""); err != nil {
		d.t.Fatal(err)
	}
}

// holds checks that the chain, the rows and the kept counts agree.
func (d *desk) holds() {
	d.t.Helper()
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		d.t.Errorf("the audit chain: %s, %v", v.Problem, err)
	}
	if problems, err := d.CheckKeptCounts(d.ctx); err != nil || len(problems) > 0 {
		d.t.Errorf("the kept counts: %v, %v", problems, err)
	}
}

// judged is one evaluation to be put on the desk.
type judged struct {
	id      string // of the trace
	domain  string
	run     string
	cluster string
	labels  []judge.HumanLabel
	trace   func(*judge.Trace)      // adds to the trace
	report  func(*judge.Evaluation) // changes what failing says
	draw    *judge.Draw
}

// failing is an evaluation that waits, full of words that must stay sealed.
func failing() judge.Evaluation {
	score := 0.3141592
	return judge.Evaluation{
		Status: judge.InReview, Score: &score, Verdict: judge.Fail, Label: "other-thing", Critical: true,
		Reasons: []judge.Reason{
			{Code: judge.ReasonCriticalError, Detail: "SECRET reason"},
			{Code: judge.ReasonUntrustedJudge, Detail: "SECRET trust"},
		},
		Checks:   []judge.CheckResult{{Name: "score.too_high", Kind: judge.Soft, Detail: "SECRET check"}},
		Report:   json.RawMessage(`{"rationale":"SECRET report"}`),
		Findings: []judge.Finding{{Class: "wrong_amount", Explanation: "SECRET finding"}},
		Attempts: 1, Tokens: judge.Tokens{Prompt: 271828, Completion: 161803}, LatencyMS: 577215,
		Calls: []judge.Attempt{{Number: 1, Engine: judge.EngineRules, Reply: "SECRET reply", StartedAt: time.Unix(0, 0).UTC()}},
	}
}

// put imports traces and judges them; it gives the review ids by trace id.
func (d *desk) put(items ...judged) map[string]string {
	d.t.Helper()
	byTrace := map[string]judged{}
	var imports []store.ImportItem
	for _, it := range items {
		byTrace[it.id] = it
		domain := it.domain
		if domain == "" {
			domain = "general"
		}
		imports = append(imports, store.ImportItem{
			Trace: judge.Trace{ID: it.id, Output: "the output of " + it.id, Domain: domain, Run: it.run, Cluster: it.cluster, Labels: it.labels,
				Judgments: []judge.Judgment{{Judge: "equivalence", Raw: "SECRET judgment"}}},
			Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}},
		})
		if it.trace != nil {
			it.trace(&imports[len(imports)-1].Trace)
		}
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", imports); err != nil {
		d.t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: len(items), Lease: time.Minute})
	if err != nil {
		d.t.Fatal(err)
	}
	if len(work) != len(items) {
		d.t.Fatalf("claimed %d evaluations of %d", len(work), len(items))
	}
	var done []judge.Finished
	for _, w := range work {
		it := byTrace[w.Trace.ID]
		e := failing()
		if it.report != nil {
			it.report(&e)
		}
		e.Engine, e.Model, e.Judge, e.PromptVersion = judge.EngineRules, judge.EngineRules, "equivalence", "v1"
		done = append(done, judge.Finished{Work: w, Evaluation: e, Draw: it.draw})
	}
	if err := d.FinishWork(d.ctx, done); err != nil {
		d.t.Fatal(err)
	}
	reviews := map[string]string{}
	rows, err := d.raw.QueryContext(d.ctx, `SELECT external_id, id FROM reviews`)
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var trace, id string
		if err := rows.Scan(&trace, &id); err != nil {
			d.t.Fatal(err)
		}
		if _, ok := byTrace[trace]; ok {
			reviews[trace] = id
		}
	}
	return reviews
}

// one puts a single failing evaluation on the desk.
func (d *desk) one() string { d.t.Helper(); return d.put(judged{id: "t1"})["t1"] }

func (d *desk) claim(a store.Actor, review string) store.Review {
	d.t.Helper()
	v, err := d.ClaimReview(d.ctx, a, review)
	if err != nil {
		d.t.Fatalf("claim by %s: %v", a.Name, err)
	}
	return v
}

func (d *desk) first(a store.Actor, review string, v judge.Verdict) store.Review {
	d.t.Helper()
	r, err := d.CommitFirstAnswer(d.ctx, a, review, store.Answer{Verdict: v})
	if err != nil {
		d.t.Fatalf("first answer by %s: %v", a.Name, err)
	}
	return r
}

func (d *desk) decide(a store.Actor, review string, in store.DecisionInput) store.Decision {
	d.t.Helper()
	got, err := d.Decide(d.ctx, a, review, in)
	if err != nil {
		d.t.Fatalf("%s by %s: %v", in.Action, a.Name, err)
	}
	return got
}

// number asks the file itself.
func (d *desk) number(query string, args ...any) int {
	d.t.Helper()
	var n int
	if err := d.raw.QueryRowContext(d.ctx, query, args...).Scan(&n); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return n
}

func (d *desk) text(query string, args ...any) string {
	d.t.Helper()
	var s string
	if err := d.raw.QueryRowContext(d.ctx, query, args...).Scan(&s); err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	return s
}

// list asks the file itself for texts.
func (d *desk) list(query string, args ...any) (all []string) {
	d.t.Helper()
	rows, err := d.raw.QueryContext(d.ctx, query, args...)
	if err != nil {
		d.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			d.t.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		d.t.Fatal(err)
	}
	return all
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// wantField checks that an error is about one field.
func wantField(t *testing.T, what string, got error, field string) {
	t.Helper()
	var f *store.FieldError
	if !errors.As(got, &f) || f.Field != field {
		t.Errorf("%s: error %v, want one of field %q", what, got, field)
	}
}

func traceIDs(items []store.QueueItem) []string {
	var ids []string
	for _, it := range items {
		ids = append(ids, it.TraceID)
	}
	return ids
}

func numbered(prefix string, n int) []judged {
	var items []judged
	for i := range n {
		items = append(items, judged{id: fmt.Sprintf("%s%03d", prefix, i)})
	}
	return items
}
