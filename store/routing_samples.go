package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// RoutingSample is a judged evaluation with all that routing looks at, so that
// it can be routed again under another policy.
type RoutingSample struct {
	// Trace is the content without labels. Judgments holds the recorded report
	// that was judged, at Planned.Judgment, else nothing.
	Trace         judge.Trace
	Planned       judge.Planned
	Evaluation    judge.Evaluation // as stored, without its calls
	Draw          *judge.Draw      // how it came to be reviewed; nil: it did not
	PolicyVersion int              // that routed it; 0: from before this was kept
}

// SampleFilter narrows samples. Zero values mean: all.
type SampleFilter struct{ Judge, Domain, PromptVersion string }

// SampleCounts says what samples there were.
type SampleCounts struct {
	Given          int
	Sealed         int       // left out, because the verdict is still kept from the actor
	Oldest, Newest time.Time // when those given were queued, UTC; zero: none
}

const (
	maxSamples  = 5000
	sampleBatch = 100
	// sampleReach is how many evaluations are looked at for each that is wanted.
	sampleReach = 4
)

// RoutingSamples gives fn the newest n judged evaluations of a project, the
// newest first, n in 1..5000. What is sealed for the actor is left out and
// counted, and the search ends after four times n. They are read a hundred at a
// time, so that traces need not be held all at once. An error of fn ends it.
// Roles: lead, auditor, admin.
func (s *Store) RoutingSamples(ctx context.Context, a Actor, project string, f SampleFilter, n int, fn func(RoutingSample) error) (counts SampleCounts, err error) {
	defer wrap(&err, "read samples of project %q", project)
	if err := s.authorise(ctx, a, readers, "evaluation.listed", "project:"+project); err != nil {
		return counts, err
	}
	if n < 1 || n > maxSamples {
		return counts, invalid("last", "is %d: it lies between 1 and 5,000", n)
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return counts, err
	}
	for after, seen := "", 0; counts.Given < n && seen < sampleReach*n; {
		rows, err := s.full(ctx, a, sampleConditions(p, f, after), "", sampleBatch)
		if err != nil || len(rows) == 0 {
			return counts, err
		}
		after, seen = rows[len(rows)-1].ID, seen+len(rows)
		if err := s.giveSamples(ctx, rows, n, &counts, fn); err != nil {
			return counts, err
		}
		if len(rows) < sampleBatch {
			break
		}
	}
	return counts, nil
}

func sampleConditions(p Project, f SampleFilter, after string) (c conditions) {
	c.and(`e.project_id = ?`, p.ID)
	c.and(`e.status IN ('accepted', 'in_review', 'final')`)
	c.and(`e.shadow_of = ''`)
	if f.Judge != "" {
		c.and(`e.judge = ?`, f.Judge)
	}
	if f.PromptVersion != "" {
		c.and(`e.prompt_version = ?`, f.PromptVersion)
	}
	if f.Domain != "" {
		c.and(`tr.domain = ?`, f.Domain)
	}
	if after != "" {
		c.and(`e.id < ?`, after)
	}
	return c
}

// giveSamples adds to a batch what it was planned as, and gives it to fn.
func (s *Store) giveSamples(ctx context.Context, rows []fullRow, n int, counts *SampleCounts, fn func(RoutingSample) error) error {
	var open []fullRow
	for _, r := range rows {
		switch {
		case r.sealed:
			counts.Sealed++
		case counts.Given+len(open) < n:
			open = append(open, r)
		}
	}
	if len(open) == 0 {
		return nil
	}
	ids := make([]string, len(open))
	for i, r := range open {
		ids[i] = r.ID
	}
	plans, err := s.samplePlans(ctx, ids)
	if err != nil {
		return err
	}
	for _, r := range open {
		sample, known := plans[r.ID]
		if !known {
			continue // it was removed meanwhile
		}
		sample.Evaluation, sample.PolicyVersion = r.Evaluation, r.PolicyVersion
		sample.Trace.Run = r.Run
		if sample.Draw != nil {
			sample.Draw.PolicyVersion = r.PolicyVersion
		}
		counts.Given++
		if counts.Oldest = r.createdAt; counts.Newest.IsZero() {
			counts.Newest = r.createdAt
		}
		if err := fn(*sample); err != nil {
			return err
		}
	}
	return nil
}

// samplePlans reads traces, plans and draws of evaluations.
func (s *Store) samplePlans(ctx context.Context, ids []string) (map[string]*RoutingSample, error) {
	type row struct {
		id, body, judgment string
		siblings           int
		planned            judge.Planned
		stratum            sql.NullString
		probability        sql.NullFloat64
	}
	rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error {
		p := &v.planned
		return r.Scan(&v.id, &p.Judge, &p.PromptVersion, &p.Engine, &p.Model, &p.Endpoint, &p.Samples, &v.siblings,
			(*digest)(&v.judgment), (*digest)(&v.body), &v.stratum, &v.probability)
	}, `
SELECT e.id, e.judge, e.prompt_version, e.engine, e.model, e.endpoint, e.samples, `+siblings("e")+`, e.judgment_body, tr.body_hash,
    r.stratum, r.inclusion_probability
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id LEFT JOIN reviews r ON r.evaluation_id = e.id
WHERE e.id IN (`+placeholders(len(ids))+`)`, anys(ids)...)
	if err != nil {
		return nil, err
	}
	var traces, judgments []string
	for _, v := range rows {
		traces, judgments = append(traces, v.body), append(judgments, v.judgment)
	}
	texts := textsFrom(s.reader)
	bodies, err := texts.bodies(ctx, traces)
	if err != nil {
		return nil, err
	}
	recorded, err := texts.get(ctx, judgments)
	if err != nil {
		return nil, err
	}
	samples := make(map[string]*RoutingSample, len(rows))
	for _, v := range rows {
		sample := &RoutingSample{Trace: bodies[v.body].Trace, Planned: asPlanned(v.planned)}
		if v.stratum.Valid {
			sample.Draw = &judge.Draw{Stratum: v.stratum.String, InclusionProbability: v.probability.Float64}
		}
		if v.judgment != "" {
			if err := placeRecorded(&sample.Trace, &sample.Planned, v.siblings, recorded[v.judgment]); err != nil {
				return nil, fmt.Errorf("read the recorded report of evaluation %s: %w", v.id, err)
			}
		}
		samples[v.id] = sample
	}
	return samples, nil
}

// asPlanned is what a row says as it was planned.
func asPlanned(p judge.Planned) judge.Planned {
	p.Judgment = judge.NoJudgment
	if p.Samples == 1 {
		p.Samples = 0
	}
	return p
}

// placeRecorded puts a recorded report at its place among those that the same
// judge gave on the trace. Those before it are empty: they are evaluations of
// their own.
func placeRecorded(t *judge.Trace, p *judge.Planned, place int, report string) error {
	p.Judgment = place
	t.Judgments = make([]judge.Judgment, place+1)
	return json.Unmarshal([]byte(report), &t.Judgments[place])
}
