package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/release"
)

// ReleaseEvidence is what a release of a run stands on. What waits blind is in it as
// waiting and with nothing of its verdict, so that it is the same for everybody.
type ReleaseEvidence struct {
	Run         string `json:"run"`
	Traces      int    `json:"traces"`
	Unjudged    int    `json:"unjudged"` // traces without an evaluation
	Evaluations int    `json:"evaluations"`
	Pending     int    `json:"pending"` // for a judge
	// Waiting are the run's items in the queue, Overridden its evaluations that people
	// settled otherwise than the judge; of either, CountAtMost stands for more, too.
	Waiting    int `json:"waiting"`
	Overridden int `json:"overridden"`
	// Gate holds the run to the policy's thresholds, and its judges to being trusted.
	Gate   release.Report  `json:"gate"`
	Judges []EvidenceJudge `json:"judges"`
	// PolicyVersion that counted, and Limits that it has for a release.
	PolicyVersion int                `json:"policy_version"`
	Limits        judge.ReleaseRules `json:"limits"`
	// ResultsSHA256 is over each evaluation in the order of ids: its id, the hash of its
	// trace, its judge's version, and how it stands with its result.
	ResultsSHA256 string `json:"results_sha256"`
	// SHA256 is of all this as JSON, without it.
	SHA256 string `json:"-"`
}

// EvidenceJudge is how far a judge's version was trusted.
type EvidenceJudge struct {
	Judge         string           `json:"judge"`
	Model         string           `json:"model"`
	PromptVersion string           `json:"prompt_version"`
	State         judge.TrustState `json:"state"`
	Why           string           `json:"why,omitempty"`
}

// ReleaseEvidence works out what a release of a run would stand on now. It reads every
// evaluation of the run, once. Roles: lead, auditor, admin.
func (s *Store) ReleaseEvidence(ctx context.Context, a Actor, project, run string) (e ReleaseEvidence, err error) {
	defer wrap(&err, "collect the evidence for a release of run %q", run)
	if err := s.authorise(ctx, a, readers, "release.read", "project:"+project); err != nil {
		return e, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return e, err
	}
	row, err := s.Run(ctx, anyDecider, p.Name, run)
	if err != nil {
		return e, err
	}
	e = ReleaseEvidence{Run: run, Traces: row.Traces, Unjudged: row.Unjudged, Evaluations: row.Evaluations, Pending: row.Pending,
		PolicyVersion: p.Policy.Version, Limits: p.Policy.ReleaseLimits(), Judges: []EvidenceJudge{}}
	tally := release.NewTally(release.Options{MinPassRate: e.Limits.MinPassRate, RequireTrusted: true}, nil)
	if e.ResultsSHA256, err = s.tallyRun(ctx, p, run, tally); err != nil {
		return e, err
	}
	in, err := s.ReleaseKnown(ctx, anyDecider, p.Name, tally.Raters())
	if err != nil {
		return e, err
	}
	in.Stored, in.Pending, in.Traces = true, e.Pending, e.Traces
	if e.Gate, err = tally.Decide(in); err != nil {
		return e, err
	}
	for _, t := range in.Trust {
		e.Judges = append(e.Judges, EvidenceJudge{t.Judge, t.Model, t.PromptVersion, t.State, t.Why})
	}
	if e.Waiting, err = s.CountQueue(ctx, anyDecider, QueueFilter{Project: p.Name, Run: run}); err != nil {
		return e, err
	}
	if e.Overridden, err = s.CountEvaluations(ctx, anyDecider, EvaluationFilter{Project: p.Name, Run: run, Overridden: true}); err != nil {
		return e, err
	}
	body, err := json.Marshal(e)
	e.SHA256 = judge.HashText(string(body))
	return e, err
}

// tallyRun counts the evaluations of a run into a tally, and hashes how each stands.
// Of what waits blind it reads no verdict.
func (s *Store) tallyRun(ctx context.Context, p Project, run string, tally *release.Tally) (sum string, err error) {
	hash := sha256.New()
	counted := map[release.Stored]int{}
	rows, err := s.reader.QueryContext(ctx, `
SELECT e.id, t.content_hash, e.judge, `+raterOf("e")+`, e.prompt_version, e.engine, e.standing, CASE WHEN e.sealed THEN '' ELSE e.verdict END,
    e.result_verdict, e.result_label, e.result_source
FROM runs r JOIN run_traces rt ON rt.run_id = r.id JOIN evaluations e ON e.trace_id = rt.trace_id JOIN traces t ON t.id = e.trace_id
WHERE r.project_id = ? AND r.name = ? AND e.shadow_of = '' ORDER BY e.id`, p.ID, run)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id, content, stands, label string
		var source sql.NullString
		var x release.Stored
		if err := rows.Scan(&id, &content, &x.Judge, &x.Model, &x.PromptVersion, &x.Engine, &stands, &x.Verdict, &x.Result, &label, &source); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(hash, "%s %s %s %s %q\n", id, content, x.PromptVersion, stands, label); err != nil {
			return "", err
		}
		switch stands {
		case standingPending:
			continue // it is told apart
		case standingRefused:
			x.Standing = release.Refusing
		case standingInReview:
			x.Standing = release.ForPeople
		case standingFailed:
			x.Standing = release.JudgeFailing
		default:
			x.ByPeople = source.String != "" && source.String != judge.ByJudge
		}
		if x.Standing != release.Settled {
			x.Result = ""
		}
		counted[x]++
	}
	for x, n := range counted {
		x.N = n
		tally.AddStored(x)
	}
	return hex.EncodeToString(hash.Sum(nil)), rows.Err()
}

// CountEvaluations counts what ListEvaluations gives for a filter, up to CountAtMost.
// Roles: all.
func (s *Store) CountEvaluations(ctx context.Context, a Actor, f EvaluationFilter) (n int, err error) {
	defer wrap(&err, "count evaluations")
	if err := s.authorise(ctx, a, everyone, "evaluation.listed", "project:"+f.project()); err != nil {
		return 0, err
	}
	p, err := projectNamed(ctx, s.reader, f.project())
	if err != nil {
		return 0, err
	}
	c, err := s.where(ctx, a, p, f)
	if err != nil {
		return 0, err
	}
	err = s.reader.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM evaluations e `+c.where()+` LIMIT ?) AS counted`, append(c.args, CountAtMost)...).Scan(&n)
	return n, err
}

// ReleaseState says whether a run is released, and what changed since.
type ReleaseState struct {
	// State is "", released or withdrawn.
	State string `json:"state"`
	// Newest is the newest release that stands; without one the newest of all; nil: none.
	Newest *RunRelease `json:"newest"`
	// Evaluations were made, or made again, and Decisions signed, since it was signed; of either,
	// CountAtMost stands for more, too.
	Evaluations int `json:"evaluations_since"`
	Decisions   int `json:"decisions_since"`
}

// Values of ReleaseState.State.
const (
	StateReleased  = "released"
	StateWithdrawn = "withdrawn"
)

func releaseState(all []RunRelease) (s ReleaseState) {
	for i := range all { // the newest first
		switch {
		case all[i].Withdrawn == nil && s.State != StateReleased:
			s.State, s.Newest = StateReleased, &all[i]
		case s.State == "":
			s.State, s.Newest = StateWithdrawn, &all[i]
		}
	}
	return s
}

// Releases are a run's sign-offs, the newest first, and what they come to now. Their
// evidence is for those who may read calibration. Roles: all.
func (s *Store) Releases(ctx context.Context, a Actor, project, run string) (all []RunRelease, state ReleaseState, err error) {
	defer wrap(&err, "read the releases of run %q", run)
	if err := s.authorise(ctx, a, everyone, "run.read", "project:"+project); err != nil {
		return nil, state, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, state, err
	}
	runID, err := runNamed(ctx, s.reader, p, run)
	if err != nil {
		return nil, state, err
	}
	if all, err = releasesOf(ctx, s.reader, runID); err != nil {
		return nil, state, err
	}
	state = releaseState(all)
	if state.Newest != nil {
		err = s.sinceRelease(ctx, runID, state.Newest.At, &state)
	}
	return all, state, err
}

func (s *Store) sinceRelease(ctx context.Context, runID string, at time.Time, state *ReleaseState) error {
	const ofRun = ` FROM run_traces rt JOIN evaluations e ON e.trace_id = rt.trace_id`
	if err := s.reader.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1`+ofRun+` WHERE rt.run_id = ? AND e.shadow_of = '' AND (e.created_at > ? OR e.finished_at > ?) LIMIT ?) AS counted`,
		runID, at, at, CountAtMost).Scan(&state.Evaluations); err != nil {
		return err
	}
	return s.reader.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1`+ofRun+` JOIN decisions d ON d.evaluation_id = e.id WHERE rt.run_id = ? AND d.decided_at > ? AND e.status = 'final' AND `+standing+` LIMIT ?) AS counted`,
		runID, at, CountAtMost).Scan(&state.Decisions)
}

// ReleaseStates are the states of the newest runs, by name, as Runs lists them; what
// changed since is not in them. Roles: all.
func (s *Store) ReleaseStates(ctx context.Context, a Actor, project string, limit int) (states map[string]ReleaseState, err error) {
	defer wrap(&err, "read which runs of project %q are released", project)
	if err := s.authorise(ctx, a, everyone, "run.listed", "project:"+project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	type row struct {
		run string
		RunRelease
	}
	rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error { return scanReleaseAnd(r, &v.RunRelease, &v.run) }, `
SELECT r.name, `+releaseColumns+` FROM `+releaseTables+` JOIN runs r ON r.id = x.run_id
WHERE r.id IN (SELECT id FROM runs WHERE project_id = ? ORDER BY created_at DESC, id DESC LIMIT ?) ORDER BY x.id DESC`, p.ID, limit)
	if err != nil {
		return nil, err
	}
	byRun := map[string][]RunRelease{}
	for _, v := range rows {
		byRun[v.run] = append(byRun[v.run], v.RunRelease)
	}
	states = map[string]ReleaseState{}
	for run, all := range byRun {
		states[run] = releaseState(all)
	}
	return states, nil
}
