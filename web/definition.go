package web

import (
	"context"

	"github.com/countersign/countersign/judge"
)

// definition finds a judge as a page explains it: that version, else the one in
// use (a recorded report names a version that is not ours). Nil: the project
// never had a judge of that name.
func (s *Server) definition(ctx context.Context, project, name, version string) (*judge.Judge, error) {
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return nil, err
	}
	known, ok := h.Judge(name)
	if ok && version == judge.Unknown {
		return known, nil
	}
	if ok {
		if planned, err := s.drawnVersion(ctx, project, known, version); planned != nil || err != nil {
			return planned, err
		}
	}
	if exact, err := s.exactDefinition(ctx, project, name, version); exact != nil || err != nil {
		return exact, err
	}
	if ok {
		return known, nil
	}
	return nil, nil
}

// drawnVersion is a version of the judge that differs by its drawn examples at
// most. Nil: the version is none of these.
func (s *Server) drawnVersion(ctx context.Context, project string, j *judge.Judge, version string) (*judge.Judge, error) {
	if known := j.VersionOf(version); known != nil || j.ExamplesIn == "" {
		return known, nil
	}
	earlier, err := s.cfg.Store.EarlierExamples(ctx, project, j.Name)
	return j.VersionOf(version, earlier...), err
}

// exactDefinition is an own judge's version as the project keeps it. Nil: it has
// no such version, or it is a built-in judge of another program.
func (s *Server) exactDefinition(ctx context.Context, project, name, version string) (*judge.Judge, error) {
	stored, err := s.cfg.Store.Judges(ctx, project)
	if err != nil {
		return nil, err
	}
	for _, j := range stored {
		if j.Name == name && j.PromptVersion == version && !j.Builtin {
			d, err := judge.ParseDefinition(name+".yaml", []byte(j.Definition))
			return &d, err
		}
	}
	return nil, nil
}
