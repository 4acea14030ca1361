package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// detail is what only the page and the API of an evaluation read: all that one
// round of judging gave but the raw texts. A retry makes another round. It is
// packed as one text, because reports, findings and calls repeat each other.
type detail struct {
	Report   json.RawMessage     `json:"report"` // null: none
	Findings []judge.Finding     `json:"findings"`
	Checks   []judge.CheckResult `json:"checks"`
	Calls    []callDetail        `json:"calls"`
	Round    *round              `json:"round,omitempty"` // nil: an older program stored it
	// Why the engine could not decide; empty: it did.
	Explanation string            `json:"explanation,omitempty"`
	PartLabels  []judge.PartLabel `json:"part_labels,omitempty"`
	Spread      *judge.Spread     `json:"spread,omitempty"`
}

// callDetail is an attempt without its texts and what is counted of it.
type callDetail struct {
	Purpose          string          `json:"purpose,omitempty"`
	Number           int             `json:"number"`
	Sample           int             `json:"sample,omitempty"`
	Unpriced         bool            `json:"unpriced,omitempty"`
	Engine           string          `json:"engine"`
	Endpoint         string          `json:"endpoint,omitempty"`
	ModelAsked       string          `json:"model_asked,omitempty"`
	ModelAnswered    string          `json:"model_answered,omitempty"`
	Parameters       json.RawMessage `json:"parameters,omitempty"`
	FinishReason     string          `json:"finish_reason,omitempty"`
	Report           json.RawMessage `json:"report,omitempty"`
	Errors           []string        `json:"errors,omitempty"`
	TransportRetries int             `json:"transport_retries,omitempty"`
	TransportError   string          `json:"transport_error,omitempty"`
	StepsFrom        string          `json:"steps_from,omitempty"`
}

func detailOf(e judge.Evaluation, firstNumber int) detail {
	d := detail{Report: raw(e.Report), Findings: list(e.Findings), Checks: list(e.Checks), Calls: []callDetail{},
		Explanation: e.Explanation, PartLabels: e.PartLabels, Spread: e.Spread}
	for i, c := range e.Calls {
		d.Calls = append(d.Calls, callDetail{
			Purpose: c.Purpose, Number: firstNumber + i, Sample: c.Sample, Unpriced: c.Unpriced, Engine: c.Engine, Endpoint: c.Endpoint, ModelAsked: c.ModelAsked, ModelAnswered: c.ModelAnswered,
			Parameters: raw(c.Parameters), FinishReason: c.FinishReason, Report: raw(c.Report), Errors: c.Errors, TransportRetries: c.TransportRetries, TransportError: c.TransportError,
			StepsFrom: c.StepsFrom,
		})
	}
	return d
}

// raw drops JSON that says nothing.
func raw(m json.RawMessage) json.RawMessage {
	if len(m) == 0 || string(m) == "null" {
		return nil
	}
	return m
}

// fill puts the judge's side into an evaluation.
func (d detail) fill(e *judge.Evaluation) {
	e.Report, e.Findings, e.Checks = raw(d.Report), list(d.Findings), list(d.Checks)
	e.Explanation, e.PartLabels, e.Spread = d.Explanation, d.PartLabels, d.Spread
}

// details reads the current round of many evaluations; those without one are
// absent. A round is never changed, so those read last are remembered; nobody
// may change what they hold.
func (r *texts) details(ctx context.Context, ids []string) (map[string]detail, error) {
	type row struct {
		id, trace string
		round     int
		packed    pack.Packed
	}
	found := make(map[string]detail, len(ids))
	return found, inBatches(distinct(ids), func(batch []string) error {
		rows, err := collect(ctx, r.q, func(rows *sql.Rows, v *row) error {
			return scanPacked(rows, &v.packed, &v.id, &v.trace, &v.round)
		}, `
SELECT x.evaluation_id, e.trace_id, x.round, x.codec, x.dictionary, x.detail
FROM evaluation_reports x JOIN evaluations e ON e.id = x.evaluation_id
WHERE x.evaluation_id IN (`+placeholders(len(batch))+`) AND x.current`, anys(batch)...)
		if err != nil {
			return err
		}
		known := r.q.packs().reports
		if !r.anew {
			rows = slices.DeleteFunc(rows, func(v row) bool {
				d, ok := known.get(detailBase(v.id, v.round))
				if ok {
					found[v.id] = d
				}
				return ok
			})
		}
		if err := r.readBases(ctx, len(rows), func(i int) (pack.Codec, string) { return rows[i].packed.Codec, rows[i].trace }); err != nil {
			return err
		}
		for _, v := range rows {
			d, err := r.unpackDetail(ctx, v.packed, v.trace)
			if err != nil {
				return fmt.Errorf("the stored report of evaluation %s: %w", v.id, err)
			}
			found[v.id] = d
			known.add(detailBase(v.id, v.round), d, 4*len(v.packed.Body)) // about
		}
		return nil
	})
}

// detailOne reads the current round of one evaluation; none is an empty one.
func detailOne(ctx context.Context, q querier, id string) (detail, error) {
	found, err := textsFrom(q).details(ctx, []string{id})
	return found[id], err
}

// readBases reads the traces that n packed details need at once.
func (r *texts) readBases(ctx context.Context, n int, of func(int) (pack.Codec, string)) error {
	var wanted []string
	for i := range n {
		codec, trace := of(i)
		if _, known := r.bases[traceBase(trace)]; codec.NeedsBase() && !known {
			wanted = append(wanted, trace)
		}
	}
	bodies, err := r.traceBodies(ctx, wanted)
	for id, body := range bodies {
		r.bases[traceBase(id)] = body.base()
	}
	return err
}

func (r *texts) unpackDetail(ctx context.Context, p pack.Packed, traceID string) (d detail, err error) {
	plain, err := r.plainDetail(ctx, p, traceID)
	if err != nil {
		return d, err
	}
	return d, json.Unmarshal([]byte(plain), &d)
}

func (r *texts) plainDetail(ctx context.Context, p pack.Packed, traceID string) (string, error) {
	var base [][]byte
	if p.Codec.NeedsBase() {
		var err error
		if base, err = r.base(ctx, traceBase(traceID)); err != nil {
			return "", err
		}
	}
	return r.unpack(ctx, p, base)
}

// detailText is the detail of one round as it was packed.
func (r *texts) detailText(ctx context.Context, evaluationID string, round int) (string, error) {
	var p pack.Packed
	var trace string
	rows, err := collect(ctx, r.q, func(rows *sql.Rows, _ *struct{}) error { return scanPacked(rows, &p, &trace) }, `
SELECT e.trace_id, x.codec, x.dictionary, x.detail
FROM evaluation_reports x JOIN evaluations e ON e.id = x.evaluation_id
WHERE x.evaluation_id = ? AND x.round = ?`, evaluationID, round)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", fmt.Errorf("round %d of evaluation %s is gone: %w", round, evaluationID, ErrNotFound)
	}
	return r.plainDetail(ctx, p, trace)
}

// scanPacked scans what stands before and then codec, dictionary and body.
func scanPacked(rows *sql.Rows, p *pack.Packed, before ...any) error {
	var codec int
	var dict int64
	err := rows.Scan(append(before, &codec, &dict, &p.Body)...)
	p.Codec, p.Dict = pack.Codec(codec), uint32(dict)
	return err
}

// callsOf reads the attempts of an evaluation with their texts, in order, from
// every round.
func (s *Store) callsOf(ctx context.Context, evaluationID string) ([]judge.Attempt, error) {
	r := textsFrom(s.reader)
	packed, err := collect(ctx, s.reader, func(rows *sql.Rows, p *pack.Packed) error { return scanPacked(rows, p) },
		`SELECT codec, dictionary, detail FROM evaluation_reports WHERE evaluation_id = ? ORDER BY round`, evaluationID)
	if err != nil {
		return nil, err
	}
	var trace string
	if err := s.reader.QueryRowContext(ctx, `SELECT trace_id FROM evaluations WHERE id = ?`, evaluationID).Scan(&trace); err != nil {
		return nil, notFound(err, "evaluation")
	}
	byNumber := map[int]callDetail{}
	for _, p := range packed {
		d, err := r.unpackDetail(ctx, p, trace)
		if err != nil {
			return nil, fmt.Errorf("the stored report of evaluation %s: %w", evaluationID, err)
		}
		for _, c := range d.Calls {
			byNumber[c.Number] = c
		}
	}
	type call struct {
		judge.Attempt
		prompt, reply string
	}
	rows, err := collect(ctx, s.reader, func(rows *sql.Rows, c *call) error {
		err := rows.Scan(&c.Number, (*digest)(&c.prompt), (*digest)(&c.reply), &c.Tokens.Prompt, &c.Tokens.Completion, &c.CostUSD, &c.LatencyMS, &c.StartedAt)
		c.StartedAt = c.StartedAt.UTC()
		return err
	}, `
SELECT number, prompt_hash, reply_hash, prompt_tokens, completion_tokens, cost_usd, latency_ms, started_at
FROM attempts WHERE evaluation_id = ? ORDER BY number`, evaluationID)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, c := range rows {
		hashes = append(hashes, c.prompt, c.reply)
	}
	plain, err := r.get(ctx, hashes)
	if err != nil {
		return nil, err
	}
	calls := make([]judge.Attempt, len(rows))
	for i, c := range rows {
		d := byNumber[c.Number]
		c.Purpose, c.Sample, c.Unpriced = d.Purpose, d.Sample, d.Unpriced
		c.Engine, c.Endpoint, c.ModelAsked, c.ModelAnswered = d.Engine, d.Endpoint, d.ModelAsked, d.ModelAnswered
		c.Parameters, c.FinishReason, c.Report, c.Errors, c.TransportRetries = raw(d.Parameters), d.FinishReason, raw(d.Report), list(d.Errors), d.TransportRetries
		c.TransportError, c.StepsFrom = d.TransportError, d.StepsFrom
		c.Prompt, c.Reply = plain[c.prompt], plain[c.reply]
		calls[i] = c.Attempt
	}
	return calls, s.sayRemoved(ctx, calls, func(i int) (prompt, reply string) { return rows[i].prompt, rows[i].reply })
}

// noRow says whether an error is that a query found no row.
func noRow(err error) bool { return errors.Is(err, sql.ErrNoRows) }
