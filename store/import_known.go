package store

import (
	"context"
	"database/sql"
)

// storedHashes are those of the newest revisions that there are of the traces,
// by the file's id. They say what need not be packed: an import that goes on
// after it was cut, or is done again, is mostly that.
func (s *Store) storedHashes(ctx context.Context, projectID string, prepared []incoming) (map[string]string, error) {
	ids := make([]string, len(prepared))
	for i, in := range prepared {
		ids[i] = in.trace.ID
	}
	stored := make(map[string]string, len(ids))
	err := inBatches(distinct(ids), func(batch []string) error {
		type named struct{ id, hash string }
		found, err := collect(ctx, s.reader, func(r *sql.Rows, n *named) error { return r.Scan(&n.id, (*digest)(&n.hash)) }, `
SELECT tr.external_id, tr.content_hash FROM traces tr
WHERE tr.project_id = ? AND tr.external_id IN (`+placeholders(len(batch))+`) AND tr.current`, append([]any{projectID}, anys(batch)...)...)
		for _, n := range found {
			stored[n.id] = n.hash
		}
		return err
	})
	return stored, err
}

// readKnown reads what there is of the traces. They are held, so that another
// import of the same ones waits and finds them.
func (m *importer) readKnown(ctx context.Context, prepared []incoming) error {
	ids := make([]string, len(prepared))
	for i, in := range prepared {
		ids[i] = in.trace.ID
	}
	type named struct {
		externalID string
		current
	}
	var traces []string
	if err := inBatches(distinct(ids), func(batch []string) error {
		found, err := collect(ctx, m.t, func(r *sql.Rows, n *named) error {
			return r.Scan(&n.externalID, &n.id, (*digest)(&n.hash), &n.revision)
		}, `
SELECT tr.external_id, tr.id, tr.content_hash, tr.revision FROM traces tr
WHERE tr.project_id = ? AND tr.external_id IN (`+placeholders(len(batch))+`) AND tr.current ORDER BY tr.id`+m.t.engine.forUpdate("tr"),
			append([]any{m.project.ID}, anys(batch)...)...)
		for _, n := range found {
			m.current[n.externalID] = n.current
			traces = append(traces, n.id)
		}
		return err
	}); err != nil {
		return err
	}
	return inBatches(traces, func(batch []string) error {
		in := placeholders(len(batch))
		plans, err := collect(ctx, m.t, func(r *sql.Rows, k *planKey) error { return r.Scan(&k.traceID, &k.identity) },
			`SELECT e.trace_id, e.identity FROM evaluations e WHERE e.trace_id IN (`+in+`)`, anys(batch)...)
		if err != nil {
			return err
		}
		for _, k := range plans {
			m.planned[k] = true
		}
		labels, err := collect(ctx, m.t, func(r *sql.Rows, k *labelKey) error { return r.Scan(&k.traceID, &k.judge, &k.reviewer, &k.hash) },
			`SELECT l.trace_id, l.judge, l.reviewer, l.content_hash FROM labels l WHERE l.source = 'imported' AND l.trace_id IN (`+in+`)`, anys(batch)...)
		if err != nil {
			return err
		}
		for _, k := range labels {
			m.known[k] = true
		}
		members, err := collect(ctx, m.t, func(r *sql.Rows, k *memberKey) error { return r.Scan(&k.runID, &k.traceID) },
			`SELECT rt.run_id, rt.trace_id FROM run_traces rt WHERE rt.trace_id IN (`+in+`)`, anys(batch)...)
		for _, k := range members {
			m.inRun[k] = true
		}
		return err
	})
}
