package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
	"github.com/countersign/countersign/store"
)

// project opens the database; nil when there is none and nobody named one. One that
// was named and is not there is bad usage.
func (c gateCmd) project(ctx context.Context, s *state) (*store.Store, error) {
	named := false
	for _, flag := range []string{"data", "database-url", "database-url-file"} {
		named = named || s.byName[flag]
	}
	if !named {
		there, err := c.exists(ctx, s)
		if err != nil || !there {
			return nil, err
		}
	}
	return c.openExisting(ctx, s)
}

// before is the baseline: a file where there is one of this name, else a run of the
// project. nil: none is asked for.
func (c gateCmd) before(ctx context.Context, s *state, o release.Options) (*release.Baseline, error) {
	if c.Baseline == "" {
		return nil, nil
	}
	if info, err := os.Stat(c.Baseline); err == nil && !info.IsDir() {
		return readBaseline(ctx, c.Baseline, c.MaxLine, o)
	}
	db, err := c.project(ctx, s)
	if err != nil {
		return nil, err
	}
	if db == nil {
		return nil, usagef("--baseline %s is no file, and there is no project whose run it could be: name a file of evaluations, or the data with --data", c.Baseline)
	}
	b := release.NewBaseline(c.Baseline, "run", o)
	err = db.EachEvaluation(ctx, s.operator(), store.EvaluationFilter{Project: c.Project, Run: c.Baseline}, func(e judge.Evaluation) error {
		b.Add(e)
		return stopped(ctx)
	})
	missing := errors.Is(err, store.ErrNotFound)
	if closed := db.Close(); missing || err == nil && b.Len() == 0 {
		return nil, errors.Join(usagef("--baseline %s is no file, and there is no run of this name with evaluations in project %s", c.Baseline, c.Project), closed)
	} else if err = errors.Join(err, closed); err != nil {
		return nil, err
	}
	return b, nil
}

// readBaseline reads evaluations, one a line, as judge and export write them.
func readBaseline(ctx context.Context, path string, maxLine int, o release.Options) (*release.Baseline, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usageError{err}
	}
	defer f.Close() //nolint:errcheck // nothing was written
	b := release.NewBaseline(path, "file", o)
	lines := bufio.NewReaderSize(f, 64<<10)
	for n := 1; ; n++ {
		if err := stopped(ctx); err != nil {
			return nil, err
		}
		line, err := boundedLine(lines, maxLine)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, usagef("%s:%d: %w", path, n, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var e judge.Evaluation
			if err := json.Unmarshal(text, &e); err != nil {
				return nil, usagef("%s:%d: is no evaluation as countersign judge and export write them: %w", path, n, err)
			}
			if e.TraceID == "" || e.Judge == "" || e.Status == "" {
				return nil, usagef("%s:%d: has no trace_id, judge or status, so it is no evaluation as countersign judge and export write them", path, n)
			}
			b.Add(e)
		}
		if err != nil {
			break
		}
	}
	if b.Len() == 0 {
		return nil, usagef("--baseline %s holds no evaluation", path)
	}
	return b, nil
}

// boundedLine reads a line with its end. An evaluation holds no trace, so it is not
// longer than the longest line of traces may be.
func boundedLine(r *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > most {
			return nil, fmt.Errorf("the line is longer than %s bytes: allow more with --max-line", thousands(most))
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
