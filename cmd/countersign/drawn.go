package main

import (
	"context"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// withDrawn gives judges the examples that were drawn for them under the project's
// present policy, in place.
func withDrawn(ctx context.Context, db *store.Store, project string, judges []judge.Judge) error {
	draws, err := db.ExampleDraws(ctx, project)
	if err != nil {
		return err
	}
	for _, d := range draws {
		for i := range judges {
			if judges[i].Name == d.Judge {
				judges[i] = judges[i].WithExamples(d.Examples)
			}
		}
	}
	return nil
}

// drawnVersion is a version of the judge that differs by its drawn examples at
// most: its code and its template are the same. Nil: the version is none of these.
func drawnVersion(ctx context.Context, db *store.Store, project string, j *judge.Judge, version string) (*judge.Judge, error) {
	if known := j.VersionOf(version); known != nil || j.ExamplesIn == "" {
		return known, nil
	}
	earlier, err := db.EarlierExamples(ctx, project, j.Name)
	return j.VersionOf(version, earlier...), err
}
