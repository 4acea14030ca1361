package store

import (
	"context"
	"database/sql"
	"slices"

	"github.com/countersign/countersign/judge"
)

// A shadow evaluation is a row of the work list like every other, with the evaluation
// beside which it was made in shadow_of. It is queued when that one has its verdict,
// so the two never wait for each other, and whoever may not read the one may not read
// the other. It ends as final without a result, and has no reasons: it is in no queue,
// in no result of a run, in no cell of agreement, and contradicts nobody.

// tallyShadow is the status under which finished shadow evaluations are counted, so
// that no page takes them for results.
const tallyShadow = "shadow"

// statusTally is the name under which an evaluation's status is counted.
func statusTally(shadowOf string, status judge.Status) string {
	if shadowOf != "" && status == judge.Final {
		return tallyShadow
	}
	return string(status)
}

// liveOf is SQL that names the evaluation whose sealing holds for evaluation e: its
// own id, and of a shadow that of the one beside which it was made.
func liveOf(e string) string {
	return `CASE WHEN ` + e + `.shadow_of = '' THEN ` + e + `.id ELSE ` + e + `.shadow_of END`
}

// runningShadow is a shadow run with what decides whether an evaluation has one.
type runningShadow struct {
	projectID, current string // the version in use
	Shadow
}

// readShadows reads the shadow runs of the projects, few as there are.
func (k *known) readShadows(ctx context.Context, t *tx) (err error) {
	k.shadows, err = collect(ctx, t, func(r *sql.Rows, s *runningShadow) error {
		p := &s.Target
		err := r.Scan(&s.projectID, &s.current, &s.ID, &p.Judge, &p.PromptVersion, &p.Engine, &p.Model, &p.Endpoint, &p.Samples, &s.Share)
		s.Target = asPlanned(s.Target)
		return err
	}, `
SELECT x.project_id, j.prompt_version, x.id, x.judge, x.prompt_version, x.engine, x.model, x.endpoint, x.samples, x.share
FROM shadow_runs x JOIN judges j ON j.project_id = x.project_id AND j.name = x.judge AND j.current WHERE x.state = 'running'`)
	return err
}

// shadowFor is the run that judges beside an evaluation that has just got its verdict;
// nil: none does. Only new traces have one, judged by the version in use.
func (k *known) shadowFor(s stored, f finished) *runningShadow {
	planned := asPlanned(f.Work.Planned)
	if s.shadowOf != "" || s.lane != 0 || f.Evaluation.Verdict == "" || planned.Engine == judge.EngineRecorded {
		return nil
	}
	at := slices.IndexFunc(k.shadows, func(r runningShadow) bool {
		return r.projectID == s.projectID && r.Target.Judge == s.judge && r.current == planned.PromptVersion &&
			r.Target != planned && r.Drawn(s.externalID)
	})
	if at < 0 {
		return nil
	}
	return &k.shadows[at]
}

// queueShadow queues the evaluation by a shadow run beside another one. The same run
// pays for it. It goes after what was imported.
func (t *tx) queueShadow(ctx context.Context, s stored, r *runningShadow) error {
	p, id := r.Target, t.newID()
	n, err := t.changed(ctx, `
INSERT INTO evaluations (id, project_id, trace_id, judge, prompt_version, engine, model, identity, status, created_at, endpoint, samples, run_id, lane, shadow_of)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?) ON CONFLICT (trace_id, identity) DO NOTHING`,
		id, s.projectID, s.traceID, p.Judge, p.PromptVersion, p.Engine, p.Model, identity(p, tallyShadow), t.now, p.Endpoint, samples(p),
		sql.NullString{String: s.run, Valid: s.run != ""}, rerunLane, s.evaluationID)
	if err != nil || n == 0 { // another model's evaluation of the trace has it already
		return err
	}
	t.tally(s.projectID, tallyStatus, string(judge.Queued), 1)
	t.tally(s.projectID, tallyUse, useName(p), 1)
	t.recountNew(s.projectID, s.traceID, id, p.Judge, judge.Queued)
	t.audit(event{project: s.project, actor: worker, action: "evaluation.queued", subject: "trace:" + s.traceID,
		data: map[string]any{"external_id": s.externalID, "evaluations": []string{id}, "shadow": r.ID}})
	return nil
}

// asShadow takes from a result all by which it would count. One that was refused or
// failed ends so too, without a verdict; its error says why.
func asShadow(f *finished) {
	e := &f.Evaluation
	e.Status, e.Result, e.Reasons, f.Draw = judge.Final, nil, nil, nil
}
