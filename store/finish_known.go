package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/countersign/countersign/judge"
)

// known is what the database knows about a batch of results, read in a few
// queries for all of them.
type known struct {
	projects    map[string]Project
	evaluations map[string]stored            // those still being judged, by id
	adjudicated map[tracedJudge]judge.Result // by labels that came with the traces
	verdicts    map[tracedJudge][]*verdictOf // of every evaluation that has one and counts
	shadows     []runningShadow
}

// stored is an evaluation that is being finished.
type stored struct {
	subject
	run      string // that pays for it; empty: none
	shadowOf string // the evaluation beside which it is made; empty: it counts
	lane     int
	fence    int64
	attempts int // of earlier rounds, before a retry
}

// verdictOf is an evaluation that has a verdict; of it only that is read by which
// evaluations are compared.
type verdictOf struct {
	id        string
	disagrees bool // it waits for that reason already
	judge.Evaluation
}

func (t *tx) knownOf(ctx context.Context, ready []finished) (*known, error) {
	k := &known{projects: map[string]Project{}, evaluations: make(map[string]stored, len(ready)),
		adjudicated: map[tracedJudge]judge.Result{}, verdicts: map[tracedJudge][]*verdictOf{}}
	ids := make([]string, len(ready))
	for i, f := range ready {
		ids[i] = f.Work.EvaluationID
	}
	if err := inBatches(distinct(ids), func(batch []string) error { return k.readEvaluations(ctx, t, batch) }); err != nil {
		return nil, err
	}
	if err := k.readShadows(ctx, t); err != nil {
		return nil, err
	}
	var traces []string
	for _, s := range k.evaluations {
		traces = append(traces, s.traceID)
	}
	// Two judges of one trace that end at once must see each other's verdict.
	if err := t.lockTraces(ctx, traces); err != nil {
		return nil, err
	}
	return k, inBatches(distinct(traces), func(batch []string) error {
		if err := k.readAdjudicated(ctx, t, batch); err != nil {
			return err
		}
		return k.readVerdicts(ctx, t, batch)
	})
}

func (k *known) readEvaluations(ctx context.Context, t *tx, ids []string) error {
	found, err := collect(ctx, t, func(r *sql.Rows, s *stored) error {
		return r.Scan(&s.evaluationID, &s.run, &s.shadowOf, &s.lane, &s.fence, &s.projectID, &s.traceID, &s.judge, &s.attempts, &s.externalID, &s.domain, &s.stakes, &s.title)
	}, `
SELECT e.id, COALESCE(e.run_id, ''), e.shadow_of, e.lane, e.fence, e.project_id, e.trace_id, e.judge, e.attempts, tr.external_id, tr.domain, tr.stakes, tr.title
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
WHERE e.id IN (`+placeholders(len(ids))+`) AND e.status = 'judging'`, anys(ids)...)
	if err != nil {
		return err
	}
	for _, s := range found {
		p, ok := k.projects[s.projectID]
		if !ok {
			if p, err = projectByID(ctx, t, s.projectID); err != nil {
				return err
			}
			k.projects[s.projectID] = p
		}
		s.project, s.policy = p.Name, p.Policy
		k.evaluations[s.evaluationID] = s
	}
	return nil
}

// readAdjudicated reads adjudicated imported labels; the newest counts.
func (k *known) readAdjudicated(ctx context.Context, t *tx, traces []string) error {
	type labelled struct {
		on tracedJudge
		judge.Result
	}
	found, err := collect(ctx, t, func(r *sql.Rows, l *labelled) error {
		return r.Scan(&l.on.traceID, &l.on.judge, &l.Verdict, &l.Label)
	}, `
SELECT trace_id, judge, verdict, label FROM labels
WHERE trace_id IN (`+placeholders(len(traces))+`) AND source = 'imported' AND adjudicated ORDER BY labelled_at, id`, anys(traces)...)
	for _, l := range found {
		l.Source = judge.ByAdjudication
		k.adjudicated[l.on] = l.Result
	}
	return err
}

func (k *known) readVerdicts(ctx context.Context, t *tx, traces []string) error {
	type placed struct {
		on tracedJudge
		verdictOf
	}
	engine, model := answeredBy("e")
	found, err := collect(ctx, t, func(r *sql.Rows, v *placed) error {
		var reasons int
		err := r.Scan(&v.on.traceID, &v.on.judge, &v.id, &v.Engine, &v.Model, &v.Endpoint, &v.Samples, &v.PromptVersion, &v.Undecided,
			&v.Verdict, &v.Status, &reasons)
		v.disagrees = reasons&reasonMask([]judge.Reason{{Code: judge.ReasonJudgeDisagreement}}) != 0
		return err
	}, `
SELECT e.trace_id, e.judge, e.id, `+engine+`, `+model+`, e.endpoint, e.samples, e.prompt_version, e.undecided, e.verdict, e.status, e.reasons
FROM evaluations e
WHERE e.trace_id IN (`+placeholders(len(traces))+`) AND e.verdict <> '' AND e.shadow_of = '' ORDER BY e.id DESC`, anys(traces)...)
	for i := range found {
		k.verdicts[found[i].on] = append(k.verdicts[found[i].on], &found[i].verdictOf)
	}
	return err
}

// route settles status and result: an adjudicated label that came with the
// trace decides; a verdict that differs from another model's or version's
// waits for a person, and so do the other ones that nobody has settled, which are
// then returned; else it stays as the harness routed it.
func (k *known) route(s subject, f *finished) (contradicted []*verdictOf) {
	e := &f.Evaluation
	e.Result = nil
	if e.Status == judge.Refused {
		return nil
	}
	on := tracedJudge{s.traceID, s.judge}
	if result, settled := k.adjudicated[on]; settled {
		e.Status, e.Result = judge.Final, &result
	} else {
		contradicted = k.disagreement(s, f)
	}
	switch e.Status {
	case judge.Accepted:
		e.Result = &judge.Result{Verdict: e.Verdict, Label: e.Label, Source: judge.ByJudge}
	case judge.InReview:
		if f.Draw == nil {
			f.Draw = &judge.Draw{Stratum: judge.StratumFlagged, InclusionProbability: 1}
		}
	}
	if e.Verdict != "" {
		this := &verdictOf{id: s.evaluationID, Evaluation: *e}
		this.Endpoint, this.Samples = f.Work.Planned.Endpoint, f.Work.Planned.Samples
		this.disagrees = slices.ContainsFunc(e.Reasons, func(r judge.Reason) bool { return r.Code == judge.ReasonJudgeDisagreement })
		k.verdicts[on] = append(k.verdicts[on], this)
	}
	return contradicted
}
