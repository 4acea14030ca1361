package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// maxPlanned bounds what is planned for one trace at once.
const maxPlanned = 100

// QueueEvaluations queues more evaluations of a trace that is there: its current
// revision, by the file's id. It gives the ids of those that are new; what is
// there already is not judged again. The trace's newest run pays. The engine
// recorded can't be asked for: reports come with traces. Roles: lead, admin.
func (s *Store) QueueEvaluations(ctx context.Context, a Actor, project, externalID string, plan []judge.Planned) (ids []string, err error) {
	defer wrap(&err, "queue evaluations of trace %q of project %q", externalID, project)
	if err := s.authorise(ctx, a, leads, "evaluation.queued", "project:"+project); err != nil {
		return nil, err
	}
	if len(plan) == 0 || len(plan) > maxPlanned {
		return nil, invalid("plan", "has %d evaluations: it has 1 to %d", len(plan), maxPlanned)
	}
	for _, p := range plan {
		if p.Engine == judge.EngineRecorded {
			return nil, invalid("engine", "is recorded: recorded reports come with a trace")
		}
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, func(t *tx) error {
		m := newImporter(t, a, p)
		if err := m.readKnown(ctx, []incoming{{trace: judge.Trace{ID: externalID}}}); err != nil {
			return err
		}
		at, known := m.current[externalID]
		if !known {
			return fmt.Errorf("trace: %w", ErrNotFound)
		}
		run, err := t.newestRun(ctx, at.id)
		if err != nil {
			return err
		}
		ids = m.queueMore(externalID, at, run, plan)
		return m.store(ctx)
	})
	return ids, err
}

// queueMore plans more evaluations of a trace that is known.
func (m *importer) queueMore(externalID string, at current, run string, plan []judge.Planned) (queued []string) {
	for _, p := range plan {
		if id := m.plan(at.id, run, incomingPlan{Planned: p, identity: identity(p, "")}); id != "" {
			queued = append(queued, id)
		}
	}
	m.record(at.id, incoming{trace: judge.Trace{ID: externalID}}, Imported{Unchanged: true, Revision: at.revision}, queued)
	return queued
}

// newestRun is the id of the newest run that holds a trace; empty: none does.
func (t *tx) newestRun(ctx context.Context, traceID string) (id string, err error) {
	found, err := collect(ctx, t, scanID, `
SELECT r.id FROM run_traces rt JOIN runs r ON r.id = rt.run_id WHERE rt.trace_id = ? ORDER BY r.created_at DESC, r.id DESC LIMIT 1`, traceID)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}
