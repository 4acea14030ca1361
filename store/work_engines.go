package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/countersign/countersign/judge"
)

// mostWaiting is how far work that waits for an engine is counted.
const mostWaiting = 1000

// EngineWait is queued work of a project for one engine.
type EngineWait struct {
	Engine   string
	Endpoint string // by its name; empty: the default one
	N        int    // evaluations, counted up to 1000
	More     bool   // there are more than N
}

// WaitFilter picks the work that is looked at.
type WaitFilter struct {
	Project string
	Run     string // by its name; empty: all of the project
	// Here are the engines that the asker has, each a Planned.EngineKey.
	Here []string
}

// WaitingElsewhere lists the queued work for engines that the asker does not have,
// so that somebody learns that it waits for another server. Roles: all.
func (s *Store) WaitingElsewhere(ctx context.Context, a Actor, f WaitFilter) (waits []EngineWait, err error) {
	defer wrap(&err, "look for work of project %q that waits for other engines", f.Project)
	if err := s.authorise(ctx, a, everyone, "project.read", "project:"+f.Project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, f.Project)
	if err != nil {
		return nil, err
	}
	all, err := openEngines(ctx, s.reader)
	if err != nil {
		return nil, err
	}
	for _, key := range all {
		if slices.Contains(f.Here, key) {
			continue
		}
		w := EngineWait{}
		w.Engine, w.Endpoint = judge.EngineOfKey(key)
		of, args := ``, []any{w.Engine, w.Endpoint, p.ID}
		if f.Run != "" {
			of = ` AND EXISTS (SELECT 1 FROM runs r JOIN run_traces rt ON rt.run_id = r.id WHERE r.project_id = e.project_id AND r.name = ? AND rt.trace_id = e.trace_id)`
			args = append(args, f.Run)
		}
		err := s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM (SELECT 1 FROM evaluations e
    WHERE e.engine = ? AND e.endpoint = ? AND e.project_id = ? AND e.status = 'queued' AND `+openWork+of+` LIMIT ?) w`,
			append(args, mostWaiting+1)...).Scan(&w.N)
		if err != nil {
			return nil, err
		}
		if w.More = w.N > mostWaiting; w.More {
			w.N = mostWaiting
		}
		if w.N > 0 {
			waits = append(waits, w)
		}
	}
	return waits, nil
}

// openEngines are the engines for which there is work, each a Planned.EngineKey:
// one step of the index each, however much there is.
func openEngines(ctx context.Context, q querier) (keys []string, err error) {
	var last judge.Planned
	for {
		err := q.QueryRowContext(ctx, `
SELECT e.engine, e.endpoint FROM evaluations e WHERE (e.engine, e.endpoint) > (?, ?) AND `+openWork+`
ORDER BY e.engine, e.endpoint LIMIT 1`, last.Engine, last.Endpoint).Scan(&last.Engine, &last.Endpoint)
		if errors.Is(err, sql.ErrNoRows) {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		keys = append(keys, last.EngineKey())
	}
}
