-- +goose Up
-- Watching judges for drift: frozen baselines, alarms, the sentinel set, and what is
-- told to other systems.

-- The verdicts and scores of a day, as they were given: kept by the transaction that
-- stores results. What older databases have is counted here.
CREATE TABLE drift_days (
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    model          TEXT NOT NULL, -- as calibration tells raters apart
    prompt_version TEXT NOT NULL,
    day            TEXT NOT NULL, -- 2006-01-02, UTC
    verdicts       BIGINT NOT NULL,
    passed         BIGINT NOT NULL,
    scores         BIGINT NOT NULL,
    score_micro    BIGINT NOT NULL, -- their sum, in millionths
    square_micro   BIGINT NOT NULL, -- the sum of their squares, in millionths
    PRIMARY KEY (project_id, judge, model, prompt_version, day)
);
INSERT INTO drift_days (project_id, judge, model, prompt_version, day, verdicts, passed, scores, score_micro, square_micro)
SELECT project_id, judge,
    CASE WHEN answered_engine <> '' THEN answered_engine WHEN samples > 1 THEN model || ' ×' || samples ELSE model END,
    prompt_version, substr(CAST(finished_at AS TEXT), 1, 10), count(*), sum(CASE WHEN verdict = 'pass' THEN 1 ELSE 0 END), count(score),
    COALESCE(sum(CAST(round(score * 1000000) AS BIGINT)), 0), COALESCE(sum(CAST(round(score * score * 1000000) AS BIGINT)), 0)
FROM evaluations WHERE verdict <> '' AND finished_at IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

-- How many parts of a report a person ruled on with the judge's choices in view, and
-- how many they changed.
CREATE TABLE drift_parts (
    decision_id    TEXT PRIMARY KEY REFERENCES decisions (id),
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    model          TEXT NOT NULL, -- as calibration tells raters apart
    prompt_version TEXT NOT NULL,
    parts          INTEGER NOT NULL,
    changed        INTEGER NOT NULL,
    decided_us     BIGINT NOT NULL -- microseconds since 1970 UTC
);
CREATE INDEX drift_parts_series ON drift_parts (project_id, judge, model, prompt_version, decided_us);

-- The oldest day with something that waits blind: nobody who may decide is told more.
CREATE INDEX evaluations_waiting_blind ON evaluations (project_id, judge, finished_at) WHERE sealed;

-- How a judge, model and version did when it was frozen. A newer one begins a new
-- series; the old ones stay.
CREATE TABLE drift_baselines (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    model          TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    labels         BIGINT NOT NULL, -- of random audits, that can be compared
    agreed         BIGINT NOT NULL,
    first_us       BIGINT,          -- the first and last of these labels, microseconds since 1970
    last_us        BIGINT,
    verdicts       BIGINT NOT NULL,
    passed         BIGINT NOT NULL,
    scores         BIGINT NOT NULL,
    score_micro    BIGINT NOT NULL,
    square_micro   BIGINT NOT NULL,
    ruled          BIGINT NOT NULL, -- decisions with rulings on parts
    kept_micro     BIGINT NOT NULL, -- the sum of their shares left as the judge had them, in millionths
    kept_square_micro BIGINT NOT NULL,
    automatic      BOOLEAN NOT NULL, -- frozen at the first labels, by no lead
    frozen_by      TEXT NOT NULL,
    frozen_at      TIMESTAMP NOT NULL
);
-- However many servers look: one is frozen by itself.
CREATE UNIQUE INDEX drift_baselines_automatic ON drift_baselines (project_id, judge, model, prompt_version) WHERE automatic;
CREATE INDEX drift_baselines_series ON drift_baselines (project_id, judge, model, prompt_version, id);

-- That a monitor left its baseline. Only its end is written later.
CREATE TABLE drift_alarms (
    id             TEXT PRIMARY KEY,
    project_id     TEXT NOT NULL REFERENCES projects (id),
    judge          TEXT NOT NULL,
    model          TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    monitor        TEXT NOT NULL,
    baseline_id    TEXT NOT NULL,  -- drift_baselines.id, or sentinel_sets.id
    opened_at      TIMESTAMP NOT NULL,
    e_value        DOUBLE PRECISION NOT NULL,
    found          DOUBLE PRECISION NOT NULL,
    baseline       DOUBLE PRECISION NOT NULL,
    n              BIGINT NOT NULL,
    closed_at      TIMESTAMP,
    closed_by      TEXT NOT NULL DEFAULT '',
    close_reason   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX drift_alarms_series ON drift_alarms (project_id, judge, id);
-- However many servers look: one alarm is open for a monitor.
CREATE UNIQUE INDEX drift_alarms_open ON drift_alarms (project_id, judge, model, prompt_version, monitor) WHERE closed_at IS NULL;

-- What is still to be told to the address that an administrator gave.
CREATE TABLE webhook_deliveries (
    id           TEXT PRIMARY KEY, -- the receiver tells repeats by it
    event        TEXT NOT NULL,    -- drift.alarm_opened, drift.alarm_closed
    body         TEXT NOT NULL,    -- JSON, as it is signed and sent
    created_at   TIMESTAMP NOT NULL,
    attempts     INTEGER NOT NULL,
    next_at      TIMESTAMP,        -- when it is sent again; null: it was, or was given up
    held_until   TIMESTAMP,        -- a server sends it now
    delivered_at TIMESTAMP,
    last_error   TEXT NOT NULL
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_at) WHERE next_at IS NOT NULL;

-- Traces with known labels that a judge judges again and again. The newest of a
-- judge counts; every_days 0 ends it.
CREATE TABLE sentinel_sets (
    id          TEXT PRIMARY KEY,
    project_id  TEXT NOT NULL REFERENCES projects (id),
    judge       TEXT NOT NULL,
    run_id      TEXT NOT NULL REFERENCES runs (id), -- whose traces they are
    every_days  INTEGER NOT NULL,
    budget_nano BIGINT, -- of one round; null: no limit
    set_by      TEXT NOT NULL,
    set_at      TIMESTAMP NOT NULL
);
CREATE INDEX sentinel_sets_judge ON sentinel_sets (project_id, judge, id);

-- One time that a set is judged.
CREATE TABLE sentinel_rounds (
    id               TEXT PRIMARY KEY,
    set_id           TEXT NOT NULL REFERENCES sentinel_sets (id),
    judge            TEXT NOT NULL,
    model            TEXT NOT NULL, -- as calibration tells raters apart
    prompt_version   TEXT NOT NULL,
    number           INTEGER NOT NULL, -- from 1, of this set, model and version
    target           TEXT NOT NULL,    -- judge.Planned as JSON
    problem          TEXT NOT NULL,    -- why it does not get on; empty: it does
    fence            BIGINT NOT NULL,
    lease_expires_at TIMESTAMP,
    started_at       TIMESTAMP NOT NULL,
    finished_at      TIMESTAMP,
    UNIQUE (set_id, model, prompt_version, number)
);
CREATE INDEX sentinel_rounds_open ON sentinel_rounds (id) WHERE finished_at IS NULL;

-- What the judge said then. It is no evaluation: nobody is asked about it, and it is
-- no result of a run.
CREATE TABLE sentinel_results (
    round_id  TEXT NOT NULL REFERENCES sentinel_rounds (id),
    trace_id  TEXT NOT NULL REFERENCES traces (id),
    verdict   TEXT NOT NULL, -- empty: it gave none, and why stands in error
    label     TEXT NOT NULL,
    score     DOUBLE PRECISION,
    error     TEXT NOT NULL,
    cost_nano BIGINT NOT NULL,
    calls     TEXT NOT NULL, -- judge.Attempt as JSON array, without prompts and raw replies
    judged_at TIMESTAMP NOT NULL,
    PRIMARY KEY (round_id, trace_id)
);

-- +goose StatementBegin
CREATE TRIGGER drift_baselines_no_update BEFORE UPDATE ON drift_baselines BEGIN SELECT RAISE(ABORT, 'baselines are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER drift_baselines_no_delete BEFORE DELETE ON drift_baselines BEGIN SELECT RAISE(ABORT, 'baselines are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sentinel_sets_no_update BEFORE UPDATE ON sentinel_sets BEGIN SELECT RAISE(ABORT, 'sentinel sets are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sentinel_sets_no_delete BEFORE DELETE ON sentinel_sets BEGIN SELECT RAISE(ABORT, 'sentinel sets are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sentinel_results_no_update BEFORE UPDATE ON sentinel_results BEGIN SELECT RAISE(ABORT, 'sentinel results are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sentinel_results_no_delete BEFORE DELETE ON sentinel_results BEGIN SELECT RAISE(ABORT, 'sentinel results are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER drift_alarms_no_delete BEFORE DELETE ON drift_alarms BEGIN SELECT RAISE(ABORT, 'drift alarms are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER drift_alarms_fixed BEFORE UPDATE OF id, project_id, judge, model, prompt_version, monitor, baseline_id, opened_at, e_value, found, baseline, n ON drift_alarms BEGIN SELECT RAISE(ABORT, 'drift alarms are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER drift_alarms_closed_once BEFORE UPDATE ON drift_alarms WHEN OLD.closed_at IS NOT NULL BEGIN SELECT RAISE(ABORT, 'drift alarms are append-only'); END;
-- +goose StatementEnd
