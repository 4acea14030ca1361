package main

import (
	"context"
	"slices"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/recorded"
	"github.com/countersign/countersign/judge/rules"
	"github.com/countersign/countersign/store"
)

// harnesses judge for every project of a database: each with its own judges and
// under its own policy as they are now, all with the same engines and key.
type harnesses struct {
	state  *state
	db     *store.Store
	shared harness.Config // what is the same for all projects

	engines  engines
	builtins []judge.Judge
	reading  bool // nothing is kept with the project

	mu        sync.Mutex
	byProject map[string]*liveJudges
}

// newHarnesses prepares judging by these engines and built-in judges.
func newHarnesses(ctx context.Context, s *state, db *store.Store, builtins []judge.Judge, e engines) (*harnesses, error) {
	e.share(db)
	key, err := secret(ctx, db, "fence_key")
	if err != nil {
		return nil, err
	}
	if err := takeOverDead(ctx, s, db); err != nil {
		return nil, err
	}
	kept := &ledger{db: db, log: s.log}
	return &harnesses{
		state: s, db: db, engines: e, builtins: builtins, byProject: map[string]*liveJudges{},
		shared: e.configure(harness.Config{
			Default: builtin.Default(), Key: key, Now: s.now, Audit: true,
			Ledger: kept, Purse: kept, Steps: kept, Breakers: &harness.Breakers{Log: s.log},
		}),
	}, nil
}

// readingHarnesses are for commands that only look at what was judged. They know
// every endpoint by its name and host, and call none. baseURL is that of the
// default one.
func readingHarnesses(ctx context.Context, s *state, db *store.Store, builtins []judge.Judge, baseURL string) (*harnesses, error) {
	key, err := secret(ctx, db, "fence_key")
	if err != nil {
		return nil, err
	}
	e := engines{all: map[string]judge.Engine{
		judge.EngineRules: rules.Engine{Markers: s.settings.markers}, judge.EngineRecorded: recorded.Engine{},
	}}
	if err := s.settings.addEndpoints(s, e.all, 1, nil); err != nil {
		return nil, err
	}
	if e.all[judge.EngineOpenAI], err = s.settings.defaultEndpoint(baseURL, "").engine(s, "", 1); err != nil {
		return nil, err
	}
	return &harnesses{
		state: s, db: db, engines: e, builtins: builtins, reading: true, byProject: map[string]*liveJudges{},
		shared: e.configure(harness.Config{Default: builtin.Default(), Key: key, Now: s.now, Audit: true}),
	}, nil
}

// with is the harness of a project to which judges are given now. They are the
// project's from here on, so that a definition that somebody imports later is
// newer than them.
func (h *harnesses) with(ctx context.Context, project store.Project, own []judge.Judge) (*harness.Harness, error) {
	built, err := h.build(ctx, project, own, nil)
	if err != nil {
		return nil, err
	}
	return h.live(project.Name).replace(ctx, built)
}

// of is the harness of a project as it is now.
func (h *harnesses) of(ctx context.Context, project string) (*harness.Harness, error) {
	return h.live(project).current(ctx)
}

// last is the harness of a project as it was built last, which claiming its work
// has just done; nil: never.
func (h *harnesses) last(project string) *harness.Harness {
	l := h.live(project)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// definition finds the judge that an evaluation of a project was planned with.
func (h *harnesses) definition(ctx context.Context, project string, p judge.Planned) (*judge.Judge, error) {
	return h.live(project).definition(ctx, p)
}

// live finds a project's, or makes it with nothing built.
func (h *harnesses) live(project string) *liveJudges {
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.byProject[project]
	if l == nil {
		l = &liveJudges{db: h.db, project: project, log: h.state.log, rebuild: func(ctx context.Context, p store.Project) (*harness.Harness, error) {
			return h.build(ctx, p, nil, func(err error) { h.state.log.Error("a judge is left out", "project", p.Name, "error", err) })
		}}
		h.byProject[project] = l
	}
	return l
}

// build makes a harness from what is stored and given, and keeps what is new.
func (h *harnesses) build(ctx context.Context, project store.Project, own []judge.Judge, unreadable func(error)) (*harness.Harness, error) {
	kept, err := projectJudges(ctx, h.db, project.Name, unreadable)
	if err != nil {
		return nil, err
	}
	if own, err = h.standing(ctx, project.Name, own); err != nil {
		return nil, err
	}
	all, err := catalogue(h.builtins, own, kept)
	if err != nil {
		return nil, err
	}
	if err := withDrawn(ctx, h.db, project.Name, all); err != nil {
		return nil, err
	}
	if !h.reading {
		if err := h.db.SaveJudges(ctx, h.state.operator(), project.Name, all); err != nil {
			return nil, err
		}
	}
	config := h.shared
	config.Judges, config.Policy = all, project.Policy
	config.Trust = (&keptTrust{db: h.db, log: h.state.log, project: project.Name}).of
	return harness.New(config)
}

// standing leaves out of the definitions given those in whose place a lead promoted
// another version, which the project keeps: they do not come back by a restart.
func (h *harnesses) standing(ctx context.Context, project string, own []judge.Judge) ([]judge.Judge, error) {
	if len(own) == 0 {
		return nil, nil
	}
	replaced, err := h.db.Superseded(ctx, project)
	return slices.DeleteFunc(slices.Clone(own), func(j judge.Judge) bool {
		is := replaced[j.Name][j.PromptVersion]
		if is {
			h.state.say("version %s of judge %s, which was given, is not used: a lead promoted another one in its place. Promote it, or change the definition", shortHash(j.PromptVersion), j.Name)
		}
		return is
	}), err
}

// forWorker is a harness for work that brings its own judge and policy along. It
// knows the built-in judges only so that it can say which version it has.
func (h *harnesses) forWorker() (*harness.Harness, error) {
	config := h.shared
	config.Judges = h.builtins
	return harness.New(config)
}
