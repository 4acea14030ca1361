package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// finished is a result with everything encoded and packed that needs no write
// lock.
type finished struct {
	judge.Finished
	round  int // of judging, from 1
	number int // of the first attempt of this round, from 1
	said   detail
	detail pack.Packed // the same
	calls  []finishedCall
}

type finishedCall struct {
	judge.Attempt
	prompt, reply text
}

// finishPlace is what has to be known of an evaluation to pack its result.
type finishPlace struct {
	id, traceID, body string
	rounds, attempts  int
}

// prepareFinished packs results on every processor.
func (s *Store) prepareFinished(ctx context.Context, done []judge.Finished) ([]finished, error) {
	places, err := s.finishPlaces(ctx, done)
	if err != nil {
		return nil, err
	}
	ready, faults := make([]finished, len(done)), make([]error, len(done))
	workers := min(runtime.GOMAXPROCS(0), len(done))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(done); i += workers {
				ready[i], faults[i] = s.prepareResult(ctx, done[i], places[done[i].Work.EvaluationID])
			}
		})
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			return nil, fmt.Errorf("evaluation %s: %w", done[i].Work.EvaluationID, err)
		}
	}
	return ready, nil
}

func (s *Store) finishPlaces(ctx context.Context, done []judge.Finished) (map[string]finishPlace, error) {
	ids := make([]string, len(done))
	for i, d := range done {
		ids[i] = d.Work.EvaluationID
	}
	places := make(map[string]finishPlace, len(done))
	return places, inBatches(distinct(ids), func(batch []string) error {
		found, err := collect(ctx, s.reader, func(r *sql.Rows, p *finishPlace) error {
			return r.Scan(&p.id, &p.traceID, (*digest)(&p.body), &p.rounds, &p.attempts)
		}, `
SELECT e.id, e.trace_id, tr.body_hash, COALESCE((SELECT max(x.round) FROM evaluation_reports x WHERE x.evaluation_id = e.id), 0),
    CASE WHEN e.attempts = 0 THEN 0 ELSE COALESCE((SELECT max(y.number) FROM attempts y WHERE y.evaluation_id = e.id), 0) END
FROM evaluations e JOIN traces tr ON tr.id = e.trace_id WHERE e.id IN (`+placeholders(len(batch))+`)`, anys(batch)...)
		for _, p := range found {
			places[p.id] = p
		}
		return err
	})
}

func (s *Store) prepareResult(ctx context.Context, d judge.Finished, place finishPlace) (f finished, err error) {
	f.Finished, f.round, f.number = d, place.rounds+1, place.attempts+1
	e := &f.Evaluation
	switch e.Status {
	case judge.Accepted, judge.InReview, judge.Refused:
	default:
		return f, fmt.Errorf("a finished evaluation can't have status %q", e.Status)
	}
	if e.Status == judge.InReview && len(e.Reasons) == 0 {
		return f, errors.New("an evaluation in review needs a reason")
	}
	f.said = detailOf(*e, f.number)
	f.said.Round = roundOf(*e, s.clock())
	said, err := json.Marshal(f.said)
	if err != nil {
		return f, err
	}
	version := d.Work.Planned.PromptVersion
	base, err := s.baseFor(ctx, d.Work.Trace, place)
	if err != nil {
		return f, err
	}
	dict, err := s.dictionary(ctx, family{"detail", version}, string(said))
	if err != nil {
		return f, err
	}
	f.detail = pack.Pack(said, dict, base...)
	for _, c := range e.Calls {
		call := finishedCall{Attempt: c}
		if c.Prompt != "" {
			prompts, err := s.dictionary(ctx, family{"prompt", version}, c.Prompt)
			if err != nil {
				return f, err
			}
			call.prompt = newTextOn(c.Prompt, prompts, traceBase(place.traceID), base)
		}
		call.reply = newTextOn(c.Reply, nil, detailBase(d.Work.EvaluationID, f.round), [][]byte{said})
		f.calls = append(f.calls, call)
	}
	return f, nil
}

// baseFor gives the texts of the trace as they are stored. They are made again
// from the trace at hand, and read only if that gives something else.
func (s *Store) baseFor(ctx context.Context, t judge.Trace, place finishPlace) ([][]byte, error) {
	if place.traceID == "" { // the evaluation is gone; its result will be dropped
		return nil, nil
	}
	body, err := newTraceBody(t)
	if err != nil {
		return nil, err
	}
	if judge.HashText(body.json) == place.body {
		return body.base(), nil
	}
	return textsFrom(s.reader).base(ctx, traceBase(place.traceID))
}

// finishing are the rows that a batch of results adds, table by table.
type finishing struct{ texts, reports, attempts *bulk }

func newFinishing() *finishing {
	return &finishing{
		texts:   newTexts(),
		reports: newBulk("evaluation_reports", "", "evaluation_id", "round", "current", "codec", "dictionary", "detail"),
		attempts: newBulk("attempts", "", "evaluation_id", "number", "prompt_hash", "reply_hash", "prompt_tokens", "completion_tokens",
			"cost_usd", "latency_ms", "started_at"),
	}
}

func (r *finishing) add(f finished) {
	id := f.Work.EvaluationID
	r.reports.add(id, f.round, true, int(f.detail.Codec), int64(f.detail.Dict), f.detail.Body)
	for i, c := range f.calls {
		r.texts.addText(c.prompt)
		r.texts.addText(c.reply)
		r.attempts.add(id, f.number+i, digest(c.prompt.hash), digest(c.reply.hash), c.Tokens.Prompt, c.Tokens.Completion,
			c.CostUSD, c.LatencyMS, toStored(c.StartedAt))
	}
}

func (r *finishing) write(ctx context.Context, t *tx) error {
	for _, rows := range []*bulk{r.texts, r.reports, r.attempts} {
		if err := rows.write(ctx, t); err != nil {
			return err
		}
	}
	return nil
}
