package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/countersign/countersign/judge"
)

// ImportItem is a trace and the evaluations it gets.
type ImportItem struct {
	Trace judge.Trace
	Plan  []judge.Planned
}

// Imported says what an item became. Exactly one of Created, Revised and
// Unchanged holds.
type Imported struct {
	Created   bool // the id was new
	Revised   bool // the id was known with other content
	Unchanged bool // the id was known with the same content
	Revision  int
	// Labels and Evaluations count what is new, queued or refused; an
	// unchanged trace may bring new ones.
	Labels      int
	Evaluations int
}

// ImportTraces stores traces with their labels and queues their evaluations,
// in one transaction: all of the call or nothing. It is idempotent. Callers
// give some 200 items at a time. A bad item is an *ItemError. Roles: lead,
// admin.
func (s *Store) ImportTraces(ctx context.Context, a Actor, project string, items []ImportItem) (done []Imported, err error) {
	defer wrap(&err, "import into project %q", project)
	if err := s.authorise(ctx, a, leads, "trace.imported", "project:"+project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	used, err := s.judgesInUse(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	prepared, err := prepareImport(items, used)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, func(t *tx) error {
		done = make([]Imported, 0, len(prepared))
		m := importer{t: t, actor: a, project: p, runs: map[string]string{}, current: map[string]current{}, labelled: map[string][]string{}}
		if err := m.readCurrent(ctx, prepared); err != nil {
			return err
		}
		for i, in := range prepared {
			one, err := m.add(ctx, in)
			if err != nil {
				return &ItemError{Index: i, ID: in.trace.ID, Err: err}
			}
			done = append(done, one)
		}
		return m.settle(ctx)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// importer is one ImportTraces call inside its transaction.
type importer struct {
	t        *tx
	actor    Actor
	project  Project
	runs     map[string]string   // id by name
	current  map[string]current  // the newest revisions, by the file's id
	labelled map[string][]string // traces with new labels, by judge
	settled  []tracedJudge       // new adjudicated labels
}

type tracedJudge struct{ traceID, judge string }

// current is the newest revision of a trace.
type current struct {
	id, hash string
	revision int
}

// readCurrent reads what is known of all the traces at once.
func (m *importer) readCurrent(ctx context.Context, prepared []incoming) error {
	ids := make([]string, len(prepared))
	for i, in := range prepared {
		ids[i] = in.trace.ID
	}
	type named struct {
		externalID string
		current
	}
	return inBatches(distinct(ids), func(batch []string) error {
		found, err := collect(ctx, m.t, func(r *sql.Rows, n *named) error { return r.Scan(&n.externalID, &n.id, &n.hash, &n.revision) }, `
SELECT external_id, id, content_hash, revision FROM traces
WHERE project_id = ? AND external_id IN (`+placeholders(len(batch))+`) AND current`, append([]any{m.project.ID}, anys(batch)...)...)
		for _, n := range found {
			m.current[n.externalID] = n.current
		}
		return err
	})
}

func (m *importer) add(ctx context.Context, in incoming) (Imported, error) {
	traceID, one, err := m.revision(ctx, in)
	if err != nil {
		return one, err
	}
	if err := m.addToRun(ctx, traceID, in.trace.Run); err != nil {
		return one, err
	}
	var queued []string
	for _, p := range in.plan {
		id, err := m.plan(ctx, traceID, p)
		if err != nil {
			return one, err
		}
		if id != "" {
			queued = append(queued, id)
		}
	}
	one.Evaluations = len(queued)
	for _, l := range in.labels {
		added, err := m.label(ctx, traceID, in.trace.Cluster, l)
		if err != nil {
			return one, err
		}
		if added {
			one.Labels++
		}
	}
	m.record(traceID, in, one, queued)
	return one, nil
}

// record writes the audit events of one item, none when nothing changed.
func (m *importer) record(traceID string, in incoming, one Imported, queued []string) {
	e := event{project: m.project.Name, actor: m.actor, subject: "trace:" + traceID}
	switch {
	case !one.Unchanged:
		e.action = "trace.imported"
		e.data = map[string]any{"external_id": in.trace.ID, "revision": one.Revision, "hash": in.hashes.Trace,
			"run": in.trace.Run, "evaluations": queued}
		m.t.audit(e)
	case len(queued) > 0:
		e.action = "evaluation.queued"
		e.data = map[string]any{"external_id": in.trace.ID, "revision": one.Revision, "evaluations": queued}
		m.t.audit(e)
	}
	if one.Labels > 0 {
		e.action = "labels.imported"
		e.data = map[string]any{"external_id": in.trace.ID, "labels": one.Labels}
		m.t.audit(e)
	}
}

// revision finds the trace's row or makes a new one.
func (m *importer) revision(ctx context.Context, in incoming) (id string, one Imported, err error) {
	was, known := m.current[in.trace.ID]
	one.Revision = was.revision
	switch {
	case !known:
		one.Created = true
	case was.hash == in.hashes.Trace:
		one.Unchanged = true
		return was.id, one, nil
	default:
		one.Revised = true
		if _, err := m.t.exec(ctx, `UPDATE traces SET current = FALSE WHERE id = ?`, was.id); err != nil {
			return "", one, err
		}
	}
	one.Revision++
	id = m.t.newID()
	m.t.holdNew(id)
	m.current[in.trace.ID] = current{id, in.hashes.Trace, one.Revision}
	if err := m.t.putText(ctx, in.body); err != nil {
		return "", one, err
	}
	_, err = m.t.exec(ctx, `
INSERT INTO traces (id, project_id, external_id, revision, current, content_hash, candidate_hash, reference_hash,
    domain, stakes, title, cluster, body_hash, created_at)
VALUES (?, ?, ?, ?, TRUE, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, m.project.ID, in.trace.ID, one.Revision, in.hashes.Trace, in.hashes.Candidate, in.hashes.Reference,
		in.trace.Domain, string(in.trace.Stakes), in.title, in.trace.Cluster, in.body.hash, m.t.now)
	return id, one, err
}

func (m *importer) addToRun(ctx context.Context, traceID, name string) error {
	if name == "" {
		return nil
	}
	id, ok := m.runs[name]
	if !ok {
		if _, err := m.t.exec(ctx, `INSERT INTO runs (id, project_id, name, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (project_id, name) DO NOTHING`,
			m.t.newID(), m.project.ID, name, m.t.now); err != nil {
			return err
		}
		if err := m.t.scan(ctx, `SELECT id FROM runs WHERE project_id = ? AND name = ?`, []any{m.project.ID, name}, []any{&id}); err != nil {
			return err
		}
		m.runs[name] = id
	}
	added, err := m.t.changed(ctx, `INSERT INTO run_traces (run_id, trace_id) VALUES (?, ?) ON CONFLICT (run_id, trace_id) DO NOTHING`, id, traceID)
	if added > 0 {
		m.t.recountRun(id, traceID)
	}
	return err
}

// plan queues an evaluation, or stores it as refused. The id is empty when the
// same evaluation is there already.
func (m *importer) plan(ctx context.Context, traceID string, p incomingPlan) (id string, err error) {
	status := judge.Queued
	if p.Refused() {
		status = judge.Refused
	}
	id = m.t.newID()
	added, err := m.t.changed(ctx, `
INSERT INTO evaluations (id, project_id, trace_id, judge, prompt_version, engine, model, judgment_hash, judgment_body,
    status, refused_field, error, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (trace_id, judge, prompt_version, engine, model, judgment_hash) DO NOTHING`,
		id, m.project.ID, traceID, p.Judge, p.PromptVersion, p.Engine, p.Model, p.judgment.hash, p.judgment.hash,
		string(status), p.RefusedField, p.Message, m.t.now)
	if err != nil || added == 0 {
		return "", err
	}
	m.t.tally(m.project.ID, tallyStatus, string(status), 1)
	m.t.recountNew(m.project.ID, traceID, id, p.Judge, status)
	return id, m.t.putText(ctx, p.judgment)
}

// label stores a label unless it is there already.
func (m *importer) label(ctx context.Context, traceID, cluster string, l incomingLabel) (added bool, err error) {
	at := l.at
	if at.IsZero() {
		at = m.t.now
	}
	visible, id := l.Blind != nil && !*l.Blind, m.t.newID()
	n, err := m.t.changed(ctx, `
INSERT INTO labels (id, project_id, trace_id, judge, source, content_hash, reviewer, prompt_version,
    first_verdict, first_label, verdict, label, abstained, findings, comment, adjudicated, verdict_visible,
    stratum, inclusion_probability, cluster, labelled_at)
VALUES (?, ?, ?, ?, 'imported', ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (trace_id, judge, source, reviewer, content_hash) DO NOTHING`,
		id, m.project.ID, traceID, l.Judge, l.hash, l.Reviewer,
		string(l.Verdict), l.Label, string(l.Verdict), l.Label, l.abstained, l.findings, l.Comment, l.Adjudicated, visible,
		l.Stratum, l.InclusionProbability, cluster, at)
	if err != nil || n == 0 {
		return false, err
	}
	m.t.recountLabel(traceID, id)
	m.labelled[l.Judge] = append(m.labelled[l.Judge], traceID)
	if l.Adjudicated {
		m.settled = append(m.settled, tracedJudge{traceID, l.Judge})
	}
	return true, nil
}

// settle brings in step what rests on labels: the consensus, and evaluations
// that an adjudicated label decides.
func (m *importer) settle(ctx context.Context) error {
	// All at once, in order: two imports must not wait for each other crosswise.
	if err := m.t.lockRecounted(ctx); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(m.labelled)) {
		traces := m.labelled[name]
		if err := recomputeConsensus(ctx, m.t, m.project.ID, name, traces); err != nil {
			return err
		}
	}
	for _, s := range m.settled {
		if err := m.t.settleByLabel(ctx, m.actor, m.project, s); err != nil {
			return err
		}
	}
	return nil
}
