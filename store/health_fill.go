package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// judgeHealthSetting says how far the rounds of judging that are older than
// judge_days have been counted: the last evaluation, or keptCountsDone.
const judgeHealthSetting = "judge_health"

// healthBatch is how many evaluations are counted at once.
const healthBatch = 500

// fillHealth counts the rounds that were there before days were kept, once.
// Several programs may do so at a time; one that dies leaves what it has counted.
func (s *Store) fillHealth(ctx context.Context) error {
	at, err := settingValue(ctx, s.reader, judgeHealthSetting, "")
	if err != nil || at == keptCountsDone {
		return err
	}
	upgrade, err := s.beginUpgrade(ctx, "counting what judges did", at)
	if err != nil {
		return err
	}
	for {
		if err := s.writeAlone(ctx, s.fillHealthBatch(ctx)); err != nil {
			return fmt.Errorf("after evaluation %q: %w", at, err)
		}
		if at, err = settingValue(ctx, s.reader, judgeHealthSetting, ""); err != nil || at == keptCountsDone {
			return err
		}
		if err := upgrade.upTo(ctx, s.reader, at); err != nil {
			return err
		}
	}
}

func (s *Store) fillHealthBatch(ctx context.Context) func(*tx) error {
	return func(t *tx) error {
		if _, err := t.exec(ctx, `INSERT INTO settings (name, value) VALUES (?, '') ON CONFLICT (name) DO NOTHING`, judgeHealthSetting); err != nil {
			return err
		}
		at, err := settingValue(ctx, t, judgeHealthSetting, t.engine.forUpdate("s"))
		if err != nil || at == keptCountsDone {
			return err
		}
		last, err := eachRound(ctx, t, at, func(key roundKey, r *round, d detail, calls []countedCall) {
			if d.Round == nil { // else it was counted when it was stored
				t.counts.countRound(key, r, d, calls)
			}
		})
		if err != nil {
			return err
		}
		if last == "" {
			last = keptCountsDone
		}
		_, err = t.exec(ctx, `UPDATE settings SET value = ? WHERE name = ?`, last, judgeHealthSetting)
		return err
	}
}

func settingValue(ctx context.Context, q querier, name, lock string) (value string, err error) {
	err = q.QueryRowContext(ctx, `SELECT s.value FROM settings s WHERE s.name = ?`+lock, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

// reported says whether a round has a report whose checks were run.
func reported(d detail) bool { return len(d.Checks) > 0 || raw(d.Report) != nil }

// roundKey is whose round it is.
type roundKey struct{ project, judge, version, run string }

// countRound counts a round as it was counted when it was stored.
func (d *deltas) countRound(key roundKey, r *round, said detail, calls []countedCall) {
	d.measure(key.project, key.judge, key.version, *r, said.Checks, reported(said), calls)
	if key.run != "" {
		d.pay(costKey{key.run, key.judge, r.Model}, calls)
	}
}

// eachRound gives fn the rounds of judging of the evaluations after the given
// one, healthBatch of them, and says which was the last; empty: there is none
// left. What an older program stored did not say what a round is measured by:
// then that is told from its calls.
func eachRound(ctx context.Context, q querier, after string, fn func(roundKey, *round, detail, []countedCall)) (last string, err error) {
	ids, err := collect(ctx, q, scanID, `SELECT id FROM evaluations WHERE id > ? ORDER BY id LIMIT ?`, after, healthBatch)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	last = ids[len(ids)-1]
	type row struct {
		id, trace     string
		key           roundKey
		engine, model string
		created       sql.NullTime
		packed        pack.Packed
	}
	engine, model := answeredBy("e")
	rows, err := collect(ctx, q, func(r *sql.Rows, v *row) error {
		return scanPacked(r, &v.packed, &v.id, &v.trace, &v.key.project, &v.key.judge, &v.key.version, &v.key.run, &v.engine, &v.model, &v.created)
	}, `
SELECT e.id, e.trace_id, e.project_id, e.judge, e.prompt_version, COALESCE(e.run_id, ''), `+engine+`, `+model+`, e.created_at, x.codec, x.dictionary, x.detail
FROM evaluations e JOIN evaluation_reports x ON x.evaluation_id = e.id
WHERE e.id > ? AND e.id <= ? ORDER BY e.id, x.round`, after, last)
	if err != nil {
		return "", err
	}
	calls, err := callsAfter(ctx, q, after, last)
	if err != nil {
		return "", err
	}
	texts := textsAnew(q)
	if err := texts.readBases(ctx, len(rows), func(i int) (pack.Codec, string) { return rows[i].packed.Codec, rows[i].trace }); err != nil {
		return "", err
	}
	for _, v := range rows {
		d, err := texts.unpackDetail(ctx, v.packed, v.trace)
		if err != nil {
			return "", fmt.Errorf("the stored report of evaluation %s: %w", v.id, err)
		}
		var of []countedCall
		day := dayOf(v.created.Time)
		for _, c := range d.Calls {
			call, known := calls[callKey{v.id, c.Number}]
			if known {
				call.unpriced = c.Unpriced
				of, day = append(of, call.countedCall), call.day
			}
		}
		r := d.Round
		if r == nil {
			r = olderRound(d, day, v.engine, v.model)
		}
		fn(v.key, r, d, of)
	}
	return last, nil
}

type callKey struct {
	evaluation string
	number     int
}

type datedCall struct {
	countedCall
	day string // when it started
}

// callsAfter reads the attempts of the evaluations after one and up to another.
func callsAfter(ctx context.Context, q querier, after, last string) (map[callKey]datedCall, error) {
	calls := map[callKey]datedCall{}
	_, err := collect(ctx, q, func(r *sql.Rows, _ *struct{}) error {
		var k callKey
		var c datedCall
		var started sql.NullTime
		err := r.Scan(&k.evaluation, &k.number, &c.tokens.Prompt, &c.tokens.Completion, &c.costUSD, &c.latencyMS, &started)
		c.day = dayOf(started.Time)
		calls[k] = c
		return err
	}, `
SELECT evaluation_id, number, prompt_tokens, completion_tokens, cost_usd, latency_ms, started_at
FROM attempts WHERE evaluation_id > ? AND evaluation_id <= ?`, after, last)
	return calls, err
}

// olderRound tells from its calls what a round gave that does not say so: calls
// and no report are invalid_output, neither is judge_failed, and calls after the
// first are repairs.
func olderRound(d detail, day, engine, model string) *round {
	r := &round{Day: day, Engine: engine, Model: model}
	for _, c := range d.Calls {
		r.TransportRetries += c.TransportRetries
	}
	switch {
	case engine != judge.EngineOpenAI:
	case len(d.Calls) == 0:
		r.Outcome = measureFailed
	case raw(d.Report) == nil:
		r.Outcome = measureInvalid
	}
	if engine == judge.EngineOpenAI {
		r.Repairs = max(0, len(d.Calls)-1)
	}
	return r
}

// checkHealth counts every round of judging anew. It unpacks all of them.
func (s *Store) checkHealth(ctx context.Context) (problems []string, err error) {
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	counted := newDeltas()
	for after := ""; ; {
		last, err := eachRound(ctx, read, after, func(key roundKey, r *round, d detail, calls []countedCall) {
			counted.countRound(key, r, d, calls)
		})
		if err != nil {
			return nil, s.content(err)
		}
		if last == "" {
			break
		}
		after = last
	}
	kept := map[dayMeasure]int64{}
	if _, err := collect(ctx, read, func(r *sql.Rows, _ *struct{}) error {
		var k dayMeasure
		var n int64
		err := r.Scan(&k.project, &k.judge, &k.day, &k.version, &k.engine, &k.model, &k.measure, &n)
		kept[k] = n
		return err
	}, `SELECT project_id, judge, day, prompt_version, engine, model, measure, n FROM judge_days`); err != nil {
		return nil, err
	}
	problems = compareKept("health", kept, counted.days, compareMeasures)
	costs, countedCosts := map[costPart]int64{}, map[costPart]int64{}
	if _, err := collect(ctx, read, func(r *sql.Rows, _ *struct{}) error {
		var k costKey
		var c costSum
		err := r.Scan(&k.run, &k.judge, &k.model, &c.evaluations, &c.calls, &c.unpriced, &c.prompt, &c.completion, &c.nano)
		c.parts(k, costs)
		return err
	}, `SELECT run_id, judge, model, evaluations, calls, unpriced, prompt_tokens, completion_tokens, cost_nano FROM run_costs`); err != nil {
		return nil, err
	}
	for k, c := range counted.costs {
		c.parts(k, countedCosts)
	}
	return append(problems, compareKept("cost of run", costs, countedCosts, func(a, b costPart) int {
		return cmp.Or(compareCosts(a.costKey, b.costKey), cmp.Compare(a.part, b.part))
	})...), nil
}

// costPart is one number of what a run cost.
type costPart struct {
	costKey
	part string
}

func (c costSum) parts(k costKey, into map[costPart]int64) {
	for part, n := range map[string]int64{"evaluations": c.evaluations, "calls": c.calls, "unpriced": c.unpriced, "prompt tokens": c.prompt,
		"completion tokens": c.completion, "billionths of a dollar": c.nano} {
		into[costPart{k, part}] = n
	}
}
