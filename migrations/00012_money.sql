-- +goose Up
-- What runs cost, and budgets that are never passed.

-- The run that queued an evaluation pays for it; null: none, or not known.
ALTER TABLE evaluations ADD COLUMN run_id TEXT REFERENCES runs (id);
ALTER TABLE evaluations ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0; -- calls of models without a price
ALTER TABLE evaluations ADD COLUMN on_hold BOOLEAN NOT NULL DEFAULT FALSE; -- queued, but its run has no money left
ALTER TABLE evaluations ADD COLUMN lane INTEGER NOT NULL DEFAULT 0; -- 1: a re-run; imports go first
DROP INDEX evaluations_work;
CREATE INDEX evaluations_ready ON evaluations (lane, id) WHERE status IN ('queued', 'judging') AND NOT on_hold;
CREATE INDEX evaluations_run ON evaluations (run_id, status) WHERE run_id IS NOT NULL AND status IN ('queued', 'judging');
UPDATE evaluations SET run_id = (SELECT min(rt.run_id) FROM run_traces rt WHERE rt.trace_id = evaluations.trace_id)
WHERE (SELECT count(*) FROM run_traces rt WHERE rt.trace_id = evaluations.trace_id) = 1;

-- Money is in billionths of a dollar, so that sums are exact.
ALTER TABLE runs ADD COLUMN budget_nano BIGINT; -- null: no limit
ALTER TABLE runs ADD COLUMN unclear_nano BIGINT NOT NULL DEFAULT 0; -- held by calls that brought no answer and may have been billed
ALTER TABLE runs ADD COLUMN stopped_at TIMESTAMP; -- the budget had no room for a call

CREATE TABLE run_costs (
    run_id            TEXT NOT NULL REFERENCES runs (id),
    judge             TEXT NOT NULL,
    model             TEXT NOT NULL, -- that answered
    evaluations       BIGINT NOT NULL, -- rounds of judging
    calls             BIGINT NOT NULL,
    unpriced          BIGINT NOT NULL,
    prompt_tokens     BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    cost_nano         BIGINT NOT NULL,
    PRIMARY KEY (run_id, judge, model)
);
-- What calls hold of a budget until their evaluation is stored.
CREATE TABLE spend_holds (
    evaluation_id TEXT NOT NULL REFERENCES evaluations (id),
    call          TEXT NOT NULL, -- as in kept_replies
    run_id        TEXT NOT NULL REFERENCES runs (id),
    nano          BIGINT NOT NULL, -- the most that it can cost; once settled, what it did cost
    settled       BOOLEAN NOT NULL,
    waiting       BOOLEAN NOT NULL, -- it waits for room to hold more
    PRIMARY KEY (evaluation_id, call)
);
CREATE INDEX spend_holds_run ON spend_holds (run_id);

-- References that were cut into steps by a call of their own; see judge.StepCache.
CREATE TABLE reference_steps (
    hash       TEXT PRIMARY KEY,
    steps      TEXT NOT NULL, -- JSON array; null: the answer could not be used
    evaluation TEXT NOT NULL, -- whose call asked for it
    kept_at    TIMESTAMP NOT NULL
);
