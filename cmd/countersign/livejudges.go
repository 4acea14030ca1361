package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// liveJudges is a project's harness as it is now: a running server must not go
// on with the definitions and the policy it started with once somebody changed
// them.
type liveJudges struct {
	db      *store.Store
	project string
	log     *slog.Logger
	rebuild func(context.Context, store.Project) (*harness.Harness, error)

	mu    sync.Mutex
	stamp string // of the judges and the policy that now was built from
	now   *harness.Harness
}

// replace begins with a harness that was just built.
func (l *liveJudges) replace(ctx context.Context, h *harness.Harness) (*harness.Harness, error) {
	_, stamp, err := l.stored(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stamp, l.now = stamp, h
	return h, err
}

// current is the harness with the judges and the policy that the project uses
// now.
func (l *liveJudges) current(ctx context.Context) (*harness.Harness, error) {
	project, stamp, err := l.stored(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != nil && stamp == l.stamp {
		return l.now, nil
	}
	h, err := l.rebuild(ctx, project)
	if err != nil {
		return nil, err
	}
	l.stamp, l.now = stamp, h
	return h, nil
}

// policyNow is the project's policy.
func (l *liveJudges) policyNow(ctx context.Context) (judge.Policy, error) {
	p, err := l.db.ProjectNamed(ctx, l.project)
	return p.Policy, err
}

// stored is the project with a text that changes when its judges or its policy
// do.
func (l *liveJudges) stored(ctx context.Context) (project store.Project, stamp string, err error) {
	if project, err = l.db.ProjectNamed(ctx, l.project); err != nil {
		return project, "", err
	}
	judges, err := l.db.JudgesStamp(ctx, l.project)
	return project, fmt.Sprintf("%d %s", project.Policy.Version, judges), err
}

// definition finds the judge that an evaluation was planned with: that version
// of it, even when the project has gone on to another. A recorded report has no
// version of ours; the present one reads it.
//
// Nil: there is nothing here to judge with. The project never had that judge, its
// definition can't be read, or it is an older version of a built-in judge, whose
// checks are code that this program does not have. One that differs by its drawn
// examples only has the same code. It is never judged by another
// version: the harness says so, and a person decides.
func (l *liveJudges) definition(ctx context.Context, p judge.Planned) (*judge.Judge, error) {
	h, err := l.current(ctx)
	if err != nil {
		return nil, err
	}
	if j, ok := h.Judge(p.Judge); ok {
		if p.Engine == judge.EngineRecorded {
			return j, nil
		}
		if j, err := drawnVersion(ctx, l.db, l.project, j, p.PromptVersion); j != nil || err != nil {
			return j, err
		}
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
		if err != nil { // one project's bad definition must not stop the work of all
			l.log.Error("a stored definition can't be read; what was planned with it can't be judged", "project", l.project, "judge", s.Name, "error", err)
			return nil, nil
		}
		return &j, nil
	}
	return nil, nil
}
