package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// How a round of the sentinel set is judged: one server holds it under a lease with a
// fence and brings back a trace at a time. Of one that dies another goes on, with the
// traces that have no result and the replies that were paid for.
const (
	sentinelLease = 2 * time.Minute
	sentinelBatch = 20
)

// SentinelWork is a part of a round that the caller holds.
type SentinelWork struct {
	Round, Project, Judge string
	Target                judge.Planned
	Policy                judge.Policy
	// BudgetUSD of the round and what its results cost so far; nil: no limit.
	BudgetUSD *float64
	SpentUSD  float64
	Traces    []SentinelTrace // none: the round is at its end

	fence int64
}

// SentinelTrace is a trace of the set without a result in the round.
type SentinelTrace struct {
	ID    string // of the store
	Trace judge.Trace
}

// Key names a judgment to what keeps its replies: it is no evaluation.
func (w SentinelWork) Key(t SentinelTrace) string { return "sentinel " + w.Round + " " + t.ID }

// ErrRoundLost says that another server goes on with a round.
var ErrRoundLost = fmt.Errorf("another server goes on with this round: %w", ErrConflict)

// ActiveSentinels are the sets that are to be judged at all, each with its first
// trace, by which it can be planned.
func (s *Store) ActiveSentinels(ctx context.Context) (sets []SentinelSet, firsts []judge.Trace, err error) {
	defer wrap(&err, "list the sentinel sets")
	all, err := sentinelSets(ctx, s.reader, "", "")
	if err != nil {
		return nil, nil, err
	}
	for _, set := range all {
		if set.EveryDays == 0 || set.Traces == 0 {
			continue
		}
		first, err := s.sentinelTraces(ctx, set, "", 1) // there are few sets
		if err != nil {
			return nil, nil, err
		}
		if len(first) == 1 {
			sets, firsts = append(sets, set), append(firsts, first[0].Trace)
		}
	}
	return sets, firsts, nil
}

// sentinelTraces are labelled traces of a set without a result in a round.
func (s *Store) sentinelTraces(ctx context.Context, set SentinelSet, round string, n int) ([]SentinelTrace, error) {
	type place struct{ id, body string }
	places, err := collect(ctx, s.reader, func(r *sql.Rows, p *place) error { return r.Scan(&p.id, (*digest)(&p.body)) }, `
SELECT t.id, t.body_hash FROM `+labelledTraces+` JOIN traces t ON t.id = rt.trace_id
WHERE rt.run_id = ? AND c.project_id = ? AND c.judge = ? AND NOT EXISTS (SELECT 1 FROM sentinel_results x WHERE x.round_id = ? AND x.trace_id = t.id)
ORDER BY t.id LIMIT ?`, set.runID, set.projectID, set.Judge, round, n)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(places))
	for i, p := range places {
		hashes[i] = p.body
	}
	bodies, err := textsFrom(s.reader).bodies(ctx, hashes)
	if err != nil {
		return nil, err
	}
	traces := make([]SentinelTrace, len(places))
	for i, p := range places {
		traces[i] = SentinelTrace{p.id, bodies[p.body].Trace}
	}
	return traces, nil
}

// BeginRound begins a round of a set by a target if one is due: so many days after
// the last one began, and none is under way. Of several servers one begins it.
func (s *Store) BeginRound(ctx context.Context, set SentinelSet, target judge.Planned) (begun bool, err error) {
	defer wrap(&err, "begin a round of the sentinel set of judge %q", set.Judge)
	asked, err := json.Marshal(target)
	if err != nil {
		return false, err
	}
	model := target.Model
	if target.Samples > 1 { // as raterOf names it
		model = fmt.Sprintf("%s ×%d", model, target.Samples)
	}
	err = s.write(ctx, func(t *tx) error {
		begun = false
		var number int
		var started time.Time
		var open bool
		err := t.scan(ctx, `
SELECT r.number, r.started_at, r.finished_at IS NULL FROM sentinel_rounds r WHERE r.set_id = ? AND r.model = ? AND r.prompt_version = ? ORDER BY r.number DESC LIMIT 1`,
			[]any{set.ID, model, target.PromptVersion}, []any{&number, &started, &open})
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case open || t.now.Before(started.AddDate(0, 0, set.EveryDays)):
			return nil
		}
		n, err := t.changed(ctx, `
INSERT INTO sentinel_rounds (id, set_id, judge, model, prompt_version, number, target, problem, fence, started_at)
VALUES (?, ?, ?, ?, ?, ?, ?, '', 0, ?) ON CONFLICT (set_id, model, prompt_version, number) DO NOTHING`,
			t.newID(), set.ID, set.Judge, model, target.PromptVersion, number+1, string(asked), t.now)
		begun = n == 1
		return err
	})
	return begun, err
}

// TakeRound gives the oldest round that nobody is at, of the engines that the caller
// has (each a judge.Planned.EngineKey); nil: there is none.
func (s *Store) TakeRound(ctx context.Context, engines []string) (w *SentinelWork, err error) {
	defer wrap(&err, "take a round of a sentinel set")
	type open struct{ id, set, target string }
	rounds, err := collect(ctx, s.reader, func(r *sql.Rows, o *open) error { return r.Scan(&o.id, &o.set, &o.target) }, `
SELECT id, set_id, target FROM sentinel_rounds WHERE finished_at IS NULL AND (lease_expires_at IS NULL OR lease_expires_at <= ?) ORDER BY id LIMIT 100`, s.clock())
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, key := range engines {
		here[key] = true
	}
	for _, o := range rounds {
		var target judge.Planned
		if err := json.Unmarshal([]byte(o.target), &target); err != nil {
			return nil, fmt.Errorf("round %s: %w", o.id, err)
		}
		if !here[target.EngineKey()] {
			continue
		}
		taken := &SentinelWork{Round: o.id, Target: target}
		err := s.write(ctx, func(t *tx) error {
			return t.scan(ctx, `
UPDATE sentinel_rounds SET fence = fence + 1, lease_expires_at = ? WHERE id = ? AND finished_at IS NULL AND (lease_expires_at IS NULL OR lease_expires_at <= ?)
RETURNING fence`, []any{t.now.Add(sentinelLease), o.id, t.now}, []any{&taken.fence})
		})
		if errors.Is(err, sql.ErrNoRows) {
			continue // another server was first
		}
		if err != nil {
			return nil, err
		}
		return taken, s.loadRound(ctx, taken, o.set)
	}
	return nil, nil
}

// loadRound reads what a round needs.
func (s *Store) loadRound(ctx context.Context, w *SentinelWork, setID string) error {
	var set SentinelSet
	var budget sql.NullInt64
	var spent int64
	if err := s.reader.QueryRowContext(ctx, `
SELECT s.project_id, s.judge, s.run_id, s.budget_nano, COALESCE((SELECT sum(x.cost_nano) FROM sentinel_results x WHERE x.round_id = ?), 0)
FROM sentinel_sets s WHERE s.id = ?`, w.Round, setID).Scan(&set.projectID, &set.Judge, &set.runID, &budget, &spent); err != nil {
		return err
	}
	p, err := projectByID(ctx, s.reader, set.projectID)
	if err != nil {
		return err
	}
	w.Project, w.Judge, w.Policy, w.SpentUSD = p.Name, set.Judge, p.Policy, dollars(spent)
	if budget.Valid {
		usd := dollars(budget.Int64)
		w.BudgetUSD = &usd
	}
	w.Traces, err = s.sentinelTraces(ctx, set, w.Round, sentinelBatch)
	return err
}

// ExtendRound keeps a round for another two minutes. ErrRoundLost: it is another's.
func (s *Store) ExtendRound(ctx context.Context, w *SentinelWork) (err error) {
	defer wrap(&err, "keep round %s", w.Round)
	return s.write(ctx, func(t *tx) error { return t.holdRound(ctx, w) })
}

func (t *tx) holdRound(ctx context.Context, w *SentinelWork) error {
	n, err := t.changed(ctx, `UPDATE sentinel_rounds SET lease_expires_at = ?, problem = '' WHERE id = ? AND fence = ? AND finished_at IS NULL`, t.now.Add(sentinelLease), w.Round, w.fence)
	if err == nil && n == 0 {
		err = ErrRoundLost
	}
	return err
}

// KeepSentinel stores what the judge said about a trace, and drops the replies that
// were kept until now. ErrRoundLost: it is another server's round, and nothing is
// stored.
func (s *Store) KeepSentinel(ctx context.Context, w *SentinelWork, tr SentinelTrace, e judge.Evaluation) (err error) {
	defer wrap(&err, "keep a result of round %s", w.Round)
	problem := ""
	if e.Verdict == "" {
		problem = e.Error
		for _, r := range e.Reasons {
			if problem == "" {
				problem = r.Detail
			}
		}
		if problem == "" {
			problem = "the judge gave no verdict"
		}
	}
	calls := make([]judge.Attempt, len(e.Calls))
	for i, c := range e.Calls {
		c.Prompt, c.Reply = "", "" // what a model said has its time, and this row has none
		calls[i] = c
	}
	said, err := json.Marshal(calls)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.holdRound(ctx, w); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `
INSERT INTO sentinel_results (round_id, trace_id, verdict, label, score, error, cost_nano, calls, judged_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (round_id, trace_id) DO NOTHING`, w.Round, tr.ID, string(e.Verdict), e.Label, e.Score, problem, nano(e.CostUSD), string(said), t.now); err != nil {
			return err
		}
		return t.dropReplies(ctx, w.Key(tr))
	})
}

// LeaveRound lets go of a round. With a problem it rests for ten minutes, before
// whoever has its engine tries again.
func (s *Store) LeaveRound(ctx context.Context, w *SentinelWork, problem string) (err error) {
	defer wrap(&err, "leave round %s", w.Round)
	return s.write(ctx, func(t *tx) error {
		until := t.now
		if problem != "" {
			until = until.Add(10 * time.Minute)
		}
		_, err := t.exec(ctx, `UPDATE sentinel_rounds SET lease_expires_at = ?, problem = ? WHERE id = ? AND fence = ? AND finished_at IS NULL`, until, problem, w.Round, w.fence)
		return err
	})
}

// EndRound ends a round; problem says why before its last trace, empty: all have a
// result.
func (s *Store) EndRound(ctx context.Context, w *SentinelWork, problem string) (err error) {
	defer wrap(&err, "end round %s", w.Round)
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE sentinel_rounds SET finished_at = ?, lease_expires_at = NULL, problem = ? WHERE id = ? AND fence = ? AND finished_at IS NULL`,
			t.now, problem, w.Round, w.fence)
		return err
	})
}
