package main

import (
	"context"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// liveJudges is a project's harness as it is now: a running server must not go
// on with the definitions it started with once somebody imported others.
type liveJudges struct {
	db      *store.Store
	project string
	rebuild func(context.Context) (*harness.Harness, error)

	mu    sync.Mutex
	stamp string
	now   *harness.Harness
}

// newLiveJudges begins with the harness that was built last.
func newLiveJudges(ctx context.Context, db *store.Store, project string, h *harness.Harness, rebuild func(context.Context) (*harness.Harness, error)) (*liveJudges, error) {
	stamp, err := db.JudgesStamp(ctx, project)
	return &liveJudges{db: db, project: project, rebuild: rebuild, stamp: stamp, now: h}, err
}

// current is the harness with the judges that the project uses now.
func (l *liveJudges) current(ctx context.Context) (*harness.Harness, error) {
	stamp, err := l.db.JudgesStamp(ctx, l.project)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if stamp == l.stamp {
		return l.now, nil
	}
	h, err := l.rebuild(ctx)
	if err != nil {
		return nil, err
	}
	l.stamp, l.now = stamp, h
	return h, nil
}

// definition finds the judge that an evaluation was planned with: that version
// of it, even when the project has gone on to another. A recorded report has no
// version of ours; the present one reads it. Nil: the project never had it.
func (l *liveJudges) definition(ctx context.Context, p judge.Planned) (*judge.Judge, error) {
	h, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	if j, ok := h.Judge(p.Judge); ok && (p.Engine == judge.EngineRecorded || j.PromptVersion == p.PromptVersion) {
		return j, nil
	}
	stored, err := l.db.Judges(ctx, l.project)
	if err != nil {
		return nil, err
	}
	for _, s := range stored {
		if s.Name != p.Judge || s.PromptVersion != p.PromptVersion || s.Builtin {
			continue
		}
		j, err := judge.ParseDefinition(s.Name+" (of project "+l.project+")", []byte(s.Definition))
		if err != nil {
			return nil, err
		}
		return &j, nil
	}
	return nil, nil
}
