package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
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
	prepared, err := prepareImport(items, used, p.Policy)
	if err != nil {
		return nil, err
	}
	stored, err := s.storedHashes(ctx, p.ID, prepared)
	if err != nil {
		return nil, err
	}
	fresh := func(in incoming) bool { return stored[in.trace.ID] != in.hashes.Trace }
	if err := packImport(items, prepared, fresh, func(b traceBody) (*pack.Dictionary, error) {
		samples := append([]string{b.json}, b.sources...)
		return s.dictionary(ctx, family{"trace", p.ID}, samples...)
	}); err != nil {
		return nil, err
	}
	err = s.writeAlone(ctx, func(t *tx) error {
		done = make([]Imported, 0, len(prepared))
		m := newImporter(t, a, p)
		if err := m.readKnown(ctx, prepared); err != nil {
			return err
		}
		for i, in := range prepared {
			one, err := m.add(ctx, in)
			if err != nil {
				return &ItemError{Index: i, ID: in.trace.ID, Err: err}
			}
			done = append(done, one)
		}
		if err := m.store(ctx); err != nil {
			return err
		}
		return m.settle(ctx)
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// importer is one ImportTraces call inside its transaction. It reads what is
// known of all the traces at once, notes what is new, and stores it table by
// table.
type importer struct {
	t        *tx
	actor    Actor
	project  Project
	lane     int                 // of what it queues; 0 goes first
	runs     map[string]string   // id by name
	current  map[string]current  // the newest revisions, by the file's id
	noted    map[string]bool     // rows of traces that are new
	planned  map[planKey]bool    // evaluations there are
	known    map[labelKey]bool   // imported labels there are
	inRun    map[memberKey]bool  // which traces are in which run
	labelled map[string][]string // traces with new labels, by judge
	settled  []tracedJudge       // new adjudicated labels

	texts, traces, members, evaluations, labels *bulk
}

type tracedJudge struct{ traceID, judge string }

// current is the newest revision of a trace.
type current struct {
	id, hash string
	revision int
}

// planKey is an evaluation of a trace; labelKey a label that came with it;
// memberKey a trace in a run.
type (
	memberKey struct{ runID, traceID string }
	planKey   struct {
		traceID  string
		identity int64
	}
	labelKey struct{ traceID, judge, reviewer, hash string }
)

func newImporter(t *tx, a Actor, p Project) *importer {
	return &importer{
		t: t, actor: a, project: p,
		runs: map[string]string{}, current: map[string]current{}, noted: map[string]bool{},
		planned: map[planKey]bool{}, known: map[labelKey]bool{}, inRun: map[memberKey]bool{},
		labelled: map[string][]string{},
		texts:    newTexts(),
		traces: newBulk("traces", "", "id", "project_id", "external_id", "revision", "current", "content_hash", "candidate_hash",
			"reference_hash", "domain", "stakes", "language", "title", "cluster", "body_hash", "created_at"),
		members: newBulk("run_traces", " ON CONFLICT (run_id, trace_id) DO NOTHING", "run_id", "trace_id"),
		evaluations: newBulk("evaluations", "", "id", "project_id", "trace_id", "judge", "prompt_version", "engine", "model", "identity",
			"judgment_body", "status", "refused_field", "error", "created_at", "endpoint", "samples", "run_id", "lane"),
		labels: newBulk("labels", "", "id", "project_id", "trace_id", "judge", "source", "content_hash", "reviewer", "prompt_version",
			"first_verdict", "first_label", "verdict", "label", "abstained", "findings", "comment", "adjudicated", "verdict_visible",
			"stratum", "inclusion_probability", "cluster", "labelled_at"),
	}
}

// store writes what was noted, what others refer to first.
func (m *importer) store(ctx context.Context) error {
	for _, rows := range []*bulk{m.texts, m.traces, m.members, m.evaluations, m.labels} {
		if err := rows.write(ctx, m.t); err != nil {
			return err
		}
	}
	return nil
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
		if id := m.plan(traceID, m.runs[in.trace.Run], p); id != "" {
			queued = append(queued, id)
		}
	}
	one.Evaluations = len(queued)
	for _, l := range in.labels {
		if m.label(traceID, in.trace.Cluster, l) {
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
		if m.noted[was.id] { // the call has the trace twice: the row to change must be there
			if err := m.store(ctx); err != nil {
				return "", one, err
			}
		}
		if _, err := m.t.exec(ctx, `UPDATE traces SET current = FALSE WHERE id = ?`, was.id); err != nil {
			return "", one, err
		}
	}
	if in.texts == nil { // it was stored with this content just before, and has another since
		body, err := newTraceBody(in.trace)
		if err != nil {
			return "", one, err
		}
		in.texts = body.texts(nil)
	}
	one.Revision++
	id = m.t.newID()
	m.noted[id] = true
	m.t.holdNew(id)
	m.current[in.trace.ID] = current{id, in.hashes.Trace, one.Revision}
	for _, x := range in.texts {
		m.texts.addText(x)
	}
	m.traces.add(id, m.project.ID, in.trace.ID, one.Revision, true, digest(in.hashes.Trace), digest(in.hashes.Candidate),
		digest(in.hashes.Reference), in.trace.Domain, string(in.trace.Stakes), traceLanguage(in.trace), in.title, in.trace.Cluster, digest(in.texts[0].hash), m.t.now)
	return id, one, nil
}

func (m *importer) addToRun(ctx context.Context, traceID, name string) error {
	if name == "" {
		return nil
	}
	id, ok := m.runs[name]
	if !ok {
		var err error
		if id, err = m.t.ensureRun(ctx, m.project, name); err != nil {
			return err
		}
		m.runs[name] = id
	}
	if key := (memberKey{id, traceID}); !m.inRun[key] {
		m.inRun[key] = true
		m.members.add(id, traceID)
		m.t.recountRun(id, traceID)
	}
	return nil
}

// plan queues an evaluation that a run pays for, or stores it as refused. The id
// is empty when the same evaluation is there already.
func (m *importer) plan(traceID, runID string, p incomingPlan) (id string) {
	key := planKey{traceID, p.identity}
	if m.planned[key] {
		return ""
	}
	m.planned[key] = true
	status := judge.Queued
	if p.Refused() {
		status = judge.Refused
	}
	id = m.t.newID()
	if p.judgment.packed.Body == nil { // a new report on a trace that was known
		p.judgment = newText(p.report, nil)
	}
	m.texts.addText(p.judgment)
	m.evaluations.add(id, m.project.ID, traceID, p.Judge, p.PromptVersion, p.Engine, p.Model, p.identity, digest(p.judgment.hash),
		string(status), p.RefusedField, p.Message, m.t.now, p.Endpoint, samples(p.Planned),
		sql.NullString{String: runID, Valid: runID != ""}, m.lane)
	m.t.tally(m.project.ID, tallyStatus, string(status), 1)
	m.t.tally(m.project.ID, tallyUse, useName(p.Planned), 1)
	m.t.recountNew(m.project.ID, traceID, id, p.Judge, status)
	return id
}

// label notes a label unless it is there already.
func (m *importer) label(traceID, cluster string, l incomingLabel) (added bool) {
	key := labelKey{traceID, l.Judge, l.Reviewer, l.hash}
	if m.known[key] {
		return false
	}
	m.known[key] = true
	at := l.at
	if at.IsZero() {
		at = m.t.now
	}
	visible, id := l.Blind != nil && !*l.Blind, m.t.newID()
	m.labels.add(id, m.project.ID, traceID, l.Judge, "imported", l.hash, l.Reviewer, "",
		string(l.Verdict), l.Label, string(l.Verdict), l.Label, l.abstained, l.findings, l.Comment, l.Adjudicated, visible,
		l.Stratum, l.InclusionProbability, cluster, at)
	m.t.recountLabel(traceID, id)
	m.labelled[l.Judge] = append(m.labelled[l.Judge], traceID)
	if l.Adjudicated {
		m.settled = append(m.settled, tracedJudge{traceID, l.Judge})
	}
	return true
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
