package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// ExampleDraw is a draw of worked examples for a judge's prompt.
type ExampleDraw struct {
	Judge string
	// PolicyVersion that it was made for; later versions that ask for the same keep it.
	PolicyVersion int
	// Settled are the evaluations that people had settled and that nobody was
	// reviewing. Usable are those, of the ones that were looked at, that can be an
	// example by their texts, their domain and their report.
	Settled, Usable int
	// Examples in their order; none: there were too few, and the judge keeps its own.
	Examples []judge.Example
}

// Warning says that the judge keeps its own examples, and why; empty: it does not.
func (d ExampleDraw) Warning() string {
	if len(d.Examples) > 0 {
		return ""
	}
	return fmt.Sprintf("judge %s keeps its own examples: it needs at least %s, and of %d settled evaluations %d can be drawn "+
		"(final by a person, nothing of the trace or its cluster in review, each text under %d bytes, a domain that may go wherever the judge may); "+
		"when there are more, countersign policy refresh-examples draws again",
		d.Judge, judge.ExampleNeeds(d.Judge), d.Settled, d.Usable, judge.MaxExampleText)
}

// mostExamplesRead bounds how many settled evaluations a draw looks into.
const mostExamplesRead = 2000

// ExampleDraws are the draws that count under the present policy of a project, by
// judge; none where it asks for none.
func (s *Store) ExampleDraws(ctx context.Context, project string) (_ []ExampleDraw, err error) {
	defer wrap(&err, "read the drawn examples of project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	all, err := allDraws(ctx, s.reader, p.ID, "")
	return presentDraws(all, p.Policy), err
}

// EarlierExamples are all examples that were ever drawn for a judge of a project,
// the newest first: one list for each draw that found enough.
func (s *Store) EarlierExamples(ctx context.Context, project, judgeName string) (lists [][]judge.Example, err error) {
	defer wrap(&err, "read the drawn examples of judge %q", judgeName)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	all, err := allDraws(ctx, s.reader, p.ID, judgeName)
	for _, d := range all {
		if len(d.Examples) > 0 {
			lists = append(lists, d.Examples)
		}
	}
	return lists, err
}

// allDraws reads draws with their examples: by judge, the newest first. An empty
// judgeName means all.
func allDraws(ctx context.Context, q querier, projectID, judgeName string) ([]ExampleDraw, error) {
	type row struct {
		ExampleDraw
		text sql.NullString
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *row) error {
		return r.Scan(&v.Judge, &v.PolicyVersion, &v.Settled, &v.Usable, &v.text)
	}, `
SELECT d.judge, d.policy_version, d.settled, d.usable, x.text
FROM example_draws d LEFT JOIN drawn_examples x ON x.project_id = d.project_id AND x.judge = d.judge AND x.policy_version = d.policy_version
WHERE d.project_id = ? AND (? = '' OR d.judge = ?) ORDER BY d.judge, d.policy_version DESC, x.position`, projectID, judgeName, judgeName)
	if err != nil {
		return nil, err
	}
	var all []ExampleDraw
	for _, v := range rows {
		if n := len(all); n == 0 || all[n-1].Judge != v.Judge || all[n-1].PolicyVersion != v.PolicyVersion {
			all = append(all, v.ExampleDraw)
		}
		if !v.text.Valid {
			continue
		}
		var e judge.Example
		if err := json.Unmarshal([]byte(v.text.String), &e); err != nil {
			return nil, fmt.Errorf("a drawn example of judge %s: %w", v.Judge, err)
		}
		d := &all[len(all)-1]
		d.Examples = append(d.Examples, e)
	}
	return all, nil
}

// presentDraws are the newest draws of the judges for which a policy asks.
func presentDraws(all []ExampleDraw, p judge.Policy) []ExampleDraw {
	var present []ExampleDraw
	for name := range p.WithExamples() {
		for _, d := range all {
			if d.Judge == name && d.PolicyVersion <= p.Version {
				present = append(present, d)
				break
			}
		}
	}
	slices.SortFunc(present, func(a, b ExampleDraw) int { return strings.Compare(a.Judge, b.Judge) })
	return present
}

// drawsFor makes the draws that a change of policy needs. A judge keeps its draw
// while its rule says the same and its examples may still go where it may, unless
// anew asks for all. fresh reports whether a draw differs from the present one.
func (s *Store) drawsFor(ctx context.Context, p Project, next judge.Policy, judges []judge.Judge, anew bool) (draws []ExampleDraw, fresh bool, err error) {
	asked := next.WithExamples()
	if len(asked) == 0 {
		return nil, false, nil
	}
	all, err := allDraws(ctx, s.reader, p.ID, "")
	if err != nil {
		return nil, false, err
	}
	before, present := p.Policy.WithExamples(), presentDraws(all, p.Policy)
	for name, rule := range asked {
		at := slices.IndexFunc(present, func(d ExampleDraw) bool { return d.Judge == name })
		if !anew && at >= 0 && before[name] == rule && mayStay(present[at], next) {
			continue
		}
		j := slices.IndexFunc(judges, func(j judge.Judge) bool { return j.Name == name && j.Example != nil })
		if j < 0 {
			return nil, false, invalid("examples", "of judge %s can't be drawn here: this command or server does not have the judge", name)
		}
		d, err := s.drawExamples(ctx, p, next, &judges[j], rule)
		if err != nil {
			return nil, false, err
		}
		fresh = fresh || at < 0 || !sameExamples(present[at].Examples, d.Examples)
		draws = append(draws, d)
	}
	slices.SortFunc(draws, func(a, b ExampleDraw) int { return strings.Compare(a.Judge, b.Judge) })
	return draws, fresh, nil
}

func mayStay(d ExampleDraw, next judge.Policy) bool {
	return !slices.ContainsFunc(d.Examples, func(e judge.Example) bool { return !next.ExampleMayGo(d.Judge, e.Domain) })
}

func sameExamples(a, b []judge.Example) bool {
	return slices.EqualFunc(a, b, func(x, y judge.Example) bool {
		return x.Evaluation == y.Evaluation && x.Class == y.Class && x.Answer == y.Answer && x.Output == y.Output && slices.Equal(x.Texts, y.Texts)
	})
}

// drawExamples draws by the order of the seed. It reads outside a transaction;
// whoever stores the draw holds it to settledOf once more.
func (s *Store) drawExamples(ctx context.Context, p Project, next judge.Policy, j *judge.Judge, rule judge.ExampleRule) (ExampleDraw, error) {
	d := ExampleDraw{Judge: j.Name}
	pool, err := settledOf(ctx, s.reader, p.ID, j.Name)
	if err != nil {
		return d, err
	}
	d.Settled = len(pool)
	ids := make([]string, 0, len(pool))
	for id := range pool {
		ids = append(ids, id)
	}
	judge.ExampleOrder(rule.Seed, ids)
	ids = ids[:min(len(ids), mostExamplesRead)]
	pick := judge.NewExamplePick(j.Name, rule.Count)
	err = inBatches(ids, func(batch []string) error {
		if pick.Full() {
			return nil
		}
		return s.offerExamples(ctx, next, j, pool, batch, pick, &d.Usable)
	})
	d.Examples = pick.Examples()
	return d, err
}

func (s *Store) offerExamples(ctx context.Context, next judge.Policy, j *judge.Judge, pool map[string]settledEvaluation, ids []string, pick *judge.ExamplePick, usable *int) error {
	hashes := make([]string, len(ids))
	for i, id := range ids {
		hashes[i] = pool[id].body
	}
	texts := textsFrom(s.reader)
	bodies, err := texts.bodies(ctx, hashes)
	if err != nil {
		return err
	}
	details, err := texts.details(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		v := pool[id]
		if !next.ExampleMayGo(j.Name, v.domain) {
			continue
		}
		t := bodies[v.body].Trace
		e, ok := j.Example(&t, raw(details[id].Report), judge.Settled{Label: v.label, Confirmed: v.confirmed})
		if !ok {
			continue
		}
		e.Evaluation, e.TraceID, e.Cluster, e.Domain, e.Output = id, v.traceID, v.cluster, v.domain, judge.HashText(t.Output)
		e.Label = v.label
		if pick.Offer(e) {
			*usable++
		}
	}
	return nil
}

// settledEvaluation is one whose result people settled for good.
type settledEvaluation struct {
	id, traceID, cluster, domain, body string
	label                              string
	confirmed                          bool // it is the judge's own result
}

// settledOf are the evaluations of a judge that a person decided, of traces as they
// are now, without any whose trace or cluster is in a review that is not over, of
// whatever judge, and without traces on which people settled different labels.
func settledOf(ctx context.Context, q querier, projectID, judgeName string) (map[string]settledEvaluation, error) {
	type place struct{ trace, cluster string }
	open, err := collect(ctx, q, func(r *sql.Rows, v *place) error { return r.Scan(&v.trace, &v.cluster) }, `
SELECT r.external_id, tr.cluster FROM reviews r JOIN traces tr ON tr.id = r.trace_id
WHERE r.project_id = ? AND r.state IN ('open', 'claimed', 'adjudication')`, projectID)
	if err != nil {
		return nil, err
	}
	traces, clusters := map[string]bool{}, map[string]bool{}
	for _, o := range open {
		traces[o.trace] = true
		if o.cluster != "" {
			clusters[o.cluster] = true
		}
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *settledEvaluation) error {
		return r.Scan(&v.id, &v.traceID, &v.cluster, &v.domain, (*digest)(&v.body), &v.label, &v.confirmed)
	}, `
SELECT e.id, tr.external_id, tr.cluster, tr.domain, tr.body_hash, e.result_label, e.result_label = e.label AND e.result_verdict = e.verdict
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
WHERE e.project_id = ? AND e.judge = ? AND e.status = 'final' AND e.result_source IN ('human', 'adjudication')
    AND e.result_label <> '' AND tr.current`, projectID, judgeName)
	if err != nil {
		return nil, err
	}
	label, disputed := map[string]string{}, map[string]bool{}
	for _, v := range rows {
		if before, known := label[v.traceID]; known && before != v.label {
			disputed[v.traceID] = true
		}
		label[v.traceID] = v.label
	}
	pool := map[string]settledEvaluation{}
	for _, v := range rows {
		if !traces[v.traceID] && !clusters[v.cluster] && !disputed[v.traceID] {
			pool[v.id] = v
		}
	}
	return pool, nil
}

// keepDraws stores the draws of the policy that a project has now. false: since
// they were drawn one of their traces came into review, or its label changed.
func (t *tx) keepDraws(ctx context.Context, a Actor, p Project, draws []ExampleDraw) (bool, error) {
	for _, d := range draws {
		pool, err := settledOf(ctx, t, p.ID, d.Judge)
		if err != nil {
			return false, err
		}
		ids := []string{}
		for _, e := range d.Examples {
			if v, still := pool[e.Evaluation]; !still || v.traceID != e.TraceID || v.cluster != e.Cluster || v.label != e.Label {
				return false, nil
			}
			ids = append(ids, e.Evaluation)
		}
		if _, err := t.exec(ctx, `INSERT INTO example_draws (project_id, judge, policy_version, settled, usable) VALUES (?, ?, ?, ?, ?)`,
			p.ID, d.Judge, p.Policy.Version, d.Settled, d.Usable); err != nil {
			return false, err
		}
		for i, e := range d.Examples {
			body, err := json.Marshal(e)
			if err != nil {
				return false, err
			}
			if _, err := t.exec(ctx, `
INSERT INTO drawn_examples (project_id, judge, policy_version, position, evaluation_id, trace_id, cluster, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				p.ID, d.Judge, p.Policy.Version, i+1, e.Evaluation, e.TraceID, e.Cluster, string(body)); err != nil {
				return false, err
			}
		}
		t.audit(event{project: p.Name, actor: a, action: "examples.drawn", subject: "judge:" + d.Judge,
			data: map[string]any{"policy_version": p.Policy.Version, "settled": d.Settled, "usable": d.Usable, "evaluations": ids}})
	}
	return true, nil
}
